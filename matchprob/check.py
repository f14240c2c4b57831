"""Check a proof file where little is installed: ``python -m matchprob.check FILE``.

It is `matchprob verify` without its words: the same reading, checks and lines, in this process.  It
needs python-flint, NumPy too unless a verdict on a linear network follows by linear algebra, and
reads the project's files from where they are: no installation is necessary.  msolve is used if it
is found, for root counts that Buchberger's algorithm does not finish.  A statement that needs
another library is *unfinished*, with its name; so nothing that is missing makes a file hold.

Memory is limited as for `verify`; two seconds after the time limit the system ends the process.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from algebra.checker.checks import Checked, unfinished
from algebra.errors import InputError, printable
from matchprob.interrupts import UNFINISHED

# MiB that a check may take, and seconds after its limit at which it is ended.
_MEMORY = 1024
_GRACE = 2.0
# Status of a file that is no proof.
_REFUSED = 2


def checked(path: Path, model: str | None, seed: int, timeout: float) -> Checked:
    """The check of a proof file, in this process.

    Parameters
    ----------
    path : Path
    model : str or None
        The file of a model that the proof names.
    seed : int
        New points and primes follow from it.
    timeout : float
        Seconds.

    Raises
    ------
    InputError
        If there is no such file, or it is not a proof of a known format.
    """
    try:
        # Loaded here: NumPy may be missing too.
        from matchprob.api.proofs.check import check_proof, limit_memory
        from matchprob.api.proofs.models import proof_text, with_model

        limit_memory(_MEMORY)
        text = with_model(proof_text(path), path.parent, model)
        return check_proof(text, seed=seed, timeout=timeout)
    except ModuleNotFoundError as missing:
        return unfinished("", f"this check needs {missing.name}, which is not installed")
    except MemoryError:
        return unfinished("", f"the check ran out of memory (limit: {_MEMORY} MiB)")


def main(words: Sequence[str] | None = None) -> int:
    """Print the checks of a file, a line each; the status of `matchprob verify`."""
    parser = argparse.ArgumentParser("python -m matchprob.check", description="Check a proof file.")
    parser.add_argument("file", type=Path, help="a proof file (JSON)")
    parser.add_argument("--model", help="the file of the model that the proof names")
    parser.add_argument("--seed", type=int, default=1, help="new points and primes follow from it")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds")
    given = parser.parse_args(words)
    if given.seed < 0 or not 0 < given.timeout < 1e9:
        parser.error("--seed must be at least 0, and --timeout a positive number of seconds")
    signal.setitimer(signal.ITIMER_REAL, given.timeout + _GRACE)
    try:
        found = checked(given.file, given.model, given.seed, given.timeout)
    except InputError as error:
        sys.stderr.write(f"{given.file}: {printable(str(error))}\n")
        return _REFUSED
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    for check in found.checks:
        print(*map(printable, (check.status, check.place, check.text)), sep="\t")
    print(f"{found.verdict}: {found.outcome}" if found.verdict else found.outcome)
    return 0 if found.holds else UNFINISHED


if __name__ == "__main__":
    sys.exit(main())
