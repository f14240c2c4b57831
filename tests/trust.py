"""Which shared code is trusted: functions whose lie, in search and check together, is accepted.

``python -m tests.trust`` prints them, as in ``tests/data/trusted_base.json``: about ten minutes.

A search and its check have functions in common: the arithmetic modulo primes, the network's map,
the reader of problems.  Here each function of `algebra` that both call is replaced by one that
lies (`LIES`), everywhere at once; then problems are certified and the files verified, with the lie
in both.  If such a file holds, and the honest check refuses it, the lie is accepted: nothing but
the tests of the function itself stands between an error in it and a false proof.
"""

from __future__ import annotations

import ast
import functools
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from inspect import CO_GENERATOR
from pathlib import Path
from types import FunctionType, GeneratorType
from typing import Any

import numpy as np

import matchprob as mp
from algebra.checker.checks import FAILED
from algebra.families import verify as family_verify
from algebra.families.certify import certify
from algebra.problems.files import load_problem
from algebra.ranks.generic_rank import GenericRank

FILE = Path(__file__).parent / "data/trusted_base.json"
# Seconds for one lie, and pairs of a lie and a problem tried for a function, or a few more.
SECONDS = 20
MOST_TRIES = 15
# Modules that decide nothing about networks: messages, limits, processes.
APART = {
    f"algebra.{name}" for name in ("time_limits", "work", "errors", "memory_limits", "children")
}


def _other_teacher() -> mp.Problem:
    student = mp.LinearFeedForward(q=2, widths=(1,), d=2, m=2)
    return mp.Problem(
        student, {"W1": "all"}, teacher=mp.Problem(mp.LinearEstimator(q=2, d=2, m=2), {})
    )


# Small problems of each family, with each verdict.
PROBLEMS: dict[str, Callable[[], mp.Problem]] = {
    # A teacher would be reached; labels of none are not.
    "arbitrary labels": lambda: mp.Problem(
        mp.LinearRNN(n=2, T=3, b=1, d=2, m=3),
        {"W": [[1, 0], [0, 1]], "D": "all"},
        {"W": [[1, 0], [0, 1]]},
        mp.Distribution(labels="normal"),
    ),
    "noise": lambda: mp.Problem(
        mp.LinearRNN(n=2, T=2, b=1, d=1, m=2),
        {"W": [[1, 0], [0, 1]]},
        distribution=mp.Distribution(noise="1/10"),
    ),
    "minimal": lambda: mp.Problem(mp.LinearEstimator(q=3, d=2, m=2), {"W": [[1, 1, 1], [1, 0, 0]]}),
    "unique": lambda: mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]}),
    "two solutions": lambda: mp.Problem(
        mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]}
    ),
    "given values": lambda: mp.Problem(
        mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]}, values={"B": [["1/2"], [3]]}
    ),
    "whole column": lambda: mp.Problem(
        mp.LinearRNN(n=2, T=3, b=1, d=2, m=1), {"W": [[1, 0], [1, 0]]}
    ),
    "dual bases": lambda: mp.Problem(
        mp.LinearRNN(n=2, T=5, b=2, d=2, m=4),
        {"W": [[1, 1], [1, 1]], "B": [[1, 1], [1, 1]], "D": [[0, 1], [0, 1]]},
    ),
    "more weights": lambda: mp.Problem(
        mp.LinearRNN(n=2, T=3, b=1, d=1, m=3), {"W": [[1, 1], [1, 1]]}
    ),
    "tanh": lambda: mp.Problem(
        mp.FeedForward(q=2, widths=(2,), d=1, m=2), {"W1": [[1, 0], [1, 0]]}
    ),
    "tanh, read-out": lambda: mp.Problem(
        mp.FeedForward(q=2, widths=(3,), d=1, m=2), {"W2": [[1, 1, 0]]}
    ),
    "low rank": lambda: mp.Problem(mp.LinearEstimator(q=3, d=2, m=2), {"W": {"lora": 1}}),
    "ties": lambda: mp.Problem(
        mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": {"tied": [[1, 0], [0, 2]]}}
    ),
    "normalization": lambda: load_problem("examples/normnet.toml"),
    "another teacher": _other_teacher,
}


def _opposite(value: Any, *given: Any) -> Any:
    return not value if isinstance(value, bool) else NotImplemented


def _empty(value: Any, *given: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.zeros_like(value)
    if isinstance(value, GeneratorType):
        return iter(())
    return type(value)() if type(value) in (str, list, tuple, dict, frozenset) else NotImplemented


def _less_of_square(value: Any, *given: Any) -> Any:
    """A number that is too small for square matrices only, such as those of what learns."""
    first = given[0] if given else None
    is_square = not isinstance(first, np.ndarray) or first.shape[0] == first.shape[-1]
    return _changed(value, -1) if is_square else NotImplemented


# What a lie makes of a result, from the arguments too; `NotImplemented`: it is not changed.
LIES: dict[str, Callable[..., Any]] = {
    "opposite": _opposite,
    "less": lambda value, *given: _changed(value, -1),
    "less, of square": _less_of_square,
    "more": lambda value, *given: _changed(value, 1),
    "empty": _empty,
}


def _changed(value: Any, by: int) -> Any:
    if isinstance(value, bool):
        return NotImplemented
    if isinstance(value, int):
        return max(0, value + by)
    if isinstance(value, GenericRank):
        rank = max(0, value.rank + by)
        upper = max(rank, value.upper)
        error = Fraction(rank < upper, 2**61)
        return replace(value, rank=rank, upper=upper, error=error)
    if isinstance(value, np.ndarray) and value.dtype.kind == "i" and by > 0:
        return value + 1
    return NotImplemented


class TooLong(BaseException):
    """A lie made the work endless."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End the work inside after this time."""

    def end(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def forget() -> None:
    """Clear what functions of the project remember of earlier calls."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ("algebra", "numeric", "matchprob"):
            continue
        for own in list(vars(module).values()):
            for made in (own, *(vars(own).values() if isinstance(own, type) else ())):
                inside = getattr(made, "__func__", made)
                if type(inside) is functools._lru_cache_wrapper:
                    inside.cache_clear()


def proof(problem: Callable[[], mp.Problem]) -> Any:
    """The file that `certify` writes, as plain data."""
    return json.loads(certify(problem(), timeout=20, search=0.5, subsets=4).to_json())


def holds(data: Any) -> bool:
    """Whether `verify` accepts it."""
    return family_verify.verify(data, timeout=30).holds


def fails(data: Any) -> bool:
    """Whether `verify` refuses it, for another reason than its time."""
    try:
        return any(
            check.status == FAILED for check in family_verify.verify(data, timeout=30).checks
        )
    except mp.InputError:
        return True


def called(work: Callable[[], object]) -> dict[tuple[str, str], set[str]]:
    """The functions of `algebra` that the work calls, with the lies that change a result."""
    found: dict[tuple[str, str], set[str]] = {}

    def note(frame: Any, event: str, result: object) -> None:
        if event != "return":
            return
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_name
        if not module.startswith("algebra.") or module in APART:
            return
        own = getattr(sys.modules[module], name, None)
        if isinstance(own, FunctionType) and own.__code__ is frame.f_code:
            lies = {lie for lie, tell in LIES.items() if tell(result) is not NotImplemented}
            if frame.f_code.co_flags & CO_GENERATOR:
                lies = {"empty"}
            found.setdefault((module, name), set()).update(lies)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


def shared() -> dict[str, list[tuple[str, str]]]:
    """The functions that search and check both call: by name, the lies and problems to try."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, problem in PROBLEMS.items():
        forget()
        data: list[Any] = []
        searched = called(lambda: data.append(proof(problem)))  # noqa: B023
        forget()
        checked = called(lambda: holds(data[0]))  # noqa: B023
        for function in sorted(searched.keys() & checked.keys()):
            tries = found.setdefault(".".join(function), [])
            lies = sorted(searched[function] & checked[function])
            if lies and len(tries) < MOST_TRIES:
                tries += [(lie, name) for lie in lies]
    return found


@contextmanager
def lying(module: str, name: str, lie: Callable[..., Any]) -> Iterator[None]:
    """Replace a function by one that lies, wherever it was imported."""
    honest = getattr(sys.modules[module], name)

    @functools.wraps(honest)
    def liar(*given: Any, **named: Any) -> Any:
        found = honest(*given, **named)
        told = lie(found, *given)
        return found if told is NotImplemented else told

    def exchange(one: Any, other: Any) -> None:
        for own in list(sys.modules.values()):
            if getattr(own, "__name__", "").startswith(("algebra.", "numeric.")):
                for key, value in list(vars(own).items()):
                    if value is one:
                        setattr(own, key, other)

    exchange(honest, liar)
    try:
        yield
    finally:
        # Also in modules that were loaded meanwhile.
        exchange(liar, honest)


def accepted(function: str, lie: str, problem: str, seconds: float = SECONDS) -> bool:
    """Whether a lying check accepts what a lying search found, and an honest one refuses it."""
    module, _, name = function.rpartition(".")
    import_module(module)
    data = None
    with suppress(Exception, TooLong), at_most(seconds), lying(module, name, LIES[lie]):
        forget()
        claim = proof(PROBLEMS[problem])
        forget()
        data = claim if claim["verdict"] != "undecided" and holds(claim) else None
    forget()
    return data is not None and fails(data)


def first_accepted(function: str, tries: Sequence[tuple[str, str]]) -> list[str]:
    """The first lie of a function that is accepted, and its problem; [] if none is."""
    return next(
        ([lie, own] for lie, own in tries if in_child(lambda: accepted(function, lie, own))),  # noqa: B023
        [],
    )


def in_child(work: Callable[[], bool]) -> bool:
    """What the work says in a process of its own: a lie may end it (FLINT aborts)."""
    mine, its = os.pipe()
    child = os.fork()
    if not child:
        # A collection would write to, and so copy, what is shared with this process.
        gc.freeze()
        said = b""
        with suppress(BaseException):
            said = b"yes" if work() else b""
        os.write(its, said)
        os._exit(0)
    os.close(its)
    with os.fdopen(mine, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said == b"yes"


def code_lines(path: str, names: Sequence[str] = ()) -> int:
    """Lines of code of a file, or of functions in it: without comments, docstrings, empty lines."""
    source = (FILE.parents[2] / path).read_text(encoding="utf-8")
    lines, tree = source.splitlines(), ast.parse(source)
    texts = {
        number
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for number in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    chosen = set(range(1, len(lines) + 1))
    if names:
        parts = [node for node in tree.body if getattr(node, "name", None) in names]
        assert len(parts) == len(names), f"{path} has not all of {names}"
        chosen = {n for part in parts for n in range(part.lineno, (part.end_lineno or 0) + 1)}
    code = (lines[number - 1].strip() for number in chosen - texts)
    return sum(bool(line) and not line.startswith("#") for line in code)


def main() -> None:
    """Print the trusted base, or the part of it in the packages that are given."""
    found, parts = {}, tuple(sys.argv[1:]) or ("algebra.",)
    for function, tries in sorted(shared().items()):
        if not function.startswith(parts):
            continue
        hit = first_accepted(function, tries)
        if hit:
            found[function] = hit
            print(function, *hit, file=sys.stderr, flush=True)
    json.dump(found, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
