"""Symbols in sentences as formulas: ``ρ_A < ρ``, ``d·min(m, Tb)``, ``2⁻⁶⁰``.

Pages are read in editors and on the web alike, so their sentences have plain letters, with indices
as ``J_A`` and exponents as ``W^s`` or ``2⁻⁶⁰``.  On the site such expressions are set as `mathml`
sets formulas.  An expression is a chain of symbols and numbers between operators; code, headings
and pages that are made from docstrings are left as they are.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

# Letters that are symbols where they stand alone: no articles, units or names of neurons.
_LETTERS = "bdijklmnpqruvwxyzBCDFGHJKLMNPQTVWXY"
_GREEK = "αβγδεζηθκλμνξπρστφχψωΓΔΘΛΞΠΣΦΨΩ"
# Products and words that are written as one.
_FUNCTIONS = ("MP", r"det(?=\()", r"min(?=\()", r"max(?=\()")
_WORDS = (*_FUNCTIONS, "Tbd", "kTb", "Tb", "Td", "Tm", "Tn", "dm", "km")
_UP = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵃᵇᵈᵏᵐⁿˢᵀᵗ", "0123456789-+abdkmnsTt", strict=True))
_DOWN = dict(zip("₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₗₘₙₜ₊₋", "0123456789ijklmnt+-", strict=True))
_OPERATORS = {
    "<": "<", ">": ">", "=": "=", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "+": "+", "−": "-",
    "·": r"\cdot ", "×": r"\times ", "∈": r"\in ", "⊗": r"\otimes ", "±": r"\pm ", "/": "/",
    "⇔": r"\Leftrightarrow ", "⇒": r"\Rightarrow ", "→": r"\to ", ",": ",",
}  # fmt: skip

_SCRIPT = (
    rf"(?:_\{{[^{{}}]+\}}|_[A-Za-z0-9]{{1,2}}(?!\w)|_[A-Za-z0-9](?=\^)|[{''.join(_DOWN)}]+)?"
    rf"(?:\^\{{[^{{}}]+\}}|\^[-−]?[A-Za-z0-9]{{1,3}}(?!\w)|[{''.join(_UP)}]+|['′])?"
)
_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_INDEXED = r"[A-Za-z](?=[_^ᵃ-ᵿⁿ₀-₉ᵢⱼ⁰-⁹²³¹′])"
# The letter a is an article, unless an operator stands beside it.
_A = r"a(?= ?[·+−=≤≥<>])|(?<=[·×])a|(?<=[+−] )a"
_ONE = rf"(?:{'|'.join(_WORDS)}|{_INDEXED}|[{_LETTERS}]|{_A}|[{_GREEK}])(?![A-Za-z])"
_SYMBOL = rf"(?:rank (?=[A-Z]))?{_ONE}{_SCRIPT}"
_PLAIN = rf"(?:{_SYMBOL}|{_NUMBER}{_SCRIPT})"
_CHAIN = rf"{_PLAIN}(?: ?[<>=≤≥≠+−·×∈⊗±⇔⇒→] ?{_PLAIN}|[/,]{_PLAIN})*"
_GROUP = rf"\({_CHAIN}(?:, {_CHAIN})*\){_SCRIPT}"
# In brackets by itself: with an operator, as "(b)" is an item of a list.
_ALONE = r"\((?=[^()]*[<>=≤≥≠+−·×∈⊗±])"
_ATOM = rf"(?:{_SYMBOL}{_GROUP}|{_ALONE}{_CHAIN}(?:, {_CHAIN})*\){_SCRIPT}|{_PLAIN}(?:{_GROUP})?)"
_EXPRESSION = re.compile(
    rf"(?<![\w.`$/-])−?{_ATOM}(?: ?[<>=≤≥≠+−·×∈⊗±⇔⇒→] ?−?{_ATOM}|/{_PLAIN})*(?![\w`$[]|[.,/-]\w)"
)
_LEXEMES = re.compile(
    rf"(?P<word>rank (?=\w)|{'|'.join(_WORDS)})|(?P<number>{_NUMBER})"
    r"|_(?:\{(?P<sub1>[^{}]+)\}|(?P<sub2>[A-Za-z0-9]+))|\^(?:\{(?P<sup1>[^{}]+)\}|(?P<sup2>[-−]?\w+))"
    rf"|(?P<up>[{''.join(_UP)}]+)|(?P<down>[{''.join(_DOWN)}]+)|(?P<prime>['′]+)|(?P<other>.)"
)
_NAMED = {
    "MP": r"\mathrm{MP}", "rank ": r"\mathrm{rank}\,", "det": r"\det ", "min": r"\min ",
    "max": r"\max ",
}  # fmt: skip
# An author's initial: after the begin of a text, a comma or "and", before a point and a name.
_BEFORE_INITIAL = re.compile(r"(?:^|[,;:(]|\band|\.)\s*$")
_AFTER_INITIAL = re.compile(r"\.(?:-[A-Z]\.)? [A-Z]")
_LEFT = (
    nodes.literal, nodes.literal_block, nodes.math, nodes.math_block, nodes.title, nodes.raw,
    nodes.comment, nodes.caption,
)  # fmt: skip
_MADE = ("made/", "gallery/", "tutorials/")


def is_formula(text: str) -> bool:
    """Whether an expression has a symbol; a number alone stays text, if it has no exponent."""
    return re.search(rf"[{_GREEK}{''.join(_UP)}{''.join(_DOWN)}_^]|[A-Za-z]", text) is not None


def tex_of(text: str) -> str:
    r"""The TeX of an expression.

    Examples
    --------
    >>> tex_of("rank J_A < 2⁻⁶⁰"), tex_of("ρ_A ≤ d·min(m, Tb)")
    ('\\mathrm{rank}\\,J_{A} < 2^{-60}', '\\rho _{A} \\le  d\\cdot \\min (m, Tb)')
    """
    parts = []
    for found in _LEXEMES.finditer(text):
        kind, value = found.lastgroup or "", found[0]
        if kind in ("sub1", "sub2"):
            parts.append(f"_{{{tex_of(found[kind])}}}")
        elif kind in ("sup1", "sup2"):
            parts.append(f"^{{{tex_of(found[kind])}}}")
        elif kind in ("up", "down"):
            mark, plain = ("^", _UP) if kind == "up" else ("_", _DOWN)
            parts.append(f"{mark}{{{''.join(plain[letter] for letter in value)}}}")
        elif kind == "word":
            parts.append(_NAMED.get(value, value))
        elif kind == "number":
            parts.append(value.replace(",", "{,}"))
        elif kind == "prime":
            parts.append("'" * len(value))
        elif value in _GREEK:
            if value in "ΣΠ" and text[found.end() : found.end() + 1] == "_":
                parts.append(r"\sum " if value == "Σ" else r"\prod ")
                continue
            name = unicodedata.name(value).removeprefix("GREEK ").split()
            letter = name[-1].replace("LAMDA", "LAMBDA").lower()
            parts.append(f"\\{letter.capitalize() if name[0] == 'CAPITAL' else letter} ")
        else:
            parts.append(_OPERATORS.get(value, value))
    return "".join(parts)


class Symbols(SphinxPostTransform):
    """Replaces the expressions in a page's sentences by formulas."""

    default_priority = 5

    def run(self, **more: Any) -> None:
        """Go through all texts of a page."""
        if self.env.docname.startswith(_MADE):
            return
        for text in list(self.document.findall(nodes.Text)):
            above = text.parent
            while above is not None and not isinstance(above, _LEFT):
                above = above.parent
            if above is None and (parts := _parts(str(text))):
                text.parent.replace(text, parts)


def _parts(text: str) -> list[nodes.Node]:
    """The parts of a text that has expressions; empty if it has none."""
    found, end = list[nodes.Node](), 0
    for match in _EXPRESSION.finditer(text):
        is_initial = (
            len(match[0]) == 1
            and _BEFORE_INITIAL.search(text[: match.start()])
            and _AFTER_INITIAL.match(text[match.end() :])
        )
        if is_formula(match[0]) and not is_initial:
            if match.start() > end:
                found.append(nodes.Text(text[end : match.start()]))
            tex = tex_of(match[0])
            found.append(nodes.math(match[0], tex))
            end = match.end()
    return [*found, nodes.Text(text[end:])] if found else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Enter the transform."""
    app.add_post_transform(Symbols)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
