"""Structure of patterns, compared with brute force over subsets and other matchings."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from algebra.systems import incidence
from algebra.systems.incidence import (
    EquationBlock,
    block_triangular_form,
    maximum_matching,
    strong_components,
)
from tests.refusals import refuses
from tests.samples import many


@st.composite
def systems(draw, largest=6):
    """Patterns of at most `largest` equations in at most `largest` unknowns."""
    unknowns = draw(st.integers(0, largest))
    index = st.integers(0, max(unknowns - 1, 0))
    pattern = st.frozensets(index, max_size=3 if unknowns else 0)
    patterns = draw(st.lists(pattern, max_size=largest))
    return patterns, unknowns


def size_by_networkx(patterns, unknowns):
    """Maximum flow on the unit network: the matching size by another algorithm."""
    graph = nx.DiGraph()
    graph.add_nodes_from(["source", "sink"])
    for e, pattern in enumerate(patterns):
        graph.add_edge("source", ("e", e), capacity=1)
        for u in pattern:
            graph.add_edge(("e", e), ("u", u), capacity=1)
    for u in range(unknowns):
        graph.add_edge(("u", u), "sink", capacity=1)
    return nx.maximum_flow_value(graph, "source", "sink")


def deficiency(patterns, equations):
    return len(equations) - len(set().union(*(patterns[e] for e in equations)))


def subsets(items):
    return (c for k in range(len(items) + 1) for c in combinations(items, k))


def relabelled(patterns, unknowns, equation_order, unknown_order):
    """The same system with equation_order[k] as equation k, unknown u named unknown_order[u]."""
    return [{unknown_order[u] for u in patterns[e]} for e in equation_order], unknowns


def parts_as_sets(parts, equation_name=None, unknown_name=None):
    return [
        (
            {equation_name[e] if equation_name else e for e in part.equations},
            {unknown_name[u] if unknown_name else u for u in part.unknowns},
        )
        for part in parts
    ]


def matched(form, patterns):
    """Size of a maximum matching: all equations except the surplus of the overdetermined part."""
    over = form.overdetermined
    return len(patterns) - len(over.equations) + len(over.unknowns)


def square(form):
    """Equations and unknowns of the well-constrained part."""
    return [{k for b in form.blocks for k in getattr(b, f)} for f in ("equations", "unknowns")]


@given(systems(largest=9))
@settings(max_examples=many(300), deadline=None)
def test_size_is_that_of_flow_and_of_scipy(system):
    """The unmatched equations and unknowns agree with a maximum flow and SciPy's matching."""
    patterns, unknowns = system
    form = block_triangular_form(patterns, unknowns)
    size, under = matched(form, patterns), form.underdetermined
    assert size == size_by_networkx(patterns, unknowns)
    assert size == unknowns - len(under.unknowns) + len(under.equations)
    dense = np.array([[u in p for u in range(unknowns)] for p in patterns], np.int8)
    if dense.size:
        other = maximum_bipartite_matching(csr_array(dense.T), perm_type="column")
        assert size == (other >= 0).sum()


@pytest.fixture
def large(monkeypatch):
    """Every system is taken for a large one."""
    monkeypatch.setattr(incidence, "_MANY_ENTRIES", -1)


@pytest.mark.parametrize("density", [0.02, 0.05, 0.2])
@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (1, 1), (9, 12), (60, 60), (70, 40)])
def test_large_systems_have_the_same_form(rows, columns, density, request):
    """Own algorithms and SciPy's find matchings of one size, along entries, and the same parts."""
    matrix = np.random.default_rng(rows).random((rows, columns)) < density
    form, mate = block_triangular_form(matrix, columns), maximum_matching(matrix)
    request.getfixturevalue("large")
    other = maximum_matching(matrix)
    assert block_triangular_form(matrix, columns) == form
    for found in (mate, other):
        pairs = [(e, u) for e, u in enumerate(found.tolist()) if u >= 0]
        assert all(matrix[pair] for pair in pairs)
        assert len({u for _, u in pairs}) == len(pairs) == (mate >= 0).sum()


@given(systems())
@settings(max_examples=many(200), deadline=None)
def test_size_is_the_generic_rank_by_koenig(system):
    """The matching leaves out as many equations as the surplus of the worst subset."""
    patterns, _ = system
    worst = max(deficiency(patterns, chosen) for chosen in subsets(range(len(patterns))))
    assert len(patterns) - matched(block_triangular_form(*system), patterns) == worst


@given(systems())
@settings(max_examples=many(200), deadline=None)
def test_over_and_under_parts_are_those_missed_by_some_maximum_matching(system):
    """Without a spare equation the largest matching (by maximum flow) keeps its size."""
    patterns, unknowns = system
    parts = block_triangular_form(patterns, unknowns)
    size = matched(parts, patterns)
    spare = {
        e
        for e in range(len(patterns))
        if size_by_networkx(patterns[:e] + patterns[e + 1 :], unknowns) == size
    }
    loose = {
        u
        for u in range(unknowns)
        if size_by_networkx([set(p) - {u} for p in patterns], unknowns) == size
    }
    assert set(parts.overdetermined.equations) == spare
    assert set(parts.underdetermined.unknowns) == loose
    assert set(parts.overdetermined.unknowns) == {u for e in spare for u in patterns[e]}
    assert set(parts.underdetermined.equations) == {
        e for e, p in enumerate(patterns) if loose & set(p)
    }


@given(systems(largest=8))
@settings(max_examples=many(200), deadline=None)
def test_parts_have_the_promised_shapes(system):
    """Over is tall, under is wide; equations of a part use its own unknowns and those before."""
    patterns, unknowns = system
    form = block_triangular_form(patterns, unknowns)
    over, under = form.overdetermined, form.underdetermined
    assert len(over.equations) > len(over.unknowns) or not over
    assert len(under.equations) < len(under.unknowns) or not under
    equations, own = square(form)
    known = set(over.unknowns)
    assert all(set(patterns[e]) <= known for e in over.equations)
    assert all(set(patterns[e]) <= known | own for e in equations)


@given(systems(largest=8), st.randoms(use_true_random=False))
@settings(max_examples=many(200), deadline=None)
def test_decompositions_do_not_depend_on_the_order(system, rng):
    """Shuffled equations and renamed unknowns give the same parts and the same blocks."""
    patterns, unknowns = system
    equation_order = rng.sample(range(len(patterns)), len(patterns))
    unknown_order = rng.sample(range(unknowns), unknowns)
    unknown_name = {new: old for old, new in enumerate(unknown_order)}
    shuffled = relabelled(patterns, unknowns, equation_order, unknown_order)
    one, other = block_triangular_form(patterns, unknowns), block_triangular_form(*shuffled)
    fields = ("overdetermined", "underdetermined")
    assert parts_as_sets(getattr(one, f) for f in fields) == parts_as_sets(
        (getattr(other, f) for f in fields), equation_order, unknown_name
    )
    blocks = parts_as_sets(one.blocks)
    others = parts_as_sets(other.blocks, equation_order, unknown_name)
    assert len(blocks) == len(others)
    assert all(block in others for block in blocks)


@given(systems(largest=8))
@settings(max_examples=many(200), deadline=None)
def test_form_is_block_triangular_and_its_blocks_are_irreducible(system):
    """Each block uses only known unknowns, and no subset of a block can be solved before it."""
    patterns, unknowns = system
    form = block_triangular_form(patterns, unknowns)
    assert sorted(form.row_order) == list(range(len(patterns)))
    assert sorted(form.column_order) == list(range(unknowns))
    known = set(form.overdetermined.unknowns)
    for block in form.blocks:
        assert len(block.equations) == len(block.unknowns) > 0
        for chosen in subsets(block.equations):
            new = {u for e in chosen for u in patterns[e]} - known
            if 0 < len(chosen) < len(block.equations):
                assert len(new) > len(chosen)
        known |= set(block.unknowns)
        assert all(set(patterns[e]) <= known for e in block.equations)
    matrix = np.array([[u in p for u in range(unknowns)] for p in patterns], bool)
    matrix = matrix.reshape(len(patterns), unknowns)[np.ix_(form.row_order, form.column_order)]
    row = column = 0
    for part in form.parts:
        row, column = row + len(part.equations), column + len(part.unknowns)
        assert not matrix[:row, column:].any()


@given(systems(largest=9))
def test_matrices_are_patterns(system):
    """The incidence matrix agrees with the lists of unknowns."""
    patterns, unknowns = system
    matrix = np.array([[u in p for u in range(unknowns)] for p in patterns], bool)
    matrix = matrix.reshape(len(patterns), unknowns)
    assert block_triangular_form(matrix, unknowns) == block_triangular_form(patterns, unknowns)


@given(systems(largest=8))
@settings(max_examples=many(100), deadline=None)
def test_same_input_same_output(system):
    """Lists, sets and reversed patterns of the same content give identical results."""
    patterns, unknowns = system
    again = [sorted(p, reverse=True) * 2 for p in patterns]
    assert block_triangular_form(patterns, unknowns) == block_triangular_form(again, unknowns)


def test_blocks_come_in_solving_order_with_ties_by_equation():
    """Independent blocks are listed by their smallest equation, dependent ones after theirs."""
    form = block_triangular_form([{2, 3}, {1}, {2, 3}, {0, 1}], 4)
    assert form.blocks == (
        EquationBlock((0, 2), (2, 3)),
        EquationBlock((1,), (1,)),
        EquationBlock((3,), (0,)),
    )
    assert form.row_order == (0, 2, 1, 3)
    assert form.column_order == (2, 3, 1, 0)


def test_long_chain_needs_no_recursion():
    """A chain of 3,000 equations, each sharing an unknown with the next, is matched completely."""
    count = 3000
    patterns = [{k + 1, k} if k + 1 < count else {k} for k in range(count)]
    assert matched(block_triangular_form(patterns[::-1], count), patterns) == count
    blocks = block_triangular_form(patterns, count).blocks
    assert [b.equations for b in blocks] == [(k,) for k in reversed(range(count))]
    cycle = [{k, (k + 1) % count} for k in range(count)]
    assert block_triangular_form(cycle, count).blocks == (
        EquationBlock(tuple(range(count)), tuple(range(count))),
    )
    extra = block_triangular_form([*patterns, {0}], count)
    assert extra.overdetermined == EquationBlock(tuple(range(count + 1)), tuple(range(count)))


def test_empty_systems_and_empty_equations():
    """No equations: all unknowns loose.  An equation without unknowns is overdetermined alone."""
    assert not any(block_triangular_form([], 0).parts)
    assert block_triangular_form([], 2).underdetermined == EquationBlock((), (0, 1))
    parts = block_triangular_form([{0}, set()], 2)
    assert parts.overdetermined == EquationBlock((1,), ())
    assert parts.underdetermined == EquationBlock((), (1,))
    assert parts.blocks == (EquationBlock((0,), (0,)),)


def test_results_print_in_words():
    """str() counts equations and unknowns and shortens long lists."""
    form = block_triangular_form([{0}, {0}, {1}], 3)
    assert str(form).splitlines() == [
        "overdetermined: 2 equations in 1 unknown: equations 0, 1; unknowns 0",
        "block 0: 1 equation in 1 unknown: equations 2; unknowns 1",
        "underdetermined: 0 equations in 1 unknown: equations none; unknowns 2",
    ]
    assert str(EquationBlock(tuple(range(20)), ())).endswith(
        "equations 0, 1, 2, 3, 4, 5, 6, 7, … 19; unknowns none"
    )


@pytest.mark.parametrize(
    ("patterns", "unknowns", "words"),
    [
        ([{0}, {3}], 3, ["patterns", "[1]", "3", "0 to 2"]),
        ([{-1}], 3, ["-1"]),
        ([], -1, ["unknowns", "-1"]),
        ([], 2.0, ["unknowns", "2.0"]),
    ],
)
def test_bad_input_is_named(patterns, unknowns, words):
    """An unknown out of range or a bad count raises InputError that echoes it."""
    caught = refuses("", block_triangular_form, patterns, unknowns)
    assert all(word in str(caught) for word in words)


@given(
    st.integers(1, 9).flatmap(
        lambda n: st.lists(st.sets(st.integers(0, n - 1)), min_size=n, max_size=n)
    )
)
def test_strong_components_are_those_of_networkx(heads):
    """The partition of the nodes is that of networkx."""
    label = strong_components([sorted(own) for own in heads])
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(heads)))
    graph.add_edges_from((k, head) for k, own in enumerate(heads) for head in own)
    parts = {frozenset(part) for part in nx.strongly_connected_components(graph)}
    assert {frozenset(k for k, own in enumerate(label) if own == c) for c in label} == parts
