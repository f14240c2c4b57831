"""Random streams: each part of each trial has its own, which depends on nothing else.

The stream of a part of trial i of seed s is spawned from NumPy's ``SeedSequence(s)`` under the key
(i, part).  Its seeding takes longer than the numbers of a small trial, so that of many trials is
computed at once: the same hash [1]_, on arrays of words instead of words, gives the same states of
the same generator [2]_.

References
----------
.. [1] M. E. O'Neill, "Developing a seed_seq alternative" (2015); NumPy's ``SeedSequence``, which is
   guaranteed to stay as it is.
.. [2] M. E. O'Neill, "PCG: a family of simple fast space-efficient statistically good algorithms
   for random number generation", Harvey Mudd College, HMC-CS-2014-0905.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

# A new part comes last: the others' streams depend on their places.
_PARTS = (
    "weights",
    "teacher",
    "inputs",
    "allocation",
    "labels",
    "new samples",
    "search",
    "students",
)
_WORD, _LONG = (1 << 32) - 1, (1 << 128) - 1
_POOL = 4
# First constant of a hash and its factor, of the pool and of the output; factors of a mixture.
_OF_POOL = (0x43B0D7E5, 0x931E8875)
_OF_OUTPUT = (0x8B51F9DD, 0x58F38DED)
_LEFT, _RIGHT = np.uint32(0xCA01F9DD), np.uint32(0x4973F715)
_PCG_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645

Streams = Callable[[int, str], np.random.Generator]


def stream(seed: int, index: int, part: str) -> np.random.Generator:
    """The random generator of one part ("weights", "teacher", …) of one trial."""
    key = (index, _PARTS.index(part))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def streams_of(seed: int, indices: Sequence[int]) -> Streams:
    """A function from one of these trials and a part to the generator of `stream`.

    A generator is reset by the next call for the same part.
    """
    place = {index: k for k, index in enumerate(indices)}
    states: dict[str, list[tuple[int, int]]] = {}
    generators = {part: np.random.Generator(np.random.PCG64(0)) for part in _PARTS}

    def of(index: int, part: str) -> np.random.Generator:
        if part not in states:
            states[part] = _states(seed, indices, _PARTS.index(part))
        state, step = states[part][place[index]]
        generators[part].bit_generator.state = {
            "bit_generator": "PCG64",
            "state": {"state": state, "inc": step},
            "has_uint32": 0,
            "uinteger": 0,
        }
        return generators[part]

    return of


class _Hash:
    """The hash of words, whose constant changes with each call."""

    def __init__(self, constants: tuple[int, int]) -> None:
        self.constant, self.factor = constants

    def __call__(self, words: np.ndarray) -> np.ndarray:
        words = words ^ np.uint32(self.constant)
        self.constant = self.constant * self.factor & _WORD
        words = words * np.uint32(self.constant)
        return words ^ (words >> np.uint32(16))


def _states(seed: int, indices: Sequence[int], part: int) -> list[tuple[int, int]]:
    """State and increment of the PCG64 generator of one part of each trial."""
    words = [seed >> k & _WORD for k in range(0, max(1, seed.bit_length()), 32)]
    words += [0] * (_POOL - len(words))
    count = len(indices)
    entropy = [np.full(count, word, np.uint32) for word in words]
    entropy += [np.array(indices, np.uint32), np.full(count, part, np.uint32)]
    mixed = _Hash(_OF_POOL)
    pool = [mixed(own) for own in entropy[:_POOL]]

    def mix(k: int, words: np.ndarray) -> None:
        both: np.ndarray = _LEFT * pool[k] - _RIGHT * mixed(words)
        pool[k] = both ^ (both >> np.uint32(16))

    for source in range(_POOL):
        for k in range(_POOL):
            if k != source:
                mix(k, pool[source])
    for own in entropy[_POOL:]:
        for k in range(_POOL):
            mix(k, own)
    output = _Hash(_OF_OUTPUT)
    made = np.array([output(pool[k % _POOL]) for k in range(2 * _POOL)], np.uint64)
    # Pairs of words, the low one first, are four numbers: the high one of the state comes first.
    numbers = (made[::2] | made[1::2] << np.uint64(32)).T.tolist()
    out = []
    for high, low, above, below in numbers:
        step = (((above << 64 | below) << 1) | 1) & _LONG
        state = ((step + (high << 64 | low)) * _PCG_FACTOR + step) & _LONG
        out.append((state, step))
    return out
