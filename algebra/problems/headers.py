"""Words of published edge lists: the headers of their columns and the types of synapses.

A column of units is recognized by one word for the side (`SIDES`) beside words that only say that
units are named (`_UNIT_WORDS`): ``pre_pt_root_id``, ``bodyId_post``, ``Presynaptic_ID``,
``from_id``.  Any other word makes it another column: ``pre_type``, ``post_x``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from algebra.errors import InputError, shown
from algebra.problems.file_entries import CHEMICAL, ELECTRICAL, POST, PRE, RECEIVED

SIDES: dict[str, tuple[str, ...]] = {
    PRE: ("pre", "presyn", "presynaptic", "source", "src", "origin", "from", "sender", "upstream"),
    POST: (
        "post", "postsyn", "postsynaptic", "target", "tgt", "destination", "to", "receiver",
        "downstream",
    ),
}  # fmt: skip
_UNIT_WORDS = {
    "id", "ids", "name", "neuron", "cell", "unit", "node", "root", "pt", "body", "bodyid", "rootid",
    "segment", "seg", "skeleton", "skid", "synaptic", "number", "label",
}  # fmt: skip
# Other meanings and their words, compared without regard to case; "_" is a blank.
HEADERS: dict[str, tuple[str, ...]] = {
    "cost": ("cost",),
    "weight": (
        "weight", "weights", "synapses", "synapse count", "syn count", "contacts", "count",
        "number of connections", "connections", "connectivity", "nbr", "nbr of synapses",
        "number of synapses", "number of contacts", "num synapses", "n synapses", "n syn",
        "num connections", "n connections", "contact count", "synaptic weight", "syn weight",
        "edge weight", "strength", "nsyns", "n syns", "num syns", "nsyn",
    ),
    "sign": ("sign",),
    "type": (
        "type", "synapse type", "syn type", "edge type", "connection type", "synaptic type",
    ),
    "region": ("roi", "neuropil", "region"),
    "matrix": ("matrix",),
}  # fmt: skip
# First words of a header above names of units.
NAME_HEADERS = (
    "name", "neuron", "neurons", "cell", "bodyid", "root_id", "pt_root_id", "id", "neuron_id",
)  # fmt: skip
# The meanings that the number of an edge can have.
VALUES = ("cost", "weight", "sign")
MEANINGS = (PRE, POST, *HEADERS)

TYPES: dict[str, tuple[str, ...]] = {
    CHEMICAL: (
        CHEMICAL, "chem", "c", "s", "sp", "send", "send joint", "send-joint", "send_joint",
        "send-poly", "chemical synapse",
    ),
    ELECTRICAL: (
        ELECTRICAL, "electric", "e", "ej", "gap", "gap junction", "gap_junction", "gapjunction",
        "gap-junction", "electrical synapse",
    ),
    RECEIVED: (
        RECEIVED, "r", "rp", "receive", "receive joint", "receive-joint", "receive_joint",
        "receive-poly",
    ),
}  # fmt: skip

# Words of Gephi for an edge, and whether it has no direction.
DIRECTIONS = {"directed": False, "undirected": True}

_MEANING = {word: meaning for meaning, words in HEADERS.items() for word in words}
_ROUNDED = re.compile(r"\d+\.0*|\d+\.\d*[eE]\+?\d+|\d+[eE]\+\d+")
_SIDE = {word: side for side, words in SIDES.items() for word in words}
_CANONICAL = {word: kind for kind, words in TYPES.items() for word in words}


def meaning_of(header: str) -> str:
    """The meaning of a column's header, one of `MEANINGS`; "" if it is not known.

    Examples
    --------
    >>> [meaning_of(word) for word in ("Presynaptic_ID", "bodyId_post", "pre_type", "Nbr")]
    ['pre', 'post', '', 'weight']
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", header.strip())
    if re.fullmatch(r"[\w \-./#]+", spaced) is None:
        return ""
    words = re.split(r"[ _\-./#]+", spaced.lower().strip(" _-./#"))
    if known := _MEANING.get(" ".join(words), ""):
        return known
    ends = [re.sub(r"(?<=.)id$", "", word) if word not in _UNIT_WORDS else word for word in words]
    sides = [_SIDE[word] for word in ends if word in _SIDE]
    others = [word for word in ends if word not in _SIDE and word not in _UNIT_WORDS]
    return sides[0] if len(sides) == 1 and not others else ""


def canonical_type(word: str) -> str:
    """The type of synapse that a word of a file means; another word in lower case."""
    word = word.strip().lower()
    return _CANONICAL.get(word, word)


def is_rounded(unit: str) -> bool:
    """Whether a unit's id was converted to a floating-point number.

    Examples
    --------
    >>> [is_rounded(text) for text in ("7.2E+17", "29.0", "29", "Mi1", "5E3")]
    [True, True, False, False, False]
    """
    return _ROUNDED.fullmatch(unit) is not None


def types_of(words: Iterable[str]) -> dict[str, str]:
    """The type of synapse of each word of a list's column, in lower case.

    Abbreviations of one or two letters (E, R, S) are types of synapses only beside words that are
    known; "E" and "I" may be excitatory and inhibitory.

    Examples
    --------
    >>> types_of(["S", "EJ"])["ej"], types_of(["E", "I"])["e"]
    ('electrical', 'e')
    """
    listed = {word.strip().lower() for word in words}
    known = all(word in _CANONICAL or word in ("", "nmj") for word in listed)
    return {w: _CANONICAL.get(w, w) if known or len(w) > 2 else w for w in listed}


def is_header(words: Sequence[str]) -> bool:
    """Whether words are the header of an edge list: they name both sides."""
    return {PRE, POST} <= set(map(meaning_of, words))


def columns_of(header: Sequence[str]) -> dict[str, int]:
    """The place of each column whose meaning is known, by the words of a header.

    Raises
    ------
    InputError
        If two columns have one meaning, there are several numbers of an edge, or `pre` or `post` is
        missing.
    """
    at: dict[str, int] = {}
    for k, word in enumerate(header):
        meaning = meaning_of(word)
        if meaning in at:
            raise InputError(
                f"its columns {shown(header[at[meaning]])} and {shown(word)} both mean "
                f"`{meaning}`: choose one, as in columns = "
                f'{{ {meaning} = "{word}", … }} beside `edges`'
            )
        if meaning:
            at[meaning] = k
    for name in (PRE, POST):
        if name not in at:
            raise InputError(
                f"an edge list has one column `{name}`; the header is {shown(list(header))}: write "
                f"`{name}` in it ({', '.join(SIDES[name])} are known too), or say which column it "
                f'is: {{ edges = "…", columns = {{ pre = "…", post = "…" }} }}'
            )
    check_values(at, header)
    return at


def check_values(at: Mapping[str, Any], header: object) -> None:
    """Refuse several numbers of an edge.

    Raises
    ------
    InputError
    """
    if len([name for name in VALUES if name in at]) > 1:
        raise InputError(
            f"an edge list has at most one column of {', '.join(VALUES)}; not {shown(header)}"
        )


def chosen_columns(columns: Any, first: Sequence[str]) -> tuple[dict[str, int], bool]:
    """The place of each column that the user names, and whether the first row is a header.

    Parameters
    ----------
    columns : str or mapping
        Meanings in the order of the columns, ``"pre post weight"``, with any other word for a
        column that does not count; or the header's word for each meaning.
    first : sequence of str
        The first row.

    Raises
    ------
    InputError
    """
    if isinstance(columns, Mapping):
        at = {}
        for meaning, word in columns.items():
            if meaning not in MEANINGS:
                raise InputError(
                    f"`columns` has the key {shown(meaning)}; its keys are {', '.join(MEANINGS)}"
                )
            found = [k for k, text in enumerate(first) if text == str(word).strip()]
            if len(found) != 1:
                many = "several columns are" if found else "no column is"
                raise InputError(
                    f"`columns`: {many} named {shown(word)}; the first row is {shown(list(first))}"
                )
            at[meaning] = found[0]
        given, is_first = dict(columns), True
    elif isinstance(columns, str):
        words = columns.replace(",", " ").split()
        named = [(meaning_of(word), k) for k, word in enumerate(words)]
        at = {meaning: k for meaning, k in reversed(named) if meaning}
        given = {meaning: word for (meaning, _), word in zip(named, words, strict=True) if meaning}
        if len([meaning for meaning, _ in named if meaning]) > len(at):
            raise InputError(f"`columns` ({shown(columns)}) names one meaning twice")
        if len(words) > len(first):
            raise InputError(
                f"`columns` ({shown(columns)}) names {len(words)} columns, and the first row "
                f"({shown(','.join(first))}) has {len(first)}"
            )
        is_first = is_header(first)
    else:
        raise InputError(
            f'`columns` ({shown(columns)}) must be the order of the columns, "pre post weight", or '
            'their words in the header, { pre = "…", post = "…" }'
        )
    if not {PRE, POST} <= set(at):
        raise InputError(f"`columns` ({shown(columns)}) must name both `pre` and `post`")
    check_values(at, columns if isinstance(columns, str) else given)
    return at, is_first
