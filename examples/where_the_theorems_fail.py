"""Where the first paper's theorems fail: each case certified, and the certificate verified.

Run: ``python examples/where_the_theorems_fail.py``.  The true versions of the theorems are
in ``docs/theorems.md``.
"""

import matchprob as mp
from algebra.theorems.statements import what_theorems_say

CASES = [
    (
        "4.1: three cells too many on one row and one column",
        mp.LinearFeedForward(q=3, widths=(3,), d=2, m=2),
        "W1",
        [(0, 1), (0, 2), (1, 0), (2, 0)],
    ),
    (
        "4.1: two disjoint 2×2 blocks and one more cell",
        mp.LinearFeedForward(q=5, widths=(5,), d=3, m=3),
        "W1",
        [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (2, 3), (3, 2), (3, 3), (4, 4)],
    ),
    (
        "3.2: T = 2, a row and a column of 8 without the shared cell",
        mp.LinearRNN(n=18, T=2, b=9, d=4, m=4),
        "B",
        [(0, j) for j in range(1, 9)] + [(i, 0) for i in range(1, 9)],
    ),
    (
        "3.2: T = 2, five whole rows; no budget is violated",
        mp.LinearRNN(n=6, T=2, b=3, d=3, m=5),
        "B",
        [(i, j) for i in range(5) for j in range(3)],
    ),
    (
        "3.4 is silent on a minimal allocation",
        mp.LinearRNN(n=4, T=2, b=2, d=2, m=4),
        "W",
        [(0, 0), (1, 0), (1, 3), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3)],
    ),
    (
        "3.5 where m < b",
        mp.LinearRNN(n=8, T=2, b=2, d=4, m=1),
        "W",
        [(0, j) for j in range(4)],
    ),
    (
        "3.5 where b < m < 2b",
        mp.LinearRNN(n=6, T=2, b=3, d=3, m=4),
        "W",
        [(i, j) for i in range(2) for j in range(6)],
    ),
    (
        "every theorem is silent on a maximal allocation",
        mp.LinearRNN(n=8, T=4, b=1, d=4, m=4),
        "W",
        [
            (0, 2), (0, 4), (1, 0), (1, 6), (1, 7), (2, 0), (2, 5), (2, 7),
            (3, 6), (4, 0), (4, 1), (4, 2), (4, 3), (5, 1), (5, 2), (5, 7),
        ],
    ),
]  # fmt: skip


def main() -> None:
    """Print each case: what is said, what is true, whether the certificate holds."""
    for title, network, matrix, cells in CASES:
        allocation = mp.Allocation.from_cells(network, [(matrix, *cell) for cell in cells])
        said = {k: w for k, w in what_theorems_say(network, allocation).items() if w != "silent"}
        certificate = mp.certify(mp.Problem.of(allocation))
        checked = "verified" if mp.verify(certificate).holds else "DOES NOT HOLD"
        print(title)
        print(f"  {network}")
        print(f"  said  {said or 'nothing'}")
        print(f"  true  {certificate.verdict} ({certificate.rule}), {checked}")
        for reason in certificate.reasons[:1]:
            print(f"        {reason}")


if __name__ == "__main__":
    main()
