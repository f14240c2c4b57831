"""Problems as plain data, as the text of a problem file, and in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from algebra.networks.masks import held, plain_mask
from algebra.problems.laws.distribution import Distribution
from algebra.words import plural

if TYPE_CHECKING:
    from algebra.problems.problem import Problem


def problem_tables(problem: Problem) -> dict[str, Any]:
    """The problem as plain data, with the tables of a problem file."""
    learnable: dict[str, Any] = {}
    updates, others = problem.updates, problem.others
    for name in problem.learnable:
        value = held(problem.learnable, name)
        if name in others and name not in updates:
            spec = {f.name: getattr(value, f.name) for f in fields(value)}
            learnable[name] = {"random": {k: v for k, v in spec.items() if v is not None}}
        elif name in updates:
            learnable[name] = value.to_dict()
        else:
            learnable[name] = plain_mask(value)
    data: dict[str, Any] = {
        "network": problem.network.to_dict(),
        "learnable": learnable,
    }
    if problem.support:
        data["support"] = {
            name: plain_mask(held(problem.support, name)) for name in problem.support
        }
    if problem.distribution != Distribution():
        data["distribution"] = problem.distribution.to_dict()
    if problem.teacher is not None:
        data["teacher"] = problem.teacher.as_teacher()
    if problem.values:
        data["values"] = problem.values.to_dict(problem.network)
    if problem.constraints:
        data["constraints"] = problem.constraints.to_dict()
    return data


def problem_text(tables: Mapping[str, Any]) -> str:
    """The text of a problem file that describes this problem."""
    lines: list[str] = []
    for table, entries in tables.items():
        lines.append(f"[{table}]")
        lines += [f"{key} = {_toml(value)}" for key, value in entries.items()]
        lines.append("")
    return "\n".join(lines)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n" + "".join(f"    {row},\n" for row in value) + "]"
    return json.dumps(value)


def learning_in_words(problem: Problem) -> str:
    """The learnable parameters and the constraints, on one line."""
    parts = []
    for name in problem.learnable:
        value = held(problem.learnable, name)
        if name in problem.updates:
            parts.append(value.words(name, problem.network.shapes[name]))
        elif name in problem.others:
            parts.append(plural(value.budget, f"{value.budget} random cell") + f" of {name}")
        else:
            size = int(value.sum())
            parts.append(plural(size, f"{size} cell") + f" of {name}")
    text = ", ".join(parts) or "nothing"
    return f"{text} ({problem.constraints})" if problem.constraints else text


def updates_in_words(problem: Problem) -> str:
    """The matrices that learn by an update, with these updates, on one line."""
    parts = []
    for name, update in problem.updates.items():
        what = ", ".join(
            f"{key} = " + ("…" if isinstance(value, list) else json.dumps(value))
            for key, value in update.to_dict().items()
        )
        parts.append(f"{name} learns by {{ {what} }}")
    return " and ".join(parts)


def problem_in_words(problem: Problem) -> str:
    parts = [str(problem.network)]
    if problem.is_random:
        parts.append("random cells learn")
    else:
        parts.append(
            f"{problem.learning.size} learnable in " + (", ".join(problem.learnable) or "none")
        )
    for table in ("support", "distribution", "teacher", "values", "constraints"):
        if table in problem.to_dict():
            parts.append(f"[{table}]")
    return f"Problem({'; '.join(parts)})"
