r"""Engines: methods that count the solutions of an instance.

The engines of this folder are declared here: names and help are known without loading what they
compute with, and the module of an engine is loaded when one is made.

base                 The registry of engines: a decorator adds one
counter              Counts by ranks and root counts first, then by an engine
exact                Real solutions counted exactly: msolve over Q on the rational instance
fsolve               The first paper's method: `scipy.optimize.fsolve` from up to 400 random
                     starts
homotopy             Complete counts of real solutions by parameter homotopy
multistart           Real solutions by many Newton runs: a rigorous lower bound where N is out of
                     reach
newton               Networks with activations: few weights are decided over all their values,
                     else lower bounds by many starts, each solution certified in balls
phcpy/               Real solutions counted by phcpy, the reference engine, in a worker process
plans                Results on an allocation before any instance is solved: ranks and the root
                     count
search               A search for real solutions that needs no root count: Gauss–Newton runs and
                     complex paths
surplus              More weights than equations: a search, then all critical points of a distance
witness_search       A numerical search for rational instances without real solutions, for
                     certificates
"""

from __future__ import annotations

from numeric.engines.base import Assignment, EngineInfo, InstanceEngine, Resources, engine


@engine(
    EngineInfo(
        "complementarity",
        {"relu"},
        complete=True,
        summary="branch and bound over activation patterns; every answer is proved in rationals",
        default=True,
        plans=False,
        constraints=True,
        rational=True,
    )
)
def _complementarity(task: Assignment) -> InstanceEngine:
    from numeric.plugins.relu.complementarity import ComplementarityEngine

    return ComplementarityEngine(complete=task.complete)


@engine(
    EngineInfo(
        "exact",
        {"linear", "polynomial"},
        complete=True,
        needs=("msolve",),
        rational=True,
        default={"polynomial"},
        summary="msolve over the rationals, audited against N and parity",
    )
)
def _exact(task: Assignment) -> InstanceEngine:
    from numeric.engines.exact import ExactEngine

    return ExactEngine(task.problem, task.plan.root_count, timeout=task.timeout)


@engine(
    EngineInfo(
        "fsolve",
        {"linear"},
        complete=False,
        summary="the first paper's method with 400 starts; endpoints are certified",
    )
)
def _fsolve(task: Assignment) -> InstanceEngine:
    from numeric.engines.exact import engine_of_dependent_labels
    from numeric.engines.fsolve import FsolveEngine

    return engine_of_dependent_labels(task) or FsolveEngine(
        task.problem, enough=task.enough, timeout=task.timeout
    )


@engine(
    EngineInfo(
        "homotopy",
        {"linear", "polynomial"},
        complete=True,
        summary="follows all N solutions from a complex instance to each real one, certified",
        default={"linear"},
        decides=True,
        surplus=True,
    )
)
def _homotopy(task: Assignment) -> InstanceEngine:
    if task.has_surplus:
        from numeric.engines.surplus import SurplusEngine

        return SurplusEngine(task)
    from numeric.engines.homotopy import engine_with_roots

    return engine_with_roots(task)


@engine(
    EngineInfo(
        "multistart",
        {"linear"},
        complete=False,
        summary="Levenberg-Marquardt from many starts, each solution certified",
    )
)
def _multistart(task: Assignment) -> InstanceEngine:
    from numeric.engines.exact import engine_of_dependent_labels
    from numeric.engines.multistart import MultistartEngine

    return engine_of_dependent_labels(task) or MultistartEngine(
        task.problem, enough=task.enough, timeout=task.timeout
    )


@engine(
    EngineInfo(
        "newton",
        {"analytic", "polynomial"},
        complete=False,
        summary=(
            "up to 4 weights: branch and bound over all their values; else Levenberg-Marquardt "
            "from many starts, each solution certified in balls"
        ),
    )
)
def _newton(task: Assignment) -> InstanceEngine:
    from numeric.engines.newton import NewtonEngine

    return NewtonEngine(
        task.problem, task.plan.root_count, enough=task.enough, timeout=task.timeout
    )


def _register_optimizer(name: str, title: str) -> None:
    """Register one of the methods of the first paper's criterion."""

    @engine(
        EngineInfo(
            name,
            {"relu"},
            complete=False,
            summary=f"{title} from 100 starts; a match only with a witness",
            plans=False,
            constraints=True,
        )
    )
    def _start(task: Assignment) -> InstanceEngine:
        from numeric.plugins.training.optimizers import OptimizerEngine

        return OptimizerEngine(name)


for _name, _title in {
    "sgd": "stochastic gradients",
    "adam": "Adam",
    "adahessian": "AdaHessian",
    "levenberg-marquardt": "damped Gauss-Newton",
}.items():
    _register_optimizer(_name, _title)


def _start_phcpy(resources: Resources) -> None:
    """Start the worker: a missing phcpy is reported before any work is done."""
    from numeric.engines.phcpy.process import PhcpyProcess

    resources.get(PhcpyProcess).start()


@engine(
    EngineInfo(
        "phcpy",
        {"linear", "polynomial"},
        complete=True,
        needs=("phcpy",),
        summary="PHCpack: its path tracker, or its blackbox solver on the core system",
    ),
    check=_start_phcpy,
)
def _phcpy(task: Assignment) -> InstanceEngine:
    from numeric.engines.phcpy.engine import PhcpyEngine
    from numeric.engines.phcpy.process import PhcpyProcess

    process = task.resources.get(PhcpyProcess)
    return PhcpyEngine(task.problem, task.plan.root_count, timeout=task.timeout, process=process)


@engine(
    EngineInfo(
        "relu-exact",
        {"normalization"},
        complete=True,
        summary="verdicts, then branch and bound in rationals (one hidden layer)",
        default=True,
        plans=False,
        constraints=True,
    )
)
def _relu_exact(task: Assignment) -> InstanceEngine:
    from numeric.plugins.relu.relu_exact import ReluExactEngine

    return ReluExactEngine(task.problem, certify=task.certify, timeout=task.timeout)
