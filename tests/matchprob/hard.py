"""Problems for which every verb takes minutes."""

import numpy as np

import matchprob as mp


def spread(n: int) -> mp.Problem:
    """A linear RNN whose root count takes too long: n²/8 weights in half of the rows."""
    net = mp.LinearRNN(n=n, T=n // 2, b=1, d=n // 4, m=n // 2)
    rng = np.random.default_rng(0)
    W = np.zeros((n, n), int)
    for i in range(n // 2):
        W[i, rng.choice(n, n // 4, replace=False)] = 1
    return mp.Problem(net, {"W": W.tolist()})


def shallow() -> mp.Problem:
    """A ReLU net whose trials take minutes."""
    W1 = (np.random.default_rng(1).random((24, 18)) < 0.3).astype(int)
    return mp.Problem(mp.ShallowReLU(q=18, n=24, d=6, m=24), {"W1": W1.tolist()})
