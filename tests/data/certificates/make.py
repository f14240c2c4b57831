"""Writes a proof file of each kind, into a folder named by the version, before a release.

    python tests/data/certificates/make.py

They are kept for ever: `verify` of every later version must accept them.
"""

import json
import random
from pathlib import Path

import matchprob as mp
from matchprob import RNN, Allocation, LinearFeedForward, LinearRNN, Problem
from tests.samples import DIAGONAL, NET
from tests.tampering import genuine_decision

ONES, EYE = [[1, 1], [1, 1]], [[1, 0], [0, 1]]


def cells(network, *chosen):
    """A problem by its learnable cells."""
    return Problem.of(Allocation.from_cells(network, list(chosen)))


def problems():
    """By name: a problem whose certificate rests on the argument, or the family, of that name."""
    net, ring = LinearRNN(n=3, T=2, b=1, d=1, m=2), LinearRNN(n=4, T=2, b=1, d=2, m=2)
    yield "root_count", Problem(NET, {"W": [[1, 1], [0, 0]]})
    yield "no_real_root", DIAGONAL
    yield "ranks", Problem(NET, {"W": [[1, 0], [0, 0]]})
    yield "teacher_reached", Problem(LinearRNN(2, 3, 1, 2, 3), {"D": ONES, "W": EYE})
    yield "dual_bases", Problem(LinearRNN(n=2, T=3, b=2, d=2, m=3), {"W": ONES, "D": ONES})
    yield "whole_column", Problem(LinearRNN(n=3, T=2, b=1, d=3, m=1), {"W": [[1, 0, 0]] * 3})
    even = LinearRNN(n=3, T=4, b=1, d=2, m=1)
    yield "definite_form", cells(even, ("W", 0, 2), ("D", 0, 2), ("D", 0, 1))
    yield "enclosed_solutions", cells(ring, *(("W", i, (i + 1) % 4) for i in range(4)))
    yield "sub_allocation", Problem(NET, {"W": [[1, 1], [1, 0]]})
    yield "at_infinity", cells(
        LinearRNN(n=5, T=4, b=2, d=3, m=1),
        ("W", 0, 4), ("W", 3, 1), ("W", 3, 3), ("W", 4, 0), ("W", 4, 4),
    )  # fmt: skip
    yield "partial_products", Problem(LinearRNN(n=2, T=3, b=1, d=1, m=4), {"W": ONES})
    yield "critical_points", Problem(LinearRNN(n=2, T=3, b=2, d=1, m=3), {"W": ONES})
    yield "lora", Problem(net, {"W": {"lora": 1}})
    yield "gain", Problem(net, {"W": {"gain": "rows", "groups": [1, 2, 2]}})
    yield "tanh", Problem(RNN(2, 2, 1, 1, 2, "tanh"), {"W": [[1, 1], [0, 0]]})
    yield "relu", Problem(mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W1": ONES})
    yield "values", Problem(NET, {"W": [[1, 0], [0, 0]]}, values={"B": [["1/2"], ["3"]]})


def others():
    """By name: the proof of another question."""
    for goal in ("cheapest", "spread", "neurons", "maximal"):
        yield f"design-{goal}", mp.design(NET, goal=goal, matrices=["W"]).proof()
    yield "design-rank", mp.design(NET, goal="rank", matrices=["W"], cost_budget=1).proof()
    yield "record-entries", mp.record(DIAGONAL, "entries").proof_file()
    yield "record-units", mp.record(DIAGONAL, ["outputs", "units"]).proof_file()
    narrow = LinearFeedForward(q=2, widths=(1,), d=2, m=1)
    yield "dimension", mp.dimension(narrow).proof_file()
    for k in range(40):
        data = genuine_decision(random.Random(f"schema/{k}"))
        if data is not None:
            yield f"decide-{data['verdict']}", data


if __name__ == "__main__":
    folder = Path(__file__).parent / mp.__version__
    folder.mkdir(exist_ok=True)
    made = dict(others())
    for name, problem in problems():
        made[name] = mp.certify(problem, search=30, timeout=120).to_dict()
        print(name, made[name]["verdict"], *(made[name]["evidence"] or ()), flush=True)
    for name, data in made.items():
        (folder / f"{name}.json").write_text(json.dumps(data) + "\n", encoding="utf-8")
