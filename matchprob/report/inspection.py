"""The equations of an inspection, and the core, as text."""

from __future__ import annotations

import itertools
import re
import textwrap
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from algebra.words import plural

if TYPE_CHECKING:
    from algebra.systems.symbolic import Elimination
    from algebra.systems.written import SymbolicSystem

# Lines for one equation, and for all polynomials of a core.
_EQUATION_LINES = 4
_CORE_LINES = 15
# Largest indent of a folded line.
_SET_IN = 6


def print_equations(out: Console, written: SymbolicSystem) -> None:
    """The equations, with the learnable weights in brackets, and the conditions."""
    pairs = list(zip(written.labels, written.equations, strict=True))
    # Only equations that can be printed are written out.
    most = getattr(out, "most", None) or max(len(pairs), len(written.conditions))
    left = len(pairs) - most
    of = f" ({len(pairs)} equations)" if left > 0 else ""
    out.print(Text(f"\n{written.title}{of}", style="bold"))
    names = written.unknowns[: written.weights]
    if names:
        out.print(f"  learnable weights stand between brackets: [{names[0]}]", markup=False)
    marks = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b") if names else None

    def marked(text: str) -> str:
        return marks.sub(r"[\1]", text) if marks else text

    for label, equation in pairs[:most]:
        text = marked(str(equation.expand()))
        whole = f"  {label}:  {text} = 0"
        if len(_folded(whole, out.width)) > _EQUATION_LINES:
            size = f" … ({_terms(equation)}; all: --json) = 0"
            whole = _cut(f"  {label}:  ", text, size, out.width, _EQUATION_LINES)
        out.print(whole, soft_wrap=True, markup=False)
    if left > 0:
        out.print(f"  … {left} more: --all")
    if written.conditions:
        out.print("  where, on this activation pattern,")
    for text in written.inequalities()[:most]:
        out.print(f"    {marked(text)}", soft_wrap=True, markup=False)
    if len(written.conditions) > most:
        out.print(f"    … {len(written.conditions) - most} more: --all")


def print_core(out: Console, found: Elimination) -> None:
    """The core after elimination, and the weights as functions of it, in less than 20 lines.

    Longer parts are truncated and their size is given; `Elimination.to_dict` (``--json``) has all.
    """
    data = "symbols for all data" if found.parameters else found.source
    out.print(Text(f"\nCore of the {found.form} form, {data}", style="bold"))
    if not found.consistent:
        out.print("  1 = 0: there is no solution, not even complex")
        return
    if not found.equations:
        free = ", ".join(found.unknowns)
        out.print(f"  no equation is left; free: {free}" if free else "  empty: linear throughout")
    items = [
        ("", equation, " = 0", f", degree {degree} in {plural(count, f'{count} unknown')}")
        for count in [len(found.unknowns)]
        for equation, degree in zip(found.equations, found.core.degrees, strict=True)
    ]
    items += [
        (f"[{name}] = ", value, "", "")
        for name, value in found.weights.items()
        if str(value) != name
    ]
    each = max(1, _CORE_LINES // max(len(items), 1))
    is_whole = len(items) <= _CORE_LINES
    for head, expression, tail, degree in items[:_CORE_LINES]:
        text = f"  {head}{expression}{tail}"
        if len(_folded(text, out.width)) > each:
            is_whole = False
            size = f" … ({_terms(expression)}{degree}){tail}"
            text = _cut(f"  {head}", str(expression), size, out.width, each)
        out.print(text, soft_wrap=True, markup=False)
    if found.deferred:
        names = ", ".join(found.deferred)
        text = f"  by linear equations, once these are known: {names}"
        if len(_folded(text, out.width)) > 1:
            is_whole = False
            text = f"  by linear equations, once these are known: {len(found.deferred)} unknowns"
        out.print(text, soft_wrap=True, markup=False)
    if found.conditions:
        is_whole &= _print_conditions(out, list(map(str, found.conditions)))
    if not is_whole:
        left = len(items) - _CORE_LINES
        more = f"… and {left} more; all" if left > 0 else "all"
        out.print(f"  {more} of it in full: --json", markup=False)


def _print_conditions(out: Console, conditions: list[str]) -> bool:
    """What must not be 0, in some lines; whether these are all of it."""
    head = "  where none of these is 0: "
    text, is_whole = head + ", ".join(conditions), True
    if len(_folded(text, out.width)) > _CORE_LINES // 4:
        short = [own for own in conditions if len(own) < out.width // 2]
        left, is_whole = len(conditions) - len(short), False
        text = head + ", ".join(short) + (f" and {left} longer" if left else "")
    out.print(text, soft_wrap=True, markup=False)
    return is_whole


def _terms(expression: Any) -> str:
    """The number of terms of a polynomial, or of a quotient's numerator and denominator."""
    top, bottom = (len(part.expand().as_ordered_terms()) for part in expression.as_numer_denom())
    return plural(top, f"{top} term") + (f" over {bottom}" if bottom > 1 else "")


def _folded(text: str, width: int) -> list[str]:
    """The largest number of lines of a text, with folded ones indented."""
    return textwrap.wrap(text, max(width - _SET_IN, 1))


def _cut(head: str, terms: str, ending: str, width: int, lines: int) -> str:
    """As many terms as fit before the ending into this number of lines."""
    depths = itertools.accumulate({"(": 1, ")": -1}.get(letter, 0) for letter in terms)
    breaks = [k for k, depth in enumerate(depths) if not depth and terms[k : k + 2] in (" +", " -")]
    texts = (head + terms[:k] + ending for k in reversed(breaks) if k < width * lines)
    fitting = (text for text in texts if len(_folded(text, width)) <= lines)
    return next(fitting, head + ending.lstrip())
