"""
A connectome: which synapses should be plastic?
===============================================

A recurrent net on a directed graph: W[i, j] exists if neuron j has a synapse onto neuron i; the
inputs reach the sensory neurons (B), and the labels are read from groups of motor neurons (D).  The
price of a synapse is its number of contacts: large synapses are hard to change. At most 3 synapses
onto a neuron and 4 from a neuron may learn.  The cheapest such allocation that can match a teacher
is computed, with proof. It is compared with the cheapest synapses, taken one after the other, and
the least number of moves that repairs these is computed.

**Your own connectome.** Two files are needed
(``python examples/connectome.py --edges FILE --neurons FILE --folder OUT``):

* edges: a list of connections with a header that names sender, receiver and contacts, as c302,
  neuPrint or WormAtlas publish them (``mp.read_edges``); if it has a column ``type``,
  ``--type chemical`` selects the synapses. Gap junctions count in both directions;
* neurons: columns ``neuron``, ``kind`` with kinds ``sensory``, ``motor`` and anything else.

Connections with other neurons than these are left out.
"""

import argparse
import csv
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np

import matchprob as mp
from algebra.problems.edges import Edges

# The gallery runs examples in their own folder.
DATA = (Path(__file__).parent if "__file__" in globals() else Path()) / "data"
INPUTS, READOUTS = 2, 4
CAPS = {"row": 3, "column": 4}


def problem_of(kinds: dict[str, str], edges: Edges, steps: int, samples: int) -> mp.Problem:
    """The recurrent net on the graph; every synapse may learn."""
    # Units in the order of the flow make the masks readable.
    order = {"sensory": 0, "motor": 2}
    names = sorted(kinds, key=lambda v: (order.get(kinds[v], 1), v))
    B = np.zeros((len(names), INPUTS), int)
    B[[k for k, name in enumerate(names) if kinds[name] == "sensory"]] = 1
    D = np.zeros((READOUTS, len(names)), int)
    motor = [k for k, name in enumerate(names) if kinds[name] == "motor"]
    for k, unit in enumerate(motor):
        D[k % READOUTS, unit] = 1
    network = mp.LinearRNN(n=len(names), T=steps, b=INPUTS, d=READOUTS, m=samples)
    support = {"W": edges, "B": B, "D": D}
    return mp.Problem(network, {"W": edges}, support=support, names={"neurons": names})


parser = argparse.ArgumentParser(description="From an edge list to a design.")
parser.add_argument("--folder", type=Path, help="where the problem file of the design goes")
parser.add_argument("--edges", default=DATA / "connectome.csv")
parser.add_argument("--neurons", default=DATA / "neurons.csv")
parser.add_argument("--type", default="", help="which synapses, of several types")
parser.add_argument("--steps", type=int, default=5)
parser.add_argument("--samples", type=int, default=9)
options = parser.parse_args(sys.argv[1:])

with open(options.neurons, newline="", encoding="utf-8-sig") as stream:
    kinds = {line["neuron"].strip(): line["kind"].strip() for line in csv.DictReader(stream)}
edges = mp.read_edges(options.edges, type=options.type, unknown="skip")
problem = problem_of(kinds, edges, options.steps, options.samples)
contacts = edges.cells(problem.names, "W")
costs = {("W", i, j): Fraction(number) for (i, j), number in contacts.items()}
print(f"{len(kinds)} neurons, {len(costs)} synapses; {problem.network}")

# %%
# The cheapest allocation under the caps, with its proof.

found = mp.design(problem, costs=costs, caps=CAPS)
few = mp.design(problem, costs=costs, goal="neurons")
print(f"cheapest under the caps: {found.allocation.size} synapses, {found.cost} contacts")
print(f"  optimal: {found.is_optimal} ({found.design.proof})")
print(f"fewest neurons: {few.value} of {len(kinds)} receive what learns (bound {few.bound})")
found.plot()
if options.folder:
    options.folder.mkdir(parents=True, exist_ok=True)
    (options.folder / "connectome_design.toml").write_text(
        found.problem.to_toml(), encoding="utf-8"
    )

# %%
# The smallest synapses, taken one after the other, are not such an allocation; the number of moves
# that repair them.

cheap = sorted(costs, key=lambda c: (costs[c], c))[: found.allocation.size]
naive = problem.with_allocation(mp.Allocation.from_cells(problem.network, cheap))
done = mp.repair(naive, costs=costs, goal="positive", count_timeout=2.0)
print(f"the {len(cheap)} smallest synapses: {done.before.verdict} ({done.before.rule})")
if done.repair:
    pairs = zip(done.repair.removed, done.repair.added, strict=True)
    print(f"  repaired with {done.repair.moves} moves, then {done.after.verdict}; for example")
    for out, into in list(pairs)[:3]:
        print(f"    {problem.names.cell(out)} no, {problem.names.cell(into)} yes")
    done.plot()

# %%
# Which learnable synapses may be lost, in an allocation with more synapses than needed.

spare = mp.design(problem, costs=costs, caps=CAPS, budget=found.allocation.size + 6)
lost = mp.robust(problem.with_allocation(spare.allocation), seconds=5.0)
print(f"with 6 synapses to spare: {lost}; {len(lost.coloops)} are indispensable each")
