"""The demo: the six allocations of the paper's section B.1.1."""

from matchprob import demo
from tests.numeric.engines.phcpy.test_engine import need_phcpy


def test_the_six_allocations(tmp_path, capsys):
    """Rows and columns are certified maximal, diagonals are estimated, a picture is written."""
    need_phcpy()
    picture = tmp_path / "demo.png"
    assert demo.main(["--trials", "150", "--picture", str(picture)]) == 0
    out = capsys.readouterr().out
    assert out.count("1, certified") == 4
    assert out.count("intermediate") == 2
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_six_different_allocations_have_names():
    """The allocations differ, and the last two are the diagonals."""
    found = demo.six_allocations()
    assert len({problem.allocation for _, problem in found}) == 6
    assert [name for name, _ in found][-2:] == ["diagonal", "off-diagonal"]
