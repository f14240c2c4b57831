"""The result of a verification, and what it says; a check in a process of its own says nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from algebra.checker.checks import FAILED, PROBABLE, PROVED, UNFINISHED, Checked
from algebra.checker.verdicts import VERDICTS
from algebra.documents import Document, Explanation, Step, Table, step
from algebra.results import Result, attribute_columns, named
from algebra.words import plural

_TONES = {PROVED: "good", FAILED: "bad"}


@dataclass(frozen=True, repr=False)
class Verification(Result, Checked):
    """All checks of a proof file, as a result.

    Attributes
    ----------
    verdict : str
        The verdict that was checked.
    checks : tuple of Check
    """

    def columns(self) -> dict[str, list[Any]]:
        """One row for each check."""
        return attribute_columns(self.checks, "place", "status", "text")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for ``--json``."""
        checks = [named(check, "place", "status", "text") for check in self.checks]
        return {**named(self, "holds", "verdict"), "checks": checks}

    def document(self) -> Document:
        """Whether it holds, every check with its status, and what follows."""
        tally = Counter(check.status for check in self.checks)
        known, open_, decided_by = [], "", ""
        steps: tuple[Step, ...] = ()
        if self.is_unfinished:
            done = len(self.checks) - tally[UNFINISHED]
            known.append(f"{done} check{'s' * (done != 1)} finished, and none of them failed.")
            missing = "; ".join(c.text for c in self.checks if c.status == UNFINISHED)
            open_ = f"whether the file proves {self.verdict!r} (unfinished: {missing})"
            decided_by = "the remaining checks, with more time, or more memory (`--memory`)"
            steps = (step("verify", "more time", timeout=3600),)
        elif not self.holds:
            wrong = [check for check in self.checks if check.status == FAILED]
            known.append(
                f"The file does not prove {self.verdict!r}: "
                + "; ".join(f"{check.place}: {check.text}" for check in wrong[:3])
                + ("; …" if len(wrong) > 3 else ".")
            )
            open_ = (
                f"whether {self.verdict!r} is true nevertheless: a failed proof does not decide it"
            )
            decided_by = "a new proof, made from the problem"
            purpose = "another proof of the same problem"
            steps = (step("certify", purpose, subject="P.toml", out="cert.json"),)
        else:
            # Bounds of designs and recordings are evaluated by code that their searches use too.
            how = ", by other code than the one that found it" if self.verdict in VERDICTS else ""
            if self.verdict == VERDICTS[-1]:
                held = "; ".join(c.text for c in self.checks if c.status in (PROVED, PROBABLE))
                known.append(
                    f"The file claims no verdict. What it states was checked again{how}, and holds"
                    + (f": {held}." if held else ".")
                )
            else:
                known.append(f"All evidence for {self.verdict!r} was checked again{how}.")
            if tally[PROBABLE]:
                number = tally[PROBABLE]
                known.append(
                    plural(number, f"{number} check")
                    + " used new primes and random points, which follow from the file and "
                    "`--seed`; each is wrong with small probability (probable)."
                )
                steps = (step("verify", "a check with other primes and points", seed=2),)
        columns = {name: [getattr(c, name) for c in self.checks] for name in ("status", "place")}
        tones = {"status": [_TONES.get(check.status, "open") for check in self.checks]}
        return Document(
            f"{self.verdict}: {self.outcome}",
            {"verdict": self.verdict, "outcome": self.outcome, **tally},
            (Table({**columns, "what": [check.text for check in self.checks]}, tones=tones),),
            Explanation(tuple(known), open_, decided_by, steps),
            tone="open" if self.is_unfinished else "good" if self.holds else "bad",
        )
