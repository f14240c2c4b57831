"""Texts of any encoding and separator, workbooks, compressed files, matrices of MATLAB."""

import gzip
import zipfile

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from algebra.files.opening import FileLimits
from algebra.problems import sheets
from algebra.problems.headers import is_header, types_of
from algebra.problems.names import Names
from algebra.problems.sheets import bytes_of, table_of_text, text_of
from matchprob import LinearRNN, read_edges
from tests.refusals import refuses

TEXT = "pre;post\nMüller;B\n"
NAMES = Names(LinearRNN(n=2, T=2, b=1, d=1, m=2), {"neurons": ["A", "B"]})


@pytest.mark.parametrize("name", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_that_say_so_are_read(name):
    """UTF-8, and UTF-16 and UTF-32 with a byte order mark."""
    assert text_of(TEXT.encode(name)) == TEXT


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (TEXT.encode("latin-1"), "row 2 is not UTF-8 .byte fc.; as Latin-1 it reads 'Müller;B'"),
        (TEXT.encode("utf-16-le"), "without a byte order mark"),
        (b"\xff\xfe\x41", "begins as UTF-16"),
        (b"a,b\n\0\xff\n", "NUL"),
        (gzip.compress(b"a", mtime=0), "let its name end in .gz"),
        (b"PK\x03\x04", "name it .xlsx"),
        (b"\xd0\xcf\x11\xe0", "save it as .xlsx"),
        (b"PAR1", "Parquet"),
        (b"\x89HDF\r\n", "HDF5"),
    ],
)
def test_other_contents_are_named(data, words):
    """Another encoding with its row and byte; another format by its name."""
    refuses(words, text_of, data)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("pre post\tw\nA\tB 3\n", " "), ("pre\tpost\nAVA L\tB\n", "\t"),
        ("3,5;1,2\n4,0;2,5\n", ";"),
        ("pre,post\nA,x;y\n", ","), ("A|B\nB|C\n", "|"), ("0, 1\n1, 0\n", ","), ("A\nB\n", ","),
    ],
)  # fmt: skip
def test_separators(text, mark):
    """The one with which all lines have equally many cells, and the header is one."""
    assert table_of_text(text, is_header).mark == mark


@pytest.mark.parametrize(
    ("text", "cell", "number"),
    [
        ("A;3,5\n", "3,5", "3.5"), ("A;1,250\n", "1,250", "1.250"), ("A\t3,5\n", "3,5", "3.5"),
        ("A\t1,250\n", "1,250", "1,250"), ("A;3,5\nB;1.250\n", "3,5", "3,5"),
        ('A,"3,5"\n', "3,5", "3,5"), ("A;B\n", "B", "B"),
    ],
)  # fmt: skip
def test_decimal_commas(text, cell, number):
    """A comma is a decimal point unless it may group thousands, or separates cells."""
    assert table_of_text(text).number(cell) == number


def test_a_bomb_is_refused_before_it_is_expanded(tmp_path, monkeypatch):
    """A compressed text or a workbook of more bytes than the limit, a matrix of more entries."""
    monkeypatch.setattr(sheets, "FILE_LIMITS", FileLimits(table=10**5))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"A,B\n" * 10**6))
    refuses("MiB of text", bytes_of, tmp_path / "b.csv.gz")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"A,B\n" * 100)[:-9])
    refuses("no complete gzip file", bytes_of, tmp_path / "b.csv.gz")
    monkeypatch.setattr(sheets, "MOST_CELLS", 10)
    savemat(tmp_path / "b.mat", {"W": np.ones((4, 4))})
    refuses("more than 10 entries", read_edges, tmp_path / "b.mat", rows="pre")
    pytest.importorskip("openpyxl")
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/sheet.xml", b"0" * 10**6)
    refuses("its parts have", read_edges, tmp_path / "b.xlsx")


def test_a_matrix_of_matlab(tmp_path):
    """Dense, sparse, with a cell array of names, one of several variables; others are named."""
    path = tmp_path / "m.mat"
    counts = np.array([[0, 2], [1, 0]])
    for form in (counts, sparse.csc_array(counts.astype(np.double)), counts.astype(np.uint8)):
        savemat(path, {"W": form, "names": np.array(["A", "B"], object)[:, None]})
        found = read_edges(path, rows="pre").cells(NAMES, "W")
        assert found == {(1, 0): "2", (0, 1): "1"} or found == {(1, 0): "2.0", (0, 1): "1.0"}
    savemat(path, {"W": counts, "V": counts.T, "x": 3})
    refuses("has the matrices W, V: choose one", read_edges, path, rows="pre")
    refuses("`variable` .'U'. is none", read_edges, path, rows="pre", variable="U")
    chosen = read_edges(path, rows="pre", variable="V")
    assert chosen.cells(Names(NAMES.network), "W")[1, 0].startswith("1")
    savemat(path, {"x": 3})
    refuses("no matrix of numbers", read_edges, path, rows="pre")
    path.write_bytes(b"MATLAB 7.3 MAT-file" + b" " * 200)
    refuses("save it with -v7", read_edges, path, rows="pre")


def test_sheets_of_a_workbook(tmp_path):
    """The only sheet with cells, or a chosen one; a matrix below and beside groups of units."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["pre", "post", "weight"])
    book.active.append(["A", "B", 2.5])
    book.create_sheet("empty")
    path = tmp_path / "b.xlsx"
    book.save(path)
    assert read_edges(path).cells(NAMES, "W") == {(1, 0): "2.5"}
    matrix = book.create_sheet("counts")
    for row in (
        [None, None, None, "SENSORY"], [None, None, None, "A", "B", None],
        ["SENSORY", None, "A", None, 3, 3], [None, None, "B", 1, None, 1],
        [None, None, None, 1, 3, 4],
    ):  # fmt: skip
        matrix.append(row)
    book.save(path)
    refuses("it has the sheets Sheet, counts: choose one", read_edges, path)
    refuses("`sheet` .'x'. is none of its sheets", read_edges, path, sheet="x")
    found = read_edges(path, sheet="counts", rows="pre").cells(NAMES, "W")
    assert found == {(1, 0): "3", (0, 1): "1"}
    (tmp_path / "x.xlsx").write_bytes(b"pre,post\n")
    refuses("no workbook", read_edges, tmp_path / "x.xlsx")


def test_abbreviations_of_types_need_their_like():
    """E beside S and EJ is electrical; E beside I is a word of its own."""
    assert types_of(["E", "S", "NMJ"])["e"] == "electrical"
    assert types_of(["E", "I"]) == {"e": "e", "i": "i"}
