"""A checked proof: its consequences."""

from __future__ import annotations

from collections import Counter

from algebra.certificates.certificate import VERDICTS
from algebra.certificates.checks import FAILED, PROBABLE, UNFINISHED, Verification
from algebra.networks.limits import plural
from algebra.results import Explanation


def explain_verification(found: Verification, file: str = "cert.json") -> Explanation:
    """What a verification means.

    Parameters
    ----------
    found : Verification
    file : str, optional
        How commands are to name the proof.
    """
    tally = Counter(check.status for check in found.checks)
    if found.is_unfinished:
        done = sum(n for status, n in tally.items() if status != UNFINISHED)
        known = (f"{plural(done, f'{done} check')} ended, none of them with a fault.",)
        open_ = "; ".join(c.text for c in found.checks if c.status == UNFINISHED)
        return Explanation(
            known,
            f"whether the file proves {found.verdict!r}: nothing follows ({open_})",
            "the remaining checks, with more time",
            ((f"matchprob verify {file} --timeout 3600", "more time"),),
        )
    if not found.holds:
        wrong = [check for check in found.checks if check.status == FAILED]
        known_ = [
            f"The file does not prove {found.verdict!r}: "
            + "; ".join(f"{check.place}: {check.text}" for check in wrong[:3])
            + ("; …" if len(wrong) > 3 else "")
            + "."
        ]
        return Explanation(
            tuple(known_),
            f"whether {found.verdict!r} is true all the same: a bad proof shows nothing",
            "a proof made anew from the problem",
            (("matchprob certify P.toml --out cert.json", "another proof of the same problem"),),
        )
    # Bounds of designs and recordings are evaluated by code that their searches use too.
    how = ", and not by the code that found it" if found.verdict in VERDICTS else ""
    known_ = [f"Everything that {found.verdict!r} rests on was checked anew{how}."]
    commands: tuple[tuple[str, str], ...] = ()
    if tally[PROBABLE]:
        known_.append(
            f"{plural(tally[PROBABLE], f'{tally[PROBABLE]} check')} "
            f"{'is' if tally[PROBABLE] == 1 else 'are'} probable: right but for an unlucky random "
            "point, at new primes and points of its own."
        )
        commands = ((f"matchprob verify {file} --seed 2", "other primes and points"),)
    return Explanation(tuple(known_), "", "", commands)
