"""Steps of places: those of NumPy's views of 0, 1, 2, …"""

import numpy as np
import pytest

from algebra.programs.strides import strides_of


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (np.arange(12).reshape(3, 4).T, (0, (1, 4))),
        (np.arange(60).reshape(3, 4, 5)[1:, :, ::2], (20, (20, 5, 2))),
        (np.broadcast_to(np.arange(5), (3, 5)), (0, (0, 1))),
        (np.arange(6).reshape(1, 6), (0, (0, 1))),
        (np.array(7), (7, ())),
        (np.arange(12).reshape(3, 4)[::-1], None),
        (np.lib.stride_tricks.sliding_window_view(np.arange(9), 3), None),
        (np.full((2, 2), -1), None),
        (np.array([[0, 1], [2, 4]]), None),
        (np.arange(-1, 5), None),
    ],
)
def test_steps_of_places(places, expected):
    """Of transposes, slices and repetitions; none where an entry is at two places, or at none."""
    assert strides_of(places) == expected
