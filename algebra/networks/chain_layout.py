"""The layout of a chain of matrix products: which matrices act, in which order, what is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal


@dataclass(frozen=True)
class ChainLayout:
    """The matrices of a chain ``S_0 = start``, ``S_k = M_k S_{k-1}``, ``Y = D Z``.

    Attributes
    ----------
    start : str or None
        The matrix that is S_0; None if S_0 = X.
    steps : tuple of str
        Names of M_1 … M_K; if all states are read they are one and the same matrix.
    output : str
        D.
    reads : {"last", "all"}
        Whether Z is the last state, or the sum of all states but the first, each times its input.

    Examples
    --------
    >>> ChainLayout("B", ("W",) * 3, "D", "all").recurrent
    'W'
    """

    start: str | None
    steps: tuple[str, ...]
    output: str
    reads: Literal["last", "all"]

    def __post_init__(self) -> None:
        if self.reads == "all":
            good = self.start is not None and len(set(self.steps)) == 1
        else:
            good = self.start is None and len(set(self.steps)) == len(self.steps)
        if not good:
            raise TypeError(
                f"{self}: a chain reads the last state of distinct steps from the samples, or "
                "all states of one repeated step from a weight matrix"
            )

    @property
    def recurrent(self) -> str | None:
        """The matrix that acts at every step, if there is one."""
        return self.steps[0] if self.reads == "all" else None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The weight matrices, the last to act first."""
        first = () if self.start is None else (self.start,)
        return tuple(dict.fromkeys((self.output, *reversed(self.steps), *first)))
