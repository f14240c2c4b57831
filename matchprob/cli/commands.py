"""Commands of verbs, made from their signatures and docstrings (`matchprob.verbs.verb`).

A command takes the verb's own options, the files that can be written, ``--json`` and, where the
result has a picture, ``--plot`` and its options.  A presenter (`presents`) prints results that
need more than their explanation and their text, and may add options.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from algebra.errors import InputError, Unfinished
from algebra.memory_limits import limited_memory
from algebra.time_limits import LimitReached, OutOfTime, limited, within
from algebra.work import limit_until, moment_after
from matchprob.cli.options import (
    UNFINISHED,
    PrintOptions,
    Shown,
    print_result,
    say,
    write_output,
)
from matchprob.verbs.parameters import parameter_names
from matchprob.verbs.verb import (
    Callback,
    LineArgument,
    LineOption,
    Verb,
    VerbParameter,
    described,
)

if TYPE_CHECKING:
    from rich.console import Console

    from algebra.documents import Document
    from algebra.problems.names import Names

Line = dict[str, Any]
Parameters = Sequence[VerbParameter]


@dataclass(frozen=True)
class Answer:
    """The result of a command, with the data that its presenter needs.

    Attributes
    ----------
    found : Result
    arguments : mapping
        The arguments of the verb.
    files : tuple of str
        The files of the command line, as the user wrote them.
    output : PrintOptions
    reading : tuple of str
        The options that determine how a file is read, such as those of a model.
    own : mapping of str to mapping
        By the name of the verb the options of the call, which advice repeats, and never gives as
        its own.
    """

    found: Any
    arguments: Mapping[str, Any]
    files: tuple[str, ...]
    output: PrintOptions
    reading: tuple[str, ...] = ()
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The files and how they are read, quoted for a shell."""
        return shlex.join((*self.files, *self.reading))

    @property
    def names(self) -> Names | None:
        """Names of units: those of the result, of its problem, or of the question."""
        from algebra.problems.names import Names
        from algebra.problems.problem import Problem

        own = getattr(self.found, "names", None)
        if not isinstance(own, Names):
            own = getattr(getattr(self.found, "problem", None), "names", None)
        question = self.arguments.get("question")
        return own or (parameter_names(question) if isinstance(question, Problem) else None)

    def print(
        self,
        document: Document | None = None,
        show: Callable[[Console], None] | None = None,
        **more: Any,
    ) -> None:
        """Print the result.

        Parameters
        ----------
        document : Document, optional
            In place of that of the result.
        show : callable, optional
            Prints more, before the explanation.
        **more
            Added to its JSON object.
        """
        if "seed" in self.arguments:
            more = {**more, "seed": self.arguments["seed"]}
        document = document or self.found.document()
        self.output.print(
            self.found, document, self.file, self.names, own=self.own, show=show, **more
        )

    def print_document(self, data: Mapping[str, Any], document: Document) -> None:
        """Print a document; with ``--json`` these data and its sentences."""
        print_result(
            dict(data), document, self.file, self.names, own=self.own, as_json=self.output.as_json
        )


Presenter = Callable[[Answer], None] | Callable[..., None]
_PRESENTERS: dict[str, tuple[Presenter, tuple[type[Exception], ...]]] = {}


def presents(
    function: Callable[..., Any], *failures: type[Exception]
) -> Callable[[Presenter], Presenter]:
    """Register a function that prints the results of a verb.

    Its keyword parameters are further options of the command. It also receives the exceptions
    `failures` that the verb raises, and prints what is known.
    """

    def register(presenter: Presenter) -> Presenter:
        _PRESENTERS[function.__name__] = (presenter, failures)
        return presenter

    return register


def _present(answer: Answer) -> None:
    answer.print()


@cache
def command_of(verb: Verb) -> Callable[..., None]:
    """The command of a verb for typer."""
    presenter, failures = _PRESENTERS.get(verb.name, (_present, ()))
    shown = Shown if verb.is_drawn else PrintOptions
    own, printing = described(presenter, 1), described(shown)

    def run(**line: Any) -> None:
        more, output = _arguments(own, line), shown(**_arguments(printing, line))
        targets = {file: line[file.name] for file in verb.files if line[file.name] is not None}
        seconds = line.get("timeout", math.inf)
        end = moment_after(seconds)
        with limited_memory(output.memory, whole=True), _flags_in_messages(verb.parameters):
            # The verb itself refuses a limit that is none.
            with limited(seconds if seconds > 0 else math.inf):
                _check_files(verb.parameters, line, targets.values(), output)
                arguments = _arguments(verb.parameters, line)
                for file, path in targets.items():
                    if file.check is not None:
                        file.check(path, arguments)
                if verb.before is not None and (expected := verb.before(arguments)):
                    say(f"matchprob: {expected}")
            passed = dict(arguments)
            many = [value for p in verb.parameters if p.is_many for value in passed.pop(p.name)]
            try:
                found = verb.function(*many, **passed)
            except failures as failure:
                found = failure
            files = tuple(str(path) for path in _files(verb.parameters, line, LineArgument))
            reading = tuple(_reading(verb.parameters, line))
            options = _options_given(verb.parameters, line) | _options_given(own, line)
            options |= {file.flag.strip("-"): str(path) for file, path in targets.items()}
            if getattr(output, "plot", None):
                options["plot"] = str(line["plot"])
            presenter(
                Answer(found, arguments, files, output, reading, {verb.name: options}), **more
            )
            for file, path in targets.items():
                try:
                    with within(limit_until(end)):
                        content = file.content(found, path, arguments)
                except OutOfTime as over:
                    text = f"{path} is not written, the result is above: {over}"
                    raise LimitReached(text) from None
                if content:
                    whole, note = content if isinstance(content, tuple) else (content, "")
                    write_output(path, whole, note, file.indent)
            missing = verb.unfinished(found, arguments) if verb.unfinished else ""
        if missing:
            say(f"matchprob: {missing}")
            raise typer.Exit(UNFINISHED)

    written = [
        _option(
            file.name, None, Path | None, typer.Option(file.flag, metavar="FILE", help=file.help)
        )
        for file in verb.files
    ]
    options = [*_options(verb.parameters), *_options(own), *written, *_options(printing)]
    options.sort(key=lambda one: one.name == "seed")
    return _named(run, verb.name, verb.summary, options)


def plain_command(function: Callable[..., None]) -> Callable[..., None]:
    """The command of a function that prints its results; signature and docstring as for a verb."""
    parameters = described(function)

    def run(**line: Any) -> None:
        with _flags_in_messages(parameters):
            function(**_arguments(parameters, line))

    summary = (function.__doc__ or "").partition("\n\n")[0]
    return _named(run, function.__name__, summary, list(_options(parameters)))


def _named(
    run: Callable[..., None], name: str, summary: str, options: Sequence[Parameter]
) -> Callable[..., None]:
    run.__name__, run.__doc__ = name, summary
    run.__signature__ = Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in options}
    return run


def _option(name: str, default: Any, kind: Any, info: Any) -> Parameter:
    annotation = Annotated[kind, info]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _options(parameters: Parameters) -> Iterator[Parameter]:
    """The options and arguments of parameters for typer."""
    for p in parameters:
        spec = p.spec
        if not isinstance(spec, LineOption):
            continue
        for key, text in (spec.parts or {}).items():
            option = typer.Option(f"--{key}-cap", min=spec.least, help=text)
            yield _option(f"{p.name}_{key}", None, p.word | None, option)
        if spec.parts is not None:
            continue
        metavar = spec.metavar or "|".join(p.choices) or None
        words = flags_in(p.text, parameters).replace("``", "")
        settings: Line = {"help": words, "metavar": metavar}
        if p.word in (int, float):
            settings |= {"min": spec.least, "max": spec.most}
        kind: Any = list[p.word] if p.is_repeated else p.word  # type: ignore[name-defined]
        default = Parameter.empty if p.is_required or p.is_many else p.default
        if isinstance(spec, LineArgument):
            made = typer.Argument(**settings, show_default=False)
            yield _option(spec.name or p.name, default, kind, made)
            continue
        if p.completion is not None:
            settings["autocompletion"] = p.completion
        if not p.is_required and (p.is_repeated or spec.word is not None or default is None):
            kind, default = kind | None, None
        elif p.word is bool:
            default = False
        yield _option(p.name, default, kind, typer.Option(p.flag, **settings))


def _given(parameters: Parameters, line: Line) -> Iterator[tuple[VerbParameter, LineOption, Any]]:
    """The parameters that were given, with the words given."""
    for p in parameters:
        spec = p.spec
        if not isinstance(spec, LineOption):
            continue
        if spec.parts is not None:
            caps = {key: line[f"{p.name}_{key}"] for key in spec.parts}
            value: Any = {key: number for key, number in caps.items() if number is not None}
        else:
            value = line[getattr(spec, "name", "") or p.name]
        if value is not None and value != [] and value != {}:
            yield p, spec, value


def _arguments(parameters: Parameters, line: Line) -> Line:
    """The arguments of the verb's function."""
    made: Line = {p.name: p.spec.passed for p in parameters if isinstance(p.spec, Callback)}
    used = {name for p in parameters for name in getattr(p.spec, "uses", ())}

    def order(one: tuple[VerbParameter, LineOption, Any]) -> int:
        p, spec, _ = one
        return 0 if spec.read is None or p.name in used else 1 if spec.uses else 2

    for p, spec, value in sorted(_given(parameters, line), key=order):
        if spec.read is not None:
            value = spec.read(value, made)
        elif p.is_negated:
            value = not value
        made[p.name] = value
        for name in spec.uses:
            made.pop(name, None)
    return made


def _files(
    parameters: Parameters, line: Line, kind: type[LineOption] = LineOption
) -> Iterator[Path]:
    """The files that are read."""
    for p, spec, value in _given(parameters, line):
        if not isinstance(spec, kind):
            continue
        if spec.files is not None:
            yield from spec.files(value)
        elif isinstance(spec, LineArgument) and p.word is Path:
            yield from value if p.is_repeated else [value]


def _options_given(parameters: Parameters, line: Line) -> Line:
    """The options that were given, by their names with underscores; none of how a file is read."""
    given = [one for one in _given(parameters, line) if not isinstance(one[1], LineArgument)]
    reading = _used(parameters)
    found: Line = {}
    for p, spec, value in given:
        if spec.parts is not None:
            found |= {f"{key}_cap": number for key, number in value.items()}
        elif p.name not in reading and value not in (False, p.default):
            key = p.flag.strip("-").replace("-", "_")
            found[key] = tuple(map(str, value)) if isinstance(value, list) else value
    return found


def _used(parameters: Parameters) -> set[str]:
    """The parameters that determine how a file is read."""
    return {n for p in parameters if isinstance(p.spec, LineArgument) for n in p.spec.uses}


def _reading(parameters: Parameters, line: Line) -> Iterator[str]:
    """The options that determine how a file is read, as they were given."""
    used = _used(parameters)
    for p, _, value in _given(parameters, line):
        if p.name in used and p.flag and value:
            for one in value if isinstance(value, (list, tuple)) else [value]:
                yield from (p.flag, str(one))


def _check_files(
    parameters: Parameters, line: Line, targets: Iterable[Path], output: PrintOptions
) -> None:
    from matchprob.io import files

    stores = [value for _, spec, value in _given(parameters, line) if spec.is_store]
    files.check_outputs(
        _files(parameters, line),
        *targets,
        plot=getattr(output, "plot", None),
        store=next(iter(stores), None),
    )


@contextmanager
def _flags_in_messages(parameters: Parameters) -> Iterator[None]:
    """Messages name an argument as Python does; the command names its option."""
    try:
        yield
    except (InputError, Unfinished) as error:
        error.args = tuple(flags_in(a, parameters) if isinstance(a, str) else a for a in error.args)
        raise


def flags_in(text: str, parameters: Parameters) -> str:
    """A message with options in place of parameters.

    Examples
    --------
    >>> from matchprob.cli import VERBS
    >>> flags_in("`trial_timeout` (0) is short, and so is `x`", VERBS["train"].parameters)
    '--trial-timeout (0) is short, and so is `x`'
    """
    flags = {p.name: p.flag for p in parameters if p.flag}
    return re.sub(r"`(\w+)`", lambda found: flags.get(found[1]) or found[0], text)


def _engines() -> str:
    from numeric.engines.base import help_text

    return help_text()


# Placeholders in an option's help, and functions that make their texts.
_TEXTS: dict[str, Callable[[], str]] = {"{engines}": _engines}


class LazyHelp(TyperCommand):
    """A command that fills in ``{engines}`` and the like when its help is printed."""

    def get_help(self, ctx: Any) -> str:
        """The help text, complete."""
        for parameter in self.params:
            text = getattr(parameter, "help", None)
            for mark, make in _TEXTS.items():
                if text and mark in text:
                    text = parameter.help = text.replace(mark, make())  # type: ignore[attr-defined]
        return super().get_help(ctx)
