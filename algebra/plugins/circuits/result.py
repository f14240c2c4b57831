"""The result of `record`: elements, cost, bound of the cost; its proof as plain data.

The proof file (format ``matchprob-recording``) contains the question, the recorded elements, the
claim, and the evidence from which `algebra.plugins.circuits.verify` proves the claim: the rows of
the recorded elements have the rank ρ of the rows of all allowed elements; and no elements that keep
the caps, include the required ones and have this rank cost less than `bound`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from algebra.checker.records import Record
from algebra.checker.statements import bound_text
from algebra.documents import Document, Explanation, Paragraph, Step, step
from algebra.linalg.numbers import nearest_double
from algebra.networks.own_point import at_these_parameters
from algebra.plugins.circuits.elements import Recordable, available_kinds, title
from algebra.plugins.circuits.proof import FORMAT, VERSION, OwnParameters, RecordingProof
from algebra.plugins.circuits.question import RecordingQuestion
from algebra.problems.allocation import Cell
from algebra.problems.cells import cells_data
from algebra.problems.problem import Problem
from algebra.problems.updates import LowRank
from algebra.questions.identify.fibre import Fibre
from algebra.questions.identify.freedom import TargetState, TargetStates, by_table
from algebra.ranks.generic_rank import GenericRank
from algebra.ranks.parametrized import by_updates
from algebra.results import Result, named
from algebra.words import plural, some

# Numbers of free weights and elements in a text, and of elements in its ranking.
_MOST = 24
_RANKED = 8
# Names in a headline.
_NAMED = 6
_EXACTLY = (
    "Recorded activity is taken as exact: ranks do not say how well noisy activity determines."
)


@dataclass(frozen=True)
class FirstChoice:
    """A greedy choice, before a search.

    Attributes
    ----------
    recorded : tuple of str
        Names.
    cost : Fraction
        Sum of their prices.
    bound : Fraction
        A lower bound of the cost of any elements that determine as much.
    """

    recorded: tuple[str, ...]
    cost: Fraction
    bound: Fraction

    def __str__(self) -> str:
        count = len(self.recorded)
        return (
            f"a greedy choice of {plural(count, f'{count} element')} costs {self.cost}, and "
            f"nothing costs less than {self.bound}"
        )


@dataclass(frozen=True, repr=False)
class Recording(Result):
    """The recorded elements, with their cost and its lower bound.

    Attributes
    ----------
    question : RecordingQuestion
    recorded : tuple of Recordable
        Without stimulations.
    cost : Fraction
        Sum of their prices.
    bound : Fraction
        A lower bound of the cost of any elements that determine as much.
    rank : GenericRank
        ρ, of the rows of all allowed elements, and of the recorded ones.
    fibre : Fibre
        The weights that the recorded elements (or all allowed ones) determine.
    error : Fraction
        Bound on the probability that `bound` is wrong.
    points : tuple of (int, int)
        Prime and number of each random point used.
    proof : str
        The reason why no elements are cheaper, or the state of the search.
    evidence : Evidence
    interrupted : bool
        Whether the user ended the search.
    order : tuple of (Recordable, int)
        The recorded elements, each with its increase of the rank of those before it, the largest
        increase first; empty for single entries, which add 1 each, and if the search was stopped.
    alone : tuple of int
        The rank of each allowed element alone, or an upper bound of it if there are very many
        numbers.
    aim : TargetStates or None
        What the recorded elements leave free of the target.
    stimulated : tuple of Recordable
        Stimulations of the units that are driven.
    """

    question: RecordingQuestion = field(compare=False)
    recorded: tuple[Recordable, ...]
    cost: Fraction
    bound: Fraction
    rank: GenericRank
    fibre: Fibre = field(repr=False)
    error: Fraction
    points: tuple[tuple[int, int], ...]
    proof: str
    evidence: Record = field(repr=False)
    interrupted: bool = False
    order: tuple[tuple[Recordable, int], ...] = field(default=(), repr=False)
    alone: tuple[int, ...] = field(default=(), repr=False)
    aim: TargetStates | None = field(default=None, repr=False)
    stimulated: tuple[Recordable, ...] = ()

    @property
    def problem(self) -> Problem:
        """The problem of the question."""
        return self.question.parametrized

    @property
    def target(self) -> tuple[TargetState, ...]:
        """What the recorded elements leave free of each element of the target."""
        return () if self.aim is None else self.aim.states

    @property
    def is_optimal(self) -> bool:
        """Whether the cost equals its lower bound."""
        return self.cost == self.bound

    @property
    def is_stopped(self) -> bool:
        """Whether the search was stopped before its end."""
        return not self.is_optimal

    @property
    def learnable(self) -> int:
        """r, the number of learnable weights."""
        return self.question.allocation.size

    @property
    def is_unique(self) -> bool:
        """Whether the match is locally unique: all learnable weights are determined."""
        return self.rank.rank == self.learnable

    @property
    def free(self) -> tuple[Cell, ...]:
        """Weights that all allowed elements together leave undetermined."""
        return self.fibre.free

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the recorded elements, with the names of units."""
        return tuple(title(element, self.problem.names) for element in self.recorded)

    @property
    def driven(self) -> tuple[str, ...]:
        """Names of the stimulations, with the names of units."""
        return tuple(title(element, self.problem.names) for element in self.stimulated)

    def table(self) -> str:
        """The recorded elements and stimulations, a line each: name, cost (CSV)."""
        prices = dict(zip(self.question.elements, self.question.prices, strict=True))
        chosen = zip(
            (*self.names, *self.driven), (*self.recorded, *self.stimulated), strict=True
        )  # fmt: skip
        lines = [
            f'"{name}",{prices[element]}' if "," in name else f"{name},{prices[element]}"
            for name, element in chosen
        ]
        return "\n".join(["name,cost", *lines]) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of ``matchprob record``."""
        return {
            "names": list(self.names),
            "what": list(self.question.kinds),
            "recorded": [element.name for element in self.recorded],
            **self._driven_data(),
            "adds": [[element.name, gain] for element, gain in self.order],
            **named(self, "cost", "bound"),
            "optimal": self.is_optimal,
            "of": self._most_recorded,
            "rank": self.rank.rank,
            "learnable": self.learnable,
            "locally_unique": self.is_unique,
            **cells_data("free", self.problem.network, self.free),
            "caps": dict(self.question.caps),
            "proof": self.proof,
            "error_bound": bound_text(self.error),
            "rank_error_bound": bound_text(self.rank.error),
            **named(self, "points"),
            **self._about(),
            **({} if self.aim is None else self.aim.to_dict()),
        }

    def _driven_data(self) -> dict[str, list[str]]:
        """The units that are driven, if any may be."""
        units = [element.name.rpartition(" of ")[2] for element in self.stimulated]
        return {"stimulated": units} if self.question.drives else {}

    @property
    def _most_recorded(self) -> int:
        """Number of the elements that may be recorded."""
        return len(self.question.allowed) - self._most_driven

    @property
    def _most_driven(self) -> int:
        """Number of the units that may be driven."""
        return len(self.question.drives.keys() - self.question.forbidden)

    def proof_file(self) -> dict[str, Any]:
        """The content of a proof file, as `matchprob.verify` reads it.

        If the search was not finished, the file claims `bound` only.  With ReLU it contains the
        parameters and samples, but no activation pattern.
        """
        question, chosen = self.question, {*self.recorded, *self.stimulated}
        problem = question.asked
        problem = by_updates(Problem.of(problem.allocation, support=problem.support))
        return RecordingProof(
            FORMAT, VERSION, problem, question.kinds, question.prices,
            tuple(sorted(question.must)), tuple(sorted(question.forbidden)),
            tuple(question.caps),
            tuple(k for k, element in enumerate(question.elements) if element in chosen),
            self.rank.rank, self.cost, self.bound, self.evidence,
            target=() if question.target is None else question.target.given,
            parameters=OwnParameters.of(question.parametrized.network.own_point),
            free=tuple(state.free for state in self.target),
            stimulate=tuple(drive.unit for drive in question.drives.values()),
        ).to_dict()  # fmt: skip

    def columns(self) -> dict[str, list[Any]]:
        """One row for each element."""
        question, recorded = self.question, {*self.recorded, *self.stimulated}
        adds, alone = dict(self.order), dict(zip(self.question.allowed, self.alone, strict=False))
        return {
            "name": [title(element, self.problem.names) for element in question.elements],
            "recorded": [element in recorded for element in question.elements],
            "allowed": [k not in question.forbidden for k in range(len(question.elements))],
            "cost": [str(price) for price in question.prices],
            "adds": [adds.get(element, 0) for element in question.elements],
            "alone_at_most": [alone.get(k, 0) for k in range(len(question.elements))],
        }

    def document(self) -> Document:
        """What to record, how sure it is the least, and what it determines."""
        of, names = self._most_recorded, list(self.names)
        listed = some(names, _MOST)
        facts = {
            "what": ", ".join(self.question.kinds),
            "recorded": f"{len(names)} of {of}",
            "cost": self.cost,
            "bound": self.bound,
            "rank": self.rank.rank,
            "learnable": self.learnable,
            "proof": self.proof,
        }
        lines = list[str]()
        if self.aim is not None:
            lines += self.aim.lines()
        if len(self.order) > 1:
            adds = [f"{title(element, self.problem.names)} {gain}" for element, gain in self.order]
            lines.append(f"  by what each adds to the rank: {some(adds, _RANKED)}")
        if not self.is_unique and self.aim is None:
            cells = self.question.allocation.cells
            free = by_table(self.problem.names, cells, self.free)
            lines += [f"  free, whatever is recorded, {text}" for text in free]
        if self.question.drives:
            facts["stimulated"] = f"{len(self.stimulated)} of {self._most_driven}"
        found = Document(
            f"record {self.counted} at cost {self.cost}: "
            f"{', '.join([listed or 'nothing', *self._driven_units()])}" + self._stays_free(),
            facts,
            tuple(map(Paragraph, lines)),
            self._why(),
        )
        about = self.question.about
        return at_these_parameters(found, about) if about else found

    @property
    def counted(self) -> str:
        """How many elements are recorded, and units driven, for headlines."""
        text = f"{len(self.recorded)} of {self._most_recorded}"
        if not self.question.drives:
            return text
        return f"{text} and stimulate {len(self.stimulated)} of {self._most_driven}"

    def _driven_units(self) -> list[str]:
        """The stimulations in one text, if there are any."""
        units = [name.removeprefix("stimulation of ") for name in self.driven]
        return [f"stimulate {some(units, _MOST)}"] if units else []

    def _stays_free(self) -> str:
        """That a part of the target stays free whatever is recorded, and why, for the headline."""
        free = [state.title for state in self.target if state.free]
        if not free:
            return ""
        are, m = "stays" if len(free) == 1 else "stay", self.question.asked.network.m
        return (
            f"; {some(free, _NAMED)} {are} free whatever is recorded: all that {m} "
            f"{plural(m, 'sample')} can show has {self.rank.rank} of {self.learnable} directions"
        )

    @property
    def _noun(self) -> str:
        """What learns: weights, or parameters of updates."""
        return "parameters" if by_updates(self.problem).updates else "weights"

    def _precision(self) -> list[str]:
        """What is assumed of recorded numbers, and of stimulations."""
        m = self.question.asked.network.m
        driven = (
            f"A stimulation repeats the {plural(m, f'{m} sample')} with the same inputs while a "
            "known drive enters one unit at every step; the samples without a drive are recorded "
            "in any case."
        )
        return [*([driven] if self.question.drives else []), _EXACTLY]

    def _under_noise(self) -> list[Step]:
        """The call that predicts deviations under noise, where they are known."""
        problem = by_updates(self.problem)
        # They are predicted for networks of units with an activation.
        if not hasattr(problem.network, "activation") or any(
            isinstance(update, LowRank) for update in problem.updates.values()
        ):
            return []
        target = () if self.question.target is None else self.question.target.given
        return [
            step(
                "record", "the deviation under noise", what=self.question.kinds,
                target=target or "weights", noise=nearest_double(Fraction(1, 10)),
            )
        ]  # fmt: skip

    def _about(self) -> dict[str, str]:
        """What ranks at given parameters are about: `algebra.networks.own_point`."""
        if not self.question.about:
            return {}
        new = " and new inputs" if self.question.target and self.question.target.new else ""
        return {"at": f"own parameters{new}{'' if self.question.is_exact else ', to first order'}"}

    def _why(self) -> Explanation:
        """What it determines, and how sure it is that less does not do."""
        size, rank = self.learnable, self.rank.rank
        if self.aim is not None:
            return self._why_target(self.aim)
        kinds, network = self.question.kinds, self.problem.network
        known, open_, decided_by = [], [], ""
        steps: list[Step] = []
        if not size:
            known.append("Nothing learns, so there is nothing to determine.")
        elif self.is_unique:
            exact = network.ranks_are_exact(self.problem.support)
            known.append(
                f"What is recorded changes with the {size} learnable {self._noun} in "
                + (
                    f"{rank} independent directions: the match is locally unique. Proved modulo "
                    f"{self.rank.p}."
                    if exact
                    else f"at most {rank} independent directions: if in so many, the match is "
                    "locally unique. This is not proved for this activation, or for these leaks."
                )
            )
            open_.append("whether there are other matches, far from the truth")
            if network.equations_are != "analytic":
                decided_by = "the number N of complex solutions, if the labels are recorded"
            if exact:
                steps.append(step("identify", "which weights the labels determine"))
        else:
            known.append(
                f"All that may be recorded ({self._most_recorded}) changes with the {size} "
                f"learnable {self._noun} in only {rank} independent directions: {len(self.free)} "
                f"{self._noun} stay free whatever is recorded. What is recorded determines as much "
                "as all does."
            )
            open_.append(f"the values of the free {self._noun}")
            decided_by = f"other elements recorded, more samples, or fewer learnable {self._noun}"
            for kind in ("units", "times"):
                if kind in available_kinds(network) and kind not in kinds:
                    steps.append(step("record", f"with {kind} as well", what=(*kinds, kind)))
        if self.is_optimal and self.cost:
            known.append(f"No cheaper recording determines as much: {self._sure}.")
        elif not self.is_optimal:
            open_.append(f"whether a recording of cost between {self.bound} and {self.cost} exists")
            decided_by = decided_by or "a search that goes to its end"
            steps.insert(0, step("record", "a longer search", what=kinds, seconds=600))
        if size:
            known += self._precision()
            steps += self._under_noise()
        return Explanation(tuple(known), "; and ".join(open_), decided_by, tuple(steps))

    @property
    def _sure(self) -> str:
        """How sure it is that nothing costs less."""
        if not self.error:
            return f"none of cost below {self.cost} exists, proved"
        error = bound_text(self.error)
        return f"one of cost below {self.cost} exists with probability at most {error}"

    def _why_target(self, aim: TargetStates) -> Explanation:
        """How sure it is that the target is determined, and that less does not do."""
        free = len(aim.states) - aim.determined
        known, open_, decided_by, steps = [], "", "", list[Step]()
        if free:
            rank, size, m = self.rank.rank, self.learnable, self.question.asked.network.m
            samples = plural(m, f"{m} sample")
            known.append(
                f"All that may be recorded for {samples} changes with the {size} learnable "
                f"{self._noun} in only {rank} independent directions. The target (of its "
                f"{len(aim.states)} parts {free}) can change in others as well: this stays free "
                "whatever is recorded here, and what is recorded leaves as much free as all does. "
                "A single number is determined or not: no recording determines a part of it."
            )
            decided_by = f"more samples (m = {m} here), or other elements recorded"
        else:
            whole = f"the {self.learnable} learnable {self._noun}"
            known.append(
                "The derivatives of the target are combinations of those of what is recorded: near "
                "the truth the recording determines the target, "
                + (
                    f"{whole}."
                    if self.question.target is None
                    else f"whether or not it determines {whole}."
                )
            )
        if self.is_optimal and self.cost:
            known.append(f"No cheaper recording determines as much of the target: {self._sure}.")
        elif not self.is_optimal:
            open_ = f"whether a recording of cost between {self.bound} and {self.cost} exists"
            decided_by = "a search that goes to its end"
            steps.append(step("record", "a longer search", what=self.question.kinds, seconds=600))
        elif free:
            open_ = "the free activities of the target"
        known += self._precision()
        return Explanation(
            tuple(known), open_, decided_by if open_ else "", (*steps, *self._under_noise())
        )
