"""Networks given by a program: labels and derivatives in the ring of the entries."""

import numpy as np
import sympy
from flint import fmpq

from algebra.programs.program import Builder
from algebra.programs.programmed import Programmed
from algebra.ranks.jacobian import all_cells
from matchprob import NormNet, ShallowReLU


class Product(Programmed):
    """W (S x), S doubling."""

    def __init__(self):
        self.built = 0

    def build(self):
        self.built += 1
        build = Builder()
        W, x = build.weight("W", (1, 2)), build.sample("X", (2,))
        return build.program(build.contract("ij,j->i", W, x))

    def drive(self, X):
        return X + X


def test_labels_and_derivatives_of_what_drives_it():
    """Both agree with the driven samples; the program is built once."""
    net = Product()
    X, weights = np.array([[1, 2], [3, 4]]), {"W": np.array([[1, -1]])}
    assert net.forward(weights, X).tolist() == [[-4, -4]]
    found = net.jacobian(weights, X, [("W", 0, 1), ("W", 0, 0)])
    assert found.tolist() == [[6, 2], [8, 4]]
    assert net.built == 1


def test_rectified_units_are_differentiated_by_pieces():
    """Labels and derivatives are those of SymPy's max(a, 0)."""
    for net in (ShallowReLU(q=2, n=3, d=1, m=3), NormNet((2, 1), (3,), 3)):
        rng, cells = np.random.default_rng(1), all_cells(net)
        draw = np.frompyfunc(lambda v: fmpq(2 * int(v) + 1, 7), 1, 1)
        weights = {name: draw(rng.integers(-40, 40, s)) for name, s in net.shapes.items()}
        X = draw(rng.integers(-40, 40, net.input_shape))
        symbols = {
            name: np.array(sympy.symarray(name, w.shape), object) for name, w in weights.items()
        }
        at = {
            s: sympy.Rational(int(v.p), int(v.q))
            for name in weights
            for s, v in zip(symbols[name].flat, weights[name].flat, strict=True)
        }
        samples = np.frompyfunc(lambda v: sympy.Rational(int(v.p), int(v.q)), 1, 1)(X)
        rectify = np.frompyfunc(lambda a: sympy.Max(a, 0), 1, 1)
        if isinstance(net, ShallowReLU):
            labels = symbols["W2"] @ rectify(symbols["W1"] @ samples)
        else:
            hidden = rectify(symbols["g1"] * (symbols["W1"] @ samples) + symbols["b1"])
            labels = symbols["g2"] * (symbols["W2"] @ hidden) + symbols["b2"]
        J = net.jacobian(weights, X, cells)
        found = net.forward(weights, X).ravel()
        for row, label in enumerate(labels.ravel()):
            value = label.subs(at)
            assert value == sympy.Rational(int(found[row].p), int(found[row].q))
            for column, (name, i, j) in enumerate(cells):
                slope = label.diff(symbols[name][i, j]).subs(at)
                entry = fmpq(J[row, column])
                assert slope == sympy.Rational(int(entry.p), int(entry.q))
