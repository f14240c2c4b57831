"""The atlas of the linear RNNs with two and three hidden units, as pictures.

Run: ``python examples/atlas.py [FOLDER]``.  Every allocation of dm weights of W, up to
renaming of hidden units, coloured by its exact verdict.
"""

import sys
from pathlib import Path

import matchprob as mp
from matchprob.report import pictures
from matchprob.report.paint import figure_of

NETS = [
    mp.LinearRNN(n=2, T=2, b=1, d=1, m=2),
    mp.LinearRNN(n=3, T=2, b=1, d=1, m=2),
    mp.LinearRNN(n=3, T=2, b=1, d=2, m=2),
    mp.LinearRNN(n=3, T=3, b=1, d=1, m=3),
]


def main(folder: Path) -> None:
    """Certify, print the totals, draw."""
    folder.mkdir(parents=True, exist_ok=True)
    for network in NETS:
        found = mp.atlas(network, network.outputs, search=1.0)
        print(found)
        target = folder / f"atlas_n{network.n}_T{network.T}_d{network.d}_m{network.m}.png"
        pictures.save(figure_of(found), target)
        print(f"  {target}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
