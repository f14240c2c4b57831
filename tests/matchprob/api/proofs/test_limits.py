"""Proof files that would need endless work: each is unfinished, and the limit is named."""

import json

import pytest

from algebra.errors import InputError
from matchprob.api.proofs.check import check_proof
from matchprob.cli import app, run_command

NETWORK = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}


def _certificate(network, learnable=None, **more):
    data = {
        "format": "matchprob-certificate",
        "version": 1,
        "problem": {"network": network, "learnable": learnable or {}},
        "verdict": "minimal",
        "rule": "",
        "equations": 2,
        "rank": 0,
        "learnable": 0,
        "prime": 0,
        "error_bound": 0,
        "generic_root_count": None,
        "reasons": [],
        "notes": [],
        "tried": [],
        "seed": 0,
        "evidence": {},
    }
    return json.dumps({**data, **more})


def _decision(q, m, entry="1"):
    zeros = [["0"] * m]
    return json.dumps(
        {
            "format": "matchprob relu decision",
            "version": 1,
            "network": {"kind": "relu", "q": q, "n": 1, "d": 1, "m": m},
            "cells": [["W1", 0, j] for j in range(q)],
            "weights": {"W1": [["0"] * q], "W2": [[entry]]},
            "X": [["1"] * m] * q,
            "Y": zeros,
            "verdict": "no match",
            "leaves": [{"fixed": [[0] * m], "mu": zeros}],
        }
    )


ENDLESS = {
    "9000×9000 in 486 bytes": _certificate({"kind": "linear", "q": 9000, "d": 9000, "m": 1}),
    "100,000 layers": _certificate(
        {"kind": "lffn", "q": 1, "widths": [1] * 100_000, "d": 1, "m": 1}
    ),
    "T = 10^8": _certificate({**NETWORK, "T": 10**8}),
    "m = 10^400": _certificate({**NETWORK, "m": 10}).replace('"m": 10', '"m": 1' + "0" * 400),
    "deep": '{"format": "matchprob-certificate", "version": 1, "problem": ' + "[" * 10**5,
    "long number": _certificate(NETWORK, rank=0).replace('"rank": 0', '"rank": ' + "9" * 10**6),
    "1e1000000000": _certificate(NETWORK).replace('"rank": 0', '"rank": 1e1000000000'),
    "10^11 vertices": _decision(20, 40),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_proofs_beyond_a_limit_are_unfinished(name):
    """The check is unfinished and names the limit."""
    found = check_proof(ENDLESS[name], timeout=20)
    assert found.is_unfinished
    assert any(word in found.checks[-1].text for word in ("limit", "at most", "may speak of"))


@pytest.mark.parametrize("entry", ["1e1000000000", "1/0", "1" * 10**6, "0.5", 10**300, None, [[]]])
def test_odd_entries_of_matrices_fail_at_their_place(entry):
    """An entry that is no rational number, or too long, fails, without being expanded."""
    found = check_proof(_decision(2, 3, entry), timeout=20)
    assert not found.holds
    assert found.checks[0].place == "weights.W2[0][0]"


@pytest.mark.parametrize("price", ["1e1000000000", "1/0", "1" * 10**6, "nan", None, 1.5])
def test_odd_prices_of_a_design_do_not_hold(price, tmp_path):
    """A price that is no rational number, or too long, is refused or fails."""
    source, proof = tmp_path / "N.toml", tmp_path / "proof.json"
    source.write_text('[network]\nkind = "linear"\nq = 2\nd = 2\nm = 1\n')
    words = ["design", str(source), "--proof", str(proof)]
    assert run_command(lambda: app(words, standalone_mode=False)) == 0
    data = json.loads(proof.read_text())
    data["prices"][0] = price
    try:
        holds = check_proof(json.dumps(data), timeout=20).holds
    except InputError:
        holds = False
    assert not holds


@pytest.mark.parametrize("name", ["9000×9000 in 486 bytes", "10^11 vertices"])
def test_command_verify_ends_with_status_3_beyond_a_limit(name, capsys, file):
    """The command prints "holds": false and says that the proof is undecided."""
    path = file(ENDLESS[name], "proof.json")
    assert run_command(lambda: app(["verify", str(path), "--json"], standalone_mode=False)) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["holds"] is False
    assert "so it is undecided" in err
