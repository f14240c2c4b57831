"""Verbs: functions whose signature and docstring also describe their command and their page.

The decorator `verb` enters a function in `VERBS`.  Its signature determines the arguments and
options of the command, their types and their defaults; its docstring (numpydoc) the help, which is
the first sentence of the description of each parameter. Properties that a type cannot express (a
file that is read, another name on the command line) are part of the annotation, as
``Annotated[type, LineOption(…)]``; parameters that several verbs share are such annotations
(`matchprob.verbs.parameters`), with their description, which `verb` adds to the docstring.

A module with verbs is loaded for every command, so it imports computing modules inside its
functions, and types for the type checker only.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from matchprob.verbs.docstrings import (
    completed,
    described_parameters,
    description_of,
    first_sentence,
)

Arguments = Mapping[str, Any]
Content = str | bytes | Mapping[str, Any]
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class LineOption:
    """How a parameter is given on the command line, if that does not follow from its type.

    Attributes
    ----------
    text : str
        The description of a parameter that several verbs share.
    kind : str
        Its type in the docstring.
    help : str
        The help of the option; by default the first sentence of the description.
    flag : str
        The name of the option; that of the parameter by default.
    metavar : str
        The placeholder for a value in the help.
    word : type, optional
        The type of a value on the command line; follows from the annotation by default.
    is_repeated : bool
        Whether the option may be repeated; follows from the annotation by default.
    least, most : float, optional
        The range of a number.
    read : callable, optional
        Computes the argument from what was given and from the arguments before it, by name.
    files : callable, optional
        The files that the value names, which are never overwritten.
    complete : callable, optional
        Possible values that begin with a text, for a shell.
    parts : mapping of str to str
        For a mapping: its keys, which are names of options, with their help.
    uses : tuple of str
        Parameters that `read` needs, and that the verb then does not receive.
    is_store : bool
        Whether it is a store of trials.
    """

    text: str = ""
    kind: str = ""
    help: str = ""
    flag: str = ""
    metavar: str = ""
    word: type | None = None
    is_repeated: bool | None = None
    least: float | None = None
    most: float | None = None
    read: Callable[[Any, Arguments], Any] | None = None
    files: Callable[[Any], Sequence[Path]] | None = None
    complete: Callable[[str], Sequence[str]] | None = None
    parts: Mapping[str, str] | None = None
    uses: tuple[str, ...] = ()
    is_store: bool = False


@dataclass(frozen=True)
class LineArgument(LineOption):
    """A parameter that is given without an option; `name` is its name in the usage."""

    name: str = ""


@dataclass(frozen=True)
class Callback:
    """A parameter without an option; a command passes True, so that the verb shows its progress.

    Attributes
    ----------
    text, kind : str
        As for `LineOption`.
    passed : object
        The value that a command passes.
    """

    text: str = ""
    kind: str = ""
    passed: Any = True


@dataclass(frozen=True)
class ResultFile:
    """A file that a command can write from a result.

    Attributes
    ----------
    flag : str
        The name of the option.
    help : str
    content : callable
        A function of the result, the file and the arguments that returns the content, or the
        content and a text that the message adds to the file's name.  A mapping is written as JSON.
    check : callable, optional
        A function of the file and the arguments that raises an error before any work is done.
    indent : int, optional
        Number of spaces by which JSON is indented.
    """

    flag: str
    help: str
    content: Callable[[Any, Path, Arguments], Content | tuple[Content, str]]
    check: Callable[[Path, Arguments], None] | None = None
    indent: int | None = None

    @property
    def name(self) -> str:
        """Its name in Python."""
        return f"write_{self.flag.strip('-').replace('-', '_')}"


@dataclass(frozen=True)
class VerbParameter:
    """One parameter of a verb."""

    name: str
    default: Any
    is_many: bool
    spec: LineOption | Callback
    word: type
    is_repeated: bool
    # The words that it may be; none if others are possible too.
    choices: tuple[str, ...]
    text: str

    @property
    def is_required(self) -> bool:
        """Whether it has no default."""
        return self.default is inspect.Parameter.empty

    @property
    def is_negated(self) -> bool:
        """Whether its option switches off a default."""
        return self.default is True

    @property
    def completion(self) -> Callable[[str], list[str]] | None:
        """Possible values that begin with a text, for a shell."""
        complete = getattr(self.spec, "complete", None)
        if complete is None and not self.choices:
            return None
        # A function with this one parameter, so that typer passes only that.
        return lambda incomplete: [
            value
            for value in (complete(incomplete) if complete else self.choices)
            if value.startswith(incomplete)
        ]

    @property
    def flag(self) -> str:
        """The name of its option; empty for an argument and for a callback."""
        if isinstance(self.spec, Callback | LineArgument):
            return ""
        if self.spec.parts is not None:
            return " or ".join(f"--{key}-cap" for key in self.spec.parts)
        no = "no-" if self.is_negated else ""
        return self.spec.flag or f"--{no}{self.name.replace('_', '-')}"


@dataclass(frozen=True, eq=False)
class Verb:
    """A function, and how its command handles the result.

    Attributes
    ----------
    function : callable
    parameters : tuple of VerbParameter
    files : tuple of ResultFile
        The files that a command can write.
    unfinished : callable, optional
        A function of the result and the arguments: a message about missing work (status 3), or "".
    is_drawn : bool
        Whether the result has a picture.
    before : callable, optional
        A function of the arguments: what to expect of the result, said before the work, or "".
    """

    function: Callable[..., Any]
    parameters: tuple[VerbParameter, ...]
    files: tuple[ResultFile, ...] = ()
    unfinished: Callable[[Any, Arguments], str] | None = None
    is_drawn: bool = False
    before: Callable[[Arguments], str] | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    @property
    def summary(self) -> str:
        """The first paragraph of the docstring."""
        return (self.function.__doc__ or "").partition("\n\n")[0]


# The verbs by name; the command line and the reference are made from it.
VERBS: dict[str, Verb] = {}


@overload
def verb(function: F) -> F: ...
@overload
def verb(
    *,
    files: Sequence[ResultFile] = ...,
    unfinished: Callable[[Any, Arguments], str] | None = ...,
    is_drawn: bool = ...,
    before: Callable[[Arguments], str] | None = ...,
) -> Callable[[F], F]: ...
def verb(function: Any = None, **settings: Any) -> Any:
    """Enter a function in the registry of verbs, and complete its docstring.

    Parameters
    ----------
    function : callable
        Typed, with a numpydoc docstring; returns a `Result` with `to_dict`.
    **settings
        The attributes of `Verb`.
    """
    if function is None:
        return lambda function: verb(function, **settings)
    name = function.__name__
    if name in VERBS and VERBS[name].function.__module__ != function.__module__:
        raise ValueError(f"{function.__module__}: there is a verb {name!r} already")
    settings["files"] = tuple(settings.get("files", ()))
    VERBS[name] = Verb(function, described(function), **settings)
    return function


def described(function: Callable[..., Any], begin: int = 0) -> tuple[VerbParameter, ...]:
    """The parameters of a function or a dataclass, from signature and docstring.

    Descriptions of shared parameters are added to the docstring, and data for the command are
    removed from annotations.

    Parameters
    ----------
    function : callable
    begin : int, optional
        Number of parameters that are omitted at the beginning.
    """
    names = vars(sys.modules[function.__module__]) | getattr(function, "__globals__", {})
    parameters, shared = [], {}
    for one in list(inspect.signature(function).parameters.values())[begin:]:
        text = one.annotation
        if isinstance(text, str):
            one = one.replace(annotation=eval(text, names, _KnownNames(names)))
        spec = _spec(one.annotation)
        if spec is not None:
            if not inspect.isclass(function):
                function.__annotations__[one.name] = _type_text(text, one.annotation)
            if spec.text:
                shared[one.name] = _entry(one, spec.kind or _kind(one.annotation), spec.text)
        parameters.append(one)
    doc = function.__doc__ = completed(function.__doc__, shared, [one.name for one in parameters])
    entries = described_parameters(doc).items()
    texts = {name: description_of(entry) for several, entry in entries for name in several}
    return tuple(_parameter(one, texts.get(one.name, "")) for one in parameters)


def load_installed_verbs() -> None:
    """Load the modules that other packages name in their entry points ``matchprob.verbs``."""
    from importlib.metadata import entry_points

    for point in entry_points(group="matchprob.verbs"):
        point.load()


def _type_text(text: Any, annotation: Any) -> str:
    """The text of an annotation without its metadata."""
    if isinstance(text, str):
        tree = ast.parse(text, mode="eval").body
        if isinstance(tree, ast.Subscript) and isinstance(tree.slice, ast.Tuple):
            return ast.unparse(tree.slice.elts[0])
    plain = typing.get_args(annotation)[0]
    text = getattr(plain, "__forward_arg__", "") or inspect.formatannotation(plain)
    return text.replace("collections.abc.", "")


def _entry(one: inspect.Parameter, kind: str, text: str) -> str:
    """A shared parameter as an entry of a docstring."""
    stars = "*" if one.kind is one.VAR_POSITIONAL else ""
    optional = ", optional" if one.default is not one.empty else ""
    return f"{stars}{one.name} : {kind}{optional}\n" + textwrap.indent(text, "    ")


class _KnownNames(dict[str, Any]):
    """Names of a module; those that only a type checker imports mean any type."""

    def __missing__(self, name: str) -> Any:
        return vars(builtins).get(name, Any)


def _spec(annotation: Any) -> LineOption | Callback | None:
    for one in getattr(annotation, "__metadata__", ()):
        if isinstance(one, LineOption | Callback):
            return one
    return None


def _kind(annotation: Any) -> str:
    """The type in words, for a docstring."""
    plain = _plain(annotation)
    return getattr(plain, "__name__", str(plain))


def _plain(annotation: Any) -> Any:
    """The type without metadata and without None."""
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        kinds = [kind for kind in typing.get_args(annotation) if kind is not type(None)]
        return kinds[0] if len(kinds) == 1 else annotation
    return annotation


def _choices(kind: Any) -> tuple[str, ...]:
    """The words of the first `Literal` in a type; none if it has none."""
    if typing.get_origin(kind) is Literal:
        return typing.get_args(kind)
    return next((found for part in typing.get_args(kind) if (found := _choices(part))), ())


def _is_word(kind: Any) -> bool:
    """Whether values of a type can be given on a command line."""
    return kind in (bool, int, float, str, Path) or (
        inspect.isclass(kind) and issubclass(kind, StrEnum)
    )


def _parameter(one: inspect.Parameter, text: str) -> VerbParameter:
    spec = _spec(one.annotation) or LineOption()
    is_many = one.kind is one.VAR_POSITIONAL
    plain, is_repeated = _plain(one.annotation), is_many
    choices: tuple[str, ...] = ()
    if isinstance(spec, LineOption):
        if typing.get_origin(plain) in (list, tuple, Sequence):
            is_repeated, plain = True, _plain(typing.get_args(plain)[0])
        choices = _choices(plain)
        if typing.get_origin(plain) is Literal:
            plain = str
        if spec.is_repeated is not None:
            is_repeated = spec.is_repeated
        plain = spec.word or plain
        if spec.parts is None and not _is_word(plain):
            raise TypeError(
                f"`{one.name}` ({one.annotation}): a command line has words and numbers; declare "
                "how it is read, with Annotated[…, LineOption(word=…, read=…)]"
            )
    return VerbParameter(
        one.name, one.default, is_many, spec, plain, is_repeated, choices,
        getattr(spec, "help", "") or first_sentence(text),
    )  # fmt: skip
