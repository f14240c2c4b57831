"""Trials that `profile --by error` leaves undetermined where matches form families.

Networks of one row or column of W that learns, n = 4, T = b = d = 2, m = 1: more weights than
equations.  Printed are the trials that are matched, unmatched and undetermined at two bounds, with
the lower bound of the relaxation and without it (docs/generalization.md).

    python benchmarks/family_errors.py [trials]
"""

from __future__ import annotations

import sys

import numpy as np

import matchprob as mp
from numeric.plugins.training.profiles import families

BOUNDS = (0.1, 1.0)


def allocations() -> dict[str, np.ndarray]:
    """What learns in W."""
    masks = {name: np.zeros((4, 4), int) for name in ("a row", "three of a row", "a column")}
    masks["a row"][0] = 1
    masks["three of a row"][0, :3] = 1
    masks["a column"][:, 0] = 1
    return masks


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    bound = families.least_of_relaxation
    for relaxed in (True, False):
        families.least_of_relaxation = bound if relaxed else lambda instance: 0.0
        for name, mask in allocations().items():
            problem = mp.Problem(mp.LinearRNN(n=4, T=2, b=2, d=2, m=1), {"W": mask})
            for p in mp.profile(problem, by="error", bounds=list(BOUNDS), trials=trials).points:
                print(
                    f"{name:<15} {'with' if relaxed else 'without'} lower bound, ε = {p.bound}:",
                    f"{p.matched} matched, {p.unmatched} unmatched, {p.undetermined} undetermined",
                )


if __name__ == "__main__":
    main()
