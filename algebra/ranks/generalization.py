"""Whether a match is the teacher's function: from ranks with more samples.

**Theorem.** Let the labels be analytic in the weights, and the laws of weights and samples
continuous.

(a) If a network is linear in the samples and has as many samples as inputs, almost surely each
    match is the teacher's function.
(b) If, for some m' > m samples, the generic rank of the allocation's Jacobian is below the whole
    network's, almost surely no match is the teacher's function.

(c) Let the network be linear in the samples, and ρ and ρ' the allocation's ranks with m samples and
    with as many as inputs, ρ' the whole network's.  If ρ < ρ', almost surely not every match is the
    teacher's function, if there is a match.

*Proof.* (a) The samples are almost surely a basis, and a linear map is determined by its values on
a basis.  (b) A student with the teacher's function matches on m' − m further samples, too; with m'
samples the match probability is 0 (`algebra.ranks.jacobian`).  (c) Labels are polynomials in the
weights, and a generic instance of the teacher is a generic point of the image of (fixed weights,
samples, w) ↦ (fixed weights, samples, labels), if there is a match.  So its real matches are a
manifold of dimension r − ρ, and those that are the teacher's function, the matches with more
samples, a closed one of dimension r − ρ' < r − ρ. ∎

Where none applies, a match that is the teacher's function is a match of the same instance with as
many samples as inputs, whichever these are: whether there is one, and how many, is counted there
(`on_a_basis`), with the same weights and teacher.
"""

from __future__ import annotations

from dataclasses import replace

from algebra.problems.premises import Feature, Premises
from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import allocation_rank, network_rank

_ANALYTIC = "labels are analytic in the weights, and the law has a density"
FUNCTIONS_AGREE = Premises(
    "functions of matches",
    "every match, or none, is the teacher's function",
    {
        **dict.fromkeys(
            (
                Feature.BOUNDED,
                Feature.SCALES,
                Feature.SIGNS,
                Feature.ZEROS,
                Feature.MEASURED,
                Feature.BOUNDED_MEASURED,
                Feature.POLYNOMIAL,
                Feature.ANALYTIC,
                Feature.BOUNDED_NONLINEAR,
                Feature.DENSE_TARGET,
            ),
            _ANALYTIC,
        ),
        **dict.fromkeys(
            (Feature.BOUNDS, Feature.MATCH_SIGNS), "(a) and (b) are about every match; (c) is not"
        ),
        Feature.EXACT: "(a) holds for all weights; (b) and (c) are not used",
        Feature.OWN_WEIGHTS: "(a) holds for all weights; (b) and (c) are not used",
        Feature.PIECES: "(a) holds for all maps that are linear; (b) and (c) are not used",
    },
)
# More labels, or more learnable weights, are not tried: the ranks take longer.
_MOST = 2_000


def matches_generalize(problem: Problem) -> bool | None:
    """Whether almost surely every match, or none, is the teacher's function.

    Parameters
    ----------
    problem : Problem

    Returns
    -------
    bool or None
        True: every match is; False: none is; None: not known.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> nets = [LinearRNN(n=2, T=2, b=1, d=1, m=m) for m in (1, 2)]
    >>> masks = [[[1, 0], [0, 0]], [[1, 1], [0, 0]]]
    >>> problems = [Problem(net, {"W": mask}) for net, mask in zip(nets, masks, strict=True)]
    >>> [matches_generalize(problem) for problem in problems]
    [False, True]
    """
    network = problem.network
    if not _is_generic(problem):
        return None
    inputs, m = network.input_shape
    if network.is_linear and m >= inputs:
        return True
    if not _has_ranks(problem):
        return None
    own, whole = _ranks(problem, inputs if network.is_linear else m + 1)
    return False if own < whole else None


def on_a_basis(problem: Problem) -> Problem | None:
    """The problem whose matches are the teacher's function: with as many samples as inputs.

    Instances of the same number have the same weights and the same teacher.

    Returns
    -------
    Problem or None
        None if the network is not linear in the samples, or the problem has enough samples.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> problem = Problem(LinearRNN(n=1, T=3, b=1, d=1, m=2), {"W": [[1]], "B": [[1]]})
    >>> on_a_basis(problem).network.m
    3
    """
    network = problem.network
    if not (_is_generic(problem) and network.is_linear):
        return None
    inputs, m = network.input_shape
    if m >= inputs:
        return None
    return replace(problem, network=network.with_samples(inputs))


def some_match_differs(problem: Problem) -> bool:
    """Whether almost surely not every match is the teacher's function, by (c).

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=1)
    >>> some_match_differs(Problem(net, {"W": [[1, 1], [1, 1]]}))
    True
    """
    if on_a_basis(problem) is None or problem.constraints or not _has_ranks(problem):
        return False
    inputs, m = problem.network.input_shape
    own, whole = _ranks(problem, inputs)
    return own == whole > _ranks(problem, m)[0]


def _is_generic(problem: Problem) -> bool:
    return FUNCTIONS_AGREE.applies(problem.features)


def _has_ranks(problem: Problem) -> bool:
    network = problem.network
    exact = network.rank_decides and network.ranks_are_exact(problem.support)
    small = max(network.outputs, problem.allocation.size) <= _MOST
    return exact and small and not problem.values


def _ranks(problem: Problem, samples: int) -> tuple[int, int]:
    """The ranks of the allocation and of the whole network with that many samples."""
    network = problem.network.with_samples(samples)
    whole = network_rank(network, problem.support)
    allocation = type(problem.allocation)(network, problem.allocation.cells)
    return allocation_rank(allocation, problem.support, whole.rank).rank, whole.rank
