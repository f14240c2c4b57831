"""The JSON Schema of proof files agrees with their readers, and is the file in docs/."""

import json
import random
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import matchprob as mp
from algebra.arguments.evidence import read_argued
from algebra.checker.checks import CheckFailed
from algebra.checker.claim import Claim
from algebra.checker.reading import as_text, read_json
from algebra.checker.vanishing import VanishingEvidence
from algebra.plugins.circuits.recording import record
from algebra.plugins.circuits.verify import RECORDING
from algebra.plugins.models.dimension import dimension_of
from algebra.plugins.models.verify_dimension import DimensionProof
from algebra.plugins.normalization.verify import NormalizationEvidence
from algebra.plugins.relu.decision import read_decision
from algebra.plugins.relu.verify import ReluEvidence
from algebra.questions.design.verify import DESIGN
from algebra.ranks.parametrized import by_parameters
from algebra.systems.equivalent_cells import as_cells
from matchprob import RNN, InputError, LinearFeedForward, LinearRNN
from matchprob.api.proofs.schema import proof_schema, schema_text
from tests.plain_data import changed, places, renamed, without
from tests.samples import DIAGONAL, NET, many
from tests.tampering import genuine_decision

ROOT = Path(__file__).parents[4]
CHECK = jsonschema.Draft202012Validator(proof_schema())


def certificates():
    """Of old files, and of an update and a network with an activation."""
    for path in sorted((ROOT / "tests/data/certificates").glob("*.json")):
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))
    net = LinearRNN(n=3, T=2, b=1, d=1, m=2)
    signs = mp.Distribution(signs={"D": [[1, -1, 0]]})
    for name, problem in {
        "low rank": mp.Problem(net, {"W": {"lora": 1}}),
        "gains": mp.Problem(net, {"W": {"gain": "rows", "groups": [1, 2, 2]}}),
        "tanh": mp.Problem(RNN(2, 2, 1, 1, 2, "tanh"), {"W": [[1, 1], [0, 0]]}),
        "erf": mp.Problem(RNN(2, 2, 1, 1, 2, "erf", biases=True), {"W": [[1, 1], [0, 0]]}),
        "signs": mp.Problem(net, {"W": [[1, 0, 0]] * 3}, distribution=signs),
        "values": mp.Problem(NET, {"W": [[1, 0], [0, 0]]}, values={"B": [["1/2"], ["3"]]}),
    }.items():
        yield name, mp.certify(problem, timeout=3, search=0.1).to_dict()


def others():
    """Designs of each goal, recordings, a dimension, decisions."""
    for goal in ("cheapest", "spread", "neurons", "maximal"):
        yield goal, mp.design(NET, goal=goal, matrices=["W"]).proof()
    yield "rank", mp.design(NET, goal="rank", matrices=["W"], cost_budget=1).proof()
    yield "entries", record(DIAGONAL, "entries").proof_file()
    yield "units", record(DIAGONAL, ["outputs", "units"], caps={"matrix": 2}).proof_file()
    net = LinearFeedForward(q=2, widths=(1,), d=2, m=1)
    yield "dimension", dimension_of(net, {"W1": [[1, 0]]}).proof_file()
    decisions = (genuine_decision(random.Random(f"schema/{k}")) for k in range(40))
    found = {data["verdict"]: data for data in decisions if data is not None}
    assert len(found) == 2
    yield from found.items()


@pytest.fixture(scope="module")
def files():
    """Genuine files of every format, through JSON."""
    made = [*certificates(), *others()]
    return {name: json.loads(json.dumps(data)) for name, data in made}


def read(data):
    """Read a file without checking what it claims."""
    data = read_json(as_text(data))
    kind = data["format"]
    if kind == "matchprob-design":
        DESIGN.read(data)
    elif kind == "matchprob-recording":
        RECORDING.read(data)
    elif kind == "matchprob-dimension":
        DimensionProof.from_dict(data, "")
    elif kind == "matchprob relu decision":
        read_decision(data)
    else:
        _read_certificate(data, "")


def _read_certificate(data, place):
    claim = Claim.from_dict(data, place)
    problem, network = claim.problem, claim.problem.network.kind
    evidence = claim.evidence
    if problem.updates:
        own = as_cells(problem).problem
        if own.updates:
            found = read_argued(replace(claim, problem=by_parameters(own)))
            if found.argument is not None and found.argument.key == "part":
                _read_certificate(found.value, "evidence.part")
        else:
            read_argued(replace(claim, problem=own))
    elif "labels_vanish" in evidence and network != "normnet":
        VanishingEvidence.from_dict(evidence)
    elif network == "relu":
        inner = ReluEvidence.from_dict(evidence).no_match
        if inner is not None:
            read_decision(inner, "evidence.no_match")
    elif network == "normnet":
        inner = NormalizationEvidence.from_dict(evidence).lowered
        if inner is not None:
            _read_certificate(inner, "evidence.lowered")
    else:
        read_argued(claim)


def is_read(data):
    """Whether the readers accept a file; anything but a refusal with a reason is an error."""
    try:
        read(data)
    except (CheckFailed, InputError):
        return False
    return True


def test_the_file_is_the_schema():
    """docs/proof.schema.json is the output of ``python -m matchprob.api.proofs.schema``."""
    assert (ROOT / "docs" / "proof.schema.json").read_text(encoding="utf-8") == schema_text()


def test_it_is_a_schema():
    """It is valid under the metaschema."""
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


def test_genuine_files_are_valid(files):
    """The schema accepts every file that the verbs write; the readers do so too."""
    for name, data in files.items():
        read(data)
        assert CHECK.is_valid(data), name


# Tables whose keys are names, which the schema does not know.
NAMED = ("network", "learnable", "support", "values", "signs", "weights", "teacher",
         "trace", "caps", "tied")  # fmt: skip


@given(more=st.data())
@settings(max_examples=many(500), deadline=None)
def test_damaged_files_are_refused(files, more):
    """What the schema refuses is not read; of the other form, both refuse it."""
    data = files[more.draw(st.sampled_from(sorted(files)))]
    # Short paths are as likely as the many long ones.
    every = list(places(data))[1:]
    depth = more.draw(st.sampled_from(sorted({len(path) for path in every})))
    path = more.draw(st.sampled_from([path for path in every if len(path) == depth]))
    names = ["rename"] if isinstance(path[-1], str) else []
    damage = more.draw(
        st.sampled_from([-7, 2.5, True, None, "?", [], [[]], {"?": 1}, "remove", *names])
    )
    wrong = changed(data, path, damage)
    if damage in ("remove", "rename"):
        wrong = (without if damage == "remove" else renamed)(data, path)
    if path == ("format",):
        return
    valid, accepted = CHECK.is_valid(wrong), is_read(wrong)
    assert valid or not accepted, f"the readers accept {path}: {damage!r}, the schema does not"
    if valid and not accepted and damage in ("rename", {"?": 1}):
        assert any(name in path for name in NAMED), f"the schema accepts {path}: {damage!r}"
