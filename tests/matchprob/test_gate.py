"""What was found of random problems before networks became programs is found again.

`tests/data/make_gate.py` made the records; a sample of them is asked again here, and all of them in
a long run.  A verdict that a limit of time cuts off says nothing and is passed over.
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
    """What must be the same now.

    A verdict may follow by another rule than it did.  The rank of a ReLU net was given without the
    bound by the number of equations.
    """
    kept = {k: v for k, v in record.items() if k not in ("proof", "rule")}
    if part == "verdicts" and "rank" in kept:
        kept["rank"] = min(kept["rank"], kept["equations"])
    return kept


def sample(part, number):
    """Some of the records, others in each run; all in a long one."""
    records = RECORDS[part]
    return records if LONG else random.sample(records, number)


def test_the_records_are_there():
    """As many records of each kind as are needed to notice a change."""
    assert len(RECORDS["verdicts"]) >= 2_000
    assert len(RECORDS["counts"]) >= 500
    assert len(RECORDS["designs"]) >= 300
    assert sum("proof" in r for part in ("verdicts", "designs") for r in RECORDS[part]) >= 200


@pytest.mark.parametrize("part", ["verdicts", "counts", "designs"])
def test_the_same_is_found_again(part):
    """The same verdict and rank, the same complete counts, the same best value and cost."""
    for record in sample(part, {"verdicts": 5, "counts": 2, "designs": 5}[part]):
        number = record["number"]
        again = next(gate.records(part, number, number + 1), None)
        if again is None:
            continue
        old, new = compared(part, record), compared(part, again)
        if part == "counts" and "counts" in old:
            # Of two instances one may be cut off by the time limit, then or now.
            both = {index for index, *_ in old["counts"]} & {i for i, *_ in new["counts"]}
            old, new = ([c for c in r["counts"] if c[0] in both] for r in (old, new))
        assert new == old, (part, number)


def test_old_proofs_hold():
    """Proof files written then hold today, but those with more rank than equations."""
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
