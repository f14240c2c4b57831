"""Studies that continue when the page is closed: shown again after a reload, in every tab."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from algebra.errors import InputError
from matchprob.plugins.page.job_runner import Event, Job, JobRunner

# Number of finished studies that are kept; running ones are always kept.
_KEPT = 32
# Largest number of studies that run at the same time.
MOST_RUNNING = 4


class _Running:
    """One study: its last event, and its job."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.job: Job | None = None
        self.found: Any = None


class Studies:
    """All studies of a server, or of a widget.

    Parameters
    ----------
    runner : JobRunner
    store : Path, optional
        Where their trials are kept.
    """

    def __init__(self, runner: JobRunner, store: Path | None = None) -> None:
        self.runner = runner
        self.store = store
        self._lock = threading.RLock()
        self._studies: OrderedDict[str, _Running] = OrderedDict()
        self._listeners: list[Callable[[Event], None]] = []
        self._number = 0

    def join(self, listener: Callable[[Event], None]) -> None:
        """Add a listener for all further events."""
        with self._lock:
            self._listeners.append(listener)

    def leave(self, listener: Callable[[Event], None]) -> None:
        """Remove a listener."""
        with self._lock:
            self._listeners = [one for one in self._listeners if one != listener]

    def snapshots(self) -> list[Event]:
        """The last event of every study, oldest first."""
        with self._lock:
            return [study.event for study in self._studies.values()]

    def result(self, name: str) -> Any:
        """The Estimate or Comparison of a finished study; None if there is none."""
        with self._lock:
            study = self._studies.get(name)
            return None if study is None else study.found

    def start(
        self,
        states: Sequence[Mapping[str, Any]],
        request: Mapping[str, Any],
    ) -> str:
        """Start a study, or join the same one if it runs already; returns its name.

        Parameters
        ----------
        states : sequence of mapping
            One or two results of `answers.read_data`; two are compared.
        request : mapping
            As returned by `commands.request`.

        Raises
        ------
        InputError
            If the largest number of studies runs already.
        """
        ask = {
            **request,
            "problem": states[0]["problem"],
            "other": states[-1]["problem"],
            "store": None if self.store is None else str(self.store),
            "study_name": Path(states[0]["name"]).stem,
        }
        trials, complete = ask["trials"], ask["complete"]
        with self._lock:
            digests = [state["digest"] for state in states]
            same = [ask["job"], digests, trials, complete]
            running = [s for s in self._studies.values() if s.event["status"] == "running"]
            for study in running:
                if study.event["same"] == same:
                    self._tell(study)
                    return str(study.event["study"])
            if len(running) >= MOST_RUNNING:
                raise InputError(f"{MOST_RUNNING} studies run already: wait for one, or cancel it")
            self._number += 1
            number = f"study {self._number}"
            study = _Running(
                {
                    "event": "study",
                    "study": number,
                    "what": ask["job"],
                    "digest": digests[0],
                    "digests": digests,
                    "same": same,
                    "requested": trials,
                    "trials": 0,
                    "status": "running",
                    "text": "",
                }
            )
            self._studies[number] = study
            for old in [n for n, s in self._studies.items() if s.event["status"] != "running"]:
                if len(self._studies) <= _KEPT:
                    break
                del self._studies[old]
            self._tell(study)
            study.job = self.runner.run(ask, lambda event: self._listen(study, event))
        return number

    def cancel(self, name: str) -> None:
        """End a study within a second; its trials are kept."""
        with self._lock:
            study = self._studies.get(name)
        if study is not None and study.job is not None:
            study.job.cancel()

    def close(self) -> None:
        """End all studies; those with a store keep their trials."""
        with self._lock:
            jobs = [study.job for study in self._studies.values() if study.job is not None]
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.wait(2.0)

    def _listen(self, study: _Running, event: Event) -> None:
        found = event.pop("found", None)
        kind = event.pop("event")
        with self._lock:
            is_running = study.event["status"] == "running"
            if kind in ("study", "comparison"):
                more = event
                if found is not None:
                    study.found = found
                    more["status"] = "stopped" if found.is_partial else "done"
            elif kind == "progress":
                more = {"trials": event["done"] // 2}
            elif kind == "phase":
                more = {"phase": event["text"]}
            elif kind == "failed":
                more = {"status": "failed", "text": event["text"]}
            elif is_running:
                more = {"status": "stopped"}
            else:
                return
            study.event = {**study.event, **more}
            self._tell(study)

    def _tell(self, study: _Running) -> None:
        for listener in list(self._listeners):
            listener(study.event)
