"""Make the pictures of the page in `docs/figures`: ``python scripts/page_pictures.py``.

It serves the papers' example net, pins the diagonal as A, paints the off-diagonal as B, estimates
both in 5,000 trials, and photographs the page in Chromium with light and with dark colours.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from matchprob.plugins.page.server import PageServer, running
from matchprob.plugins.page.state import first_problem

FIGURES = Path(__file__).parents[1] / "docs" / "figures"
DIAGONAL, OFF_DIAGONAL = (0, 3), (1, 2)
TRIALS = 5000


def paint(page: Page, cells: tuple[int, ...]) -> None:
    """Let these weights of W learn, wait for the verdict, and estimate."""
    for k in cells:
        page.click(f"[data-matrix=W] [data-k='{k}']")
    page.wait_for_selector(".mp-verdict[data-verdict=intermediate]")
    page.wait_for_selector(".mp[data-settled=true]")
    page.click("[data-action=estimate]")
    page.fill("[data-option=trials]", str(TRIALS))
    page.click(".mp-go")
    page.wait_for_selector(f"text={TRIALS} of {TRIALS} trials")
    page.wait_for_selector(".mp-go")


def main() -> None:
    """Make both pictures."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        sys.exit("there is no chromium: apt-get install -y chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            server = PageServer(first_problem(), folder=Path(folder))
            with running(server):
                page = browser.new_page(
                    viewport={"width": 1280, "height": 940}, color_scheme=scheme
                )
                page.set_default_timeout(180_000)
                page.goto(server.address)
                paint(page, DIAGONAL)
                page.click("[data-do=pin]")
                page.click("[data-do=clear]")
                paint(page, OFF_DIAGONAL)
                page.mouse.move(0, 0)
                page.screenshot(path=str(FIGURES / f"page-{scheme}.png"))
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
