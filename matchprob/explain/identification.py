"""Which weights the data determine: from what that is known, and what is open."""

from __future__ import annotations

from algebra.identify.identification import Identification
from algebra.networks.limits import plural
from algebra.results import Explanation
from matchprob.explain.updates import explain_update_identification


def explain_identification(
    found: Identification, file: str = "P.toml", timeout: float = 60.0
) -> Explanation:
    """What an identification says.

    Parameters
    ----------
    found : Identification
    file : str, optional
        How commands are to name the problem.
    timeout : float, optional
        The limit it was made with.
    """
    if found.problem.updates:
        return explain_update_identification(found, file)
    local, size = found.fibre, found.fibre.size
    known = []
    if local.dimension:
        known.append(
            f"{size} weights learn and the labels depend on them in {local.rank.rank} independent "
            f"directions: near the truth the matches form a family of dimension {local.dimension}."
        )
        if local.determined:
            number = len(local.determined)
            known.append(
                f"{plural(number, f'{number} weight')} {'is' if number == 1 else 'are'} the same "
                "in all of that family: determined near the truth."
            )
        known.append("A free weight can be changed a little, and others make up for it.")
    else:
        known.append(
            f"All {size} weights change the labels independently (rank {local.rank.rank}): no "
            "other match lies near the truth."
            if size
            else "Nothing learns, so there is nothing to determine."
        )
    if found.alternatives is not None:
        roots = found.alternatives.root_count
        known.append(
            "Generic labels have one match only, the truth."
            if roots == 1
            else f"Generic labels have {roots} complex matches. Real data may tell alternatives "
            "apart only where these are not real, which differs by instance."
        )
    words = decided = ""
    commands = []
    if found.alternatives is None and not local.dimension and size:
        words = "whether there are other matches, far from the truth: their number was not found"
        if found.problem.network.equations_are == "analytic":
            decided = (
                "nothing that is known here: with this activation the number of matches is no "
                "number of roots of polynomials"
            )
        else:
            decided = "the number N of complex solutions"
        if found.out_of_time:
            commands.append(
                (f"matchprob identify {file} --timeout {max(600.0, 5 * timeout):g}", "more time")
            )
    elif local.dimension:
        words = "the values of the free weights: no amount of such data gives them"
        decided = (
            f"fewer learnable weights (at most {local.rank.rank}), or more samples or outputs "
            "where the rank grows with them"
        )
        commands.append((f"matchprob design {file}", "an allocation of independent weights"))
    elif found.finitely_many:
        words = "which of finitely many matches is the truth"
        decided = "one more sample, as a rule: compare with a larger m"
        commands.append(
            (f"matchprob count {file} --instances 8 --solutions", "the real alternatives")
        )
    return Explanation(tuple(known), words, decided, tuple(commands))
