"""Formats of proof files: what every format has in common around its own statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from algebra.checker.checks import Checked, CheckEffort, Checklist
from algebra.checker.reading import drawn_seed
from algebra.errors import InputError, shown
from algebra.time_limits import within
from algebra.words import plural


@dataclass(frozen=True)
class ProofFormat:
    """A format of proof files.

    Attributes
    ----------
    name : str
        The value of its key `format`.
    versions : sequence of int
        Those that are read.
    what : str
        The kind of file, with its article.
    form : type
        The declaration of its tables.
    check : callable
        Checks the statements of a file's plain data, and collects what was shown.
    subject : callable
        What a file claims, in a word.
    """

    name: str
    versions: Sequence[int]
    what: str
    form: type
    check: Callable[[Mapping[str, Any], Checklist, CheckEffort], None]
    subject: Callable[[Mapping[str, Any]], str]

    def verify(
        self,
        data: Mapping[str, Any],
        *,
        seed: int = 1,
        timeout: float = 120,
        fallback: Callable[..., Any] | None = None,
    ) -> Checked:
        """Check a file, from its content alone.

        Parameters
        ----------
        data : mapping
            The plain data of the file.
        seed : int, optional
            Determines new points and primes, together with the content of the file.
        timeout : float, optional
            Seconds for the whole call.
        fallback : callable, optional
            Counts solutions if msolve is missing or does not finish.

        Returns
        -------
        Checked
            Unfinished if time was up: then nothing is known of what is claimed.

        Raises
        ------
        InputError
            If the data is not of this format, or of a version that is not read.
        """
        self.read_version(data)
        checklist, effort = Checklist(), CheckEffort(drawn_seed(data, seed), timeout, fallback)
        with within(timeout):
            return checklist.run(self.subject(data), lambda: self.check(data, checklist, effort))

    def read_version(self, data: object) -> int:
        """The version of a file.

        Raises
        ------
        InputError
            If it is not such a file, or has another version.
        """
        if not isinstance(data, Mapping) or data.get("format") != self.name:
            raise InputError(f"this is not {self.what}: `format` is not {self.name!r}")
        version = data.get("version")
        if type(version) is not int or version not in self.versions:
            known = plural(len(self.versions), "version")
            known += " " + " and ".join(map(str, self.versions))
            raise InputError(f"{self.what} of version {shown(version)}; this program reads {known}")
        return version

    def read(self, data: object) -> Any:
        """The tables of a file.

        Raises
        ------
        InputError
        CheckFailed
            If a field does not have its form; the message gives its place.
        """
        self.read_version(data)
        return self.form.from_dict(data, "")  # type: ignore[attr-defined]
