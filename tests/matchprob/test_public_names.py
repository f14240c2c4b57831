"""All public names: listed, documented, shown in few characters, with or without extras."""

import ast
import inspect
import pydoc
import sys
import typing
from pathlib import Path

import pytest

import matchprob as mp
from tests.samples import NET

TOP = Path(__file__).parents[2]


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


def methods(found):
    """The methods of a class, its properties' among them, that this project has written."""
    for name, held in inspect.getmembers_static(found):
        for key in ("__func__", "fget", "func"):
            held = getattr(held, key, held)
        if inspect.isfunction(held) and (name == "__init__" or not name.startswith("_")):
            assert held.__module__.split(".")[0] in ("matchprob", "numeric", "algebra")
            yield held


@pytest.mark.parametrize("name", mp.__all__)
def test_type_hints_of_a_public_name(name):
    """They can be evaluated, as tools do that build forms or schemes of functions."""
    found = getattr(mp, name)
    if inspect.isfunction(found):
        hints = typing.get_type_hints(found)
        assert "return" in hints
        assert hints.keys() <= {*inspect.signature(found).parameters, "return"}
    elif inspect.isclass(found):
        assert isinstance(typing.get_type_hints(found), dict)
        for method in methods(found):
            assert typing.get_type_hints(method).keys() <= {
                *inspect.signature(method).parameters, "return"}  # fmt: skip


def steps():
    """The steps that results of many verbs suggest."""
    problem = mp.Problem(NET, {"W": [[1, 0], [0, 1]]})
    minimal = mp.Problem(NET, {"W": [[1, 0], [0, 0]]})
    results = [
        mp.certify(problem), mp.certify(minimal), mp.design(mp.Problem(NET, {})),
        mp.repair(minimal), mp.identify(problem), mp.record(problem), mp.count(problem, 2),
        mp.inspect(problem),
        mp.estimate(problem, 20), mp.dimension(NET), mp.robust(problem),
        mp.capacity(TOP / "examples/data/convnet.onnx", learn=["*.bias"]),
    ]  # fmt: skip
    return {str(step) for result in results for step in result.explain().steps}


def test_advice_from_python_is_python():
    """Each call that a result suggests is one of a public function, with parameters that it has."""
    found = steps()
    assert len(found) > 10
    for text in found:
        calls = [n for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Call)]
        for call in (c for c in calls if getattr(c.func.value, "id", "") == "mp"):
            known = inspect.signature(getattr(mp, call.func.attr)).parameters
            assert {keyword.arg for keyword in call.keywords} <= set(known), text
