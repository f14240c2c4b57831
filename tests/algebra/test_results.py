"""Every result is short in a console and a table in a notebook."""

from algebra import pictures
from algebra.documents import Document
from algebra.pictures import paint_with
from algebra.results import Result
from tests.refusals import refuses


class Found(Result):
    def __init__(self, **facts):
        self.given = facts

    def document(self):
        return Document("found", self.given)


def test_repr_is_short_and_html_is_whole():
    """Long texts are cut in a repr, not in a notebook, where they are escaped."""
    found = Found(rule="<" * 500, rank=3, generic_root_count=None)
    assert len(repr(found)) < 150
    shown = found._repr_html_()
    assert "&lt;" * 500 in shown
    assert "<<" not in shown
    assert "generic root count" not in shown


def test_plot_needs_a_painter(monkeypatch):
    """Without the package matchprob no picture is drawn; with it the result is passed to it."""
    monkeypatch.setattr(pictures, "_painters", [])
    refuses("import matchprob", Found().plot)
    paint_with(lambda found, ax: (found, ax))
    one = Found()
    assert one.plot("axes") == (one, "axes")
