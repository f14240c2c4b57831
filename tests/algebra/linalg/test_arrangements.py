"""Arrangements of hyperplanes, against a direct search of the cells."""

import numpy as np
from flint import fmpq

from algebra.linalg.arrangements import arrangement_size, vertices_and_rays


def test_signs_on_a_cell_are_those_of_its_ends():
    """Each sign vector of random points is met by vertices and rays with no other signs."""
    rng = np.random.default_rng(1)
    for rank, m in ((1, 3), (2, 4), (3, 4)):
        own = rng.integers(-9, 9, (rank, m))
        constants = rng.integers(-9, 9, m)
        exact = ([[fmpq(int(x)) for x in row] for row in own], [fmpq(int(c)) for c in constants])
        vertices, rays, found = vertices_and_rays(*exact)
        assert found == rank
        assert len(vertices) + len(rays) <= arrangement_size(rank, m)
        at, along = (
            np.array([[float(x) for x in row] for row in rows]) for rows in (vertices, rays)
        )
        for w in rng.normal(size=(200, rank)) * 10:
            signs = np.sign(w @ own + constants)
            inside = at[(at * signs >= -1e-12).all(axis=1)]
            assert len(inside), "a cell has a vertex"
            assert len(inside) + (along * signs >= -1e-12).all(axis=1).sum() > rank


def test_without_directions_there_is_one_vertex():
    """ρ = 0: the constants."""
    vertices, rays, rank = vertices_and_rays([], [fmpq(1), fmpq(-2)])
    assert (vertices.tolist(), rays.shape, rank) == ([[1, -2]], (0, 2), 0)
