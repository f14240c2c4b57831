"""
What to record in 300 neurons: exact ranks and noise
====================================================

The wiring of a circuit is known, the gain and the bias of each neuron are not. Which neurons have
to be recorded until the activity of all others is predicted? Beiran and Litwin-Kumar (*Prediction
of neural activity in connectome-constrained recurrent networks*, Nature Neuroscience, 2025) train
students of such circuits. Here the same question is asked twice: of exact recordings, by ranks, and
of recordings with noise, by linear theory at the circuit's own parameters.

The numbers of 300 neurons come from ``python benchmarks/recorded_activity.py``, and are stored
beside this page; a circuit of 40 neurons is computed here. Noise has a standard deviation of 0.05,
and the error is the predicted standard deviation of the activity of all neurons.
"""

import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import matchprob as mp

here = Path(__file__).parent if "__file__" in globals() else Path()
with open(here / "data" / "recorded_activity.csv", newline="") as file:
    table = list(csv.DictReader(file))


def curve(part, name):
    """Numbers of recorded neurons, and errors, of the rows of a curve."""
    rows = [r for r in table if r["part"] == part and r["curve"] == name]
    return [int(r["recorded"]) for r in rows], [float(r["error"]) for r in rows]


def ranks(part, name):
    """Exact ranks by the number of recorded neurons."""
    rows = [r for r in table if r["part"] == part and r["curve"].startswith(name) and r["rank"]]
    return {int(r["recorded"]): int(r["rank"]) for r in rows if r["recorded"] != "0"}


def draw(axes, part, name, colour, label):
    """The error in the best order, and in random ones."""
    x, y = curve(part, f"{name}, best order")
    start = curve(part, name)[1][0]
    axes.semilogy([0, *x], [start, *y], color=colour, label=label)
    for seed in range(3):
        x, y = curve(part, f"{name}, random order {seed}")
        axes.semilogy([0, *x], [start, *y], "s:", color=colour, ms=3, lw=0.7, alpha=0.6)


# %%
# A circuit of 40 neurons first. Exact recordings: one or two neurons determine all gains and
# biases, and so everything. With noise, the same recording predicts little: the singular values
# fall by orders of magnitude.

n = 40
rng = np.random.default_rng(0)
wiring = (rng.random((n, n)) < 0.3).astype(int)
wiring[np.arange(n), (np.arange(n) + 1) % n] = 1
net = mp.RNN(n=n, T=20, b=2, d=1, m=4, activation="tanh", biases=True, leak="1/2")
learns = {"W": {"gain": "columns"}, "c": np.ones((n, 1), int)}
law = mp.Distribution(scale={"W": "6/5", "c": "3/10"})
problem = mp.Problem(net, learns, {"W": wiring}, distribution=law)
print(mp.record(problem, "units", target="units", noise=0.05))

# %%
# Now 300 neurons, 1 to 60 of which are recorded. Four samples of 20 steps are 80 numbers of a
# neuron, 79 of them independent: the exact rank of a random choice is printed beside its error. It
# is as large as the numbers allow, and with eight neurons it is that of all 600 parameters, when
# the error has hardly begun to fall.

exact = ranks("order", "by neuron")
x, y = curve("order", "by neuron, random order 0")
for count, rank in exact.items():
    print(f"{count} neurons: rank {rank} of 600, error {y[x.index(count)]:.2f}")

figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
draw(axes, "order", "by neuron", "#0072b2", "best order")
axes.plot([], [], "s:", color="#0072b2", ms=3, lw=0.7, alpha=0.6, label="at random")
axes.axvline(min(k for k, r in exact.items() if r == 600), color="0.6", lw=0.8)
axes.set_xlabel("recorded neurons, of 300")
axes.set_ylabel("predicted error of the activity")
axes.text(9, 0.058, "from here exact recordings\ndetermine everything", fontsize=8, color="0.4")
axes.legend(frameon=False)
plt.show()

# %%
# Does the number of neurons matter, or the dimension of the activity? Only gains are unknown now,
# and the wiring has rank 1, 2, 4 or 8, or full rank. With a wiring of low rank the neurons that
# reduce the error to a fifth become about as many as its rank, and stay so when the circuit grows:
# as in the paper, recordings follow the dimension of what a circuit does. (With rank 8 their number
# still rises: the effect of one gain falls with the number of neurons, and the noise does not.)
# With full rank every gain has its own effect, and twice as many neurons need twice as many
# recordings.

rows = [r for r in table if r["part"] == "dimension"]
print("neurons  wiring     dimension of the activity  to record")
for r in rows:
    print(f"{r['neurons']:>7}  {r['curve']:<9}  {r['dimension']:>25}  {r['recorded']:>9}")

figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
for name, colour in (
    ("rank 1", "#a6cbe3"), ("rank 2", "#56b4e9"), ("rank 4", "#0072b2"), ("rank 8", "#00395a"),
    ("full rank", "#d55e00"),
):  # fmt: skip
    own = [(int(r["neurons"]), int(r["recorded"])) for r in rows if r["curve"] == name]
    axes.plot(*zip(*own, strict=True), "o-", color=colour, label=name, ms=4)
axes.set_xlabel("neurons of the circuit")
axes.set_ylabel("recorded, for a fifth of the error")
axes.set_xticks([60, 120, 240, 480])
axes.set_ylim(0)
axes.legend(frameon=False, title="wiring")
plt.show()

# %%
# What is known of the wiring. If gains and biases are shared by ten types, 20 parameters are
# unknown instead of 600, and few recordings are needed. If of each synapse only the sign is known,
# or only that it exists, 60 neurons have hundreds of unknown parameters. (Errors are shares of
# those before the recording, which differ: signs lower it from 0.57 to 0.45, and hardly change how
# it falls.)

figure, axes = plt.subplots(figsize=(5, 3.6), layout="constrained")
for name, colour, label in (
    ("60: gains and biases", "#0072b2", "gains and biases unknown"),
    ("60: synapses of known sign", "#009e73", "synapses of known sign"),
    ("60: synapses of unknown sign", "#d55e00", "synapses of unknown sign"),
):
    start = curve("knowledge", name)[1][0]
    x, y = curve("knowledge", f"{name}, best order")
    axes.semilogy([0, *x], [1, *(np.array(y) / start)], color=colour, label=label)
axes.set_xlabel("recorded neurons, of 60, best order")
axes.set_ylabel("error / error without a recording")
axes.legend(frameon=False)
plt.show()
for name in ("by type", "60: gains and biases", "60: synapses of known sign"):
    start, (x, y) = curve("knowledge", name)[1][0], curve("knowledge", f"{name}, best order")
    first = next((k for k, e in zip(x, y, strict=True) if e < 0.1 * start), None)
    print(f"{name}: ranks {ranks('knowledge', name)}, a tenth of the error with {first}")

# %%
# *C. elegans*: 302 neurons, the chemical synapses of the package ``c302``.

start, (x, y) = curve("worm", "C. elegans")[1][0], curve("worm", "C. elegans, best order")
print(f"ranks {ranks('worm', 'C. elegans')} of 604; error before {start:.2f}")
print("recorded  best order  at random")
shown, random = curve("worm", "C. elegans, random order 0")
for count, error in zip(shown, random, strict=True):
    print(f"{count:>8}  {y[x.index(count)]:>10.3f}  {error:>9.3f}")
