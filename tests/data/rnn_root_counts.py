"""Makes ``rnn_root_counts.json``: N of every allocation of small linear RNNs, from the core.

Nets with n ≤ 3 and small T, b, d; r = generic rank; allocations of W up to renaming of
hidden units.  Run from the repository: ``python tests/data/rnn_root_counts.py``.
"""

import json
from pathlib import Path

from algebra.networks.recurrent import LinearRNN
from algebra.plugins.papers.atlas import orbits
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.systems.root_count import generic_root_count

NETS = [
    (n, T, b, d, m)
    for n in (1, 2, 3)
    for T in (1, 2, 3)
    for b in (1, 2)
    for d in (1, 2)
    for m in (1, 2, 3)
]


def main() -> None:
    """Write the table beside this script."""
    table = {}
    for sizes in NETS:
        net = LinearRNN(*sizes)
        rank = network_rank(net).rank
        if rank > net.n**2 or rank > 6:
            continue
        found = {}
        for allocation, _ in orbits(net, ["W"], rank):
            if allocation_rank(allocation, upper=rank).rank < rank:
                continue
            found[str(allocation)] = generic_root_count(allocation).value
        table["n={} T={} b={} d={} m={}".format(*sizes)] = found
    path = Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")
    print(sum(map(len, table.values())), "allocations of", len(table), "nets")


if __name__ == "__main__":
    main()
