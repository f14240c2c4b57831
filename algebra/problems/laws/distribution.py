"""Laws of weights and samples, and the signs of neurons and synapses (Dale's law).

With ``signs`` the weights of the teacher and those of the student before learning, fixed ones
included, are drawn with the sign of their presynaptic neuron, or of their own synapse: z becomes
|z| or −|z|.  The law then has a density that is positive on an open orthant (near 0 in it, if the
law is bounded).  Consequences for the verdicts:

* *minimal*, *not minimal*: the exceptions are null sets, and instances near a generic point of the
  orthant lie in it.  *Maximal*: an odd number of complex solutions, a linear system of full rank, a
  proper map of degree ≠ 0 and a teacher in another basis each imply that *every* generic instance
  has a real solution.  Both kinds of verdict hold unchanged.
* *MP < 1* by an instance without real solutions: the instance must lie in the orthant.
* Arguments on single weights of either sign (`algebra.families.activations.reach`) are carried out
in the
  orthant.

The learnable weights of a match may have any sign; ``[constraints] sign`` restricts them.

With ``labels = "normal"`` no teacher labels the samples: the dm labels are independent standard
normal numbers.

**Theorem.** Let the labels f(c, X, w) be analytic in the fixed weights c, the samples X and the
learnable weights w, and let c and X have densities that are positive on an open set.  Let ρ_A be
the generic rank of the derivative by w.  With arbitrary labels MP = 0 if and only if ρ_A < dm.

*Proof.* If ρ_A < dm, then for every (c, X) the labels of all students have measure 0 (Sard), and
labels with a density are in such a set with probability 0.  If ρ_A = dm, f(c, X, ·) is a submersion
at some w for almost all (c, X): it reaches an open set of labels, which has positive probability. ∎

So if the network's own rank ρ is below dm (more samples than inputs, narrow layers), nothing
matches.  If ρ = dm, the labels of a teacher of the network have a density, and then:

* an argument for MP < 1 with a teacher's labels holds: it shows a set of (c, X, teacher) of
  positive measure without a match, whose image in (c, X, Y) contains an open set, as a generic
  teacher is a regular point;
* an argument for MP = 1 holds if it is about generic labels (an odd number of complex solutions, a
  linear system, a proper map), but not if it makes the teacher a student.

``scale`` multiplies the standard deviation of a matrix, in student and teacher.  A positive factor
changes no open support and no density that is positive, so it changes no verdict.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np

from algebra.declarations import InFile, Keyword
from algebra.errors import ErrorsAt, InputError, given_rows, one_line, shown
from algebra.linalg.rational import exact_number
from algebra.networks.base import Axis, Cell, Network, Support
from algebra.networks.masks import LARGE
from algebra.problems.file_entries import EdgesFile, FileName
from algebra.problems.names import populations

LAWS = ("normal", "uniform", "rademacher")
# The keys of [distribution] that are laws.
PARTS = ("weights", "inputs", "teacher")
# Where labels come from: a teacher, or independent standard normal numbers.
LABELS = TEACHER, ARBITRARY = ("teacher", "normal")
# Words and numbers for signs.
SIGN_VALUES = {"1": 1, "+1": 1, "+": 1, "-1": -1, "-": -1, "0": 0}
Signs = Mapping[str, np.ndarray]
# Largest factor of a standard deviation.
_LARGEST_FACTOR = Fraction(1_000_000)


_Law = Keyword("enum", tuple(LAWS))
_Factor = Annotated[Any, Keyword("type", ("number", "string"))]
_Sign = Literal[1, -1, 0, "+", "-"]
_UnitSigns = Annotated[list[_Sign], "a sign for each unit"]
_Signs = (
    _UnitSigns | FileName | dict[str, _Sign | _UnitSigns | list[list[_Sign]] | FileName | EdgesFile]
)


@dataclass(frozen=True)
class Distribution:
    """Laws of the student's fixed weights, the inputs and the teacher's weights.

    Parameters
    ----------
    weights, inputs, teacher : str, optional
        Each is "normal", "uniform" or "rademacher", all with mean 0 and the same variance.
    labels : {"teacher", "normal"}, optional
        The teacher's labels, or arbitrary ones: independent standard normal numbers.
    scale : mapping of str to number, optional
        For a matrix the factor of its standard deviation, in student and teacher.
    signs : mapping or sequence, optional
        Signs of the weights of student and teacher, 1, −1 or 0 (free): for a population of units
        ("neurons", "layer1", "inputs") a sign for each unit, which is that of all weights it sends;
        for a matrix a sign for each weight, or for each column.  A bare sequence is that of the
        neurons.

    Raises
    ------
    InputError
        If an entry is wrong; the message names it.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> Distribution(signs=[1, -1]).on(net).signs
    {'D': ((1, -1),), 'W': ((1, -1), (1, -1))}
    """

    weights: Annotated[str, _Law, "law of the student's weights"] = "normal"
    inputs: Annotated[str, _Law, "law of the samples"] = "normal"
    teacher: Annotated[str, _Law, "law of the teacher's weights"] = "normal"
    labels: Annotated[
        str, Keyword("enum", LABELS), "the teacher's labels, or arbitrary (standard normal) ones"
    ] = TEACHER
    scale: Annotated[
        Any,
        InFile(dict[str, _Factor]),
        "factors of the standard deviations of matrices, in student and teacher",
    ] = None
    signs: Annotated[
        Any,
        InFile(_Signs),
        "signs that weights are drawn with, by neuron or by weight: 1, -1, 0 (free)",
    ] = None

    def __post_init__(self) -> None:
        for part in PARTS:
            value = getattr(self, part)
            if not isinstance(value, str) or value not in LAWS:
                raise InputError(
                    f"distribution.{part} ({shown(value)}) must be one of " + ", ".join(LAWS)
                )
        if not isinstance(self.labels, str) or self.labels not in LABELS:
            raise InputError(
                f"distribution.labels ({shown(self.labels)}) must be one of " + ", ".join(LABELS)
            )
        if self.has_arbitrary_labels and self.teacher != "normal":
            raise InputError(
                f"distribution.teacher ({shown(self.teacher)}): there is no teacher if labels are "
                f"{shown(self.labels)}; remove one of them"
            )
        if self.scale is not None:
            object.__setattr__(self, "scale", _factors(self.scale))

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_dict(), sort_keys=True, default=str))

    @property
    def has_arbitrary_labels(self) -> bool:
        """Whether labels are independent numbers instead of a teacher's."""
        return self.labels == ARBITRARY

    @property
    def is_continuous(self) -> bool:
        """Whether generic verdicts are statements about the match probability."""
        return "rademacher" not in (self.weights, self.inputs, self.teacher)

    @property
    def has_full_support(self) -> bool:
        """Whether the law of samples and of weights (with their signs) has full support."""
        return {self.weights, self.inputs, self.teacher} == {"normal"}

    def on(self, network: Network) -> Distribution:
        """The same laws, with a matrix of signs for each matrix that has signs.

        Parameters
        ----------
        network : Network

        Raises
        ------
        InputError
            Where signs do not fit the network.
        """
        for name in self.scale or ():
            where = f"distribution.scale.{one_line(name)}"
            if name not in network.shapes and name not in network.teacher_shapes:
                names = ", ".join(dict.fromkeys((*network.shapes, *network.teacher_shapes)))
                raise InputError(f"`{where}`: a {network.title} network has {names}")
            if name in network.rates:
                raise InputError(f"`{where}`: leaks are between 0 and 1 and have no scale")
        if self.signs is None:
            return self
        given = self.signs if isinstance(self.signs, Mapping) else {"neurons": self.signs}
        named = set(given) <= set(network.shapes)
        units = {} if named else populations(network)
        found: dict[str, _Rows] = {}
        for key, value in sorted(given.items(), key=lambda item: item[0] not in units):
            where = f"distribution.signs.{one_line(key)}"
            if key in network.shapes:
                found[key] = _sign_matrix(value, where, network.shapes[key])
                continue
            if key not in units:
                known = [*(k for k, axis in units.items() if _sends(axis)), *network.shapes]
                raise InputError(f"`{where}`: a {network.title} network has " + ", ".join(known))
            line = _sign_line(value, where, units[key].size)
            for matrix, axis in units[key].places:
                if axis == 1:
                    found[matrix] = (line,) * network.shapes[matrix][0]
        signs = {
            name: found[name]
            for name in network.shapes
            if name in found and any(map(any, _different(found[name])))
        }
        return replace(self, signs=signs or None)

    @cached_property
    def masks(self) -> Signs:
        """The matrices of signs as arrays, after `on`."""
        return {
            name: np.broadcast_to(np.array(_different(rows), np.int8), (len(rows), len(rows[0])))
            if _is_by_columns(rows)
            else np.array(rows, np.int8)
            for name, rows in (self.signs or {}).items()
        }

    def oriented(self, matrices: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Weights with their signs: ±|w| where there is one."""
        out = dict(matrices)
        for name, signs in self.masks.items():
            if name in out:
                out[name] = np.where(signs == 0, out[name], abs(out[name]) * signs)
        return out

    def against(
        self, matrices: Mapping[str, np.ndarray], support: Support, free: Collection[Cell] = ()
    ) -> Iterator[Cell]:
        """Existing weights whose sign is not the given one; 0 has no sign.

        Parameters
        ----------
        matrices : mapping of str to ndarray
        support : mapping of str to mask
        free : collection of cells, optional
            Cells that are ignored.
        """
        for name, signs in self.masks.items():
            exists = np.asarray(support.get(name, np.ones(signs.shape))) != 0
            for i, j in np.argwhere((signs != 0) & exists).tolist():
                if (name, i, j) not in free and not matrices[name][i, j] * int(signs[i, j]) > 0:
                    yield name, i, j

    def to_dict(self) -> dict[str, Any]:
        """The table of a problem file."""
        data: dict[str, Any] = {part: getattr(self, part) for part in PARTS}
        if self.has_arbitrary_labels:
            data["labels"] = self.labels
        if self.scale:
            data["scale"] = {name: str(factor) for name, factor in sorted(self.scale.items())}
        if self.signs is not None:
            signs = self.signs
            data["signs"] = (
                {name: _plain_signs(rows) for name, rows in signs.items()}
                if isinstance(signs, Mapping)
                else list(signs)
            )
        return data


def _factors(given: Any) -> dict[str, Fraction] | None:
    """Factors of standard deviations: exact, positive, at most `_LARGEST_FACTOR`, and not 1."""
    if not isinstance(given, Mapping):
        raise InputError(
            f"`distribution.scale` ({shown(given)}) must map matrices to factors, as in "
            "{ W = 1.5 }"
        )
    found = {}
    for name, value in given.items():
        where = f"`distribution.scale.{one_line(name)}`"
        with ErrorsAt(where):
            factor = exact_number(value)
        if not 1 / _LARGEST_FACTOR <= factor <= _LARGEST_FACTOR:
            raise InputError(
                f"{where} is {shown(value)}: the factor of a standard deviation must be positive, "
                f"between 1/{_LARGEST_FACTOR} and {_LARGEST_FACTOR}"
            )
        if factor != 1:
            found[str(name)] = factor
    return found or None


def _sends(axis: Axis) -> bool:
    return any(side == 1 for _, side in axis.places)


# Signs of a matrix; those of columns are one row, held once and named for each row.
_Rows = tuple[tuple[int, ...], ...]


def _different(rows: _Rows) -> _Rows:
    """The rows, but one that is named for all rows only once."""
    return rows[:1] if _is_by_columns(rows) else rows


def _is_by_columns(rows: Any) -> bool:
    """Whether the same row is named for all rows."""
    return isinstance(rows, tuple) and bool(rows) and all(row is rows[0] for row in rows)


def _plain_signs(rows: Any) -> Any:
    """Rows of signs; of a large matrix with signs by columns one row."""
    if not isinstance(rows, Sequence) or not len(rows) or not isinstance(rows[0], Sequence):
        return rows
    if _is_by_columns(rows) and len(rows) * len(rows[0]) > LARGE:
        return list(rows[0])
    return [list(row) for row in rows]


def _sign_line(value: Any, where: str, size: int, what: str = "units") -> tuple[int, ...]:
    line = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(line, Sequence) or isinstance(line, str):
        raise InputError(f"`{where}` ({shown(value)}) must be a list of signs, one for each unit")
    if len(line) != size:
        raise InputError(f"`{where}` has {len(line)} signs for {size} {what}")
    return tuple(_sign(entry, f"`{where}[{k}]`") for k, entry in enumerate(line))


def _sign_matrix(value: Any, where: str, shape: tuple[int, int]) -> _Rows:
    is_line = isinstance(value, list) and value and not isinstance(value[0], (list, np.ndarray))
    if is_line or (_is_by_columns(value) and len(value) == shape[0]):
        line = _sign_line(value if is_line else value[0], where, shape[1], "columns")
        return (line,) * shape[0]
    return tuple(
        tuple(_sign(entry, f"`{where}[{i}][{j}]`") for j, entry in enumerate(row))
        for i, row in enumerate(given_rows(value, where, "rows of signs, or an edge list", shape))
    )


def _sign(entry: Any, where: str) -> int:
    if isinstance(entry, str) and entry in SIGN_VALUES:
        return SIGN_VALUES[entry]
    number = isinstance(entry, Real) and not isinstance(entry, bool)
    if not number or entry not in (-1, 0, 1):
        raise InputError(f"{where} is {shown(entry)}: a sign is 1, -1 or 0 (free)")
    return int(entry)
