"""The survey of minimal allocations, activation by activation."""

from matchprob.plugins.papers.figures import FIGURES, Run, figures


def test_what_carries_over(tmp_path):
    """Linear nets have all minimal allocations that the theorems claim; tanh nets few of them."""
    figures()
    run = Run(5, 0, tmp_path / "s.sqlite", 1, 0, lambda text: None)
    made = FIGURES["activations"].compute(run)
    by_kind = {}
    for row in made.rows:
        total = by_kind.setdefault(row["activation"], [0, 0, 0])
        total[0] += row["minimal"]
        total[1] += row["theorems say minimal"]
        total[2] += row["and it is"]
    assert by_kind["linear"][1] == by_kind["linear"][2] > by_kind["tanh"][2]
    assert by_kind["linear"][0] > by_kind["square"][0] >= by_kind["tanh"][0]
    assert "tanh" in made.text
