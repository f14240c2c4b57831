"""Many allocations at once: where theorems are wrong, and what all of a budget are."""

from __future__ import annotations

from algebra.certificates.certificate import INTERMEDIATE, MAXIMAL, MINIMAL, UNDECIDED
from algebra.linalg.rational import float_text
from algebra.networks.limits import plural
from algebra.results import Explanation
from algebra.surveys.atlas import Atlas
from algebra.surveys.audit import Audit, AuditResult

_MEANING = {
    MAXIMAL: "maximal: MP = 1",
    INTERMEDIATE: "intermediate: 0 < MP < 1",
    MINIMAL: "minimal: MP = 0",
    UNDECIDED: "undecided: MP > 0, and whether MP = 1 is open",
}


def explain_audit(found: Audit | AuditResult, file: str = "P.toml") -> Explanation:
    """The explanation of an audit: its result on the theorems, and what it does not cover.

    Parameters
    ----------
    found : Audit or AuditResult
    file : str, optional
        How commands are to name the problem.
    """
    parts = tuple(found) if isinstance(found, Audit) else (found,)
    known = []
    is_wrong = False
    for part in parts:
        where = f"{part.budget} weights of {part.matrix}"
        if not part.checked:
            continue
        for theorem in part.theorems:
            if not theorem.wrong:
                continue
            is_wrong = True
            said = [
                f"{number} are called {word} and are {truth}"
                for number, word, truth in (
                    (theorem.says_maximal_but_minimal, MAXIMAL, "minimal (MP = 0)"),
                    (theorem.says_minimal_but_not, MINIMAL, "not (MP > 0)"),
                )
                if number
            ]
            known.append(
                f"Theorem {theorem.theorem}, as stated, is wrong of {where}: of "
                f"{theorem.checked} checked {' and '.join(said)}."
            )
    checked = sum(part.checked for part in parts)
    if checked and not is_wrong:
        silent = sum(t.silent for p in parts for t in p.theorems)
        known.append(
            f"No theorem is wrong of the {plural(checked, f'{checked} allocation')} checked"
            + (
                f"; they are silent {plural(silent, f'{silent} time')}, where only the rank "
                "decides."
                if silent
                else "."
            )
        )
    if checked:
        known.append(
            "The truth is the generic rank: that any allocation is misjudged has probability at "
            f"most {float_text(max(part.error_bound for part in parts))}."
        )
    left = sum(part.total for part in parts) - checked
    words, decided, commands = "", "", list[tuple[str, str]]()
    seed = f" --seed {found.seed}" if found.seed else ""
    if left > 0 or not checked:
        words = (
            f"the other {plural(left, f'{left} allocation')} of these budgets"
            if checked
            else "everything: no allocation was checked"
        )
        decided = "a larger --count, or another --seed; the smallest nets can be audited whole"
        more = f"matchprob audit {file} --count {max(10 * checked, 1000)}{seed}"
        commands.append((more, "more of them"))
    if is_wrong:
        commands.append(
            (f"matchprob audit {file} --corrected{seed}", "the corrected theorems beside them")
        )
    return Explanation(tuple(known), words, decided, tuple(commands))


def explain_atlas(found: Atlas, file: str = "P.toml") -> Explanation:
    """What all allocations of a budget are.

    Parameters
    ----------
    found : Atlas
    file : str, optional
        How commands are to name the problem.
    """
    totals = found.totals
    done = sum(totals.values())
    known = [
        f"{totals[verdict]} of {plural(done, f'{done} allocation')} "
        f"{'is' if totals[verdict] == 1 else 'are'} {meaning}."
        for verdict, meaning in _MEANING.items()
        if totals.get(verdict)
    ]
    if done:
        known.append(
            "Allocations that a symmetry of the network carries into each other have one MP: an "
            "orbit was certified once."
        )
    again = f"matchprob atlas {file} --budget {found.budget}"
    again += "".join(f" --matrix {name}" for name in found.matrices)
    again += f" --seed {found.seed}" if found.seed else ""
    commands: list[tuple[str, str]] = []
    open_, decided = [], []
    if found.is_partial:
        left = found.orbits - len(found.entries)
        open_.append(f"{plural(left, f'{left} orbit')} of {found.orbits} that were not begun")
        decided.append("more time")
        commands.append((f"{again} --store atlas.json", "goes on where it stopped, if asked again"))
    if totals.get(UNDECIDED):
        open_.append("the undecided ones, of which neither parity nor a witness says more")
        decided.append("instances without real solutions, for which more time may be given")
        commands.append((f"{again} --search 60", "a longer search for each orbit"))
    if totals.get(MAXIMAL) and found.network.rank_decides:
        purpose = "an allocation with MP = 1, chosen by cost"
        commands.append((f"matchprob design {file} --goal maximal", purpose))
    return Explanation(tuple(known), "; ".join(open_), "; ".join(decided), tuple(commands))
