"""What is known exactly of an allocation and may be related to its match probability.

Numbers of lines, of linear and quadratic equations, of unknowns and degrees of the core, of
activation patterns: the numbers that the first paper's principles compare
(`algebra.plugins.papers.theorems.principles`), and others that cost nothing.  `allocation_classes`
are the allocations of a budget up to symmetry, all or some drawn at random.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from algebra.errors import InputError
from algebra.families.equations import inspect_allocation
from algebra.networks.base import Network
from algebra.plugins.papers.atlas import orbits
from algebra.plugins.papers.theorems.principles import principles_about, used_lines
from algebra.plugins.papers.theorems.roles import roles
from algebra.plugins.relu.patterns import patterns_left_by_D3, patterns_left_by_D4
from algebra.problems.allocation import Allocation
from algebra.problems.symmetry import SymmetryGroup
from algebra.ranks.jacobian import all_cells
from algebra.systems.forms import DIRECT
from algebra.systems.inspection import FormReport, Inspection

# The paper's forms: of recurrent networks (Lemma 3.3) and of layers (Eqs. 4.1 to 4.3).
_PAPERS_FORMS = ("B", "forward")
# Draws for each class that is wanted, before those that were found are all that there are.
_DRAWS = 50


def structure_of(
    allocation: Allocation, support: Mapping[str, np.ndarray] | None = None, seed: int = 0
) -> dict[str, int | None]:
    """The numbers of an allocation by name; None for one that does not exist for its network.

    Parameters
    ----------
    allocation : Allocation
    support : mapping of str to mask, optional
    seed : int, optional
        Of the random point at which equations are eliminated.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> found = structure_of(Allocation.from_cells(net, [("W", 0, 0), ("W", 1, 1)]))
    >>> [found[name] for name in ("rows", "columns", "linear", "quadratic", "core", "bezout")]
    [2, 2, 4, 2, 1, 2]
    """
    return numbers_of(allocation, _forms(allocation, support or {}, seed))


def numbers_of(allocation: Allocation, forms: Sequence[FormReport]) -> dict[str, int | None]:
    """The numbers of `structure_of`, from the forms that were eliminated.

    Parameters
    ----------
    allocation : Allocation
    forms : sequence of FormReport
        The numbers of equations are those of the paper's form; without it they are None, unless
        there is no other form than the labels themselves.  Those of the core are None if
        elimination ends in 1 = 0.
    """
    found = used_lines(allocation)
    papers = next((f for f in forms if f.form in (*_PAPERS_FORMS, DIRECT.name)), None)
    solvable = [f for f in forms if f.consistent]
    least = min(solvable, key=lambda f: (f.core_unknowns, f.bezout), default=None)
    degrees = papers.by_degree if papers else {}
    found["linear"] = sum(v for k, v in degrees.items() if k <= 1) if papers else None
    found["quadratic"] = sum(v for k, v in degrees.items() if k > 1) if papers else None
    found["core"] = least.core_unknowns if least else None
    found["bezout"] = least.bezout if least else None
    found["terms"] = least.terms if least else None
    found |= _patterns(allocation)
    return found


def predictions(found: Inspection) -> tuple[str, ...]:
    """What the principles about its network predict of an inspected allocation, in sentences."""
    about = principles_about(found.allocation.network)
    if not about or not found.allocation.size:
        return ()
    numbers = numbers_of(found.allocation, found.forms)
    return tuple(words for p in about if (words := p.words(numbers)))


def _forms(
    allocation: Allocation, support: Mapping[str, np.ndarray], seed: int
) -> tuple[FormReport, ...]:
    return inspect_allocation(allocation, support, seed=seed, all_forms=True).forms


def _patterns(allocation: Allocation) -> dict[str, int | None]:
    """Activation patterns that the lemmas leave: of r = dm weights in the first layer."""
    network = allocation.network
    layer = roles(network).get("rectified layer")
    if not layer:
        return {}
    if allocation.matrices != layer or allocation.size != network.outputs:
        return {"patterns D.3": None, "patterns D.4": None}
    counts = [c for c in allocation.row_counts(*layer) if c]
    return {
        "patterns D.3": patterns_left_by_D3(len(counts), network.d, network.m),
        "patterns D.4": patterns_left_by_D4(counts, network.m),
    }


def allocation_classes(
    network: Network,
    matrices: Sequence[str],
    budget: int,
    support: Mapping[str, np.ndarray] | None = None,
    *,
    count: int | None = None,
    seed: int = 0,
) -> list[Allocation]:
    """One allocation of each class up to the symmetries that preserve MP.

    Parameters
    ----------
    network : Network
    matrices : sequence of str
    budget : int
        Number of learnable weights.
    support : mapping of str to mask, optional
    count : int, optional
        Number of classes, drawn with probabilities proportional to their sizes, without repetition;
        fewer if there are fewer.  All of them by default.
    seed : int, optional

    Raises
    ------
    InputError
        If the budget does not fit, or there are too many allocations to enumerate.
    """
    if count is None:
        return [allocation for allocation, _ in orbits(network, matrices, budget, support)]
    cells = [cell for cell in all_cells(network, support) if cell[0] in matrices]
    if not 0 < budget <= len(cells):
        raise InputError(f"`budget` ({budget}) must lie between 1 and {len(cells)} cells")
    try:
        group: SymmetryGroup | None = SymmetryGroup(network, matrices, support)
    except InputError:
        # The group is too large to enumerate: some classes may be drawn twice.
        group = None
    rng = random.Random(f"principles/classes/{seed}")
    found: dict[Allocation, None] = {}
    for _ in range(_DRAWS * count):
        drawn = Allocation.from_cells(network, rng.sample(cells, budget))
        found[group.canonical(drawn) if group else drawn] = None
        if len(found) == count:
            break
    return list(found)
