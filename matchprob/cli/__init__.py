r"""The command line: ``matchprob VERB PROBLEM.toml``.

One JSON object on stdout with ``--json``, readable tables otherwise; progress and
messages on stderr.  Exit status: 0 done, 2 bad input, 3 the work could not be finished
(and says what is kept), 1 a bug.

certify    Verbs that decide exactly: inspect, certify, verify, audit, atlas
construct  The verb that tunes normalization layers: construct
decide     The verb of shallow ReLU nets: decide
design     The verb that chooses an allocation: design
estimate   Verbs that solve random instances: count, estimate, compare
identify   Verbs about what data determine and what weights can be: identify, capacity, dimension
record     The verb that says what to record: record
options    What the verbs share: options, output, exit statuses
repair     Verbs about an allocation that is there: repair, robust
reproduce  The verb that makes the papers' figures again: reproduce
profile    The verb of bounded matches: profile
serve      The verb that serves the page: serve
train      The verb that trains: train
study      Verbs of kept trials: study list, show, export, rename, merge
help       Help that is made from registries, when it is asked for: loading them takes time
"""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, TextIO

import typer

from algebra.errors import InputError, LargeMemory, Unfinished
from algebra.time_limits import LimitReached
from matchprob.cli import (
    certify,
    construct,
    decide,
    design,
    estimate,
    identify,
    profile,
    record,
    repair,
    reproduce,
    serve,
    study,
    train,
)
from matchprob.cli.help import LazyHelp
from matchprob.cli.options import BAD_INPUT, BUG, UNFINISHED, say, spread
from matchprob.io.characters import accept_all
from matchprob.io.output import Output, silence
from matchprob.io.watch import watch

# A disk, a quota, a largest size or a device that is at its end: not our bug, not bad input.
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

_INTERRUPTED = "matchprob: interrupted; nothing was kept"
_TOO_LARGE = (
    "matchprob: the memory of this machine, or what this process may have of it, is not enough: "
    "fewer weights that learn, fewer samples, or a smaller net; nothing was kept"
)
_LONGER = "; nothing was finished by then: a longer --timeout, or fewer weights, samples or steps"
# What typer returns for a KeyboardInterrupt.
_TYPER_INTERRUPTED = 130


class _App(typer.Typer):
    """Commands of shared options, whose help is completed when it is asked for."""

    def command(self, name: str | None = None, **more: Any) -> Any:
        more.setdefault("cls", LazyHelp)
        register = super().command(name, **more)
        return lambda verb: register(spread(verb))


app = _App(
    name="matchprob",
    help="Which weights should learn? Exact and numerical algebra of match probability.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from matchprob import __version__

        typer.echo(f"matchprob {__version__}")
        raise typer.Exit


for _verb in (
    certify.inspect, certify.certify, certify.verify, certify.audit, certify.atlas,
    identify.identify, record.record, identify.capacity, identify.dimension, design.design,
    repair.repair, repair.robust,
    estimate.count, estimate.estimate, estimate.compare, profile.profile, train.train,
    decide.decide, construct.construct, reproduce.reproduce, serve.serve,
):  # fmt: skip
    app.command()(_verb)
app.add_typer(study.studies, name="study")


@contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Say in one line of stderr what takes much memory; other warnings as Python has them."""
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
            if issubclass(category, LargeMemory):
                say(f"matchprob: {message}")
            else:
                others(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield


def run(command: Callable[[], Any]) -> int:
    """Run a command line, with every error told in one line; the exit status."""
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
        # The reader of our output went away; that is its business.
        silence(sys.stderr)
        return 0
    except OSError as error:
        if error.errno in _NO_SPACE:
            where = error.filename or "stdout (its text is above, on stderr)"
            say(f"matchprob: {where}: {error.strerror}; not written")
            return UNFINISHED
        return _bug(error)
    except Exception as error:
        # A usage error: typer keeps its class private, so it is known by what it can do.
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            error.show()
            return int(error.exit_code)
        return _bug(error)
    if result == _TYPER_INTERRUPTED:
        say(_INTERRUPTED)
        return UNFINISHED
    return result if isinstance(result, int) else 0


def _bug(error: Exception) -> int:
    """The last resort: a bug, told in one line."""
    if os.environ.get("MATCHPROB_DEBUG"):
        traceback.print_exception(error)
    name = type(error).__name__
    say(
        f"matchprob: this is a bug: {name}: {error} (set MATCHPROB_DEBUG=1 for the "
        "traceback and report it)"
    )
    return BUG


def main() -> int:
    """The command line in a process of its own, called by the entry point; its exit status."""
    if sys.argv[1:] == ["--version"]:
        # Asked by scripts, and answered without the machinery of options.
        from matchprob import __version__

        print(f"matchprob {__version__}")
        return 0
    # Closed by the shell (``>&-``): nobody listens.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        accept_all(stream)
    sys.stdout = Output(sys.stdout)  # type: ignore[assignment]

    def work() -> int | None:
        with watch(say):
            result = app(standalone_mode=False)
        return result if isinstance(result, int) else None

    status = run(work)
    # What is written only now can fail, too.
    late = run(sys.stdout.flush)
    return status or late
