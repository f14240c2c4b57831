"""Pages of a given width."""

import pytest
from rich.text import Text

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
    """Folded lines stand under their first one, a little further in; no word is lost."""
    found = narrow("  " + LONG)
    assert len(found) > 1
    assert all(len(line) <= 40 for line in found)
    assert found[0].startswith("  row")
    assert all(line.startswith("    ") and line[4] != " " for line in found[1:])
    assert " ".join(" ".join(found).split()) == LONG


def test_styles_and_lines(narrow):
    """Markup is interpreted or not, as given; short and empty lines stay as they are."""
    assert narrow("[bold]a[/bold]\n\n  b") == ["a", "", "  b"]
    assert narrow("W[0,0]", markup=False) == ["W[0,0]"]
    assert narrow(Text("x" * 50)) == ["x" * 40, "  " + "x" * 10]


@pytest.mark.parametrize(("given", "width"), [("", 110), ("no", 110), ("0", 110), ("57", 57)])
def test_width(monkeypatch, given, width):
    """COLUMNS where it says something, 110 for piped text."""
    monkeypatch.setenv("COLUMNS", given)
    monkeypatch.setattr("sys.stdout.isatty", lambda: False, raising=False)
    assert Page().width == width
