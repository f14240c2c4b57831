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

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matchprob.interrupts import is_command, leave_at_once

if is_command():
    # This comes first: an interrupt may arrive while the rest is loaded.
    leave_at_once()

if TYPE_CHECKING:
    from algebra.certificates.certificate import Certificate as Certificate
    from algebra.errors import InputError as InputError
    from algebra.networks.feedforward import LinearFeedForward as LinearFeedForward
    from algebra.networks.ffn import FeedForward as FeedForward
    from algebra.networks.linear import LinearEstimator as LinearEstimator
    from algebra.networks.normalization import NormNet as NormNet
    from algebra.networks.program import ProgramNetwork as ProgramNetwork
    from algebra.networks.recurrent import LinearRNN as LinearRNN
    from algebra.networks.relu import ShallowReLU as ShallowReLU
    from algebra.networks.rnn import RNN as RNN
    from algebra.networks.sequence import SequenceRNN as SequenceRNN
    from algebra.problems.allocation import Allocation as Allocation
    from algebra.problems.constraints import Constraints as Constraints
    from algebra.problems.files import load_problem as load_problem
    from algebra.problems.instance_files import GivenNumbers as GivenNumbers
    from algebra.problems.instance_files import load_instance as load_instance
    from algebra.problems.laws.distribution import Distribution as Distribution
    from algebra.problems.learning import Types as Types
    from algebra.problems.problem import Problem as Problem
    from algebra.problems.random_cells import RandomCells as RandomCells
    from algebra.problems.tables import read_edges as read_edges
    from algebra.problems.updates import Gain as Gain
    from algebra.problems.updates import LowRank as LowRank
    from algebra.problems.updates import Tied as Tied
    from algebra.systems.system import build_system as build_system
    from matchprob.api.capacity import capacity as capacity
    from matchprob.api.certify import certify as certify
    from matchprob.api.certify import decide as decide
    from matchprob.api.certify import inspect as inspect
    from matchprob.api.certify import verify as verify
    from matchprob.api.construct import DepthConstruction as DepthConstruction
    from matchprob.api.construct import construct as construct
    from matchprob.api.construct import construct_by_depth as construct_by_depth
    from matchprob.api.construct import construct_by_depth_exactly as construct_by_depth_exactly
    from matchprob.api.construct import normalization_entries as normalization_entries
    from matchprob.api.designs.design import design as design
    from matchprob.api.designs.repair import repair as repair
    from matchprob.api.designs.repair import robust as robust
    from matchprob.api.equations.export import export as export
    from matchprob.api.equations.symbolic import discriminant as discriminant
    from matchprob.api.equations.symbolic import eliminate as eliminate
    from matchprob.api.equations.symbolic import symbolic_system as symbolic_system
    from matchprob.api.estimate import compare as compare
    from matchprob.api.estimate import constrain as constrain
    from matchprob.api.estimate import count as count
    from matchprob.api.estimate import enclosures as enclosures
    from matchprob.api.estimate import estimate as estimate
    from matchprob.api.estimate import minimal_polynomials as minimal_polynomials
    from matchprob.api.estimate import monodromy_group as monodromy_group
    from matchprob.api.identify import dimension as dimension
    from matchprob.api.identify import identify as identify
    from matchprob.api.modules import from_torch as from_torch
    from matchprob.api.modules import to_torch as to_torch
    from matchprob.api.profile import profile as profile
    from matchprob.api.record import record as record
    from matchprob.api.surveys import atlas as atlas
    from matchprob.api.surveys import audit as audit
    from matchprob.api.train import train as train
    from matchprob.page.widget import Allocator as Allocator
    from numeric.counts import CountResult as CountResult
    from numeric.counts import InstanceCount as InstanceCount
    from numeric.instances import Instance as Instance
    from numeric.instances import draw_instance as draw_instance
    from numeric.normalization.construct import Construction as Construction
    from numeric.profiles.profile import ProfileResult as ProfileResult
    from numeric.statistics.comparison import Comparison as Comparison
    from numeric.statistics.estimate import Estimate as Estimate
    from numeric.studies.store import Store as Store
    from numeric.studies.study import Study as Study
    from numeric.training.experiment import TrainResult as TrainResult

__version__ = "0.2.0"

# The module of each public name, which is loaded when first used, so that a command that needs
# few modules starts quickly.
_HOMES = {
    "algebra.certificates.certificate": "Certificate",
    "algebra.errors": "InputError",
    "algebra.networks.feedforward": "LinearFeedForward",
    "algebra.networks.ffn": "FeedForward",
    "algebra.networks.linear": "LinearEstimator",
    "algebra.networks.normalization": "NormNet",
    "algebra.networks.program": "ProgramNetwork",
    "algebra.networks.recurrent": "LinearRNN",
    "algebra.networks.relu": "ShallowReLU",
    "algebra.networks.rnn": "RNN",
    "algebra.networks.sequence": "SequenceRNN",
    "algebra.problems.allocation": "Allocation",
    "algebra.problems.constraints": "Constraints",
    "algebra.problems.files": "load_problem",
    "algebra.problems.laws.distribution": "Distribution",
    "algebra.problems.learning": "Types",
    "algebra.problems.problem": "Problem",
    "algebra.problems.random_cells": "RandomCells",
    "algebra.problems.tables": "read_edges",
    "algebra.problems.updates": "Gain LowRank Tied",
    "algebra.problems.instance_files": "GivenNumbers load_instance",
    "algebra.systems.system": "build_system",
    "matchprob.api.capacity": "capacity",
    "matchprob.api.certify": "certify decide inspect verify",
    "matchprob.api.construct": (
        "construct construct_by_depth construct_by_depth_exactly DepthConstruction "
        "normalization_entries"
    ),
    "matchprob.api.designs.design": "design",
    "matchprob.api.estimate": (
        "compare constrain count enclosures estimate minimal_polynomials monodromy_group"
    ),
    "matchprob.api.equations.export": "export",
    "matchprob.api.identify": "dimension identify",
    "matchprob.api.modules": "from_torch to_torch",
    "matchprob.api.profile": "profile",
    "matchprob.api.designs.repair": "repair robust",
    "matchprob.api.record": "record",
    "matchprob.api.surveys": "atlas audit",
    "matchprob.api.equations.symbolic": "discriminant eliminate symbolic_system",
    "matchprob.api.train": "train",
    "matchprob.page.widget": "Allocator",
    "numeric.counts": "CountResult InstanceCount",
    "numeric.instances": "Instance draw_instance",
    "numeric.normalization.construct": "Construction",
    "numeric.profiles.profile": "ProfileResult",
    "numeric.statistics.comparison": "Comparison",
    "numeric.statistics.estimate": "Estimate",
    "numeric.studies.store": "Store",
    "numeric.studies.study": "Study",
    "numeric.training.experiment": "TrainResult",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

# Names that need an optional package are available, but not part of `import *`.
_OPTIONAL = {"Allocator"}

__all__ = sorted(_HOME.keys() - _OPTIONAL)


def _paint(result: Any, ax: Any) -> Any:
    # matplotlib is loaded for the first picture.
    return importlib.import_module("matchprob.report.drawing.paint").paint(result, ax)


def _explain(result: Any, file: str) -> Any:
    return importlib.import_module("matchprob.explain").explain(result, file)


def __getattr__(name: str) -> Any:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


def _in_the_way() -> str:
    """A module or package that hides one of ours by its name; "" if there is none."""
    top = Path(__file__).resolve().parent.parent
    for name in ("algebra", "numeric"):
        module = importlib.import_module(name)
        where = getattr(module, "__file__", None) or next(iter(module.__path__), "")
        if not Path(where).resolve().is_relative_to(top / name):
            return (
                f"matchprob needs its own package `{name}`, but {where} is found first under "
                "that name: rename it, or remove its folder from the path"
            )
    return ""


if _text := _in_the_way():
    if is_command():
        # The command line reports it in one line, like all errors.
        sys.stderr.write(f"matchprob: {_text}\n")
        raise SystemExit(2)
    raise ImportError(_text)

importlib.import_module("algebra.results").paint_with(_paint)
importlib.import_module("algebra.results").explain_with(_explain)
