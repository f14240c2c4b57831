"""The page in a real browser: what somebody who paints an allocation sees."""

from __future__ import annotations


def cell(page, matrix, k):
    """A weight, by its number row by row."""
    return page.locator(f"[data-matrix={matrix}] [data-k='{k}']")


def shows(page, verdict):
    """Wait until the verdict is there."""
    page.wait_for_selector(f".mp-verdict[data-verdict={verdict}]")


def test_painting_shows_the_verdict(open_page):
    """The diagonal is intermediate, a row maximal, one weight minimal."""
    page = open_page()
    cell(page, "W", 0).click()
    shows(page, "minimal")
    cell(page, "W", 3).click()
    shows(page, "intermediate")
    assert "2 of 2" in page.locator(".mp-facts").inner_text()
    cell(page, "W", 3).click()
    cell(page, "W", 1).click()
    shows(page, "maximal")
    assert "MP = 1" in page.locator(".mp-card-chance").inner_text()
