"""The demo: the six allocations, as the paper's section B.1.1 has them."""

from matchprob import demo
from tests.numeric.engines.test_phcpy import need_phcpy


def test_the_six_allocations(tmp_path, capsys):
    """Rows and columns certified maximal, the diagonals estimated, a picture on disk."""
    need_phcpy()
    picture = tmp_path / "demo.png"
    assert demo.main(["--trials", "150", "--picture", str(picture)]) == 0
    out = capsys.readouterr().out
    assert out.count("1, certified") == 4
    assert out.count("intermediate") == 2
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_names():
    """Six different allocations of two weights."""
    found = demo.six_allocations()
    assert len({problem.allocation for _, problem in found}) == 6
    assert [name for name, _ in found][-2:] == ["diagonal", "off-diagonal"]


def test_interval_holds_the_closed_form():
    """MP of the diagonals by the discriminant, from 200,000 draws, lies in the interval."""
    import numpy as np

    from matchprob.api.estimate import estimate

    need_phcpy()
    rng = np.random.default_rng(5)
    n = 200_000
    s = np.sqrt(0.5)
    W, V = rng.standard_normal((2, n, 2, 2)) * s
    D, E = rng.standard_normal((2, n, 2)) * s
    B, C = rng.standard_normal((2, n, 2))
    A1 = np.einsum("ni,nij,nj->n", E, V, C)
    A2 = np.einsum("ni,nij,njk,nk->n", E, V, V, C)
    share = {}
    for name, ((i, j), (k, c)) in {
        "diagonal": ((0, 0), (1, 1)), "off-diagonal": ((0, 1), (1, 0)),
    }.items():  # fmt: skip

        def labels(x, y, cells=((i, j), (k, c))):
            student = W.copy()
            for (row, column), value in zip(cells, (x, y), strict=True):
                student[:, row, column] = value
            h = np.einsum("nij,nj->ni", student, B)
            return (
                np.einsum("ni,ni->n", D, h) - A1,
                np.einsum("ni,nij,nj->n", D, student, h) - A2,
            )

        zero, one = np.zeros(n), np.ones(n)
        base = labels(zero, zero)[0]
        dx, dy = labels(one, zero)[0] - base, labels(zero, one)[0] - base
        values = [labels(x * one, -(base + dx * x) / dy)[1] for x in (-1.0, 0.0, 1.0)]
        c = values[1]
        a, b = (values[2] + values[0]) / 2 - c, (values[2] - values[0]) / 2
        share[name] = float(np.mean(b * b >= 4 * a * c))
    for name, problem in demo.six_allocations()[-2:]:
        interval = estimate(problem, 1000, seed=11, confidence=0.999).interval()
        assert interval.low < share[name] < interval.high
