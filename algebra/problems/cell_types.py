"""Cell types: which parameters move together, each from its own value.

If neurons have types, the learning cells of a matrix are tied by the pair of types of their row and
column (one amount for each pair), biases and leaks by the type of their neuron, and gains of rows
or columns are one factor for each type.  A unit without a type, for instance an input or an output,
is a type of its own.  All this is expressed by updates (`algebra.problems.updates`: `Tied`, and
`Gain` of groups).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from algebra.errors import InputError, one_line, shown
from algebra.linalg.sparse import SparseMatrix
from algebra.networks.base import Network
from algebra.networks.protocols import HasUnits
from algebra.problems.laws.signs import sign_of
from algebra.problems.populations import by_population, populations
from algebra.problems.updates import Gain, Tied, Update

_SIGNS = {"+": 1, "-": -1}


@dataclass(frozen=True)
class Types:
    """The types of a network's units.

    Parameters
    ----------
    network : Network
    given : mapping of str to sequence of str
        A type for each unit, by population as in `algebra.problems.names.Names`.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> types = Types(LinearRNN(n=3, T=2, b=1, d=1, m=2), {"neurons": ["E", "E", "I"]})
    >>> types.together("W", np.ones((3, 3), int)).names("W", (3, 3))
    ['t_W[E→E]', 't_W[I→E]', 't_W[E→I]', 't_W[I→I]']
    """

    network: Network
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", by_population(self.given, "types"))
        known = populations(self.network) if self.given else {}
        for key, types in self.given.items():
            where = f"types.{one_line(key)}"
            if key not in known:
                raise InputError(
                    f"{where}: a {self.network.title} network has no such units; it has "
                    + ", ".join(known)
                )
            if isinstance(types, str) or not isinstance(types, (list, tuple)):
                raise InputError(f"{where} ({shown(types)}) must be a list: a type for each unit")
            for k, kind in enumerate(types):
                if not isinstance(kind, str) or not kind.strip() or not kind.isprintable():
                    raise InputError(f"{where}[{k}] ({shown(kind)}) must be a word")
            if len(types) != known[key].size:
                raise InputError(f"{where} has {len(types)} types for {known[key].size} units")

    @cached_property
    def places(self) -> dict[tuple[str, int], tuple[str, ...]]:
        """The types of rows (axis 0) and of columns (axis 1) of each matrix that has types."""
        known = populations(self.network) if self.given else {}
        return {p: tuple(types) for key, types in self.given.items() for p in known[key].places}

    def together(self, name: str, learns: Any, by_gains: bool = False) -> Any:
        """A mask or an update of a matrix, changed so that each type has one parameter.

        Parameters
        ----------
        name : str
        learns : mask or Update
            Ties, groups and low ranks are returned unchanged.
        by_gains : bool, optional
            Whether the cells of a mask have common factors, in place of common changes.
        """
        rows, columns = self.places.get((name, 0)), self.places.get((name, 1))
        if isinstance(learns, Gain) and learns.groups is None:
            own = rows if learns.line == "rows" else columns
            if own is None:
                return learns
            group = {kind: k for k, kind in enumerate(dict.fromkeys(own), 1)}
            called = tuple((k, kind) for kind, k in group.items())
            return Gain(learns.line, [group[kind] for kind in own], called)
        if isinstance(learns, Update) or (rows is None and columns is None):
            return learns
        mask = learns if isinstance(learns, SparseMatrix) else SparseMatrix.of(np.asarray(learns))
        above = rows or tuple(map(str, range(mask.shape[0])))
        # A column of biases or leaks has types for its rows only.
        single = mask.shape[1] == 1 and columns is None
        across = ("",) if single else columns or tuple(map(str, range(mask.shape[1])))
        kinds, others = list(dict.fromkeys(above)), list(dict.fromkeys(across))
        down, side = (
            np.array([known[kind] for kind in of], np.int64)
            for of, known in (
                (above, {kind: k for k, kind in enumerate(kinds)}),
                (across, {kind: k for k, kind in enumerate(others)}),
            )
        )
        pairs = down[mask.rows] * len(others) + side[mask.columns]
        # Groups are numbered in the order of their first cells.
        found, first, index = np.unique(pairs, return_index=True, return_inverse=True)
        order = np.argsort(first)
        numbers = mask.with_values((np.argsort(order) + 1)[index.ravel()])
        if len(found) == len(pairs) and not by_gains:
            return learns
        called = tuple(
            (k, kinds[i] if single else f"{others[j]}→{kinds[i]}")
            for k, (i, j) in enumerate(
                (divmod(pair, len(others)) for pair in found[order].tolist()), 1
            )
        )
        held = numbers if isinstance(learns, SparseMatrix) else np.asarray(numbers)
        return Gain("cells", held, called) if by_gains else Tied(held, called)

    def of_units(self, given: Any) -> Any:
        """Signs of [distribution] in which types are replaced by the units of these types.

        Parameters
        ----------
        given : mapping or sequence
            As for `algebra.problems.laws.distribution.Distribution`; keys that are types have a
            sign: 1, -1, 0, "+" or "-".

        Raises
        ------
        InputError
            If no unit has a type, or its units have signs of their own as well.
        """
        if not isinstance(given, Mapping):
            return given
        known = dict.fromkeys(kind for types in self.given.values() for kind in types)
        named = populations(self.network) if isinstance(self.network, HasUnits) else {}
        others = {*self.network.shapes, *named}
        by_type = {
            k: v for k, v in given.items()
            if k not in others and (k in known or isinstance(v, (Real, str)))
        }  # fmt: skip
        found = {k: v for k, v in given.items() if k not in by_type}
        for kind, sign in by_type.items():
            where = f"`distribution.signs.{one_line(kind)}`"
            if kind not in known:
                raise InputError(
                    f"{where} ({shown(sign)}): no unit is of this type; types are "
                    + (", ".join(known) or "none: there is no [types]")
                )
            by_type[kind] = sign_of(sign, where)
        for key, types in self.given.items():
            if by_type.keys().isdisjoint(types):
                continue
            if key in found:
                raise InputError(
                    f"`distribution.signs.{key}`: signs of these units and of their types are "
                    "given: remove one of them"
                )
            found[key] = [by_type.get(kind, 0) for kind in types]
        return found

    def signs(self, given: Mapping[str, Any], learning: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Signs of weights by the type of the presynaptic unit (Dale's law), as matrices.

        Parameters
        ----------
        given : mapping of str to "+" or "-"
            By type; the name of a matrix is also permitted, with a sign for this matrix.
        learning : mapping of str to mask
            The matrices that learn.

        Raises
        ------
        InputError
            If no unit has this type.
        """
        shapes, known = self.network.shapes, {kind for of in self.places.values() for kind in of}
        own = {name: value for name, value in given.items() if name in shapes}
        by_type = {name: value for name, value in given.items() if name not in shapes}
        for kind, sign in by_type.items():
            where = f"constraints.sign.{one_line(kind)}"
            if kind not in known:
                raise InputError(
                    f"{where}: no unit is of this type, nor is it a matrix; types are "
                    + (", ".join(sorted(known)) or "none: there is no [types]")
                )
            if sign not in _SIGNS:
                raise InputError(f'{where} ({shown(sign)}) must be "+" or "-"')
        for name, mask in learning.items():
            senders = self.places.get((name, 1))
            if not by_type or senders is None or name in own:
                continue
            signs = np.array([_SIGNS.get(by_type.get(kind, ""), 0) for kind in senders])
            if (signs[None] * mask).any():
                own[name] = (signs[None] * mask).tolist()
        return own
