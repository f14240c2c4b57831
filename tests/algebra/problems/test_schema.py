"""The JSON Schema of problem files agrees with the parser, and is the file in docs/."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from algebra.errors import InputError
from algebra.networks.kinds import KINDS, MEANINGS
from algebra.problems.files import problem_from_dict
from algebra.problems.schema import problem_schema, schema_text
from tests.plain_data import changed, places, renamed
from tests.refusals import refuses
from tests.samples import many

ROOT = Path(__file__).parents[3]
CHECK = jsonschema.Draft202012Validator(problem_schema())
FILES = sorted([*ROOT.glob("examples/*.toml"), *ROOT.glob("tests/data/**/*.toml")])
GOOD = {
    "network": {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2},
    "learnable": {"W": [[1, 0], [0, 1]]},
}


def good(**more):
    """The good problem with some tables replaced or added."""
    return {**GOOD, **more}


def with_network(**more):
    """The good problem with some keys of its network replaced; None takes one out."""
    network = {**GOOD["network"], **more}
    return good(network={k: v for k, v in network.items() if v is not None})


def test_the_file_is_the_schema():
    """docs/problem.schema.json is the output of ``python -m algebra.problems.schema``."""
    assert (ROOT / "docs" / "problem.schema.json").read_text(encoding="utf-8") == schema_text()


def test_it_is_a_schema_and_can_be_written():
    """The schema is valid under the metaschema."""
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_genuine_files_are_valid(path):
    """The schema accepts every file that the parser reads."""
    CHECK.validate(tomllib.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        {"network": GOOD["network"]},
        good(learnable={"W": "all"}),
        good(learnable={"W": {"random": {"budget": 2, "rows": 1}}}),
        good(support={"W": [[1, 1], [0, 1]]}),
        good(distribution={"weights": "uniform"}),
        good(constraints={"max_abs": 3.0, "max_change": {"W": 1.0}, "sign": "keep"}),
        good(constraints={"max_abs": "inf"}),
        good(constraints={"max_abs": {"W": [[1.0, 2.0], [3.0, 0.0]]}, "sign": [[1, 0], [0, -1]]}),
        {"network": {"kind": "normnet", "widths": [2, 2], "hidden": [4], "m": 3}},
        {"network": {"kind": "lffn", "q": 2, "widths": [2], "d": 2, "m": 2}},
        with_network(kind="rnn", activation="erf", biases=True),
        with_network(kind="rnn", activation={"polynomial": [0, "1/3", 0.5]}),
    ],
    ids=str,
)
def test_what_is_right_is_right_for_both(data):
    """Every form of every table."""
    problem_from_dict(data)
    CHECK.validate(data)


@pytest.mark.parametrize(
    "data",
    [
        {},
        good(netwrok={}),
        good(network=3),
        with_network(kind="lrn"),
        with_network(kind=None),
        with_network(n=0),
        with_network(n=-2),
        with_network(n="2"),
        with_network(T=None),
        with_network(width=3),
        with_network(d=1.5),
        {"network": {"kind": "lffn", "q": 2, "widths": 2, "d": 2, "m": 2}},
        {
            "network": {
                "kind": "normnet",
                "widths": [2, 2],
                "hidden": [4],
                "m": 3,
                "activation": "x",
            }
        },
        with_network(kind="rnn", activation="swish"),
        with_network(kind="rnn", activation={"polynomial": [1]}),
        with_network(kind="rnn", biases=1),
        good(learnable={"W": [[1, 2], [0, 1]]}),
        good(learnable={"W": "some"}),
        good(learnable={"W": {"random": {}}}),
        good(learnable={"W": {"random": {"budget": 2, "row": 1}}}),
        good(support={"W": {"random": {"budget": 2}}}),
        good(distribution={"weights": "cauchy"}),
        good(distribution={"weight": "normal"}),
        good(constraints={"max_abs": -1}),
        good(constraints={"max": 1}),
        good(constraints={"sign": "up"}),
    ],
    ids=str,
)
def test_what_is_wrong_is_wrong_for_both(data):
    """The schema refuses a key or value that the parser refuses by itself."""
    refuses("", problem_from_dict, data)
    assert not CHECK.is_valid(data)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_sizes_are_named_with_their_meaning(kind):
    """For a file with a kind alone, the message names the missing keys and their meaning."""
    refuses(rf"lacks .*m \(.*m: {MEANINGS['m']}", problem_from_dict, {"network": {"kind": kind}})


@pytest.mark.parametrize(
    ("data", "meant"),
    [
        (good(learnabel={}), "learnable"),
        (with_network(widhts=[2]), None),
        (good(constraints={"max_abz": 1}), "max_abs"),
        (good(distribution={"weigths": "normal"}), "weights"),
    ],
)
def test_typing_errors_are_guessed(data, meant):
    """The nearest known key is named, if one is similar."""
    caught = refuses("", problem_from_dict, data)
    assert (f"did you mean `{meant}`?" in str(caught)) is (meant is not None)


_SIZE = st.sampled_from([1, 2, 3])
_BITS = st.integers(0, 1)
_BOUNDS = st.one_of(st.integers(0, 3), st.floats(0, 9), st.just("inf"))
_LAW = st.sampled_from(["normal", "uniform", "rademacher"])


@st.composite
def files(draw):
    """A random problem file: a linear RNN or a feed-forward net with random tables."""
    n, b, d = draw(_SIZE), draw(_SIZE), draw(_SIZE)
    kind = draw(st.sampled_from(["lrnn", "rnn", "ffn"]))
    if kind == "ffn":
        network = {"kind": kind, "q": b, "widths": [n], "d": d, "m": draw(_SIZE)}
        shapes = {"W1": (n, b), "W2": (d, n)}
    else:
        network = {"kind": kind, "n": n, "T": draw(_SIZE), "b": b, "d": d, "m": draw(_SIZE)}
        shapes = {"W": (n, n), "B": (n, b), "D": (d, n)}
    if kind != "lrnn":
        form = st.sampled_from(["tanh", "erf", "linear", {"polynomial": [0, "1/3", 0.5]}])
        network["activation"] = draw(form)
        network["biases"] = draw(st.booleans())
    if kind == "rnn":
        network["leak"] = draw(st.sampled_from([1, 0.5, "1/10", "learnable", [1] * n]))
        network["read"] = draw(st.sampled_from(["last", "all"]))

    def rows(entry, shape):
        row = st.lists(entry, min_size=shape[1], max_size=shape[1])
        return draw(st.lists(row, min_size=shape[0], max_size=shape[0]))

    def learns(shape):
        whole = shape[0] * shape[1]
        made = (
            lambda: rows(_BITS, shape),
            lambda: "all",
            lambda: {"random": {"budget": draw(st.integers(0, whole))}},
            lambda: {"lora": 1},
            lambda: {"gain": draw(st.sampled_from(["rows", "columns"]))},
            lambda: {"tied": [[1 + j for j in range(shape[1])] for _ in range(shape[0])]},
            lambda: {"gain": "rows", "groups": [1] * shape[0]},
        )
        return draw(st.sampled_from(made))()

    chosen = draw(st.lists(st.sampled_from(sorted(shapes)), unique=True))
    data = {"network": network, "learnable": {name: learns(shapes[name]) for name in chosen}}
    if draw(st.booleans()):
        data["distribution"] = {part: draw(_LAW) for part in ("weights", "inputs", "teacher")}
    plain = chosen and all(isinstance(v, (list, str)) for v in data["learnable"].values())
    if plain and draw(st.booleans()):
        data["constraints"] = {
            "max_abs": {chosen[0]: draw(_BOUNDS)},
            "sign": draw(st.sampled_from(["keep", "+", "-"])),
        }
    if kind == "lrnn" and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(shapes)))
        data["values"] = {name: rows(st.sampled_from([1, "1/2", 0.25]), shapes[name])}
    if draw(st.booleans()):
        data["names"] = {"inputs": [f"in{k}" for k in range(b)]}
    return data


def _read(data):
    """Whether the parser accepts a file."""
    try:
        problem_from_dict(data)
    except InputError:
        return False
    return True


@given(files())
@settings(max_examples=many(300), deadline=None)
def test_random_files_that_are_read_are_valid(data):
    """Parser and schema are made from one declaration: what is read has its form."""
    assume(_read(data))
    CHECK.validate(data)


@given(files(), st.data())
@settings(max_examples=many(300), deadline=None)
def test_damaged_files_are_refused(data, more):
    """A renamed key or a value of another type is refused by both.

    The schema knows neither the names of matrices nor which texts are numbers.
    """
    assume(_read(data))
    path = more.draw(st.sampled_from([path for path in places(data) if path]))
    names = ["rename"] if isinstance(path[-1], str) else []
    damage = more.draw(st.sampled_from([-7, 2.5, "?", {"?": 1}, *names]))
    wrong = renamed(data, path) if damage == "rename" else changed(data, path, damage)
    if CHECK.is_valid(wrong) == _read(wrong):
        return
    assert CHECK.is_valid(wrong), f"the parser reads {path}: {damage!r}, the schema refuses it"
    names_a_matrix = path[0] in ("learnable", "values") or path[:2] == ("constraints", "max_abs")
    is_name = names_a_matrix and damage in ("rename", {"?": 1})
    is_number = path[0] == "values" or path[1:3] == ("activation", "polynomial")
    assert is_name or (is_number and damage == "?"), f"the schema accepts {path}: {damage!r}"
