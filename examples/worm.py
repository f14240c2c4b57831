"""
The worm: 302 neurons, which synapses, which neurons to record, what do signs change?
=====================================================================================

The wiring of *C. elegans* from the package ``c302``: chemical synapses with their numbers of
contacts, gap junctions, muscles (which are left out). If the package is not installed
(``pip install --no-deps c302``), a random circuit replaces it, with as many neurons and chemical
connections and a similar distribution of contacts; the first line of the output names the one that
is used.

Inputs reach the sensory neurons, labels are read from groups of motor neurons, and the network is
recurrent with tanh. Verdicts and recordings are exact ranks. What signs and bounds of the weights
change is counted on random instances of one neuron with its sensory inputs.
"""

import re
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp

STEPS, INPUTS, OUTPUTS, SAMPLES = 5, 6, 8, 8
SENSORY = re.compile(
    "ADE|ADF|ADL|AFD|ALM|AQR|AS[EGHIJK]|AVM|AW|BAG|CEP|FLP|IL|OL|PDE|PH|PLM|PQR|PVD|URX|URY"
)
GABA = re.compile("DD\\d|VD\\d|RME|AVL$|DVB$|RIS$")
MOTOR = re.compile("AS\\d|DA\\d|DB|DD|VA\\d|VB|VC|VD|RMD|RME|SMD|SMB")


def circuit():
    """Names of the neurons, and the contacts of each pair (post, pre)."""
    spec = find_spec("c302")
    if spec is not None:
        table = Path(spec.origin).parent / "data" / "herm_full_edgelist.csv"
        edges = mp.read_edges(table, type="chemical", unknown="skip")
        # Two neurons, CANL and CANR, have no synapse; muscles are written in small letters.
        names = sorted({u for u in edges.units if u.isupper()} | {"CANL", "CANR"})
        net = mp.LinearRNN(n=len(names), T=1, b=1, d=1, m=1)
        numbers = edges.cells(mp.Problem(net, {"W": "all"}, names={"neurons": names}).names, "W")
        print("C. elegans, from the package c302")
        return names, {cell: int(number) for cell, number in numbers.items()}
    print("a random circuit with the numbers of C. elegans: c302 is not installed")
    rng = np.random.default_rng(302)
    kinds = ["ASE"] * 80 + ["RI"] * 110 + ["VB"] * 86 + ["VD"] * 26
    names = [f"{kind}{k:03d}" for k, kind in enumerate(kinds)]
    strength = rng.pareto(2.0, 302) + 0.2
    chance = np.outer(strength, strength)
    places = rng.choice(302 * 302, 3638, replace=False, p=(chance / chance.sum()).ravel())
    contacts = 1 + rng.geometric(1 / 4.7, 3638)
    return names, {divmod(int(at), 302): int(c) for at, c in zip(places, contacts, strict=True)}


names, contacts = circuit()
n = len(names)
W, B, D = (np.zeros(shape, int) for shape in ((n, n), (n, INPUTS), (OUTPUTS, n)))
for i, j in contacts:
    W[i, j] = 1
B[[k for k, name in enumerate(names) if SENSORY.match(name)]] = 1
motor = [k for k, name in enumerate(names) if MOTOR.match(name)]
for place, unit in enumerate(motor):
    D[place * OUTPUTS // len(motor), unit] = 1
network = mp.RNN(n=n, T=STEPS, b=INPUTS, d=OUTPUTS, m=SAMPLES, activation="tanh")
support = {"W": W, "B": B, "D": D}


def question(cells):
    mask = np.zeros((n, n), int)
    for i, j in cells:
        mask[i, j] = 1
    return mp.Problem(network, {"W": mask}, support=support, names={"neurons": names})


print(f"{n} neurons, {len(contacts)} connections, {sum(contacts.values())} contacts;", end=" ")
print(f"{int(B[:, 0].sum())} sensory and {len(motor)} motor neurons")

# %%
# Which synapses? There are as many labels as outputs times samples, so at least as many synapses
# have to learn. Do the weakest ones, the easiest to change, suffice? Or the strongest?

labels = OUTPUTS * SAMPLES
order = sorted(contacts, key=lambda cell: (contacts[cell], cell))
for what, cells in (("weakest", order[:labels]), ("strongest", order[-labels:])):
    found = mp.certify(question(cells), timeout=30)
    print(f"the {labels} {what}: {found.verdict}, rank {found.rank} of {found.equations}")

# %%
# The cheapest allocation that can match a teacher, with the number of contacts as price and at most
# four synapses onto a neuron: proved by matroid intersection.

costs = {("W", i, j): number for (i, j), number in contacts.items()}
best = mp.design(question(contacts), costs=costs, caps={"row": 4})
print(f"{best.allocation.size} synapses with {best.cost} contacts; optimal: {best.is_optimal}")

# %%
# Which neurons have to be recorded, so that the values of these synapses are determined? The
# fewest, ranked by their increase of the rank; no smaller set suffices.

record = mp.record(best.problem, "units", seconds=120)
print(record)
record.plot()
plt.show()

# %%
# Dale's law: every synapse of a neuron has the neuron's sign, in teacher and student alike; 26
# neurons are inhibitory (GABA). Weights of given signs are an open set, on which a generic rank is
# what it is everywhere: neither the verdict nor what has to be recorded changes.

signs = [-1 if GABA.match(name) else 1 for name in names]
law = mp.Distribution(signs={"neurons": signs})
dale = mp.Problem(
    network, best.problem.learnable, support, distribution=law, names={"neurons": names}
)
found = mp.certify(dale, timeout=30)
print(f"{signs.count(-1)} inhibitory neurons: {found.verdict}, rank {found.rank}")

# %%
# A match may need weights that are too large for a synapse, or of the wrong sign. The neuron with
# the most sensory inputs, and its six strongest ones, is a network of three layers in which these
# synapses learn. Its labels are linear in them: without bounds every teacher is matched.

sensors = [k for k in range(n) if B[k, 0]]
others = [k for k in range(n) if not B[k, 0]]
hub = max(others, key=lambda i: sum(W[i, j] for j in sensors))
inputs = sorted((j for j in sensors if W[hub, j]), key=lambda j: -contacts[hub, j])[:INPUTS]
arc = mp.LinearFeedForward(q=INPUTS, widths=(INPUTS, 1), d=1, m=INPUTS)
learns = {"W2": [[1] * INPUTS]}
named = {"layer1": [names[j] for j in inputs], "layer2": [names[hub]]}
free = mp.Problem(arc, learns, names=named)
print(f"{', '.join(named['layer1'])} onto {names[hub]}: {mp.certify(free).verdict}")

sizes = mp.profile(free, by="size", trials=200)
for bound in (1, 3, 10):
    print(f"  weights up to {bound}: MP {sizes.profiles[0].at(bound).estimate:.2f}")
sizes.plot()
plt.show()

# %%
# If every synapse keeps the sign it has, few teachers are matched: of six signs none may be wrong.
# Excitatory inputs in teacher and student (all senders here are) do not help much.

kept = mp.Constraints(sign="keep")
excitatory = mp.Distribution(signs={"W2": [[1] * INPUTS]})
for what, weights in (("any signs", mp.Distribution()), ("excitatory", excitatory)):
    problem = mp.Problem(arc, learns, distribution=weights, constraints=kept, names=named)
    found = mp.estimate(problem, trials=200)
    sure = found.interval()
    print(f"signs kept, {what}: MP {found.estimate:.3f} [{sure.low:.3f}, {sure.high:.3f}]")
