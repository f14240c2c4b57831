"""Whether a match is the teacher's function: from ranks with more samples.

**Theorem.** Let the labels be analytic in the weights, and the laws of weights and samples
continuous.

(a) If a network is linear in the samples and has as many samples as inputs, almost surely each
    match is the teacher's function.
(b) If, for some m' > m samples, the generic rank of the allocation's Jacobian is below the whole
    network's, almost surely no match is the teacher's function.

*Proof.* (a) The samples are almost surely a basis, and a linear map is determined by its values on
a basis.  (b) A student with the teacher's function matches on m' − m further samples, too; with m'
samples the match probability is 0 (`algebra.ranks.jacobian`). ∎

Where neither applies, some matches may be the teacher's function and others not.
"""

from __future__ import annotations

from algebra.problems.problem import Problem
from algebra.ranks.generic_rank import allocation_rank, network_rank

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
    fixed = not (problem.is_random or problem.updates)
    if not (fixed and problem.has_plain_labels and problem.distribution.is_continuous):
        return None
    inputs, m = network.input_shape
    if network.is_linear and m >= inputs:
        return True
    exact = network.rank_decides and network.ranks_are_exact(problem.support)
    if not exact or problem.values or max(network.outputs, problem.allocation.size) > _MOST:
        return None
    more = network.with_samples(inputs if network.is_linear else m + 1)
    whole = network_rank(more, problem.support)
    allocation = type(problem.allocation)(more, problem.allocation.cells)
    own = allocation_rank(allocation, problem.support, whole.rank)
    return False if own.rank < whole.rank else None
