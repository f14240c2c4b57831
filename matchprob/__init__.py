"""matchprob: exact and numerical algebra of neural networks in which only some weights learn.

A teacher network with random weights labels m samples; a student of the same
architecture may change only r chosen weights, its *allocation*.  The *match probability*
(MP) is the probability that some value of these weights reproduces the labels exactly.

>>> import matchprob as mp
>>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
>>> mp.certify(mp.Problem(net, {"W": [[1, 1], [0, 0]]})).verdict
'maximal'
"""

from __future__ import annotations

import ast
import importlib
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from matchprob.interrupts import is_command, leave_at_once

if is_command():
    # This comes first: an interrupt may arrive while the rest is loaded.
    leave_at_once()

__version__ = "0.3.0"

# The module of each public name, by the stub that type checkers read.
_HOME = {
    alias.name: str(node.module)
    for node in ast.parse(Path(__file__).with_suffix(".pyi").read_text("utf-8")).body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}

# Names that need an optional package, named here, are available but not part of `import *`.
_OPTIONAL = {"Allocator": "anywidget"}

__all__ = sorted(_HOME.keys() - _OPTIONAL.keys())


# The packages of this project.
_OURS = (__name__, "algebra", "numeric")

_AGAIN = "install matchprob again with `--force-reinstall --no-deps`"

# Old public names: the name of today, and the release in which the old one goes.
DEPRECATED: dict[str, tuple[str, str]] = {}


def _paint(result: Any, ax: Any) -> Any:
    # matplotlib is loaded for the first picture.
    return importlib.import_module("matchprob.report.drawing.paint").paint(result, ax)


def __getattr__(name: str) -> Any:
    if name in DEPRECATED:
        new, gone = DEPRECATED[name]
        warnings.warn(
            f"matchprob.{name} is matchprob.{new} now, and goes in {gone}",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(sys.modules[__name__], new)
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    importlib.import_module("matchprob.typed").with_types(value, _OURS)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    # A name that needs a missing package is not listed, so that `help` can show all members.
    present = {name for name in _HOME if name not in _OPTIONAL or find_spec(_OPTIONAL[name])}
    return sorted({*present, "__all__", "__doc__", "__name__", "__path__", "__version__"})


def _in_the_way() -> str:
    """What hides or replaces one of our packages by its name; "" if nothing does."""
    top = Path(__file__).resolve().parent.parent
    for name in ("algebra", "numeric"):
        # Another project's package is found and read, but not run.
        spec = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
        if spec is None:
            return f"matchprob needs its own package `{name}`, which is missing: {_AGAIN}"
        where = Path(spec.origin or next(iter(spec.submodule_search_locations or [""])))
        if not where.resolve().is_relative_to(top / name):
            return (
                f"matchprob needs its own package `{name}`, but {where} is found first under "
                "that name: rename it, or remove its folder from the path"
            )
        if not where.is_file() or "`matchprob` import" not in where.read_text("utf-8"):
            return (
                f"matchprob needs its own package `{name}`, but another project of that name "
                f"was installed over {where}: `python -m pip uninstall {name}`, then {_AGAIN}; "
                "the two need an environment each"
            )
    return ""


if _text := _in_the_way():
    if is_command():
        # The command line reports it in one line, like all errors.
        sys.stderr.write(f"matchprob: {_text}\n")
        raise SystemExit(2)
    raise ImportError(_text)

importlib.import_module("algebra.pictures").paint_with(_paint)
