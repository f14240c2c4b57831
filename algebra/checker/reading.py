r"""Reading of proof files: JSON text to plain data, within limits.

The writer of a proof file may intend to mislead, or to exhaust the reader.  So before anything is
computed, the length of the text, the nesting of its brackets and the digits of its numbers are
compared with limits; repeated keys, NaN and infinities are rejected.  Numbers longer than any
legitimate data are never converted.

`network_size_within` compares the size of the network in a file with the length of the file: a file
of 500 bytes with matrices of 10^8 entries is rejected.

Data that may be legitimate but exceed the limits raise `TooLarge`: the proof is then undecided.
`algebra.checker.fields` interprets the plain data.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from math import prod
from typing import Any, NoReturn

from flint import fmpz

from algebra.errors import InputError, Unfinished, shown


@dataclass(frozen=True)
class ProofLimits:
    """The most that is read of a proof file.

    Attributes
    ----------
    characters : int
        Of the file.
    levels : int
        Of brackets.
    digits : int
        Of an integer.
    decimal, exponent : int
        Characters of a number with a point, and the size of its power of ten.
    entries, entries_per_character : int
        Weights and inputs of the problem: in any file, and more for each of its characters.
    layers, size : int
        Of the network.
    """

    characters: int = 50_000_000
    levels: int = 40
    digits: int = 20_000
    decimal: int = 40
    exponent: int = 308
    entries: int = 1_000_000
    entries_per_character: int = 1_000
    layers: int = 1_000
    size: int = 1_000_000


PROOF_LIMITS = ProofLimits()


class TooLarge(Unfinished):
    """Data beyond the limits of reading; the proof is undecided."""


def read_json(text: str) -> Any:
    """The plain data of a JSON text.

    Parameters
    ----------
    text : str

    Raises
    ------
    InputError
        If it is not JSON, repeats a key or contains NaN or an infinity.
    TooLarge
        If it is longer, deeper or has longer numbers than the limits allow.

    Examples
    --------
    >>> read_json('{"rank": 3}')
    {'rank': 3}
    """
    if len(text) > PROOF_LIMITS.characters:
        raise TooLarge(
            f"the file has {len(text):,} characters; the limit of a proof file is "
            f"{PROOF_LIMITS.characters:,}"
        )
    _check_levels(text)
    try:
        return json.loads(
            text,
            parse_int=_json_integer,
            parse_float=_json_decimal,
            parse_constant=_no_constant,
            object_pairs_hook=_no_key_twice,
        )
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}") from None


def as_text(data: Any) -> str:
    """Plain data as JSON text, so that data and files are read in one way.

    Raises
    ------
    InputError
        If the data has no JSON form.
    """
    try:
        return json.dumps(data, allow_nan=False)
    except RecursionError:
        raise TooLarge(
            f"the data is nested too deeply; the limit is {PROOF_LIMITS.levels} levels"
        ) from None
    except (TypeError, ValueError) as error:
        if "integer string conversion" in str(error):
            raise TooLarge(
                f"the data holds an integer of more than {PROOF_LIMITS.digits:,} digits"
            ) from None
        raise InputError(f"the data is not that of a proof file: {error}") from None


def drawn_seed(data: Any, seed: int) -> int:
    """The seed of the primes and points of a check: it follows from the file and a given seed.

    Parameters
    ----------
    data : plain data
        Of a proof file.
    seed : int

    Notes
    -----
    Whoever knows the primes beforehand writes numbers that vanish modulo them.  With this seed the
    writer can only try files, until one of them gets primes at which a false statement passes.  If
    a statement is wrong with probability ε at random primes, 1/ε files are tried on average.  The
    digest is therefore made slowly, by scrypt [1]_ with 4 MiB and about 10 ms: for the ranks'
    2^-60 that is 10^16 seconds.  A root count of r weights has no better bound than about
    (r d^r 2^-30)^2 for two primes (`algebra.ranks.root_count_error`).  A reader who gives a seed
    that the writer cannot have known needs no such reckoning: then the writer has one try.

    References
    ----------
    .. [1] C. Percival, S. Josefsson, "The scrypt password-based key derivation function",
       RFC 7914 (2016).
    """
    digest = hashlib.sha256()
    for part in _canonical(data):
        digest.update(part.encode("utf-8", "surrogatepass"))
    found = hashlib.scrypt(digest.digest(), salt=b"%d" % seed, n=1 << 12, r=8, p=1, dklen=16)
    return int.from_bytes(found, "big")


def _canonical(value: Any) -> Iterator[str]:
    """Texts that determine plain data, whatever the order of keys and the white space were."""
    if isinstance(value, Mapping):
        yield "{"
        for key in sorted(value, key=str):
            yield f"{str(key)!r}:"
            yield from _canonical(value[key])
            yield ","
        yield "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for entry in value:
            yield from _canonical(entry)
            yield ","
        yield "]"
    else:
        # Hexadecimal digits have no limit of length, and take linear time.
        yield f"{value:x}" if type(value) is int else repr(value)


def _check_levels(text: str) -> None:
    level = 0
    # Brackets in strings do not count.
    for mark in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text, re.DOTALL):
        first = mark.group()[0]
        if first in "[{":
            level += 1
            if level > PROOF_LIMITS.levels:
                raise TooLarge(
                    f"brackets are nested more than {PROOF_LIMITS.levels} deep, "
                    "the limit of a proof file"
                )
        elif first in "]}":
            level -= 1


def _json_integer(text: str) -> int:
    if len(text) > PROOF_LIMITS.digits:
        raise TooLarge(f"an integer has {len(text):,} digits; the limit is {PROOF_LIMITS.digits:,}")
    # FLINT reads long integers fast, and without Python's own limit.
    return int(fmpz(text))


def _json_decimal(text: str) -> Decimal:
    """A number with a point or an exponent, exactly."""
    if len(text) > PROOF_LIMITS.decimal:
        raise TooLarge(
            f"a decimal number of {len(text):,} characters; the limit is {PROOF_LIMITS.decimal}"
        )
    value = Decimal(text)
    if abs(value.adjusted()) > PROOF_LIMITS.exponent:
        raise TooLarge(f"the number {text} is beyond the limit, 10^±{PROOF_LIMITS.exponent}")
    return value


def _no_constant(text: str) -> NoReturn:
    raise InputError(f"not JSON: {text} is no number")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the key {shown(twice)} is given twice in one table")
    return data


def _entries(value: list[Any]) -> list[Any]:
    """The entries of a list, in which some may be lists themselves."""
    return [one for entry in value for one in (entry if type(entry) is list else [entry])]


def network_size_within(network: Any, characters: int, place: str = "problem.network") -> None:
    """Reject a network that is far larger than its file.

    Parameters
    ----------
    network : plain data
        The ``network`` table; a value that is not a table is reported elsewhere.
    characters : int
        Length of the file.
    place : str, optional

    Raises
    ------
    TooLarge
        The message names the limit.

    Notes
    -----
    It bounds the entries of the weights, inputs and labels without constructing anything: products
    of neighbouring layers if there are layers, otherwise of the two largest sizes.
    """
    if not isinstance(network, Mapping):
        return
    sizes = {str(name): value for name, value in network.items() if type(value) is int}
    layers = [_entries(value) for value in network.values() if type(value) is list]
    depth = max((len(widths) for widths in layers), default=0)
    if depth > PROOF_LIMITS.layers:
        raise TooLarge(
            f"`{place}` has {depth:,} layers; verification reads at most {PROOF_LIMITS.layers:,}"
        )
    widths = [width for row in layers for width in row if type(width) is int]
    for size in (*sizes.values(), *widths):
        if size > PROOF_LIMITS.size:
            raise TooLarge(
                f"`{place}` has a size of {shown(size)}; at most {PROOF_LIMITS.size:,} is read"
            )
    steps, samples = max(1, sizes.pop("T", 1)), max(1, sizes.pop("m", 1))
    largest = sorted(sizes.values(), reverse=True)
    if widths:
        chain = [sizes.get("q", 1), *widths, sizes.get("d", 1)]
        entries = sum(one * other for one, other in pairwise(chain))
    else:
        entries = prod(largest[:2])
    entries += (largest[0] if largest else 1) * samples * steps
    most = PROOF_LIMITS.entries + PROOF_LIMITS.entries_per_character * characters
    if entries > most:
        raise TooLarge(
            f"`{place}` has some {entries:,} entries, a file of {characters:,} characters may "
            f"speak of {most:,}"
        )
