"""The figure of section B.1.1 compared with the paper's numbers."""

import json

import numpy as np
from matchprob.plugins.papers.figures.papers.paper1_small_nets import judgement

from benchmarks.closed_form_b11 import CELLS, matches
from matchprob.cli import app, run_command
from matchprob.plugins.papers.figures.papers import paper1_small_nets as figure
from numeric.statistics.estimate import Estimate
from numeric.trials.counts import COMPLETE, InstanceCount
from tests.samples import DIAGONAL


def share(matched, trials):
    """An estimate with the given number of matches."""
    counts = tuple(InstanceCount(k, 2 * (k < matched), 2, COMPLETE) for k in range(trials))
    return Estimate(DIAGONAL, "homotopy", 0, counts, trials)


def test_both_errors():
    """The paper's number is compared with the true value, with its possible trials; ours too."""
    text = judgement("diagonal", share(14372, 20000))
    assert "holds" in text or "misses" in text
    assert "if it rests on at most" in text
    assert "does not say" in text
    text = judgement("off-diagonal", share(3376, 4000))
    assert "misses, as one interval in twenty does" in text
    assert "is the true value to its two digits" in text
    assert judgement("row 0", share(1, 1)) == "."


def test_the_true_values_are_the_closed_form_s():
    """Two hundred thousand draws by the discriminant agree within five standard errors."""
    rng = np.random.default_rng(3)
    for name, cells in CELLS.items():
        found = matches(cells, 200_000, rng) / 200_000
        assert abs(found - figure._TRUE[name]) < 5 * 0.5 / np.sqrt(200_000)


def test_figure(tmp_path, capsys):
    """Certified allocations have no interval; the others are judged."""
    words = ["reproduce", "b11", "--trials", "40", "--out", str(tmp_path), "--json"]
    assert run_command(lambda: app(words, standalone_mode=False)) == 0
    points = {p["curve"]: p for p in json.loads(capsys.readouterr().out)["points"]}
    assert (points["row 0"]["low"], points["row 0"]["high"]) == (1, 1)
    text = (tmp_path / "b11.md").read_text()
    assert text.count("certified maximal, MP = 1.") == 4
    assert text.count("which it does not say") == 1
