"""Files of arrays that are damaged or made to do harm, from random numbers.

``python -m tests.array_attacks SEED COUNT`` reads that many of them at the places of a problem file
that take an array, with limited memory and time, and prints what became of them; it ends with an
error if one was neither read nor refused in one line, or if SciPy's own full check contradicts what
was read.
"""

import io
import struct
import warnings
import zipfile
from pathlib import Path

import numpy as np
from scipy import sparse

from algebra.files.arrays import dense, read_array, read_arrays, read_sparse
from algebra.problems.files import problem_from_dict
from algebra.problems.tables import read_edges
from tests.attacks import main

FORMATS = ("csr", "csc", "coo", "bsr", "dia")
_PARTS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col"),
          "bsr": ("indices", "indptr"), "dia": ("offsets",)}  # fmt: skip
_ODD = (-(2**63), -(2**31), -9, -1, 0, 1, 2, 3, 7, 99_999_999, 2**31 - 1, 2**31, 2**62, 2**63 - 1)
_TYPES = ("<f8", ">f8", "<f4", "<f2", "<f16", "<i8", ">i4", "|i1", "|u1", "<u8", "|b1", "<c16",
          "<U3", "|S3", "|O", "<M8[s]", "|V8")  # fmt: skip
_HEADERS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -2), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4611686018427387904), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2.0, 2), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (True, 2), }",
    "{'descr': '<f8', 'fortran_order': 3, 'shape': (2, 2), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (2, 2), }",
    "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (4,), }",
    "{'descr': ('<f8', (2,)), 'fortran_order': False, 'shape': (2,), }",
    "{'descr': '<f8', 'shape': (2, 2), }",
    "{'descr': '<f0', 'fortran_order': False, 'shape': (2, 2), }",
    "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }",
    "[" * 3000,
    "__import__('os').system('true')",
    "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1, " * 40 + "4), }",
)


def npy(array, **more):
    """The content of an .npy file."""
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array), **more)
    return out.getvalue()


def with_header(text, data):
    """An .npy file with a header that somebody wrote by hand."""
    header = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) & 0xFFFF) + header + data


def zipped(members, method=zipfile.ZIP_STORED):
    """An archive of (name, content), where names may repeat."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that repeat
        for name, content in members:
            archive.writestr(name + ".npy", content)
    return out.getvalue()


def bomb(size, method=zipfile.ZIP_DEFLATED):
    """An archive of few bytes that inflates to a matrix of this many."""
    out = io.BytesIO()
    archive = zipfile.ZipFile(out, "w", method, compresslevel=9)
    with archive, archive.open("data.npy", "w") as file:
        file.write(npy(np.zeros(0))[:-1] + b"\n")
        zeros = bytes(1 << 20)
        for _ in range(size >> 20):
            file.write(zeros)
    return out.getvalue()


def members_of(matrix):
    """The arrays of a sparse matrix in a file of SciPy."""
    out = io.BytesIO()
    sparse.save_npz(out, matrix, compressed=False)
    with np.load(io.BytesIO(out.getvalue())) as archive:
        return {name: archive[name] for name in archive.files}


def sparse_file(rng):
    """A sparse matrix in a file, mostly damaged at one place; and the matrix, if it is whole."""
    size = rng.choice([(2, 2), (2, 2), (2, 2), (3, 5), (1, 1)])
    word = rng.choice(FORMATS)
    table = np.array([rng.choice([0, 0, 1, 1, 2]) for _ in range(size[0] * size[1])]).reshape(size)
    given = table.astype(rng.choice(["f8", "f4", "i4"]))
    parts = members_of(sparse.csr_array(given).asformat(word))
    kinds = [
        "index",
        *["index", "pointer", "shape", "type", "drop", "word", "length", "twice", "axes"],
    ]
    kind = rng.choice(["", "", "", *kinds])
    names = _PARTS[word]
    if kind in ("index", "pointer"):
        name = names[-1 if kind == "pointer" else 0]
        part = parts[name] = parts[name].astype(np.int64)
        if part.size:
            part.flat[rng.randrange(part.size)] = rng.choice(_ODD)
    elif kind == "shape":
        parts["shape"] = np.array(rng.choice([
            [rng.choice(_ODD), rng.choice(_ODD)], [2], [2, 2, 2], [], [2.0, 2.0], 4, [[2, 2]],
            [2, 3], [3, 2],
        ]))  # fmt: skip
    elif kind == "type":
        name = rng.choice([*names, "data", "shape"])
        try:
            parts[name] = parts[name].astype(rng.choice(_TYPES))
        except (TypeError, ValueError, FloatingPointError):
            parts[name] = np.array([{}], dtype=object)
    elif kind == "drop":
        del parts[rng.choice(list(parts))]
    elif kind == "word":
        words = [b"csr", b"csc", b"coo", b"bsr", b"dia", b"lil", b"", "csr", "\u00e9", 3, [b"csr"]]
        parts["format"] = np.array(rng.choice([*words, b"x" * 70]))
    elif kind == "length":
        name = rng.choice([*names, "data"])
        parts[name] = np.resize(parts[name], rng.choice([0, 1, 3, 50]))
    elif kind == "axes":
        name = rng.choice([*names, "data"])
        parts[name] = parts[name].reshape(rng.choice([(1, -1), (-1, 1, 1, 1)]))
    members = [(name, npy(part, allow_pickle=True)) for name, part in parts.items()]
    if kind == "twice":
        members.append(rng.choice(members))
    method = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
    return zipped(members, method), table if kind == "" else None


def dense_file(rng):
    """An .npy file, mostly with a header that does not fit."""
    if rng.random() < 0.2:
        return with_header(rng.choice(_HEADERS), rng.choice([bytes(32), bytes(31), b"", bytes(99)]))
    values = [[rng.choice([0, 1, 1, -1, 2]) for _ in range(2)] for _ in range(2)]
    shape = rng.choice([(2, 2)] * 12 + [(4,), (4, 1), (1, 4), (2, 2, 1), (1, 1)])
    array = np.resize(np.array(values), shape)
    if rng.random() < 0.2:
        array = array.astype(float)
        array.flat[0] = rng.choice([np.nan, np.inf, -np.inf, 1e308, 5e-324, 0.5])
    try:
        array = array.astype(rng.choice(["<f8", "<i8", "|b1", *_TYPES]))
    except (TypeError, ValueError, OverflowError, FloatingPointError):
        array = array.astype(object)
    return npy(array, version=rng.choice([(1, 0), (2, 0), (3, 0)]), allow_pickle=True)


def damaged(rng, content):
    """The content with some bytes changed, cut off or put in."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(len(data)) if data else 0
        match rng.choice(["flip", "cut", "put", "size"]):
            case "flip" if data:
                data[at] ^= 1 << rng.randrange(8)
            case "cut":
                del data[at : at + rng.choice([1, 4, len(data)])]
            case "put":
                data[at:at] = bytes(rng.randrange(256) for _ in range(rng.choice([1, 4, 40])))
            case "size" if len(data) > at + 4:
                data[at : at + 4] = rng.choice([b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f"])
    return bytes(data)


# The tables of a problem file in which the name of an array may stand.
_NET = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}
_ALL = {"W": [[1, 1], [1, 1]]}
_RNN = {**_NET, "kind": "rnn", "activation": "tanh"}
PLACES = (
    lambda name: {"network": _NET, "learnable": {"W": name}},
    lambda name: {"network": _NET, "learnable": {"W": {"edges": name, "rows": "post"}}},
    lambda name: {"network": _NET, "learnable": {"W": {"tied": name}}},
    lambda name: {"network": _NET, "learnable": {"W": {"gain": "rows", "groups": name}}},
    lambda name: {"network": _NET, "learnable": {"W": {"gain": "cells", "groups": name}}},
    lambda name: {"network": _NET, "learnable": _ALL, "support": {"W": name}},
    lambda name: {"network": _NET, "learnable": _ALL, "values": {"D": name}},
    lambda name: {"network": _NET, "learnable": _ALL, "values": {"W": name}},
    lambda name: {"network": _NET, "learnable": _ALL, "constraints": {"max_abs": name}},
    lambda name: {"network": _NET, "learnable": _ALL, "constraints": {"max_change": {"W": name}}},
    lambda name: {"network": _NET, "learnable": _ALL, "constraints": {"sign": {"W": name}}},
    lambda name: {"network": _NET, "learnable": _ALL, "distribution": {"signs": name}},
    lambda name: {"network": _NET, "learnable": _ALL, "distribution": {"signs": {"W": name}}},
    lambda name: {"network": {**_RNN, "leak": name}, "learnable": _ALL},
)


def attack(rng, folder):
    """Write one file and read it at one place; a text describes the file."""
    table = None
    match rng.choice(["sparse"] * 50 + ["dense"] * 30 + ["arrays"] * 10 + ["bomb"]):
        case "sparse":
            content, table = sparse_file(rng)
            ending = ".npz"
        case "dense":
            content, ending = dense_file(rng), ".npy"
        case "arrays":
            members = [(f"W{k}", dense_file(rng)) for k in range(1, rng.choice([2, 3]))]
            content, ending = zipped(members), ".npz"
        case _:
            method = rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
            content, ending = bomb(rng.choice([1, 150]) << 20, method), ".npz"
    if rng.random() < 0.2:
        content, table = damaged(rng, content), None
    path = Path(folder) / f"a{ending}"
    path.write_bytes(content)
    readers = {".npy": [read_array], ".npz": [read_sparse, read_arrays]}[ending]
    readers += [lambda path: read_edges(path, rows="pre")]
    readers += [lambda path, at=at: problem_from_dict(at(path.name), path.parent) for at in PLACES]
    read = rng.choice(readers)
    if read is read_sparse:
        found = dense(read(path))
        kind = np.load(path)["data"].dtype
        if kind == np.float16 or not kind.isnative:
            return  # read as binary32; SciPy knows no shorter numbers
        whole = sparse.load_npz(path)
        getattr(whole, "check_format", lambda: None)()
        np.testing.assert_array_equal(found, whole.toarray())
        assert table is None or (found == table).all()
    elif read is read_array:
        np.testing.assert_array_equal(read(path), np.load(path))
    else:
        read(path)


if __name__ == "__main__":
    main(attack)
