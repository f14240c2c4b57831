"""Any two colours are distinguishable, also for colour-blind readers."""

from itertools import combinations

import numpy as np
import pytest

from matchprob.report.drawing.palette import OUTCOMES, PALETTE, VERDICTS

# Machado, Oliveira, Fernandes (2009), severity 1.
VISION = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
}  # fmt: skip
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip


def lab(colour, vision):
    """CIELAB coordinates (D65) of a colour under a matrix of colour vision."""
    given = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(given <= 0.04045, given / 12.92, ((given + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(vision @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_distance_of_colours():
    """White and black differ by 100; a red and a green by 90, by less than 20 if colour-blind."""
    assert np.linalg.norm(lab("#ffffff", np.eye(3)) - lab("#000000", np.eye(3))) == pytest.approx(
        100, abs=0.1
    )
    pair = ("#c0392b", "#2a9d4a")
    far = np.linalg.norm(np.subtract(*(lab(c, VISION["normal"]) for c in pair)))
    near = min(np.linalg.norm(np.subtract(*(lab(c, v) for c in pair))) for v in VISION.values())
    assert far > 90
    assert near < 20


@pytest.mark.parametrize("vision", VISION)
def test_pairs_of_the_palette_differ(vision):
    """Each pair of colours has a distance of 20 or more."""
    for a, b in combinations(PALETTE, 2):
        assert np.linalg.norm(lab(a, VISION[vision]) - lab(b, VISION[vision])) >= 20, (a, b)


def test_verdicts_have_colours_of_the_palette():
    """Verdicts and outcomes have colours of the palette, each its own."""
    for meaning in (VERDICTS, OUTCOMES):
        assert set(meaning.values()) <= set(PALETTE)
        assert len(set(meaning.values())) == len(meaning)
