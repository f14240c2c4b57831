"""Printed pages of a given width."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

import matchprob as mp
from matchprob.io.page import Page


@pytest.fixture
def narrow(monkeypatch, capsys):
    """Prints on a page of 40 columns; gives the lines."""
    monkeypatch.setenv("COLUMNS", "40")

    def lines(*objects, **options):
        Page().print(*objects, **options)
        return capsys.readouterr().out.splitlines()

    return lines


LONG = "row 3 and column 0 of W hold 7 weights but take part in only 6 equations"


def test_indents_are_kept(narrow):
    """Continuation lines are indented a little further than their first; no word is lost."""
    found = narrow("  " + LONG)
    assert len(found) > 1
    assert all(len(line) <= 40 for line in found)
    assert found[0].startswith("  row")
    assert all(line.startswith("    ") and line[4] != " " for line in found[1:])
    assert " ".join(" ".join(found).split()) == LONG


def test_markup_and_short_lines(narrow):
    """Markup is interpreted unless `markup` is False; short and empty lines are not changed."""
    assert narrow("[bold]a[/bold]\n\n  b") == ["a", "", "  b"]
    assert narrow("W[0,0]", markup=False) == ["W[0,0]"]
    assert narrow(Text("x" * 50)) == ["x" * 40, "  " + "x" * 10]


@pytest.mark.parametrize(("columns", "width"), [("", 110), ("no", 110), ("0", 110), ("57", 57)])
def test_width_of_a_page(monkeypatch, columns, width):
    """The width is COLUMNS if that is a positive number, otherwise 110 for piped text."""
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert Page().width == width


def closed(parts, *, most=50, report=None):
    """The lines of a page with these parts, after it was closed."""
    page = Page(most=most)
    page.file = io.StringIO()
    for part in parts:
        page.print(part, markup=False)
    page.close(len(parts) if report is None else report)
    return page.file.getvalue().splitlines()


@given(
    st.lists(st.integers(1, 70), min_size=1, max_size=20), st.integers(10, 60), st.integers(0, 3)
)
def test_long_reports_are_cut_and_count_the_missing_lines(sizes, most, last):
    """At most `most` lines remain, unchanged; the missing ones are counted, the end is kept."""
    parts = ["\n".join(f"  {k}.{i}" for i in range(size)) for k, size in enumerate(sizes)]
    ending = min(last, len(parts) - 1, 3)
    parts = [*parts[: len(parts) - ending], *["end"] * ending]
    whole = [line for part in parts for line in part.splitlines()]
    lines = closed(parts, most=most, report=len(parts) - ending)
    assert len(lines) <= most
    assert ending == 0 or lines[-ending:] == ["end"] * ending
    kept = [line for line in lines if "more" not in line]
    missing = [re.fullmatch(r" *… (\d+) more: --all", line) for line in lines if "more" in line]
    assert len(kept) + sum(int(found[1]) for found in missing) == len(whole)
    assert [line for line in whole if line in kept] == kept or ending


def test_the_longest_part_is_cut_first():
    """A mask of 60 rows is cut, the table after it is kept."""
    mask = "\n".join("●" * 60 for _ in range(60))
    lines = closed(["title", mask, "\n".join(f"form {k}" for k in range(9))])
    assert len(lines) == 50
    assert lines[40:] == ["… 21 more: --all", *(f"form {k}" for k in range(9))]


def test_long_lists_of_weights_are_cut():
    """Of 30 weights 12 are named; a list of 15 is printed whole, as is every list by default."""
    net = mp.LinearRNN(n=40, T=2, b=1, d=1, m=2)
    names = mp.Problem(net, {"W": "all"}, names={"neurons": [f"N{k}" for k in range(40)]}).names
    weights = [f"W[3,{j}]" for j in range(30)]
    page = Page(names, 50)
    assert page.worded("these: " + " ".join(weights)) == (
        "these: " + " ".join(f"W[N3,N{j}]" for j in range(12)) + " and 18 more"
    )
    assert page.worded(", ".join(weights)).endswith("W[N3,N11] and 18 more")
    assert page.worded(" ".join(weights[:15])).endswith("W[N3,N14]")
    assert Page(names).worded(" ".join(weights)).endswith("W[N3,N29]")
