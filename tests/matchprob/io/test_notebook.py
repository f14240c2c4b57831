"""Progress bars in notebooks: shown, updated, ended with a text; none outside a notebook."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

import matchprob as mp
from matchprob.io import notebook
from matchprob.io.notebook import in_notebook, notebook_bar
from matchprob.io.progress import watched
from tests.samples import DIAGONAL


@pytest.fixture
def shown(monkeypatch):
    """The pages that a stand-in for IPython with a kernel displays."""
    pages = []

    def display(page, display_id):
        assert display_id
        pages.append(page)
        return SimpleNamespace(update=pages.append)

    module = ModuleType("IPython")
    module.get_ipython = lambda: SimpleNamespace(kernel=object())
    own = ModuleType("IPython.display")
    own.display, own.HTML = display, lambda text: text
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", own)
    monkeypatch.setattr(notebook, "_EVERY", 0.0)
    return pages


def test_a_verb_shows_a_bar(shown):
    """The bar shows how many instances are done, reaches its end and says that it is done."""
    assert in_notebook()
    found = mp.count(DIAGONAL, 4, engine="exact")
    assert len(found) == 4
    assert "counting" in shown[0]
    assert any("4 of 4 done" in page for page in shown)
    assert "value='1.0000'" in shown[-1]
    assert "(done after" in shown[-1]


def test_an_interrupted_bar_says_so(shown):
    """After an interrupt the bar's text says "interrupted"; its title is escaped for HTML."""
    with pytest.raises(KeyboardInterrupt), notebook_bar("a < b", lambda: None, str):
        raise KeyboardInterrupt
    assert "a &lt; b (interrupted after" in shown[-1]
    assert "value" not in shown[-1]


def test_a_callback_replaces_the_bar(shown):
    """A caller's callback receives the counts, and no bar is shown."""
    seen = []
    mp.count(DIAGONAL, 2, engine="exact", advance=seen.append)
    assert len(seen) == 2
    assert not shown


def test_no_bar_outside_a_notebook(monkeypatch):
    """Without a kernel no bar is shown: scripts print nothing."""
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    sys.modules["IPython"].get_ipython = lambda: None
    assert not in_notebook()
    with watched(None, "counting", 3) as advance:
        assert advance is None


def test_in_notebook_with_the_real_ipython(monkeypatch):
    """A kernel of the installed IPython is recognized."""
    ipython = pytest.importorskip("IPython")
    monkeypatch.setattr(
        ipython, "get_ipython", lambda: SimpleNamespace(kernel=object()), raising=False
    )
    assert in_notebook()
