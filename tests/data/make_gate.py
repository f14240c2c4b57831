"""Makes gate.json.gz: verdicts, complete counts, designs and proof files of random problems.

Run from the top folder: ``python tests/data/make_gate.py PART FIRST LAST``, with PART one of
"verdicts", "counts", "designs"; the results of problems number FIRST to LAST − 1 are written to
``/tmp/gate/PART-FIRST.jsonl``; ``python tests/data/make_gate.py pack`` combines these files.  The
records were made before networks were programs; `tests/matchprob/test_gate.py` compares the present
code with them.

The problem of each number is derived from the number alone.  Results that a time limit stopped are
not stored.
"""

import gzip
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matchprob as mp
from algebra.problems.files import problem_from_dict
from matchprob import InputError, Problem

FOLDER = Path("/tmp/gate")
FILE = Path(__file__).with_name("gate.json.gz")
ACTIVATIONS = ("tanh", "sigmoid", "softplus", {"polynomial": [0, 1, 1]}, {"polynomial": [1, 0, 2]})
# Larger proof files are not stored.
_LONGEST = 6_000


def network(rng: random.Random) -> dict[str, Any]:
    """A small network of any kind."""
    n, T, b, d, m = (
        rng.randint(low, high) for low, high in ((2, 4), (1, 3), (1, 2), (1, 2), (1, 4))
    )
    activation, biases = rng.choice(ACTIVATIONS), rng.random() < 0.3
    kind = rng.choice(("lrnn",) * 3 + ("lffn",) * 2 + ("linear", "lrnn-sequence", "rnn", "ffn"))
    if rng.random() < 0.08:
        kind = rng.choice(("relu", "normnet"))
    sizes: dict[str, Any] = {
        "lrnn": {"n": n, "T": T, "b": b, "d": d, "m": m},
        "lrnn-sequence": {"n": n, "T": T, "b": b, "d": d, "m": min(m, 2)},
        "lffn": {"q": n, "widths": [rng.randint(2, 4) for _ in range(T)], "d": d, "m": m},
        "linear": {"q": n, "d": d, "m": m},
        "relu": {"q": 2, "n": rng.randint(1, 3), "d": 1, "m": m},
        "normnet": {"widths": [n - 1, d], "hidden": [n], "m": m, "activation": "linear"},
        "rnn": {"n": n, "T": T, "b": b, "d": d, "m": m, "activation": activation},
        "ffn": {"q": b, "widths": [n], "d": d, "m": m, "activation": activation},
    }[kind]
    if kind in ("rnn", "ffn") and biases:
        sizes["biases"] = True
    return {"kind": kind, **sizes}


def problem(number: int) -> Problem:
    """The problem of this number: about as many weights learn as there are labels."""
    rng = random.Random(f"gate/{number}")
    while True:
        data: dict[str, Any] = {"network": network(rng)}
        net = problem_from_dict({**data, "learnable": {}}).network
        names = rng.sample(list(net.shapes), rng.randint(1, min(3, len(net.shapes))))
        cells = [
            (k, i, j)
            for k in names
            for i in range(net.shapes[k][0])
            for j in range(net.shapes[k][1])
        ]
        most = min(len(cells), 9)
        size = max(1, min(most, net.outputs + rng.choice((-1, 0, 0, 0, 0, 1, 2))))
        chosen = set(rng.sample(cells, size))
        learnable: dict[str, Any] = {
            k: [
                [int((k, i, j) in chosen) for j in range(net.shapes[k][1])]
                for i in range(net.shapes[k][0])
            ]
            for k in names
        }
        if rng.random() < 0.15:
            update = rng.choice(({"lora": 1}, {"gain": "rows"}, {"gain": "columns"}))
            learnable[names[0]] = update
        if rng.random() < 0.15:
            name = rng.choice(list(net.shapes))
            rows, columns = net.shapes[name]
            mask = [[int(rng.random() < 0.8) for _ in range(columns)] for _ in range(rows)]
            if isinstance(learnable.get(name), list):
                mask = [
                    [int(a or b) for a, b in zip(*pair, strict=True)]
                    for pair in zip(mask, learnable[name], strict=True)
                ]
            if isinstance(learnable.get(name, []), list):
                data["support"] = {name: mask}
        try:
            return problem_from_dict({**data, "learnable": learnable})
        except InputError:
            continue


def verdicts(number: int) -> dict[str, Any] | None:
    """A verdict, and the whole certificate if it is short."""
    found = mp.certify(problem(number), timeout=4, search=0.3)
    if found.verdict == "undecided":
        return None
    data = found.to_dict()
    out = {k: data[k] for k in ("verdict", "rule", "equations", "rank", "generic_root_count")}
    if number % 8 == 0 and len(found.to_json()) < _LONGEST:
        out["proof"] = data
    return out


def counts(number: int) -> dict[str, Any] | None:
    """Complete counts of two instances."""
    asked = problem(number)
    if asked.updates or asked.allocation.size > 6:
        return None
    found = mp.count(asked, 2, timeout=10, trial_timeout=4)
    counted = [[c.index, c.real, c.complex] for c in found.instances if c.status == "complete"]
    return {"counts": counted} if counted else None


def designs(number: int) -> dict[str, Any] | None:
    """A design with its value, and its proof if there is one."""
    asked, rng = problem(number), random.Random(f"gate design/{number}")
    goal = rng.choice(("cheapest", "cheapest", "spread", "neurons"))
    costs = {
        (k, i, j): rng.randint(1, 9)
        for k, (r, c) in asked.network.shapes.items()
        for i in range(r)
        for j in range(c)
    }
    options: dict[str, Any] = {"goal": goal}
    if goal == "cheapest":
        options["costs"] = costs
        if rng.random() < 0.4:
            options["caps"] = {rng.choice(("row", "column")): 2}
    full = Problem(asked.network, {}, support=asked.support)
    found = mp.design(full, seconds=4, timeout=8, **options)
    if not found.is_optimal:
        return None
    out = {
        "goal": goal,
        "caps": options.get("caps", {}),
        "value": str(found.value),
        "cost": str(found.cost),
    }
    if number % 2 == 0:
        try:
            proof = found.proof()
        except InputError:
            return out
        if len(json.dumps(proof)) < _LONGEST:
            out["proof"] = proof
    return out


PARTS = {"verdicts": verdicts, "counts": counts, "designs": designs}


def records(part: str, first: int, last: int) -> Iterator[dict[str, Any]]:
    """The results, one record for each number; refusals are records, too."""
    for number in range(first, last):
        try:
            found = PARTS[part](number)
        except InputError as refusal:
            found = {"refused": type(refusal).__name__}
        if found is not None:
            yield {"number": number, **found}


def main() -> None:
    """Make one part, or pack."""
    FOLDER.mkdir(exist_ok=True)
    if sys.argv[1:] == ["pack"]:
        packed = {
            part: [
                json.loads(line)
                for path in sorted(FOLDER.glob(f"{part}-*.jsonl"))
                for line in path.read_text(encoding="utf-8").splitlines()
            ]
            for part in PARTS
        }
        text = json.dumps(packed, separators=(",", ":"))
        FILE.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
        print({part: len(found) for part, found in packed.items()}, len(FILE.read_bytes()))
        return
    part, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(FOLDER / f"{part}-{first:05d}.jsonl", "w", encoding="utf-8") as out:
        for record in records(part, first, last):
            out.write(json.dumps(record, separators=(",", ":")) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
