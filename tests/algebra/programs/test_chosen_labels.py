"""Fewer labels: those of the last position, random sums, compared with the outputs in doubles."""

import numpy as np
import pytest

from algebra.programs.chosen_labels import ChosenLabels
from algebra.programs.program import Builder
from matchprob import capacity
from tests.doubles import labels
from tests.refusals import refuses


def sequence(in_one_row=True):
    """tanh of a product at each of three positions: four outputs each."""
    build = Builder()
    x, W = build.sample("x", (1, 3, 2)), build.weight("W", (2, 4))
    value = build.apply("tanh", build.contract("bti,ij->btj", x, W))
    return build.program(build.reshaped(value, (12,)) if in_one_row else value)


def values(program):
    """Labels of five samples at some weights: labels × samples."""
    rng = np.random.default_rng(1)
    weights, samples = {"W": rng.normal(size=(2, 4))}, {"x": rng.normal(size=(1, 3, 2, 5))}
    return labels(program, weights, samples).reshape(-1, 5)


@pytest.mark.parametrize("in_one_row", [True, False])
def test_the_last_position(in_one_row):
    """The last four of twelve labels."""
    program = sequence(in_one_row)
    chosen, words = ChosenLabels.read("last").of(program, 0)
    assert words == "labels are the outputs at the last of 3 positions, 4 numbers of a sample"
    assert np.array_equal(values(chosen), values(program)[-4:])


@pytest.mark.parametrize(("outputs", "rows"), [(3, 12), ("3", 12), ("last:3", 4)])
def test_directions_are_sums_with_fixed_factors(outputs, rows):
    """Three sums, the same for all samples; the seed determines their factors."""
    program = sequence()
    found = values(ChosenLabels.read(outputs).of(program, 4)[0])
    mix = found @ np.linalg.pinv(values(program)[-rows:])
    assert found.shape == (3, 5)
    assert np.allclose(mix @ values(program)[-rows:], found)
    assert np.array_equal(found, values(ChosenLabels.read(outputs).of(program, 4)[0]))
    assert not np.allclose(found, values(ChosenLabels.read(outputs).of(program, 5)[0]))


def test_few_directions_are_fitted_for_more_samples():
    """The 32 scales and shifts of norms of a block fit 10 samples of three labels, 16 of two."""
    path = "examples/data/block.onnx"
    for outputs, samples in (("", 10), (3, 10), (2, 16), (1, 32)):
        [row] = capacity(path, "norms", outputs=outputs).subsets
        assert row.capacity == samples


@pytest.mark.parametrize("outputs", ["first", "0", "last:", "last:last", "3:last", -2, True, 1.5])
def test_other_words_are_refused(outputs):
    """Only last, a number, or both in this order."""
    refuses(r"`outputs` \(.*must be last", ChosenLabels.read, outputs)


def test_what_a_model_does_not_have_is_refused():
    """More directions than labels; positions of a model that gives a row."""
    program = sequence()
    refuses(r"13 directions.*has 12 labels", ChosenLabels(False, 13).of, program, 0)
    refuses("for each position", capacity, "examples/data/block.onnx", "norms", outputs="last")


def test_hidden_values_of_a_file_are_labels():
    """What the second norm takes, by its name in the file: only the first norm has an effect."""
    path = "examples/data/block.onnx"
    found = capacity(path, "norm1*", output="add_22", m=2)
    assert (found.outputs, found.subsets[0].rank) == (24, 16)
    checked = capacity(path, "norms", output="add_22", check=True)
    assert checked.unused == ("norm2.weight", "norm2.bias")
    refuses("there is no output `none`, nor another value", capacity, path, output="none")
