"""A test suite's check of a model: what is to be tuned has an effect."""

import matchprob as mp


def test_the_norms_learn():
    """A parameter without effect is named in the assertion."""
    mp.assert_trainable("examples/data/block.onnx", learn="norms")
