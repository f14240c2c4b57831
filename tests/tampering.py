"""Genuine proof files of every kind, ways to change them, and whether a claim is true.

The oracle reads no evidence.  It takes the *claim* of a file and decides it independently: a
verdict by a new certificate of the problem, a decision by enumerating all activation patterns, a
design by enumerating all allocations.
"""

import contextlib
import copy
import dataclasses
import io
import json
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from flint import fmpq

import matchprob as mp
from algebra.arguments.enclosed_solutions import enclosed_evidence
from algebra.checker.checks import Checked
from algebra.checker.reading import as_text
from algebra.errors import Unfinished
from algebra.linalg.ranks import modular_rank
from algebra.networks.base import Network, Point
from algebra.plugins.circuits.elements import available_kinds, elements_of
from algebra.plugins.relu.decision import FORMAT as DECISION
from algebra.problems.files import problem_from_dict
from algebra.problems.premises import Feature
from algebra.questions.design.neurons import neuron_of
from algebra.ranks.derivatives import DualMatrix
from algebra.ranks.generic_rank import allocation_rank, network_rank
from algebra.ranks.jacobian import all_cells, random_point
from algebra.systems.root_count import generic_root_count
from matchprob import Allocation, InputError, Problem, draw_instance
from matchprob.cli import app, run_command
from numeric.engines.witness_search import rootless_instances
from numeric.plugins.relu.decide import decide
from tests.numeric.plugins.relu.cases import brute_force
from tests.plain_data import places, value_at

GOALS = ("cheapest", "spread", "neurons", "maximal")
DISCRETE = "the law is discrete: this is a statement about generic instances, not about MP"

# -- genuine files ----------------------------------------------------------------------


def random_network(rng: random.Random, kinds: tuple[str, ...]) -> Network:
    """A small network of one of these kinds."""
    kind = rng.choice(kinds)
    small = lambda most: rng.randint(1, most)  # noqa: E731
    if kind == "linear":
        return mp.LinearEstimator(q=small(4), d=small(3), m=small(3))
    if kind == "lrnn":
        return mp.LinearRNN(n=small(3), T=small(3), b=small(2), d=small(2), m=small(3))
    if kind == "lffn":
        widths = [small(3) for _ in range(small(2))]
        return mp.LinearFeedForward(q=small(3), widths=widths, d=small(2), m=small(2))
    if kind == "relu":
        return mp.ShallowReLU(q=small(3), n=small(4), d=small(2), m=small(3))
    depth = small(2)
    widths = tuple(small(2) for _ in range(depth + 1))
    hidden: list[Any] = [small(4) for _ in range(depth)]
    if rng.random() < 0.3:
        hidden[0] = (hidden[0], small(3))
    return mp.NormNet(widths, tuple(hidden), small(2), rng.choice(("linear", "relu")))


def random_problem(
    rng: random.Random, kinds: tuple[str, ...] = ("linear", "lrnn", "lffn", "relu", "normnet")
) -> Problem:
    """A problem on a small network: any allocation, sometimes with structural zeros, any law."""
    network = random_network(rng, kinds)
    support: dict[str, Any] = {}
    if rng.random() < 0.25:
        name = rng.choice(list(network.shapes))
        rows, columns = network.shapes[name]
        support[name] = [[int(rng.random() < 0.8) for _ in range(columns)] for _ in range(rows)]
    masks = {name: np.array(mask) for name, mask in support.items()}
    cells = all_cells(network, masks)
    if network.kind == "relu" and rng.random() < 0.8:
        cells = [cell for cell in cells if cell[0] == rng.choice(("W1", "W1", "W2"))] or cells
    equations = network.outputs
    size = max(0, min(len(cells), equations + rng.choice((0, 0, 0, 0, 0, 1, 1, 2, -1))))
    if network.kind == "normnet" and rng.random() < 0.5:
        # The paper's own kind of allocation: scales and shifts.
        chosen = [cell for cell in cells if cell[0][0] in "gb"]
    else:
        chosen = rng.sample(cells, size)
    laws = {}
    if rng.random() < 0.15:
        laws = {rng.choice(("weights", "inputs", "teacher")): rng.choice(("uniform", "rademacher"))}
    allocation = Allocation.from_cells(network, chosen)
    return Problem.of(allocation, support=support, distribution=mp.Distribution(**laws))


def genuine_certificate(rng: random.Random) -> dict[str, Any]:
    """The certificate of a random problem."""
    problem = random_problem(rng)
    found = mp.certify(problem, seed=rng.randrange(3), timeout=20, search=0.3)
    return json.loads(found.to_json())


def genuine_decision(rng: random.Random) -> dict[str, Any] | None:
    """The decision of a random ReLU instance, with its teacher half of the time."""
    while True:
        problem = random_problem(rng, ("relu",))
        if len(problem.allocation.matrices) == 1 and problem.network.n * problem.network.m <= 9:
            break
    problem = Problem.of(problem.allocation, support=problem.support)
    instance = draw_instance(problem, rng.randrange(5), rng.randrange(9))
    found = decide(instance, certify=True)
    if found.witness is None and found.leaves is None:
        return None
    data = json.loads(json.dumps(found.certificate()))
    if rng.random() < 0.5:
        # As files were before they held the teacher.
        del data["teacher"]
    return data


def genuine_design(rng: random.Random, folder: Path) -> dict[str, Any] | None:
    """The proof of a design by the command line; None if there is no design or no proof."""
    network = random_network(rng, ("linear", "lrnn", "lffn"))
    if len(all_cells(network, {})) > 9 or network.outputs > 5:
        return None
    source, proof, prices = folder / "N.toml", folder / "proof.json", folder / "costs.csv"
    proof.unlink(missing_ok=True)
    source.write_text(Problem.of(Allocation.from_cells(network, all_cells(network, {}))).to_toml())
    name = rng.choice(list(network.shapes))
    rows, columns = network.shapes[name]
    prices.write_text(
        "".join(
            ",".join(str(rng.choice((0, 1, 2, 3, 7))) for _ in range(columns)) + "\n"
            for _ in range(rows)
        )
    )
    words = ["design", source, "--goal", rng.choice(GOALS), "--proof", proof, "--seconds", 10]
    words += ["--costs", f"{name}={prices}"] if rng.random() < 0.7 else []
    for cap in ("--row-cap", "--column-cap"):
        words += [cap, rng.randint(1, 3)] if rng.random() < 0.3 else []
    words += ["--by", "column"] if rng.random() < 0.4 else []
    words += ["--budget", network.outputs + 1] if rng.random() < 0.2 else []
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        status = run_command(lambda: app([str(word) for word in words], standalone_mode=False))
    return json.loads(proof.read_text()) if status == 0 and proof.exists() else None


def genuine_recording(number: int) -> dict[str, Any]:
    """The proof of a random recording: any kinds of things, with costs, musts and caps."""
    rng = random.Random(f"recording/{number}")
    while True:
        network = random_network(rng, ("linear", "lrnn", "lffn"))
        if number % 2:
            sizes = {"n": rng.randint(1, 3), "T": 2, "b": 1, "d": rng.randint(1, 2), "m": 2}
            network = mp.RNN(**sizes, activation=rng.choice(("tanh", "softplus")))
        cells = all_cells(network, {})
        chosen = rng.sample(cells, rng.randint(1, min(5, len(cells))))
        kinds = available_kinds(network)
        what = rng.sample(kinds, rng.choice((1, 1, min(2, len(kinds)))))
        names = [thing.name for thing in elements_of(network, what)[0]]
        if len(names) > 9:
            continue
        options: dict[str, Any] = {}
        if rng.random() < 0.7:
            options["costs"] = {name: rng.choice((0, 1, 2, 3, "7/2")) for name in names}
        if rng.random() < 0.3:
            options["must"] = [rng.choice(names)]
        if rng.random() < 0.3:
            options["caps"] = {"matrix": rng.randint(1, 3)}
        problem = Problem.of(Allocation.from_cells(network, chosen))
        try:
            found = mp.record(problem, what, seed=rng.randrange(3), **options)
        except InputError:
            continue
        return json.loads(json.dumps(found.proof_file()))


def intermediate_file(number: int) -> dict[str, Any]:
    """A certificate of 0 < MP < 1, whose witness is the longest evidence.

    Number 4 is by a form, number 5 in another basis, number 6 by critical points of the distance.

    Few random problems have a witness; these are the certificates of the first that is found.
    """
    rng = random.Random(f"intermediate/{number}")
    if number == 4:
        net: Network = mp.LinearRNN(n=6, T=3, b=1, d=2, m=5)
        cells = [(0, 3), (1, 0), (2, 5), (3, 1), (4, 4), (5, 3), (5, 5)]
        chosen = Allocation.from_cells(net, [("W", *cell) for cell in cells])
        form: dict[str, Any] = json.loads(mp.certify(Problem.of(chosen)).to_json())
        assert "definite_form" in form["evidence"], form
        return form
    if number == 5:
        net = mp.LinearRNN(n=3, T=4, b=1, d=2, m=1)
        chosen = Allocation.from_cells(net, [("W", 0, 2), ("D", 0, 2), ("D", 0, 1)])
        critical: dict[str, Any] = json.loads(mp.certify(Problem.of(chosen)).to_json())
        assert "critical_points" in critical["evidence"], critical
        return critical
    while True:
        if number % 4 == 3:
            # Target and student are off with positive probability, and too few weights learn.
            net = mp.NormNet((2, 2, 2), (3, 3), 3, "relu")
            some = {"b4": [[1], [1]], "g1": [[rng.randrange(2)] for _ in range(3)]}
            problem = Problem(net, some)
        else:
            n, T, d = rng.randint(2, 3), rng.randint(2, 3), rng.randint(1, 2)
            net = mp.LinearRNN(n=n, T=T, b=1, d=d, m=2)
            cells = [cell for cell in all_cells(net, {}) if cell[0] != "D"]
            problem = Problem.of(Allocation.from_cells(net, rng.sample(cells, net.outputs)))
        found = mp.certify(problem, seed=rng.randrange(3), timeout=20, search=0.5)
        if found.verdict == "intermediate":
            data: dict[str, Any] = json.loads(found.to_json())
            if "definite_form" in data["evidence"]:
                continue
            if number % 4 == 2 and "no_real_root" in data["evidence"]:
                # The same verdict from an instance whose solutions are enclosed by balls.
                N = data["generic_root_count"]
                guess = next(rootless_instances(problem, N, number, 20.0))
                del data["evidence"]["no_real_root"]
                data["evidence"]["enclosed_solutions"] = enclosed_evidence(
                    problem, guess, N
                ).to_dict()
            return data


def maximal_file(number: int) -> dict[str, Any]:
    """A certificate of MP = 1 by a column of W, at infinity (odd numbers), or for fixed entries of
    products of matrices (number 4)."""
    if number == 4:
        net = mp.LinearRNN(n=2, T=3, b=2, d=1, m=3)
        cells, key = [(0, 0), (0, 1), (1, 0), (1, 1)], "partial_products"
    elif number % 2:
        net = mp.LinearRNN(n=5, T=4, b=2, d=3, m=1)
        cells, key = [(0, 4), (3, 1), (3, 3), (4, 0), (4, 4)], "at_infinity"
    else:
        n, T = ((2, 3), (3, 3), (2, 4))[number // 2 % 3]
        net = mp.LinearRNN(n=n, T=T, b=1, d=n, m=1)
        cells, key = [(i, number % n) for i in range(n)], "whole_column"
    problem = Problem.of(Allocation.from_cells(net, [("W", *cell) for cell in cells]))
    data: dict[str, Any] = json.loads(mp.certify(problem, timeout=600).to_json())
    assert key in data["evidence"], data
    return data


def genuine_file(number: int, folder: Path) -> dict[str, Any]:
    """File of this number: half certificates, a fourth decisions, a fourth designs."""
    rng = random.Random(f"genuine/{number}")
    while True:
        data: dict[str, Any] | None
        if number % 4 < 2:
            data = genuine_certificate(rng)
        elif number % 4 == 2:
            data = genuine_decision(rng)
        else:
            data = genuine_design(rng, folder)
        if data is not None:
            return data


# -- changes ----------------------------------------------------------------------------

_STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 3, 0.5, 1.0, 10**9, 2**31 - 1, 2**63, 10**400,
    -(10**400), 1e300,
    "", "0", "1", "-1", "1/2", "1/0", "0/1", "-0", "1e1000000000", "1" * 25_000, "W", "all", "∞",
    "other.csv", [], {}, [[]], [0], [[1]], [["1"]], "minimal", "maximal", "intermediate",
    "undecided", "match", "no match", "rademacher", "uniform", "linear", "lrnn", "relu", "B", "D",
)  # fmt: skip


def _shallow(rng: random.Random, data: Any) -> tuple[Any, ...]:
    """A place, found from the root: fields near the root are as frequent as deep ones."""
    path: tuple[Any, ...] = ()
    while True:
        value = value_at(data, path)
        keys = list(value) if isinstance(value, dict) else []
        keys = list(range(len(value))) if isinstance(value, list) else keys
        if not keys or (path and rng.random() < 0.2):
            return path
        path = (*path, rng.choice(keys))


def _nudged(rng: random.Random, value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-2, -1, 1, 2, value, 1 << 20))
    if isinstance(value, float):
        return value * rng.choice((0, 0.5, 2, -1, 1e9))
    if isinstance(value, str):
        try:
            number = Fraction(value)
        except (ValueError, ZeroDivisionError):
            return value + rng.choice((" ", "x")) if rng.random() < 0.5 else value[:-1]
        return str(rng.choice((-number, number + 1, number - 1, 2 * number, 1 / (number or 1))))
    if isinstance(value, list) and value:
        out = list(value)
        rng.shuffle(out)
        return rng.choice((out, value[:-1], [*value, value[0]], value[::-1], [value], value * 50))
    if isinstance(value, dict) and value:
        keys = list(value)
        out_keys = rng.sample(keys, len(keys))
        return {k: value[o] for k, o in zip(keys, out_keys, strict=True)}
    return rng.choice(_STRANGE)


def tampered(rng: random.Random, data: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """A genuine file with one to three changes.

    Values are dropped, doubled, changed a little, replaced by invalid ones, swapped with others of
    the file or of another file; one number may be changed at all its places.
    """
    out: dict[str, Any] = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        path = _shallow(rng, out) if rng.random() < 0.7 else rng.choice(list(places(out)))
        if not path:
            continue
        box, key = value_at(out, path[:-1]), path[-1]
        way = rng.randrange(9)
        if way == 0:
            del box[key]
        elif way <= 3:
            box[key] = _nudged(rng, box[key])
        elif way == 4:
            box[key] = rng.choice(_STRANGE)
        elif way == 5:
            there = rng.choice(list(places(out))[1:])
            mine, theirs = copy.deepcopy(box[key]), copy.deepcopy(value_at(out, there))
            box[key] = theirs
            with contextlib.suppress(KeyError, IndexError, TypeError):
                value_at(out, there[:-1])[there[-1]] = mine
        elif way == 6:
            with contextlib.suppress(KeyError, IndexError, TypeError):
                box[key] = copy.deepcopy(value_at(other, path))
        elif way == 7:
            if isinstance(box, dict):
                box[rng.choice(("extra", "seed", "file", "value", "witness"))] = rng.choice(
                    _STRANGE
                )
            else:
                box.insert(rng.randint(0, len(box)), copy.deepcopy(box[key]))
        else:
            old = box[key]
            if isinstance(old, (str, int)) and not isinstance(old, bool):
                new = _nudged(rng, old)
                for place in list(places(out)):
                    if (
                        place
                        and type(value_at(out, place)) is type(old)
                        and value_at(out, place) == old
                    ):
                        value_at(out, place[:-1])[place[-1]] = new
    return out


# -- is the claim true? -----------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """Whether a claim is true (None: not decided), and why not."""

    holds: bool | None
    why: str = ""


def with_rows(problem: dict[str, Any]) -> dict[str, Any]:
    """The problem of a file with its masks in sparse form written as rows."""
    out = dict(problem)
    for table in ("learnable", "support"):
        if isinstance(problem.get(table), dict):
            out[table] = {
                name: _rows(mask) if isinstance(mask, dict) and "columns" in mask else mask
                for name, mask in problem[table].items()
            }
    return out


def _rows(mask: dict[str, Any]) -> list[list[Any]]:
    width = mask["shape"][1]
    rows = [[mask["rest"]] * width for _ in mask["columns"]]
    for i, columns in enumerate(mask["columns"]):
        values = mask["values"][i] if "values" in mask else [mask["value"]] * len(columns)
        for j, value in zip(columns, values, strict=True):
            rows[i][j] = value
    return rows


def truth(claim: dict[str, Any]) -> Truth:
    """Whether the claim of a file is true, decided without its evidence."""
    if claim["format"] == DECISION:
        return _truth_of_decision(claim)
    claim = {**claim, "problem": with_rows(claim["problem"])}
    if claim["format"] == "matchprob-design":
        return _truth_of_design(claim)
    if claim["format"] == "matchprob-recording":
        return _truth_of_recording(claim)
    return _truth_of_certificate(claim)


@cache
def _certified(text: str, decided: bool) -> dict[str, Any]:
    """The problem certified again; a verdict is only decided if one is claimed."""
    problem = problem_from_dict(json.loads(text))
    found = mp.certify(problem, seed=11, timeout=60, search=1.0 if decided else 0.0)
    if decided and found.verdict == "undecided":
        found = mp.certify(problem, seed=12, timeout=60, search=8.0)
    return json.loads(found.to_json())


def _truth_of_certificate(claim: dict[str, Any]) -> Truth:
    decided = claim["verdict"] != "undecided"
    right = _certified(json.dumps(claim["problem"], sort_keys=True), decided)
    for field in ("equations", "learnable", "rank"):
        if claim[field] != right[field]:
            return Truth(False, f"{field} is {right[field]}")
    features = problem_from_dict(claim["problem"]).features
    if Feature.DISCRETE in features and DISCRETE not in claim["notes"]:
        return Truth(False, "the law is discrete, and nothing says so")
    if claim["verdict"] != "undecided" and claim["verdict"] != right["verdict"]:
        decided = right["verdict"] != "undecided"
        return Truth(False if decided else None, f"the verdict is {right['verdict']}")
    return _truth_of_count(claim, right)


def _truth_of_count(claim: dict[str, Any], right: dict[str, Any]) -> Truth:
    value = claim["generic_root_count"]
    if value is None or value == right["generic_root_count"]:
        return Truth(True)
    if claim["learnable"] == right["equations"] and right["generic_root_count"] is not None:
        return Truth(False, f"N is {right['generic_root_count']}")
    learning = problem_from_dict(claim["problem"]).learning
    if learning.is_affine and learning.dimension == right["equations"] == right["rank"]:
        return Truth(value == 1, "a linear system has one solution")
    part = claim["evidence"].get("lowered", claim)["evidence"].get("sub_allocation")
    if part is None:
        return Truth(None, f"N = {value}, not counted here")
    problem = problem_from_dict(claim["problem"])
    target = Allocation.from_cells(problem.network, [tuple(cell) for cell in part])
    count = generic_root_count(target, problem.student(), seed=11, timeout=60).value
    return Truth(count == value, f"N of the part is {count}")


def _truth_of_decision(claim: dict[str, Any]) -> Truth:
    instance = {
        key: claim[key]
        for key in ("network", "cells", "weights", "X", "Y", "teacher")
        if key in claim
    }
    exists = _has_match(json.dumps(instance, sort_keys=True))
    if exists is None:
        return Truth(None, "too many patterns")
    if exists == "labels":
        return Truth(False, "the labels are not the teacher's")
    return Truth(exists == claim["verdict"], f"there is {exists}")


@cache
def _has_match(text: str) -> str | None:
    data = json.loads(text)
    sizes = {k: v for k, v in data["network"].items() if k != "kind"}
    network = mp.ShallowReLU(**sizes)
    allocation = Allocation.from_cells(network, [tuple(cell) for cell in data["cells"]])
    rows = lambda value: np.array([[fmpq(*_pair(v)) for v in row] for row in value], object)  # noqa: E731
    weights = {name: rows(value) for name, value in data["weights"].items()}
    X, Y = rows(data["X"]), rows(data["Y"])
    if "teacher" in data:
        teacher = {name: rows(value) for name, value in data["teacher"].items()}
        if not (network.forward(teacher, X) == Y).all():
            return "labels"
    mask = allocation.masks.get("W1", np.zeros(network.shapes["W1"], int))
    if int(mask.any(axis=1).sum()) * network.m > 9 or len(allocation.matrices) > 1:
        return None
    if allocation.matrices == ("W2",):
        return _linear_match(network, allocation, weights, X, Y)
    if not allocation.size:
        return "match" if (network.forward(weights, X) == Y).all() else "no match"
    instance: Any = SimpleNamespace(
        problem=SimpleNamespace(network=network), allocation=allocation, exact=(weights, X, Y)
    )
    solutions, freedom = brute_force(instance)
    return "match" if solutions or freedom else "no match"


def _linear_match(network: Any, allocation: Allocation, weights: Any, X: Any, Y: Any) -> str:
    """Only W2 learns: each output is a linear system in its own weights, by SymPy."""
    import sympy

    hidden = weights["W1"] @ X
    hidden = hidden * (hidden > 0)
    number = lambda v: sympy.Rational(int(v.p), int(v.q))  # noqa: E731
    for o in range(network.d):
        learns = [i for name, row, i in allocation.cells if row == o]
        fixed = [i for i in range(network.n) if i not in learns]
        right = sympy.Matrix(
            [
                number(Y[o, s] - sum((weights["W2"][o, i] * hidden[i, s] for i in fixed), fmpq(0)))
                for s in range(network.m)
            ]
        )
        left = sympy.Matrix(
            network.m, len(learns), lambda s, k, own=learns: number(hidden[own[k], s])
        )
        if left.row_join(right).rank() != (left.rank() if learns else 0):
            return "no match"
    return "match"


def _pair(text: str) -> tuple[int, int]:
    value = Fraction(text)
    return value.numerator, value.denominator


def _truth_of_design(claim: dict[str, Any]) -> Truth:
    problem = problem_from_dict(claim["problem"])
    network, cells = problem.network, problem.allocation.cells
    prices = dict(zip(cells, map(Fraction, claim["prices"]), strict=True))
    must = {tuple(cell) for cell in claim["must"]}
    design = tuple(sorted(tuple(cell) for cell in claim["design"]))
    goal, size, caps = claim["goal"], claim["size"], dict(claim["caps"])
    line = claim.get("line", claim.get("spread")) or "row"
    if comb(len(cells), size) > 3_000:
        return Truth(None, "too many allocations")
    equations = network_rank(network, problem.support, 11).rank
    place = json.dumps(claim["problem"], sort_keys=True)

    def fits(chosen: tuple[Any, ...]) -> bool:
        counts: dict[Any, int] = {}
        for name, i, j in chosen:
            for kind, key in (("row", (name, 0, i)), ("column", (name, 1, j)), ("matrix", name)):
                counts[kind, key] = counts.get((kind, key), 0) + 1
        return must <= set(chosen) and all(n <= caps.get(k, n) for (k, _), n in counts.items())

    def measure(chosen: tuple[Any, ...]) -> int:
        if goal == "neurons":
            return len({neuron_of(network, cell, line) for cell in chosen})
        if goal == "spread":
            keys = [
                {"row": (n, i), "column": (n, -1, j), "matrix": (n,)}[line] for n, i, j in chosen
            ]
            return max(keys.count(key) for key in keys)
        return 0

    def good(chosen: tuple[Any, ...]) -> bool:
        if not fits(chosen) or _rank(place, chosen) != equations:
            return False
        if goal != "maximal":
            return True
        # Of more weights than equations some part must have an odd root count.
        parts = [
            part for part in combinations(chosen, equations) if _rank(place, part) == equations
        ]
        return any(_count(place, part) % 2 for part in parts)

    def cost(chosen: tuple[Any, ...]) -> Fraction:
        return sum((prices[cell] for cell in chosen), Fraction(0))

    if not set(design) <= set(cells) or len(design) != size or not good(design):
        return Truth(False, "the design does not meet the demand")
    if cost(design) != Fraction(claim["cost"]):
        return Truth(False, f"the prices add up to {cost(design)}")
    best = min(
        (measure(chosen), cost(chosen))
        for chosen in (tuple(sorted(c)) for c in combinations(cells, size))
        if good(chosen)
    )
    bound = Fraction(claim.get("cost_bound", claim["cost"]))
    if goal in ("cheapest", "maximal"):
        return Truth(best[1] >= Fraction(claim["cost"]), f"the optimum is {best[1]}")
    if measure(design) != Fraction(claim.get("value", measure(design))):
        return Truth(False, f"the design's value is {measure(design)}")
    return Truth(
        best[0] == measure(design) and best[1] >= bound, f"the optimum is {best[0]}, {best[1]}"
    )


def _truth_of_recording(claim: dict[str, Any]) -> Truth:
    """By all sets of elements; ranks of derivatives by dual numbers, one weight at a time."""
    problem = problem_from_dict(claim["problem"])
    things, owners = elements_of(problem.network, claim["what"])
    if len(things) > 12:
        return Truth(None, "too many things")
    p = (1 << 31) - 1
    point = random_point(problem.network, p, 77, problem.support)
    columns = []
    for name, i, j in problem.allocation.cells:
        weights = {
            n: DualMatrix(point.weights[n] % p, np.zeros_like(point.weights[n]), p)
            for n in problem.network.shapes
        }
        weights[name].tangent[i, j] = 1
        X = DualMatrix(point.X % p, np.zeros_like(point.X), p)
        parts = [
            value.tangent.ravel() % p
            for source, _ in owners
            for value in problem.network.modular_values(source, Point(p, 77, weights, X))
        ]
        columns.append(np.concatenate(parts))
    owner = np.concatenate([o.ravel() for _, inside in owners for o in inside])
    rows = np.array(columns, np.int64).reshape(len(columns), len(owner)).T
    prices = list(map(Fraction, claim["prices"]))
    must, never, caps = set(claim["must"]), set(claim["forbidden"]), claim["caps"]

    def lines(kind: str, k: int) -> Any:
        thing = things[k]
        if kind == "row":
            return thing.unit
        return (thing.sample, thing.step) if kind == "column" else (thing.kind, thing.axis)

    def fits(chosen: tuple[int, ...]) -> bool:
        counts: dict[Any, int] = {}
        for k in chosen:
            for kind in caps:
                key = kind, lines(kind, k)
                counts[key] = counts.get(key, 0) + 1
        inside = must <= set(chosen) and not never & set(chosen)
        return inside and all(n <= caps[kind] for (kind, _), n in counts.items())

    def rank_of(chosen: Any) -> int:
        return modular_rank(rows[np.isin(owner, sorted(chosen))], p)

    def cost(chosen: tuple[int, ...]) -> Fraction:
        return sum((prices[k] for k in chosen), Fraction(0))

    everything = rank_of(set(range(len(things))) - never)
    recorded = tuple(claim["recorded"])
    if claim["rank"] != everything or rank_of(recorded) != everything:
        return Truth(False, f"the rank is {rank_of(recorded)} of {everything}")
    if not fits(recorded) or cost(recorded) != Fraction(claim["cost"]):
        return Truth(False, f"it does not fit, or costs {cost(recorded)}")
    best = min(
        cost(chosen)
        for size in range(len(things) + 1)
        for chosen in combinations(range(len(things)), size)
        if fits(chosen) and rank_of(chosen) == everything
    )
    return Truth(Fraction(claim["bound"]) <= best, f"the optimum is {best}")


@cache
def _rank(problem: str, chosen: tuple[Any, ...]) -> int:
    found = problem_from_dict(json.loads(problem))
    allocation = Allocation.from_cells(found.network, chosen)
    return allocation_rank(allocation, found.support, seed=11).rank


@cache
def _count(problem: str, chosen: tuple[Any, ...]) -> int:
    found = problem_from_dict(json.loads(problem))
    allocation = Allocation.from_cells(found.network, chosen)
    return generic_root_count(allocation, found.support, seed=11, timeout=60).value


# -- the attack -------------------------------------------------------------------------


@dataclass
class Attack:
    """The results of tampered files.

    Attributes
    ----------
    refused, bad_input, unfinished, accepted, undecided : int
        Files; of the accepted ones, `undecided` have claims that the oracle cannot decide.
    forged : list of (number, seed, reason)
        Accepted, though their claim is false.
    crashed : list of (number, seed, error)
    slowest : float
        Seconds of the longest check.
    """

    refused: int = 0
    bad_input: int = 0
    unfinished: int = 0
    accepted: int = 0
    undecided: int = 0
    forged: list[tuple[Any, ...]] = dataclasses.field(default_factory=list)
    crashed: list[tuple[Any, ...]] = dataclasses.field(default_factory=list)
    slowest: float = 0.0


Claims = Iterable[tuple[tuple[int, int], dict[str, Any]]]


def tamperings(files: list[dict[str, Any]], each: int, seed: int) -> Claims:
    """This number of tampered versions of every file, each with the numbers of both."""
    for number, genuine in enumerate(files):
        for k in range(each):
            rng = random.Random(f"tampering/{seed}/{number}/{k}")
            yield (number, k), tampered(rng, genuine, rng.choice(files))


def attack(check: Callable[..., Checked], claims: Claims) -> Attack:
    """Check claims, and judge those that are accepted."""
    found = Attack()
    for (number, k), claim in claims:
        began = time.monotonic()
        try:
            checked = check(as_text(claim), timeout=8)
        except InputError:
            found.bad_input += 1
            continue
        except Unfinished:
            found.unfinished += 1
            continue
        except RuntimeError as error:
            found.crashed.append((number, k, str(error)))
            continue
        finally:
            found.slowest = max(found.slowest, time.monotonic() - began)
        if checked.is_unfinished:
            found.unfinished += 1
        elif not checked.holds:
            found.refused += 1
        else:
            found.accepted += 1
            judge(found, number, k, claim)
    return found


def judge(found: Attack, number: int, k: int, claim: dict[str, Any]) -> None:
    """Record an accepted file whose claim is false, or not decided."""
    try:
        true = truth(claim)
    except Exception as error:
        # It was accepted but cannot be read.
        true = Truth(False, f"{type(error).__name__}: {error}")
    if true.holds is None:
        found.undecided += 1
    elif not true.holds:
        found.forged.append((number, k, true.why))
