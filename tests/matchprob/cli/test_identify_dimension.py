"""The verb dimension on the command line."""

import matchprob as mp

NET = """[network]
kind = "ffn"
q = 5
widths = [5, 3]
d = 1
activation = { polynomial = [0, 0, 1] }
"""


def test_json_and_proof(tmp_path, answer):
    """The contract's keys, without m in the file; the proof verifies."""
    path, proof = tmp_path / "n.toml", tmp_path / "proof.json"
    path.write_text(NET)
    data = answer("dimension", path, "--out", proof)
    keys = ("dimension", "expected", "ambient", "defect", "filling")
    assert [data[key] for key in keys] == [32, 35, 70, 3, False]
    assert mp.verify(proof).holds


def test_text_and_picture(tmp_path, printed):
    """One line with the dimension, and the smallest filling widths."""
    path, picture = tmp_path / "n.toml", tmp_path / "n.svg"
    path.write_text(NET.replace("q = 5", "q = 2"))
    out = printed("dimension", path, "--filling", "--most-width", "3", "--plot", picture)
    assert "dimension 5 of 5, 5 expected, defect 0, filling" in " ".join(out.split())
    assert "smallest filling widths 2, 2" in " ".join(out.split())
    assert picture.exists()


def test_bad_input_is_one_line(complaint, file):
    """A file without a network, filling widths of a kind that has none: status 2."""
    path = file("[learnable]\n", "n.toml")
    assert complaint("dimension", path).count("\n") == 1
    path.write_text('[network]\nkind = "relu"\nq = 2\nn = 2\nd = 1\n')
    err = complaint("dimension", path, "--filling")
    assert err.count("\n") == 1
    assert "shallow ReLU" in err
