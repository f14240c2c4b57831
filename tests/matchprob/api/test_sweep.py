"""Estimates for several values of one entry of a problem file."""

import matchprob as mp
from matchprob.cli import app, run_command
from tests.refusals import refuses
from tests.samples import DIAGONAL

LAWS = "distribution.weights=normal,uniform"


def test_each_value_has_the_estimate_of_its_problem(tmp_path):
    """The same trials as one by one; one store keeps all, and a picture shows them."""
    found = mp.estimate(DIAGONAL, 30, seed=2, sweep=LAWS, store=tmp_path / "trials.sqlite")
    uniform = mp.Problem(
        DIAGONAL.network, DIAGONAL.learnable, distribution=mp.Distribution(weights="uniform")
    )
    alone = [mp.estimate(problem, 30, seed=2).matched for problem in (DIAGONAL, uniform)]
    assert [own.matched for own in found.estimates] == alone
    assert found.columns()["distribution.weights"] == ["normal", "uniform"]
    assert not found.is_partial
    assert "uniform" in str(found)
    assert found.plot() is not None
    again = mp.estimate(DIAGONAL, 30, seed=2, sweep=LAWS, store=tmp_path / "trials.sqlite")
    assert again.to_dict() == found.to_dict()
    with mp.Store(tmp_path / "trials.sqlite") as store:
        assert len(store.studies()) == 2


def test_a_limit_of_time():
    """The values that were finished stay, and the rest is said to be missing."""
    found = mp.estimate(DIAGONAL, 100_000, sweep="m=2,3", timeout=0.5)
    assert found.is_partial
    assert len(found.estimates) <= 2


def _status(*words):
    return run_command(lambda: app([str(word) for word in words], standalone_mode=False))


def test_on_the_command_line(capsys, tmp_path):
    """A table of values; an entry that does not exist is refused by its name."""
    path = tmp_path / "diagonal.toml"
    path.write_text(
        '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
        "[learnable]\nW = [[1, 0], [0, 1]]\n",
        encoding="utf-8",
    )
    assert _status("estimate", path, "--trials", 5, "--sweep", "d=1,2") == 0
    assert "2 values of d" in capsys.readouterr().out
    assert _status("estimate", path, "--sweep", "q=1,2") == 2
    assert "no entry `q`" in capsys.readouterr().err
    refuses("`sweep`", mp.estimate, DIAGONAL, 5, sweep="m")
