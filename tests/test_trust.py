"""The trusted base: the functions of which a lie is accepted are those of a file, no others."""

import functools
import gc
import json
import random
from pathlib import Path

import pytest

from algebra.families import registry
from tests.samples import LONG, many
from tests.trust import (
    FILE,
    PROBLEMS,
    SECONDS,
    accepted,
    code_lines,
    first_accepted,
    forget,
    in_child,
    proof,
    shared,
)

KNOWN = json.loads(FILE.read_text(encoding="utf-8"))
PAGE = Path(__file__).parents[1] / "docs/verification.md"


@pytest.fixture(scope="module")
def functions():
    """What search and check share."""
    return shared()


def chosen(things, count):
    """Some of them, or all in the long tests."""
    things = sorted(things)
    return things if LONG else random.Random(1).sample(things, min(count, len(things)))


@pytest.mark.parametrize("function", chosen(KNOWN, many(3)))
def test_the_lies_of_trusted_functions_are_accepted(function):
    """A lie that is refused by now leaves the list: the trusted base has become smaller."""
    assert first_accepted(function, [tuple(KNOWN[function])])


def test_no_lie_of_another_function_is_accepted(functions):
    """A function that becomes trusted needs an independent test, and its line in the file."""
    tries = [(name, *lie) for name, lies in functions.items() if name not in KNOWN for lie in lies]
    assert len({name for name, *_ in tries}) > 100
    # Some lies make the work endless; others are found out in a second.
    seconds = SECONDS if LONG else 3
    found = [one for one in chosen(tries, 16) if in_child(lambda: accepted(*one, seconds))]  # noqa: B023
    assert found == []


def remembering():
    """The functions of the project whose results are kept, and that hold some: by all objects.

    Those inside a call end with what it made.
    """
    # What lived before the first test is hidden from the collector.
    gc.unfreeze()
    found = [own for own in gc.get_objects() if type(own) is functools._lru_cache_wrapper]
    gc.freeze()
    ours = ("algebra", "numeric", "matchprob")
    return {
        own.__qualname__
        for own in found
        if own.__module__.partition(".")[0] in ours
        and "<locals>" not in own.__qualname__
        and own.cache_info().currsize
    }


def test_nothing_is_remembered_between_lies():
    """Results of functions, of methods and of methods of classes are forgotten."""

    class Own:
        @staticmethod
        @functools.cache
        def static(k):
            return k

        @classmethod
        @functools.cache
        def of(cls, k):
            return k

        method = functools.cache(lambda self, k: k)

    registry.Own = Own
    try:
        proof(PROBLEMS["two solutions"])
        assert Own.static(1) == Own.of(1) == Own().method(1)
        assert remembering()
        forget()
        assert remembering() == set()
        kept = (Own.static, Own.__dict__["of"].__func__, Own.method)
        assert [own.cache_info().currsize for own in kept] == [0, 0, 0]
    finally:
        del registry.Own


def rows(title):
    """The cells of each line of a table of the page, by the title of its first column."""
    section = (
        PAGE.read_text(encoding="utf-8").partition("## The trusted base")[2].partition("\n## ")[0]
    )
    table = section.partition(f"| {title} |")[2].partition("\n\n")[0]
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def quoted(text):
    """The words of a text in quotation marks of code."""
    return text.split("`")[1::2]


def test_the_page_names_each_trusted_function():
    """The section on the trusted base lists the functions of the file, and no others."""
    listed = {
        f"{module.removesuffix('.py').replace('/', '.')}.{name}"
        for module, *names in (quoted(cells[0]) for cells in rows("functions"))
        for name in names
    }
    assert listed == KNOWN.keys()


@pytest.mark.parametrize("cells", [*rows("functions"), *rows("part")], ids=lambda c: c[0][:40])
def test_the_lines_and_tests_on_the_page_are_there(cells):
    """The lines are those of the code, of whole modules roughly, and the tests of a row exist."""
    if cells[0].startswith("`"):
        module, *names = quoted(cells[0])
        assert int(cells[1]) == code_lines(module, names)
    else:
        lines = sum(map(code_lines, quoted(cells[2])))
        assert abs(int(cells[1].removeprefix("about ")) - lines) < lines / 5
    tests = [word for word in quoted(cells[3]) if word.endswith(".py")]
    assert tests
    assert [word for word in tests if not (PAGE.parents[1] / word).exists()] == []
