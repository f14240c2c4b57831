"""The registry of engines: a decorator adds one.

An engine is made by a function from an `Assignment` (an allocation, its plan, the options) to an
object with ``count_many``.  `engine` registers this function with its `EngineInfo`, from which the
command line's help, messages and the documentation's table are made.  The engines of this folder
are declared in `numeric.engines`, and loaded when they are made; an engine outside the
project is registered when its module is imported.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from algebra.errors import InputError
from algebra.given import known_name

if TYPE_CHECKING:
    from algebra.networks.base import Network
    from algebra.problems.allocation import Allocation
    from algebra.problems.problem import Problem
    from numeric.engines.plans import Plan
    from numeric.trials.counts import InstanceCount
    from numeric.trials.instances import Instance

T = TypeVar("T")

# Number of random starts for an instance in the first paper (Appendix E.1).
PAPER_STARTS = 400


@dataclass(frozen=True)
class EngineInfo:
    """Properties of an engine that are known before it is made.

    Attributes
    ----------
    name : str
        Name on the command line.
    families : frozenset of str
        Families of networks (`family_name`) whose instances it can count.
    complete : bool
        Whether it can account for every solution.  Other engines find solutions and never
        prove that there is none: an estimate by them is a lower bound.
    needs : tuple of str
        Optional packages that it requires.
    summary : str
        One line of help.
    default : bool or set of str
        Whether it is the default for its families, or for which of them; kept as a set.
    plans : bool
        Whether ranks and the generic root count are computed first: for polynomial systems.
    decides : bool
        Whether a short search for one certified real solution may decide an instance first.
    constraints : bool
        Whether its results already satisfy the problem's constraints.  With `plans` this is not
        required: the solutions are then checked against the constraints.
    rational : bool
        Whether it works in rationals throughout: then it can count an instance given by the user.
    surplus : bool
        Whether it decides instances of linear networks with more weights than equations in all
        their weights; other engines keep the surplus ones fixed.
    """

    name: str
    families: frozenset[str] | set[str]
    complete: bool
    needs: tuple[str, ...] = ()
    summary: str = ""
    default: bool | frozenset[str] | set[str] = False
    plans: bool = True
    decides: bool = False
    constraints: bool = False
    rational: bool = False
    surplus: bool = False

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip():
            raise InputError(f"`name` ({self.name!r}) of an engine must be a word")
        if not self.families:
            raise InputError(f"`families` of engine {self.name!r} must not be empty")
        object.__setattr__(self, "families", frozenset(self.families))
        default = self.default if isinstance(self.default, (set, frozenset)) else self.families
        object.__setattr__(self, "default", frozenset(default if self.default else ()))

    @property
    def default_families(self) -> frozenset[str]:
        """The families for which it is the default."""
        assert isinstance(self.default, frozenset)
        return self.default


class InstanceEngine(Protocol):
    """An engine made for one allocation."""

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """The counts of several instances, in their order."""
        ...


class SequentialEngine(ABC):
    """Base class of engines that process instances one after the other."""

    @abstractmethod
    def count(self, instance: Instance) -> InstanceCount:
        """The count of one instance."""

    def count_many(self, instances: Sequence[Instance]) -> list[InstanceCount]:
        """The counts of several instances, in their order."""
        return [self.count(instance) for instance in instances]


@runtime_checkable
class PlanningEngine(Protocol):
    """An engine with plans of its own, beyond ranks and root counts."""

    def plan(self, allocation: Allocation) -> Plan:
        """The plan of an allocation."""
        ...


class Resources:
    """Objects that the engines of one counter share, such as worker processes; closed together."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._held: dict[Any, Any] = {}

    def get(self, make: Callable[[], T]) -> T:
        """The counter's single object made by `make`, for instance a class with ``close``."""
        if make not in self._held:
            made = make()
            close = getattr(made, "close", None)
            if close is not None:
                self._stack.callback(close)
            self._held[make] = made
        found: T = self._held[make]
        return found

    def close(self) -> None:
        """Close all objects; they are made again on request."""
        self._held.clear()
        self._stack.close()


@dataclass(frozen=True)
class Assignment:
    """The task of an engine.

    Attributes
    ----------
    problem : Problem
        Its allocation is the one to solve.
    plan : Plan
    complete : bool
        Whether every solution is required; otherwise one certified solution is enough.
    certify : bool
        Whether verdicts may settle instances.
    timeout : float
        Seconds for one instance.
    resources : Resources
    root_timeout : float
        Seconds for a count of complex solutions.
    """

    problem: Problem
    plan: Plan
    complete: bool = True
    certify: bool = True
    timeout: float = 600.0
    resources: Resources = field(default_factory=Resources)
    root_timeout: float = 60.0

    @property
    def has_surplus(self) -> bool:
        """Whether the problem is to be decided in more weights than equations."""
        return self.plan.reduction is not None and self.problem.allocation != self.plan.allocation

    @property
    def enough(self) -> int | None:
        """Number of certified solutions after which a search ends; None if it goes on."""
        return None if self.complete else 1


Maker = Callable[[Assignment], InstanceEngine]
Check = Callable[[Resources], None]


@dataclass(frozen=True)
class _Entry:
    info: EngineInfo
    make: Maker
    check: Check | None


_ENTRIES: dict[str, _Entry] = {}


def engine(info: EngineInfo, *, check: Check | None = None) -> Callable[[Maker], Maker]:
    """Register the decorated function as the maker of an engine.

    Parameters
    ----------
    info : EngineInfo
    check : callable, optional
        Called before any work is done.  Raises InputError, with the command that installs it, if
        a required package is missing.

    Examples
    --------
    >>> @engine(EngineInfo("nothing", {"linear"}, complete=False, summary="finds nothing"))
    ... def make(assignment):
    ...     raise NotImplementedError
    >>> engine_info("nothing").complete
    False
    >>> unregister("nothing")
    """

    def register(make: Maker) -> Maker:
        known = _ENTRIES.get(info.name)
        if known is not None and known.make.__module__ != make.__module__:
            raise InputError(
                f"engine {info.name!r} of {make.__module__} is registered by "
                f"{known.make.__module__} already: choose another name"
            )
        if info.default:
            for entry in _ENTRIES.values():
                both = entry.info.default_families & info.default_families
                if entry.info.name != info.name and both:
                    raise InputError(
                        f"engines {entry.info.name!r} and {info.name!r} are both the default of "
                        f"{', '.join(sorted(both))}"
                    )
        _ENTRIES[info.name] = _Entry(info, make, check)
        return make

    return register


def unregister(name: str) -> None:
    """Remove an engine that was registered from outside."""
    _ENTRIES.pop(name, None)


def engines() -> Mapping[str, EngineInfo]:
    """All engines by name: defaults first, then complete ones, then those that search."""
    found = (entry.info for entry in _ENTRIES.values())
    order = sorted(found, key=lambda i: (not i.default, not i.complete, i.name))
    return MappingProxyType({info.name: info for info in order})


def engine_info(name: str) -> EngineInfo:
    """The properties of an engine.

    Raises
    ------
    InputError
        If no engine has this name.
    """
    return _entry(name).info


def make_engine(name: str, assignment: Assignment) -> InstanceEngine:
    """An engine for one allocation."""
    return _entry(name).make(assignment)


def check_engine(name: str, resources: Resources) -> None:
    """Raise before any work is done if a required package is missing."""
    entry = _entry(name)
    if entry.check is not None:
        entry.check(resources)


def _entry(name: str) -> _Entry:
    return _ENTRIES[known_name(name, "engine", engines())]


def family_name(network: Network) -> str:
    """The family whose engines count a network's instances: that of the reduced network.

    Networks with activations are "polynomial" or "analytic".
    """
    # Loaded here: help needs no network.
    from algebra.families.registry import family_of

    solved = network.lower() or network
    return solved.equations_are or family_of(solved).name


def engines_for(network: Network) -> tuple[str, ...]:
    """Names of the engines that can count a network's instances, the default first."""
    family = family_name(network)
    fitting = [info for info in engines().values() if family in info.families]
    # Labels that are linear in the samples are those of a linear network with updates.
    own = "linear" if network.is_linear else family
    fitting.sort(key=lambda info: own not in info.default_families)
    return tuple(info.name for info in fitting)


def default_engine(network: Network) -> str:
    """The default engine for a network."""
    names = engines_for(network)
    if names:
        # Without a default the first complete one, else the first.
        return names[0]
    raise InputError(f"no engine counts the instances of a {network.title} network")


def chosen_engine(network: Network, name: str | None) -> str:
    """The named engine, or the default.

    Raises
    ------
    InputError
        If no engine has this name, or if it does not count instances of such a network.
    """
    if name is None:
        return default_engine(network)
    info = engine_info(name)
    if family_name(network) not in info.families:
        raise InputError(
            f"engine {name!r} is for {_families(info)} networks, not for a {network.title} "
            "network: use one of " + ", ".join(engines_for(network))
        )
    return name


def _families(info: EngineInfo) -> str:
    return " and ".join(sorted(info.families))


def help_text() -> str:
    """The text on engines in the help of ``--engine``, one sentence each."""
    words = []
    for info in engines().values():
        what = "complete" if info.complete else "lower bounds"
        default = f", the default{_of(info)}" if info.default else ""
        words.append(f"{info.name} ({_families(info)}, {what}{default}): {info.summary}")
    return "; ".join(words) + "."


def _of(info: EngineInfo) -> str:
    """The families for which an engine is the default, where it has others."""
    if info.default_families == info.families:
        return ""
    return f" for {' and '.join(sorted(info.default_families))}"


def engine_table(*, own: bool = False) -> str:
    """The engines as a table in Markdown; with `own` only this folder's, for the documentation."""
    lines = ["| engine | networks | counts | needs | what it does |", "|---|---|---|---|---|"]
    for info in engines().values():
        if own and _ENTRIES[info.name].make.__module__ != "numeric.engines":
            continue
        counts = "complete" if info.complete else "lower bounds"
        name = f"`{info.name}`" + (f" (default{_of(info)})" if info.default else "")
        lines.append(
            f"| {name} | {_families(info)} | {counts} | {', '.join(info.needs) or '–'} | "
            f"{info.summary} |"
        )
    return "\n".join(lines)
