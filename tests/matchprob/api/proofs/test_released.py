"""Proof files that a released version wrote verify for ever, with the same verdict."""

import json
from pathlib import Path

import pytest

import matchprob as mp
from algebra.arguments.order import BY_KEY

FOLDER = Path(__file__).parents[3] / "data" / "certificates"
FILES = sorted(FOLDER.glob("*/*.json"))


def test_there_is_a_file_of_each_kind():
    """Each release keeps certificates by arguments and families, and proofs of other questions."""
    for folder in {path.parent for path in FILES}:
        kept = {path.stem for path in folder.glob("*.json")}
        assert kept >= {"ranks", "lora", "tanh", "relu", "values", "dimension", "record-units"}
        assert kept >= {f"design-{goal}" for goal in ("cheapest", "spread", "maximal", "rank")}
        evidence = {
            name
            for path in folder.glob("*.json")
            for name in json.loads(path.read_text(encoding="utf-8")).get("evidence") or ()
        }
        # Arguments that a search of a few seconds seldom needs have no file of their own.
        rare = {"dual_bases", "whole_column", "enclosed_solutions"}
        # Named in files since the same arguments serve every kind of network.
        rare |= {"everything_learns", "affine_part"}
        assert evidence >= set(BY_KEY) - rare


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_released_file_holds(path, msolve):
    """`verify` accepts it, and its verdict is the one that the file states."""
    found = mp.verify(path)
    assert found.holds, str(found)
    stated = json.loads(path.read_text(encoding="utf-8"))
    assert found.verdict == stated.get("verdict", found.verdict)
