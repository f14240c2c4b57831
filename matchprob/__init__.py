"""matchprob: exact and numerical algebra of neural networks in which only some weights learn.

A teacher network with random weights labels m samples; a student of the same
architecture may change only r chosen weights, its *allocation*.  The *match probability*
(MP) is the probability that some value of these weights reproduces the labels exactly.

>>> import matchprob as mp
>>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
>>> mp.certify(mp.Problem(net, {"W": [[1, 1], [0, 0]]})).verdict
'maximal'
"""

from algebra.allocation import Allocation
from algebra.certificate import Certificate
from algebra.errors import InputError
from algebra.networks import LinearEstimator, LinearFeedForward, LinearRNN, ShallowReLU
from algebra.normnet import NormNet
from algebra.problem import Distribution, Problem, load_problem
from algebra.sampling import RandomCells
from algebra.systems import build_system, symbolic_system
from matchprob.api import certify, compare, count, decide, estimate, inspect, verify
from matchprob.constructing import (
    construct,
    construct_by_depth,
    construct_by_depth_exactly,
    normalization_entries,
)
from matchprob.designs import design
from matchprob.repairs import repair, robust
from matchprob.surveys import atlas, audit
from numeric.comparison import Comparison
from numeric.construct import Construction
from numeric.counts import CountResult, InstanceCount
from numeric.estimation import Estimate
from numeric.instances import Instance, draw_instance
from numeric.store import Store
from numeric.study import Study

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
    "inspect",
    "load_problem",
    "normalization_entries",
    "repair",
    "robust",
    "symbolic_system",
    "verify",
]
__version__ = "0.1.0"
