"""Verdicts on normalization networks: thresholds, refusals, verification, exact instances."""

import json

import numpy as np
import pytest

from algebra.families.certify import certify
from algebra.families.verify import verify
from algebra.plugins.normalization.blocks import block_solvable, realizes_all
from algebra.plugins.normalization.certify import effective_learnable, target_rank
from algebra.plugins.normalization.dense import DenseNet
from algebra.plugins.normalization.khatri_rao import width_needed
from algebra.plugins.normalization.reconstruct import reconstruct
from algebra.plugins.normalization.scales import Unreachable
from algebra.plugins.papers.stated import papers_say
from algebra.problems.reduction import lowered
from algebra.ranks.generic_rank import allocation_rank
from matchprob import Distribution, NormNet, Problem, draw_instance

SCALES = ("g1", "b1", "b2")
EVERYTHING = ("g1", "g2", "b1", "b2")


def problem(net, names, **more):
    """All weights of some matrices learn."""
    return Problem(net, dict.fromkeys(names, "all"), **more)


@pytest.mark.parametrize("activation", ["relu", "linear"])
@pytest.mark.parametrize(("names", "second"), [(SCALES, False), (EVERYTHING, True)])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_threshold_in_width(activation, names, second, d):
    """Maximal from d² on (d² − d + 1 with all scales), with Theorem 1's statement from d² only."""
    w = width_needed(d, d, second_scales=second)
    found = certify(problem(NormNet.square(d, 1, w, d + 1, activation), names))
    assert found.verdict == "maximal"
    assert papers_say(found.problem)["norm.1"] == ("silent" if second else "maximal")
    less = certify(problem(NormNet.square(d, 1, w - 1, d + 1, activation), names))
    assert less.verdict == ("minimal" if activation == "linear" else "undecided")


def test_linear_minimal_below_by_rank():
    """Below the threshold a linear net's own Jacobian rank agrees with the formula."""
    for w in range(1, 9):
        net = NormNet.square(3, 1, w, 4, "linear")
        inner = lowered(problem(net, EVERYTHING)).problem
        own = allocation_rank(inner.allocation, inner.support).rank
        # Matrix part min(w + 2, 9), shifts 3; the target has 12.
        assert own == min(w + 2, 9) + 3


def test_fewer_samples_need_less_width():
    """With m samples w = n·min(n_0, m − 1) suffices; a unit less does not for this block."""
    net = NormNet((5, 2), (4,), 3)
    assert certify(problem(net, SCALES)).verdict == "maximal"
    assert isinstance(realizes_all(problem(NormNet((5, 2), (3,), 3), SCALES)), str)


def test_deep_relu_is_maximal():
    """Two layers of width 2 with hidden widths 4: all scales and shifts match every instance."""
    names = [f"{letter}{j}" for letter in "gb" for j in (1, 2, 3, 4)]
    found = certify(problem(NormNet.square(2, 2, 4, 9), names))
    assert (found.verdict, found.equations, len(found.evidence["construction"])) == (
        "maximal",
        6,
        2,
    )


def test_relu_counting():
    """Depth 1 with fewer weights than label dimensions is minimal, depth 2 intermediate."""
    flat = certify(problem(NormNet.square(3, 1, 4, 4), ("g1", "g2")))
    assert (flat.verdict, flat.equations, flat.rank) == ("minimal", 12, 7)
    deep = certify(problem(NormNet.square(3, 2, 2, 4), ("g1", "b4")))
    assert deep.verdict == "intermediate"
    assert "silent" in deep.notes[0]
    no_shift = certify(problem(NormNet.square(3, 2, 2, 4), ("g1",)))
    assert no_shift.verdict == "undecided"


def test_a_common_factor_counts_once():
    """Scales and shifts of a block with its output scales have a redundant factor."""
    net = NormNet.square(2, 1, 3, 3)
    assert effective_learnable(problem(net, EVERYTHING)) == 3 + 3 + 2 + 2 - 1
    assert effective_learnable(problem(net, SCALES)) == 3 + 3 + 2


def test_frozen_hidden_unit():
    """With ReLU a unit whose scale and shift do not learn prevents the construction."""
    net = NormNet.square(2, 1, 5, 3)
    some = [[1], [1], [1], [1], [0]]
    learn = {"g1": some, "b1": some, "b2": "all"}
    assert "frozen" in str(realizes_all(Problem(net, learn)))
    assert certify(Problem(net, learn | {"b1": "all"})).verdict == "maximal"
    assert certify(Problem(net, learn | {"g1": "all"})).verdict == "maximal"
    assert certify(Problem(NormNet.square(2, 1, 5, 3, "linear"), learn)).verdict == "maximal"


def test_narrow_net_is_minimal_whatever_learns():
    """A hidden width of 1 cannot give matrices of rank 2, though every weight learns."""
    net = NormNet((2, 2), (1,), 4, "linear")
    found = certify(problem(net, net.shapes))
    assert (found.verdict, found.rank, found.equations) == ("minimal", 5, 6)
    assert verify(json.loads(found.to_json())).holds


def test_sparse_support():
    """A hidden unit without inputs loses a dimension: at w = 4 the linear net is minimal."""
    mask = np.ones((4, 2), int)
    mask[0] = 0
    names = ("g1", "b2")
    for w, verdict in ((4, "minimal"), (5, "maximal")):
        W1 = np.vstack([mask, np.ones((w - 4, 2), int)])
        net = NormNet.square(2, 1, w, 3, "linear")
        assert certify(problem(net, names, support={"W1": W1})).verdict == verdict


def test_ordinary_weights():
    """As many ordinary weights of W2 instead of scales: certified too."""
    net = NormNet.square(2, 1, 4, 3, "linear")
    rows = certify(Problem(net, {"W2": [[1, 1, 0, 0], [1, 1, 0, 0]], "b2": "all"}))
    assert (rows.verdict, rows.generic_root_count) == ("maximal", 1)
    one_row = certify(Problem(net, {"W2": [[1, 1, 1, 1], [0, 0, 0, 0]], "b2": "all"}))
    assert one_row.verdict == "minimal"


def test_discrete_laws_are_noted():
    """With discrete laws the verdict does not give MP, and says so."""
    laws = Distribution(weights="rademacher")
    found = certify(problem(NormNet.square(2, 1, 4, 3), SCALES, distribution=laws))
    assert "discrete" in found.notes[0]


@pytest.mark.parametrize("names", [SCALES, EVERYTHING])
def test_maximal_instances_have_their_match(names):
    """A drawn instance of a maximal allocation is realized exactly in rationals."""
    net = NormNet.square(2, 1, width_needed(2, 2, second_scales="g2" in names), 5)
    instance = draw_instance(problem(net, names), 0, 0)
    target = DenseNet.of([instance.teacher["T1"]], [instance.teacher["t1"][:, 0]])
    weights, X, Y = instance.exact
    made = reconstruct(
        target, [weights["W1"], weights["W2"]], radius=10, second_scales="g2" in names
    )
    assert all(e == 0 for e in (made(X) - Y).ravel())


def test_points_are_reproducible():
    """A block's answer at a point is always the same, and the target's rank is cached by net."""
    case = problem(NormNet.square(2, 1, 4, 3), SCALES)
    assert block_solvable(case, 1, 1_073_741_827, 5) == (True, 4, 4)
    assert target_rank(case.network).rank == 6


def test_one_unit_less_fails_on_the_ball():
    """The bound of one hidden layer: at d² − d no scales realize a generic target."""
    rng = np.random.default_rng(0)
    W = [rng.standard_normal(s) for s in ((2, 2), (2, 2))]
    with pytest.raises(Unreachable):
        reconstruct(DenseNet.of([rng.standard_normal((2, 2))]), W, second_scales=True)
