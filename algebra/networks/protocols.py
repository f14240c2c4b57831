"""What a kind of network may know besides its map: its Jacobian, its units, its limits.

A kind is a `Network`, and a class of this module for each further thing that it knows; a chain of
matrix products knows all of them (`algebra.networks.chain`).  Other modules ask with ``isinstance``
whether a network knows something; `jacobian_of`, `units_of` and
`limits_of` refuse one that does not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from algebra.errors import InputError
from algebra.linalg.primes import EntryBound
from algebra.networks.base import LABELS, Axis, Cell, ColumnFactors, Factors, Matrix, Network, Point

if TYPE_CHECKING:
    from algebra.networks.limits import MatrixLimits
    from algebra.programs.duals import DualValue
    from algebra.programs.jacobian import ProgramCell, Sweep
    from algebra.programs.program import Program
    from algebra.programs.residues import ModularArithmetic


class HasJacobian(Network):
    """A network whose Jacobian is known at points over GF(p), with what bounds its rank.

    Values and derivatives are those of its program, in the arithmetic of `modular`; a kind with a
    faster form of its labels' derivatives overrides `modular_tangents` or `modular_forward`.
    """

    def modular_tangents(self, point: Point, names: Sequence[str] | None) -> Factors:
        """The factors of the Jacobian's columns at a point over GF(p).

        Parameters
        ----------
        point : Point
        names : sequence of str or None
            The matrices to differentiate by; None for all.

        Returns
        -------
        dict of str to (ndarray, ndarray)
            L and R for each matrix; R has shape (S, columns, label columns), L (S, d, rows) or, if
            it depends on the sample, (S, d, label columns, rows).  The derivative of the label (k,
            c) by the cell (i, j) is the sum over s of L[s, k, (c,) i] R[s, j, c].
        """
        found = self.modular_readings(LABELS, point, names)
        if len(self.label_steps) == 1:
            return found
        from algebra.programs.jacobian import side_by_side

        return side_by_side(found, len(self.label_steps), self.read_out)

    def modular_forward(self, point: Point) -> Matrix:
        """Labels at a point of dual numbers: see `algebra.ranks.derivatives`."""
        from algebra.programs.duals import DualValue

        found = self.modular_values(LABELS, point)
        both = ([getattr(own, part) for own in found] for part in ("value", "tangent"))
        shape = self.d, self.m
        return DualValue(
            *(
                np.concatenate(
                    [np.broadcast_to(v, (*v.shape[:-1], self.m)).reshape(shape) for v in of], axis=1
                )
                for of in both
            )
        )

    def recorded(self, what: str) -> tuple[Program, list[int]]:
        """A program of one sample, and its nodes with the values of each of `readings`."""
        program = self.program()
        if what == LABELS:
            return program, [program.output]
        named = program.named
        return program, [named[f"{what} {k}"] for k in range(len(self.readings(what)))]

    def modular(self, point: Point, program: Program) -> ModularArithmetic:
        """The arithmetic of one of its programs at a point: residues."""
        from algebra.programs.residues import ModularArithmetic

        return ModularArithmetic(point.p)

    def modular_blocks(self, point: Point) -> dict[str, Any]:
        """Values of the program's blocks; a weight only enters products, and may be sparse."""
        from algebra.linalg.sparse_blocks import as_block

        shapes = self.program().weights
        return {name: as_block(point.weights[name]) for name in shapes} | {"X": point.X}

    def factors_of(self, sweep: Sweep, names: Collection[str]) -> Factors:
        """The factors of the differentiated values, by the matrices on which they depend.

        Overridden where every matrix is multiplied by values, or added as a column, as it is.
        """
        return ColumnFactors(self, sweep)

    def place(self, cell: Cell) -> ProgramCell:
        """The place of a weight in its block of the program."""
        return cell

    def modular_readings(
        self,
        what: str,
        point: Point,
        names: Sequence[str] | None,
        units: Sequence[np.ndarray | None] | None = None,
    ) -> Factors:
        """The factors of the derivatives of `readings`, one below the other, at a point over GF(p).

        As for `modular_tangents`, with the units of each reading, or some of them, in place of the
        outputs; a matrix on which no reading depends is omitted.
        """
        from algebra.programs.jacobian import Sweep

        program, nodes = self.recorded(what)
        some = units or [None] * len(nodes)
        targets = [
            (node, own) for node, own in zip(nodes, some, strict=True) if own is None or len(own)
        ]
        wanted = set(self.shapes if names is None else names)
        blocks = self.modular_blocks(point)
        sweep = Sweep(program, self.modular(point, program), blocks, wanted, targets=targets)
        return self.factors_of(sweep, wanted)

    def factor_entries(self, what: str) -> int:
        """Bound on the number of entries of `modular_readings`' factors; 0 if negligible."""
        return 0

    def modular_values(self, what: str, point: Point) -> list[DualValue]:
        """The values whose derivatives are `modular_readings`, one matrix (units×m) for each.

        At a point of dual numbers, as for `modular_forward`.
        """
        from algebra.programs.duals import DualArithmetic
        from algebra.programs.evaluate import evaluate

        program, nodes = self.recorded(what)
        arithmetic = DualArithmetic(self.modular(point, program))
        found = evaluate(program, arithmetic, self.modular_duals(point), nodes)
        return [found[k] for k in nodes]

    def modular_duals(self, point: Point) -> dict[str, DualValue]:
        """`modular_blocks` at a point of dual numbers."""
        from algebra.programs.duals import DualValue

        def part(name: str) -> dict[str, Any]:
            weights = {of: getattr(weight, name) for of, weight in point.weights.items()}
            return self.modular_blocks(replace(point, weights=weights, X=getattr(point.X, name)))

        value, tangent = part("value"), part("tangent")
        return {name: DualValue(value[name], tangent[name]) for name in value}

    @property
    def label_dimension_bound(self) -> int:
        """An upper bound on the rank ρ of the whole Jacobian, from counting."""
        return min(self.outputs, self.parameters)

    # Bounds of what `apply` nodes of the program give, if their names do not say it.
    sized: ClassVar[Any] = None

    @property
    def entry_bound(self) -> EntryBound:
        """Degree and bits of a Jacobian entry as a polynomial in all random quantities of a point.

        `meetings` counts pairs of values of a point that may coincide by chance.
        """
        return _entry_bound(self)

    @property
    def label_bound(self) -> tuple[int, int]:
        """Degree and bits of the labels as polynomials in weights and samples.

        A label is at most the sum of weight times derivative (Euler), and so are its coefficients.
        """
        degree, bits, _ = self.entry_bound
        return degree + 1, bits + self.parameters.bit_length()

    def affine_in(self, names: Collection[str]) -> bool:
        return bool(names) and _degree_in(self, frozenset(names)) <= 1

    @property
    def read_out(self) -> str | None:
        """The matrix D if Y = D Z up to biases with Z independent of D; otherwise None."""
        return None

    def enough_rank(self, name: str) -> int:
        """A rank such that changes of this rank reach all labels that any change can.

        Let the labels depend on M only through its products with the columns of some matrix R (its
        inputs) or the rows of some matrix L (the maps after it), of rank at most k for all other
        weights.  With the projection P onto the column space of R, M + (M' − M) P has the same
        effect as M', and differs from M by a matrix of rank at most k; likewise from the left.  If
        M acts at several places, R contains its inputs at all of them: by induction along the
        network these inputs do not change.

        By default the rank of any matrix of its shape.
        """
        return min(self.shapes[name])


@lru_cache(maxsize=64)
def _entry_bound(network: HasJacobian) -> EntryBound:
    from algebra.programs.degrees import entry_bound

    return entry_bound(network.program(), network.m, sized=network.sized)


@lru_cache(maxsize=256)
def _degree_in(network: HasJacobian, names: frozenset[str]) -> float:
    from algebra.programs.degrees import degree_in

    return degree_in(network.program(), names)


class HasUnits(ABC):
    """A network whose units can be named, and renamed without a change of the map."""

    @abstractmethod
    def axes(self) -> tuple[Axis, ...]:
        """The units that may be renamed, outputs first."""

    def transposed(self) -> dict[str, str]:
        """The matrix that each becomes by transposition; empty if transposition is no symmetry."""
        return {}


class HasLimits(ABC):
    """A network whose equation budgets are known (`algebra.ranks.budgets`)."""

    @abstractmethod
    def limits(self) -> dict[str, MatrixLimits]:
        """Numbers of equations in which the rows and columns of each matrix take part."""


class HasPatternCost(Network):
    """A network whose instances are decided over activation patterns, in a measured time."""

    @abstractmethod
    def pattern_milliseconds(self, masks: Mapping[str, np.ndarray]) -> int | None:
        """The processor time of deciding an instance; None if it is not known."""


class HasPieces(HasJacobian):
    """A network whose labels may be analytic only on each piece: `algebra.ranks.pieces`."""

    @property
    @abstractmethod
    def is_piecewise(self) -> bool:
        """Whether the labels are only piecewise analytic, by signs or by tokens."""

    @property
    @abstractmethod
    def chooses(self) -> bool:
        """Whether it chooses by signs."""

    @abstractmethod
    def on_piece(self, number: int, signs: Mapping[int, np.ndarray]) -> Self:
        """The network on the piece of a rational point: its signs and its tokens."""


# The subject and the hint of budgets that are not known.
BUDGETS = "equation budgets", "use the generic rank instead"


def not_known(network: Network, what: str, instead: str = "") -> InputError:
    """The refusal of what is not known of a kind of network.

    Parameters
    ----------
    network : Network
    what : str
        The subject of "… not known".
    instead : str, optional
        A hint at an alternative.
    """
    return InputError(
        f"{what} of a {network.title} network (kind {network.kind!r}) are not known"
        + (f"; {instead}" if instead else "")
    )


def units_of(network: Network) -> HasUnits:
    """The network, if its units can be renamed; otherwise it is refused.

    Raises
    ------
    InputError
    """
    if isinstance(network, HasUnits):
        return network
    raise not_known(network, "the symmetries")


def limits_of(network: Network) -> dict[str, MatrixLimits]:
    """The limits of a network whose equation budgets are known; otherwise it is refused.

    Raises
    ------
    InputError
    """
    if isinstance(network, HasLimits):
        return network.limits()
    raise not_known(network, *BUDGETS)


def jacobian_of(network: Network) -> HasJacobian:
    """The network, if its Jacobian is known; otherwise it is refused.

    Raises
    ------
    InputError
    """
    if isinstance(network, HasJacobian):
        return network
    why = "has a Jacobian for each activation pattern, not one"
    if network.lower() is not None:
        why = "is solved as a linear network with other matrices"
    raise InputError(
        f"a {network.title} network (kind {network.kind!r}) {why}; inspect, certify, count, "
        "estimate and dimension take it, other verbs a network that is linear or has smooth "
        "activations"
    )
