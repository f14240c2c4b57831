r"""Labels that contradict a positive definite form of the weights: MP < 1 without any count.

Let only cells of W learn in a linear recurrent network, T ≥ 2, d ≤ n, 1 ≤ k ≤ b and (T − 1) b + k ≤
m; there may be more weights than equations.  A row of W is *long* if more than k of its cells
learn, otherwise *short*.

**Theorem.** Let D (d×n), P (n×k) and K (k×d) be real matrices such that

(a) the columns of D at long rows are independent, fewer than d, and orthogonal to K,
(b) for each long row the rows of P at its learnable cells have rank k; and w ↦ D w P, for w that is
    0 outside the learnable cells, has rank d k,
(c) q(w) = tr K D w² P is positive on {w : D w P = 0}, except where w_i P = 0 for the long rows i
    and w_i = 0 for the short ones.

Then MP < 1.

*Proof.* As (K D)_i = 0 for long rows, q(w) = Σ (K D)_i w_i w P, a sum over the short rows.  So q is
a quadratic form of y, which consists of w_i for the short rows and of z_i = w_i P for the long
ones, and the entries of D w P are linear forms of y.  By (c) q is positive definite on the y with D
w P = 0.

An instance: output weights D; input weights B whose first k columns are P; fixed weights of W that
are all 0; samples that are impulses, so that the columns of the labels are D W^j B_c for all inputs
c if j ≥ 2, and for c ≤ k if j = 1.  Let the labels be η for j = 1, and Z for j = 2 and c ≤ k.  A
student w has D w P = η and D w² P = Z, hence q(w) = tr K Z.  The y with D w P = η are an affine
space, on which the least value of q tends to 0 with η.  So for tr K Z = −1 and small η there is no
student.  Some teacher has such labels: if W_t has the single entry μ, at (1, 1), D_t the first
column a / μ², and B_t the first row β, then η = a β / μ and Z = a β, and tr K a β = −1 for suitable
a and β.

The instances near it have no student either.  For c ≤ k there are two combinations of samples with
the labels D W p_c and D W (W p_c + B g_c), p_c near P_c and g_c near 0: that X_j vanishes on them
for j > 1, or for j > 2, are conditions of full rank, X_j being the inputs that W^j acts on.  By (a)
there is a matrix near K that is orthogonal to the columns of D at long rows.  With it and with z_i
= W_i (p_1, …, p_k) for the long rows, the first labels are affine in y, their combination of the
second ones is quadratic, and both are near those above.  By (b) the affine space of the first
labels moves continuously, so the form stays positive definite along it, and its least value above
the value asked for.  The teachers near the given one fill an open set.  Instances are scaled into
the reach of uniform laws as in `algebra.arguments.no_real_root`. ∎

The same holds for the transpose, with W^T, P^T, D^T, K^T in the places of W, D, P, K: long are then
the columns of W with more than d learnable cells.

Example: n = 6, T = 3, b = 1, d = 2, m = 5, cells (0,3) (1,0) (2,5) (3,1) (4,4) (5,3) (5,5).  There
is one weight more than equations, and the numbers of solutions of all parts are even.  Given D W B,
the states W B are in a space of dimension 4, and a combination of the labels D W² B is a quadratic
polynomial of them.  For a few instances it is bounded; least squares found a match in each of 1,000
random ones.

**Verification**, in rational arithmetic.  The search (`numeric.arguments.definite_search`) works in
floating point with y as unknowns; here all learnable weights are unknowns.  The form q and C: w ↦ D
w P do not depend on the part of w_i with w_i P = 0 in long rows.  By (b) these parts have the
dimension Σ (c_i − k), over the long rows, of c_i cells.  So (c) says that q on ker C has no
negative square, and that its rank is less than the dimension of ker C by this number.

*Survey*: of the first 240 nets of `benchmarks/bench_undecided.py` it decides 4, two of them alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from flint import fmpq

from algebra.arguments.argument import Argument, Claimed, FoundEvidence
from algebra.checker.checks import PROVED, CheckFailed
from algebra.checker.premises import GENERIC_LABELS, NEARBY, NOISY
from algebra.checker.records import Record
from algebra.checker.verdicts import INTERMEDIATE
from algebra.declarations import Keyword
from algebra.linalg.rational import rational_kernel, rational_rank
from algebra.networks.chain import need_chain
from algebra.problems.premises import Feature
from algebra.problems.problem import Problem
from algebra.time_limits import check_time, phase

if TYPE_CHECKING:
    from algebra.arguments.case import Case

PLACE = "evidence.definite_form"
# Largest absolute values of entries in a file, and number of weights: then a check takes seconds.
_LARGEST = 10**4
_LARGEST_IN_K = 10**15
_MOST_WEIGHTS = 100
_Entry = Annotated[int, Keyword("minimum", -_LARGEST), Keyword("maximum", _LARGEST)]
_EntryInK = Annotated[int, Keyword("minimum", -_LARGEST_IN_K), Keyword("maximum", _LARGEST_IN_K)]
Lines = Literal["rows", "columns"]


@dataclass(frozen=True)
class DefiniteForm(Record):
    """Matrices D, P and K of the theorem, and whether rows or columns of W are long.

    Attributes
    ----------
    lines : str
        "rows" or "columns".
    D, P, K : tuple of tuple of int
        Of shapes d×n, n×k and k×d, by rows.
    """

    lines: Lines
    D: tuple[tuple[_Entry, ...], ...]
    P: tuple[tuple[_Entry, ...], ...]
    K: tuple[tuple[_EntryInK, ...], ...]


def inputs_of_first_power(problem: Problem) -> int:
    """The largest k for which the theorem may apply; 0 where it is not applicable.

    Parameters
    ----------
    problem : Problem
        With a fixed allocation.

    Examples
    --------
    >>> from algebra.networks.recurrent import LinearRNN
    >>> net = LinearRNN(n=2, T=2, b=2, d=1, m=3)
    >>> inputs_of_first_power(Problem(net, {"W": [[1, 1], [1, 0]]}))
    1
    """
    if problem.network.chain() is None:
        return 0
    network = need_chain(problem.network)
    is_covered = ARGUMENT.theorem(INTERMEDIATE).applies(problem.features)
    if not is_covered or network.chain().recurrent not in problem.allocation.matrices:
        return 0
    if len(problem.allocation.matrices) > 1 or problem.allocation.size > _MOST_WEIGHTS:
        return 0
    samples = np.zeros(network.input_shape, np.int64)
    recurs = network.steps > 1 and network.drive(samples) is samples
    if not recurs or network.d > network.inner_widths[0]:
        return 0
    inputs = network.step_inputs
    return max(0, min(inputs, network.m - (network.steps - 1) * inputs))


def learnable_cells(problem: Problem, lines: Lines) -> np.ndarray:
    """The mask of the recurrent matrix, transposed for columns."""
    mask = np.asarray(problem.allocation.masks[problem.allocation.matrices[0]]) != 0
    return mask if lines == "rows" else mask.T


def search(case: Case) -> FoundEvidence | None:
    """A form that the search in floating point finds and that is definite."""
    find = case.effort.tools.definite_form
    if find is None:
        return None
    with phase("positive definite forms"):
        found = find(case.problem)
    if found is None:
        return None
    return FoundEvidence(
        INTERMEDIATE, "some labels contradict a positive definite form of the weights", found
    )


def check(problem: Problem, form: DefiniteForm, claimed: Claimed) -> str:
    """The matrices of the file satisfy the conditions of the theorem."""
    complaint = why_not_definite(problem, form)
    if complaint:
        raise CheckFailed(PLACE, complaint)
    text = "labels that only an indefinite form reaches: its form is positive definite"
    claimed.say(PLACE, PROVED, text)
    return PROVED


def why_not_definite(problem: Problem, claimed: DefiniteForm) -> str:
    """Why the theorem does not apply; "" if it does."""
    most = inputs_of_first_power(problem)
    if not most:
        what = f"at most {_MOST_WEIGHTS} cells of W only"
        return f"needs a linear RNN with {what}, T ≥ 2, d ≤ n and m > (T − 1) b"
    network = need_chain(problem.network)
    n, d, k = network.inner_widths[0], network.d, len(claimed.K)
    shapes = ((claimed.D, d, n), (claimed.P, n, k), (claimed.K, k, d))
    for given, rows, columns in shapes:
        if len(given) != rows or any(len(row) != columns for row in given):
            return f"the matrices are not of the sizes {d}×{n}, {n}×k and k×{d}"
    if not 1 <= k <= most:
        return f"k = {k} is not one of 1 to {most}"
    D, P, K = (np.array(rows, dtype=object) for rows in (claimed.D, claimed.P, claimed.K))
    if claimed.lines == "columns":
        D, P, K = P.T, D.T, K.T
    mask = learnable_cells(problem, claimed.lines)
    outputs, inputs = D.shape[0], P.shape[1]
    numbers = mask.sum(axis=1)
    long = np.flatnonzero(numbers > inputs).tolist()
    KD = K.dot(D)
    if len(long) >= outputs or (long and rational_rank(D[:, long].T) < len(long)):
        return f"the columns of D at {len(long)} long {claimed.lines} are dependent or too many"
    if any(KD[:, long].ravel()):
        return f"K D is not 0 at long {claimed.lines}"
    for i in long:
        if rational_rank(P[np.flatnonzero(mask[i])]) < inputs:
            return f"P has too small a rank at the cells of long line {i}"
    cells = [(int(i), int(j)) for i, j in np.argwhere(mask)]
    C = [[D[a, i] * P[j, c] for i, j in cells] for a in range(outputs) for c in range(inputs)]
    kernel = rational_kernel(C, len(cells))
    if len(kernel) != len(cells) - outputs * inputs:
        return "the labels of first power are dependent"
    # The coefficient of w_ij w_jl in q is (P K D)_li.
    PKD = P.dot(KD)
    Q = [[PKD[v, i] * (j == u) + PKD[j, u] * (v == i) for u, v in cells] for i, j in cells]
    basis = np.array([[fmpq(v) for v in row] for row in kernel], dtype=object)
    basis = basis.reshape(len(kernel), len(cells))
    positive = _positive_squares(basis.dot(np.array(Q, dtype=object)).dot(basis.T))
    free = sum(int(numbers[i]) - inputs for i in long)
    if positive != len(kernel) - free:
        return "the form is not positive definite"
    return ""


def _positive_squares(form: np.ndarray) -> int | None:
    """Rank of a symmetric matrix of rationals without negative squares; None if it has one."""
    form, rank = form.copy(), 0
    while form.size:
        check_time()
        diagonal = form.diagonal()
        if any(value < 0 for value in diagonal):
            return None
        at = next((k for k, value in enumerate(diagonal) if value != 0), None)
        if at is None:
            return None if any(value != 0 for value in form.ravel()) else rank
        row = form[at]
        form = form - np.multiply.outer(row, row) / row[at]
        form = np.delete(np.delete(form, at, 0), at, 1)
        rank += 1
    return rank


ARGUMENT = Argument(
    name="definite_form",
    form=DefiniteForm,
    why={
        INTERMEDIATE: "MP < 1: for some fixed weights and samples a combination of the labels is a "
        "positive definite quadratic form of the learnable weights, and teachers exist for which "
        "it would have to be negative. The same holds for all instances near these."
    },
    search=search,
    check=check,
    covers={
        INTERMEDIATE: {
            Feature.BOUNDED: NEARBY[Feature.BOUNDED],
            Feature.DISCRETE: NEARBY[Feature.DISCRETE],
            Feature.SCALES: NEARBY[Feature.SCALES],
            Feature.ARBITRARY_LABELS: GENERIC_LABELS,
            Feature.NOISE: NOISY,
        }
    },
)
