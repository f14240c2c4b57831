"""The JSON Schema of problem files agrees with the parser, and is the file in docs/."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from algebra.errors import InputError
from algebra.networks.base import KINDS
from algebra.problems.files import problem_from_dict
from algebra.problems.schema import MEANINGS, problem_schema, schema_text

ROOT = Path(__file__).parents[3]
CHECK = jsonschema.Draft202012Validator(problem_schema())
FILES = sorted([*ROOT.glob("examples/*.toml"), *ROOT.glob("tests/data/**/*.toml")])
GOOD = {
    "network": {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2},
    "learnable": {"W": [[1, 0], [0, 1]]},
}


def changed(**more):
    """The good problem with some tables replaced or added."""
    return {**GOOD, **more}


def with_network(**more):
    """The good problem with some keys of its network replaced; None takes one out."""
    network = {**GOOD["network"], **more}
    return changed(network={k: v for k, v in network.items() if v is not None})


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
        changed(learnable={"W": "all"}),
        changed(learnable={"W": {"random": {"budget": 2, "rows": 1}}}),
        changed(support={"W": [[1, 1], [0, 1]]}),
        changed(distribution={"weights": "uniform"}),
        changed(constraints={"max_abs": 3.0, "max_change": {"W": 1.0}, "sign": "keep"}),
        changed(constraints={"max_abs": "inf"}),
        changed(
            constraints={"max_abs": {"W": [[1.0, 2.0], [3.0, 0.0]]}, "sign": [[1, 0], [0, -1]]}
        ),
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
        changed(netwrok={}),
        changed(network=3),
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
        with_network(kind="rnn", activation="relu"),
        with_network(kind="rnn", activation={"polynomial": [1]}),
        with_network(kind="rnn", biases=1),
        changed(learnable={"W": [[1, 2], [0, 1]]}),
        changed(learnable={"W": "some"}),
        changed(learnable={"W": {"random": {}}}),
        changed(learnable={"W": {"random": {"budget": 2, "row": 1}}}),
        changed(support={"W": {"random": {"budget": 2}}}),
        changed(distribution={"weights": "cauchy"}),
        changed(distribution={"weight": "normal"}),
        changed(constraints={"max_abs": -1}),
        changed(constraints={"max": 1}),
        changed(constraints={"sign": "up"}),
    ],
    ids=str,
)
def test_what_is_wrong_is_wrong_for_both(data):
    """The schema refuses a key or value that the parser refuses by itself."""
    with pytest.raises(InputError):
        problem_from_dict(data)
    assert not CHECK.is_valid(data)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_sizes_are_named_with_their_meaning(kind):
    """For a file with a kind alone, the message names the missing keys and their meaning."""
    with pytest.raises(InputError, match=rf"lacks .*m \(.*m: {MEANINGS['m']}"):
        problem_from_dict({"network": {"kind": kind}})


@pytest.mark.parametrize(
    ("data", "meant"),
    [
        (changed(learnabel={}), "learnable"),
        (with_network(widhts=[2]), None),
        (changed(constraints={"max_abz": 1}), "max_abs"),
        (changed(distribution={"weigths": "normal"}), "weights"),
    ],
)
def test_typing_errors_are_guessed(data, meant):
    """The nearest known key is named, if one is similar."""
    with pytest.raises(InputError) as caught:
        problem_from_dict(data)
    assert (f"did you mean `{meant}`?" in str(caught.value)) is (meant is not None)
