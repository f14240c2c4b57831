"""Replacements for characters that ASCII or Latin-1 cannot encode.

Tables stay aligned: nearly every character is replaced by one character.  A character without a
replacement is written as its code point, so that different characters stay different.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import TextIO

NAME = "matchprob.likeness"

_LIKE = dict(zip("−–—×·●○■█▪│─≈↦‖∘⊙⊗⊕“”‘’∎", "---x.#oo##|-~>|o*x+\"\"''#", strict=True))
# Exceptions, where a single character would mean something else.
_LIKE |= {"…": "...", "≤": "<=", "≥": ">=", "≠": "!=", "±": "+-", "→": "->", "⟶": "-->"}
_LIKE |= {"∞": "inf", "√": "sqrt ", "∈": " in ", "⁻": "^-", "⁺": "^+", "§": "section "}
_LIKE |= {"Σ": "sum ", "Π": "product ", "µ": "u", "λ": "lambda"}


def like(character: str) -> str:
    """ASCII that stands for a character.

    Examples
    --------
    >>> "".join(map(like, "●·×ρ2"))
    '#.xrho2'
    """
    if character.isascii():
        return character
    if known := _LIKE.get(character):
        return known
    name = unicodedata.name(character, "")
    if name.startswith("GREEK SMALL LETTER "):
        return name.rpartition(" ")[2].lower()
    if name.startswith("GREEK CAPITAL LETTER "):
        return name.rpartition(" ")[2].title()
    mark = "^" if unicodedata.decomposition(character).startswith("<super>") else ""
    base = "".join(c for c in unicodedata.normalize("NFKD", character) if c.isascii())
    return mark + base if base else f"\\u{ord(character):04x}"


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = "".join(map(like, error.object[error.start : error.end]))
    # An exponent of several characters is written with one exponent sign.
    return re.sub(r"(?<=[-+\d])\^(?=[-+\d])", "", text), error.end


def accept_all(stream: TextIO) -> None:
    """Make a stream accept every character, whatever its encoding."""
    codecs.register_error(NAME, _replace)
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=NAME)
