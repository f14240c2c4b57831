"""Arrays of NumPy and SciPy in files: read whole, or refused before they do harm."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from algebra.files.arrays import (
    coordinates_of,
    dense,
    read_array,
    read_arrays,
    read_sparse,
)
from algebra.files.opening import FILE_LIMITS
from matchprob import LinearRNN, Problem, load_problem
from tests.array_attacks import FORMATS, bomb, members_of, npy, with_header, zipped
from tests.attacks import attacked
from tests.refusals import refuses
from tests.samples import many

HOSTILE = Path(__file__).parents[2] / "data" / "hostile"
NET = LinearRNN(n=2, T=2, b=1, d=1, m=2)


@pytest.mark.parametrize("word", FORMATS)
@given(
    table=st.lists(
        st.lists(st.sampled_from([0, 0, 1, -2]), min_size=4, max_size=4), min_size=2, max_size=6
    )
)
def test_sparse_matrices_are_those_of_scipy(word, table, tmp_path_factory):
    """What SciPy writes is read as the same matrix, in each format."""
    path = tmp_path_factory.getbasetemp() / f"{word}.npz"
    matrix = sparse.csr_array(np.array(table)).asformat(word)
    sparse.save_npz(path, matrix)
    assert (read_sparse(path).toarray() == table).all()
    assert (dense(matrix) == table).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("type", ["<f8", ">f8", ">i4", "|b1", "<f2", "<u8"])
def test_arrays_are_those_of_numpy(order, type, tmp_path):
    """What NumPy writes is read as the same array, in the machine's order of bytes."""
    array = np.array([[0, 1, 1], [1, 0, 1]], dtype=type, order=order)
    np.save(tmp_path / "a.npy", array)
    found = read_array(tmp_path / "a.npy")
    assert found.dtype.isnative
    assert (found == array).all()
    np.savez_compressed(tmp_path / "a.npz", W=array, b=array[0])
    assert (read_arrays(tmp_path / "a.npz")["W"] == array).all()


def _sparse(word="csr", **changes):
    """A sparse matrix in a file, with some of its arrays replaced (None: left out)."""
    parts = members_of(sparse.csr_array(np.eye(2)).asformat(word)) | changes
    return zipped([(k, npy(v, allow_pickle=True)) for k, v in parts.items() if v is not None])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_sparse(indices=np.array([0, 2])), r"`indices` holds 2, and its axis has 2 places"),
        (_sparse(indices=np.array([0, -1])), r"`indices` holds -1"),
        (_sparse("coo", row=np.array([0, 2**40])), r"`row` holds 1099511627776"),
        (_sparse(indptr=np.array([0, 3, 2])), r"`indptr` does not rise from 0 to"),
        (_sparse(indptr=np.array([1, 1, 2])), r"`indptr` does not rise from 0 to"),
        (_sparse(indptr=np.array([0, 2])), r"`indptr` has 2 numbers for 2 lines, not 3"),
        (_sparse(indices=np.array([0.0, 1.0])), r"`indices` is no list of integers"),
        (_sparse("bsr", data=np.zeros((2, 0, 1))), r"blocks of 0×1 do not fill 2×2"),
        (_sparse("dia", offsets=np.array([0, 0])), r"diagonals have the `offsets`"),
        (_sparse(shape=np.array([-2, 2])), r"the shape of a matrix is two sizes"),
        (_sparse(shape=np.array([2, 2, 2])), r"the shape of a matrix is two sizes"),
        (_sparse(data=np.array([{}, {}])), r"`data`: its entries are no numbers but dtype\('O'\)"),
        (_sparse(data=np.array([1j, 1])), r"its entries are no numbers of up to 64 bits"),
        (_sparse(format=np.array(b"lil")), r"of the format 'lil'; read are csr"),
        (_sparse(format=None), r"not the parts of a sparse matrix"),
        (_sparse(indptr=None), r"of the format csr without its `indptr`"),
        (_sparse()[:-30], r"no whole \.npz archive"),
        (zipped([("data", npy([1]))] * 2), r"two arrays `data`"),
        (lambda: bomb(FILE_LIMITS.array + (1 << 20)), r"inflates to 129 MiB; up to 128 MiB are"),
        (b"PK\x03\x04", r"no whole \.npz archive"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_sparse_matrix_is_said(content, words, tmp_path):
    """The array at fault is named, and SciPy never sees it."""
    path = tmp_path / "W.npz"
    path.write_bytes(content() if callable(content) else content)
    refuses(words, read_sparse, path)
    (tmp_path / "p.toml").write_text(
        '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n[learnable]\nW = "W.npz"\n'
    )
    refuses(r"p\.toml: `learnable\.W`: .*W\.npz", load_problem, tmp_path / "p.toml")


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ("(-2, -2)", r"the shape \(-2, -2\)"),
        ("(2, 4611686018427387904)", r"has 73,786,976,294,838,206,464 bytes, and 32 are there"),
        ("(5,)", r"has 40 bytes, and 32 are there"),
        ("(2.0, 2)", r"no whole \.npy file|the shape"),
        ("(" + "1, " * 12 + "4)", r"up to 8 axes"),
    ],
)
def test_headers_are_compared_with_what_follows(shape, words, tmp_path):
    """Sizes that are negative, or not those of the bytes that are there, are refused."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    (tmp_path / "a.npy").write_bytes(with_header(text, bytes(32)))
    refuses(words, read_array, tmp_path / "a.npy")


def test_archives_that_lie_about_their_size(tmp_path):
    """A member that inflates to more than the archive announces is refused, and not kept."""
    data = bytearray(zipped([("data", npy(np.zeros(1000)))], zipfile.ZIP_DEFLATED))
    real = len(npy(np.zeros(1000))).to_bytes(4, "little")
    (tmp_path / "a.npz").write_bytes(bytes(data).replace(real, (200).to_bytes(4, "little")))
    refuses(r"longer than it says|no whole \.npz", read_arrays, tmp_path / "a.npz")


def test_sparse_matrices_of_callers_are_checked(tmp_path):
    """A matrix that was changed in place after SciPy had checked it is refused, not densified."""
    matrix = sparse.csr_array(np.eye(2))
    matrix.indices[:] = [0, 10**8]
    refuses(r"`indices` holds 100000000", coordinates_of, matrix)
    refuses(r"`indices` holds 100000000", Problem, NET, {"W": matrix})
    for shape in ((10**9, 10**9), (0, 2**62)):
        refuses(r"zeros more than is written out", dense, sparse.coo_array(shape))
    assert (Problem(NET, {"W": sparse.lil_array(np.eye(2))}).learnable["W"] == np.eye(2)).all()


def test_the_file_that_ended_the_process():
    """Indices outside the shape: SciPy's compiled code wrote outside its arrays."""
    refuses(r"`indices` holds 99999999, and its axis has 2 places", read_sparse,
            HOSTILE / "sp_bad.npz")  # fmt: skip


def test_arrays_of_an_archive_are_numbers(tmp_path):
    """An archive of layers with an array of objects is refused by its name."""
    out = io.BytesIO()
    np.savez(out, W1=np.eye(2), W2=np.array([{}]))
    (tmp_path / "a.npz").write_bytes(out.getvalue())
    refuses(r"`W2`: its entries are no numbers but dtype\('O'\)", read_arrays, tmp_path / "a.npz")


def test_attacks_with_arrays():
    """Damaged arrays at each place of a problem file are read or refused, in little memory."""
    found = attacked("tests.array_attacks", "suite", many(600))
    assert found["faults"] == []
    assert found["read"] > many(12)
    assert found["refused"] > many(300)
    assert found["peak"] < 500
