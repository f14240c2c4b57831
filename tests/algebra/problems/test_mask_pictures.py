"""Masks as characters, and a problem in a notebook."""

import numpy as np

import matchprob as mp
from algebra.problems.mask_pictures import WIDEST, mask_pictures
from tests.samples import NET


def test_a_problem_in_a_notebook():
    """It shows its network, what learns, and the mask with the names of units."""
    page = mp.Problem(NET, {"W": [[1, 0], [0, 1]]}, names={"units": ["a<", "b"]})._repr_html_()
    assert "2 learnable in W" in page
    assert "a&lt;  ●·" in page
    random = mp.Problem(NET, {"W": mp.RandomCells(budget=2)})
    assert "random cells learn" in random._repr_html_()
    assert "<table>" in mp.Problem(NET, {"W": {"lora": 1}})._repr_html_()


def test_a_wide_mask_is_counts():
    """Beyond a page's width a mask has only the number of weights in each row, in its title."""
    net = mp.LinearEstimator(q=WIDEST + 1, d=2, m=1)
    mask = np.zeros((2, WIDEST + 1), int)
    mask[0, :3] = 1
    [picture] = mask_pictures(mp.Allocation.from_masks(net, {"W": mask}))
    assert picture.rows == ()
    assert picture.title.endswith("a row: 3 0")
