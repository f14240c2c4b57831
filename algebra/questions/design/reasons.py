"""Reasons why a design is impossible, with numbers that can be checked."""

from __future__ import annotations

from dataclasses import replace

from algebra.matroids.branch_and_bound import Tree, counting_reason
from algebra.matroids.capped import Optimum
from algebra.matroids.intersection import Shortage, common_basis
from algebra.questions.design.demand import Demand, line_name
from algebra.words import plural, some


def shortage_text(found: Shortage, demand: Demand) -> str:
    """The reason given by Edmonds' theorem, in words."""
    inside, free = len(found.elements), len(demand.free)
    after = f" beyond those of the {len(demand.must)} that must learn" if demand.must else ""
    if not demand.caps or inside == free:
        return (
            f"no allocation of the {free} weights that may learn has MP > 0: together they take "
            f"part in only {found.rank} of {demand.wanted} independent "
            f"equations{after}"
        )
    ((line, cap),) = demand.caps
    most = plural(cap, f"{cap} weight")
    if not inside:
        return (
            f"no allocation with at most {most} in a {line}: the caps permit {found.capped} of the "
            f"{free} allowed weights, and {demand.wanted} are needed"
        )
    more = f", {demand.extra} of them beyond the equations" if demand.extra else ""
    return (
        f"no allocation with at most {most} in a {line}: {free - inside} of the "
        f"allowed weights lie in {line}s whose caps permit {found.capped}, and the other "
        f"{inside} take part in only {found.rank} independent equations{after}: "
        f"{found.capped} + {found.rank} = {found.largest} of {demand.wanted}{more}"
    )


def crossing_text(demand: Demand, found: Optimum) -> str:
    """Why no allocation keeps several kinds of caps: one kind alone, or their multipliers."""
    p, number = next(demand.points())
    for cap in demand.caps:
        alone = replace(demand, caps=(cap,))
        short = common_basis(alone.problem_at(p, number))
        if isinstance(short, Shortage):
            return shortage_text(short, alone)
    problem = demand.problem_at(p, number)
    kept = " and ".join(
        f"at most {plural(number, f'{number} weight')} in a {line}" for line, number in demand.caps
    )
    assert isinstance(found.dual, Tree)
    for leaf in found.dual.leaves:
        if leaf.inside or leaf.outside:
            continue
        reason = counting_reason(problem, leaf.multipliers)
        if reason is None:
            continue
        lines, needed, left = reason
        names = [
            line_name(demand.caps[s][0], demand.line_keys(demand.caps[s][0])[g])
            + (f" (counted {v} times)" if v > 1 else "")
            for s, g, v in lines
        ]
        return (
            f"no allocation with {kept}: every allocation that is not minimal has at least "
            f"{needed} weights in {some(names, 12)} (a weight counts once for each of these lines "
            f"it is in), for which the caps permit {left}"
        )
    return (
        f"no allocation with {kept}, although each cap alone can be satisfied: shown by a search "
        "of "
        f"{found.nodes} branches, each closed by a bound"
    )
