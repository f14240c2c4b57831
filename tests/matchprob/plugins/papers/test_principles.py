"""The survey of principles, as a function and as a command."""

import json

import pytest
from scipy.stats import kendalltau

import matchprob as mp
from algebra.plugins.relu.network import ShallowReLU
from tests.refusals import refuses
from tests.samples import many

NET = mp.LinearRNN(n=3, T=2, b=1, d=2, m=2)


@pytest.fixture(scope="module")
def survey():
    """The 24 classes of four weights of W."""
    return mp.audit(NET, principles=True, trials=300)


def test_classes_are_those_between_minimal_and_maximal(survey):
    """The classes that are neither are measured, the others counted, as the atlas has them."""
    atlas = mp.atlas(NET, 4, search=0.2)
    verdicts = [e.verdict for e in atlas.entries]
    assert survey.requested == len(verdicts) == 24
    assert survey.minimal == verdicts.count("minimal")
    assert survey.maximal == verdicts.count("maximal")
    between = {e.cells: e for e in atlas.entries if e.verdict not in ("minimal", "maximal")}
    assert {c.allocation.cells for c in survey.classes} == set(between)
    assert all(c.numbers["N"] == between[c.allocation.cells].root_count for c in survey.classes)


def test_trials_are_those_of_estimate_and_tau_is_scipys(survey):
    """Each class has the outcomes of `estimate` with the same seed; τ follows from the shares."""
    one = survey.classes[0]
    again = mp.estimate(mp.Problem.of(one.allocation), 40, certify=False)
    assert [c.matches for c in again.counts] == survey.outcomes[0][:40]
    shares = [c.estimate.estimate for c in survey.classes]
    found = {t.predictor: t for t in survey.tau}
    assert found["columns"].is_principle
    expected = kendalltau(survey.values_of("columns"), shares).statistic
    assert found["columns"].value == pytest.approx(expected)


def test_contradictions_are_ordered_pairs_that_a_principle_reverses(survey):
    """Each has the larger number in the class that matches less often."""
    assert survey.contradictions
    for c in survey.contradictions:
        better, worse = (survey.classes[k] for k in (c.pair.better, c.pair.worse))
        assert better.numbers[c.principle] < worse.numbers[c.principle]
        assert better.estimate.matched > worse.estimate.matched


def test_json_has_the_documented_keys(survey):
    """Classes, τ and contradictions have the keys that other programs rely on."""
    data = json.loads(json.dumps(survey.to_dict()))
    keys = {"rows", "columns", "quadratic", "core", "N", "low", "estimate", "high"}
    assert all(keys <= set(c) for c in data["classes"])
    assert all({"predictor", "value", "low", "high"} <= set(t) for t in data["tau"])
    assert isinstance(data["contradictions"], list)
    assert "Kendall" in str(survey)
    assert survey.plot() is not None


def test_layers_and_relu_networks_are_surveyed():
    """Layers learn together; of a ReLU net W1, with the patterns that the lemmas leave."""
    net = mp.LinearFeedForward(q=2, widths=(2,), d=2, m=2)
    layers = mp.audit(net, principles=True, trials=many(20))
    assert set(layers.matrices) == {"W1", "W2"}
    assert [len(c.allocation.matrices) for c in layers.classes] == [2]
    relu = mp.audit(ShallowReLU(q=2, n=2, d=1, m=2), principles=True, trials=many(20))
    assert relu.matrices == ("W1",)
    assert relu.classes
    assert {"rows", "patterns D.3", "patterns D.4"} <= set(relu.classes[0].numbers)


def test_store_continues_and_time_limits_leave_whole_classes(tmp_path):
    """A survey that time ends has only classes with all their trials; a store completes it."""
    store = tmp_path / "s.sqlite"
    short = mp.audit(NET, principles=True, trials=25, store=store, timeout=0.3)
    assert all(c.estimate.trials == 25 for c in short.classes)
    assert short.is_partial
    full = mp.audit(NET, principles=True, trials=25, store=store)
    assert not full.is_partial


def test_impossible_arguments_are_refused():
    """Options of the survey need it; theorems and principles exclude each other."""
    refuses("`trials`", mp.audit, NET, trials=5)
    refuses("`corrected`", mp.audit, NET, principles=True, corrected=True)
    refuses("`trials`", mp.audit, NET, principles=True, trials=0)
    refuses("`budget`", mp.audit, NET, principles=True, budget=10)
    refuses("no matrix `V`", mp.audit, NET, principles=True, matrices=["V"])


def test_inspect_says_what_principles_predict_and_that_they_are_not_proved():
    """One sentence for each principle that has a number; none of other networks."""
    found = mp.inspect(mp.Problem(NET, {"W": [[1, 1, 0], [0, 1, 1], [0, 0, 0]]}))
    text = str(found)
    assert "rows that learn: 2;" in text
    assert "columns that learn: 3;" in text
    assert "not proved" in text
    assert len(found.to_dict()["principles"]) == len(found.principles) >= 3
    relu = mp.inspect(mp.Problem(ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 0], [0, 1]]}))
    assert any("Lemma D.4 leaves: 9" in words for words in relu.principles)
