"""Chosen allocations: how good they are, how far that is proved; repairs and losses."""

from __future__ import annotations

from algebra.design.robustness import Robustness
from algebra.linalg.rational import float_text
from algebra.networks.limits import plural
from algebra.results import Explanation
from matchprob.api.designs.design import DesignResult
from matchprob.api.designs.probable import ProbableDesign
from matchprob.api.designs.repair import RepairResult

Command = tuple[str, str]


def explain_design(found: DesignResult, file: str = "P.toml") -> Explanation:
    """What a design promises.

    Parameters
    ----------
    found : DesignResult
    file : str, optional
        How commands are to name the problem.
    """
    made = found.design
    if made.goal == "rank" and made.rank.rank < found.network_rank:
        return _of_lower_rank(found, file)
    known = [
        f"Not minimal: the {made.allocation.size} weights reach all {made.rank.rank} independent "
        f"equations, proved modulo {made.rank.p}. So MP > 0."
    ]
    again = f"matchprob design {file} --goal {made.goal}"
    commands: list[Command] = []
    words = decided = ""
    if isinstance(made, ProbableDesign):
        return _probable(made, known, again)
    what = made.measure or "cost"
    if made.goal == "rank":
        known.append(f"Nothing that is not minimal costs less than {made.cost_bound}.")
    elif made.certificate:
        known.append(f"MP = 1: {made.certificate}.")
    if made.is_optimal and made.goal != "rank":
        known.append(
            f"Nothing is better: no allocation that keeps the caps has {what} below {made.bound} "
            f"({made.proof}); that is wrong with probability at most {float_text(made.error)}."
        )
    elif not made.is_optimal:
        words = (
            f"whether it is the best: {what} {made.value} was found, and only below {made.bound} "
            "is nothing possible"
        )
        decided = "a design of the lower value, or a search that goes to its end"
        commands.append((f"{again} --seconds 600", "a longer search"))
    if not made.certificate:
        more = "whether MP = 1: a design of this goal is sure of MP > 0 only"
        words = f"{words}; and {more}" if words else more
        is_counted = found.problem.network.equations_are != "analytic"
        last = (
            "the number N of complex solutions, which `certify` finds"
            if is_counted
            else "an output of which nothing learns (then MP < 1), a read-out that learns alone "
            "(then MP = 1); otherwise trials"
        )
        decided = decided or last
        purpose = "the verdict on the design: write it with the same options and --write best.toml"
        commands.append(("matchprob certify best.toml", purpose))
        if is_counted and made.goal != "maximal":
            purpose = "a design with MP = 1, with the same options"
            commands.append((f"matchprob design {file} --goal maximal", purpose))
    return Explanation(tuple(known), words, decided, tuple(commands))


def _of_lower_rank(found: DesignResult, file: str) -> Explanation:
    made, whole = found.design, found.network_rank
    known = [
        f"The {plural(made.allocation.size, f'{made.allocation.size} weight')} reach "
        f"{made.rank.rank} of the {whole} independent equations, proved modulo {made.rank.p}: "
        "minimal, MP = 0."
    ]
    words = ""
    if made.is_optimal:
        known.append(
            f"No allocation within the cost budget reaches more ({made.proof}), and none of this "
            f"rank costs less than {made.cost}; that is wrong with probability at most "
            f"{float_text(made.error)}."
        )
    else:
        words = (
            f"whether a rank above {made.rank.rank} is within the budget; above {made.bound} none "
            "is"
        )
    least = (f"matchprob design {file}", "what MP > 0 costs at least")
    return Explanation(tuple(known), words, "a longer search" if words else "", (least,))


def _probable(made: ProbableDesign, known: list[str], again: str) -> Explanation:
    race = made.race
    if race is None:
        known.append("MP = 1, by a certificate: nothing can match more often.")
        write = f"{again} --write best.toml && matchprob certify best.toml --out cert.json"
        return Explanation(tuple(known), commands=((write, "the certificate, for verify"),))
    known.append(
        f"It matched most often among {plural(made.pool, f'{made.pool} allocation')} on common "
        "instances."
    )
    if made.is_optimal:
        known.append(f"Every other was beaten, at the level of {race.confidence:.0%}.")
        return Explanation(tuple(known))
    if race.is_settled:
        return Explanation(
            tuple(known),
            "whether one of the allocations that were not raced matches more often",
            "all of them raced, or a certified maximal one",
            ((f"{again} --candidates {2 * made.pool}", "more of them"),),
        )
    return Explanation(
        tuple(known),
        "whether it is the best: the intervals of some others overlap its own",
        "more common trials",
        ((f"{again} --trials 8192", "more trials of each"),),
    )


def explain_repair(found: RepairResult, file: str = "P.toml") -> Explanation:
    """What a repair does and leaves open.

    Parameters
    ----------
    found : RepairResult
    file : str, optional
        How commands are to name the problem.
    """
    done = found.repair
    if done is None or not (done.moves or done.removed):
        text = f"Nothing has to move: the allocation is {found.before.verdict}."
        return Explanation((text,), commands=((f"matchprob certify {file}", "its verdict"),))
    known = [
        f"{plural(done.moves, f'{done.moves} move')} turn{'s' * (done.moves == 1)} the allocation "
        f"from {found.before.verdict} to {found.after.verdict}."
    ]
    write = f"matchprob repair {file} --write mended.toml && matchprob certify mended.toml"
    commands: list[Command] = [(write, "the new file, and its verdict")]
    words = decided = ""
    if done.is_optimal:
        known.append("No repair has fewer moves.")
    else:
        words = f"whether fewer than {done.moves} moves do: at least {done.bound} are needed"
        decided = "a search that goes to its end"
        commands.insert(0, (f"matchprob repair {file} --seconds 600", "a longer search"))
    return Explanation(tuple(known), words, decided, tuple(commands))


def explain_losses(found: Robustness, file: str = "P.toml") -> Explanation:
    """What may be lost.

    Parameters
    ----------
    found : Robustness
    file : str, optional
        How commands are to name the problem.
    """
    known = []
    if found.survives:
        known.append(
            f"After any loss of {plural(found.survives, f'{found.survives} weight')} the rest "
            f"still reaches all {found.equations} equations: MP > 0, proved."
        )
    if found.fatal:
        known.append(
            f"There are {len(found.fatal)} weights without which MP = 0."
            if len(found.fatal) > 1
            else "There is a weight without which MP = 0."
        )
    words = decided = ""
    commands: tuple[Command, ...] = ()
    if not found.is_exact:
        words = f"whether any {found.survives + 1} may be lost"
        decided = "a smaller fatal set, or a search that goes to its end"
        commands = ((f"matchprob robust {file} --seconds 300", "a longer search"),)
    return Explanation(tuple(known), words, decided, commands)
