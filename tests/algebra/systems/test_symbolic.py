"""Elimination with symbols: the conditions under which its formulas hold."""

import sympy

import matchprob as mp
from algebra.systems.symbolic import in_short


def test_conditions_are_what_was_divided_by():
    """One equation x·w = y needs x ≠ 0; every factor of a denominator is a condition."""
    net = mp.LinearEstimator(q=1, d=1, m=1)
    assert str(mp.eliminate(mp.Problem(net, {"W": [[1]]})).conditions) == "(X_0_0,)"
    for mask in ([[1, 0], [0, 1]], [[1, 1], [0, 0]]):
        found = mp.eliminate(mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": mask}))
        listed = {sympy.expand(sign * own) for own in found.conditions for sign in (1, -1)}
        for value in found.weights.values():
            _, factors = sympy.factor_list(sympy.denom(sympy.together(value)))
            assert {sympy.expand(factor) for factor, _ in factors} <= listed
        assert [str(own) for own in found.conditions] == found.to_dict()["conditions"]
        assert all(f"{in_short(own)} ≠ 0" in str(found) for own in found.conditions)


def test_long_formulas_are_printed_in_short():
    """Equations of some thousand characters: the text has their beginnings, the attributes all."""
    found = mp.eliminate(mp.load_problem("examples/mixed.toml"))
    assert max(map(len, map(str, found.equations))) > 1000
    assert max(map(len, str(found).split("\n"))) < 350
    assert "in full: `equations`" in str(found)
    assert "characters" not in "".join(found.to_dict()["equations"])


def test_where_conditions_hold_the_formulas_do():
    """At random numbers none of the conditions is 0, and the weights are those of the instance."""
    problem = mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 1], [0, 0]]})
    general = mp.eliminate(problem)
    own = {
        "weights": {"W": [[0, 0], [2, 3]], "B": [[5], [7]], "D": [[11, 13]]},
        "samples": {"X": [[1, 2], [4, 3]]},
        "labels": {"Y": [[17, 19]]},
    }
    tables = {**own["weights"], **own["samples"], **own["labels"]}
    numbers = {
        sympy.Symbol(f"{name}_{i}_{j}"): value
        for name, rows in tables.items()
        for i, row in enumerate(rows)
        for j, value in enumerate(row)
    }
    assert all(condition.subs(numbers) != 0 for condition in general.conditions)
    special = mp.eliminate(problem, instance=own)
    assert special.conditions == ()
    assert special.weights == {k: value.subs(numbers) for k, value in general.weights.items()}
