"""The values of a program in doubles, for a whole batch.

The values may be real or complex: with a step of 10⁻²⁰⁰ i in a direction, the imaginary part of an
analytic program's value is its derivative, without cancellation [1]_.

References
----------
.. [1] W. Squire, G. Trapp, "Using complex variables to estimate derivatives of real functions",
   SIAM Review 40 (1998) 110-112.
"""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
from scipy import special

from algebra.programs.program import Node, Program
from numeric.linalg.levenberg_marquardt import Damping, levenberg_marquardt
from numeric.programs.exponentials import evaluate_wide

_BATCH = "Z"
_STEP = 1e-200
# Numbers of a weight's moved copies that are evaluated at once.
_TOGETHER = 1 << 18


def _sigmoid(a: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-a))


def _softplus(a: np.ndarray) -> np.ndarray:
    return np.logaddexp(a, 0) if not np.iscomplexobj(a) else np.log(1 + np.exp(a))


FUNCTIONS = {
    "erf": special.erf,
    "exp": np.exp,
    "log": np.log,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "cos": np.cos,
    "sin": np.sin,
    "tanh": np.tanh,
}


class Doubles:
    """Arrays with the batch axis last, of size 1 if a value does not depend on the sample."""

    def constant(self, table: np.ndarray, denominator: int) -> np.ndarray:
        """The nearest doubles."""
        if table.dtype == object:
            flat = [float(Fraction(v, denominator)) for v in table.ravel().tolist()]
            return np.array(flat, dtype=np.float64).reshape(*table.shape, 1)
        return (table / denominator)[..., None]

    def add(self, node: Node, *terms: np.ndarray) -> np.ndarray:
        """The sum."""
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def multiply(self, node: Node, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The entrywise product."""
        return a * b

    def scale(self, node: Node, a: np.ndarray, factor: Fraction) -> np.ndarray:
        """A multiple."""
        return a * float(factor)

    def contract(self, node: Node, letters: str, *factors: np.ndarray) -> np.ndarray:
        """By `numpy.einsum`."""
        groups, _, result = letters.partition("->")
        inputs, plain = [], True
        values = []
        for group, factor in zip(groups.split(","), factors, strict=True):
            single = factor.shape[-1] == 1
            inputs.append(group if single else group + _BATCH)
            values.append(factor[..., 0] if single else factor)
            plain &= single
        whole = ",".join(inputs) + "->" + result + ("" if plain else _BATCH)
        found = np.einsum(whole, *values, optimize=len(factors) > 2)
        return found[..., None] if plain else found

    def index(self, node: Node, where: np.ndarray, *parts: np.ndarray) -> np.ndarray:
        """Assemble entries of several arrays."""
        m = max(part.shape[-1] for part in parts)
        rows = [
            np.broadcast_to(part.reshape(-1, part.shape[-1]), (part[..., 0].size, m))
            for part in parts
        ]
        flat = np.concatenate([*rows, np.zeros((1, m))])
        return flat[where]

    def power(self, node: Node, a: np.ndarray, exponent: int) -> np.ndarray:
        """Entrywise."""
        return a**exponent

    def invert(self, node: Node, a: np.ndarray) -> np.ndarray:
        """Entrywise."""
        return 1 / a

    def root(self, node: Node, a: np.ndarray) -> np.ndarray:
        """Entrywise."""
        return np.sqrt(a)

    def apply(self, node: Node, name: str, a: np.ndarray) -> np.ndarray:
        """The function of this name."""
        return FUNCTIONS[name](a)

    def choose(
        self, node: Node, sign: np.ndarray, positive: np.ndarray, other: np.ndarray
    ) -> np.ndarray:
        """Select by the sign of the real part."""
        return np.where(np.real(sign) > 0, positive, other)


def labels(
    program: Program, weights: Mapping[str, np.ndarray], samples: Mapping[str, np.ndarray]
) -> np.ndarray:
    """The labels of some samples.

    Parameters
    ----------
    program : Program
    weights : mapping of str to ndarray
    samples : mapping of str to ndarray
        With the batch axis last.

    Returns
    -------
    ndarray
        In the output's shape, with the batch axis last.
    """
    blocks = {name: value[..., None] for name, value in weights.items()} | dict(samples)
    return _labels_of(program, blocks, next(iter(samples.values())).shape[-1])


def _labels_of(program: Program, blocks: Mapping[str, np.ndarray], m: int) -> np.ndarray:
    found = evaluate_wide(program, Doubles(), blocks)[program.output]
    return np.broadcast_to(found, (*found.shape[:-1], m))


def jacobian(
    program: Program,
    weights: Mapping[str, np.ndarray],
    samples: Mapping[str, np.ndarray],
    learnable: Mapping[str, np.ndarray],
) -> np.ndarray:
    """Derivatives of the labels with respect to some weights, by complex steps.

    Parameters
    ----------
    program : Program
    weights, samples : mapping of str to ndarray
        As for `labels`.
    learnable : mapping of str to ndarray of bool
        Masks of the entries.

    Returns
    -------
    ndarray
        One row for each label, sample by sample within an output; one column for each entry.
    """
    fixed = {name: value[..., None] for name, value in weights.items()}
    m = next(iter(samples.values())).shape[-1]
    columns = []
    for name, mask in learnable.items():
        cells, most = np.argwhere(mask), max(1, _TOGETHER // (m * weights[name].size))
        for start in range(0, len(cells), most):
            part = cells[start : start + most]
            count = len(part)
            # All samples with the first entry moved, then all with the second one, and so on.
            moved = np.repeat(fixed[name].astype(np.complex128), count, axis=-1)
            moved[(*part.T, np.arange(count))] += 1j * _STEP
            blocks = fixed | {name: np.repeat(moved, m, axis=-1)}
            blocks |= {key: np.tile(value, count) for key, value in samples.items()}
            found = _labels_of(program, blocks, count * m).imag / _STEP
            found = found.reshape(-1, count, m).transpose(0, 2, 1)
            columns.append(found.reshape(-1, count))
    return np.concatenate(columns, axis=1) if columns else np.zeros((0, 0))


def smallest_error(errors, starts, steps=300):
    """The largest entry of the errors at the best of many ends of Levenberg–Marquardt runs.

    Parameters
    ----------
    errors : callable
        From points (·, r) to errors (·, e), analytic: derivatives are complex steps.
    starts : ndarray, shape (·, r)
    steps : int, optional
        At most so many steps of each run.
    """

    def with_derivatives(w, _):
        moved = w[:, None, :] + 1j * _STEP * np.eye(w.shape[1])
        slopes = errors(moved.reshape(-1, w.shape[1])).imag / _STEP
        return errors(w), slopes.reshape(*moved.shape[:2], -1).swapaxes(1, 2)

    runs = levenberg_marquardt(
        with_derivatives, starts, steps, enough=1e-24, damping=Damping(), first=True
    )
    return np.abs(errors(runs.ends)).max(axis=1).min()


def weights_of(read) -> dict[str, np.ndarray]:
    """The weights of a model that was read, as doubles."""
    return {
        name: np.array([int(v) / d for v in table.ravel().tolist()]).reshape(table.shape)
        for name, (table, d) in read.values.items()
    }
