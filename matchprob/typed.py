"""Type hints of public names: a command loads no types, who gets a function in Python may ask."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
import typing
from collections.abc import Collection, Iterator
from inspect import getsource, isfunction, unwrap
from typing import Any


def with_types(value: Any, ours: Collection[str]) -> None:
    """Make the type hints of a function, or of the methods of a class, known.

    Parameters
    ----------
    value : object
    ours : collection of str
        The packages of this project.
    """
    for function in [value] if isfunction(value) else _methods(value, ours):
        _typed(function)


@functools.cache
def _imported_for_types(module: str) -> dict[str, str]:
    """The names that a module imports for type checkers only, with their modules."""
    tree = ast.parse(getsource(sys.modules[module]))
    return {
        alias.name: str(node.module)
        for block in tree.body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def _typed(function: Any) -> Any:
    # A command loads no types; who gets a function in Python may ask for its type hints.
    own, shared = unwrap(function).__globals__, "matchprob.verbs.parameters"
    while True:
        try:
            typing.get_type_hints(function)
            return function
        except NameError as error:
            name = str(error.name)
        try:
            known = vars(importlib.import_module(shared))
            homes = _imported_for_types(shared) | _imported_for_types(own["__name__"])
            own[name] = known.get(name) or getattr(importlib.import_module(homes[name]), name)
        except (ImportError, KeyError, OSError):
            # An optional package, or no source: the function works without the types.
            return function


def _methods(value: Any, ours: Collection[str]) -> Iterator[Any]:
    """The functions of this project that are methods of a class."""
    own = [base for base in getattr(value, "__mro__", ()) if base.__module__.split(".")[0] in ours]
    for held in (held for base in own for held in vars(base).values()):
        # Of a class or static method, a property, a cached property.
        found = next(
            (f for key in ("__func__", "fget", "func") if (f := getattr(held, key, 0))), held
        )
        if isfunction(found) and found.__module__.split(".")[0] in ours:
            yield found
