"""Reading proof files: what is accepted, what is refused, and with which limit."""

import subprocess
import sys

import pytest

from algebra.checker.reading import (
    PROOF_LIMITS,
    TooLarge,
    as_text,
    drawn_seed,
    network_size_within,
    read_json,
)
from algebra.errors import InputError
from tests.refusals import refuses


def test_plain_data_comes_back():
    """Tables, lists, texts with brackets, numbers, truth values and null."""
    data = {"a": [1, -2, 0.5, True, None], "b": {"c": '[[{\\"', "d": 10**4400}}
    assert read_json(as_text({**data, "b": {"c": data["b"]["c"]}})) == {
        **data,
        "b": {"c": data["b"]["c"]},
    }
    assert read_json("1" + "0" * 4400) == 10**4400


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a": 1, "a": 2}', "[NaN]", "[Infinity]", "[-Infinity]", '{"a": 01}', "[1,]"],
)
def test_what_is_not_json_is_bad_input(text):
    """A key given twice is refused too: readers differ in the value they take."""
    refuses("", read_json, text)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("[" * (PROOF_LIMITS.levels + 1) + "]" * (PROOF_LIMITS.levels + 1), "nested"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested"),
        ("[" + "9" * (PROOF_LIMITS.digits + 1) + "]", "digits"),
        ("[" + "9" * 3_000_000 + "]", "digits"),
        ("[1e1000000000]", "beyond the limit"),
        ("[0." + "3" * 100_000 + "]", "decimal number"),
    ],
)
def test_limits_are_named(text, limit):
    """Files beyond a limit are not converted, and prove nothing."""
    refuses(limit, read_json, text, error=TooLarge)


def test_data_without_a_json_form_is_refused():
    """Objects, sets, cycles and NaN are no plain data."""
    cycle: list = []
    cycle.append(cycle)
    for data in ({1, 2}, object(), float("nan"), cycle):
        refuses("", as_text, {"a": data}, error=(InputError, TooLarge))


@pytest.mark.parametrize(
    ("network", "limit"),
    [
        ({"kind": "linear", "q": 9000, "d": 9000, "m": 2}, "entries"),
        ({"kind": "lffn", "q": 1, "widths": [1] * 100_000, "d": 1, "m": 1}, "layers"),
        ({"kind": "lrnn", "n": 1, "T": 10**8, "b": 1, "d": 1, "m": 1}, "size"),
        ({"kind": "lrnn", "n": 1, "T": 10**6, "b": 1, "d": 1, "m": 10**4}, "entries"),
        ({"kind": "linear", "q": 10**400, "d": 1, "m": 1}, "size"),
        ({"kind": "normnet", "widths": [1, 5000, 5000], "hidden": [5000, 5000], "m": 1}, "entries"),
    ],
)
def test_small_files_do_not_speak_of_large_networks(network, limit):
    """A file of 486 characters may not require more work than a genuine file of this size."""
    refuses(limit, network_size_within, network, 486, error=TooLarge)


@pytest.mark.parametrize(
    ("network", "characters"),
    [
        ({"kind": "linear", "q": 300, "d": 30, "m": 30}, 20_000),
        ({"kind": "lrnn", "n": 64, "T": 32, "b": 1, "d": 16, "m": 32}, 10_000),
        ({"kind": "lrnn", "n": 3000, "T": 2, "b": 2, "d": 1, "m": 2}, 20_000),
        ({"kind": "relu", "q": 6, "n": 12, "d": 4, "m": 6}, 400),
        ("no table", 10),
    ],
)
def test_genuine_sizes_are_read(network, characters):
    """Networks and the files that `certify` writes of them; other entries are not changed."""
    network_size_within(network, characters)


def test_the_seed_follows_from_content_and_seed():
    """Order of keys and white space do not matter; any value, type or place does."""
    base = {"a": [1, "x"], "b": {"c": 2, "d": 10**5000}}
    same = read_json('{ "b": {"d": 1' + "0" * 5000 + ', "c": 2}, "a": [1,  "x"]}')
    assert drawn_seed(base, 1) == drawn_seed(same, 1)
    others = [
        {**base, "a": ["x", 1]}, {**base, "a": ["1", "x"]}, {**base, "a": [1, ["x"]]},
        {**base, "e": None}, {"a": base["a"], "c": base["b"]}, {**base, "a": [True, "x"]},
    ]  # fmt: skip
    assert len({drawn_seed(data, 1) for data in [base, *others]} | {drawn_seed(base, 2)}) == 8


def test_the_seed_is_made_slowly():
    """A try of a forger takes scrypt with 4 MiB; in the process of these tests it takes less."""
    code = (
        "import hashlib; from algebra.checker.reading import drawn_seed\n"
        "digest = hashlib.sha256(b\"{'a':[a,],}\").digest()\n"
        "slow = hashlib.scrypt(digest, salt=b'7', n=4096, r=8, p=1, dklen=16)\n"
        "print(drawn_seed({'a': [10]}, 7) == int.from_bytes(slow, 'big'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
