"""What to record: what it determines, and how sure it is that less does not do."""

from __future__ import annotations

from algebra.record.result import Recording, bound_text
from algebra.record.things import kinds_of
from algebra.results import Explanation


def explain_recording(found: Recording, file: str = "P.toml") -> Explanation:
    """What a recording says.

    Parameters
    ----------
    found : Recording
    file : str, optional
        How commands are to name the problem.
    """
    size, rank, of = found.learnable, found.rank.rank, len(found.asked.allowed)
    kinds = found.asked.what
    again = f"matchprob record {file} " + " ".join(f"--what {kind}" for kind in kinds)
    known, words, decided = [], "", ""
    commands: list[tuple[str, str]] = []
    if not size:
        known.append("Nothing learns, so there is nothing to determine.")
    elif found.is_unique:
        exact = found.problem.network.ranks_are_exact(found.problem.support)
        known.append(
            f"What is recorded changes with the {size} learnable weights in "
            + (
                f"{rank} independent directions, as many as there are weights: no other match lies "
                f"near the truth. Proved modulo {found.rank.p}."
                if exact
                else f"at most {rank} independent directions, as many as there are weights: if it "
                "is so many, no other match lies near the truth. This is not proved for this "
                "activation, or for these leaks."
            )
        )
        words = "whether there are other matches, far from the truth"
        if found.problem.network.equations_are != "analytic":
            decided = "the number N of complex solutions, where the labels are what is recorded"
        if exact:
            commands.append((f"matchprob identify {file}", "which weights the labels determine"))
    else:
        known.append(
            f"All that may be recorded ({of}) changes with the {size} learnable weights in only "
            f"{rank} independent directions: {len(found.free)} weights stay free whatever is "
            "recorded. What is recorded determines as much as all does."
        )
        words = "the values of the free weights"
        decided = "other things recorded, more samples, or fewer learnable weights"
        more = [k for k in ("units", "times") if k in kinds_of(found.problem.network)]
        for kind in [k for k in more if k not in kinds]:
            commands.append((f"{again} --what {kind}", f"with {kind} as well"))
    if found.is_optimal and found.cost:
        known.append(
            f"Nothing cheaper does: a recording of cost below {found.cost} exists with probability "
            f"at most {bound_text(found.error)}."
        )
    elif not found.is_optimal:
        text = f"whether a recording of cost between {found.bound} and {found.cost} exists"
        words = f"{words}; and {text}" if words else text
        decided = decided or "a search that goes to its end"
        commands.insert(0, (f"{again} --seconds 600", "a longer search"))
    return Explanation(tuple(known), words, decided, tuple(commands))
