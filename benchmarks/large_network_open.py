"""Why the equations of some limits of large networks are not known.

Reads docs/figures/large-networks.csv (or the file given), as ``matchprob reproduce large-networks``
writes it, without trials.  Prints for each digraph without known equations its number N of complex
solutions, those found, and for each growth n^g of the solutions how many have it: none where the
leading parts have multiple solutions or zeros, "mixed" where fewer samples than inputs mix steps of
different sizes (Theorem 17).  Last it counts the reasons.
"""

import sys
from collections import Counter
from pathlib import Path

from algebra.errors import InputError
from algebra.networks.large import LargeNetwork, LimitNetwork
from algebra.problems.problem import ALL, Problem
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.systems import growth
from algebra.systems.root_count import generic_root_count
from matchprob.plugins.papers.figures.tables import read_table

TABLE = Path(__file__).parents[1] / "docs" / "figures" / "large-networks.csv"
# A prime, in place of √n.
PRIME = 2_147_483_629


def reason(cells, **sizes):
    """The reason, N, and the number of solutions of each growth."""
    large = LargeNetwork(cells=cells, root=PRIME, **sizes)
    allocation = Problem(large, {"W": ALL}).allocation
    whole = network_rank(large).rank
    if len(cells) > allocation_rank(allocation, None, whole).rank:
        return "more cells than equations", None, {}
    N = generic_root_count(allocation, has_full_rank=True).value
    found = {}
    one = LargeNetwork(cells=cells, root=1 << growth._ROOT, **sizes)
    for exponents in growth._growths(one, 0, 60):
        name = " ".join(map(str, exponents))
        try:
            part = growth._problem(LimitNetwork(cells=cells, growth=exponents, **sizes))
        except InputError:
            found[name] = "mixed"
        else:
            found[name] = growth._count(part, 0, 60)
    is_mixed = "mixed" in found.values()
    return "steps of different sizes" if is_mixed else "multiple solutions", N, found


def main():
    """Print a line for each digraph, and how many there are of each reason."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else TABLE
    reasons = Counter()
    for row in read_table(path):
        if row["growths"] != "open" or row["exact"]:
            continue
        cells = tuple(tuple(map(int, cell.split("-"))) for cell in row["cells"].split())
        sizes = {name: row[name] for name in "Tbd"} | {"m": row["r"] // row["d"]}
        why, N, found = reason(cells, **sizes)
        reasons[why] += 1
        known = sum(count for count in found.values() if count != "mixed")
        print(f"{row['cells']:24} T={sizes['T']} d={sizes['d']} m={sizes['m']} {why}", end="")
        print("" if N is None else f": {known} of {N}, {found}")
    print(", ".join(f"{why}: {count}" for why, count in reasons.most_common()))


if __name__ == "__main__":
    main()
