r"""Reasons of redundancy: parameters whose rank is below their number, and what compensates them.

Relations between columns of the Jacobian at a point group the parameters.  A relation v (J v = 0)
says that small changes along v do not change the labels at this point; a *reason* is given only
where it is checked that moving along v leaves the labels unchanged:

* **shifts**: for a random combination v of the relations of the group the derivative along v is 0
  at w + v, too.  It is a rational function of t at w + t v, so by the choice of a random multiple v
  it is 0 for all t unless the point is unlucky, and the labels are the same for all t.
* parameters of rank 0 have no effect.
* **scales**: as many independent scales of these parameters alone as there are relations
  (`algebra.programs.scales`).
* parameters that do not reach the labels;
* rows of a table that no sample chooses: they have no effect *for these samples*.

With as many labels as were requested, or more samples to come, relations say nothing about the
parameters: that is the reason, then.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from algebra.linalg.echelon import modular_echelon
from algebra.linalg.modular import matmul
from algebra.linalg.ranks import modular_rank
from algebra.linalg.residues import Residues, random_residues
from algebra.plugins.models.capacity.result import Redundancy, Subset
from algebra.programs.generic import (
    Columns,
    Model,
    ProgramPoint,
    cells_of,
    count_of,
    random_program_point,
)
from algebra.programs.jacobian import ProgramCell
from algebra.programs.program import Node, Program
from algebra.programs.scales import scales

# Largest number of parameters whose dependencies are searched.
MOST_EXPLAINED = 800
# Largest number of entries in rows that no sample chooses, whose derivatives are checked.
MOST_COLUMNS = 4096
UNREACHED = "they do not reach these labels"


def reasons_of(
    model: Model, subset: Subset, m: int, found: int, is_whole: bool, seed: int
) -> tuple[Redundancy, ...]:
    """Groups of parameters whose rank is below their number, from the relations of columns.

    Parameters
    ----------
    model : Model
    subset : Subset
    m, found : int
        A number of samples, and the rank of the subset for them.
    is_whole : bool
        Whether more samples do not increase the rank.
    seed : int
    """
    size = subset.learnable(model.program)
    if found == size:
        return ()
    reached = {model.program.nodes[k].name for k in model.program.needed([model.program.output])}
    lost = tuple(name for name in subset.names if name not in reached)
    out = [Redundancy(lost, _size(model, lost), 0, UNREACHED)] if lost else []
    names = [name for name in subset.weights if name in reached]
    # Relations at a point with free roots are those of others, where there are as many.
    point = random_program_point(model, m, f"capacity/{seed}", strict=False)
    idle = _not_chosen(model, point, names, m)
    for name, mask in idle.items():
        text = f"no sample chooses {entries_in_words(mask)}: without effect for these samples"
        out.append(Redundancy((name,), int(mask.sum()), 0, text))
    if subset.low_rank or size > MOST_EXPLAINED:
        return tuple(out)
    cells = [
        cell for name in names for cell in cells_of(model, name)
        if name not in idle or not idle[name][cell[1:]]
    ]  # fmt: skip
    if found == len(cells):
        return tuple(out)
    if found == m * model.outputs:
        own, left = tuple(names), len(cells)
        if found < left:
            labels = "label was" if found == 1 else "labels were"
            out.append(Redundancy(own, left, found, f"only {found} {labels} asked"))
        return tuple(out)
    if not is_whole:
        own = tuple(names)
        text = f"for {m} samples; more may increase it"
        return (*out, Redundancy(own, len(cells), found, text))
    return (*out, *_groups(model, names, cells, point, m, seed, found))


def _not_chosen(
    model: Model, point: ProgramPoint, names: Sequence[str], m: int
) -> dict[str, np.ndarray]:
    """The rows of tables that no sample chooses, and on which the labels do not depend otherwise.

    Masks of entries; derivatives by these are 0.
    """
    out = {}
    for size in sorted(set(model.tokens.values())):
        rows = [point.blocks[name] for name, own in model.tokens.items() if own == size]
        idle = ~np.any([own.reshape(-1, size, m).any(axis=(0, 2)) for own in rows], axis=0)
        for name in names:
            shape = model.program.weights[name]
            count = int(idle.sum()) * prod(shape[1:])
            if shape[:1] == (size,) and 0 < count <= MOST_COLUMNS:
                mask = np.zeros(shape, bool)
                mask[idle] = True
                cells = [cell for cell in cells_of(model, name) if mask[cell[1:]]]
                if not Columns(model, point, m, [name]).of(cells).any():
                    out[name] = mask
    return out


def _size(model: Model, names: Sequence[str]) -> int:
    return sum(count_of(model, name) for name in names)


def _groups(
    model: Model,
    weights: Sequence[str],
    cells: Sequence[ProgramCell],
    point: ProgramPoint,
    m: int,
    seed: int,
    found: int,
) -> list[Redundancy]:
    J = Columns(model, point, m, weights).of(cells)
    table, pivots = modular_echelon(J, point.p)
    if len(pivots) != found and "root" in model.functions:
        point = random_program_point(model, m, f"capacity/{seed}")
        J = Columns(model, point, m, weights).of(cells)
        table, pivots = modular_echelon(J, point.p)
    owner = np.array([weights.index(cell[0]) for cell in cells])
    group = list(range(len(weights)))

    def root(k: int) -> int:
        while group[k] != k:
            k = group[k]
        return k

    involved: set[int] = set()
    others = sorted(set(range(len(cells))) - set(pivots))
    # Each column that is not a pivot is a combination of pivots: a relation.
    for column in others:
        used = {int(owner[column])} | {int(owner[pivots[r]]) for r in np.flatnonzero(
            table[:, column])}  # fmt: skip
        involved |= used
        for k in used:
            group[root(k)] = root(int(owner[column]))
    out = []
    for head in sorted({root(k) for k in involved}):
        inside = [k for k in sorted(involved) if root(k) == head]
        names = tuple(weights[k] for k in inside)
        own = np.isin(owner, inside)
        height = modular_rank(np.ascontiguousarray(J[:, own]), point.p)
        relations = np.zeros((int(own.sum()) - height, len(cells)), np.int64)
        members = [column for column in others if own[column]]
        relations[np.arange(len(members)), members] = point.p - 1
        relations[:, pivots] = table[: len(pivots), members].T
        step = matmul(random_residues((1, len(members)), point.p, random.Random(f"{seed}")),
                      relations, point.p)[0]  # fmt: skip
        straight = height == 0 or _unchanged(model, point, weights, cells, step)
        reason = reason_of(model, names, height, int(own.sum()), straight)
        out.append(Redundancy(names, int(own.sum()), height, reason))
    return out


def _unchanged(
    model: Model,
    point: ProgramPoint,
    weights: Sequence[str],
    cells: Sequence[ProgramCell],
    step: Residues,
) -> bool:
    """Whether the derivative along a step v is 0 at w + v, too, so that nothing changes on the way.

    If v depends on w this fails.
    """
    moved = {name: np.array(value) for name, value in point.blocks.items()}
    for cell, change in zip(cells, step.tolist(), strict=True):
        if change:
            block, place = moved[cell[0]], (*cell[1:], 0)
            block[place] = (int(block[place]) + change) % point.p
    m = max(value.shape[-1] for value in moved.values())
    J = Columns(model, replace(point, blocks=moved), m, weights).of(cells)
    return not matmul(J, step[:, None], point.p).any()


def reason_of(
    model: Model, names: Sequence[str], height: int, size: int = 0, straight: bool = True
) -> str:
    """The reason for a redundancy; "" if none was confirmed.

    Parameters
    ----------
    model : Model
    names : sequence of str
        Parameters with relations.
    height : int
        Their rank.
    size : int, optional
        Their number.
    straight : bool, optional
        Whether the labels are the same along straight lines in the direction of a relation.
    """
    together = set[str]().union(*(_meets(model.program, name) for name in names))
    if not straight:
        if scales(model.program, names, support=model.support) == size - height:
            return "scales: factors of one that others divide out"
        return ""
    if not height:
        if together == {"exp"}:
            return "a shift of the input of a softmax, which has no effect"
        if together == {"norm"}:
            return "a shift before a normalization, which has no effect"
        if together == {"sign"}:
            return "only choices depend on them, and these do not move with small changes"
        if together == {"choose"}:
            return "their units are off for all samples, or what follows cancels them"
        return "they have no effect"
    if together == {"label"}:
        return "they enter the labels linearly, through common sums"
    if len(names) > 1:
        return "changes of one that the others compensate"
    return "changes of some that the others compensate"


def _meets(program: Program, name: str) -> set[str]:
    """The first non-linear operations after a parameter: "exp", "norm", a function, or "label".

    "sign" alone: only signs depend on it, by which values are chosen.
    """
    needed = program.needed([program.output])
    valued = program.needed([program.output], with_signs=False)
    if not any(program.nodes[k].op == "block" and program.nodes[k].name == name for k in valued):
        return {"sign"}
    moved = {k for k in needed if program.nodes[k].op == "block" and program.nodes[k].name == name}
    found = {"label"} if program.output in moved else set()
    for k in sorted(needed):
        node = program.nodes[k]
        if not moved & set(node.inputs):
            continue
        if node.op in ("apply", "choose", "invert", "root", "power"):
            kind = {"apply": node.name, "power": "norm", "root": "norm"}.get(node.op, node.op)
            found.add(kind)
            continue
        moved.add(k)
        if k == program.output:
            found.add("label")
    return found


def bottleneck(program: Program, names: Sequence[str]) -> int:
    """The fewest numbers through which parameters reach a sample's labels, if fewer than these.

    From the labels back, as long as one input depends on the parameters: each label of a sample is
    a function of some entries of that value, which do not depend on the parameters otherwise.

    Returns
    -------
    int
        0 if the path does not narrow.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> U, V, x = build.weight("U", (3, 2)), build.weight("V", (9, 3)), build.sample("X", (2,))
    >>> net = build.program(build.contract("ij,j->i", V, build.contract("ij,j->i", U, x)))
    >>> bottleneck(net, ["U"]), bottleneck(net, ["V"])
    (3, 0)
    """
    moving: set[int] = set()
    for k in sorted(program.needed([program.output])):
        node = program.nodes[k]
        if (node.op == "block" and node.name in names) or moving.intersection(node.inputs):
            moving.add(k)
    number, used = program.output, np.ones(program.nodes[program.output].shape, bool)
    least = used.size
    while number in moving:
        node = program.nodes[number]
        own = {k for k in node.inputs if k in moving}
        if len(own) != 1 or not node.batched:
            break
        [number] = own
        used = _entries_for(program, node, number, used)
        if program.nodes[number].batched:
            least = min(least, int(used.sum()))
    return least if least < program.nodes[program.output].size else 0


def _entries_for(program: Program, node: Node, number: int, used: np.ndarray) -> np.ndarray:
    """The entries of an input that some entries of a node's value depend on."""
    shape = program.nodes[number].shape
    found, every = np.zeros(shape, bool), np.ones(shape, bool)
    first = 0
    groups, _, result = node.letters.partition("->")
    split = groups.split(",") if node.op == "contract" else [""] * len(node.inputs)
    for k, letters in zip(node.inputs, split, strict=True):
        size = program.nodes[k].size
        if k != number:
            pass
        elif node.op == "index":
            assert node.where is not None
            places = node.where.ravel()[used.ravel()] - first
            found.ravel()[places[(places >= 0) & (places < size)]] = True
        elif node.op == "contract" and len(set(letters)) == len(letters):
            outer = [c for c in result if c in letters]
            summed = tuple(k for k, c in enumerate(result) if c not in outer)
            mask = np.asarray(used.any(axis=summed))
            mask = mask.transpose([outer.index(c) for c in letters if c in outer])
            found |= mask[tuple(slice(None) if c in outer else None for c in letters)]
        else:
            found |= used.reshape(shape) if used.shape == shape else every
        first += size
    return found


def entries_in_words(mask: np.ndarray) -> str:
    """Entries in words: lines of the first axis if they are whole."""
    rows = mask.reshape(len(mask), -1)
    whole = rows.all(axis=1)
    if not np.array_equal(rows.any(axis=1), whole):
        return f"{int(mask.sum())} of its entries"
    numbers = np.flatnonzero(whole)
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    texts = [f"{run[0]}" if len(run) == 1 else f"{run[0]} … {run[-1]}" for run in runs]
    shown = ", ".join(texts[:4]) + (", …" if len(texts) > 4 else "")
    one, many = ("entry", "entries") if mask.ndim == 1 else ("row", "rows")
    return f"its {one if len(numbers) == 1 else many} {shown}"
