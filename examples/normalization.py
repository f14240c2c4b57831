"""Tuning only normalization layers: widths, one construction, one certified failure.

Run: ``python examples/normalization.py``
"""

import numpy as np

import matchprob as mp
from algebra.normalization.khatri_rao import khatri_rao_rank, width_needed
from algebra.normalization.unreachable import prove_unreachable


def verdict(w: int, names: tuple[str, ...], activation: str) -> str:
    """What certify says of a 3×3 target, four samples and hidden width w."""
    net = mp.NormNet.square(d=3, depth=1, width=w, m=4, activation=activation)
    return mp.certify(mp.Problem(net, dict.fromkeys(names, "all"))).verdict


def main() -> None:
    """Print the tables."""
    print("3×3 target: verdict by hidden width, hidden scales and shifts | all scales and shifts")
    for w in range(5, 10):
        cells = [
            f"{activation}: {verdict(w, ('g1', 'b1', 'b2'), activation):9s} | "
            f"{verdict(w, ('g1', 'g2', 'b1', 'b2'), activation):9s}"
            for activation in ("linear", "relu")
        ]
        print(f"  w = {w}   " + "    ".join(cells))
    print(f"  width needed: {width_needed(3, 3)}, {width_needed(3, 3, second_scales=True)}")

    print("\nd    w    proved error   condition   one unit less")
    rng = np.random.default_rng(0)
    for d in (2, 5, 10, 15, 20):
        target = rng.standard_normal((d, d))
        target /= np.linalg.norm(target, 2)
        made = mp.construct([(target, rng.standard_normal(d))], seed=d)
        W1, W2 = made.frozen[0][:-1], made.frozen[1][:, :-1]
        p = prove_unreachable(W2, W1, target)
        print(
            f"{d:<4d} {d * d:<4d} {made.error:<14.1e} {made.condition:<11.1e} "
            f"impossible, proved modulo {p}"
        )

    exact = mp.construct([rng.standard_normal((4, 4))], exact=True)
    print(f"\nd = 4 in rationals: error {exact.error}, {khatri_rao_rank(4, 4, 16).rank} of 16")


if __name__ == "__main__":
    main()
