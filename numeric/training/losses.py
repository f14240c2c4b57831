r"""Mean squared errors of a batch of students, their gradients and Jacobians.

The loss of a run is the mean of the squared errors of its d × columns labels.  Gradients are
computed by reverse mode; G is the derivative with respect to the labels:

- a chain of matrices, state S_k = M_k S_{k-1} and Y = D S_K: the derivative by D is ``G S_Kᵀ``, by
  M_k ``g_k S_{k-1}ᵀ``, where g_K = Dᵀ G and g_{k-1} = M_kᵀ g_k;
- a recurrent one, by Horner's scheme ``p_t = h_{t-1} + B U_t``, ``h_t = W p_t``, Y = D h_T
  (`algebra.networks.chain`): with g_T = Dᵀ G and g_{t-1} = Wᵀ g_t the derivatives by W and B are
  ``Σ g_t p_tᵀ`` and ``Σ g_{t-1} U_tᵀ``, which is backpropagation through time;
- a shallow ReLU net, away from its kinks: ``g = W2ᵀ G`` where a unit is active, 0 elsewhere.

Jacobians are computed in the same way, with the d rows of the output's matrix for G.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from algebra.errors import InputError
from algebra.families import family_of
from algebra.networks.base import Network
from algebra.networks.chain import need_chain
from numeric.training.students import Students

# The first paper's criterion of a match (its Appendix E.1).
MSE = 1e-2
# Derivatives of a linear map of the outputs, by matrix: one array for each, the batch first.
_Parts = dict[str, np.ndarray]


class Loss(Protocol):
    """Errors of a batch of students, and their derivatives."""

    students: Students

    def errors(self, w: np.ndarray) -> np.ndarray:
        """Errors (runs, d, columns) of the labels at learnable weights (runs, r)."""
        ...

    def slope(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean squared errors (runs,) and their slopes (runs, r)."""
        ...

    def jacobian(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors (runs, e) and their derivatives (runs, e, r)."""
        ...

    def take(self, rows: np.ndarray) -> Loss:
        """The loss of some of the runs."""
        ...


class ChainLoss:
    """The loss of networks that are chains of matrix products.

    Parameters
    ----------
    students : Students
    drive : ndarray, shape (runs, inputs, columns), optional
        Inputs of the chains; computed if not given.
    """

    def __init__(self, students: Students, drive: np.ndarray | None = None) -> None:
        self.students = students
        network = need_chain(students.network)
        self._chain = network.chain()
        if drive is None:
            drive = np.array([network.drive(X) for X in students.X])
        self._drive = drive
        # The inputs of each step of a recurrent net.
        count = len(self._chain.steps) if self._chain.recurrent else 1
        self._inputs = np.split(drive, count, axis=1)

    def take(self, rows: np.ndarray) -> ChainLoss:
        """The loss of some of the runs."""
        return ChainLoss(self.students.take(rows), self._drive[rows])

    def _forward(self, w: np.ndarray) -> tuple[_Parts, list[np.ndarray], np.ndarray]:
        """Matrices, the factors to the right of each matrix, and the errors."""
        M, chain = self.students.matrices(w), self._chain
        seen: list[np.ndarray] = []
        state = self._drive
        for t, name in enumerate(chain.steps):
            if chain.start is not None:
                entry = M[chain.start] @ self._inputs[t]
                state = entry if t == 0 else state + entry
            seen.append(state)
            state = M[name] @ state
        seen.append(state)
        return M, seen, M[chain.output] @ state - self.students.Y

    def _backward(self, M: _Parts, seen: list[np.ndarray], G: np.ndarray, outer: bool) -> _Parts:
        """Derivatives with respect to whole matrices of a combination G of the outputs.

        With `outer` G (runs, d, d) are combinations of the outputs of every column, kept apart:
        entries are (runs, d, columns, rows, columns of the matrix).
        """
        chain, learning = self._chain, self.students.learning
        out: _Parts = {}

        def add(name: str, g: np.ndarray, state: np.ndarray) -> None:
            if name not in learning:
                return
            # g (runs, rows, ·): summed over the label columns, or one term for each.
            part = np.einsum("kia,kjs->kasij", g, state) if outer else g @ state.swapaxes(1, 2)
            out[name] = out[name] + part if name in out else part

        add(chain.output, G, seen[-1])
        g = M[chain.output].swapaxes(1, 2) @ G
        for t in range(len(chain.steps) - 1, -1, -1):
            name = chain.steps[t]
            add(name, g, seen[t])
            g = M[name].swapaxes(1, 2) @ g
            if chain.start is not None:
                add(chain.start, g, self._inputs[t])
        return out

    def errors(self, w: np.ndarray) -> np.ndarray:
        """Errors (runs, d, columns) of the labels at learnable weights (runs, r)."""
        return self._forward(w)[2]

    def slope(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean squared errors (runs,) and their slopes (runs, r)."""
        M, seen, errors = self._forward(w)
        G = (2.0 / errors[0].size) * errors
        parts = self._backward(M, seen, G, outer=False)
        return (errors * errors).mean(axis=(1, 2)), self.students.gather(parts)

    def jacobian(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors (runs, e) and their derivatives (runs, e, r)."""
        M, seen, errors = self._forward(w)
        runs, d, columns = errors.shape
        G = np.broadcast_to(np.eye(d), (runs, d, d))
        J = self.students.gather(self._backward(M, seen, G, outer=True))
        return errors.reshape(runs, -1), J.reshape(runs, d * columns, -1)


class ReluLoss:
    """The loss of shallow ReLU nets; at a kink the derivative of an inactive unit.

    Parameters
    ----------
    students : Students
        Of a network with the matrices W1 and W2.
    """

    def __init__(self, students: Students) -> None:
        self.students = students

    def take(self, rows: np.ndarray) -> ReluLoss:
        """The loss of some of the runs."""
        return ReluLoss(self.students.take(rows))

    def inputs(self, w: np.ndarray) -> np.ndarray:
        """Inputs (runs, n, m) of the hidden units."""
        return self.students.matrices(w)["W1"] @ self.students.X

    def errors(self, w: np.ndarray) -> np.ndarray:
        """Errors (runs, d, m) of the labels at learnable weights (runs, r)."""
        M = self.students.matrices(w)
        return M["W2"] @ np.maximum(M["W1"] @ self.students.X, 0.0) - self.students.Y

    def slope(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean squared errors (runs,) and their slopes (runs, r)."""
        s = self.students
        M = s.matrices(w)
        h = M["W1"] @ s.X
        u = np.maximum(h, 0.0)
        errors = M["W2"] @ u - s.Y
        G = (2.0 / errors[0].size) * errors
        parts: _Parts = {}
        if "W2" in s.learning:
            parts["W2"] = G @ u.swapaxes(1, 2)
        if "W1" in s.learning:
            g = (M["W2"].swapaxes(1, 2) @ G) * (h > 0)
            parts["W1"] = g @ s.X.swapaxes(1, 2)
        return (errors * errors).mean(axis=(1, 2)), s.gather(parts)

    def jacobian(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Errors (runs, e) and their derivatives (runs, e, r)."""
        s = self.students
        M = s.matrices(w)
        h = M["W1"] @ s.X
        u = np.maximum(h, 0.0)
        errors = M["W2"] @ u - s.Y
        runs, d, m = errors.shape
        parts: _Parts = {}
        if "W2" in s.learning:
            parts["W2"] = np.einsum("ai,kjs->kasij", np.eye(d), u)
        if "W1" in s.learning:
            parts["W1"] = np.einsum("kai,kis,kjs->kasij", M["W2"], (h > 0) * 1.0, s.X)
        J = s.gather(parts).reshape(runs, d * m, -1)
        return errors.reshape(runs, -1), J


def loss_of(students: Students) -> Loss:
    """The loss of a batch."""
    check_trainable(students.network)
    return ReluLoss(students) if students.network.chain() is None else ChainLoss(students)


def check_trainable(network: Network) -> None:
    """Reject networks without an implemented loss.

    Raises
    ------
    InputError
    """
    if network.chain() is None and family_of(network).name != "relu":
        raise InputError(
            f"train supports chains of matrices and shallow ReLU nets, not a {network.title} "
            "network"
        )
