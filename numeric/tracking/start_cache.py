"""Start systems on disk, so that monodromy runs once for each allocation.

The folder is ``$MATCHPROB_CACHE``, else ``~/.cache/matchprob``.  The file name contains the
allocation, support, seed and the version of the code; files are written atomically
and carry a checksum.  A damaged file is reported on stderr and computed again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from algebra.problems.laws.distribution import Distribution
from algebra.problems.problem import Problem
from numeric.equations.system import ParameterSystem
from numeric.kernels import cache_folder
from numeric.tracking.monodromy import GIVEN, StartSystem

# Increase if start systems of older code must not be used.
VERSION = 1


def cache_file(of: ParameterSystem, seed: int) -> Path:
    """The file of a start system."""
    # A start system has arbitrary labels; a problem whose teacher is left out must say so.
    arbitrary = bool(of.allocation.network.needs_teacher)
    laws = Distribution(labels="normal") if arbitrary else Distribution()
    problem = Problem.of(of.allocation, support=of.support, distribution=laws)
    return cache_folder() / f"start-{problem.digest}-{seed}-v{VERSION}.npz"


def save_start(of: ParameterSystem, seed: int, start: StartSystem) -> Path | None:
    """Write a start system; None (and a line on stderr) if the folder is not writable."""
    path = cache_file(of, seed)
    buffer = io.BytesIO()
    head = json.dumps({"source": start.source, "loops": start.loops})
    np.savez(
        buffer,
        parameters=start.parameters,
        roots=start.roots,
        head=np.array(head),
    )
    data = buffer.getvalue()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(data).digest() + data)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        print(f"matchprob: start system not kept in {path.parent}: {error}", file=sys.stderr)
        return None
    return path


def load_start(of: ParameterSystem, seed: int, root_count: int | None) -> StartSystem | None:
    """Read a start system, or None if there is none that fits.

    It fits if it has `root_count` roots, or if `root_count` is None.  With a given `root_count` its
    source becomes "given".
    """
    path = cache_file(of, seed)
    try:
        data = path.read_bytes()
    except OSError:
        return None
    try:
        if hashlib.sha256(data[32:]).digest() != data[:32]:
            raise ValueError("wrong checksum")
        with np.load(io.BytesIO(data[32:]), allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            start = StartSystem(
                parameters=file["parameters"],
                roots=file["roots"],
                source=head["source"],
                loops=int(head["loops"]),
            )
        sizes = (len(start.parameters), start.roots.shape[1])
        if sizes != (of.size, of.unknowns) or not _are_roots(of, start):
            raise ValueError("it belongs to another system")
    except (ValueError, KeyError, OSError, EOFError) as error:
        text = f"matchprob: damaged start system {path.name} ({error}): computed again"
        print(text, file=sys.stderr)
        return None
    if root_count is None:
        return start
    if start.root_count != root_count:
        return None
    return StartSystem(start.parameters, start.roots, GIVEN, start.loops)


def _are_roots(of: ParameterSystem, start: StartSystem) -> bool:
    """Whether the residuals are small relative to the terms that cancel in them.

    For roots with large weights the labels' terms are many powers of ten above one, and so is
    their rounding error: an absolute bound would reject correct start systems.
    """
    for w in start.roots:
        residual = np.abs(of.residuals(start.parameters, w[None])[0][0])
        terms = of.term_sizes(start.parameters, w)
        if not (residual <= 1e-7 * (1.0 + terms)).all():
            return False
    return True
