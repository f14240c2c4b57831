"""Pictures of capacities."""

import matplotlib.pyplot as plt
import pytest

import matchprob as mp
from matchprob.plugins.models.pictures import draw_capacity

BLOCK = "examples/data/block.onnx"


@pytest.fixture
def axes():
    """An empty figure."""
    figure, own = plt.subplots(figsize=(5.5, 3.7))
    yield own
    plt.close(figure)


def test_points_that_counting_misjudges_are_named(axes):
    """The biases of the block fit 11 samples, not 25; no axis begins at 0; no two names meet."""
    found = mp.capacity(BLOCK, ["*.bias", "norm*", "head.*"], lora=[2], on=["q.weight,v.weight"])
    draw_capacity(axes, found)
    texts = [text for text in axes.texts if text.get_text()]
    assert {text.get_text() for text in texts} == {
        "*.bias: 11, not 25", "norm*", "head.*", "LoRA 2 on q.weight,v.weight",
    }  # fmt: skip
    assert axes.get_ylim()[0] > 0
    assert all(place > 0 for place in axes.get_yticks())
    drawn = axes.figure.canvas.get_renderer()
    boxes = [text.get_window_extent(drawn) for text in texts]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


def test_a_capacity_of_zero_has_a_place(axes):
    """The bias of the keys has no effect: it fits no sample, which a tick says."""
    found = mp.capacity(BLOCK, ["k.bias", "head.*"])
    assert found.subsets[0].capacity == 0
    draw_capacity(axes, found)
    assert 0 in axes.get_yticks()
