"""Entries that are there and that move: what the sets exclude holds at random points."""

import numpy as np
import pytest

from algebra.programs.evaluate import evaluate
from algebra.programs.presence import presence
from tests.algebra.programs.programs import random_program
from tests.doubles import Doubles
from tests.samples import many


@pytest.mark.parametrize("seed", range(many(60)))
def test_what_is_excluded_does_not_happen(seed):
    """An entry that is not there is 0; one that does not move keeps its value."""
    program, rng = random_program(seed, 12), np.random.default_rng(seed)
    exists, learns, blocks = {}, {}, {}
    for block in program.blocks:
        shape = (*block.shape, 3 if block.role == "sample" else 1)
        blocks[block.name] = rng.standard_normal(shape)
        if block.role == "weight":
            exists[block.name] = rng.random(block.shape) < 0.6
            learns[block.name] = exists[block.name] & (rng.random(block.shape) < 0.4)
            blocks[block.name] *= exists[block.name][..., None]
    moved = dict(blocks)
    for name, mask in learns.items():
        moved[name] = blocks[name] + mask[..., None] * rng.standard_normal(blocks[name].shape)
    every = range(len(program.nodes))
    vanishes = lambda node: node.name == "tanh"  # noqa: E731
    found = presence(program, exists, learns, vanishes, every)
    with np.errstate(all="ignore"):
        before, after = (evaluate(program, Doubles(), own, every) for own in (blocks, moved))
    excluded = 0
    for k, own in found.items():
        assert own.there.shape == own.moves.shape == program.nodes[k].shape
        assert not (own.moves & ~own.there).any()
        assert (np.asarray(before[k])[~own.there] == 0).all()
        still = ~own.moves
        assert np.array_equal(
            np.asarray(before[k])[still], np.asarray(after[k])[still], equal_nan=True
        )
        excluded += int((~own.there).sum() + still.sum())
    assert excluded
