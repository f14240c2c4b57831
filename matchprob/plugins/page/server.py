"""The page's server: local, with a secret address, for one folder.

Its guarantees:

- it answers only programs on this machine (bound to 127.0.0.1) that know the
  token in the address (`Guard`);
- a page of another site cannot use the browser against it: ``Host`` and ``Origin`` must be this
  server's, messages must be JSON (which no form can send), no page may frame it, and the content
  security policy lets this page load nothing from other servers;
- requests are short: messages are not read here, and results of long computations are sent as
  server-sent events; both run in separate processes, which are killed when the server ends;
- an interrupt ends it at any time, during any computation;
- files are written into the folder only, and only when the user presses a button
  (`matchprob.plugins.page.session`).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from algebra.errors import InputError, Unfinished
from algebra.problems.problem import Problem
from matchprob.plugins.page import front
from matchprob.plugins.page.job_runner import Event, JobRunner
from matchprob.plugins.page.session import Session
from matchprob.plugins.page.studies import Studies

# Seconds after which a closed tab is removed, and between two keep-alive messages to a tab.
_LINGER = 60.0
_PULSE = 10.0
_MOST_TABS = 16
_MOST_BYTES = 8_000_000
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    b"content-security-policy": _POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"cache-control": b"no-store",
}
_WRONG = (
    "This is a page of matchprob, and its address is not known here: it was given out by another "
    "run of `matchprob serve`. Use the address that the running one has printed.\n"
)


class Guard:
    """Accepts requests with the right host, origin and token only; adds the headers.

    Parameters
    ----------
    app : ASGI application
    token : str
    port : callable
        The port that is served, known once it is bound.
    """

    def __init__(self, app: ASGIApp, token: str, port: Callable[[], int]) -> None:
        self.app, self.token, self.port = app, token, port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                have = {name.lower() for name, _ in message["headers"]}
                more = [item for item in _HEADERS.items() if item[0] not in have]
                message = {**message, "headers": [*message["headers"], *more]}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        await self.app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        """The response to a request that is not accepted; None if it is."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        port = self.port()
        hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        if len(headers.get("host", [])) != 1 or headers["host"][0] not in hosts:
            return PlainTextResponse("this host is not served\n", 421)
        # The path of `OPTIONS *` is no path.
        given = scope["path"].removeprefix("/").partition("/")[0]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return PlainTextResponse(_WRONG, 403)
        origins = headers.get("origin", [])
        if scope["method"] not in ("GET", "HEAD") and len(origins) != 1:
            return PlainTextResponse("a message must say its origin\n", 403)
        if any(origin != f"http://{headers['host'][0]}" for origin in origins):
            return PlainTextResponse("pages of other origins are not answered\n", 403)
        return None


class Tab:
    """One tab of the browser: its session and its queued events."""

    def __init__(self, make: Callable[[Callable[[Event], None]], Session]) -> None:
        self.loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[Event] = asyncio.Queue()
        self.readers = 0
        self.seen = time.monotonic()
        self.session = make(self.emit)

    def emit(self, event: Event) -> None:
        """Queue an event for the tab; from any thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self.loop.call_soon_threadsafe(self.queue.put_nowait, event)


class PageServer:
    """The page of one problem, served until it is stopped.

    Parameters
    ----------
    problem : Problem
        The problem shown in a new tab.
    name : str, optional
        Name of its file.
    folder : Path, optional
        The only folder to which files are written; the current one by default.
    store : Path, optional
        Where studies keep their trials.
    port : int, optional
        A free one by default.
    seed : int, optional

    Raises
    ------
    InputError
        If the port is taken.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        name: str = "",
        folder: Path | None = None,
        store: Path | None = None,
        port: int = 0,
        seed: int = 0,
    ) -> None:
        self.problem, self.name, self.seed = problem, name, seed
        self.folder = (folder or Path()).resolve()
        self.token = secrets.token_urlsafe(18)
        self.runner = JobRunner()
        self.studies = Studies(self.runner, store)
        self._tabs: dict[str, Tab] = {}
        try:
            self._socket = socket.create_server(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).partition(" (while")[0]
            raise InputError(
                f"`port` ({port}) cannot be served: {reason}; 0 takes a free one"
            ) from None
        routes = [
            Route("/{token}/", self._page),
            Route("/{token}/allocator.js", self._script),
            Route("/{token}/host.js", self._host),
            Route("/{token}/allocator.css", self._styles),
            Route("/{token}/events", self._events),
            Route("/{token}/message", self._message, methods=["POST"]),
        ]
        app = Starlette(routes=routes, lifespan=self._lifespan)
        self.app = Guard(app, self.token, lambda: self.port)
        config = uvicorn.Config(
            self.app, log_level="critical", lifespan="on", timeout_graceful_shutdown=1,
            server_header=False, ws="none",
        )  # fmt: skip
        self._server = uvicorn.Server(config)

    @property
    def port(self) -> int:
        """The port that is served."""
        return int(self._socket.getsockname()[1])

    @property
    def address(self) -> str:
        """The address of the page, which contains the token."""
        return f"http://127.0.0.1:{self.port}/{self.token}/"

    def run(self) -> None:
        """Serve until an interrupt or `stop`."""
        # The first result loads libraries: this is done before it is requested.
        threading.Thread(target=self._warm, daemon=True).start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self.close()

    def _warm(self) -> None:
        with contextlib.suppress(InputError, Unfinished):
            self.runner.start()

    def stop(self) -> None:
        """End `run`, from another thread."""
        self._server.should_exit = True

    def close(self) -> None:
        """End all jobs; studies with a store keep their trials."""
        self.studies.close()
        for tab in self._tabs.values():
            tab.session.close()
        self._tabs.clear()
        self.runner.close()
        self._socket.close()

    # -- requests -----------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        sweeper = asyncio.create_task(self._sweep())
        yield
        sweeper.cancel()

    async def _sweep(self) -> None:
        """Remove tabs that were closed."""
        while True:
            await asyncio.sleep(_PULSE)
            for name, tab in list(self._tabs.items()):
                if not tab.readers and time.monotonic() - tab.seen > _LINGER:
                    del self._tabs[name]
                    await run_in_threadpool(tab.session.close)

    async def _page(self, request: Request) -> Response:
        return _file("page.html", "text/html")

    async def _script(self, request: Request) -> Response:
        return Response(front.module(), media_type="text/javascript")

    async def _host(self, request: Request) -> Response:
        return _file(front.HOST, "text/javascript")

    async def _styles(self, request: Request) -> Response:
        return Response(front.styles(), media_type="text/css")

    async def _events(self, request: Request) -> Response:
        name = request.query_params.get("tab", "")
        try:
            tab = self._tab(name)
        except InputError as error:
            return PlainTextResponse(f"{error}\n", 400)

        async def stream() -> AsyncIterator[bytes]:
            tab.readers += 1
            try:
                yield b": matchprob\n\n"
                while not self._server.should_exit:
                    try:
                        event = await asyncio.wait_for(tab.queue.get(), 1.0)
                    except TimeoutError:
                        if time.monotonic() - tab.seen > _PULSE:
                            tab.seen = time.monotonic()
                            yield b": still there\n\n"
                        continue
                    yield f"data: {json.dumps(event)}\n\n".encode()
                yield b'data: {"event": "closed"}\n\n'
            finally:
                tab.readers -= 1
                tab.seen = time.monotonic()

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def _message(self, request: Request) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        if kind != "application/json":
            return PlainTextResponse("a message must be JSON\n", 415)
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > _MOST_BYTES:
                return PlainTextResponse("the message is too long\n", 413)
        try:
            message = json.loads(bytes(body))
            tab = self._tab(request.query_params.get("tab", ""))
        except (ValueError, RecursionError) as error:
            return PlainTextResponse(f"{error}\n", 400)
        # In a thread: neither other tabs, nor this one's events, nor the end of the server wait.
        await anyio.to_thread.run_sync(tab.session.receive, message, abandon_on_cancel=True)
        if isinstance(message, dict) and message.get("verb") == "close":
            self._tabs.pop(request.query_params["tab"], None)
        return JSONResponse({})

    def _tab(self, name: str) -> Tab:
        """The tab with the name that it has chosen."""
        if not (name.isalnum() and name.isascii() and 8 <= len(name) <= 64):
            raise InputError("`tab` must be 8 to 64 letters and digits")
        if name not in self._tabs:
            for old, gone in list(self._tabs.items()):
                if len(self._tabs) >= _MOST_TABS and not gone.readers:
                    del self._tabs[old]
                    gone.session.close()
            if len(self._tabs) >= _MOST_TABS:
                raise InputError(f"{_MOST_TABS} tabs are open already: close one")
            self._tabs[name] = Tab(self._session)
        tab = self._tabs[name]
        tab.seen = time.monotonic()
        return tab

    def _session(self, emit: Callable[[Event], None]) -> Session:
        return Session(
            self.problem, self.runner, self.studies, emit,
            folder=self.folder, name=self.name, seed=self.seed,
        )  # fmt: skip


def _file(name: str, kind: str) -> Response:
    return Response((front.STATIC / name).read_text(encoding="utf-8"), media_type=kind)


@contextlib.contextmanager
def running(server: PageServer) -> Any:
    """Serve in a thread, for tests and notebooks; gives the server."""
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + 30
    while not server._server.started and thread.is_alive() and time.monotonic() < end:
        time.sleep(0.01)
    try:
        yield server
    finally:
        server.stop()
        thread.join(10)
