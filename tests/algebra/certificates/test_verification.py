"""What a verification says."""

import json

from algebra.certificates.verification import Verification
from algebra.checker.checks import FAILED, UNFINISHED, Check
from tests.algebra.checker.test_checks import GOOD


def test_data_and_text_name_every_place():
    """Plain data survives JSON, and the text has one line a check."""
    found = Verification("maximal", GOOD)
    data = json.loads(json.dumps(found.to_dict()))
    assert data["holds"] is True
    assert [c["place"] for c in data["checks"]] == [c.place for c in GOOD]
    lines = str(found).splitlines()
    assert lines[0] == "maximal: holds"
    assert lines[1].split() == ["status", "place", "what"]
    assert len(lines) == 2 + len(GOOD)
    assert "probable" in lines[3]
    assert "does not hold" in str(Verification("minimal", (Check("rank", FAILED, "no"),)))
    cut = Verification("maximal", (*GOOD, Check("N", UNFINISHED, "not counted again")))
    assert str(cut).startswith("maximal: not finished: nothing is known")
    assert len(repr(Verification("maximal", GOOD * 50))) < 200
