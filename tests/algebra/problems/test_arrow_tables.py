"""Feather and Parquet files are read as the CSV file of the same table."""

import random
import re
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from algebra.errors import InputError
from algebra.networks.rnn import RNN
from algebra.problems import arrow_tables
from algebra.problems.edge_columns import EdgeColumns
from algebra.problems.names import Names
from algebra.problems.tables import read_edges, read_names
from algebra.problems.unit_tables import read_column
from tests.refusals import refuses
from tests.samples import many

IDS = [720575940596125868, 720575940608552405, 720575940620000123]
SUFFIXES = (".parquet", ".feather")


def write(table, path):
    """A data frame, or a table of Arrow, as a file."""
    table = pa.Table.from_pandas(table) if isinstance(table, pd.DataFrame) else table
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=7)
    else:
        feather.write_feather(table, path, chunksize=7)
    return path


def cells(path, **options):
    """Units and numbers of synapses of a list."""
    found = read_edges(path, **options)
    names = Names(RNN(n=len(found.units), T=1, b=1, d=1, m=1), {"neurons": list(found.units)})
    return found.units, found.cells(names, "W"), found.column


@pytest.mark.parametrize(
    ("header", "options"),
    [
        ("pre_pt_root_id post_pt_root_id neuropil syn_count gaba_avg", {"at_least": 3}),
        ("pre post count norm total_input", {"repeated": "sum"}),
        ("body_pre body_post weight", {"repeated": "first"}),
        ("bodyId_pre bodyId_post roi weight", {"where": {"roi": ["AL_L", "LO"]}}),
        ("Presynaptic_ID Postsynaptic_ID Presynaptic_Index Connectivity", {"repeated": "sum"}),
    ],
)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_published_tables(header, options, suffix, tmp_path, monkeypatch):
    """Random tables with the columns of FlyWire, BANC, male CNS, neuPrint and Shiu."""
    monkeypatch.setattr(arrow_tables, "_LINES", 5)
    monkeypatch.chdir(tmp_path)
    words = header.split()
    for seed in range(many(8)):
        rng = random.Random(f"{header}/{suffix}/{seed}")
        count, kind = rng.randint(1, 30), rng.choice(["int64", "uint64", "str", "category"])
        columns = {}
        for word in words:
            if word in ("neuropil", "roi"):
                columns[word] = pd.Series(rng.choices(["AL_L", "AL_R", "LO"], k=count)).astype(
                    rng.choice(["str", "category"])
                )
            elif word in words[:2]:
                columns[word] = pd.Series(rng.choices(IDS, k=count)).astype(kind)
            else:
                columns[word] = [rng.randint(1, 9) for _ in range(count)]
        table = pd.DataFrame(columns)
        path, text = write(table, Path(f"a{suffix}")), Path("a.csv")
        table.to_csv(text, index=False)
        more = options | ({"repeated": "sum"} if seed % 2 else {})
        try:
            wanted = cells(text, **more)
        except InputError as error:
            with pytest.raises(InputError) as own:
                cells(path, **more)
            # Lines are counted without a header.
            messages = [re.sub(r"row \d+|a\.\w+", "", str(e)) for e in (error, own.value)]
            assert messages[0] == messages[1]
            continue
        assert cells(path, **more) == wanted
        assert isinstance(read_edges(path).edges, EdgeColumns)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_units_and_types(suffix, tmp_path):
    """Names and a column of words; lists in cells are left out, a missing value is no word."""
    table = pa.table(
        {
            "tags": [["a"], [], ["b"]],
            "root_id": pa.array(IDS),
            "cell_type": ["Tm1", None, "Tm2"],
            "is_traced": [True, False, True],
        }
    )
    path = write(table, tmp_path / f"meta{suffix}")
    found = read_column(path, "", "cell_type", {"is_traced": True})
    assert found == [("row 1", str(IDS[0]), "Tm1"), ("row 3", str(IDS[2]), "Tm2")]
    assert [word for *_, word in read_column(path, "", "cell_type", {})] == ["Tm1", "", "Tm2"]
    refuses("no column is named 'tags'", read_column, path, "", "tags", {})
    names = write(table.select(["root_id"]), tmp_path / f"names{suffix}")
    assert read_names(names) == list(map(str, IDS))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            {"pre": [7.2e17, 7.3e17], "post": [1, 2]},
            "row 1: the unit '7.2e.17' is a rounded",
        ),
        ({"pre": ["a", None], "post": ["b", "c"]}, "row 2 lacks `pre`"),
        ({"pre": ["a", "b"], "post": ["b", "c"], "weight": ["1", "x"]}, "row 2.*'x' is no number"),
        ({"pre": ["a", "a"], "post": ["b", "b"]}, "row 2, from a onto b, is given twice"),
        ({"pre": ["a"], "post": ["b"], "count": [1], "weight": [2]}, "both mean `weight`"),
        ({"one": ["a"], "post": ["b"]}, "has one column `pre`"),
        ({"tags": [["a"]]}, "none of its columns has single cells"),
        ({"pre": [b"\xff"], "post": [b"a"]}, "bytes, no text"),
    ],
)
def test_refused(table, words, suffix, tmp_path):
    """The line and the reason are named."""
    refuses(words, cells, write(pa.table(table), tmp_path / f"a{suffix}"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged(suffix, tmp_path):
    """A file that was cut or changed at random is read as a list, or refused."""
    table = pd.DataFrame({"pre": ["a", "b", "c"] * 20, "post": ["b", "c", "a"] * 20})
    data, path = write(table, tmp_path / f"a{suffix}").read_bytes(), tmp_path / f"b{suffix}"
    for seed in range(many(60)):
        rng = random.Random(seed)
        changed = bytearray(data[: rng.randrange(len(data))] if seed % 4 == 0 else data)
        for _ in range(rng.randint(0, 4)):
            if changed:
                changed[rng.randrange(len(changed))] = rng.randrange(256)
        path.write_bytes(changed)
        with suppress(InputError):
            assert len(read_edges(path, repeated="first").units) < 120
    refuses("does not exist", read_edges, tmp_path / f"none{suffix}")
