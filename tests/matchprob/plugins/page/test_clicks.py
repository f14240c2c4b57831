"""The time from a click to the verdict on the screen, by the browser's clock."""

import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from matchprob import Problem, certify
from matchprob.plugins.page.state import first_problem

ROOT = Path(__file__).resolve().parents[4]
# Clicked in this order each allocation of two weights occurs once: a tab keeps its verdicts.
CLICKS = (0, 3, 0, 2, 3, 0, 2, 1, 0, 2, 2, 3)
# When the last click began, and when the verdict that followed it was drawn.
WATCH = """() => {
  const word = () => document.querySelector(".mp-verdict").dataset.verdict;
  window.shown_ = [];
  let began = 0;
  let last = word();
  document.addEventListener("pointerdown", () => {
    began = performance.now();
    window.shown_ = [];
  }, true);
  new MutationObserver(() => {
    const now = word();
    if (now === last) return;
    last = now;
    requestAnimationFrame(() => setTimeout(() => {
      window.shown_.push([now, performance.now() - began]);
    }));
  }).observe(document.querySelector(".mp"), { subtree: true, childList: true, attributes: true });
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """The address of a page that is served by a separate process, and the process."""
    server = subprocess.Popen(
        [sys.executable, "-m", "matchprob", "serve", "--no-open", "--json"],
        stdout=subprocess.PIPE,
        cwd=tmp_path_factory.mktemp("clicks"),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert server.stdout is not None
    text = ""
    while True:
        line = server.stdout.readline()
        assert line, "the server ended before it said its address"
        text += line
        with suppress(json.JSONDecodeError):
            yield json.loads(text)["address"], server.pid
            break
    server.terminate()
    server.communicate(timeout=20)


def processor_time(pid: int) -> float:
    """Processor time of a process in milliseconds."""
    return 1000 * time.clock_gettime((~pid << 3) | 2)


def workers(server: int) -> list[int]:
    """The processes that were forked for a server's jobs."""
    parents = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            parents[int(entry.name)] = int(
                (entry / "stat").read_text().rpartition(")")[2].split()[1]
            )
    fork_servers = [pid for pid, parent in parents.items() if parent == server]
    return [pid for pid, parent in parents.items() if parent in fork_servers]


@pytest.mark.long
@pytest.mark.parametrize("tabs", [1, 4])
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_from_click_to_verdict(
    address: tuple[str, int], open_page: Callable[..., Any], tabs: int, record_property: Any
) -> None:
    """The verdict after a click is that of `certify`; its time is reported."""
    url, server = address
    net = first_problem().network
    waits: dict[str, list[float]] = {"intermediate": [], "maximal": []}
    costs: dict[str, list[float]] = {"server": [], "jobs": [], "browser": []}
    for _ in range(tabs):
        page = open_page(url)
        page.wait_for_selector(".mp-verdict[data-verdict=minimal]")
        # Later results move the cells.
        page.wait_for_selector(".mp[data-settled=true]")
        page.evaluate(WATCH)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})

        def spent(session: Any = session) -> dict[str, float]:
            metrics = session.send("Performance.getMetrics")["metrics"]
            tasks = next(m["value"] for m in metrics if m["name"] == "TaskDuration")
            jobs = {}
            for pid in workers(server):
                # The process may end at any moment.
                with suppress(OSError):
                    jobs[pid] = processor_time(pid)
            return {"server": processor_time(server), "browser": 1000 * tasks, **jobs}

        mask = [[0, 0], [0, 0]]
        for k in CLICKS:
            mask[k // 2][k % 2] ^= 1
            expected = certify(Problem(net, {"W": mask})).verdict
            box = page.locator(f"[data-matrix=W] [data-k='{k}']").bounding_box()
            page.mouse.move(box["x"] + 8, box["y"] + 8)
            page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
            before = spent()
            page.mouse.down()
            page.mouse.up()
            page.wait_for_selector(f".mp-verdict[data-verdict={expected}]")
            # The structure is computed after the verdict, and its time counts.
            page.wait_for_selector(".mp[data-settled=true]")
            after = spent()
            if expected not in waits:
                continue
            page.wait_for_function("w => window.shown_.some(([word]) => word === w)", arg=expected)
            waited = next(at for word, at in page.evaluate("window.shown_") if word == expected)
            waits[expected].append(waited)
            for name in ("server", "browser"):
                costs[name].append(after[name] - before[name])
            pids = [pid for pid in before if isinstance(pid, int) and pid in after]
            costs["jobs"].append(sum(after[pid] - before[pid] for pid in pids))
    report = {
        **{f"click to {word}": round(statistics.median(found)) for word, found in waits.items()},
        "click to verdict": round(statistics.median(itertools.chain(*waits.values()))),
        **{f"{name}, processor": round(statistics.median(c)) for name, c in costs.items()},
        "clicks": sum(map(len, waits.values())),
    }
    record_property("milliseconds", report)
    print("milliseconds, medians:", report)
    assert report["clicks"] == 6 * tabs
