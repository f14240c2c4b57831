"""What made a proof file."""

import json
from importlib.metadata import version

import pytest

import matchprob as mp
from algebra.certificates.signing import maker, signed
from algebra.checker.checks import FAILED, UNCHECKED
from algebra.polynomials.msolve.process import MsolveMissing
from matchprob.api.proofs.check import check_proof
from matchprob.cli import app as command_line

RELU = mp.ShallowReLU(q=2, n=1, d=1, m=2)
NET = mp.LinearEstimator(q=2, d=1, m=1)
PROOFS = {
    "certificate": lambda: mp.certify(mp.Problem(NET, {"W": [[1, 0]]})).to_dict(),
    "design": lambda: mp.design(mp.Problem(NET, {}), goal="cheapest").proof(),
    "recording": lambda: mp.record(mp.Problem(NET, {"W": [[1, 0]]}), "entries").proof_file(),
    "dimension": lambda: mp.dimension(mp.Problem(NET, {})).proof_file(),
    "decision": lambda: mp.decide(mp.Problem(RELU, {"W1": [[1, 0]]})).certificate(),
}


@pytest.mark.parametrize("kind", PROOFS)
def test_every_kind_of_proof_may_name_its_maker(kind):
    """A signed file holds as an unsigned one does, with one unchecked line more."""
    data = PROOFS[kind]()
    plain, named = (check_proof(json.dumps(d)) for d in (data, signed(data)))
    assert plain.holds
    assert named.holds
    assert [c for c in named.checks if c.status != UNCHECKED or c.place != "made_by"] == [
        *plain.checks
    ]
    assert version("matchprob") in named.checks[-1].text


@pytest.mark.parametrize(
    "made_by",
    [
        "matchprob",
        None,
        [],
        {},
        {"matchprob": 3},
        {"matchprob": "1", "msolve": None},
        {"matchprob": "1", "seed": 0},
        {"matchprob": "1" * 41},
    ],
)
def test_other_forms_are_refused_by_name(made_by):
    """A maker is a table of short texts, and nothing else."""
    data = PROOFS["certificate"]() | {"made_by": made_by}
    found = check_proof(json.dumps(data))
    assert not found.holds
    assert [c.status for c in found.checks] == [FAILED]
    assert found.checks[0].place.startswith("made_by")


def test_a_maker_proves_nothing():
    """The same words under a false verdict do not help it."""
    data = signed(PROOFS["certificate"]()) | {"verdict": "minimal"}
    assert not check_proof(json.dumps(data)).holds


def test_a_part_of_a_file_has_no_maker():
    """The key stands once, at the top: inside of evidence it is unknown."""
    data = PROOFS["certificate"]()
    data["evidence"]["made_by"] = maker().to_dict()
    assert not check_proof(json.dumps(data)).holds


def test_files_and_answers_of_the_command_line_are_signed(tmp_path, capsys):
    """The certificate that is written and the object that is printed name their maker."""
    problem, cert = tmp_path / "p.toml", tmp_path / "cert.json"
    problem.write_text(mp.Problem(NET, {"W": [[1, 0]]}).to_toml())
    with pytest.raises(SystemExit) as ended:
        command_line(["certify", str(problem), "--json", "--out", str(cert)])
    assert not ended.value.code
    printed = json.loads(capsys.readouterr().out)
    assert printed["made_by"] == json.loads(cert.read_text())["made_by"] == maker().to_dict()
    assert mp.verify(cert).holds


def test_without_msolve(monkeypatch):
    """The version of a program that is not installed is missing."""

    def absent():
        raise MsolveMissing("not installed")

    monkeypatch.setattr("algebra.polynomials.msolve.process.version", absent)
    maker.cache_clear()
    try:
        assert maker().to_dict() == {"matchprob": version("matchprob")}
    finally:
        maker.cache_clear()
