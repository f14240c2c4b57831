"""Does the ranking of allocations hold for other laws? A check the first paper leaves open.

For every allocation of two weights of W in the net of section B.1.1, and for some of a net with
three hidden units, the match probability under normal, uniform and Rademacher weights (student
and teacher), on the same numbers of trials. Maximal and minimal verdicts cover the first two
laws; for Rademacher weights nothing is generic and every instance is decided exactly.

    python examples/distributions.py [trials]
"""

import sys

import matchprob as mp

LAWS = ("normal", "uniform", "rademacher")
SMALL = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
LARGER = mp.LinearRNN(n=3, T=3, b=1, d=1, m=3)
ALLOCATIONS = {
    "n = 2, row": (SMALL, [[1, 1], [0, 0]]),
    "n = 2, diagonal": (SMALL, [[1, 0], [0, 1]]),
    "n = 2, off-diagonal": (SMALL, [[0, 1], [1, 0]]),
    "n = 3, row": (LARGER, [[1, 1, 1], [0, 0, 0], [0, 0, 0]]),
    "n = 3, corner": (LARGER, [[1, 1, 0], [1, 0, 0], [0, 0, 0]]),
    "n = 3, diagonal": (LARGER, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    "n = 3, cycle": (LARGER, [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
}


def main() -> None:
    """Print one line an allocation, one column a law."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print(f"match probability from {trials} trials, 95 % intervals")
    print(f"{'':<22}" + "".join(f"{law:<26}" for law in LAWS))
    for name, (network, mask) in ALLOCATIONS.items():
        cells = []
        for law in LAWS:
            problem = mp.Problem(
                network, {"W": mask}, distribution=mp.Distribution(weights=law, teacher=law)
            )
            # Rademacher instances may be special: exact arithmetic decides them all.
            engine = "exact" if law == "rademacher" else "homotopy"
            found = mp.estimate(problem, trials, engine=engine)
            i = found.interval()
            open_ = f" ({found.undetermined} open)" if found.undetermined else ""
            share = found.matched / found.trials
            cells.append(f"{share:.3f} [{i.low:.3f}, {i.high:.3f}]{open_}")
        print(f"{name:<22}" + "".join(f"{cell:<26}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
