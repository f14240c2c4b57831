"""The trusted base: the functions of which a lie is accepted are those of a file, no others."""

import json
import random
from pathlib import Path

import pytest

from tests.samples import LONG, many
from tests.trust import FILE, first_accepted, shared

KNOWN = json.loads(FILE.read_text(encoding="utf-8"))
PAGE = Path(__file__).parents[1] / "docs/verification.md"


@pytest.fixture(scope="module")
def functions():
    """What search and check share."""
    return shared()


def chosen(names, count):
    """Some of the names, or all of them in the long tests."""
    names = sorted(names)
    return names if LONG else random.Random(1).sample(names, min(count, len(names)))


@pytest.mark.parametrize("function", chosen(KNOWN, many(3)))
def test_the_lies_of_trusted_functions_are_accepted(function):
    """A lie that is refused by now leaves the list: the trusted base has become smaller."""
    assert first_accepted(function, [tuple(KNOWN[function])])


def test_no_lie_of_another_function_is_accepted(functions):
    """A function that becomes trusted needs an independent test, and its line in the file."""
    others = functions.keys() - KNOWN.keys()
    assert len(others) > 100
    found = {name: first_accepted(name, functions[name]) for name in chosen(others, 3)}
    assert {name for name, hit in found.items() if hit} == set()


def test_the_page_names_each_trusted_module():
    """The section on the trusted base lists the modules of the file, and no others."""
    section = (
        PAGE.read_text(encoding="utf-8").partition("## The trusted base")[2].partition("\n## ")[0]
    )
    modules = {name.rpartition(".")[0].replace(".", "/") + ".py" for name in KNOWN}
    listed = {
        word
        for line in section.splitlines()
        if line.startswith("| `")
        for word in line.split("`")[1::2]
        if word.endswith(".py") and word.startswith("algebra")
    }
    assert listed == modules
