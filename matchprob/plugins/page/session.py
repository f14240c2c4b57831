"""The messages and events of one front end.

Messages and events are plain data, independent of the transport: server-sent events for a tab of
the browser, the model of a widget in a notebook.  A message names its ``verb``:

hello    The front end has started; holds a ``state``, or requests the first one
look     The problem changed: immediate results are sent at once, verdict and structure follow
parse    The ``text`` of a problem file is to become the state
table    The ``text`` of a table or an edge list says which weights of a matrix learn, or exist
example  A problem by its name is to become the state
resize   The sizes or the kind of the network changed
texts    Request for the problem as TOML, Python and command, to be copied
command  Request for the command that does the same as an action
act      certify, design, repair, identify or record, in a process that the next change ends
study    estimate or compare, in a process that continues when the page is closed
cancel   End an action or a study within a second
verdict  Request for the ranks and the verdict of the pinned allocation A
save     Write the problem, a certificate or a result into the folder
close    The tab is closed: its jobs end

An event has its name in ``event``; one that answers bad input is "refused", with the ``place`` of
the bad input.

Messages are not read in this process: a separate process does that (`answers`), with a time limit,
and the session keeps plain data.
"""

from __future__ import annotations

import queue
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from algebra.certificates.signing import file_text
from algebra.errors import InputError, Unfinished, shown
from algebra.given import known_name
from algebra.problems.problem import Problem
from algebra.results import Result
from matchprob import __version__
from matchprob.api.designs.goals import GOALS
from matchprob.io import files
from matchprob.plugins.page import commands
from matchprob.plugins.page.answers import read_data, state_data
from matchprob.plugins.page.examples import EXAMPLES
from matchprob.plugins.page.job_runner import Event, Job, JobRunner
from matchprob.plugins.page.state import LARGEST, Misplaced, kinds, state_of
from matchprob.plugins.page.studies import Studies

# Time limit in seconds for the verdict that follows every change.
QUICK = {"timeout": 20.0, "search": 1.0}
# Time limit in seconds for reading a message and computing its answer.
ANSWER_SECONDS = 20.0
# Number of verdicts that are kept.
_KEPT = 64

Emit = Callable[[Event], None]


class Session:
    """The state and the jobs of one tab or one widget.

    Parameters
    ----------
    first : Problem
        Shown if the front end has no state yet.
    runner : JobRunner
    studies : Studies
        Shared by all sessions of a server.
    emit : callable
        Receives events, in any thread.
    folder : Path
        The only folder to which files are written.
    name : str
        Name of the first problem's file.
    seed : int
    """

    def __init__(
        self,
        first: Problem,
        runner: JobRunner,
        studies: Studies,
        emit: Emit,
        *,
        folder: Path,
        name: str = "",
        seed: int = 0,
    ) -> None:
        # The state that is shown, as returned by `answers.read_data`.
        self._state: dict[str, Any] = read_data(state_of(first, name))
        self.runner = runner
        self.studies = studies
        self.folder = folder
        self.seed = seed
        self._emit = emit
        self._lock = threading.RLock()
        self._live: list[Job] = []
        self._aside: Job | None = None
        self._action: Job | None = None
        self._action_name = ""
        # Set when the result of the action was sent: the front end may show it, and request
        # immediate results for it, before the job has ended.
        self._action_sent = threading.Event()
        self._shown = ""
        self._open_request: tuple[Job, queue.SimpleQueue[Event]] | None = None
        # Results by the problem's digest: verdicts with their certificates, structure.
        self._verdicts: OrderedDict[str, tuple[Event, Any]] = OrderedDict()
        self._structures: OrderedDict[str, Event] = OrderedDict()
        self._blocks: OrderedDict[str, Event] = OrderedDict()
        self.results: dict[str, Any] = {}
        self.changed: Callable[[], None] = _nothing
        studies.join(self._from_study)

    def close(self) -> None:
        """End its jobs; studies continue."""
        self.studies.leave(self._from_study)
        # A thread that waits for an answer holds the lock.
        if (open_request := self._open_request) is not None:
            waiting, events = open_request
            waiting.kill()
            events.put({"event": "ended"})
        with self._lock:
            self._stop_live()
            for job in (self._aside, self._action):
                if job is not None:
                    job.kill()

    @property
    def digest(self) -> str:
        """Digest of the problem that is shown."""
        return str(self._state["digest"])

    @property
    def certificate(self) -> Any:
        """The certificate of the shown problem, if it is already known."""
        known = self._verdicts.get(self.digest)
        return None if known is None else known[1]

    def show(self, problem: Problem, name: str = "") -> Event:
        """Show another problem; returns the state for the front end."""
        with self._lock:
            self._state = read_data(state_of(problem, name or self._state["name"]))
            return dict(self._state["state"])

    # -- answers, in a separate process ---------------------------------------------

    def _answers(self, what: str, **ask: Any) -> Iterator[dict[str, Any]]:
        """The results of a function of `answers`, as they arrive.

        Raises
        ------
        InputError
            If the message is wrong; `Misplaced` if the place is known.
        Unfinished
            If it takes too long, or needs more memory than there is.
        """
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        end = time.monotonic() + ANSWER_SECONDS
        ask |= {"job": "answer", "what": what, "seed": self.seed, "folder": str(self.folder)}
        job = self.runner.run(ask, events.put)
        self._open_request = (job, events)
        event: Event = {"event": ""}
        trouble: Exception | None = None
        try:
            # Read to the end, so that the process is kept for the next answer.
            while event["event"] != "ended":
                event = events.get(timeout=max(0.0, end - time.monotonic()))
                text = event.get("text", "")
                if event["event"] == "answer":
                    yield event["data"]
                elif event["event"] == "refused":
                    place = event["place"]
                    trouble = Misplaced(text, place, event["line"]) if place else InputError(text)
                elif event["event"] == "failed":
                    trouble = Unfinished(text)
        except queue.Empty:
            trouble = Unfinished(
                f"this takes longer than the {ANSWER_SECONDS:g} s that a page can wait: use the "
                "commands for it"
            )
        finally:
            self._open_request = None
            if event["event"] != "ended":
                job.kill()
        if trouble is not None:
            raise trouble

    def _answer(self, what: str, **ask: Any) -> dict[str, Any]:
        """The single result."""
        found = list(self._answers(what, **ask))
        if not found:
            raise Unfinished("the page is closed")
        return found[0]

    # -- messages ---------------------------------------------------------------------

    def receive(self, message: Any) -> None:
        """Process a message; its results are sent as events."""
        verb = message.get("verb") if isinstance(message, Mapping) else None
        answer = self._VERBS.get(verb) if isinstance(verb, str) else None
        if answer is None:
            self._emit({"event": "refused", "place": "", "text": f"{shown(message)} is no message"})
            return
        try:
            with self._lock:
                answer(self, message)
        except Misplaced as error:
            self._refuse(verb, error.place, str(error), line=error.line)
        except (InputError, Unfinished) as error:
            self._refuse(verb, message.get("what", verb), str(error))
        except (KeyError, TypeError, AttributeError) as error:
            self._refuse(
                verb, "", f"a message that cannot be read: {type(error).__name__}: {error}"
            )
        except MemoryError:
            self._refuse(verb, "network", "there is not enough memory for a network of this size")
        except OSError as error:
            self._refuse(verb, message.get("what", verb), _error_text(error))
        except Exception as error:
            # The traceback is for the user of the server; the page continues.
            traceback.print_exc()
            self._refuse(verb, "", f"this is a bug: {type(error).__name__}: {error}")

    def _refuse(self, verb: Any, place: Any, text: str, **more: Any) -> None:
        self._emit({"event": "refused", "verb": verb, "place": place, "text": text, **more})

    def _hello(self, message: Mapping[str, Any]) -> None:
        trouble = None
        if message.get("state"):
            try:
                self._state = self._answer("read", state=message["state"])
            except (InputError, Unfinished) as error:
                trouble = f"the address of this page holds no problem that can be shown: {error}"
        pinned = None
        if isinstance(message.get("state"), Mapping) and message["state"].get("pinned"):
            try:
                pinned = _shown(self._answer("read", state=message["state"]["pinned"]))
            except (InputError, Unfinished) as error:
                trouble = f"what was pinned as A cannot be shown: {error}"
        self._emit(
            {
                "event": "welcome",
                "asked": message.get("asked"),
                "version": __version__,
                **_shown(self._state),
                "pinned": pinned,
                "trouble": trouble,
                "kinds": kinds(),
                "examples": list(EXAMPLES),
                "goals": {
                    name: {"help": goal.help, "lines": list(goal.lines)}
                    for name, goal in GOALS.items()
                    if not goal.needs_cost_budget
                },
                "largest": LARGEST,
                "store": self.studies.store.name if self.studies.store else None,
                "seed": self.seed,
                "studies": self.studies.snapshots(),
            }
        )

    def _look(self, message: Mapping[str, Any]) -> None:
        answers = self._answers("look", state=message["state"])
        state = next(answers, None)
        if state is None:
            return
        self._state, digest = state, state["digest"]
        is_new = digest != self._shown
        if is_new:
            self._stop_live()
            self._stop_action("stopped: the problem changed")
            self._action = None
        self._shown = digest
        is_requested = is_new or not self._live
        if is_requested:
            self._stop_live()
        # The verdict takes longest, so it is started first.
        if is_requested and digest not in self._verdicts:
            self._start_live({"job": "verdict", **QUICK}, digest)
        elif digest in self._verdicts:
            self._emit(self._verdicts[digest][0])
        for data in answers:
            self._emit({"event": "looked", "seq": message.get("seq"), **data})
            self.changed()
            for known in (self._blocks, self._structures):
                if digest in known:
                    self._emit(known[digest])
            if is_requested and digest not in self._structures and state["size"]:
                wanted = data["blocks"] is None and digest not in self._blocks
                self._start_live({"job": "structure", "blocks": wanted}, digest)

    def _start_live(self, what: Mapping[str, Any], digest: str) -> None:
        state = self._state
        ask = {"problem": state["problem"], "seed": self.seed, "name": state["name"]}
        self._live.append(self.runner.run({**ask, **what}, self._of_live(digest)))

    def _stop_live(self) -> None:
        for job in self._live:
            job.kill()
        self._live = []

    def _of_live(self, digest: str, is_aside: bool = False) -> Callable[[Event], None]:
        def listen(event: Event) -> None:
            found = event.pop("found", None)
            if event["event"] == "verdict":
                self._keep(self._verdicts, digest, (event, found))
            elif event["event"] == "blocks":
                self._keep(self._blocks, digest, event)
            elif event["event"] == "structure":
                self._keep(self._structures, digest, event)
            elif event["event"] == "failed":
                event = {**event, "event": "unknown", "digest": digest}
            else:
                return
            if is_aside or digest == self._shown:
                self._emit(event)
                self.changed()

        return listen

    @staticmethod
    def _keep(kept: OrderedDict[str, Any], digest: str, value: Any) -> None:
        kept[digest] = value
        kept.move_to_end(digest)
        while len(kept) > _KEPT:
            kept.popitem(last=False)

    def _parse(self, message: Mapping[str, Any]) -> None:
        text = message["text"]
        if not isinstance(text, str):
            raise InputError("`text` must be text")
        name = message.get("name") or self._state["name"]
        data = self._answer("parse", text=text, name=name)
        self._emit({"event": "state", "from": "parse", "text": text, **data})

    def _table(self, message: Mapping[str, Any]) -> None:
        ask = {key: message[key] for key in ("text", "matrix", "table", "state")}
        self._emit({"event": "state", "from": "table", **self._answer("table", **ask)})

    def _example(self, message: Mapping[str, Any]) -> None:
        problem = EXAMPLES[known_name(message["name"], "name", EXAMPLES)]()
        data = state_data(state_of(problem, "example.toml"))
        self._emit({"event": "state", "from": "example", **data})

    def _resize(self, message: Mapping[str, Any]) -> None:
        data = self._answer("resize", network=message["network"], state=message["state"])
        self._emit({"event": "state", "from": "resize", **data})

    def _texts(self, message: Mapping[str, Any]) -> None:
        self._emit({"event": "texts", **self._answer("texts", state=message["state"])})

    def _verdict(self, message: Mapping[str, Any]) -> None:
        found = list(self._answers("look", state=message["state"]))
        if len(found) < 2:
            return
        state, data = found
        digest = data["digest"]
        self._emit({"event": "judged", "pinned": True, **data})
        if digest in self._verdicts:
            self._emit(self._verdicts[digest][0])
            return
        ask = {"problem": state["problem"], "seed": self.seed, "name": state["name"]}
        if self._aside is not None:
            self._aside.kill()
        self._aside = self.runner.run(
            {**ask, "job": "verdict", **QUICK}, self._of_live(digest, is_aside=True)
        )

    def _close(self, message: Mapping[str, Any]) -> None:
        self.close()

    # -- actions ----------------------------------------------------------------------

    def _act(self, message: Mapping[str, Any]) -> None:
        what = known_name(message["what"], "what", commands.AT_ONCE)
        self._state = state = self._answer("read", state=message["state"])
        self._shown = digest = state["digest"]
        self._stop_action("stopped: another action was started")
        options = message.get("options") or {}
        request = commands.request(what, options, name=state["name"], seed=self.seed)
        ask = {**request, **{key: state[key] for key in ("problem", "must", "never")}}
        self._action_name = what
        self._emit({"event": "action", "what": what, "status": "running"})
        self._action_sent = sent = threading.Event()
        self._action = self.runner.run(ask, self._of_action(what, digest, sent))

    def _stop_action(self, text: str) -> None:
        """End the running action, if its result was not sent yet."""
        action = self._action
        if action is not None and not action.is_over and not self._action_sent.is_set():
            action.kill()
            self._send_action("stopped", text)

    def _of_action(self, what: str, digest: str, sent: threading.Event) -> Callable[[Event], None]:
        def listen(event: Event) -> None:
            found = event.pop("found", None)
            kind = event["event"]
            if kind == "verdict":
                self._keep(self._verdicts, digest, (event, found))
                self._emit(event)
                self.changed()
                found_text = f"{event['verdict']}: {event['rule']}"
                event = {"text": found_text}
            if kind in ("verdict", "result"):
                self.results[what] = found
                sent.set()
                self._send_action("done", event.pop("text"), what, **event, html=html_of(found))
            elif kind in ("failed", "stopped"):
                sent.set()
                self._send_action(kind, event.get("text", "stopped"), what)
            elif kind == "phase":
                self._send_action("running", event["text"], what)
            elif not sent.is_set():
                self._send_action("stopped", "stopped", what)

        return listen

    def _send_action(self, status: str, text: str, what: str = "", **more: Any) -> None:
        more.pop("event", None)
        name = what or self._action_name
        self._emit({"event": "action", "what": name, "status": status, "text": text, **more})

    def _study(self, message: Mapping[str, Any]) -> None:
        read = list(self._answers("read", state=message["state"], other=message.get("other")))
        if not read:
            return
        what = "estimate" if len(read) == 1 else "compare"
        options = message.get("options") or {}
        name = read[0]["name"]
        self.studies.start(read, commands.request(what, options, name=name, seed=self.seed))

    def _command(self, message: Mapping[str, Any]) -> None:
        options, locks = message.get("options") or {}, message.get("locks") or {}
        try:
            ask = commands.request(
                message["what"], options, name=str(message["name"]), seed=self.seed
            )
            store = self.studies.store
            text = commands.command(ask, locks, store=store.name if store else None)
        except InputError as error:
            # Shown in place of the command: the user is typing.
            text = str(error)
        self._emit({"event": "command", "key": message.get("key"), "text": text})

    def _cancel(self, message: Mapping[str, Any]) -> None:
        if message.get("study"):
            self.studies.cancel(str(message["study"]))
        elif self._action is not None:
            self._action.cancel()

    def _from_study(self, event: Event) -> None:
        self._emit(event)

    # -- files ------------------------------------------------------------------------

    def _save(self, message: Mapping[str, Any]) -> None:
        what, name = message["what"], message["name"]
        texts: dict[str, str] = {}
        if what == "problem":
            found = self._answer("files", state=message["state"])
            texts = {one or self._named(name, ".toml"): text for one, text in found.items()}
        elif what == "certificate":
            found = self.certificate
            if found is None:
                raise InputError("there is no certificate of this allocation yet: press Certify")
            texts[self._named(name, ".json")] = file_text(found.to_dict(), indent=1)
        else:
            texts[self._named(name, ".json")] = self._result_text(str(message.get("result")))
        paths = {self._inside(one): text for one, text in texts.items()}
        there = [path.name for path in paths if path.exists()]
        if there and not message.get("replace"):
            self._emit({"event": "exists", "what": what, "name": " and a ".join(there)})
            return
        files.check_outputs([], *paths)
        for path, text in paths.items():
            files.write_text(path, text)
        self._emit({"event": "saved", "what": what, "name": ", ".join(p.name for p in paths)})

    def _result_text(self, name: str) -> str:
        found = self.results.get(name) or self.studies.result(name)
        if found is None:
            raise InputError("there is no such result: it may be of an earlier server")
        return file_text({**found.to_dict(), "seed": self.seed}, indent=1)

    def _named(self, name: Any, end: str) -> str:
        """A file name without folder."""
        text = str(name).strip()
        if not text or text != Path(text).name or text.startswith(".") or not text.isprintable():
            raise InputError(
                f"`name` ({shown(name)}) must be the name of a file, without a folder: files are "
                f"written into {self.folder} only"
            )
        return text if text.endswith(end) else text + end

    def _inside(self, name: str) -> Path:
        """The file of that name in the folder; no other file is ever written."""
        path = self.folder / name
        if path.is_symlink() and not path.resolve().is_relative_to(self.folder.resolve()):
            raise InputError(f"{name} leads out of {self.folder}: name another file")
        return path

    _VERBS: ClassVar[dict[str, Callable[[Session, Mapping[str, Any]], None]]] = {
        "hello": _hello,
        "look": _look,
        "parse": _parse,
        "table": _table,
        "example": _example,
        "resize": _resize,
        "texts": _texts,
        "command": _command,
        "act": _act,
        "study": _study,
        "cancel": _cancel,
        "verdict": _verdict,
        "save": _save,
        "close": _close,
    }


def _shown(state: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a state that is sent to the front end."""
    return {key: state[key] for key in ("state", "shapes", "lines", "learns")}


def html_of(found: Any) -> str:
    """A result as HTML, as in a notebook."""
    return found._repr_html_() if isinstance(found, Result) else ""


def _error_text(error: OSError) -> str:
    name = Path(str(error.filename)).name if error.filename else "the file"
    if error.errno in files.NO_SPACE:
        return f"{name}: {error.strerror}; not written. What is on the page is kept in its address"
    return f"{name}: {error.strerror}"


def _nothing() -> None:
    """The default callback for changes, which does nothing."""
