"""All public names: listed, documented, shown in few characters, with or without extras."""

import inspect
import pydoc
import sys

import pytest

import matchprob as mp


@pytest.mark.parametrize("installed", [True, False])
def test_members_can_be_listed(installed, monkeypatch):
    """`dir`, `inspect.getmembers` and `help` show the public names, and no module's imports."""
    if not installed:
        monkeypatch.setitem(sys.modules, "anywidget", None)
        monkeypatch.delitem(vars(mp), "Allocator", raising=False)
        monkeypatch.setattr(mp, "find_spec", lambda name: None)
    listed = dir(mp)
    assert set(mp.__all__) <= set(listed)
    assert not {"re", "sys", "leave_at_once", "Path"} & set(listed)
    assert ("Allocator" in listed) <= installed
    if not installed:
        assert {name for name, _ in inspect.getmembers(mp)} >= set(mp.__all__)
        assert "class Problem" in pydoc.plain(pydoc.render_doc(mp))


@pytest.mark.parametrize("name", mp.__all__)
def test_a_public_name(name):
    """Each has documentation of its own and a short representation."""
    found = getattr(mp, name)
    assert len(repr(found)) < 2000
    assert inspect.getdoc(found)
    assert pydoc.render_doc(found)
