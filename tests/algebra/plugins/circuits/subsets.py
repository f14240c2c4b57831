"""Targets by brute force over all subsets, with derivatives in 600 bits at a random point.

A `Case` is plain data.  The project's problem is made from it, and so is `answer`, which uses
nothing of the project: the network as the documentation defines it, dual numbers as arrays of balls
(python-flint's `arb`), ranks by elimination.  An entry that is neither certainly different from 0
nor below 2^-300 makes a rank uncertain, and is an error.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from flint import arb, arb_mat, ctx

import matchprob as mp
from algebra.problems.cell_types import Types
from algebra.problems.updates import Gain

BITS, TINY = 600, arb(2) ** -300
RECURRENT = ("lrnn", "lrnn-sequence", "rnn")


@dataclass
class Case:
    """A network, what learns in it, what may be recorded, and a target."""

    kind: str
    sizes: dict
    learns: dict
    what: str
    target: str
    support: dict = field(default_factory=dict)
    activation: object = "linear"
    leak: str = "1"
    biases: bool = False
    read: str = "last"
    costs: dict = field(default_factory=dict)
    state: str = "rates"
    drives: tuple = ()
    gain: str = "none"
    initial: str = "zero"
    types: tuple = ()
    signs: tuple = ()

    @property
    def words(self):
        """The target as a list of names."""
        return self.target.split("; ")

    def problem(self):
        """The project's problem."""
        made = {
            "lrnn": mp.LinearRNN, "lrnn-sequence": mp.SequenceRNN, "lffn": mp.LinearFeedForward,
        }  # fmt: skip
        if self.kind in made:
            return mp.Problem(made[self.kind](**self.sizes), self.learns, self.support)
        options = {"activation": self.activation, "biases": self.biases}
        if self.kind == "ffn":
            net = mp.FeedForward(**self.sizes, **options)
        else:
            leak = list(self.leak) if isinstance(self.leak, tuple) else self.leak
            net = mp.RNN(
                **self.sizes, **options, leak=leak, read=self.read, state=self.state,
                gain=self.gain, initial=self.initial,
            )  # fmt: skip
        learns = self.learns
        if self.types:
            types = Types(net, {"neurons": list(self.types)})
            for name, own in learns.items():
                if not isinstance(own, dict):
                    learns = {**learns, name: types.together(name, np.asarray(own))}
                elif own["gain"] == "cells":
                    exists = np.asarray(self.support[name])
                    learns = {**learns, name: types.together(name, exists, by_gains=True)}
                else:
                    learns = {**learns, name: types.together(name, Gain(own["gain"]))}
        laws = mp.Distribution(signs=list(self.signs)) if self.signs else mp.Distribution()
        return mp.Problem(net, learns, self.support, laws)

    def own_learns(self, name):
        """What learns in a matrix, with the groups of types written out."""
        own = self.learns[name]
        if not self.types:
            return own
        kinds = list(dict.fromkeys(self.types))
        row = np.array([kinds.index(kind) for kind in self.types])
        if isinstance(own, dict) and own["gain"] != "cells":
            return {**own, "groups": (row + 1).tolist()}
        mask = np.array(self.support[name] if isinstance(own, dict) else own)
        above = row[:, None] if name not in ("D",) else np.arange(len(mask))[:, None]
        across = row[None] if name in ("W", "D") else np.arange(mask.shape[1])[None]
        groups = ((above * 100 + across + 1) * (mask != 0)).tolist()
        return {"gain": "cells", "groups": groups} if isinstance(own, dict) else {"tied": groups}


# -- dual numbers ------------------------------------------------------------------------------


@dataclass
class Dual:
    """A matrix of balls, and its derivatives by each parameter."""

    value: np.ndarray
    slopes: list

    def __matmul__(self, other):
        pairs = zip(self.slopes, other.slopes, strict=True)
        return Dual(
            self.value @ other.value, [a @ other.value + self.value @ b for a, b in pairs]
        )  # fmt: skip

    def __add__(self, other):
        pairs = zip(self.slopes, other.slopes, strict=True)
        return Dual(self.value + other.value, [a + b for a, b in pairs])

    def __mul__(self, other):
        pairs = zip(self.slopes, other.slopes, strict=True)
        return Dual(
            self.value * other.value, [a * other.value + self.value * b for a, b in pairs]
        )  # fmt: skip

    def after(self, function):
        value, slope = np.vectorize(function, otypes=[object, object])(self.value)
        return Dual(value, [slope * a for a in self.slopes])


def as_balls(table):
    """Rationals or doubles as balls."""

    def ball(x):
        return arb(x.numerator) / x.denominator if isinstance(x, Fraction) else arb(x)

    return np.vectorize(ball, otypes=[object])(table)


def polynomial(coefficients):
    def function(x):
        powers = [x**k for k in range(len(coefficients))]
        value = sum((c * power for c, power in zip(coefficients, powers, strict=True)), arb(0))
        slope = sum((k * coefficients[k] * powers[k - 1] for k in range(1, len(powers))), arb(0))
        return value, slope

    return function


FUNCTIONS = {
    "tanh": lambda x: (x.tanh(), 1 - x.tanh() ** 2),
    "sigmoid": lambda x: (1 / (1 + (-x).exp()), (-x).exp() / (1 + (-x).exp()) ** 2),
    "softplus": lambda x: ((1 + x.exp()).log(), 1 / (1 + (-x).exp())),
    "linear": lambda x: (x, arb(1)),
    "relu": lambda x: (x, arb(1)) if x > 0 else (x * 0, arb(0)),
}


def learning_moves(learns, w):
    """The motions of a matrix by each of its parameters."""
    if isinstance(learns, dict):
        line = learns.get("gain")
        groups = np.array(learns.get("tied", learns.get("groups", 0)))
        if groups.ndim == 0:
            groups = np.arange(1, 1 + w.shape[0 if line == "rows" else 1])
        if groups.ndim == 1:
            groups = groups[:, None] if line == "rows" else groups[None]
        groups = np.broadcast_to(groups, w.shape)
        moved = np.where(groups > 0, arb(1), arb(0)) if "tied" in learns else w
        every = sorted(set(groups.ravel().tolist()) - {0})
        return [np.where(groups == k, moved, arb(0)) for k in every]
    # The column of a drive does not learn.
    learning = np.pad(np.array(learns) == 1, ((0, 0), (0, w.shape[1] - len(learns[0]))))
    found = []
    for at in np.argwhere(learning):
        found.append(np.full(w.shape, arb(0)))
        found[-1][tuple(at)] = arb(1)
    return found


def numbers(case, seed, driven=None, given=None):
    """The derivatives of all numbers: by (states or outputs, layer, step, unit, sample).

    In the samples in which a unit is driven the drive is one more input.  Weights and samples are
    drawn, or are given, with the drives of units (steps × samples).
    """
    rng = random.Random(seed)
    sizes = case.sizes

    def drawn(rows, columns, mask=None):
        out = np.empty((rows, columns), object)
        for at in np.ndindex(rows, columns):
            number = arb(rng.randint(-(2**60), 2**60)) / 2**60
            out[at] = number if mask is None or mask[at[0]][at[1]] else arb(0)
        return out

    if case.kind in RECURRENT:
        n, b, d = (sizes[key] for key in "nbd")
        shapes = {"W": (n, n), "B": (n, b), "D": (d, n)}
        columns = {"c": n, "e": d}
        rows = sizes["T"] * b
    else:
        widths = [sizes["q"], *sizes["widths"], sizes["d"]]
        shapes = {f"W{k}": (widths[k], widths[k - 1]) for k in range(1, len(widths))}
        columns = {f"c{k}": widths[k] for k in range(1, len(widths) - 1)} | {"e": widths[-1]}
        rows = widths[0]
    if case.biases:
        shapes |= {name: (size, 1) for name, size in columns.items()}
    if case.leak == "learnable":
        shapes["leak"] = (n, 1)
    if case.initial != "zero":
        shapes["h0"] = (n, 1)
    if case.gain != "none":
        shapes["g"] = (n, 1)
    values = {name: drawn(*shape, case.support.get(name)) for name, shape in shapes.items()}
    X = drawn(rows, sizes["m"] + (case.target == "samples=new"))
    if given is not None:
        values, X = ({name: as_balls(w) for name, w in given[0].items()}, as_balls(given[1]))
    if driven is not None:
        rng = random.Random(f"{seed}/{driven}")
        column, drive = drawn(n, 1, np.eye(n)[:, [driven]]), drawn(sizes["T"], X.shape[1])
        if given is not None:
            column, drive = as_balls(np.eye(n)[:, [driven]]), as_balls(given[2][driven])
        values["B"] = np.hstack([values["B"], column])
        steps = np.vsplit(X, sizes["T"])
        X = np.vstack([np.vstack([x, row]) for x, row in zip(steps, drive, strict=True)])
        b += 1

    moves = [
        (name, move)
        for name in case.learns
        for move in learning_moves(case.own_learns(name), values[name])
    ]

    def dual(name):
        w = values[name]
        return Dual(w, [move if own == name else w * 0 for own, move in moves])

    weights = {name: dual(name) for name in values}

    def fixed(value):
        return Dual(value, [value * 0] * len(moves))

    def biased(name, z):
        if name not in weights:
            return z
        return z + weights[name] @ fixed(np.full((1, X.shape[1]), arb(1)))

    phi = (
        FUNCTIONS[case.activation]
        if isinstance(case.activation, str)
        else polynomial(case.activation["polynomial"])
    )
    found = {}

    def note(what, layer, step, z):
        for i, c in np.ndindex(*z.value.shape):
            found[what, layer, step, i, c] = [a[i, c] for a in z.slopes]

    if case.kind in ("ffn", "lffn"):
        z = fixed(X)
        for k in range(1, len(sizes["widths"]) + 1):
            z = biased(f"c{k}", weights[f"W{k}"] @ z).after(phi)
            note("states", k, None, z)
        note("outputs", 0, None, biased("e", weights[f"W{len(sizes['widths']) + 1}"] @ z))
        return found
    one = fixed(np.full((sizes["n"], 1), arb(1)))
    ones = fixed(np.full((1, X.shape[1]), arb(1)))
    h = fixed(np.full((sizes["n"], X.shape[1]), arb(0)))
    if "h0" in weights:
        h = weights["h0"] @ ones
    if case.leak == "learnable":
        alpha = weights["leak"]
    else:
        rates = case.leak if isinstance(case.leak, tuple) else [case.leak] * sizes["n"]
        exact = [Fraction(rate) for rate in rates]
        alpha = fixed(np.array([[arb(a.numerator) / a.denominator] for a in exact]))
    rest = one + alpha * fixed(np.full((sizes["n"], 1), arb(-1)))
    gains = weights.get("g", one)
    if case.state == "currents":
        z = biased("c", h).after(phi)
    for t in range(sizes["T"]):
        x = weights["B"] @ fixed(X[t * b : (t + 1) * b])
        if case.state == "currents":
            h = rest * h + alpha * (weights["W"] @ (gains * z) + x)
            z = biased("c", h).after(phi)
            seen = gains * z if case.gain == "rates" else z
        elif case.kind == "rnn":
            now = biased("c", weights["W"] @ (h + x)).after(phi)
            h = rest * h + alpha * now
            seen = h
        else:
            h = weights["W"] @ h + x
            seen = weights["W"] @ h
        note("states", 0, t, seen if case.state == "currents" else h)
        note("outputs", 0, t, biased("e", weights["D"] @ seen))
    if case.kind != "rnn":
        note("states", 0, sizes["T"], seen)
    return found


# -- elements ----------------------------------------------------------------------------------


def elements(case, kind):
    """The elements of a kind, each with its numbers, as `numbers` calls them; without new samples.

    Outputs are labels: of the last step, unless all are read.
    """
    sizes = case.sizes
    samples, found = range(sizes["m"]), {}

    def add(name, *key):
        found.setdefault(name, set()).add(key)

    if kind == "units" and case.kind in RECURRENT:
        steps = range(sizes["T"] + (case.kind != "rnn"))
        for t, i, c in np.ndindex(len(steps), sizes["n"], sizes["m"]):
            add(f"unit {i}", "states", 0, t, i, c)
        return found
    if kind == "units":
        for k, width in enumerate(sizes["widths"], 1):
            for i, c in np.ndindex(width, sizes["m"]):
                add(f"layer {k} unit {i}", "states", k, None, i, c)
        return found
    steps = [None]
    if case.kind in RECURRENT:
        every = case.read == "all" or case.kind == "lrnn-sequence" or kind == "times"
        steps = list(range(sizes["T"])) if every else [sizes["T"] - 1]
    for t in steps:
        for i in range(sizes["d"]):
            for c in samples:
                step = f" step {t}" if len(steps) > 1 else ""
                name = {
                    "outputs": f"output {i}", "entries": f"entry {i},{c}{step}",
                    "samples": f"sample {c}", "times": f"step {t}",
                }[kind]  # fmt: skip
                add(name, "outputs", 0, t, i, c)
    return found


def question(case):
    """The elements that may be recorded, without numbers of the target; and those of the target."""
    recorded = elements(case, case.what)
    word = case.target
    if word in ("units", "outputs"):
        return recorded, elements(case, word)
    if word == "samples=new":
        # With ReLU there are as many new samples as there are samples.
        m = case.sizes["m"]
        more = range(m, 2 * m if case.activation == "relu" else m + 1)
        new = {
            name: {(*key[:-1], c) for key in keys for c in more}
            for name, keys in elements(case, "outputs").items()
        }
        return recorded, new
    if word.startswith("times="):
        first, _, last = word.removeprefix("times=").partition(":")
        steps = range(int(first), int(last or int(first) + 1))
        every = elements(case, "units" if case.what == "units" else "times")
        target = {
            f"step {t}": {key for keys in every.values() for key in keys if key[2] == t}
            for t in steps
        }
    else:
        own = elements(case, "outputs") | elements(case, "units")
        target = {word: own[word] for word in case.words}
    aimed = set().union(*target.values())
    return {name: keys - aimed for name, keys in recorded.items()}, target


# -- ranks -------------------------------------------------------------------------------------


def echelon(rows):
    """A basis of the span of rows, by elimination with the largest pivot."""
    rows, basis = [list(row) for row in rows], []
    while rows:
        _, k, j = max(
            (float(abs(x).mid()), k, j) for k, row in enumerate(rows) for j, x in enumerate(row)
        )
        if not rows[k][j].abs_lower() > 0:
            assert all(x.abs_upper() < TINY for row in rows for x in row), "an uncertain rank"
            break
        pivot = rows.pop(k)
        basis.append(pivot)
        rows = [
            [x - row[j] / pivot[j] * y for x, y in zip(row, pivot, strict=True)] for row in rows
        ]
        for row in rows:
            row[j] = arb(0)
    return basis


def answer(case, seed=1, given=None):
    """The least cost, the free directions of each activity then, and what the labels leave free.

    Returns
    -------
    cost : int
    free : dict of str to int
        Of each activity of the target, with everything recorded.
    by_labels : dict or None
        The same with the labels recorded; None if they are part of the target.
    """
    ctx.prec, before = BITS, ctx.prec
    try:
        rows = numbers(case, seed, given=given)
        recorded, target = question(case)
        spans = {
            name: echelon([rows[key] for key in sorted(keys, key=str)])
            for name, keys in recorded.items()
        }
        aims = {
            name: echelon([rows[key] for key in sorted(keys, key=str)])
            for name, keys in target.items()
        }

        def free(known, aim):
            base = echelon(known)
            return len(echelon([*base, *aim])) - len(base)

        whole = echelon([row for span in spans.values() for row in span])
        every = [row for aim in aims.values() for row in aim]
        least = free(whole, every)
        useful = [name for name, span in spans.items() if span]
        costs = []
        for size in range(len(useful) + 1):
            for chosen in combinations(useful, size):
                cost = sum(case.costs.get(name, 1) for name in chosen)
                if costs and cost >= min(costs):
                    continue
                if free([row for name in chosen for row in spans[name]], every) == least:
                    costs.append(cost)
        labels, aimed = question(replace(case, what="outputs"))
        by_labels = None
        if any(labels.values()) and not case.target.startswith("output"):
            known = [rows[key] for keys in labels.values() for key in sorted(keys, key=str)]
            by_labels = {
                name: free(known, [rows[key] for key in sorted(keys, key=str)])
                for name, keys in aimed.items()
            }
        return min(costs), {name: free(whole, aim) for name, aim in aims.items()}, by_labels
    finally:
        ctx.prec = before


def of_labels(case, seed=1, given=None):
    """The rank of the labels' derivatives, how many parameters they leave free, J as doubles."""
    ctx.prec, before = BITS, ctx.prec
    try:
        rows = numbers(case, seed, given=given)
        own = elements(case, "outputs").values()
        listed = [rows[key] for keys in own for key in sorted(keys, key=str)]
        basis = echelon(listed)
        units = np.where(np.eye(len(listed[0])) == 1, arb(1), arb(0))
        # A parameter is determined if its unit vector is in the span of the rows.
        free = sum(len(echelon([*basis, unit])) > len(basis) for unit in units)
        return len(basis), free, np.array(listed).astype(float)
    finally:
        ctx.prec = before


def driven_answer(case, seed=1, given=None):
    """The least cost of elements and stimulations, by brute force; everything's rank, or what all
    leave free of the target.
    """
    ctx.prec, before = BITS, ctx.prec
    try:
        base = numbers(case, seed, given=given)
        recorded, target = question(case) if case.target else (elements(case, case.what), {})
        experiments = [None, *case.drives]
        rows = {u: base if u is None else numbers(case, seed, u, given) for u in experiments}
        spans = {
            (name, u): echelon([rows[u][key] for key in sorted(keys, key=str)])
            for name, keys in recorded.items()
            for u in experiments
        }
        aims = [base[key] for keys in target.values() for key in sorted(keys, key=str)]

        def value(names, driven):
            """How much is known: the rank, or what is free with the sign changed."""
            known = echelon([v for n in names for u in (None, *driven) for v in spans[n, u]])
            return len(known) - len(echelon([*known, *aims])) if aims else len(known)

        names = [name for name in recorded if any(spans[name, u] for u in experiments)]
        whole, best = value(names, case.drives), None
        both = [*names, *(f"stimulation of unit {u}" for u in case.drives)]
        prices = [case.costs.get(name, 1) for name in both]
        sets = sorted(
            (sum(prices[k] for k in some), some)
            for size in range(len(both) + 1)
            for some in combinations(range(len(both)), size)
        )
        for cost, some in sets:
            chosen = [names[k] for k in some if k < len(names)]
            driven = [case.drives[k - len(names)] for k in some if k >= len(names)]
            if value(chosen, driven) == whole:
                best = cost
                break
        return best, whole
    finally:
        ctx.prec = before


# -- noise -------------------------------------------------------------------------------------


def spreads(case, values, signs):
    """The standard deviation of each parameter before the recording.

    That of normal weights of variance 1/columns, of |w| with a sign, of the sigmoid of a normal
    number for leaks; 1 for gains, and the root mean square over the weights of a tie.
    """
    at, weight = np.polynomial.hermite_e.hermegauss(60)
    rates = 1 / (1 + np.exp(-at))
    mean, square = (weight @ x / weight.sum() for x in (rates, rates**2))
    found = []
    for name in case.learns:
        w, learns = values[name], case.own_learns(name)
        single = np.full(w.shape, 1 / np.sqrt(w.shape[1]))
        if name in signs:
            single = single * np.where(signs[name] != 0, np.sqrt(1 - 2 / np.pi), 1)
        if name == "leak":
            single = np.full(w.shape, np.sqrt(square - mean**2))
        for move in learning_moves(learns, as_balls(w)):
            moved = np.vectorize(lambda x: x != 0, otypes=[bool])(move)
            is_gain = isinstance(learns, dict) and "gain" in learns
            found.append(1.0 if is_gain else np.sqrt((single[moved] ** 2).mean()))
    return np.array(found)


def predicted(case, sigma, given, signs):
    """A function of elements and driven units: the deviations of the target, (own, of each).

    Linear theory at the given parameters, by the inverse of the posterior's precision in 600 bits.
    """
    before, ctx.prec = ctx.prec, BITS
    try:
        recorded, target = question(case)
        experiments = [None, *case.drives]
        rows = {u: numbers(case, 1, u, given) for u in experiments}
        listed = {
            (name, u): np.array([rows[u][key] for key in sorted(keys, key=str)])
            for name, keys in recorded.items() if keys
            for u in experiments
        }  # fmt: skip
        aims = {
            name: np.array([rows[None][key] for key in sorted(keys, key=str)])
            for name, keys in target.items()
        }
        prior = [arb(float(x)) for x in spreads(case, given[0], signs)]
        size = len(prior)

        def grams(J):
            return arb_mat(J.T.tolist()) * arb_mat(J.tolist()) * (1 / arb(sigma) ** 2)

        parts = {key: grams(J) for key, J in listed.items()}
    finally:
        ctx.prec = before

    def deviations(names, driven):
        before, ctx.prec = ctx.prec, BITS
        try:
            precision = arb_mat(size, size, [0] * size**2)
            for k in range(size):
                precision[k, k] = 1 / prior[k] ** 2
            for name in names:
                for u in (None, *driven):
                    if (name, u) in parts:
                        precision = precision + parts[name, u]
            C = precision.inv()
            each = {}
            for name, T in aims.items():
                own = arb_mat(T.tolist())
                left = own * C * own.transpose()
                each[name] = [float(left[k, k].mid()) for k in range(len(T))]
            every = [x for own in each.values() for x in own]
            return np.sqrt(np.mean(every)), {k: np.sqrt(np.mean(v)) for k, v in each.items()}
        finally:
            ctx.prec = before

    return deviations


# -- cases -------------------------------------------------------------------------------------

ACTIVATIONS = ("tanh", "sigmoid", "softplus", {"polynomial": [0, 1, 1]}, {"polynomial": [1, 0, 2]})


def cases(count, seed=0):
    """Random cases with at most six hidden units and nine learnable parameters."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        kind = ("lrnn", "lrnn-sequence", "rnn", "rnn", "rnn", "rnn", "ffn", "lffn")[made % 8]
        case = _case(kind, 2 + made % 5, rng)
        if len(question(case)[0]) > 8 or not any(question(case)[0].values()):
            continue
        made += 1
        yield case


def driven_cases(count, seed=0):
    """Random recurrent cases with units that may be driven, with a target or without."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        kind = ("rnn", "rnn", "rnn", "lrnn", "rnn", "lrnn-sequence")[made % 6]
        case = _case(kind, 2 + made % 3, rng)
        n, m = case.sizes["n"], case.sizes["m"]
        case.sizes["m"] = min(m, 2)
        case.what = "units" if rng.random() < 0.7 else "outputs"
        if case.kind == "rnn" and rng.random() < 0.4:
            case.state = "currents"
        case.target = ["", "", "samples=new", "outputs"][rng.integers(4)]
        if case.what == "outputs" and case.target == "outputs":
            case.target = ""
        case.drives = tuple(sorted(rng.permutation(n)[: rng.integers(1, n + 1)].tolist()))
        case.costs = {}
        if rng.random() < 0.5:
            names = [*elements(case, case.what), *(f"stimulation of unit {u}" for u in case.drives)]
            case.costs = {name: int(rng.integers(0, 4)) for name in names}
        made += 1
        yield case


def _case(kind, n, rng):
    pick = lambda *values: values[rng.integers(len(values))]  # noqa: E731
    d, m, T = int(rng.integers(1, 3)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    recurrent = kind in RECURRENT
    if recurrent:
        sizes = {"n": n, "T": T, "b": int(rng.integers(1, 3)), "d": d, "m": m}
        shapes = {"W": (n, n), "B": (n, sizes["b"]), "D": (d, n)}
    else:
        widths = (n,) if n > 3 or rng.random() < 0.5 else (n, 2)
        sizes = {"q": int(rng.integers(1, 4)), "widths": widths, "d": d, "m": m}
        lines = [sizes["q"], *widths, d]
        shapes = {f"W{k}": (lines[k], lines[k - 1]) for k in range(1, len(lines))}
    activated = kind in ("rnn", "ffn")
    biases = bool(activated and rng.random() < 0.5)
    if biases:
        shapes |= {"c": (n, 1)} if recurrent else {"c1": (n, 1)}
    size, cells = (
        int(rng.integers(1, 10)),
        [(s, *at) for s in shapes for at in np.ndindex(shapes[s])],
    )
    learns = {name: np.zeros(shape, int) for name, shape in shapes.items()}
    for k in rng.permutation(len(cells))[:size]:
        name, i, j = cells[k]
        learns[name][i, j] = 1
    main = "W" if recurrent else "W1"
    support = (rng.random(shapes[main]) < 0.6) | (learns[main] == 1)
    learns = {name: mask for name, mask in learns.items() if mask.any()}
    if rng.random() < 0.2:
        learns = {main: {"gain": pick("rows", "columns")}}
        support |= np.eye(*shapes[main], dtype=bool)
    what = pick("units", "units", "units", "outputs", "entries", "samples", "times")
    if what == "times" and not recurrent:
        what = "units"
    named = rng.permutation(n)[: rng.integers(1, 3)]
    layer = "" if recurrent else "layer 1 "
    targets = ["samples=new", "units", "; ".join(f"{layer}unit {k}" for k in named)]
    if what == "units":
        targets += ["outputs", f"output {rng.integers(d)}"]
    case = Case(
        kind, sizes, learns, what, "", {main: support.astype(int)},
        pick(*ACTIVATIONS) if activated else "linear",
        pick("1", "1/2", "2/3") if kind == "rnn" else "1", biases,
        pick("last", "all") if kind == "rnn" else "last",
    )  # fmt: skip
    if recurrent:
        first = int(rng.integers(T))
        targets += [f"times={first}", f"times={first}:{T}"]
    case.target = pick(*targets)
    if rng.random() < 0.4:
        case.costs = {name: int(rng.integers(1, 4)) for name in elements(case, what)}
    return case


def option_cases(count, seed=0):
    """Random recurrent cases with every option, which change parameters by ties, gains and types.

    Leaks that are equal, different or learnable; states that are rates or currents, with gains and
    learnable initial currents; types and signs of neurons; units that may be driven; ReLU at the
    circuit's own parameters.
    """
    rng = np.random.default_rng(seed)
    pick = lambda *values: values[rng.integers(len(values))]  # noqa: E731
    made = 0
    while made < count:
        case = _case("rnn", 2 + made % 4, rng)
        n, shapes = case.sizes["n"], {"W": (case.sizes["n"],) * 2}
        case.activation = (*ACTIVATIONS, "linear", "relu")[made % 7]
        case.state = pick("rates", "currents")
        case.leak = pick("1", "1/3", "learnable", tuple(pick("1/2", "1/3", "1") for _ in range(n)))
        if case.state == "currents":
            case.gain, case.initial = (
                pick("none", "presynaptic", "rates"), pick("zero", "learnable")
            )  # fmt: skip
        learns = dict(case.learns)
        for name in ("leak",) * (case.leak == "learnable"):
            shapes[name] = (n, 1)
        shapes |= {"g": (n, 1)} if case.gain != "none" else {}
        shapes |= {"h0": (n, 1)} if case.initial != "zero" else {}
        shapes |= {"c": (n, 1)} if case.biases else {}
        for name, shape in shapes.items():
            way, groups = pick("", "cells", "tied", "gain"), rng.integers(0, 3, shape)
            if name == "W" and way == "gain":
                size = rng.integers(0, 3, n).tolist()
                learns[name] = {"gain": pick("rows", "columns"), "groups": size}
            elif way == "tied" or (way == "gain" and name != "W"):
                learns[name] = {"tied": (groups * case.support.get(name, 1)).tolist()}
            elif way == "gain":
                learns[name] = {"gain": "cells", "groups": (groups * case.support["W"]).tolist()}
            elif way == "cells" and name != "W":
                learns[name] = (groups > 0).astype(int)
        if rng.random() < 0.3:
            case.types = tuple(pick("E", "I", "M") for _ in range(n))
            learns = {name: own for name, own in learns.items() if not isinstance(own, dict)}
            if rng.random() < 0.7:
                learns["W"] = {"gain": pick("rows", "columns", "cells", "cells")}
            for name in set(shapes) - {"W"}:
                learns[name] = np.ones((n, 1), int)
        case.learns = {name: own for name, own in learns.items() if _learns(own)}
        if rng.random() < 0.3:
            signs = tuple(pick(1, -1, 0) for _ in range(n))
            # Some linear ones are solved as other networks, whose weights have no signs.
            case.signs = () if case.activation == "linear" else signs
        recorded = question(case)[0] if case.learns else {}
        if not any(recorded.values()) or len(recorded) > 8:
            continue
        # Types tie the weights of B, and stimulations are refused there.
        if rng.random() < 0.4 and not (case.types and "B" in case.learns):
            most = min(n, 8 - len(recorded))
            case.drives = tuple(sorted(rng.permutation(n)[:most].tolist()))
        made += 1
        yield case


def _learns(learns):
    """Whether something learns."""
    if not isinstance(learns, dict):
        return np.any(learns)
    return np.any(learns.get("tied", learns.get("groups", 1)))
