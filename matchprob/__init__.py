"""matchprob: exact and numerical algebra of neural networks in which only some weights learn.

A teacher network with random weights labels m samples; a student of the same
architecture may change only r chosen weights, its *allocation*.  The *match probability*
(MP) is the probability that some value of these weights reproduces the labels exactly.

>>> import matchprob as mp
>>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
>>> mp.certify(mp.Problem(net, {"W": [[1, 1], [0, 0]]})).verdict
'maximal'
"""

from algebra.certificates.certificate import Certificate
from algebra.errors import InputError
from algebra.networks.base import LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU
from algebra.networks.normalization import NormNet
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Distribution, Problem, load_problem
from algebra.problems.random_cells import RandomCells
from algebra.systems.system import build_system, symbolic_system
from matchprob.api.certify import certify, decide, inspect, verify
from matchprob.api.construct import (
    construct,
    construct_by_depth,
    construct_by_depth_exactly,
    normalization_entries,
)
from matchprob.api.design import design
from matchprob.api.estimate import compare, count, estimate
from matchprob.api.identify import identify
from matchprob.api.repair import repair, robust
from matchprob.api.surveys import atlas, audit
from numeric.counts import CountResult, InstanceCount
from numeric.instances import Instance, draw_instance
from numeric.normalization.construct import Construction
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate
from numeric.studies.store import Store
from numeric.studies.study import Study

__all__ = [
    "Allocation",
    "Certificate",
    "Comparison",
    "Construction",
    "CountResult",
    "Distribution",
    "Estimate",
    "InputError",
    "Instance",
    "InstanceCount",
    "LinearEstimator",
    "LinearFeedForward",
    "LinearRNN",
    "NormNet",
    "Problem",
    "RandomCells",
    "ShallowReLU",
    "Store",
    "Study",
    "atlas",
    "audit",
    "build_system",
    "certify",
    "compare",
    "construct",
    "construct_by_depth",
    "construct_by_depth_exactly",
    "count",
    "decide",
    "design",
    "draw_instance",
    "estimate",
    "identify",
    "inspect",
    "load_problem",
    "normalization_entries",
    "repair",
    "robust",
    "symbolic_system",
    "verify",
]
__version__ = "0.1.0"
