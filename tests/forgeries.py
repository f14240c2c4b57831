"""Forged proof files: parts of genuine files combined so that each part is valid alone.

`tests.tampering` changes a file at single places, which a shallow check often finds.  Here the
problem, verdict, ranks, N and evidence of several genuine files are recombined, false evidence of
every kind is written, and the envelope is made consistent (the number of learnable weights, the
prime of the ranks, sometimes N).  An accepted forgery is decided independently by
`tests.tampering.truth`, which reads no evidence.
"""

import copy
import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import matchprob as mp
from algebra.checker.checks import CheckFailed
from algebra.checker.problem_tables import read_problem
from algebra.families.certify import certify
from algebra.networks.base import Network
from algebra.plugins.circuits.elements import elements_of
from algebra.problems.files import problem_from_dict
from algebra.ranks.generic_rank import network_rank
from algebra.ranks.jacobian import all_cells
from algebra.time_limits import OutOfTime
from matchprob import Allocation, InputError, Problem
from tests.tampering import random_problem, tampered

Data = dict[str, Any]
ACTIVATIONS: tuple[Any, ...] = (
    "tanh", "softplus", "erf", "sigmoid", {"polynomial": [0, 0, 1]}, {"polynomial": [0, 1, 1]},
    {"polynomial": [1, 0, 0, "1/3"]},
)  # fmt: skip
_PRIME = 2147483647

# -- genuine certificates of every kind of network --------------------------------------


def _activated(rng: random.Random) -> Network:
    small = lambda most: rng.randint(1, most)  # noqa: E731
    options = {"activation": rng.choice(ACTIVATIONS), "biases": rng.random() < 0.3}
    if rng.random() < 0.5:
        return mp.RNN(n=small(2), T=small(3), b=small(2), d=small(2), m=small(2), **options)
    widths = [small(3) for _ in range(small(2))]
    return mp.FeedForward(q=small(3), widths=widths, d=small(2), m=small(2), **options)


def _updated(rng: random.Random, network: Network) -> Problem:
    """A matrix that learns by an update."""
    name = rng.choice(list(network.shapes))
    rows, columns = network.shapes[name]
    tied = [[rng.randint(0, 2) for _ in range(columns)] for _ in range(rows)]
    update = rng.choice(({"lora": 1}, {"gain": "rows"}, {"gain": "columns"}, {"tied": tied}))
    return Problem(network, {name: update})


def _random_question(rng: random.Random, way: int) -> Problem:
    if way == 0:
        return random_problem(rng, ("linear", "lrnn", "lffn"))
    if way == 1:
        return random_problem(rng, ("relu", "normnet"))
    if way == 2:
        return _updated(rng, mp.LinearRNN(n=2, T=rng.randint(1, 3), b=1, d=rng.randint(1, 2), m=2))
    network = mp.LinearRNN(n=3, T=2, b=1, d=2, m=rng.randint(1, 2)) if way == 3 else _activated(rng)
    if way == 4:
        return _updated(rng, network)
    cells = all_cells(network, {})
    size = network_rank(network).rank + rng.choice((0, 0, 0, 1, -1))
    chosen = rng.sample(cells, max(0, min(len(cells), size)))
    problem = Problem.of(Allocation.from_cells(network, chosen))
    if network.lower() is None and rng.random() < 0.6:
        law, values = _random_laws(rng, network)
        problem = replace(problem, distribution=law, values=values)
    return problem


def _random_laws(rng: random.Random, network: Network) -> tuple[mp.Distribution, Data]:
    """Signs of a matrix, or measured weights of one, some of them 0, sometimes with jitter."""
    name = rng.choice(list(network.shapes))
    rows, columns = network.shapes[name]

    def drawn(entries: Any) -> list[list[Any]]:
        return [[rng.choice(entries) for _ in range(columns)] for _ in range(rows)]

    if rng.random() < 0.5:
        return mp.Distribution(signs={name: drawn((1, 1, -1, 0))}), {}
    values: Data = {name: drawn(("0", "1", "-2", "1/3", "5/7", None))}
    if rng.random() < 0.2:
        values["jitter"] = rng.choice(("1/10", {"relative": "1/10"}))
    return mp.Distribution(), values


def genuine(number: int) -> Data:
    """The certificate of a random problem; some are undecided because they get no time."""
    rng = random.Random(f"forgeries/{number}")
    while True:
        with suppress(InputError, OutOfTime):
            problem = _random_question(rng, number % 7)
            if problem.learning.size <= 12:
                search = rng.choice((0.0, 0.3))
                found = certify(problem, seed=rng.randrange(3), timeout=2, search=search)
                return json.loads(found.to_json())


# -- forgeries of certificates ----------------------------------------------------------

VERDICTS = ("minimal", "maximal", "intermediate", "undecided")


def _size(problem: Data) -> int | None:
    try:
        return read_problem(json.loads(json.dumps(problem))).learning.size
    except Exception:
        return None


def _fit(claim: Data) -> None:
    """Make the envelope consistent with its content."""
    size = _size(claim["problem"])
    if size is not None:
        claim["learnable"] = size
    evidence = claim["evidence"]
    for name, field in (("network_rank", "equations"), ("allocation_rank", "rank")):
        if isinstance(evidence.get(name), dict):
            evidence[name]["rank"] = claim[field]
    if isinstance(evidence.get("allocation_rank"), dict):
        claim["prime"] = evidence["allocation_rank"]["witness"][0]
    roots = evidence.get("root_count")
    whole = isinstance(roots, dict) and "sub_allocation" not in evidence
    claim["generic_root_count"] = roots["value"] if whole else None


def _roots(claim: Data, value: int) -> None:
    old = claim["evidence"].get("root_count")
    form = old["form"] if isinstance(old, dict) else "direct"
    claim["evidence"]["root_count"] = {
        "value": value, "rule": "quotient degree", "form": form, "blocks": [value],
        "primes": [_PRIME], "seed": 0,
    }  # fmt: skip


def _verdict(rng: random.Random, claim: Data, other: Data) -> None:
    claim["verdict"] = rng.choice(VERDICTS)


def _ranks(rng: random.Random, claim: Data, other: Data) -> None:
    field = rng.choice(("rank", "equations", "both"))
    change = rng.choice((-1, 1, 998, other["rank"] - claim["rank"]))
    for name in ("rank", "equations") if field == "both" else (field,):
        claim[name] = max(0, claim[name] + change)
    if rng.random() < 0.3:
        claim["rank"] = claim["equations"]


def _count(rng: random.Random, claim: Data, other: Data) -> None:
    known = claim["generic_root_count"] or 2
    _roots(claim, max(1, rng.choice((1, 2, 3, known + 1, known - 1, 2 * known))))
    if rng.random() < 0.5:
        claim["verdict"] = "maximal"


def _borrowed(rng: random.Random, claim: Data, other: Data) -> None:
    """Evidence of another file in addition to the file's own, or in its place."""
    names = [name for name in other["evidence"] if name not in ("network_rank", "allocation_rank")]
    for name in rng.sample(names, min(len(names), rng.randint(1, 2))):
        claim["evidence"][name] = copy.deepcopy(other["evidence"][name])
    if rng.random() < 0.6:
        claim["verdict"] = other["verdict"]


def _another_problem(rng: random.Random, claim: Data, other: Data) -> None:
    """The same proof of another problem."""
    claim["problem"] = copy.deepcopy(other["problem"])
    for name in ("equations", "rank", "notes"):
        if rng.random() < 0.7:
            claim[name] = copy.deepcopy(other[name])
    for name in ("network_rank", "allocation_rank"):
        if name in other["evidence"] and rng.random() < 0.7:
            claim["evidence"][name] = copy.deepcopy(other["evidence"][name])


def _another_size(rng: random.Random, claim: Data, other: Data) -> None:
    network = claim["problem"]["network"]
    names = [name for name, value in network.items() if type(value) is int]
    name = rng.choice(names or ["m"])
    network[name] = max(1, network.get(name, 1) + rng.choice((-1, 1)))


def _another_activation(rng: random.Random, claim: Data, other: Data) -> None:
    if "activation" in claim["problem"]["network"]:
        claim["problem"]["network"]["activation"] = copy.deepcopy(rng.choice(ACTIVATIONS))


def _another_mask(rng: random.Random, claim: Data, other: Data) -> None:
    table = rng.choice(("learnable", "learnable", "support"))
    masks = [rows for rows in claim["problem"].get(table, {}).values() if isinstance(rows, list)]
    if masks:
        row = rng.choice(rng.choice(masks))
        k = rng.randrange(len(row))
        row[k] = 1 - row[k]


def _invented(rng: random.Random, claim: Data, other: Data) -> None:
    """Evidence that does not belong to any file."""
    evidence = claim["evidence"]
    name = rng.choice(
        ("stuck_output", "everything_learns", "teacher_reached", "sub_allocation", "labels_vanish",
         "regular_minor", "dual_bases", "part", "lowered", "partial_products",
         "critical_points")
    )  # fmt: skip
    learnable = claim["problem"].get("learnable", {})
    cells = [
        [matrix, i, j]
        for matrix, rows in learnable.items()
        if isinstance(rows, list)
        for i, row in enumerate(rows)
        for j, v in enumerate(row)
        if v
    ]
    some = rng.sample(cells, min(len(cells), claim["equations"]))
    evidence[name] = {
        "stuck_output": rng.randrange(3),
        "everything_learns": True,
        "labels_vanish": True,
        "teacher_reached": {"blocks": [[[0], [1]], [[0, 1]], [[0]]][rng.randrange(3) :]},
        "dual_bases": [[side, 0, k] for k in range(rng.randrange(4)) for side in (0, 1)],
        "sub_allocation": some,
        "regular_minor": {"number": rng.randrange(9), "rows": [*range(len(some))], "columns": some},
        "part": copy.deepcopy({k: v for k, v in other.items() if k != "part"}),
        "lowered": copy.deepcopy(other),
        "partial_products": {
            "entries": [
                [rng.randrange(3), rng.randrange(1, 4), 0, rng.randrange(2)]
                for _ in range(max(0, len(cells) - claim["equations"]))
            ],
            "solutions": rng.choice((1, 1, 3, 5)),
            "primes": [65521],
        },
        "critical_points": {"number": rng.choice((1, 1, 3, 5)), "primes": [65521]},
    }[name]
    claim["verdict"] = rng.choice(VERDICTS)
    if name == "sub_allocation":
        _roots(claim, 1)
    if name in ("labels_vanish", "everything_learns") and rng.random() < 0.5:
        claim["verdict"] = "maximal"
    if name == "labels_vanish":
        claim |= {"evidence": {name: True}, "equations": 0, "rank": 0, "prime": 0, "error_bound": 0}


def _another_law(rng: random.Random, claim: Data, other: Data) -> None:
    """The same proof for other signs and numbers: another file's, new ones, or none."""
    problem = claim["problem"]
    given = other["problem"]
    if rng.random() < 0.6:
        # Not every network has signs and measured weights.
        with suppress(InputError, CheckFailed):
            network = read_problem({"network": problem["network"], "learnable": {}}).network
            law, values = _random_laws(rng, network)
            given = Problem(network, {}, distribution=law, values=values).to_dict()
    for key in ("distribution", "values"):
        if rng.random() < 0.8:
            problem.pop(key, None)
            if key in given:
                problem[key] = copy.deepcopy(given[key])


def _without(rng: random.Random, claim: Data, other: Data) -> None:
    names = list(claim["evidence"])
    if names:
        del claim["evidence"][rng.choice(names)]


def _numbers(rng: random.Random, claim: Data, other: Data) -> None:
    name, value = rng.choice(
        (("prime", 4), ("prime", other["prime"]), ("error_bound", 0), ("error_bound", 1e-300),
         ("generic_root_count", 1), ("rank", 999))
    )  # fmt: skip
    claim[name] = value


def _bounds(rng: random.Random, claim: Data, other: Data) -> None:
    """A rank that is claimed to equal a bound without doing so."""
    for name in ("network_rank", "allocation_rank"):
        found = claim["evidence"].get(name)
        if isinstance(found, dict):
            found["upper_bound"] = rng.choice((found["rank"], found["rank"] + 1, 0))
            found["proved"] = rng.random() < 0.5
            if "witness_point" in found and rng.random() < 0.5:
                point = found["witness_point"]
                point["X"] = [[0] * len(row) for row in point["X"]]


Forger = Callable[[random.Random, Data, Data], None]
_FORGERS: tuple[Forger, ...] = (
    _verdict, _ranks, _count, _count, _borrowed, _borrowed, _another_problem, _another_size,
    _another_activation, _another_mask, _another_law, _another_law, _invented, _invented, _without,
    _bounds,
)  # fmt: skip


def forged(rng: random.Random, data: Data, other: Data) -> Data:
    """A certificate forged in one to three steps."""
    claim: Data = copy.deepcopy(data)
    for forger in rng.sample(_FORGERS, rng.choice((1, 1, 2, 3))):
        # A file that was forged before may lack the field that the next forgery changes.
        with suppress(KeyError, TypeError, IndexError):
            forger(rng, claim, other)
    if rng.random() < 0.85:
        with suppress(KeyError, TypeError, IndexError):
            _fit(claim)
    if rng.random() < 0.3:
        _numbers(rng, claim, other)
    return claim


# -- forgeries of designs and recordings ------------------------------------------------


def forged_design(rng: random.Random, data: Data, other: Data) -> Data:
    """Another design, price, cap or list of cheaper designs, its cost computed again."""
    claim: Data = copy.deepcopy(data)
    cells = [list(cell) for cell in problem_from_dict(data["problem"]).allocation.cells]
    way = rng.randrange(8)
    if way == 0:
        claim["design"] = sorted(rng.sample(cells, min(len(cells), claim["size"])))
    elif way == 1:
        k = rng.randrange(len(cells))
        claim["prices"][k] = str(Fraction(claim["prices"][k]) + rng.choice((-1, 1, 5)))
    elif way == 2:
        claim["must"] = [rng.choice([*cells, ["D", 0, 0], ["W", 7, 7]])]
    elif way == 3:
        claim["caps"] = {rng.choice(("row", "column", "matrix")): rng.randint(1, 3)}
    elif way == 4:
        claim["evidence"] = copy.deepcopy(other["evidence"])
    elif way == 5 and claim.get("goal") == "maximal":
        cheaper = claim["evidence"]["cheaper"]
        some = sorted(rng.sample(cells, min(len(cells), claim["size"])))
        if cheaper and rng.random() < 0.5:
            del cheaper[rng.randrange(len(cheaper))]
        else:
            cheaper.append({"cells": some, "parts": [[some, rng.choice((2, 4))]]})
    elif way == 6:
        claim["size"] += rng.choice((-1, 1))
    else:
        claim["goal"] = rng.choice(("cheapest", "spread", "neurons", "maximal"))
    price = {tuple(cell): Fraction(v) for cell, v in zip(cells, claim["prices"], strict=True)}
    cost = sum((price.get(tuple(cell), Fraction(0)) for cell in claim["design"]), Fraction(0))
    if claim["goal"] in ("cheapest", "maximal"):
        claim["value"] = str(cost)
    claim |= {"cost": str(cost), "cost_bound": str(cost)}
    if rng.random() < 0.3:
        claim["cost_bound"] = str(cost + rng.choice((-1, 1)))
    return claim


def forged_recording(rng: random.Random, data: Data, other: Data) -> Data:
    """Other elements, prices or bounds, the cost computed again."""
    claim: Data = copy.deepcopy(data)
    problem = problem_from_dict(data["problem"])
    things = range(len(elements_of(problem.network, data["what"])[0]))
    way = rng.randrange(7)
    if way <= 1:
        size = len(claim["recorded"]) + rng.choice((-1, 0, 0, 1))
        claim["recorded"] = sorted(rng.sample(things, max(0, min(len(things), size))))
    elif way == 2:
        k = rng.randrange(len(claim["prices"]))
        claim["prices"][k] = str(Fraction(claim["prices"][k]) + rng.choice((1, 3)))
    elif way == 3:
        claim["rank"] += rng.choice((-1, 1))
    elif way == 4:
        claim["must"] = [rng.choice(things)]
    elif way == 5:
        claim["forbidden"] = [rng.choice(things)]
    else:
        claim["evidence"] = copy.deepcopy(other["evidence"])
    cost = sum((Fraction(claim["prices"][k]) for k in claim["recorded"]), Fraction(0))
    claim |= {"cost": str(cost), "bound": str(cost)}
    return claim


def in_sparse_form(rng: random.Random, data: Data) -> Data:
    """The masks of a file in sparse form: the same masks, or one that is changed or broken."""
    claim: Data = copy.deepcopy(data)
    masks = [
        (claim["problem"][table], name)
        for table in ("learnable", "support")
        for name, mask in claim["problem"].get(table, {}).items()
        if isinstance(mask, list) and mask
    ]
    for masked, name in masks:
        rows = masked[name]
        masked[name] = {
            "shape": [len(rows), len(rows[0])], "rest": 0, "value": 1,
            "columns": [[j for j, v in enumerate(row) if v] for row in rows],
        }  # fmt: skip
    if not masks or rng.random() < 0.3:
        return claim
    table, name = rng.choice(masks)
    mask = table[name]
    (height, width), columns = mask["shape"], mask["columns"]
    row = rng.choice(columns)
    way = rng.randrange(8)
    if way == 0:
        mask["rest"], mask["value"] = 1, 0
    elif way == 1:
        mask["value"] = rng.choice((0, 2, True, 1.0, "1"))
    elif way == 2:
        mask["shape"] = [width, height]
    elif way == 3:
        row.append(rng.choice((-1, 0, width, True)))
    elif way == 4 and row:
        row.pop(rng.randrange(len(row)))
    elif way == 5:
        mask["values"] = [[rng.randrange(2) for _ in row] for row in columns]
        if rng.random() < 0.5:
            del mask["value"]
    elif way == 6:
        columns.append([])
        mask["shape"][0] += rng.randrange(2)
    else:
        row.extend(row)
    return claim


def forgeries(files: list[Data], each: int, stream: str) -> Iterator[tuple[tuple[int, int], Data]]:
    """This number of forgeries of each file, of which a fourth has single changes too.

    A tenth of them has its masks in sparse form.

    Yields
    ------
    (file, number), forgery
    """
    forgers = {"matchprob-design": forged_design, "matchprob-recording": forged_recording}
    for number, data in enumerate(files):
        same = [other for other in files if other["format"] == data["format"]]
        for k in range(each):
            rng = random.Random(f"forgery/{stream}/{number}/{k}")
            other = rng.choice(same)
            claim = forgers.get(data["format"], forged)(rng, data, other)
            if rng.random() < 0.25:
                claim = tampered(rng, claim, other)
            if rng.random() < 0.1:
                with suppress(KeyError, TypeError, IndexError, AttributeError):
                    claim = in_sparse_form(rng, claim)
            yield (number, k), claim
