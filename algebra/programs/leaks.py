r"""Leaks of recurrent networks: their format, and when ranks with them are exact.

A unit i with the leak α_i keeps a share of its state, h_t = (1 − α) h_{t-1} + α φ(a_t), h_0 = 0,
where 0 < α ≤ 1; for α = 1 nothing is kept.  A leak is one number, one for each unit, or a weight (a
column of weights, drawn between 0 and 1).

**Ranks with formal values.**  The proof in `algebra.arguments.formal_ranks` for tanh, the
sigmoid and softplus uses one property of the pre-activations a_t of a unit: the different ones that
are not identically 0 are linearly independent over Q modulo constants, the values z at earlier
pre-activations being independent unknowns.  With leaks a_t = Σ_j M_ij (h_(t−1),j + Σ_l B_jl x_l) +
c_i, where h_t,j = Σ_(s ≤ t) α_j (1 − α_j)^(t−s) z_s,j.

*Pre-activations that samples reach*, of a unit s steps from the inputs: for s = 1 they contain M_ij
B_jl x with a sample x of their own stage and column, otherwise M_ij α_j z with a value z at such a
pre-activation of their own column and latest stage.  Neither occurs in an earlier one, and α_j ≠ 0:
they are independent, of one another and of those that no sample reaches.

*Pre-activations that no sample reaches* are the same for all columns.  **If the leaks are
weights**, let s_j be the first step at which z_s,j is not 0.  As a polynomial in the variable α_j,
h_t,j has the degree t − s_j + 1 for t ≥ s_j (that of the part of z at s_j, and of all that equals
it).  So from the first step on at which some h_j of a unit's inputs is not 0 each pre-activation
contains a power of an α that no earlier one contains; the earlier ones are 0 or c_i, all equal.
They are independent.

**If the leaks are given numbers**, they may be dependent.  A unit j whose only input is its own
bias has h_t,j = (1 − (1 − α)^t) φ(c_j), so a unit that receives input only from such units has a_t
= c_i + (1 − (1 − α)^(t−1)) S: with α = 1/2 a relation a_4 − a_3 = (a_3 − a_2)/2, and values at such
pre-activations satisfy algebraic relations (e^(a_4) e^(a_2/2) = e^(3 a_3/2)).  The coefficients of
a pre-activation are known rationals: of c_i, and for each weight M_ij of the different values of
unit j.  `sums_are_independent` computes them step by step, identifies pre-activations with the same
coefficients, and checks for each unit that the different ones have full rank (modulo a prime, which
proves it over Q).  Pre-activations of different units have no monomial in common.  If the check
fails, formal ranks are upper bounds, as for erf.  Units that inputs reach directly always pass.

**Currents.**  If the state is a current, h_t = (1 − α) h_{t-1} + α (W z_{t-1} + B x_t), with
z_{t-1} the values (perhaps times gains, which are weights) at a_{t-1} = h_{t-1} + c, and h_0 is 0
or a weight, the pre-activations a_0, …, a_T of a unit that samples reach contain α_i B_il x with a
new sample, or α_i W_ij z with a value that no earlier one contains; they are independent as above.
If the leaks are weights, α_i does not occur in the inputs I_s of unit i, and a_t is a polynomial in
α_i of degree t − s + 1 from the first step s at which I_s ≠ 0 (of degree t if h_0 is a weight): the
different ones are independent.  If the leaks are numbers, or there are none, the coefficients of
the pre-activations that no sample reaches are checked as above (`currents_are_independent`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.linalg.numbers import exact_number
from algebra.linalg.ranks import modular_rank
from algebra.programs.program import Builder, Value

# Words for learnable leaks, and the number for no leak.
LEARNABLE = "learnable"
NO_LEAK = 1
# The column of learnable leaks.
LEAK = "leak"
# The first of these primes that divides no denominator of a leak is used.
_PRIMES = (2**31 - 1, 2**61 - 1)


def read_leak(value: Any, units: int) -> Any:
    """The leak in a problem file.

    Parameters
    ----------
    value : number, text, sequence or "learnable"
        Numbers as `algebra.linalg.numbers.exact_number` reads them; decimals are exact.
    units : int

    Returns
    -------
    int, str or tuple of Fraction
        `NO_LEAK`, `LEARNABLE`, or one number, or one for each unit.

    Raises
    ------
    InputError
        If a number is not above 0 and at most 1, or there is not one for each unit.

    Examples
    --------
    >>> read_leak(0.1, 3), read_leak([1, 1, 1], 3), read_leak(["1/2", 1, 1], 3)
    ((Fraction(1, 10),), 1, (Fraction(1, 2), Fraction(1, 1), Fraction(1, 1)))
    """
    if isinstance(value, str) and value == LEARNABLE:
        return LEARNABLE
    several = isinstance(value, (list, tuple, np.ndarray))
    entries = list(np.ravel(np.array(value, dtype=object))) if several else [value]
    rates = tuple(
        _rate(entry, f"leak[{k}]" if several else "leak") for k, entry in enumerate(entries)
    )
    if several and len(rates) not in (1, units):
        raise InputError(f"`leak` has {len(rates)} numbers for {units} units")
    if all(rate == 1 for rate in rates):
        return NO_LEAK
    return rates[:1] if len(set(rates)) == 1 else rates


def _rate(value: Any, place: str) -> Fraction:
    number = value if isinstance(value, bool | int | str | Fraction) else str(value)
    try:
        rate = exact_number(number, "leak")
    except InputError:
        raise InputError(
            f"`{place}` ({shown(value)}) must be a number above 0 and at most 1"
            + (f', or "{LEARNABLE}"' if place == "leak" else "")
        ) from None
    if not 0 < rate <= 1:
        raise InputError(f"`{place}` ({shown(value)}) must be above 0 and at most 1")
    return rate


def plain_leak(leak: Any) -> Any:
    """A leak as it is written in a problem file."""
    if leak in (LEARNABLE, NO_LEAK):
        return leak
    rates = [str(rate) if rate != 1 else 1 for rate in leak]
    return rates[0] if len(rates) == 1 else rates


def leaked(
    build: Builder, leak: Any, column: Value | None, before: Value | None, z: Value
) -> Value:
    """The state (1 − α) h + α z in a program.

    Parameters
    ----------
    build : Builder
    leak : Any
        A result of `read_leak`.
    column : Value or None
        The learnable leaks.
    before : Value or None
        The state h before; None at the first step.
    z : Value
        The value φ(a).
    """
    if leak == NO_LEAK:
        return z
    if column is not None:
        moved = build.multiply(column, z if before is None else build.subtract(z, before))
        return moved if before is None else build.add(before, moved)

    def times(rates: tuple[Fraction, ...], value: Value) -> Value:
        if len(rates) == 1:
            return build.scale(value, rates[0])
        below = lcm(*(rate.denominator for rate in rates))
        whole = np.array([int(rate * below) for rate in rates], dtype=object)
        return build.multiply(build.constant(whole, below), value)

    new = times(leak, z)
    return new if before is None else build.add(times(tuple(1 - r for r in leak), before), new)


def sums_are_independent(
    leak: Any,
    steps: int,
    inputs: Sequence[Sequence[int]],
    driven: np.ndarray,
    biased: np.ndarray,
    silent: bool,
) -> bool:
    """Whether different sums of a unit are linearly independent over Q: see the module.

    Parameters
    ----------
    leak : Any
        A result of `read_leak`.
    steps : int
    inputs : sequence of sequences of int
        For each unit those from which a recurrent weight leads to it.
    driven, biased : ndarray of bool
        The units that inputs enter, and those with a bias.
    silent : bool
        Whether φ(0) = 0.
    """
    if leak in (NO_LEAK, LEARNABLE):
        return True
    alpha = leak if len(leak) > 1 else leak * len(inputs)
    reached = np.zeros(len(inputs), bool)
    # For each unit: the numbers of its different values, by the coefficients of the pre-activation,
    # and the state's coefficients by these numbers.  The value 0 has no number.
    known: list[dict[tuple[Any, ...], int]] = [{} for _ in inputs]
    states: list[dict[int, Fraction]] = [{} for _ in inputs]
    for _ in range(steps):
        reached = np.array([any(driven[j] or reached[j] for j in own) for own in inputs])
        if reached.all():
            break
        values: list[int | None] = []
        for i, own in enumerate(inputs):
            terms = tuple((j, tuple(sorted(states[j].items()))) for j in own if states[j])
            empty = not terms and not biased[i]
            values.append(
                None if reached[i] or (empty and silent)
                else known[i].setdefault(terms, len(known[i]))
            )  # fmt: skip
        for i, value in enumerate(values):
            states[i] = {k: (1 - alpha[i]) * c for k, c in states[i].items() if alpha[i] != 1}
            if value is not None:
                states[i][value] = states[i].get(value, Fraction(0)) + alpha[i]
    return all(_full_rank(sums, bool(biased[i])) for i, sums in enumerate(known))


def currents_are_independent(
    leak: Any, steps: int, inputs: Sequence[Sequence[int]], driven: np.ndarray, biased: np.ndarray,
    initial: np.ndarray, silent: bool,
) -> bool:  # fmt: skip
    """`sums_are_independent` for currents: see the module.

    Parameters
    ----------
    initial : ndarray of bool
        The units whose initial current is a weight.
    leak, steps, inputs, driven, biased, silent
        As for `sums_are_independent`; without a leak α is 1.
    """
    if leak == LEARNABLE:
        return True
    units = range(len(inputs))
    alpha = [Fraction(1)] * len(inputs) if leak == NO_LEAK else leak * (len(inputs) // len(leak))
    reached = np.zeros(len(inputs), bool)
    known: list[dict[tuple[Any, ...], int]] = [{} for _ in units]
    # Coefficients of currents: by sender and number of its value; the initial current is (-1, 0).
    states: list[dict[tuple[int, int], Fraction]] = [
        {(-1, 0): Fraction(1)} if initial[i] else {} for i in units
    ]
    for _ in range(steps + 1):
        if reached.all():
            break
        values: list[int | None] = []
        for i in units:
            terms = tuple((j, ((k, c),)) for (j, k), c in sorted(states[i].items()) if c)
            is_zero = not terms and not biased[i]
            values.append(
                None if reached[i] or (is_zero and silent)
                else known[i].setdefault(terms, len(known[i]))
            )  # fmt: skip
        for i in units:
            kept = {key: (1 - alpha[i]) * c for key, c in states[i].items() if alpha[i] != 1}
            for j in inputs[i]:
                if values[j] is not None:
                    key = j, values[j]
                    kept[key] = kept.get(key, Fraction(0)) + alpha[i]  # type: ignore[index, arg-type]
            states[i] = kept  # type: ignore[assignment]
        now = reached | driven
        reached = np.array([now[i] or any(reached[j] for j in inputs[i]) for i in units])
    return all(_full_rank(sums, bool(biased[i])) for i, sums in enumerate(known))


def _full_rank(sums: Mapping[tuple[Any, ...], int], biased: bool) -> bool:
    """Whether the different nonzero pre-activations of one unit are linearly independent."""
    rows = [terms for terms in sums if terms or biased]
    if len(rows) < 2:
        return True
    places: dict[tuple[int, int], int] = {}
    for terms in rows:
        for j, state in terms:
            for k, _ in state:
                places.setdefault((j, k), len(places))
    below = lcm(*(c.denominator for terms in rows for _, state in terms for _, c in state))
    p = next((p for p in _PRIMES if below % p), 0)
    if not p:
        return False
    table = np.zeros((len(rows), len(places) + 1), np.int64)
    for row, terms in enumerate(rows):
        table[row, -1] = int(biased)
        for j, state in terms:
            for k, c in state:
                table[row, places[j, k]] = c.numerator * pow(c.denominator, -1, p) % p
    return modular_rank(table, p) == len(rows)
