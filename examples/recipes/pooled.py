"""One match probability from the tasks of a study: ``python pooled.py study_*.json``.

Seeds are independent, so trials add up; those without a decision count on both sides.
"""

import json
import sys
from pathlib import Path

from numeric.statistics.intervals import proportion_interval


def main(paths: list[str]) -> None:
    """Print the pooled interval."""
    if not paths:
        sys.exit("usage: python pooled.py study_0.json study_1.json …")
    texts = {path: Path(path).read_text() if Path(path).exists() else "" for path in paths}
    if open_ := [path for path, text in texts.items() if not text]:
        sys.exit(f"{', '.join(open_)}: no result yet; leave it out, or submit the task again")
    tasks = [json.loads(text) for text in texts.values()]
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
