"""Counts, estimates and comparisons: what the trials show, what is open and why.

Why a trial is open is its `Reason`, never read from its note.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from algebra.networks.base import Network
from algebra.networks.limits import plural
from algebra.problems.problem import Problem
from algebra.results import Explanation
from numeric.counts import COMPLETE, CountResult, InstanceCount, Reason
from numeric.engines.base import engine_info, engines, engines_for
from numeric.statistics.comparison import Comparison
from numeric.statistics.estimate import Estimate

# Why a count says nothing of a trial, as a clause about the engine.
_WHY = {
    Reason.SEARCHED: "a search found no real solution, which does not show that there is none",
    Reason.FAILED: "the solutions found are fewer than there are, or the method did not end",
    Reason.LOST: "the time was up or a process died, and nothing is known of them",
    Reason.FOUND_ONE: "some real solutions are certain, and others may be missing",
}
# A half-width that most questions can do with, and trials that one command should not exceed.
_FINE, _MOST_TRIALS = 0.02, 1_000_000

Command = tuple[str, str]


def _trials(number: int) -> str:
    return plural(number, f"{number} trial")


def _seed(seed: int) -> str:
    """The option, where it is not the default."""
    return f" --seed {seed}" if seed else ""


def _reasons(open_: Sequence[InstanceCount]) -> str:
    """Why trials are open, most frequent first."""
    tally = Counter(count.reason for count in open_ if count.reason is not None)
    if len(tally) == 1:
        return _WHY.get(next(iter(tally)), "nothing is known of them")
    return "; ".join(
        f"of {number} {_WHY.get(reason, 'nothing is known')}"
        for reason, number in tally.most_common()
    )


def _complete_engine(network: Network, used: str) -> str:
    """Another engine that can account for every solution; "" where there is none."""
    known = [name for name in engines_for(network) if engine_info(name).complete]
    return next((name for name in known if name != used), "")


# Of analytic activations.
NO_COUNT = "no count: analytic equations have no finite number of complex solutions"


def _is_complete(engine: str) -> bool:
    return engine in engines() and engine_info(engine).complete


def _more_time(open_: Sequence[InstanceCount]) -> bool:
    return any(count.reason in (Reason.FAILED, Reason.LOST) for count in open_)


def _surplus(problem: Problem | None) -> int:
    """How many more weights than labels; 0 where there are not more, or it differs by trial."""
    if problem is None or problem.is_random or not problem.network.is_linear:
        return 0
    return max(problem.allocation.size - problem.network.outputs, 0)


def explain_counts(found: CountResult, file: str = "P.toml", *, shown: bool = False) -> Explanation:
    """What counted instances show.

    Parameters
    ----------
    found : CountResult
    file : str, optional
        How commands are to name the problem.
    shown : bool, optional
        Whether the solutions are shown already.
    """
    if found.given is not None:
        return _one_of_ones_own(found, file)
    known = []
    roots, total = found.generic_root_count, len(found)
    complete = total - found.undetermined
    if roots == 0:
        known.append("The allocation is minimal: a generic instance has no solution (MP = 0).")
    elif roots is not None:
        parity = "odd, so at least one of them is real" if roots % 2 else "even: all may be complex"
        known.append(
            f"Almost every instance has N = {roots} complex "
            f"{'solution' if roots == 1 else 'solutions'}; N is {parity}."
        )
    if complete:
        known.append(
            f"{complete} of {total}: every complex solution is accounted for, so the number of "
            "real ones is exact."
        )
        if found.histogram.get(0) and roots != 0:
            known.append(
                f"{found.histogram[0]} of them {'has' if found.histogram[0] == 1 else 'have'} no "
                "real solution: no value of the learnable weights reproduces their labels."
            )
    open_ = [c for c in found.instances if c.status != COMPLETE]
    words, decided, commands = "", "", list[Command]()
    base = f"matchprob count {file} --instances {found.requested or total}{_seed(found.seed)}"
    surplus = _surplus(found.problem)
    if open_:
        words = f"{len(open_)} of {total}: {_reasons(open_)}"
        if surplus:
            words += (
                f"; with {surplus} more weights than equations solutions come in families, which "
                "cannot be counted: one real solution is a match, the lack of one is not shown"
            )
            commands.append((f"matchprob certify {file}", "the verdict, from parts that can"))
        else:
            decided = "a complete count: all N complex solutions of each"
            network = found.problem.network if found.problem else None
            other = _complete_engine(network, found.engine) if network else ""
            if other:
                commands.append((f"{base} --engine {other}", "another engine that is complete"))
            elif not _is_complete(found.engine):
                decided = NO_COUNT
            if _is_complete(found.engine) and _more_time(open_):
                commands.append((f"{base} --trial-timeout 3600", "more time for each"))
    elif found.is_partial:
        words = f"{found.requested - total} of {found.requested} instances, which were not begun"
        commands.append((base, "all of them; trial i of a seed is always the same"))
    if (
        not shown
        and found.problem is not None
        and found.problem.network.is_linear
        and any(c.solutions for c in found.instances)
    ):
        commands.append((f"{base} --solutions", "the real solutions themselves, enclosed"))
    commands.append(
        (f"matchprob estimate {file} --trials 1000{_seed(found.seed)}", "the match probability")
    )
    return Explanation(tuple(known), words, decided, tuple(commands))


def _one_of_ones_own(found: CountResult, file: str) -> Explanation:
    """What the count of an instance that was given says."""
    assert found.given is not None
    (count,) = found.instances
    known = []
    if count.status == COMPLETE:
        number = count.complex
        known.append(
            "The system has no solution, not even complex."
            if number == 0
            else f"Counted over Q: {plural(count.real or 0, f'{count.real} real solution')}"
            + ("." if number is None else f" among {number} complex ones.")
        )
        if not count.real:
            known.append("No value of the learnable weights reproduces these labels.")
    elif count.real:
        known.append("There are real solutions; how many is not known.")
    known.append(
        "The labels are a teacher's, so this is one trial of those that MP is the probability of."
        if found.given.numbers.has_teacher
        else "The labels are given as they are. MP is about labels that a teacher of the "
        "architecture gives: this count is that of the system, and says nothing of MP."
    )
    words = decided = ""
    if count.status != COMPLETE:
        words = f"how many there are: {_WHY.get(count.reason or Reason.FAILED, count.note)}"
        if count.note:
            words += f" ({count.note})"
        decided = "more time, or an instance without families of solutions"
    certify = (f"matchprob certify {file}", "what holds for almost every instance")
    return Explanation(tuple(known), words, decided, (certify,))


def explain_estimate(found: Estimate, file: str = "P.toml") -> Explanation:
    """What an estimate rests on, and what would make it better.

    Parameters
    ----------
    found : Estimate
    file : str, optional
        How commands are to name the problem.
    """
    seed = _seed(found.seed)
    if not found.trials:
        again = f"matchprob estimate {file} --trials {found.requested}{seed}"
        return Explanation(
            (),
            "everything: no trial was finished",
            "",
            ((again, "the same again, with more time"),),
        )
    near = _approximate(found)
    if found.certified is not None:
        why = (
            "every generic instance has a real solution"
            if found.certified
            else "the learnable weights change the labels in too few directions for any teacher "
            "but those of a set of probability 0"
        )
        proof = (f"matchprob certify {file} --out cert.json", "the evidence, for verify")
        repair = (f"matchprob repair {file}", "the fewest moves that make MP > 0")
        text = f"MP = {found.certified:.0f} by a verdict on the allocation, not by trials: {why}."
        return Explanation((text, *near), commands=(proof,) if found.certified else (proof, repair))
    interval = found.interval()
    known = []
    if found.problem.is_random:
        known.append("Each trial has an allocation of its own: MP is the mean over allocations.")
    parts = []
    if found.matched:
        has = "has" if found.matched == 1 else "have"
        parts.append(f"{found.matched} {has} a match, a real solution that is certain")
    if found.unmatched:
        how = (
            "every solution is accounted for, and none is real"
            if found.problem.network.is_linear
            else "that is shown, case by case"
        )
        has = "has" if found.unmatched == 1 else "have"
        parts.append(f"{found.unmatched} {has} none: {how}")
    if parts:
        known.append(f"Of {_trials(found.trials)} " + "; ".join(parts) + ".")
    known.append(
        f"With {found.confidence:.0%} confidence MP lies between {interval.low:.4f} and "
        f"{interval.high:.4f}."
    )
    known += near
    if not found.undetermined and found.trials in (found.matched, found.unmatched):
        side = "1" if found.matched else "0"
        known.append(f"That every trial came out alike does not show that MP = {side}.")
    base = f"matchprob estimate {file}{seed}"
    commands: list[Command] = []
    decided = ""
    open_trials = [c for c in found.counts if c.outcome == "undetermined"]
    surplus = _surplus(found.problem)
    if open_trials:
        number = len(open_trials)
        words = (
            f"{number} of {_trials(found.trials)}: {_reasons(open_trials)}; they count as "
            "unmatched in the lower end of the interval and as matched in the upper"
        )
        if surplus:
            words += (
                f". With {surplus} more weights than labels solutions come in families: the lack "
                "of a match is never shown"
            )
            decided = "a verdict on the allocation, from a part of it with as many weights"
            commands.append((f"matchprob certify {file} --timeout 600", "such a verdict"))
        else:
            other = _complete_engine(found.problem.network, found.engine)
            decided = "a complete count of each open trial"
            if not _is_complete(found.engine) and not other:
                decided = NO_COUNT
            elif not _is_complete(found.engine) or (_more_time(open_trials) and other):
                name = other or found.engine
                text = f"{base} --trials {found.requested} --engine {name}"
                commands.append((text, "an engine that can account for every solution"))
            if _is_complete(found.engine):
                text = f"{base} --trials {found.requested} --trial-timeout 3600"
                commands.append((text, "more time for each trial"))
    else:
        words = "the value within that interval: the rest is chance"
    if found.is_partial:
        commands.append(
            (f"{base} --trials {found.requested}", "all the trials asked for; --store keeps them")
        )
    else:
        half = interval.half_width
        # The half-width of a share falls as one over the root of the number of trials.
        wanted = min(_FINE, half / 2)
        most = min(int(found.trials * (half / wanted) ** 2) + 1, _MOST_TRIALS)
        if not open_trials and half > 0.005:
            commands.append(
                (f"{base} --trials {_round_up(most)}", f"an interval of about ± {wanted:.2g}")
            )
    if not found.problem.is_random:
        commands.append((f"matchprob certify {file}", "whether MP is 0, 1 or strictly between"))
    return Explanation(tuple(known), words, decided, tuple(commands))


def _approximate(found: Estimate) -> list[str]:
    """What is known of matches up to a loss, where they were asked for."""
    share = found.approximate
    if share is None or not share.trials:
        return []
    interval = share.interval
    text = (
        f"{share.reached} of {_trials(share.trials)} reach a mean squared error below "
        f"{share.epsilon:g}, {share.exact} of them by an exact match: with {found.confidence:.0%} "
        f"confidence the share is between {interval.low:.4f} and {interval.high:.4f}."
    )
    if share.open:
        text += (
            f" Of {share.open} the search did not get there, which does not show that nothing "
            "does: they count as not reaching it in the lower end and as reaching it in the upper."
        )
    return [text]


def _round_up(number: int) -> int:
    """To two digits.

    >>> _round_up(4321)
    4400
    """
    unit = 10 ** max(len(str(number)) - 2, 0)
    return -(-number // unit) * unit


def explain_comparison(found: Comparison, file: str = "P.toml Q.toml") -> Explanation:
    """What a comparison shows.

    Parameters
    ----------
    found : Comparison
    file : str, optional
        How commands are to name the two problems.
    """
    interval = found.interval()
    both = (("first", found.first), ("second", found.second))
    known = [
        f"The {name}: MP = {e.certified:.0f}, by a verdict on the allocation."
        for name, e in both
        if e.certified is not None
    ]
    if len(known) == 2:
        return Explanation((*known, "So the difference is exact."))
    table = found.table
    if not known:
        known.append(
            f"Both saw the same {_trials(found.trials)}; only those on which they differ tell them "
            f"apart: {table[0, 1]} matched by the first alone, {table[1, 0]} by the second alone."
        )
    again = f"matchprob compare {file} --trials"
    seed = _seed(found.first.seed)
    commands: list[Command] = []
    words = decided = ""
    if found.difference is None:
        names = " and ".join(name for name, e in both if e.estimate is None)
        words = (
            f"the difference: of the {names} a lower bound is known only, because trials are open, "
            "and a difference of bounds bounds nothing"
        )
        decided = "complete counts of the open trials"
        other = _complete_engine(found.first.problem.network, found.first.engine)
        if other:
            text = f"{again} {found.first.requested}{seed} --engine {other}"
            commands.append((text, "an engine that can account for every solution"))
    elif interval.low <= 0 <= interval.high:
        words = (
            f"which of the two matches more often: the interval [{interval.low:+.4f}, "
            f"{interval.high:+.4f}] of the difference contains 0"
        )
        decided = "more common trials: the interval narrows as one over the root of their number"
        commands.append((f"{again} {_round_up(4 * found.trials)}{seed}", "half the width"))
    else:
        better = "first" if interval.low > 0 else "second"
        known.append(
            f"The {better} matches more often: at the level of {found.first.confidence:.0%} the "
            f"difference lies between {interval.low:+.4f} and {interval.high:+.4f}, without 0."
        )
    if found.is_partial:
        text = f"{again} {max(found.first.requested, found.second.requested)}{seed}"
        commands.append((text, "all the trials asked for"))
    return Explanation(tuple(known), words, decided, tuple(commands))
