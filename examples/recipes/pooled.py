"""One match probability from the tasks of a study: ``python pooled.py study_*.json``.

Seeds are independent, so trials add up; those without a decision count on both sides.
"""

import json
import sys
from pathlib import Path

from numeric.statistics.intervals import proportion_interval


def main(paths: list[str]) -> None:
    """Print the pooled interval."""
    tasks = [json.loads(Path(path).read_text()) for path in paths]
    seeds = [task["seed"] for task in tasks]
    if len(set(seeds)) < len(seeds):
        sys.exit(f"seeds {seeds}: tasks with one seed have the same trials")
    matched, unmatched, undetermined = (
        sum(task[key] for task in tasks) for key in ("matched", "unmatched", "undetermined")
    )
    found = proportion_interval(matched, unmatched, undetermined)
    trials = matched + unmatched + undetermined
    print(
        f"MP in [{found.low:.4f}, {found.high:.4f}] (95 %): {trials} trials of {len(seeds)} seeds"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
