"""The registry of engines: one decorator registers an engine for counters, studies and help."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from algebra.errors import InputError
from algebra.networks.base import Network
from algebra.networks.feedforward import LinearEstimator
from algebra.networks.ffn import FeedForward
from algebra.plugins.relu.network import ShallowReLU
from numeric.engines.base import (
    Assignment,
    EngineInfo,
    Resources,
    chosen_engine,
    default_engine,
    engine,
    engine_info,
    engine_table,
    engines,
    engines_for,
    help_text,
    make_engine,
    unregister,
)
from numeric.engines.counter import InstanceCounter
from numeric.engines.plans import Plan
from numeric.studies.study import Study
from numeric.trials.counts import UNDETERMINED, InstanceCount, Reason
from numeric.trials.instances import draw_instance
from tests.refusals import refuses
from tests.samples import DIAGONAL


class GuessingEngine:
    """Reports a solution for every third instance."""

    closed = 0

    def count_many(self, instances):
        return [
            InstanceCount(
                i.index,
                1 if i.index % 3 == 0 else None,
                None,
                UNDETERMINED,
                reason=Reason.FOUND_ONE if i.index % 3 == 0 else Reason.SEARCHED,
            )
            for i in instances
        ]


@pytest.fixture
def toy() -> Iterator[str]:
    """A toy engine, registered as from another package."""

    @engine(EngineInfo("toy", {"linear"}, complete=False, summary="guesses"))
    def make(task: Assignment) -> GuessingEngine:
        return GuessingEngine()

    yield "toy"
    unregister("toy")


def test_an_engine_registered_in_one_file_is_known_everywhere(toy):
    """The counter, study, help, table and messages need no other change."""
    with InstanceCounter(DIAGONAL, toy) as counter:
        assert "lower bounds" in counter.plan(DIAGONAL.allocation).source
        found = counter.count_many([draw_instance(DIAGONAL, 0, k) for k in range(6)])
    assert [c.real for c in found] == [1, None, None, 1, None, None]
    with Study(DIAGONAL, engine=toy) as study:
        estimate = study.run(9)
    assert (estimate.matched, estimate.undetermined) == (3, 6)
    assert estimate.estimate is None  # a search never proves "no match"
    assert "toy (linear, lower bounds): guesses" in help_text()
    assert "| `toy` | linear | lower bounds |" in engine_table()
    refuses("toy", InstanceCounter, DIAGONAL, "magic")
    relu = ShallowReLU(q=1, n=1, d=1, m=1)
    refuses("'toy' is for linear networks, not for a shallow ReLU", chosen_engine, relu, toy)


def test_names_and_help_load_no_engine():
    """Names, help and requirements of engines are available before their modules are imported."""
    program = (
        "import sys; from numeric.engines.base import engine_info, help_text; help_text(); "
        "assert engine_info('exact').needs == ('msolve',); "
        "print(*sorted(m for m in sys.modules if m.startswith('numeric.')), 'numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = ["numeric.engines", "numeric.engines.base", "False"]
    assert done.stdout.split() == loaded


def test_every_family_has_one_default_engine():
    """Of each family at most one engine is the default; the first one is complete if one can be."""
    families = {family for info in engines().values() for family in info.families}
    for family in families:
        fitting = [i for i in engines().values() if family in i.families]
        assert sum(family in i.default_families for i in fitting) <= 1, family
        # Analytic equations have no finite number of solutions: no engine is complete.
        assert fitting[0].complete == (family != "analytic"), family


@pytest.mark.parametrize(
    ("network", "name"),
    [
        (LinearEstimator(q=2, d=1, m=1), "homotopy"),
        (ShallowReLU(q=1, n=1, d=1, m=1), "complementarity"),
        (FeedForward(1, (1,), 1, 1, activation={"polynomial": [0, 0, 1]}), "exact"),
    ],
)
def test_default_engines(network: Network, name: str):
    """The default is the first among the engines of a network."""
    assert default_engine(network) == name == engines_for(network)[0]


def test_a_name_belongs_to_one_module_and_a_family_to_one_default():
    """Another module cannot take a name, and a second default is refused."""

    def other(task):
        raise NotImplementedError

    with pytest.raises(InputError, match="both the default of linear"):
        engine(EngineInfo("second", {"linear"}, complete=True, default=True))(other)
    assert "second" not in engines()
    refuses("must be a word", EngineInfo, "", {"linear"}, complete=True)
    refuses("must not be empty", EngineInfo, "none", set(), complete=True)


def test_resources_are_shared_and_closed():
    """One worker for all engines of a counter; it ends with the counter."""

    class Worker:
        open = True

        def close(self):
            self.open = False

    resources = Resources()
    worker = resources.get(Worker)
    assert resources.get(Worker) is worker
    resources.close()
    assert not worker.open
    assert resources.get(Worker) is not worker


def test_engines_are_made_for_an_assignment(toy):
    """The registered function is called with the assignment and makes the engine."""
    plan = Plan(DIAGONAL.allocation, 2, 2, 2, "known")
    assert isinstance(make_engine(toy, Assignment(DIAGONAL, plan)), GuessingEngine)
    assert not engine_info(toy).complete


def test_the_documentation_has_the_table():
    """docs/engines.md contains the table of all engines of the project."""
    text = (Path(__file__).parents[3] / "docs" / "engines.md").read_text(encoding="utf-8")
    table = engine_table(own=True)
    assert table in text
    assert "| `homotopy` (default for linear) |" in table
