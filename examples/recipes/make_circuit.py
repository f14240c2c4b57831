"""Write small tables in the form of FlyWire's exports: synapses, cell types, transmitters, roles.

``python examples/recipes/make_circuit.py`` writes them into `examples/recipes/circuit`.  Neurons
have ids of 18 digits; a pair may have lines in several neuropils, which add up.
"""

import csv
import random
from pathlib import Path

FOLDER = Path(__file__).parent / "circuit"
COUNTS = {"sensory": 6, "Tm": 10, "Mi": 8, "descending": 4}


def main() -> None:
    """Draw the circuit and write its tables."""
    draw = random.Random("recipes/circuit")
    kinds = [kind for kind, count in COUNTS.items() for _ in range(count)]
    ids = [str(720575940600000000 + draw.randrange(10**8)) for _ in kinds]
    with (FOLDER / "classification.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["root_id", "cell_type", "super_class", "nt_type"])
        for unit, kind in zip(ids, kinds, strict=True):
            table.writerow([unit, kind, "optic", "GABA" if kind == "Mi" else "ACH"])
    with (FOLDER / "connections.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["pre_root_id", "post_root_id", "neuropil", "syn_count", "plastic"])
        for pre, before in zip(ids, kinds, strict=True):
            for post, after in zip(ids, kinds, strict=True):
                if pre == post or after == "sensory" or draw.random() > 0.25:
                    continue
                plastic = "yes" if before == "Tm" and after in ("Tm", "Mi") else "no"
                for neuropil in draw.sample(["ME_R", "LO_R"], draw.choice([1, 1, 2])):
                    table.writerow([pre, post, neuropil, draw.randint(1, 30), plastic])


if __name__ == "__main__":
    main()
