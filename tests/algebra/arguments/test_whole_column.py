"""A whole column of W: number of solutions and real degree, by the theorem and by counting."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from algebra.arguments.whole_column import ARGUMENT, real_degree, whole_column
from algebra.checker.checks import CheckFailed
from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.systems.root_count import generic_root_count
from matchprob import LinearRNN, Problem, draw_instance
from numeric.engines.homotopy import HomotopyEngine
from numeric.trials.counts import COMPLETE
from tests.arguments import checked
from tests.plain_data import changed, data_of


def column_problem(n, T, b=1, column=0, **sizes):
    mask = np.zeros((n, n), int)
    mask[:, column] = 1
    net = LinearRNN(**({"n": n, "T": T, "b": b, "d": n, "m": 1} | sizes))
    return Problem(net, {"W": mask.tolist()})


@pytest.mark.parametrize("n", range(1, 6))
def test_the_degree_counts_self_complementary_partitions(n):
    """Partitions in the box, as lattice paths, that are invariant under a half turn."""
    for T in range(1, 7):
        length = n + T - 1
        paths = [set(up) for up in combinations(range(length), n)]
        same = sum(path == {length - 1 - k for k in path} for path in paths)
        assert same == real_degree(n, T)
        assert len(paths) == comb(length, n)


@pytest.mark.parametrize(
    ("n", "T", "b", "column"), [(2, 3, 1, 0), (2, 4, 2, 1), (3, 2, 1, 0), (3, 3, 1, 1)]
)
def test_solutions_and_signs_are_as_many_as_the_theorem_says(n, T, b, column, msolve):
    """N by Gröbner bases, and in complete counts the same sum of signs of det J everywhere."""
    problem = column_problem(n, T, b, column)
    N = generic_root_count(problem.allocation).value
    assert comb(T + n - 1, n) == N
    engine = HomotopyEngine(problem, root_count=N)
    draws = [draw_instance(problem, 1, k) for k in range(12)]
    complete = 0
    for draw, count in zip(draws, engine.count_many(draws), strict=True):
        if count.status == COMPLETE:
            complete += 1
            at = engine.chain.parameters(draw).real
            J = engine.chain.residuals(at, np.reshape(count.solutions, (-1, n)))[1]
            signs = np.linalg.slogdet(J)[0]
            assert abs(signs.sum()) == real_degree(n, T)
    assert complete >= 8


def test_even_numbers_of_solutions_can_be_maximal(msolve):
    """n = 2, T = 3: N = 6, and MP = 1, proved without any count."""
    data = data_of(column_problem(2, 3))
    assert (data["verdict"], data["generic_root_count"]) == ("maximal", 6)
    assert data["evidence"]["whole_column"] == 0
    found = verify(data)
    assert found.holds
    assert [c.status for c in found.checks if c.place == "verdict"] == ["proved"]


def test_degree_zero_has_instances_without_solutions(msolve):
    """n = 3, T = 2: the degree is 0, and the allocation is intermediate."""
    problem = column_problem(3, 2)
    assert whole_column(problem) is None
    assert certify(problem, search=20.0).verdict == "intermediate"


def test_more_may_learn(msolve):
    """A whole column suffices with further cells too."""
    problem = column_problem(3, 3)
    mask = np.array(problem.allocation.masks["W"])
    mask[0, 1] = 1
    wider = Problem(problem.network, {"W": mask.tolist()})
    assert whole_column(wider) == 0


@pytest.mark.parametrize(
    ("problem", "column", "complaint"),
    [
        (column_problem(2, 3), 1, "does not learn"),
        (column_problem(2, 3), 2, "does not learn"),
        (column_problem(3, 2), 0, "degree is 0"),
        (column_problem(3, 3, d=2), 0, "d = n"),
        (column_problem(2, 3, m=2), 0, "m = 1"),
        (Problem(LinearRNN(n=2, T=3, b=1, d=2, m=1), {"W": [[1, 0], [1, 0]]},
                 support={"B": [[0], [1]]}), 0, "degenerate"),
    ],
)  # fmt: skip
def test_where_the_theorem_does_not_apply(problem, column, complaint):
    """Other cells, other sizes, a degree of 0 and degenerate supports prove nothing."""
    assert whole_column(problem) is None or column != whole_column(problem)
    with pytest.raises(CheckFailed, match=complaint):
        checked(ARGUMENT, problem, column)


def test_forged_columns_are_refused(msolve):
    """Another column, another network, additional evidence: each is refused."""
    genuine = data_of(column_problem(2, 3))
    for path, value in (
        (("evidence", "whole_column"), 1),
        (("evidence", "whole_column"), True),
        (("problem", "network", "T"), 2),
        (("problem", "network", "m"), 2),
        (("verdict",), "intermediate"),
        (("evidence", "sub_allocation"), [["W", 0, 0], ["W", 1, 0]]),
    ):
        assert not verify(changed(genuine, path, value)).holds, path
    zero = data_of(column_problem(3, 2))
    zero["verdict"] = "maximal"
    zero["evidence"] = {
        k: v for k, v in zero["evidence"].items() if k not in ("no_real_root", "enclosed_solutions")
    } | {"whole_column": 0}
    assert not verify(zero).holds
