r"""The command line: ``matchprob VERB PROBLEM.toml``.

One JSON object on stdout with ``--json``, readable tables otherwise; progress and
messages on stderr.  Exit status: 0 done, 2 bad input, 3 the work could not be finished
(and says what is kept), 1 a bug.

commands    Commands of verbs, made from their signatures and docstrings
presenters  Printed parts of results besides their text, and the options for these
options     Options shared by commands; output; exit statuses
reproduce   The verb that makes the papers' figures again: reproduce
serve       The verb that serves the page: serve
study       Verbs of kept trials: study list, show, export, rename, merge
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup
from typer.models import CommandInfo

from algebra.errors import InputError, Notice, Unfinished
from algebra.time_limits import LimitReached
from matchprob.api.certify import certify, inspect, verify
from matchprob.api.designs.design import design
from matchprob.api.designs.repair import repair, robust
from matchprob.api.estimate import compare, count, estimate
from matchprob.api.identify import identify
from matchprob.cli import presenters as presenters
from matchprob.cli.commands import LazyHelp, command_of, plain_command
from matchprob.cli.options import BAD_INPUT, BUG, UNFINISHED, say
from matchprob.cli.reproduce import reproduce
from matchprob.cli.serve import serve
from matchprob.cli.study import studies
from matchprob.io.characters import accept_all
from matchprob.io.output import Output, silence
from matchprob.io.watch import watch
from matchprob.plugins.circuits.record import record
from matchprob.plugins.models.capacity import capacity
from matchprob.plugins.models.dimension import dimension
from matchprob.plugins.normalization.construct import construct
from matchprob.plugins.papers.surveys import atlas, audit
from matchprob.plugins.relu.decide import decide
from matchprob.plugins.training.profile import profile
from matchprob.plugins.training.train import train
from matchprob.verbs.verb import VERBS, load_installed_verbs

_INTERRUPTED = "matchprob: interrupted; nothing was kept"
_TOO_LARGE = (
    "matchprob: the memory of this machine, or the limit of this process, is not enough: use fewer "
    "learnable weights, fewer samples, or a smaller net; nothing was kept"
)
_LONGER = (
    "; nothing was finished by then: use a longer --timeout, or fewer weights, samples or steps"
)
# The status that typer returns for a KeyboardInterrupt.
_TYPER_INTERRUPTED = 130


# The order in the help; verbs of other packages come last.
_ORDER = (
    inspect, certify, verify, audit, atlas, identify, record, capacity, dimension, design, repair,
    robust, count, estimate, compare, profile, train, decide, construct,
)  # fmt: skip
# Not made from a verb: commands without a result object, or of several functions.
_OTHERS = {f.__name__: plain_command(f) for f in (reproduce, serve)}


class _App(typer.Typer):
    """Commands of all registered verbs; their help is completed when it is printed."""

    @property
    def registered_commands(self) -> list[CommandInfo]:
        """The commands for typer."""
        names = dict.fromkeys([*(function.__name__ for function in _ORDER), *VERBS])
        made = {name: command_of(VERBS[name]) for name in names}
        made |= _OTHERS
        return [
            CommandInfo(name, cls=LazyHelp, callback=call, short_help=_summary(call))
            for name, call in made.items()
        ]

    @registered_commands.setter
    def registered_commands(self, given: list[CommandInfo]) -> None:
        """Typer's own list is not used."""


def _summary(call: Callable[..., Any]) -> str:
    """The first sentence of a command's help, whole: lists of commands cut what they make."""
    return " ".join((call.__doc__ or "").partition("\n\n")[0].split())


class _Commands(TyperGroup):
    """The commands; an option of the program written as a command is suggested as an option."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of a name, or an error that names what is near."""
        if f"--{args[0]}" in {"--help", *(name for one in self.params for name in one.opts)}:
            ctx.fail(f"No such command '{args[0]}'. Did you mean '--{args[0]}'?")
        return super().resolve_command(ctx, args)


app = _App(
    name="matchprob",
    cls=_Commands,
    help="Which weights should learn? Exact and numerical algebra of match probability.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
    cite: Annotated[bool, typer.Option("--cite", help="Show how to cite it (BibTeX).")] = False,
) -> None:
    if version:
        from matchprob import __version__

        typer.echo(f"matchprob {__version__}")
        raise typer.Exit
    if cite:
        from matchprob.io.citation import bibliography

        typer.echo(bibliography(), nl=False)
        raise typer.Exit


app.add_typer(studies, name="study")


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Print notices in one line on stderr; other warnings as Python does."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, Notice):
                say(f"matchprob: {message}")
            else:
                others(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def run_command(command: Callable[[], Any]) -> int:
    """Run a command line, and print every error in one line; returns the exit status."""
    try:
        with _warnings_in_one_line():
            result = command()
    except InputError as error:
        say(f"matchprob: {error}")
        return BAD_INPUT
    except LimitReached as error:
        say(f"matchprob: {error}{'' if error.was_refused else _LONGER}")
        return UNFINISHED
    except Unfinished as error:
        say(f"matchprob: {error}")
        return UNFINISHED
    except typer.Exit as leaving:
        return leaving.exit_code
    except MemoryError:
        say(_TOO_LARGE)
        return UNFINISHED
    except (KeyboardInterrupt, typer.Abort):
        say(_INTERRUPTED)
        return UNFINISHED
    except BrokenPipeError:
        # The program that reads the output has ended: not an error.
        silence(sys.stderr)
        return 0
    except OSError as error:
        from matchprob.io.files import NO_SPACE

        if error.errno in NO_SPACE:
            where = error.filename or "stdout (its text is above, on stderr)"
            say(f"matchprob: {where}: {error.strerror}; not written")
            return UNFINISHED
        return _bug(error)
    except Exception as error:
        # A usage error: its class is private to typer, so it is recognized by its methods.
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            error.show()
            return int(error.exit_code)
        return _bug(error)
    if result == _TYPER_INTERRUPTED:
        say(_INTERRUPTED)
        return UNFINISHED
    return result if isinstance(result, int) else 0


def _bug(error: Exception) -> int:
    """Report a bug in one line."""
    if os.environ.get("MATCHPROB_DEBUG"):
        traceback.print_exception(error)
    name = type(error).__name__
    say(
        f"matchprob: this is a bug: {name}: {error} (set MATCHPROB_DEBUG=1 for the "
        "traceback and report it)"
    )
    return BUG


def main() -> int:
    """The command line as a process, called by the entry point; returns the exit status."""
    if sys.argv[1:] == ["--version"]:
        # Used by scripts, and answered without reading options.
        from matchprob import __version__

        print(f"matchprob {__version__}")
        return 0
    # Closed by the shell (``>&-``).
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        accept_all(stream)
    sys.stdout = Output(sys.stdout)  # type: ignore[assignment]

    def work() -> int | None:
        if not set(sys.argv[1:2]) & {*VERBS, *_OTHERS, "study"}:
            # Help, completion, or a verb of another package: all verbs are needed.
            load_installed_verbs()
        with watch(say):
            result = app(standalone_mode=False)
        return result if isinstance(result, int) else None

    status = run_command(work)
    # Flushing the output can fail, too.
    late = run_command(sys.stdout.flush)
    return status or late
