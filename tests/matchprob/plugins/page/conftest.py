"""Fixtures: a served page, and a browser (Debian's chromium, found by its path)."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from matchprob.plugins.page.job_runner import JobRunner
from matchprob.plugins.page.server import PageServer, running
from matchprob.plugins.page.state import first_problem

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """The path of the browser; without it the test is skipped, and fails under CI."""
    for name in CHROMIUM:
        if found := shutil.which(name):
            return found
    if os.environ.get("CI"):
        pytest.fail("there is no chromium: apt-get install -y chromium")
    pytest.skip("there is no chromium: apt-get install -y chromium")


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """The browser, which is started once."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Chromium would start a spare renderer and one for the blank page with each tab.
        flags = ["--no-sandbox", "--renderer-process-limit=1"]
        started = playwright.chromium.launch(executable_path=path, args=flags)
        yield started
        started.close()


@pytest.fixture(scope="package")
def runner() -> Iterator[JobRunner]:
    """Processes for jobs, made once: loading what they load takes a second."""
    with closing(JobRunner()) as found:
        yield found


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    """A page of the papers' example net, served once, with a store."""
    folder: Path = tmp_path_factory.mktemp("page")
    server = PageServer(first_problem(), folder=folder, store=folder / "page.sqlite")
    with running(server):
        yield server


@pytest.fixture
def open_page(browser: Any, served: PageServer) -> Iterator[Callable[..., Any]]:
    """A function that opens a tab; its requests and errors are checked at the end."""
    contexts, asked, errors = [], [], []

    ports = {served.port}

    def open_one(address: str = "", width: int = 1280, height: int = 900, **more: Any) -> Any:
        if address:
            ports.add(urlsplit(address).port or 0)
        context = browser.new_context(viewport={"width": width, "height": height}, **more)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_default_timeout(180_000)
        page.goto(address or served.address)
        return page

    yield open_one
    # A study that still runs would slow down the next test.
    for study in served.studies.snapshots():
        served.studies.cancel(study["study"])
    for context in contexts:
        context.close()
    own = tuple(f"http://127.0.0.1:{port}/" for port in ports)
    elsewhere = [url for url in asked if not url.startswith((*own, "data:"))]
    assert elsewhere == []
    assert errors == []
