"""Results for random problems, recorded before networks were programs, are reproduced.

`tests/data/make_gate.py` made the records.  A sample of them is computed again here, all of them
in a long run.  A verdict that a time limit prevents is skipped.
"""

import gzip
import importlib.util
import json
import random
from pathlib import Path

import pytest

from matchprob.api.proofs.check import check_proof
from tests.samples import LONG

DATA = Path(__file__).parents[1] / "data"
_SPEC = importlib.util.spec_from_file_location("make_gate", DATA / "make_gate.py")
gate = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(gate)
RECORDS = json.loads(gzip.decompress((DATA / "gate.json.gz").read_bytes()))


def compared(part, record):
    """The part of a record that must be equal now.

    A verdict may follow from another rule than before.  The recorded rank of a ReLU net was not
    bounded by the number of equations.  `NotKnown` was the class of what is now an `InputError`.
    """
    kept = {k: v for k, v in record.items() if k not in ("proof", "rule")}
    if kept.get("refused") == "NotKnown":
        kept["refused"] = "InputError"
    if part == "verdicts" and "rank" in kept:
        kept["rank"] = min(kept["rank"], kept["equations"])
    return kept


def sample(part, number):
    """A random sample of the records, in a long run all of them."""
    records = RECORDS[part]
    return records if LONG else random.sample(records, number)


def test_there_are_enough_records():
    """Each kind has enough records to detect a change."""
    assert len(RECORDS["verdicts"]) >= 2_000
    assert len(RECORDS["counts"]) >= 500
    assert len(RECORDS["designs"]) >= 300
    assert sum("proof" in r for part in ("verdicts", "designs") for r in RECORDS[part]) >= 200


@pytest.mark.parametrize("part", ["verdicts", "counts", "designs"])
def test_recorded_results_are_reproduced(part):
    """Verdict and rank, complete counts, best value and cost equal those of the record."""
    for record in sample(part, {"verdicts": 5, "counts": 2, "designs": 5}[part]):
        number = record["number"]
        again = next(gate.records(part, number, number + 1), None)
        if again is None:
            continue
        old, new = compared(part, record), compared(part, again)
        if "refused" in old and "refused" not in new:
            # More is known than when it was recorded.
            continue
        if "affine" in again.get("rule", "") and old.get("generic_root_count") == 1:
            # An affine map of full rank has one solution: it need not be counted.
            old["generic_root_count"] = None
        if part == "counts" and "counts" in old:
            # A time limit may have prevented the count of an instance, then or now.
            both = {index for index, *_ in old["counts"]} & {i for i, *_ in new["counts"]}
            old, new = ([c for c in r["counts"] if c[0] in both] for r in (old, new))
        assert new == old, (part, number)


def test_recorded_refusals_are_reproduced():
    """What was refused still is, and by the same class of errors."""
    refused = [r for r in RECORDS["verdicts"] if "refused" in r]
    for record in refused if LONG else random.sample(refused, 3):
        [again] = gate.records("verdicts", record["number"], record["number"] + 1)
        assert compared("verdicts", again) == compared("verdicts", record), record


def test_old_proofs_hold():
    """Recorded proof files still hold, except those with a rank above the number of equations."""
    proofs = [
        r["proof"]
        for part in ("verdicts", "designs")
        for r in RECORDS[part]
        if "proof" in r and r.get("rank", 0) <= r.get("equations", 0)
    ]
    assert len(proofs) >= 200
    for data in proofs if LONG else random.sample(proofs, 5):
        found = check_proof(json.dumps(data), seed=random.randrange(1000))
        assert found.holds, (data["problem"], [str(c) for c in found.checks if c.status != "ok"])
