"""The table of arguments: modules, sentences, searches and checks."""

import ast
import inspect
import sys
from pathlib import Path

import pytest

from algebra.arguments import order
from algebra.arguments.argument import NO_COUNT, OF_ALL, OF_PART
from algebra.arguments.order import NAMES, ORDER, argument
from algebra.checker.verdicts import INTERMEDIATE, MAXIMAL
from algebra.work import SHARES

FOLDER = Path(order.__file__).parent
DOCS = Path(__file__).parents[3] / "docs"
CONSEQUENCE = {MAXIMAL: "MP = 1", INTERMEDIATE: "MP < 1"}


def test_each_module_is_an_argument():
    """The modules of the folder that end in an argument are those that have a line."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
    assert {name for name, text in texts.items() if "\nARGUMENT = " in text} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_argument_says_what_it_is(name):
    """Its name is the module's; it has a sentence for each verdict, and a theorem."""
    own = argument(name)
    assert own.name == name
    assert own.counts in (NO_COUNT, OF_ALL, OF_PART)
    assert set(own.covers) == set(own.why) <= set(CONSEQUENCE)
    for verdict in own.why:
        assert own.sentence(verdict, 3, 5, "").startswith(CONSEQUENCE[verdict])
        assert "{" not in own.sentence(verdict, 3, 5, "")
    text = " ".join(sys.modules[own.check.__module__].__doc__.split())
    assert "theorem" in text.lower()
    assert "*Survey*: of the first 240 nets" in text
    assert f"`{name}`" in (DOCS / "verification.md").read_text(encoding="utf-8")


def test_cheap_arguments_are_searched_before_counts_of_parts():
    """What needs no Gröbner basis of many parts comes first; a search never comes three times."""
    names = [attempt.argument for attempt in ORDER]
    assert names.index("whole_column") < names.index("sub_allocation")
    assert all(getattr(SHARES, attempt.share) >= 1 for attempt in ORDER)


def reached(source, start):
    """Functions and classes of a module that a function uses, directly or not; records apart."""
    tree = ast.parse(source)
    made = {
        node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    seen, left = set(), [start]
    while left:
        for node in ast.walk(made[left.pop()]):
            used = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
            if used and node.id in made and node.id not in seen:
                seen.add(node.id)
                left.append(node.id)
    return {
        name
        for name in seen - {"search", "check"}
        if not any(getattr(base, "id", "") == "Record" for base in getattr(made[name], "bases", ()))
    }


# Code that a search and a check of one argument have in common, and why.
COMMON = {
    "enclosed_solutions": {"label_equations"},
    "stuck_output": {"BoundedReading", "is_stuck", "limit", "reading"},
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_search_and_check_share_no_code(name):
    """They have only the evidence in common, and the listed conditions of a theorem."""
    source = inspect.getsource(sys.modules[argument(name).check.__module__])
    both = reached(source, "search") & reached(source, "check")
    assert both == COMMON.get(name, set())
