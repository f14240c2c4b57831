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
* Arguments that need weights of either sign, such as that an output with drawn weights takes
  values of both signs (`algebra.arguments.stuck_output`), hold only where the orthant has such
  weights.

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

With ``inputs`` or ``labels`` as rows of numbers samples or labels are given
(`algebra.problems.laws.data`), and no verdict is known.

``scale`` multiplies the standard deviation of a matrix, in student and teacher.  A positive factor
changes no open support and no density that is positive, so it changes no verdict.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from algebra.declarations import InFile, Keyword
from algebra.errors import InputError, one_line, shown
from algebra.networks.base import Cell, Network, Support

LAWS = ("normal", "uniform", "rademacher")
# The keys of [distribution] that are laws.
PARTS = ("weights", "inputs", "teacher")
# Where labels come from: a teacher, or independent standard normal numbers.
LABELS = TEACHER, ARBITRARY = ("teacher", "normal")
# The signs of each matrix that has signs.
Signs = Mapping[str, np.ndarray]
_NOISE_ALONE = "arbitrary labels are noise alone"


_Law = Keyword("enum", LAWS)
# Forms of files, which a check does not read.
_FORMS = "algebra.problems.laws.forms:"


@dataclass(frozen=True)
class Distribution:
    """Laws of the student's fixed weights, the inputs and the teacher's weights.

    Parameters
    ----------
    weights, inputs, teacher : str, optional
        Each is "normal", "uniform" or "rademacher", all with mean 0 and the same variance.
        Inputs may be given: a row of exact numbers for each sample.
    labels : {"teacher", "normal"} or rows of numbers, optional
        The teacher's labels, or arbitrary ones: independent standard normal numbers; or the labels,
        a row for each sample.
    noise : number, optional
        Standard deviation of independent normal numbers that are added to the teacher's labels.
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
    inputs: Annotated[Any, InFile(_FORMS + "Inputs"), "law of the samples, or the samples"] = (
        "normal"
    )
    teacher: Annotated[str, _Law, "law of the teacher's weights"] = "normal"
    labels: Annotated[
        Any,
        InFile(_FORMS + "Labels"),
        "the teacher's labels, arbitrary (standard normal) ones, or the labels themselves",
    ] = TEACHER
    noise: Annotated[
        Any,
        InFile(_FORMS + "Factor"),
        "standard deviation of normal numbers that are added to the teacher's labels",
    ] = Fraction(0)
    scale: Annotated[
        Any,
        InFile(_FORMS + "Factors"),
        "factors of the standard deviations of matrices, in student and teacher",
    ] = None
    signs: Annotated[
        Any,
        InFile(_FORMS + "Signs"),
        "signs that weights are drawn with, by neuron or by weight: 1, -1, 0 (free)",
    ] = None

    def __post_init__(self) -> None:
        for key in ("inputs", "labels"):
            value = getattr(self, key)
            if not isinstance(value, str):
                from algebra.problems.laws.data import as_data

                object.__setattr__(self, key, as_data(value, f"distribution.{key}"))
        for part in PARTS:
            value = getattr(self, part)
            if part == "inputs" and self.has_given_inputs:
                continue
            if not isinstance(value, str) or value not in LAWS:
                raise InputError(
                    f"distribution.{part} ({shown(value)}) must be one of " + ", ".join(LAWS)
                )
        if not self.has_given_labels and self.labels not in LABELS:
            raise InputError(
                f"distribution.labels ({shown(self.labels)}) must be one of " + ", ".join(LABELS)
            )
        if self.has_own_labels and self.teacher != "normal":
            given = "given" if self.has_given_labels else shown(self.labels)
            raise InputError(
                f"distribution.teacher ({shown(self.teacher)}): there is no teacher if labels are "
                f"{given}; remove one of them"
            )
        if not isinstance(self.noise, Fraction) or self.noise:
            from algebra.problems.laws.factors import given_noise

            object.__setattr__(self, "noise", given_noise(self.noise))
        if self.noise and self.has_own_labels:
            why = "given labels are exact" if self.has_given_labels else _NOISE_ALONE
            raise InputError(
                f"distribution.noise ({self.noise}): {why}; remove one of `noise` and `labels`"
            )
        if self.scale is not None:
            from algebra.problems.laws.factors import given_factors

            object.__setattr__(self, "scale", given_factors(self.scale))

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_dict(), sort_keys=True, default=str))

    @property
    def has_arbitrary_labels(self) -> bool:
        """Whether labels are independent numbers instead of a teacher's."""
        return self.labels == ARBITRARY

    @property
    def has_given_inputs(self) -> bool:
        """Whether the samples are given."""
        return not isinstance(self.inputs, str)

    @property
    def has_given_labels(self) -> bool:
        """Whether the labels are given."""
        return not isinstance(self.labels, str)

    @property
    def has_own_labels(self) -> bool:
        """Whether there is no teacher: labels are arbitrary or given."""
        return self.has_arbitrary_labels or self.has_given_labels

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
        if self.has_given_inputs or self.has_given_labels:
            from algebra.problems.laws.data import check_data

            check_data(self.inputs, self.labels, network)
        if self.signs is None:
            return self
        from algebra.problems.laws.signs import sign_matrices

        return replace(self, signs=sign_matrices(self.signs, network) or None)

    @cached_property
    def masks(self) -> Signs:
        """The matrices of signs as arrays, after `on`."""
        if not self.signs:
            return {}
        from algebra.problems.laws.signs import as_array

        return {name: as_array(rows) for name, rows in self.signs.items()}

    def oriented(self, matrices: Mapping[str, Any]) -> dict[str, Any]:
        """Weights, in arrays or sparse matrices, with their signs: ±|w| where there is one."""
        if not self.signs:
            return dict(matrices)
        from algebra.problems.laws.signs import with_signs

        return with_signs(matrices, self.masks)

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
        for key in ("inputs", "labels"):
            rows = getattr(self, key)
            if not isinstance(rows, str):
                data[key] = [[str(number) for number in row] for row in rows]
        if self.has_arbitrary_labels:
            data["labels"] = self.labels
        if self.noise:
            data["noise"] = str(self.noise)
        if self.scale:
            data["scale"] = {name: str(factor) for name, factor in sorted(self.scale.items())}
        if self.signs is not None:
            from algebra.problems.laws.signs import plain_rows

            signs = self.signs
            data["signs"] = (
                {name: plain_rows(rows) for name, rows in signs.items()}
                if isinstance(signs, Mapping)
                else list(signs)
            )
        return data
