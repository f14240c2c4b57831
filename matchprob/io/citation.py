"""Entries of a bibliography in BibTeX: matchprob and the papers whose questions it answers.

``matchprob --cite`` prints them; ``CITATION.cff`` in the sources says the same to other programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Entry(NamedTuple):
    """An entry.

    Attributes
    ----------
    kind : str
    key : str
    fields : mapping of str to str
    """

    kind: str
    key: str
    fields: Mapping[str, str]

    def __str__(self) -> str:
        wide = max(map(len, self.fields))
        lines = [f"  {name.ljust(wide)} = {{{text}}}," for name, text in self.fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def _preprint(key: str, authors: str, title: str, year: str, number: str) -> Entry:
    fields = {
        "author": authors,
        "title": f"{{{title}}}",
        "year": year,
        "eprint": number,
        "archiveprefix": "arXiv",
        "url": f"https://arxiv.org/abs/{number}",
    }
    return Entry("misc", key, fields)


PAPERS = (
    _preprint(
        "schlisselberg2025allocation", "Schlisselberg, Ofir and Darshan, Ran",
        "The impact of allocation strategies in subset learning on the expressive power of neural "
        "networks",
        "2025", "2502.06300",
    ),
    _preprint(
        "giannou2023normalization",
        "Giannou, Angeliki and Rajput, Shashank and Papailiopoulos, Dimitris",
        "The expressive power of tuning only the normalization layers",
        "2023", "2302.07937",
    ),
)  # fmt: skip


def bibliography() -> str:
    """matchprob in its present version, and the two papers.

    Examples
    --------
    >>> bibliography().splitlines()[0]
    '@software{matchprob,'
    """
    from matchprob import __version__

    title = "matchprob: exact and numerical algebra of neural networks in which only some weights "
    own = {
        "author": "{The matchprob authors}",
        "title": f"{{{title}learn}}",
        "version": __version__,
        "license": "MIT",
    }
    entries = (Entry("software", "matchprob", own), *PAPERS)
    return "\n\n".join(map(str, entries)) + "\n"
