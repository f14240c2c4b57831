"""Parameters without effect: the same entries as those that change no label in doubles."""

import random

import numpy as np
import pytest

from algebra.plugins.models.capacity import effects as effects_of_entries
from algebra.plugins.models.capacity.effects import reached, tables_of, without_effect
from algebra.plugins.models.onnx import Read, read_onnx
from algebra.programs.generic import Model, labels_move, random_program_point
from algebra.programs.program import Builder
from algebra.time_limits import OutOfTime
from matchprob import capacity
from numeric.programs import singular
from tests.doubles import labels


def effects(models, names, **more):
    """What has no effect; everything is decided."""
    found, left = without_effect(models, names, program=models[0].program, **more)
    assert left == {}
    return found


def table_and_unused():
    """Rows 1 and 3 of a table times x, a shift that a softmax removes, and an unused weight."""
    build = Builder()
    x = build.sample("x", (2,))
    table, shift = build.weight("table", (4, 2)), build.weight("shift", (1,))
    build.weight("unused", (3,))
    rows = build.index([[2, 3], [6, 7]], table)
    scores = build.contract("ij,j->i", rows, x)
    e = build.apply("exp", build.add(scores, build.repeated(shift, (2,))))
    total = build.repeated(build.reshaped(build.contract("i->", e), (1,)), (2,))
    return build.program(build.multiply(e, build.invert(total)))


def test_moves_are_followed_entry_by_entry():
    """Two rows of four lead to the labels; an unused weight does not."""
    found = reached(table_and_unused(), ["table", "shift", "unused"])
    assert found["table"].any(axis=1).tolist() == [False, True, False, True]
    assert found["shift"].all()
    assert not found.get("unused", np.zeros(3, bool)).any()


def test_what_has_no_effect_and_why():
    """By the structure, by a shift before a softmax, by absence; entries are counted."""
    model = Model(table_and_unused())
    names = ["table", "shift", "unused", "other"]
    found = {one.name: one for one in effects([model], names, absent={"other": 7})}
    assert {name: one.size for name, one in found.items()} == {
        "table": 4, "shift": 1, "unused": 3, "other": 7,
    }  # fmt: skip
    assert found["table"].reason == "no label depends on its rows 0, 2"
    assert "softmax" in found["shift"].reason
    assert found["other"].reason == "no label depends on it"


def test_entries_that_change_no_label():
    """In a transformer block: those entries whose change changes no label in doubles."""
    read = read_onnx("examples/data/block.onnx")
    rng = np.random.default_rng(1)
    weights = {n: rng.normal(size=s) for n, s in read.program.weights.items()}
    samples = {n: rng.normal(size=(*s, 3)) for n, s in read.program.samples.items()}
    before = labels(read.program, weights, samples)
    dead = {}
    for key, value in weights.items():
        for place in np.ndindex(value.shape):
            moved = value.copy()
            moved[place] += 1
            after = labels(read.program, {**weights, key: moved}, samples)
            if np.allclose(after, before, rtol=1e-12, atol=1e-12):
                dead[key] = dead.get(key, 0) + 1
    found = effects([Model(read.program, read.tokens)], list(weights))
    assert {one.name: one.size for one in found} == dead
    assert dead == {"k.bias": 8}


def test_only_rows_of_tables_count_together():
    """Rows that no sample chose count like others; entries of a bias of that length do not."""
    build = Builder()
    rows, table = build.sample("x", (1, 4)), build.weight("table", (4, 3))
    bias, out = build.weight("bias", (4,)), build.constant(np.array([[1, 0, 0], [0, 1, 0]]))
    h = build.reshaped(build.contract("sv,vd->sd", rows, table), (3,))
    own = build.contract("ij,j->i", build.constant(np.array([[1, 0, 0, 2], [0] * 4])), bias)
    program = build.program(build.add(build.contract("ij,j->i", out, h), own))
    assert tables_of(program) == {"table"}
    found = {n.name: n.size for n in effects([Model(program, {"x": 4})], ["table", "bias"])}
    assert found == {"table": 4, "bias": 2}


def test_on_activation_patterns_nothing_is_known_anywhere():
    """w max(0, −x²): no effect on the patterns that were tried, which is said of these only."""
    build = Builder()
    w, x = build.weight("w", (1,)), build.sample("x", (1,))
    z = build.scale(build.multiply(x, x), -1)
    off = build.choose(z, z, build.scale(z, 0))
    read = Read(build.program(build.multiply(w, off)), {}, frozenset(), {}, {})
    found = capacity(read, check=True)
    [one] = found.without_effect
    assert (one.where, one.size, found.effective) == ("patterns", 1, 0)
    assert "activation patterns" in one.reason
    assert found.document().title == "at least 0 of 1 learnable parameters have an effect"


def test_labels_move_along_what_has_an_effect():
    """A shift before a softmax moves no label, rows that are used do."""
    model = Model(table_and_unused())
    at = random_program_point(model, 3, "still", bits=23)

    def moves(**masks):
        return labels_move(model, at, 3, masks, random.Random(1))

    rows = np.array([[True] * 2, [False] * 2] * 2)
    assert not moves(shift=np.ones(1, bool))
    assert not moves(table=rows, unused=np.ones(3, bool))
    assert moves(table=~rows, shift=np.ones(1, bool))


@pytest.mark.parametrize("name", ["block", "convnet"])
def test_a_large_model_is_checked_alike(name, monkeypatch):
    """With few samples of each point, as where a pass takes seconds: the same answers."""
    path = f"examples/data/{name}.onnx"
    expected = capacity(path, check=True)
    monkeypatch.setattr(effects_of_entries, "_MOST_WORK", 0)
    found = capacity(path, check=True)
    assert found.without_effect == expected.without_effect
    assert found.effective == expected.effective


def test_progress_of_a_check():
    """Numbers of entries shown to have an effect, which never fall, and of all."""
    seen = []
    found = capacity("examples/data/block.onnx", check=True, progress=lambda *at: seen.append(at))
    assert len(seen) > 5
    assert {total for _, total in seen} == {found.trainable}
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1][0] == found.effective


def test_rows_are_kept_when_the_time_is_over(monkeypatch):
    """Ranks that are known when the singular values take too long are returned, in Python too."""

    def late(*_):
        raise OutOfTime

    monkeypatch.setattr(singular, "extreme_singular_values", late)
    [row] = capacity("examples/data/block.onnx", "norms").subsets
    assert (row.rank, row.at_weights.rank, row.at_weights.smallest) == (32, 32, None)
