"""Each action of the page and the command shown for it make the same call."""

import inspect
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from algebra.plugins.circuits.elements import ELEMENT_KINDS
from matchprob import LinearRNN, Problem, Study
from matchprob.api import certify as certificates
from matchprob.api import estimate as estimates
from matchprob.api import identify as identities
from matchprob.api.designs import design as designs
from matchprob.api.designs import repair as repairs
from matchprob.api.designs.goals import GOALS
from matchprob.api.question import network_of
from matchprob.cli import app
from matchprob.plugins.circuits import record as recordings
from matchprob.plugins.page import trials
from matchprob.plugins.page.answers import lock_files, read_data
from matchprob.plugins.page.commands import ACTIONS, TARGETS, command, request
from matchprob.plugins.page.jobs import JOBS
from matchprob.plugins.page.state import PageState
from matchprob.verbs.verb import VERBS
from tests.refusals import refuses

NET = LinearRNN(n=3, T=2, b=1, d=1, m=3)
PAINTED = Problem(NET, {"W": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]})
PINNED = Problem(NET, {"W": [[1, 1, 1], [0, 0, 0], [0, 0, 0]]})
LOCKED = {"W": [[0, 1, 0], [0, 0, 0], [0, 0, 0]]}
# Every field of every form, with each of its values at least once.
OPTIONS = [
    ("certify", {}),
    ("identify", {}),
    ("record", {}),
    *[("record", {"elements": kind, "noise": ""}) for kind in ELEMENT_KINDS],
    *[("record", {"target": target, "noise": 0.25}) for target in TARGETS],
    ("repair", {"goal": ""}),
    ("repair", {"goal": "positive"}),
    ("repair", {"goal": "maximal"}),
    ("estimate", {"trials": 30, "complete": True}),
    ("estimate", {"trials": 40, "complete": False}),
    ("compare", {"trials": 50, "complete": True}),
    ("design", {"goal": "cheapest", "among": "learnable", "line": "row", "budget": ""}),
    ("design", {"budget": 3, "matrix": "W", "row_cap": 2, "column_cap": 1}),
    *[
        ("design", {"goal": goal, "among": "all", "line": line, "row_cap": 0})
        for goal, what in GOALS.items()
        if not what.needs_cost_budget
        for line in what.lines or ("row",)
    ],
]


class Called(BaseException):
    """The call that would be made."""


@pytest.fixture
def calls(monkeypatch):
    """Every verb, replaced by a function that raises its arguments."""
    verbs = {
        "certify": [(certificates, "certify")],
        "design": [(designs, "design")],
        "repair": [(repairs, "repair")],
        "identify": [(identities, "identify")],
        "record": [(recordings, "record")],
        "compare": [(estimates, "compare"), (trials, "compare_problems")],
    }
    for verb, places in verbs.items():
        signature = inspect.signature(getattr(*places[0]))

        def called(*words, verb=verb, signature=signature, **more):
            bound = signature.bind(*words, **more)
            bound.apply_defaults()
            raise Called(verb, {key: plain(value) for key, value in bound.arguments.items()})

        called.__name__ = verb
        monkeypatch.setitem(VERBS, verb, replace(VERBS[verb], function=called))
        for module, name in places:
            monkeypatch.setattr(module, name, called)

    def run(study, count, **more):
        kept = study.store.path.name if study.store else None
        raise Called("estimate", {"work": study.work.key, "trials": count, "store": kept})

    monkeypatch.setattr(Study, "run", run)


def plain(value):
    """An argument without the parts in which the two calls may differ."""
    if isinstance(value, Path):
        value = str(value)
    if isinstance(value, str) and value.endswith(".toml"):
        value = network_of(value)
    if isinstance(value, Problem):
        return value.to_dict()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    # No costs, no caps.
    return {} if value is None else value


def made(work):
    """The call that `work` makes."""
    return refuses("", work, error=Called).args


@pytest.mark.parametrize(("what", "options"), OPTIONS)
def test_the_page_does_what_its_command_does(what, options, calls, tmp_path, monkeypatch):
    """An action's job and the command shown for it call the same verb with the same arguments."""
    monkeypatch.chdir(tmp_path)
    locks = {name: Problem(NET, {name: mask}).learnable[name] for name, mask in LOCKED.items()}
    must, never = ({}, locks) if what == "design" else (locks, {})
    state = PageState(PAINTED, must, never, "P.toml")
    data = read_data(state)
    sent = state.to_dict()
    [files] = lock_files({"state": sent, "folder": "."})
    for name, text in files.items():
        (tmp_path / (name or "P.toml")).write_text(text)
    (tmp_path / "A.toml").write_text(PINNED.to_toml())
    ask = request(what, options, name="P.toml", seed=7)
    pages = {"problem": data["problem"], "must": data["must"], "never": data["never"]}
    if what == "compare":
        pages |= {"problem": PINNED.to_dict(), "other": data["problem"]}
    of_page = made(lambda: JOBS[ask["job"]]({**ask, **pages, "store": "s.sqlite"}, print))
    matrices = {"must": list(must), "never": list(never)}
    line = command(ask, matrices, store="s.sqlite")
    words = shlex.split(line)
    assert words[:2] == ["matchprob", what]
    of_command = made(lambda: app([*words[1:], "--json"], standalone_mode=False))
    for key in ("advance", "name", "first"):
        of_page[1].pop(key, None)
        of_command[1].pop(key, None)
    assert of_page == of_command


def test_every_action_is_compared():
    """The list above contains every action and every goal of the page."""
    assert {what for what, _ in OPTIONS} == set(ACTIONS)
    offered = {name for name, goal in GOALS.items() if not goal.needs_cost_budget}
    kinds = {more.get("elements", "units") for what, more in OPTIONS if what == "record"}
    assert kinds == set(ELEMENT_KINDS)
    assert {more.get("goal", "cheapest") for what, more in OPTIONS if what == "design"} == offered


@pytest.mark.parametrize(
    ("what", "options"),
    [("fly", {}), ("design", {"goal": "nonsense"}), ("design", {"budget": -1}),
     ("estimate", {"trials": "many"}), ("record", {"noise": "much"}),
     ("record", {"target": "unit 1"}), ("record", {"elements": "neurons"})],
)  # fmt: skip
def test_an_unknown_option_is_refused(what, options):
    """An unknown option is bad input."""
    refuses("", request, what, options, name="P.toml", seed=0)


def test_a_name_is_quoted():
    """A file's name is quoted as one word of the shell."""
    ask = request("certify", {}, name="my net; rm.toml", seed=0)
    assert shlex.split(command(ask, {}))[2] == "my net; rm.toml"
