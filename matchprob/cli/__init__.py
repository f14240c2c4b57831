r"""The command line: ``matchprob VERB PROBLEM.toml``.

One JSON object on stdout with ``--json``, readable tables otherwise; progress and
messages on stderr.  Exit status: 0 done, 2 bad input, 3 the work could not be finished
(and says what is kept), 1 a bug.

certify    Verbs that decide exactly: inspect, certify, verify, audit, atlas
construct  The verb that tunes normalization layers: construct
decide     The verb of shallow ReLU nets: decide
design     The verb that chooses an allocation: design
estimate   Verbs that solve random instances: count, estimate, compare
help       Help that is made from registries, when it is asked for
identify   Verbs about what data determine: identify
options    What the verbs share: options, output, exit statuses
repair     Verbs about an allocation that is there: repair, robust
reproduce  The verb that makes the papers' figures again: reproduce
study      Verbs of kept trials: study list, show, export, merge
help       Help that is made from registries, when it is asked for: loading them takes time
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer

from algebra.errors import InputError, Unfinished
from matchprob.cli import (
    certify,
    construct,
    decide,
    design,
    estimate,
    identify,
    repair,
    reproduce,
    study,
)
from matchprob.cli.help import LazyHelp
from matchprob.cli.options import BAD_INPUT, BUG, UNFINISHED, say


class _App(typer.Typer):
    """Commands whose help is completed when it is asked for."""

    def command(self, name: str | None = None, **more: Any) -> Any:
        more.setdefault("cls", LazyHelp)
        return super().command(name, **more)


app = _App(
    name="matchprob",
    help="Which weights should learn? Exact and numerical algebra of match probability.",
    no_args_is_help=True,
    add_completion=False,
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


for _group in (certify, identify, design, repair, estimate, decide, study, construct, reproduce):
    _group.register(app)


def run(command: Callable[[], Any]) -> int:
    """Run a command line, with every error told in one line; the exit status."""
    try:
        result = command()
    except InputError as error:
        say(f"matchprob: {error}")
        return BAD_INPUT
    except Unfinished as error:
        say(f"matchprob: {error}")
        return UNFINISHED
    except typer.Exit as leaving:
        return leaving.exit_code
    except (KeyboardInterrupt, typer.Abort):
        say("matchprob: interrupted; nothing was kept")
        return UNFINISHED
    except BrokenPipeError:
        # The reader of our output went away; that is its business.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        # A usage error: typer keeps its class private, so it is known by what it can do.
        if hasattr(error, "show") and hasattr(error, "exit_code"):
            error.show()
            return int(error.exit_code)
        # The last resort: a bug, told in one line.
        if os.environ.get("MATCHPROB_DEBUG"):
            traceback.print_exc()
        name = type(error).__name__
        say(
            f"matchprob: this is a bug: {name}: {error} (set MATCHPROB_DEBUG=1 for the "
            "traceback and report it)"
        )
        return BUG
    return result if isinstance(result, int) else 0


def main() -> None:
    """Entry point of the console script."""
    if sys.argv[1:] == ["--version"]:
        # Asked by scripts, and answered without the machinery of options.
        from matchprob import __version__

        print(f"matchprob {__version__}")
        return
    sys.exit(run(lambda: app(standalone_mode=False)))
