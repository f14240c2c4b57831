"""What made a proof file: the key ``made_by`` of files and of JSON, which no check relies on.

It names the versions of matchprob and of msolve, for a reader who wants to make the file again.
A file proves what it proves whoever made it: `verify` reads the key as text and says that it is not
checked.  `algebra.certificates.signing.file_text` writes it; results in Python and tables inside of
others do not have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from algebra.checker.checks import UNCHECKED, Check, CheckFailed
from algebra.checker.records import Record
from algebra.errors import one_line

KEY = "made_by"
# Longer names of versions are refused.
_LONGEST = 40


@dataclass(frozen=True)
class Maker(Record):
    """The programs that made a file.

    Attributes
    ----------
    matchprob : str
        Its version.
    msolve : str or None
        Its version; missing if it was not installed.
    """

    matchprob: str
    msolve: str | None = None

    def check(self, place: str, context: Mapping[str, Any]) -> None:
        """Versions are short."""
        for name, value in vars(self).items():
            if len(value or "") > _LONGEST:
                raise CheckFailed(f"{place}.{name}", f"has more than {_LONGEST} characters")


def without_maker(data: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Check, ...]]:
    """The content of a file without its maker, and what a verification says of it.

    Raises
    ------
    CheckFailed
        If the key is there and not of its form.
    """
    if KEY not in data:
        return dict(data), ()
    made = Maker.from_dict(data[KEY], KEY)
    words = f"matchprob {made.matchprob}" + (f", msolve {made.msolve}" if made.msolve else "")
    text = f"informative only: the file says that {one_line(words)} made it"
    rest = {key: value for key, value in data.items() if key != KEY}
    return rest, (Check(KEY, UNCHECKED, text),)
