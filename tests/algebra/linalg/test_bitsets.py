"""Bit sets against networkx and SciPy."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from algebra.linalg.bitsets import bit_rows, matched, members, strong_components

SHAPES = [(0, 3), (3, 0), (1, 1), (9, 12), (60, 60), (70, 40)]


def test_bits_are_columns():
    """Bit u of a row is column u, above 64 as well."""
    matrix = np.zeros((2, 130), bool)
    matrix[1, [0, 63, 64, 129]] = True
    assert [list(members(row)) for row in bit_rows(matrix)] == [[], [0, 63, 64, 129]]


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_matchings_are_as_large_as_scipys(rows, columns):
    """A matching, along entries of the matrix, and a maximum one."""
    rng = np.random.default_rng(rows)
    for density in (0.02, 0.05, 0.2):
        matrix = rng.random((rows, columns)) < density
        mate, owner = matched(bit_rows(matrix), columns)
        pairs = [(e, u) for e, u in enumerate(mate) if u is not None]
        assert all(matrix[e, u] and owner[u] == e for e, u in pairs)
        assert sum(e is not None for e in owner) == len(pairs)
        if matrix.size:
            expected = maximum_bipartite_matching(csr_array(matrix), perm_type="column")
            assert len(pairs) == (expected >= 0).sum()


@pytest.mark.parametrize("nodes", [0, 1, 7, 40])
def test_components_are_networkxs(nodes):
    """The same sets of nodes share a label."""
    rng = np.random.default_rng(nodes)
    for density in (0.02, 0.05, 0.2):
        matrix = rng.random((nodes, nodes)) < density
        label = strong_components(matrix)
        graph = nx.from_numpy_array(matrix.astype(int), create_using=nx.DiGraph)
        expected = sorted(map(sorted, nx.strongly_connected_components(graph)))
        found = [np.flatnonzero(label == k).tolist() for k in np.unique(label)]
        assert sorted(found) == expected
