"""
A connectome: which synapses should be plastic?
===============================================

A recurrent net is put on a directed graph: W[i, j] exists where neuron j has a synapse onto
neuron i; the inputs reach the sensory neurons (B), the labels are read from groups of motor
neurons (D).  A synapse costs as many units as it has contacts: large ones are hard to change.
At most 3 synapses onto a neuron and 4 from a neuron may learn.  The cheapest such choice that
can match a teacher at all is found, with proof; next to it what happens if the cheapest synapses
are simply taken one after the other, and how few moves repair that.

**Your own connectome.** Two CSV files with a header are all it takes
(``python examples/connectome.py --edges FILE --neurons FILE --folder OUT``):

* edges: columns ``pre``, ``post``, ``contacts`` (other names: ``--pre``, …), one
  connection a line; several lines of a pair are added up.  For *C. elegans* take any of the
  published edge lists (sender, receiver, number of synapses), keep the lines of chemical
  synapses (``--only Type=Chemical``, or what the column and the word are in your file; gap
  junctions have no direction: list both directions if you want them), and name the columns;
* neurons: columns ``neuron``, ``kind`` with kinds ``sensory``, ``motor`` and anything else.

Neurons that are not in the second file are dropped, with a word about it.
"""

import argparse
import csv
import sys
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np

import matchprob as mp

# The gallery runs examples where they stand.
DATA = (Path(__file__).parent if "__file__" in globals() else Path()) / "data"
INPUTS, READOUTS = 2, 4
CAPS = {"row": 3, "column": 4}


def read_graph(options: argparse.Namespace) -> nx.DiGraph:
    """The directed graph of an edge list; contacts of parallel lines are added up."""
    graph = nx.DiGraph()
    with open(options.neurons, newline="", encoding="utf-8-sig") as stream:
        for line in csv.DictReader(stream):
            graph.add_node(line["neuron"].strip(), kind=line["kind"].strip())
    column, _, word = (options.only or "").partition("=")
    strangers = set()
    with open(options.edges, newline="", encoding="utf-8-sig") as stream:
        for line in csv.DictReader(stream):
            if word and line[column].strip() != word:
                continue
            pre, post = line[options.pre].strip(), line[options.post].strip()
            strangers |= {name for name in (pre, post) if name not in graph}
            if pre in graph and post in graph:
                before = graph.get_edge_data(pre, post, {"contacts": 0})["contacts"]
                graph.add_edge(pre, post, contacts=before + int(float(line[options.contacts])))
    if strangers:
        print(f"not among the neurons, left out: {', '.join(sorted(strangers)[:10])}")
    return graph


def problem_of(graph: nx.DiGraph, steps: int, samples: int) -> tuple[mp.Problem, list[str]]:
    """The recurrent net on the graph; every synapse may learn."""
    # Units in the order of the flow make the masks readable.
    order = {"sensory": 0, "motor": 2}
    names = sorted(graph, key=lambda v: (order.get(graph.nodes[v]["kind"], 1), v))
    place = {name: k for k, name in enumerate(names)}
    kinds = [graph.nodes[name]["kind"] for name in names]
    W = np.zeros((len(names), len(names)), int)
    for pre, post in graph.edges:
        W[place[post], place[pre]] = 1
    B = np.zeros((len(names), INPUTS), int)
    B[[k for k, kind in enumerate(kinds) if kind == "sensory"]] = 1
    D = np.zeros((READOUTS, len(names)), int)
    motor = [k for k, kind in enumerate(kinds) if kind == "motor"]
    for k, unit in enumerate(motor):
        D[k % READOUTS, unit] = 1
    network = mp.LinearRNN(n=len(names), T=steps, b=INPUTS, d=READOUTS, m=samples)
    return mp.Problem(network, {"W": W}, support={"W": W, "B": B, "D": D}), names


parser = argparse.ArgumentParser(description="From an edge list to a design.")
parser.add_argument("--folder", type=Path, help="where the problem file of the design goes")
parser.add_argument("--edges", default=DATA / "connectome.csv")
parser.add_argument("--neurons", default=DATA / "neurons.csv")
parser.add_argument("--pre", default="pre")
parser.add_argument("--post", default="post")
parser.add_argument("--contacts", default="contacts")
parser.add_argument("--only", help="COLUMN=WORD: only these lines of the edge list")
parser.add_argument("--steps", type=int, default=5)
parser.add_argument("--samples", type=int, default=9)
options = parser.parse_args(sys.argv[1:])

graph = read_graph(options)
problem, names = problem_of(graph, options.steps, options.samples)
costs = {
    ("W", names.index(post), names.index(pre)): Fraction(contacts)
    for pre, post, contacts in graph.edges(data="contacts")
}
print(f"{len(graph)} neurons, {graph.number_of_edges()} synapses; {problem.network}")

# %%
# The cheapest choice under the caps, with its proof.

found = mp.design(problem, costs=costs, caps=CAPS)
few = mp.design(problem, costs=costs, goal="neurons")
print(f"cheapest under the caps: {found.allocation.size} synapses, {found.cost} contacts")
print(f"  optimal: {found.is_optimal} ({found.design.proof})")
print(f"fewest neurons: {few.value} of {len(graph)} receive what learns (bound {few.bound})")
found.plot()
if options.folder:
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "connectome_design.toml").write_text(
        found.problem.to_toml(), encoding="utf-8"
    )

# %%
# The smallest synapses, simply one after the other, are no choice; so many moves repair it.

cheap = sorted(costs, key=lambda c: (costs[c], c))[: found.allocation.size]
naive = problem.with_allocation(mp.Allocation.from_cells(problem.network, cheap))
done = mp.repair(naive, costs=costs, goal="positive", count_timeout=2.0)
print(f"the {len(cheap)} smallest synapses: {done.before.verdict} ({done.before.rule})")
if done.repair:
    pairs = zip(done.repair.removed, done.repair.added, strict=True)
    print(f"  repaired with {done.repair.moves} moves, then {done.after.verdict}; for example")
    for out, into in list(pairs)[:3]:
        print(f"    {names[out[2]]}->{names[out[1]]} no, {names[into[2]]}->{names[into[1]]} yes")
    done.plot()

# %%
# What may be lost of a design with synapses to spare.

spare = mp.design(problem, costs=costs, caps=CAPS, budget=found.allocation.size + 6)
lost = mp.robust(problem.with_allocation(spare.allocation), seconds=5.0)
print(f"with 6 synapses to spare: {lost}; {len(lost.coloops)} are indispensable each")
