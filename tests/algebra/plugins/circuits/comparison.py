"""Circuits with every option: what the project answers, and what brute force and dual numbers say.

    python -m tests.algebra.plugins.circuits.comparison 600 [--first 0]

prints the counts of what was compared after every 20 circuits; a disagreement is an error that
shows the circuit.
"""

import argparse
import time
from collections import Counter
from dataclasses import replace
from itertools import combinations, islice

import numpy as np

import matchprob as mp
from algebra.plugins.circuits.recording import record
from algebra.plugins.circuits.stimulation import drive_of
from algebra.plugins.circuits.verify import RECORDING
from numeric.plugins.circuits.own_parameters import at_own_parameters
from numeric.trials.instances import draw_entries, draw_instance
from numeric.trials.streams import stream
from tests.algebra.plugins.circuits.subsets import (
    answer,
    driven_answer,
    of_labels,
    option_cases,
    predicted,
    question,
)

SIGMA = 0.1


def forgeries(data):
    """Proof files that claim more than the given one."""
    if data.get("free"):
        yield {**data, "free": [number + 1 for number in data["free"]]}
    yield {**data, "rank": data["rank"] + 1}
    if data["recorded"] and data["cost"] == data["bound"]:
        # As cheap without its last element as the prices say.
        price = data["prices"][data["recorded"][-1]]
        if price != "0":
            fewer = data["recorded"][:-1]
            cost = str(int(data["cost"]) - int(price))
            yield {**data, "recorded": fewer, "cost": cost, "bound": cost}


def own_point(problem, case):
    """Weights and samples of instance 0, new samples among them, and the drives of units."""
    m = case.sizes["m"]
    if case.activation == "relu":
        own = problem.network.own_point
        weights, X = own.weights, own.X
    else:
        own = mp.Problem(problem.network, {}, problem.support, problem.distribution)
        instance = draw_instance(own, 0, 0)
        weights, X = instance.weights, instance.X
        if case.target == "samples=new":
            law = problem.distribution.inputs
            X = np.hstack([X, draw_entries(stream(0, 0, "new samples"), law, (len(X), 1))])
            m += 1
    drives = {u: drive_of(u, case.sizes["T"], X.shape[1]) for u in case.drives}
    return weights, X, drives


def compare(case, with_proofs=False):
    """Ask every question about a circuit in both ways; the number of comparisons of each kind."""
    counts, problem = Counter(circuits=1), case.problem()
    given = None
    if case.activation == "relu":
        problem = at_own_parameters(problem, 0, case.words)
        given = own_point(problem, case)
    asked = {"target": case.words, "costs": case.costs}

    # What the labels determine.
    found = mp.identify(problem)
    rank, free, J = of_labels(case, given=given)
    assert J.shape[1] - found.fibre.dimension == rank, case
    if (own := found.fibre.parameters) is not None:
        assert (len(own.free), len(own.free) + len(own.determined)) == (free, J.shape[1]), case
        counts["parameters determined or free"] += 1
    sizes = np.linalg.svd(J, compute_uv=False)
    clear = int((sizes > 1e-9 * sizes.max(initial=0)).sum())
    assert clear <= rank, case
    counts["ranks of labels"] += 1
    counts["ranks that singular values show"] += clear == rank

    # What has to be recorded for the target, for the parameters, and with stimulations.
    cost, free, _ = answer(case, given=given)
    best = record(problem, case.what, **asked)
    assert best.cost == cost == best.bound, case
    assert {state.name: state.free for state in best.target} == free, case
    counts["targets, by all subsets"] += 1
    everything = replace(case, target="", drives=())
    if given is None:
        cost, whole = driven_answer(everything)
        plain = record(problem, case.what, costs=case.costs)
        assert (plain.cost, plain.rank.rank) == (cost, whole), case
        counts["recordings, by all subsets"] += 1
    answers, drives = [best], {}
    if case.drives:
        drives = {"stimulate": [f"unit {u}" for u in case.drives]}
        cost, _ = driven_answer(case, given=given)
        driven = record(problem, case.what, **asked, **drives)
        assert driven.cost == cost == driven.bound, case
        counts["stimulations, by all pairs of subsets"] += 1
        answers.append(driven)
    if with_proofs:
        for one in answers:
            data = one.proof_file()
            assert RECORDING.verify(data).holds, case
            for false in forgeries(data):
                assert not RECORDING.verify(false).holds, (case, false)
                counts["forgeries refused"] += 1
            counts["proofs verified"] += 1

    _compare_noise(case, problem, drives, counts)
    return counts


def _compare_noise(case, problem, drives, counts):
    """The predicted deviations of the chosen set, and the least ones of each size."""
    found = mp.record(problem, case.what, target=case.words, noise=SIGMA, **drives)
    signs = problem.distribution.on(problem.network).masks
    own = predicted(case, SIGMA, own_point(problem, case), signs)
    driven = [int(name.rpartition(" ")[2]) for name in found.driven]
    total, each = own([element.name for element in found.recorded], driven)
    assert np.isclose(found.total, total, rtol=1e-6, atol=1e-12), case
    got = {state["name"]: state["deviation"] for state in found.to_dict()["target"]}
    assert got.keys() == each.keys(), case
    assert all(np.isclose(got[k], each[k], rtol=1e-6, atol=1e-12) for k in each), case
    counts["deviations, by own duals"] += 1
    recorded = [name for name, keys in question(case)[0].items() if keys]
    parts = [(name, None) for name in recorded] + [("", u) for u in case.drives]
    if len(parts) > 6:
        return
    for best in found.curve:
        least = min(
            own([name for name, _ in some if name], [u for _, u in some if u is not None])[0]
            for some in combinations(parts, min(len(best.chosen), len(parts)))
        )
        assert np.isclose(best.deviation, least, rtol=1e-6, atol=1e-12), (case, best)
    counts["curves, by all subsets"] += 1


def main():
    """Compare random circuits, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0, help="circuits before it are left out")
    options = parser.parse_args()
    counts, began = Counter(), time.process_time()
    every = islice(enumerate(option_cases(options.count)), options.first, None)
    for number, case in every:
        counts += compare(case, with_proofs=number % 7 == 0)
        if (number + 1) % 20 == 0 or number + 1 == options.count:
            listed = ", ".join(f"{k}: {v}" for k, v in counts.items())
            print(
                f"{number + 1} of {options.count}, {time.process_time() - began:.0f} s: {listed}",
                flush=True,
            )


if __name__ == "__main__":
    main()
