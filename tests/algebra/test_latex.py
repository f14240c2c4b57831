"""Tables in LaTeX: the cells of a data frame, escaped, without another library."""

import re
import sys
from fractions import Fraction

import numpy as np
import pytest

import matchprob as mp
from algebra.latex import latex_table
from tests.samples import NET, ROW


def _cells(text):
    """The cells of each line, read back."""
    body = text.split(r"\toprule")[1].split(r"\bottomrule")[0].replace(r"\midrule", "")
    lines = [line.strip().removesuffix("\\\\").strip() for line in body.strip().splitlines()]
    rows = [re.split(r"(?<!\\) ?& ?", line) for line in lines if line]
    plain = {r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~"}
    out = []
    for row in rows:
        cells = []
        for cell in row:
            for word, letter in plain.items():
                cell = cell.replace(word, letter)
            cells.append(re.sub(r"\\([&%$#_{}])", r"\1", cell.removeprefix("{}")).strip())
        out.append(cells)
    return out


def test_letters_with_a_meaning_are_escaped():
    """Read back, every cell is the text that was written; brackets begin no option."""
    words = [r"a_b & 50% $x^2$ #1 {y} ~ \z", "[0, 1]"]
    text = latex_table({"what_is": words, "none": [None, "1"]})
    assert _cells(text) == [["what_is", "none"], [words[0], ""], ["[0, 1]", "1"]]
    assert "\n{}[0, 1]" in text


def test_numbers_are_aligned_and_rounded():
    """Integers and fractions are exact; other real numbers have four digits."""
    columns = {"n": [3, None], "q": [Fraction(1, 3), 2], "p": [np.float64(0.123456), 1e-9]}
    text = latex_table(columns)
    assert text.startswith(r"\begin{tabular}{rrr}")
    assert _cells(text)[1:] == [["3", "1/3", "0.1235"], ["", "2", "1e-09"]]
    assert latex_table({"holds": [True], "word": ["x"]}).startswith(r"\begin{tabular}{ll}")


@pytest.mark.parametrize("library", [True, False])
def test_atlas_and_sweep(monkeypatch, tmp_path, library):
    """Each line is one of the data frame; without pandas it is the same text."""
    if not library:
        for name in ("pandas", "polars", "jinja2"):
            monkeypatch.setitem(sys.modules, name, None)
    atlas = mp.atlas(mp.Problem(NET, {}), 2)
    found = _cells(atlas.to_latex())
    assert found[0] == list(atlas.columns())
    assert len(found) == len(atlas.entries) + 1
    assert {row[2] for row in found[1:]} == {entry.verdict for entry in atlas.entries}
    path = tmp_path / "row.toml"
    path.write_text(ROW.to_toml())
    swept = mp.estimate(path, trials=4, sweep="T=2,3")
    rows = _cells(swept.to_latex())
    assert [row[0] for row in rows] == ["T", "2", "3"]
    assert [row[1] for row in rows[1:]] == ["1", "1"]
