"""Tables of proof files, declared as dataclasses: read with exact types, written, made a schema.

A field is a key of the table, of the same name or of that in its metadata (`named_key`); one with a
default may be missing.  Its type is read as declared, and nothing else:

* bool, int, str, `Literal`; the `Keyword`s "minimum" and "maximum" are the bounds of integers,
  "enum" the known texts;
* ``tuple[X, ...]`` is a list, ``tuple[X, Y]`` a list of two entries, ``Mapping[str, X]``
  a table with keys of any name;
* ``X | None`` may be null where the field is required;
* another record is a table, a union of records one that its key ``kind`` chooses;
* a type with `Converted` has another form in files.

A form may depend on its context: on what the caller gives, such as the problem and the network with
its shapes, and on the fields of the same table that are declared before.  `Record.check` checks
relations between fields.

Data that were read are well formed, but not yet verified.  The JSON Schema of a record is
`algebra.schemas.table_schema`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin, get_type_hints

from flint import fmpq, fmpz

from algebra.checker.checks import CheckFailed
from algebra.checker.fields import (
    Fields,
    cells,
    entries_by_row,
    items,
    prime_and_point,
    rational_text,
    whole,
    whole_text,
)
from algebra.declarations import Count, InFile, Keyword, key_of, required
from algebra.errors import one_line, shown

Context = Mapping[str, Any]
NO_CONTEXT: Context = MappingProxyType({})


@dataclass(frozen=True)
class Converted(InFile):
    """A value that has another form in files.

    Attributes
    ----------
    form : type
        The type in files, for the schema.
    read : callable
        Of the value in the file, its place and the context.
    write : callable
    """

    read: Callable[[Any, str, Context], Any]
    write: Callable[[Any], Any]


class Record:
    """Base class of the tables of proof files: dataclasses whose fields are declared."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without what has its default."""
        out = {}
        for name, key, form, default in _fields(type(self)):
            value = getattr(self, name)
            if key is not None and value is not default:
                out[key] = write_form(form, value)
        return out

    @classmethod
    def from_dict(
        cls, data: object, place: str = "evidence", context: Context = NO_CONTEXT
    ) -> Self:
        """Read a table.

        Parameters
        ----------
        data : object
        place : str, optional
        context : mapping of str to object, optional

        Raises
        ------
        CheckFailed
            If it is no table, a field is missing, unknown or of another form, or `check` fails.
        """
        given, context = Fields(data, place), {**context, "place": place}
        needed = required(cls)
        found = {}
        for name, key, form, default in _fields(cls):
            if key is None:
                if name in context:
                    found[name] = context[name]
            elif key in needed or given.has(key):
                value = given.raw(key)
                if value is None and default is None and form is not Any:
                    raise CheckFailed(given.at(key), "is null, not missing")
                found[name] = context[name] = read_form(form, value, given.at(key), context)
        given.finish()
        made = cls(**found)
        made.check(place, context)
        return made

    def check(self, place: str, context: Context) -> None:
        """Check relations between the fields.

        Raises
        ------
        CheckFailed
        """


def _declared_fields(table: type) -> tuple[tuple[str, str | None, Any, Any], ...]:
    """Name, key, type and default of each field."""
    hints = get_type_hints(table, include_extras=True)
    return tuple((f.name, key_of(f), hints[f.name], f.default) for f in fields(table))


_fields: Callable[[type], tuple[tuple[str, str | None, Any, Any], ...]] = cache(_declared_fields)


def read_form(form: Any, value: Any, place: str, context: Context = NO_CONTEXT) -> Any:
    """A value of a file as the type of a field says.

    Raises
    ------
    CheckFailed
        If it has another form; the place is that of the innermost wrong value.
    """
    origin, inside = get_origin(form), get_args(form)
    if origin is Annotated:
        for more in inside:
            if isinstance(more, Converted):
                return more.read(value, place, context)
        if inside[0] is int:
            return whole(value, place, *_limits(form))
        limits = {more.name: more.value for more in inside if isinstance(more, Keyword)}
        if "enum" in limits:
            return read_form(Literal[limits["enum"]], value, place, context)
        assert not limits, f"{limits} are not checked by reading"
        return read_form(inside[0], value, place, context)
    if form is Any:
        return value
    if form is int:
        return whole(value, place)
    if form in _SCALARS:
        if type(value) is not form:
            raise CheckFailed(place, f"must be {_SCALARS[form]}, not {shown(value)}")
        return value
    if origin is Literal:
        if not any(type(value) is type(one) and value == one for one in inside):
            known = ", ".join(map(str, inside))
            raise CheckFailed(place, f"{shown(value)} is not one of {known}")
        return value
    if origin is tuple:
        entries = items(value, place)
        if inside[-1] is Ellipsis:
            inside = inside[:1] * len(entries)
        elif len(entries) != len(inside):
            raise CheckFailed(place, f"must have {len(inside)} entries, not {shown(value)}")
        return tuple(
            read_form(own, entry, f"{place}[{k}]", context)
            for k, (own, entry) in enumerate(zip(inside, entries, strict=True))
        )
    if origin is Mapping:
        given = Fields(value, place)
        if inside[1] is Any:
            return {name: given.raw(name) for name in given}
        return {
            name: read_form(inside[1], given.raw(name), given.at(one_line(name)), context)
            for name in given
        }
    if origin in (Union, UnionType):
        if value is None and NoneType in inside:
            return None
        return read_form(_chosen(form, value, place), value, place, context)
    assert issubclass(form, Record), form
    return form.from_dict(value, place, context)


def _limits(form: Any) -> tuple[int | None, int | None]:
    """Minimum and maximum of a type of integers."""
    given = {more.name: more.value for more in get_args(form) if isinstance(more, Keyword)}
    return given.get("minimum"), given.get("maximum")


def reader_of(form: Any, context: Context) -> Callable[[Any, str], Any]:
    """A function that reads a value at a place: for the many entries of a matrix."""
    kind, *more = get_args(form) or (form,)
    if kind is int and not any(isinstance(one, Converted) for one in more):
        low, high = _limits(form)
        return lambda value, place: whole(value, place, low, high)
    return lambda value, place: read_form(form, value, place, context)


def write_form(form: Any, value: Any) -> Any:
    """The plain data of a value of a type that `read_form` reads."""
    origin, inside = get_origin(form), get_args(form)
    if origin is Annotated:
        for more in inside:
            if isinstance(more, Converted):
                return more.write(value)
        return write_form(inside[0], value)
    if origin is tuple:
        forms = inside[:1] * len(value) if inside[-1] is Ellipsis else inside
        return [write_form(own, entry) for own, entry in zip(forms, value, strict=True)]
    if isinstance(value, Record):
        return value.to_dict()
    if origin in (Union, UnionType) and value is not None:
        return write_form(next(own for own in inside if own is not NoneType), value)
    return value


_SCALARS = {bool: "true or false", str: "a text"}


def _chosen(form: Any, value: Any, place: str) -> Any:
    """The type of a union without None; among records the one of the table's `kind`."""
    own = [one for one in get_args(form) if one is not NoneType]
    if len(own) == 1:
        return own[0]
    kinds = {get_args(get_type_hints(one)["kind"])[0]: one for one in own}
    given = Fields(value, place)
    kind = given.text("kind")
    if kind not in kinds:
        raise CheckFailed(given.at("kind"), f"{shown(kind)} is none of {', '.join(kinds)}")
    return kinds[kind]


def row(made: type, *forms: Any) -> Converted:
    """A dataclass in files as the list of its fields, which have these forms."""
    form = tuple[forms]  # type: ignore[valid-type]
    return Converted(
        form,
        lambda value, place, context: made(*read_form(form, value, place, context)),
        lambda value: write_form(form, [getattr(value, own.name) for own in fields(made)]),
    )


def table(made: Callable[..., Any], record: Callable[..., Any]) -> Converted:
    """A dataclass in files as a table that is declared by a record with the same fields."""

    def write(value: Any) -> dict[str, Any]:
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        out: dict[str, Any] = record(**own).to_dict()
        return out

    return Converted(
        record,
        lambda value, place, context: made(**vars(read_form(record, value, place, context))),
        write,
    )


def rows(shape: Callable[[Context], tuple[int, int]], entry: Any) -> Converted:
    """A matrix as the list of its rows.

    Parameters
    ----------
    shape : callable
        The shape, from the context.
    entry : type
        The form of its entries.
    """
    form: Any = tuple[tuple[entry, ...], ...]
    return Converted(
        form,
        lambda value, place, context: entries_by_row(
            value, place, shape(context), reader_of(entry, context)
        ),
        lambda value: write_form(form, value),
    )


def as_many(count: Callable[[Context], int], entry: Any) -> Converted:
    """A list of as many entries as the context says."""
    form: Any = tuple[entry, ...]

    def read(value: Any, place: str, context: Context) -> Any:
        wanted, given = count(context), len(items(value, place))
        if given != wanted:
            raise CheckFailed(place, f"has {given} entries, not {wanted}")
        return read_form(form, value, place, context)

    return Converted(form, read, lambda value: write_form(form, value))


def for_each_matrix(one: Converted) -> Converted:
    """A table with a value for each matrix of the context's network, of which it has the shape."""
    form: Any = one.form

    def read(value: Any, place: str, context: Context) -> dict[str, Any]:
        given = Fields(value, place)
        found = {
            name: one.read(given.raw(name), given.at(name), {**context, "shape": shape})
            for name, shape in context["network"].shapes.items()
        }
        given.finish()
        return found

    return Converted(
        Mapping[str, form],
        read,
        lambda value: {name: one.write(own) for name, own in value.items()},
    )


Cells = Annotated[
    tuple[tuple[str, int, int], ...],
    Converted(
        tuple[tuple[str, Count, Count], ...],
        lambda value, place, context: cells(value, place),
        lambda value: [list(cell) for cell in value],
    ),
]
Counts = tuple[Count, ...]
Primes = tuple[Annotated[int, Keyword("minimum", 2)], ...]
PrimeAndPoint = Annotated[
    tuple[int, int],
    Converted(
        tuple[Count, Count], lambda value, place, context: prime_and_point(value, place), list
    ),
]
# Of rationals written as text, such as "-3/8".
_RATIONAL = Keyword("pattern", r"^-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?$")


def rational_of(digits: int) -> Any:
    """The form of a rational number, as text of at most so many characters."""
    return Annotated[
        fmpq,
        Converted(
            Annotated[str, _RATIONAL, Keyword("maxLength", digits)],
            lambda value, place, context: rational_text(value, place, digits),
            str,
        ),
    ]


# An integer of any length, as text.
WholeText = Annotated[
    fmpz,
    Converted(
        Annotated[str, Keyword("pattern", r"^-?(0|[1-9][0-9]*)$")],
        lambda value, place, context: whole_text(value, place),
        str,
    ),
]
