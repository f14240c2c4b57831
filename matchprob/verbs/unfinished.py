"""Work that was interrupted: its finished part, and messages about missing trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from algebra.errors import InputError
from algebra.time_limits import OutOfTime, within

if TYPE_CHECKING:
    from matchprob.verbs.verb import Arguments
    from numeric.studies.store import Store

T = TypeVar("T")

# Largest part of a time limit for counting solutions, if more is computed afterwards.
COUNTING_SHARE = 0.6


def collected(made: Iterable[T], seconds: float) -> tuple[list[T], str]:
    """The items made before an interrupt (Ctrl-C) or the time limit, and that limit's message.

    Examples
    --------
    >>> collected(iter("ab"), 1.0)
    (['a', 'b'], '')
    """
    done: list[T] = []
    try:
        with within(seconds):
            for one in made:
                done.append(one)
    except KeyboardInterrupt:
        pass
    except OutOfTime as over:
        return done, str(over)
    return done, ""


def _contents(store: Path) -> str:
    """The number of trials in a store; trials may be finished that could not be stored."""
    from numeric.studies.store import Store

    try:
        with Store(store, create=False, write=False) as opened:
            studies = opened.studies()
    except InputError as error:
        return f"the number of stored trials is unknown: {error}"
    trials = sum(study.trials for study in studies)
    of = f" of {len(studies)} studies" if len(studies) > 1 else ""
    return f"{store} holds {trials} trial{'s' * (trials != 1)}{of}"


def missing_trials(
    done: int,
    wanted: int,
    noun: str,
    verb: str,
    store: str | Path | Store | None = None,
    trouble: str = "",
    *,
    has_store: bool = True,
) -> str:
    """The message about trials that an interrupt or `trouble` left undone; empty if there are none.

    Parameters
    ----------
    done, wanted : int
    noun, verb : str
    store : str, Path or Store, optional
        The file that keeps the trials.
    trouble : str, optional
        The cause, if it was not an interrupt.
    has_store : bool, optional
        Whether the verb can keep its trials.
    """
    if not trouble and done >= wanted:
        return ""
    why = f"{trouble}:" if trouble else "interrupted after"
    what = f"the result above is about these {done}" if done else "there is no result"
    kept = (
        f"{verb.capitalize()} trial i of a seed is always the same: repeat the call for all of them"
    )
    kept += ", or use --store" * has_store
    if isinstance(store, str | Path):
        kept = f"{_contents(Path(store))}; the same command goes on"
    return f"{why} {done} of {wanted} {noun}; {what}. {kept}"


def trials_missing(verb: str, noun: str = "trials") -> Callable[[Any, Arguments], str]:
    """The attribute `unfinished` of a verb with `trials` and a `store`."""
    return lambda found, arguments: missing_trials(
        found.trials, arguments["trials"], noun, verb, arguments.get("store"), found.trouble
    )
