"""The public names of `matchprob`, and where each is defined.

Type checkers and editors read this stub.  `matchprob` reads it too, and loads a name's module when
the name is first used, so that a command that needs few modules starts quickly.
"""

from algebra.certificates.certificate import Certificate as Certificate
from algebra.errors import InputError as InputError
from algebra.errors import LargeMemory as LargeMemory
from algebra.errors import Unfinished as Unfinished
from algebra.errors import Unrealized as Unrealized
from algebra.networks.feedforward import LinearEstimator as LinearEstimator
from algebra.networks.feedforward import LinearFeedForward as LinearFeedForward
from algebra.networks.ffn import FeedForward as FeedForward
from algebra.networks.recurrent import LinearRNN as LinearRNN
from algebra.networks.recurrent import SequenceRNN as SequenceRNN
from algebra.networks.rnn import RNN as RNN
from algebra.plugins.models.network import ProgramNetwork as ProgramNetwork
from algebra.plugins.models.onnx import Read as Read
from algebra.plugins.normalization.network import NormNet as NormNet
from algebra.plugins.relu.network import ShallowReLU as ShallowReLU
from algebra.problems.allocation import Allocation as Allocation
from algebra.problems.cell_types import Types as Types
from algebra.problems.constraints import Constraints as Constraints
from algebra.problems.files import load_problem as load_problem
from algebra.problems.instance_files import GivenNumbers as GivenNumbers
from algebra.problems.instance_files import load_instance as load_instance
from algebra.problems.laws.distribution import Distribution as Distribution
from algebra.problems.problem import Problem as Problem
from algebra.problems.random_cells import RandomCells as RandomCells
from algebra.problems.tables import read_edges as read_edges
from algebra.problems.updates import Gain as Gain
from algebra.problems.updates import LowRank as LowRank
from algebra.problems.updates import Tied as Tied
from algebra.systems.system import build_system as build_system
from algebra.time_limits import LimitReached as LimitReached
from matchprob.api.certify import certify as certify
from matchprob.api.certify import inspect as inspect
from matchprob.api.certify import verify as verify
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
from matchprob.api.identify import identify as identify
from matchprob.plugins.circuits.record import record as record
from matchprob.plugins.models.capacity import assert_trainable as assert_trainable
from matchprob.plugins.models.capacity import capacity as capacity
from matchprob.plugins.models.dimension import dimension as dimension
from matchprob.plugins.models.modules import from_torch as from_torch
from matchprob.plugins.models.modules import to_torch as to_torch
from matchprob.plugins.normalization.construct import construct as construct
from matchprob.plugins.normalization.constructions import DepthConstruction as DepthConstruction
from matchprob.plugins.normalization.constructions import construct_by_depth as construct_by_depth
from matchprob.plugins.normalization.constructions import (
    construct_by_depth_exactly as construct_by_depth_exactly,
)
from matchprob.plugins.normalization.constructions import (
    normalization_entries as normalization_entries,
)
from matchprob.plugins.page.widget import Allocator as Allocator
from matchprob.plugins.papers.surveys import atlas as atlas
from matchprob.plugins.papers.surveys import audit as audit
from matchprob.plugins.relu.decide import decide as decide
from matchprob.plugins.training.profile import profile as profile
from matchprob.plugins.training.train import train as train
from numeric.plugins.normalization.construct import Construction as Construction
from numeric.plugins.training.experiment import TrainResult as TrainResult
from numeric.plugins.training.profiles.profile import ProfileResult as ProfileResult
from numeric.statistics.comparison import Comparison as Comparison
from numeric.statistics.estimate import Estimate as Estimate
from numeric.studies.store import Store as Store
from numeric.studies.study import Study as Study
from numeric.trials.count_result import CountResult as CountResult
from numeric.trials.counts import InstanceCount as InstanceCount
from numeric.trials.instances import Instance as Instance
from numeric.trials.instances import draw_instance as draw_instance

__version__: str
