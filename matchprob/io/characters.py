"""Characters that a terminal of ASCII or Latin-1 does not know, told in those that it does.

Tables stay aligned: nearly every character becomes one character.  What has no likeness is
written as its number, so that two different characters never look alike by chance.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import TextIO

NAME = "matchprob.likeness"

_LIKE = dict(zip("−–—×·●○■█▪│─≈↦‖∘⊙⊗⊕“”‘’∎", "---x.#oo##|-~>|o*x+\"\"''#", strict=True))
# Where one character would say something else.
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
    # An exponent of several characters is one exponent.
    return re.sub(r"(?<=[-+\d])\^(?=[-+\d])", "", text), error.end


def accept_all(stream: TextIO) -> None:
    """Let a stream take every character, whatever its encoding is."""
    codecs.register_error(NAME, _replace)
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors=NAME)
