"""Derivatives by dual numbers in Python integers, and the prime of these tests."""

import numpy as np

from tests.samples import P


class Dual:
    """Matrices a + b·ε with ε² = 0, over the integers."""

    def __init__(self, value, slope):
        self.value, self.slope = value, slope

    def __matmul__(self, other):
        slope = self.value @ other.slope + self.slope @ other.value
        return type(self)(self.value @ other.value, slope)

    def __add__(self, other):
        return type(self)(self.value + other.value, self.slope + other.slope)

    def __mul__(self, mask):
        return type(self)(self.value * mask, self.slope * mask)

    def __gt__(self, bound):
        return (self.value > bound).astype(int).astype(object)

    def __getitem__(self, index):
        return type(self)(self.value[index], self.slope[index])


class DualResidues(Dual):
    """The same over GF(p), for `Network.forward`."""

    def __init__(self, value, slope):
        super().__init__(value % P, slope % P)


def derivative(network, point, cell):
    """Derivative of vec(Y) with respect to one cell, by dual numbers (Python integers)."""

    def constant(array):
        return DualResidues(array.astype(object), np.zeros(array.shape, dtype=object))

    weights = {k: constant(v) for k, v in point.weights.items()}
    weights[cell[0]].slope[cell[1:]] = 1
    return network.forward(weights, constant(point.X)).slope.ravel().tolist()
