"""Certificates as plain data, the places in them, and copies with one entry changed."""

import copy
import hashlib
import json

from algebra.families.certify import certify
from matchprob.api.proofs.checker import prepare_checks


def data_of(problem, **options):
    """What the file of a problem's certificate contains."""
    return json.loads(certify(problem, **options).to_json())


def failures(found):
    """The places of the checks of a file that fail; it does not hold."""
    assert not found.holds, str(found)
    return [check.place for check in found.checks if check.status == "failed"]


def places(data, path=()):
    """The path of every value in nested tables and lists, that of the whole first."""
    yield path
    if isinstance(data, (dict, list)):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(value, (*path, key))


def value_at(data, path):
    """The value at a place."""
    for key in path:
        data = data[key]
    return data


def changed(data, *places_and_values):
    """A copy with other values at some places, given as path, value, path, value …"""
    made = copy.deepcopy(data)
    pairs = iter(places_and_values)
    for path, value in zip(pairs, pairs, strict=True):
        value_at(made, path[:-1])[path[-1]] = value
    return made


def renamed(data, path):
    """A copy in which the last key of a path has another name."""
    made = copy.deepcopy(data)
    table = value_at(made, path[:-1])
    table[f"{path[-1]}_"] = table.pop(path[-1])
    return made


def without(data, path):
    """A copy that lacks the entry at a place."""
    made = copy.deepcopy(data)
    del value_at(made, path[:-1])[path[-1]]
    return made


def make_seeds_quickly():
    """Lower the cost of scrypt in this process; `test_reading` checks the cost elsewhere."""
    slow = hashlib.scrypt
    hashlib.scrypt = lambda data, **options: slow(data, **{**options, "n": 2})


def prepare_quick_checks(memory):
    """Prepare a process for checks, with seeds that are made quickly."""
    make_seeds_quickly()
    prepare_checks(memory)
