"""The real solutions of counted instances, each weight between its ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console

from algebra.networks.limits import plural
from matchprob.report.tables import table
from numeric.counts import CountResult
from numeric.instances import draw_instance

if TYPE_CHECKING:
    from numeric.certification.enclosures import Enclosure

# Weights of one instance that are written out, and characters of an end.
_MOST_WEIGHTS, _WIDEST_END = 40, 24
_HOW = {
    "rational": "in rationals: each box holds this solution and no other",
    "certified": "by Krawczyk's test: each box holds exactly one solution, a real one",
}


def enclosure_data(found: Enclosure | None) -> dict[str, Any]:
    """The ends as texts that say exactly them, for ``--json``; None where none is proved."""
    if found is None:
        return {"intervals": None, "enclosed": None}
    return {"intervals": found.texts(), "enclosed": found.how}


def print_enclosures(
    out: Console, found: CountResult, boxes: Sequence[Sequence[Enclosure | None]]
) -> None:
    """One line for each weight of each real solution."""
    how = sorted({one.how for own in boxes for one in own if one is not None})
    if not any(boxes):
        return
    out.print()
    for word in how:
        out.print(f"real solutions enclosed {_HOW[word]}")
    grid = table(
        "instance", "solution", "weight", "at least", "at most",
        right=("instance", "solution", "at least", "at most"),
    )  # fmt: skip
    left_out = 0
    for count, own in zip(found.instances, boxes, strict=True):
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
            for (name, i, j), ends in list(zip(cells, one.texts(), strict=True))[:_MOST_WEIGHTS]:
                low, high = map(_short, ends)
                grid.add_row(*place, f"{name}[{i},{j}]", low, high)
                place = ("", "")
    out.print(grid)
    if left_out:
        out.print(f"{plural(left_out, f'{left_out} weight')} more: --json has them all")


def _short(text: str) -> str:
    """A long fraction is cut: --json has it whole."""
    return text if len(text) <= _WIDEST_END else text[: _WIDEST_END - 1] + "…"
