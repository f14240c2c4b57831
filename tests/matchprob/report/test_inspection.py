"""Printed cores and equations: few lines; shortened equations state their number of terms."""

import io
import re

import pytest
import sympy

import matchprob as mp
from algebra.problems.files import load_problem
from algebra.systems.written import SymbolicSystem
from matchprob.api.equations.symbolic import shown_core
from matchprob.io.page import Page
from matchprob.report.inspection import print_core, print_equations
from tests.matchprob.processes import ROOT


def lines_of(show, width, monkeypatch):
    """The lines that a page of this width prints."""
    monkeypatch.setenv("COLUMNS", str(width))
    page = Page()
    page.file = io.StringIO()
    show(page)
    return page.file.getvalue().strip("\n").splitlines()


@pytest.mark.parametrize("name", ["diagonal", "mixed", "six_rows"])
def test_a_core_takes_less_than_twenty_lines(name, monkeypatch):
    """At every width; a shortened equation states its number of terms, and JSON has it whole."""
    problem = load_problem(ROOT / "examples" / f"{name}.toml")
    found = shown_core(problem, mp.inspect(problem), None, 0)
    counts = {len(e.expand().as_ordered_terms()) for e in found.equations}
    for width in (60, 80, 110, 200):
        lines = lines_of(lambda page: print_core(page, found), width, monkeypatch)
        assert len(lines) < 20
        assert max(len(line.rstrip()) for line in lines) <= width
        text = " ".join(line.strip() for line in lines)
        stated = {int(n) for n in re.findall(r"… \((\d+) terms, degree 2", text)}
        assert stated <= counts
        assert ("where none of these is 0: " in text) == bool(found.conditions)
        assert ("in full: --json" in text) == bool(stated)
        if width == 80:
            assert bool(stated) == (name != "mixed")
    whole = found.to_dict()["equations"]
    assert [sympy.sympify(text) for text in whole] == list(found.equations)


def test_a_long_equation_is_cut_at_a_term(monkeypatch):
    """The first terms of a long equation are printed; a short equation is printed whole."""
    x = sympy.symbols("x0:60")
    long, short = sum(x), x[0] - x[1]
    made = SymbolicSystem("B", None, ("x0",), 0, (long, short), ("a", "b"), title="Equations")
    lines = lines_of(lambda page: print_equations(page, made), 60, monkeypatch)
    assert lines[-1] == "  b:  x0 - x1 = 0"
    text = " ".join(line.strip() for line in lines[1:-1])
    kept, stated = re.fullmatch(r"a: (.*) … \((\d+) terms; all: --json\) = 0", text).groups()
    assert int(stated) == 60
    assert str(long).startswith(kept.strip() + " + ")
    assert len(lines) <= 6
