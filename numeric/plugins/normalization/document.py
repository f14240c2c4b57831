"""The document of a tuned network: its distance from the target, and what is proved about it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from algebra.documents import Document, Explanation, Paragraph, Step, Table, step
from algebra.results import attribute_columns
from algebra.words import plural

if TYPE_CHECKING:
    from numeric.plugins.normalization.construct import Construction

# Number of inputs of the forward check.
CHECKED = 256
# With a larger condition number half of a double's digits are lost.
_ILL = 1e8


def construction_document(found: Construction) -> Document:
    """The document of a construction."""
    if found.is_exact:
        title = "exactly the target, in rationals"
    elif math.isfinite(found.rounding):
        title = (
            f"‖f − g‖ ≤ {found.error_in_floating_point:.2e} on ‖x‖ ≤ {found.radius:g}, proved: "
            f"{found.error:.2e} for the exact function of these numbers and {found.rounding:.2e} "
            "for rounding, in any order of operations"
        )
    else:
        title = (
            f"‖f − g‖ ≤ {found.error:.2e} on ‖x‖ ≤ {found.radius:g}, proved for the exact "
            "function of these numbers; rounding is not covered"
        )
    facts = {
        "layers": len(found.blocks),
        "exact": found.is_exact,
        "error_bound": found.error,
        "rounding_bound": found.rounding,
        "measured_error": found.measured,
        "radius": found.radius,
        "condition": found.condition,
        "assumed": found.assumed or None,
    }
    columns = attribute_columns(found.blocks, "layer", "width", "needed", "method")
    for name in ("condition", "residual"):
        columns[name] = [f"{getattr(b, name):.1e}" for b in found.blocks]
    lines = [
        f"  layer {b.layer}: the scales that were tuned cannot realize it (proved modulo "
        f"{b.impossible})"
        for b in found.blocks
        if b.impossible
    ]
    lines += [f"  layer {b.layer}: {b.note}" for b in found.blocks if b.note]
    return Document(title, facts, (Table(columns), *map(Paragraph, lines)), _why(found))


def _why(found: Construction) -> Explanation:
    """The explanation of a construction."""
    if found.is_exact:
        text = (
            "The tuned network is the target, for every input: scales and shifts are rationals "
            "that satisfy the layers' equations, checked without rounding."
        )
        return Explanation((text,))
    known = [
        f"For every input of length at most {found.radius:g} the outputs differ by at most "
        f"{found.error:.2e}: proved, for the exact function of these numbers."
    ]
    open_ = decided_by = ""
    even = step("construct", "the even layers' scales too", second_scales=True)
    steps: list[Step] = [step("construct", "rationals, with error 0", exact=True)]
    if math.isfinite(found.rounding):
        known.append(
            "Evaluated in floating point they differ by at most "
            f"{found.error_in_floating_point:.2e}, in any order of operations."
        )
    else:
        open_ = "the error that rounding adds when the network is evaluated"
        decided_by = "a precision for which a bound exists"
    if found.measured is not None:
        known.append(f"At {CHECKED} random inputs it was {found.measured:.2e} at most.")
    impossible = [block.layer for block in found.blocks if block.impossible]
    if impossible:
        layers = ", ".join(map(str, impossible))
        known.append(
            f"The scales that were tuned cannot realize {plural(len(impossible), 'layer')} "
            f"{layers} exactly (proved modulo a prime): this is the reason for the error."
        )
        steps = [even]
    elif notes := [block.note for block in found.blocks if block.note]:
        known.append(f"Not every layer is realized: {'; '.join(dict.fromkeys(notes))}.")
        open_ = "whether other scales realize the target"
        decided_by = "a wider network"
        steps = [even, step("construct", "a random frozen network of sufficient width")]
    elif found.condition > _ILL:
        known.append(
            f"The worst layer's system has condition {found.condition:.1e}: errors of the data are "
            "enlarged by this factor."
        )
        steps.append(step("construct", "another frozen network", seed=1))
    return Explanation(tuple(known), open_, decided_by, tuple(steps))
