"""The real solutions of counted instances: bounds of each weight, and the costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from algebra.arguments.minimal_polynomials import polynomial_text
from algebra.words import plural
from matchprob.report.documents import table
from numeric.matches.solutions import FORMATS, SolutionCost
from numeric.trials.count_result import CountResult
from numeric.trials.instances import draw_instance

if TYPE_CHECKING:
    from flint import fmpz_poly

    from numeric.certification.enclosures import Enclosure

# Weights of one instance that are printed.
_MOST_WEIGHTS = 40
# Characters of an end, and of a polynomial.
_WIDEST_END = 24
_WIDEST_POLYNOMIAL = 32
_HOW = {
    "rational": "in rationals: each box holds this solution and no other",
    "certified": "by Krawczyk's test: each box holds exactly one solution, a real one",
}


def enclosure_data(
    found: Enclosure | None, polynomials: Sequence[fmpz_poly] | None
) -> dict[str, Any]:
    """The ends as exact texts, for ``--json``; None if none is proved.

    It includes the minimal polynomials of the weights, if they are known.
    """
    over_q = None if polynomials is None else [polynomial_text(own) for own in polynomials]
    if found is None:
        return {"intervals": None, "enclosed": None, "minimal_polynomials": over_q}
    return {
        "intervals": found.texts(), "enclosed": found.how, "minimal_polynomials": over_q,
    }  # fmt: skip


def print_enclosures(
    out: Console,
    found: CountResult,
    boxes: Sequence[Sequence[Enclosure | None]],
    polynomials: Sequence[Sequence[tuple[fmpz_poly, ...] | None]],
) -> None:
    """One line for each weight of each real solution."""
    how = sorted({one.how for own in boxes for one in own if one is not None})
    if not any(boxes):
        return
    out.print()
    for word in how:
        out.print(f"real solutions enclosed {_HOW[word]}")
    over_q = ("root of, over Q",) * any(map(any, polynomials))
    grid = table(
        "instance", "solution", "weight", "at least", "at most", *over_q,
        right=("instance", "solution", "at least", "at most"),
    )  # fmt: skip
    left_out = 0
    for count, own, known in zip(found.instances, boxes, polynomials, strict=True):
        if not own:
            continue
        assert found.problem is not None
        cells = draw_instance(found.problem, found.seed, count.index).allocation.cells
        for k, one in enumerate(own, 1):
            place = (str(count.index), f"{k} of {len(own)}")
            if one is None:
                grid.add_row(*place, "not certified", "–", "–")
                continue
            left_out += max(0, len(cells) - _MOST_WEIGHTS)
            roots_of = known[k - 1] or ()
            for c, ((name, i, j), ends) in enumerate(zip(cells, one.texts(), strict=True)):
                if c == _MOST_WEIGHTS:
                    break
                last = (_short_polynomial(roots_of[c]),) if roots_of else ()
                grid.add_row(*place, f"{name}[{i},{j}]", *map(_short, ends), *last)
                place = ("", "")
    out.print(grid)
    if left_out:
        out.print(f"{plural(left_out, f'{left_out} weight')} more: --json has them all")


def print_solutions(
    out: Console, found: CountResult, costs: Sequence[Sequence[SolutionCost]]
) -> None:
    """One line for each real solution with its cost."""
    if not any(costs):
        return
    numbers = (
        "instance",
        "largest |w|",
        "largest change",
        "distance",
        "signs kept",
        "condition",
        *FORMATS,
    )
    grid = table(*numbers, right=numbers)
    for count, own in zip(found.instances, costs, strict=True):
        for c in own:
            grid.add_row(
                str(count.index), f"{c.size:.4g}", f"{c.change:.4g}", f"{c.distance:.4g}",
                f"{c.signs_kept}/{len(c.weights)}",
                "∞" if c.condition is None else f"{c.condition.high:.3g}",
                *(f"{c.residuals[name]:.1e}" for name in FORMATS),
            )  # fmt: skip
    out.print("real solutions; the last columns are the relative errors of labels after rounding")
    out.print(grid)


def _short(text: str) -> str:
    """A long fraction is truncated; --json contains all of it."""
    return text if len(text) <= _WIDEST_END else text[: _WIDEST_END - 1] + "…"


def _short_polynomial(polynomial: fmpz_poly) -> str:
    """A minimal polynomial, or the size of a long one; --json contains all of it."""
    text = polynomial_text(polynomial)
    if len(text) <= _WIDEST_POLYNOMIAL:
        return text
    digits = max(len(str(abs(int(c)))) for c in polynomial.coeffs())
    return f"degree {polynomial.degree()}, up to {plural(digits, f'{digits} digit')}"
