"""The page in a notebook: Jupyter, VS Code, Colab, marimo."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

from algebra.installing import missing

try:
    import anywidget
    import traitlets
except ImportError:
    raise ImportError(missing("the widget needs", "anywidget", "page")) from None

from algebra.certificates.certificate import Certificate
from algebra.errors import InputError
from algebra.problems.allocation import Allocation
from algebra.problems.problem import Problem
from matchprob.api.certify import certify
from matchprob.api.question import as_problem
from matchprob.plugins.page import front
from matchprob.plugins.page.job_runner import JobRunner
from matchprob.plugins.page.session import Session, html_of
from matchprob.plugins.page.state import first_problem, read_state, state_of
from matchprob.plugins.page.studies import Studies
from matchprob.verbs.parameters import Question

# One process to fork from serves all widgets of a kernel.
_RUNNER = JobRunner()


class Allocator(anywidget.AnyWidget):
    """Edit which weights learn, and see verdict and match probability.

    Parameters
    ----------
    question : Problem, str or Path, optional
        The problem shown first; the first paper's example net by default.
    seed : int, optional
        Determines all random numbers.
    store : str or Path, optional
        Keeps the trials of studies.

    Attributes
    ----------
    problem : Problem
        The problem that is shown: it changes with the page, and can be set.
    certificate : Certificate
        The certificate of the problem that is shown.
    results : dict of str to Result
        The last results of Certify, Design, Repair, Identify and Record.

    Examples
    --------
    >>> import matchprob as mp
    >>> net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)
    >>> allocator = mp.Allocator(mp.Problem(net, {"W": [[1, 1], [0, 0]]}))
    >>> allocator.problem.allocation, allocator.certificate.verdict
    (Allocation(W[0,0] W[0,1]), 'maximal')
    """

    _esm = front.module()
    _css = front.styles()
    state = traitlets.Dict().tag(sync=True)

    def __init__(
        self,
        question: Question | None = None,
        *,
        seed: int = 0,
        store: str | Path | None = None,
        **more: Any,
    ) -> None:
        problem = first_problem() if question is None else as_problem(question)
        name = Path(question).name if isinstance(question, str | Path) else ""
        super().__init__(state=state_of(problem, name).to_dict(), **more)
        self._followers: list[Callable[[], None]] = []
        self._session = Session(
            problem,
            _RUNNER,
            Studies(_RUNNER, None if store is None else Path(store)),
            self.send,
            folder=Path.cwd(),
            name=name,
            seed=seed,
        )
        self._session.changed = self._tell_followers
        self.on_msg(lambda widget, message, buffers: self._session.receive(message))

    @property
    def problem(self) -> Problem:
        """The problem that is shown."""
        return read_state(self.state).problem

    @problem.setter
    def problem(self, question: Question) -> None:
        self.state = self._session.show(as_problem(question))
        self._tell_followers()

    @property
    def certificate(self) -> Certificate:
        """The certificate of the problem: the one on the page, or computed now."""
        found = self._session.certificate if self._session.digest == self.problem.digest else None
        return found or certify(self.problem, seed=self._session.seed)

    @property
    def allocation(self) -> Allocation:
        """The learnable weights."""
        return self.problem.allocation

    @property
    def results(self) -> dict[str, Any]:
        """The last results of the buttons, by their names."""
        return dict(self._session.results)

    def follow(self, verb: Callable[[Problem], Any]) -> Any:
        """A display of a verb's result that is updated whenever the problem changes.

        Parameters
        ----------
        verb : callable
            A function of the problem, such as `matchprob.inspect`.

        Returns
        -------
        ipywidgets.HTML
        """
        import ipywidgets

        shown = ipywidgets.HTML()

        def update() -> None:
            try:
                found = verb(self.problem)
                shown.value = html_of(found) or f"<pre>{html.escape(str(found))}</pre>"
            except InputError as error:
                shown.value = f"<p>{html.escape(str(error))}</p>"

        self._followers.append(update)
        update()
        return shown

    def close(self) -> None:
        """End its jobs and remove it from the notebook."""
        self._session.close()
        super().close()

    def _tell_followers(self) -> None:
        for update in list(self._followers):
            update()
