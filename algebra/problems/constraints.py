"""Constraints on a match: bounds, largest changes and signs of the learnable weights.

The match probability asks whether *any* real weights match.  A synapse, however, is bounded and
keeps its sign (Dale's law), and a stored weight has sixteen bits.  Each constraint restricts one
learnable weight w, whose value before learning (the drawn weight that it replaces) is v, to a
closed interval:

* ``max_abs``: −b ≤ w ≤ b;
* ``max_change``: v − b ≤ w ≤ v + b;
* ``sign``: w ≥ 0 or w ≤ 0; "keep" means the sign of v (where v = 0: either).

Bounds and drawn weights are binary fractions, so the intervals are exact rationals.  A weight of 0
has either sign.  Together the constraints restrict the learnable weights to a box (one `Interval`
for each), and engines use nothing else of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from flint import fmpq

from algebra.declarations import InFile
from algebra.errors import InputError, one_line
from algebra.networks.base import Network
from algebra.problems.allocation import Allocation, Cell

if TYPE_CHECKING:
    from algebra.problems.constraint_entries import Entry
    from algebra.problems.intervals import Interval

# Forms of files and checks of entries, which a problem without constraints does not need.
_FORMS = "algebra.problems.constraint_entries:"


@dataclass(frozen=True)
class Constraints:
    """Constraints on the learnable weights of a match.

    Parameters
    ----------
    max_abs, max_change : float, mapping or matrix, optional
        A bound (at least 0; infinity for none) for all learnable weights, or by matrix: one number
        for the matrix, or one for each of its cells.  A bare matrix applies to the only matrix that
        learns.
    sign : str, mapping or matrix, optional
        "keep", "+" or "-", for all or by matrix; as a matrix 1, −1 and 0 (free).

    Raises
    ------
    InputError
        If an entry is wrong; the message names it.

    Notes
    -----
    Names, shapes and learning cells depend on the network; `on`, which
    `algebra.problems.problem.Problem` calls, checks them.  Cells that do not learn need no bound:
    their entries in a matrix of bounds are ignored.

    Examples
    --------
    >>> bounds = Constraints(max_abs=3.0, sign={"W": "keep"})
    >>> bounds.interval(("W", 0, 0), fmpq(-1, 2))
    Interval(low=-3, high=0)
    >>> bool(bounds), bool(Constraints())
    (True, False)
    """

    max_abs: Annotated[
        Any, InFile(_FORMS + "Bounds"), "every learnable weight within ± this bound"
    ] = None
    max_change: Annotated[
        Any,
        InFile(_FORMS + "Bounds"),
        "every learnable weight within ± this bound of its value before learning",
    ] = None
    sign: Annotated[
        Any, InFile(_FORMS + "SignWords"), "keep (that of the value before learning), + or -"
    ] = None

    def __post_init__(self) -> None:
        if not self:
            return
        from algebra.problems.constraint_entries import entry_of

        for f in fields(self):
            value = getattr(self, f.name)
            where = f"constraints.{f.name}"
            if isinstance(value, Mapping):
                table = {
                    str(name): entry_of(entry, f.name, f"{where}.{one_line(name)}")
                    for name, entry in value.items()
                }
                value = table or None
            elif value is not None:
                value = entry_of(value, f.name, where)
            object.__setattr__(self, f.name, value)

    def __bool__(self) -> bool:
        return any(getattr(self, f.name) is not None for f in fields(self))

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_dict(), sort_keys=True))

    @property
    def is_uniform(self) -> bool:
        """Whether all cells of a matrix have the same constraint, so that units can be renamed."""
        return not any(isinstance(e, tuple) for f in fields(self) for e in self._entries(f.name))

    def _entries(self, key: str) -> list[Entry]:
        value = getattr(self, key)
        if value is None:
            return []
        return list(value.values()) if isinstance(value, dict) else [value]

    def on(
        self, network: Network, learning: Mapping[str, np.ndarray | None], fixed: bool
    ) -> Constraints:
        """The same constraints, checked against a network, each matrix under its name.

        Parameters
        ----------
        network : Network
        learning : mapping of str to ndarray or None
            For each matrix that learns its mask; None if the cells are drawn.
        fixed : bool
            Whether the set of learning matrices is final; if not (a network without an allocation),
            only names and shapes are checked.
        """
        if not self:
            return self
        from algebra.problems.constraint_entries import check_table

        found: dict[str, Any] = {}
        for f in fields(self):
            key, value = f.name, getattr(self, f.name)
            if isinstance(value, tuple):
                if len(learning) != 1:
                    raise InputError(
                        f"constraints.{key} is a matrix, and {len(learning)} matrices learn: name "
                        f"the one it is for, as in {key} = {{ {next(iter(network.shapes))} = … }}"
                    )
                value = {next(iter(learning)): value}
            if isinstance(value, dict):
                for name, entry in value.items():
                    check_table(network, learning, fixed, key, name, entry)
            found[key] = value
        return Constraints(**found)

    def restricted(self, allocation: Allocation) -> Constraints:
        """The constraints on the cells of an allocation."""
        if not self:
            return self
        from algebra.problems.constraint_entries import masked

        found: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(value, dict):
                value = {
                    name: masked(entry, allocation.masks[name]) if f.name == "sign" else entry
                    for name, entry in value.items()
                    if name in allocation.matrices
                }
            found[f.name] = value or None if isinstance(value, dict) else value
        return Constraints(**found)

    def interval(self, cell: Cell, before: fmpq) -> Interval:
        """The interval of a learnable weight, exactly.

        Parameters
        ----------
        cell : (str, int, int)
        before : fmpq
            Its value before learning.
        """
        # Loaded here: most problems have no constraints.
        from algebra.problems.constraint_entries import KEEP, SIGNS
        from algebra.problems.intervals import Interval

        lows: list[fmpq] = []
        highs: list[fmpq] = []
        size, change = self._at("max_abs", cell), self._at("max_change", cell)
        for middle, bound in ((fmpq(0), size), (before, change)):
            if bound is not None and bound != inf:
                radius = fmpq(*bound.as_integer_ratio())
                lows.append(middle - radius)
                highs.append(middle + radius)
        sign = self._at("sign", cell)
        if sign == KEEP:
            sign = (before > 0) - (before < 0)
        sign = SIGNS.get(sign, sign)
        if sign == 1:
            lows.append(fmpq(0))
        elif sign == -1:
            highs.append(fmpq(0))
        return Interval(max(lows, default=None), min(highs, default=None))

    def _at(self, key: str, cell: Cell) -> Any:
        value = getattr(self, key)
        if isinstance(value, dict):
            value = value.get(cell[0])
        return value[cell[1]][cell[2]] if isinstance(value, tuple) else value

    def __str__(self) -> str:
        def words(entry: Any) -> str:
            if isinstance(entry, dict):
                return ", ".join(f"{name}: {words(e)}" for name, e in entry.items())
            if isinstance(entry, tuple):
                return "by cell"
            return f"{entry:g}" if isinstance(entry, float) else str(entry)

        parts = [
            f"{f.name} {words(v)}" for f in fields(self) if (v := getattr(self, f.name)) is not None
        ]
        return "; ".join(parts) or "no constraints"

    def to_dict(self) -> dict[str, Any]:
        """The table of a problem file; infinity is a word, since JSON has no number for it."""

        def plain(entry: Any) -> Any:
            if isinstance(entry, dict):
                return {name: plain(e) for name, e in entry.items()}
            if isinstance(entry, tuple):
                return [plain(e) for e in entry]
            return "inf" if entry == inf else entry

        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {key: plain(value) for key, value in values.items() if value is not None}
