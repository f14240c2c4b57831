"""Explanations of results: what is known, what is open, and which command to try."""

import json
import shlex
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import matchprob as mp
from algebra.certificates.verification import Verification
from algebra.checker.checks import FAILED, UNFINISHED, Check
from algebra.documents import Document, Explanation
from algebra.plugins.normalization.hidden_orders import NotRealized
from algebra.plugins.normalization.reconstruct import TooNarrow
from algebra.plugins.normalization.scales import Unreachable
from algebra.results import Result
from matchprob import Comparison, CountResult, Estimate, InstanceCount
from matchprob.cli import app
from matchprob.plugins.normalization.impossible import (
    explain_narrow,
    explain_not_realized,
    explain_unreachable,
)
from numeric.plugins.relu.decision import ReluDecision
from numeric.trials.counts import COMPLETE, UNDETERMINED, Reason
from tests.matchprob.explained import Explained, explained
from tests.refusals import refuses

NET = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
DIAGONAL = mp.Problem(NET, {"W": [[1, 0], [0, 1]]})
MORE = mp.Problem(NET, {"W": [[1, 1], [0, 1]]})
RELU = mp.Problem(mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 1], [1, 0]]})


def counted(index, real=2):
    return InstanceCount(index, real, 2, COMPLETE)


def open_count(index, reason):
    return InstanceCount(index, None, None, UNDETERMINED, reason=reason)


def estimate_of(*counts, problem=DIAGONAL, requested=None, engine="homotopy"):
    return Estimate(problem, engine, 0, counts, requested or len(counts))


def test_no_match_is_claimed_where_none_was_found():
    """With 0 matched and open trials the explanation mentions the open trials and no match."""
    searched = [open_count(k, Reason.SEARCHED) for k in range(2)]
    why = explained(estimate_of(*searched, engine="fsolve"))
    assert not any("a match" in text for text in why.known)
    assert "2 of 2 trials: a search found no real solution" in why.open
    assert "bounded from below only" in why.open


def verbs(why: Explained) -> list[str]:
    return [shlex.split(command)[1] for command, _ in why.commands]


def test_an_estimate_without_open_trials_suggests_more_trials():
    """With complete counts only chance is open: more trials make the interval shorter."""
    why = explained(estimate_of(*(counted(i, 2 * (i % 2)) for i in range(100))), "net.toml")
    assert any("50 have a match" in text for text in why.known)
    assert any("none is real" in text for text in why.known)
    assert "within that interval" in why.open
    assert why.commands[0][0].startswith("matchprob estimate net.toml --trials ")
    assert int(shlex.split(why.commands[0][0])[-1]) > 100


def test_trials_that_all_match_prove_nothing():
    """If every trial matches, MP = 1 does not follow: `certify` is suggested."""
    why = explained(estimate_of(*(counted(i) for i in range(10))))
    assert any("does not show that MP = 1" in text for text in why.known)
    assert "certify" in verbs(why)


def test_open_trials_name_the_reason_and_an_engine():
    """After a search without a match another engine is suggested, after a failure more time."""
    found = estimate_of(counted(0), open_count(1, Reason.SEARCHED), engine="fsolve")
    why = explained(found, shlex.quote("a b.toml"))
    assert "does not show that there is none" in why.open
    assert any("--engine homotopy" in c and "'a b.toml'" in c for c, _ in why.commands)
    failed = explained(estimate_of(counted(0), open_count(1, Reason.FAILED)))
    assert any("--trial-timeout" in c for c, _ in failed.commands)
    assert "complete count" in failed.decided_by


def test_no_engine_is_suggested_for_analytic_networks():
    """No engine counts their solutions completely: the explanation suggests none."""
    net = mp.FeedForward(q=5, widths=(3,), d=1, m=5, activation="tanh")
    learns = {"W1": [[1, 1, 0, 0, 0]] * 2 + [[0] * 5], "W2": [[1, 0, 0]]}
    found = mp.count(mp.Problem(net, learns), instances=4)
    assert any(c.status == UNDETERMINED for c in found.instances)
    for result in (found, mp.estimate(found.problem, 4)):
        why = explained(result)
        assert "no finite number" in why.decided_by
        assert not any("--engine" in command for command, _ in why.commands)


def test_more_weights_than_equations_leave_searches_open():
    """Solutions form families, so a search proves no absence: `certify` is suggested."""
    found = estimate_of(counted(0), open_count(1, Reason.SEARCHED), problem=MORE)
    why = explained(found)
    assert "families" in why.open
    assert verbs(why)[0] == "certify"


def test_partial_and_empty_estimates_suggest_their_command():
    """After an interrupt the command with all trials, and with the seed, is suggested."""
    why = explained(estimate_of(counted(0), counted(1, 0), requested=50))
    assert any("--trials 50" in c for c, _ in why.commands)
    empty = explained(Estimate(DIAGONAL, "homotopy", 3, (), 7))
    assert "no trial" in empty.open
    assert "--seed 3" in empty.commands[0][0]


def test_certified_estimates_give_the_verdict():
    """An estimate that a verdict settles explains MP = 1 or MP = 0 with its reason."""
    one = explained(mp.estimate(mp.Problem(NET, {"W": [[1, 1], [0, 0]]}), 5))
    assert "every generic instance has a real solution" in one.known[0]
    zero = explained(mp.estimate(mp.Problem(NET, {"W": [[1, 0], [0, 0]]}), 5))
    assert "too few directions" in zero.known[0]
    assert verbs(zero) == ["certify", "repair"]


def test_counts_explain_even_n_and_open_instances():
    """N is even: all solutions may be non-real; open instances have a reason and a suggestion."""
    found = CountResult(
        "exact", 0, 2, (counted(0), counted(1, 0), open_count(2, Reason.LOST)), requested=4,
        problem=DIAGONAL,
    )  # fmt: skip
    why = explained(found, "net.toml")
    assert "even" in why.known[0]
    assert any("1 of them has no real solution" in text for text in why.known)
    assert "1 of 3" in why.open
    assert any("--engine homotopy" in c for c, _ in why.commands)
    minimal = CountResult("exact", 0, 0, (counted(0, 0),), requested=1)
    assert "minimal" in explained(minimal).known[0]


def test_comparisons_explain_their_interval():
    """An interval that contains 0, one that excludes it, and a rate with only a lower bound."""
    a = estimate_of(*(counted(i, 2 * (i % 2)) for i in range(40)))
    b = estimate_of(*(counted(i, 2 * (i % 3 > 0)) for i in range(40)))
    why = explained(Comparison(a, b), "a.toml b.toml")
    assert "contains 0" in why.open
    assert why.commands[0][0] == "matchprob compare a.toml b.toml --trials 160"
    none = estimate_of(*(counted(i, 0) for i in range(40)))
    assert "first matches more often" in explained(Comparison(a, none)).known[-1]
    bound = estimate_of(counted(0), open_count(1, Reason.SEARCHED), engine="fsolve")
    assert "second only a lower bound" in explained(Comparison(a, bound)).open


def test_decisions_explain_witness_refutation_and_limit():
    """A decision in floating point is no proof; one without a result names its nodes."""
    found = mp.decide(RELU, 0)
    why = explained(found, "r.toml", {"decide": {"index": 0}})
    assert ("reproduce every label" in why.known[0]) == (found.verdict == "match")
    evidence = "matchprob decide r.toml --index 0 --out decision.json"
    assert why.commands[0][0] == f"{evidence} && matchprob verify decision.json"
    quick = explained(ReluDecision("no match", leaf_count=3), "r.toml")
    assert "not a proof" in quick.known[0]
    assert quick.open
    given_up = explained(ReluDecision("undetermined", nodes=7, note="given up after 7 nodes"))
    assert "7 nodes" in given_up.open
    assert given_up.decided_by


def test_designs_repairs_and_losses_are_explained():
    """An optimal design is said to be optimal, and MP = 1 to be open."""
    found = mp.design(mp.Problem(NET, {"W": [[1, 1], [1, 1]]}))
    why = explained(found, "free.toml")
    assert any("No allocation is better" in text for text in why.known)
    assert "MP = 1" in why.open
    assert why.commands[0][0] == (
        "matchprob design free.toml --write best.toml && matchprob certify best.toml"
    )
    done = explained(mp.repair(mp.Problem(NET, {"W": [[1, 0], [0, 0]]}), goal="positive"))
    assert "minimal" in done.known[0]
    lost = explained(mp.robust(mp.Problem(NET, {"W": [[1, 1], [1, 1]]})))
    assert any("MP > 0, proved" in text for text in lost.known)


TANH = mp.Problem(
    mp.RNN(n=3, T=2, b=1, d=1, m=3, activation="tanh"), {"W": [[1, 1, 1], [0, 0, 0], [0, 0, 0]]}
)


def test_refused_commands_are_not_suggested_for_activations():
    """For tanh there is no N: neither the goal "maximal" nor more time is suggested."""
    with pytest.raises(mp.InputError):
        mp.design(TANH, goal="maximal")
    why = explained(mp.design(TANH), "t.toml")
    assert [command for command, _ in why.commands] == [
        "matchprob design t.toml --write best.toml && matchprob certify best.toml"
    ]
    assert "complex solutions" not in why.decided_by
    assert any("--goal maximal" in c for c, _ in explained(mp.design(MORE), "m.toml").commands)
    why = explained(mp.identify(TANH), "t.toml")
    assert not why.commands
    assert "complex" not in why.decided_by
    assert "complex" not in explained(mp.record(TANH), "t.toml").decided_by


def test_more_time_is_suggested_after_a_time_limit():
    """It is not suggested for a system that is too large, nor if all methods were tried."""
    rows = (np.random.default_rng(0).random((60, 60)) < 0.05).astype(int)
    large = mp.Problem(mp.LinearRNN(n=60, T=6, b=10, d=5, m=100), {"W": rows})
    found = mp.identify(large)
    assert "for so many unknowns" in found.unknown
    assert not found.out_of_time
    assert not explained(found, "l.toml").commands
    short = replace(mp.identify(DIAGONAL), alternatives=None, out_of_time=True)
    assert any("--timeout 600" in c for c, _ in explained(short, "d.toml").commands)
    net = mp.LinearRNN(n=3, T=3, b=1, d=1, m=2)
    spare = mp.Problem(net, {"W": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]})
    tried = mp.certify(spare, search=0)
    assert (tried.verdict, tried.out_of_time) == ("undecided", False)
    assert not any("--timeout" in c for c, _ in explained(tried, "s.toml").commands)
    cut = replace(tried, out_of_time=True)
    assert any("--timeout 600" in c for c, _ in explained(cut, "s.toml").commands)


def test_identification_and_structure_are_explained():
    """`identify` states complex matches or a fibre's dimension, `inspect` a Bézout number."""
    why = explained(mp.identify(DIAGONAL), "d.toml")
    assert any("2 complex matches" in text for text in why.known)
    free = explained(mp.identify(mp.Problem(NET, {"W": [[1, 1], [1, 1]]})))
    assert "dimension 2" in free.known[0]
    assert "fewer learnable weights (at most 2)" in free.decided_by
    assert "Bézout" in explained(mp.inspect(DIAGONAL)).known[0]
    minimal = mp.inspect(mp.Problem(NET, {"W": [[1, 0], [0, 0]], "D": [[1, 1]]}))
    assert explained(minimal).commands


def test_a_result_without_a_verdict_has_nothing_to_explain():
    """The explanation of such a result is empty."""

    class Other(Result):
        def document(self):
            return Document("nothing")

    assert Other().explain() == Explanation()
    assert Other().explanation == ()


@pytest.mark.parametrize(
    "line",
    [
        "inspect net.toml",
        "certify net.toml",
        "count net.toml --instances 2 --engine exact",
        "estimate net.toml --trials 4",
        "compare net.toml net.toml --trials 3",
        "identify net.toml",
        "design net.toml",
        "robust net.toml",
        "decide relu.toml",
        "profile net.toml --trials 4",
        "train net.toml --trials 4 --steps 20",
        "audit net.toml --count 3",
        "atlas net.toml --budget 1 --search 0",
        "verify net.json",
        "repair net.toml --goal maximal --seconds 1",
        "construct net.npz",
        "construct net.npz --skip 1",
    ],
)
def test_json_has_the_sentences(line, tmp_path, monkeypatch, capsys):
    """`explanation` is a list of sentences; suggested commands name the user's file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.toml").write_text(DIAGONAL.to_toml())
    (tmp_path / "relu.toml").write_text(RELU.to_toml())
    if "net.json" in line:
        (tmp_path / "net.json").write_text(mp.certify(DIAGONAL).to_json())
    np.savez(tmp_path / "net.npz", W1=np.eye(2), b1=np.zeros(2))
    app([*line.split(), "--json"], standalone_mode=False)
    sentences = json.loads(capsys.readouterr().out)["explanation"]
    assert sentences
    assert all(isinstance(text, str) for text in sentences)
    tries = [text for text in sentences if text.startswith("Try: ")]
    assert not tries or any(line.split()[1] in text for text in tries)


def test_count_with_solutions_does_not_suggest_itself(tmp_path, monkeypatch, capsys):
    """`count` suggests `--solutions` only if it was not given."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.toml").write_text(DIAGONAL.to_toml())
    for given, suggested in ([], True), (["--solutions"], False):
        line = ["count", "net.toml", "--instances", "3", "--engine", "exact", *given, "--json"]
        app(line, standalone_mode=False)
        sentences = json.loads(capsys.readouterr().out)["explanation"]
        assert any("--solutions" in text for text in sentences) == suggested


def commands_after(capsys, *line):
    """The commands that a call suggests."""
    app([*map(str, line), "--json"], standalone_mode=False)
    sentences = json.loads(capsys.readouterr().out)["explanation"]
    return [text[5:].split("   (")[0] for text in sentences if text.startswith("Try: ")]


CONVNET = "examples/data/convnet.onnx"
SMALL_MODEL = "tests/data/models/mlp.onnx"


@pytest.mark.parametrize(
    ("line", "absent", "present"),
    [
        (["capacity", CONVNET, "--learn", "*.bias", "--needed", "100"], "--lora", "--learn all"),
        (["capacity", SMALL_MODEL, "--learn", "all", "--needed", "2"], "--lora", "--plot"),
        (["capacity", CONVNET, "--learn", "*.bias", "--plot", "{}/c.png"], "--plot", "--lora 1,2"),
        (
            ["design", "{}/net.toml", "--among", "all", "--goal", "maximal"],
            "rank",
            "--among all --goal",
        ),
        (["design", "{}/net.toml", "--write", "{}/my.toml"], "best.toml", "certify {}/my.toml"),
        (["repair", "{}/net.toml", "--write", "{}/my.toml"], "mended.toml", "certify {}/my.toml"),
        (["certify", "{}/net.toml", "--out", "{}/c.json"], "--out", "estimate {}/net.toml"),
        (["estimate", "{}/net.toml", "--trials", "9", "--store", "{}/s"], "--trials 9 ", "--store"),
        (["inspect", "{}/net.toml", "--core"], "--core", "certify"),
    ],
)
def test_advice_is_never_the_call_itself(line, absent, present, tmp_path, capsys):
    """A step repeats the options of the call, asks for more than it did, and names its files."""
    (tmp_path / "net.toml").write_text(DIAGONAL.to_toml())
    found = commands_after(capsys, *(word.replace("{}", str(tmp_path)) for word in line))
    assert any(present.replace("{}", str(tmp_path)) in text for text in found), found
    assert not any(absent in text + " " for text in found), found


def test_a_design_in_the_read_out_alone_says_so():
    """If all weights of a design are in the read-out, the goal that spreads them is offered."""
    net = mp.LinearRNN(n=4, T=2, b=2, d=1, m=2)
    why = explained(mp.design(mp.Problem(net, {"D": "all"})))
    assert any("in D, the read-out" in text for text in why.known)
    assert any("--goal spread" in command for command, _ in why.commands)
    both = explained(mp.design(mp.Problem(net, {}), among="all", goal="spread"))
    assert not any("--goal spread" in command for command, _ in both.commands)


def test_nothing_learns_and_nothing_to_repair(tmp_path, capsys):
    """Masks of zeros are named on stderr; a tanh net that is not minimal needs no repair."""
    path = tmp_path / "none.toml"
    path.write_text(mp.Problem(NET, {"W": [[0, 0], [0, 0]]}).to_toml())
    app(["certify", str(path)], standalone_mode=False)
    assert "no weight learns" in capsys.readouterr().err
    assert mp.repair(TANH).document().title == "nothing to repair: MP > 0"
    refuses("'positive'", mp.repair, TANH, goal="maximal")


def test_what_is_sure_is_said_without_a_probability():
    """That nothing is cheaper is "proved" where the bound of the error is 0."""
    found = mp.record(DIAGONAL, "entries")
    assert found.is_optimal
    assert found.cost
    sure = " ".join(replace(found, error=0).explanation)
    assert "none of cost below 2 exists, proved" in sure
    assert "probability at most" in " ".join(replace(found, error=Fraction(1, 4)).explanation)


def test_verifications_explain_failures_and_limits():
    """A failed check is named with its place; after a limit more time is suggested."""
    held = mp.verify(mp.certify(DIAGONAL))
    assert "checked again" in explained(held).known[0]
    bad = Verification("minimal", (Check("rank", FAILED, "it is 3"),))
    assert "rank: it is 3" in explained(bad).known[0]
    assert "certify" in verbs(explained(bad))
    cut = Verification("minimal", (Check("rank", UNFINISHED, "the time limit is over"),))
    assert "unfinished: " in explained(cut, "c.json").open
    assert explained(cut, "c.json").commands[0][0] == "matchprob verify c.json --timeout 3600"


def test_constructions_are_explained():
    """A construction is exact, within a proved bound, impossible with a proof, or not found."""
    target = [[[1, 2], [3, 4]]]
    assert "for every input" in explained(mp.construct(target, exact=True)).known[0]
    near = explained(mp.construct(target), "t.npz")
    assert "proved" in near.known[0]
    assert near.commands[0][0] == "matchprob construct t.npz --exact"
    met = refuses("", mp.construct, target, width=2, exact=True, error=Unreachable)
    why = explain_unreachable(met.obstruction)
    assert "do not realize the target" in why.known[0]
    deep = [[[1, 2], [3, 4]], [[1, 2], [3, 5]]]
    near = explained(mp.construct(deep, width=[3, 1]))
    assert "second_scales" in near.known[-1]
    assert "other scales" in near.open
    narrow = refuses("", mp.construct, deep, width=[4, 1], exact=True, error=TooNarrow)
    assert "rank 2" in explain_narrow(narrow.obstruction).known[0]
    wide = [[[1, 2, 3], [3, 4, -1], [2, -1, 1]], [[1, 2, -1], [3, 5, 1], [2, 1, 4]]]
    for options, words in (
        ({}, "not proved"),
        ({"second_scales": True}, "no order and no positive scales"),
    ):
        with pytest.raises(NotRealized) as open_case:
            mp.construct(wide, width=[9, 4], exact=True, **options)
        known = explain_not_realized(open_case.value)
        assert words in known.known[0]
        assert known.open


def test_profiles_and_training_are_explained():
    """A profile states the median bound and the ranking; training states what was counted."""
    profile = explained(mp.profile(DIAGONAL, trials=20), "d.toml")
    assert any("at most" in text and "half have one" in text for text in profile.known)
    assert "within that band" in profile.open
    two = explained(mp.profile(DIAGONAL, DIAGONAL, trials=8), "d.toml d.toml")
    assert any("No change of the ranking" in text for text in two.known)
    trained = mp.train(DIAGONAL, 8, steps=2)
    why = explained(trained, "d.toml")
    assert "counted, not trained" in why.known[0]
    assert any("--restarts" in command for command, _ in why.commands)


def test_a_surplus_of_weights_does_not_mean_mp_0():
    """`inspect` of four weights in two equations names a violation, but not "MP = 0"."""
    net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    over = mp.inspect(mp.Problem(net, {"W": "all"}))
    assert over.violations
    text = " ".join(over.explanation)
    assert "MP = 0" not in text
    assert "at most 2 independent directions" in text
    assert mp.certify(mp.Problem(net, {"W": "all"})).verdict == "maximal"
    wide = mp.LinearEstimator(q=3, d=2, m=2)
    short = mp.inspect(mp.Problem(wide, {"W": [[0, 0, 1], [1, 1, 1]]}))
    assert "at most 3 independent directions" in " ".join(short.explanation)


def test_recordings_are_explained():
    """A match is locally unique, weights stay free, or the search was stopped by the time limit."""
    net = mp.RNN(n=3, T=2, b=1, d=1, m=2, activation="tanh")
    problem = mp.Problem(net, {"W": [[1, 0, 1], [0, 1, 1], [0, 1, 0]]})
    why = explained(mp.record(problem, "units"), "p.toml")
    assert "the match is locally unique" in why.known[0]
    assert any("No cheaper recording determines as much" in text for text in why.known)
    few = explained(mp.record(problem), "p.toml")
    assert "5 weights stay free" in few.known[0]
    assert [command for command, _ in few.commands] == [
        "matchprob record p.toml --what outputs --what units",
        "matchprob record p.toml --what outputs --what times",
        "matchprob record p.toml --what outputs --target weights --noise 0.1",
    ]
    stopped = explained(replace(mp.record(problem, "units"), bound=0), "p.toml")
    assert "between 0 and" in stopped.open
    assert stopped.commands[0][0].endswith("--what units --seconds 600")


def test_inspect_suggests_core_unless_it_was_given():
    """Without `--core` the explanation of `inspect` suggests it."""
    found = mp.inspect(DIAGONAL)
    assert any("--core" in command for command, _ in explained(found).commands)
    shown = explained(found, own={"inspect": {"core": True}})
    assert not any("--core" in command for command, _ in shown.commands)
    assert shown.known == explained(found).known
