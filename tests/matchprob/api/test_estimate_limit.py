"""`estimate` of the limit of large networks."""

import json

import numpy as np

import matchprob as mp
from tests.algebra.systems.test_growth import large
from tests.matchprob.calls import DIAGONAL, call
from tests.refusals import refuses


def test_two_loops_match_in_half_of_the_trials():
    """a ξ + b η = y, a ξ² + b η² = 0 has a real solution if and only if ab < 0."""
    found = mp.estimate(large(((0, 0), (1, 1)), 2), 60, limit=True)
    assert found.undetermined == 0
    interval = found.interval()
    assert interval.low < 0.5 < interval.high
    for count, instance in zip(found.counts, _instances(found.systems[0], 60), strict=True):
        D, B = instance.weights["D"].ravel()[:2], instance.weights["B"].ravel()[:2]
        assert count.matches == (np.prod(D * B) < 0)


def _instances(problem, number):
    from numeric.trials.instances import draw_instances

    return draw_instances(problem, 0, range(number))


def test_several_systems_are_counted_on_the_same_instances():
    """A trial has the real solutions of all growths together, and a match if one has some."""
    problem = large(((0, 1), (1, 2), (3, 4)), 3)
    found = mp.estimate(problem, 20, limit=True)
    assert len(found.systems) == 2
    each = [mp.estimate(own, 20) for own in found.systems]
    real = np.sum([[c.real for c in own.counts] for own in each], axis=0)
    assert [c.real for c in found.counts] == real.tolist()
    assert found.matched == (real > 0).sum()
    refuses("half_width", mp.estimate, problem, 20, limit=True, half_width=0.1)


def test_a_problem_file_by_the_command_line(tmp_path, capsys):
    """The trials and systems are those of Python."""
    problem = large(((0, 0), (1, 1)), 2, n=2)
    path = tmp_path / "loops.toml"
    path.write_text(DIAGONAL, encoding="utf-8")
    assert call("estimate", path, "--limit", "--trials", "9", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    found = mp.estimate(problem, 9, limit=True)
    assert (printed["matched"], printed["trials"]) == (found.matched, 9)
    (system,) = printed["systems"]
    assert system["network"]["cells"] == [[0, 0], [1, 1]]
    assert system["teacher"]["network"]["labels"] == [1]
    # A verdict on the file would be one on two units.
    assert "certify" not in " ".join(printed["explanation"])


def test_trials_of_the_limit_alone_are_announced(capsys):
    """What is refused says so in one line, without what trials of the networks would show."""
    assert call("estimate", "examples/circuit.toml", "--limit") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "it must be of kind lrnn" in line


def test_an_odd_growth_is_certified():
    """A path of two cells has MP = 1 at the limit, since a growth has one solution."""
    found = mp.estimate(large(((0, 1), (1, 2)), 2), 5, limit=True)
    assert found.certified == 1
    assert found.to_dict()["systems"][0]["network"]["kind"] == "limit"
