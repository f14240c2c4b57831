"""The page in a real browser, from a user's point of view."""

import itertools
import json
import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError, expect

from matchprob.plugins.page import session
from matchprob.plugins.page.server import PageServer, running
from matchprob.plugins.page.state import first_problem

# The machine may be busy with other programs.
expect.set_options(timeout=180_000)
TOML = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
TYPED = """
[network]
kind = "rnn"
n = 3
T = 3
b = 1
d = 1
m = 2
activation = "tanh"
biases = true
[names]
neurons = ["PV", "SST", "Pyr"]
[types]
neurons = ["E", "I", "E"]
[support]
W = [[0, 1, 1], [1, 0, 1], [1, 0, 0]]
[learnable]
W = { gain = "cells" }
c = "all"
"""
# Screenshots are written here, to be inspected.
ARTEFACTS = Path(os.environ.get("MATCHPROB_ARTEFACTS", "out/page"))


def cell(page, matrix, k):
    """A weight, by its number row by row."""
    return page.locator(f"[data-matrix={matrix}] [data-k='{k}']")


def shows(page, verdict, side=".mp-verdict"):
    """Wait for a verdict; the error contains what the page shows instead."""
    try:
        page.wait_for_selector(f"{side}[data-verdict={verdict}]")
    except TimeoutError as late:
        text = page.locator(".mp").inner_text()
        data = page.evaluate("({...document.querySelector('.mp').dataset})")
        raise AssertionError(f"no {verdict} at {page.url}, {data}:\n{text}") from late


def state_in_address(page):
    """The state in the address, from the page itself: `page.url` follows it with a delay."""
    return page.evaluate("location.hash.slice(1)")


def learning(page, matrix="W"):
    """The weights that the page shows as learning."""
    cells = page.locator(f"[data-matrix={matrix}] [data-k][aria-selected=true]")
    return [int(k) for k in cells.evaluate_all("all => all.map(e => e.dataset.k)")]


def learns(page, cells, matrix="W"):
    """Wait until exactly these weights learn: a stroke is painted with the next frame."""
    try:
        page.wait_for_function(
            """([matrix, wanted]) => {
              const all = document.querySelectorAll(
                `[data-matrix=${matrix}] [data-k][aria-selected=true]`);
              return JSON.stringify([...all].map((e) => Number(e.dataset.k))) === wanted;
            }""",
            arg=[matrix, json.dumps(cells, separators=(",", ":"))],
            timeout=60_000,
        )
    except TimeoutError:
        assert learning(page, matrix) == cells


def trials(page):
    """Trials done, as the page shows them."""
    shown = page.locator("[data-trials]")
    return int(shown.get_attribute("data-trials")) if shown.count() else 0


def more_trials(page, than=0):
    """Wait for more trials than there were."""
    page.wait_for_function(
        "than => Number(document.querySelector('[data-trials]')?.dataset.trials ?? 0) > than",
        arg=than,
    )
    return trials(page)


def settled(page):
    """Wait until all results are shown: a later one would move the elements below it."""
    page.wait_for_selector(".mp[data-settled=true]")


def drawn(page):
    """Wait for the frame that shows what was painted."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def start_estimate(page, count):
    """Start an estimate of `count` trials, and wait until the page shows it.

    An earlier test may have left a stopped study of the same problem, which is shown until then:
    so each test asks for another number of trials.
    """
    page.click("[data-action=estimate]")
    page.fill("[data-option=trials]", str(count))
    page.click(".mp-go")
    expect(page.locator("[data-trials]")).to_contain_text(f"of {count} trials")


def load(page, text):
    """Put another problem file into the editor, and wait until the page shows it or its error."""
    if not page.locator(".mp-file[open]").count():
        page.click(".mp-file summary")
        expect(page.locator(".mp-editor")).not_to_have_value("")
    settled(page)
    before = page.locator(".mp").get_attribute("data-asked")
    page.fill(".mp-editor", text)
    page.click("[data-do=apply]")
    page.wait_for_function(
        """(before) => document.querySelector(".mp").dataset.asked !== before
          || document.querySelector("#mp-toml-error").textContent""",
        arg=before,
    )


def test_painting_shows_the_verdict(open_page):
    """The diagonal is intermediate and is pinned as A; a column is maximal; Swap exchanges them."""
    page = open_page()
    cell(page, "W", 0).click()
    shows(page, "minimal")
    expect(page.locator(".mp-why")).to_contain_text("At least 1 more weight must learn")
    for painted, verdict in ((3, "intermediate"), (0, "minimal"), (2, "maximal")):
        cell(page, "W", painted).click()
        shows(page, verdict)
        if verdict == "intermediate":
            page.click("[data-do=pin]")
            shows(page, "intermediate", "[data-side=A] .mp-chip")
    assert "MP = 1" in page.locator(".mp-card-chance").inner_text()
    shows(page, "maximal", "[data-side=B] .mp-chip")
    page.click("[data-do=swap]")
    shows(page, "intermediate")
    learns(page, [0, 3])


def test_exceeded_budgets_and_wrong_theorems_are_marked(open_page):
    """The rank is shown, and a theorem that is wrong for this allocation is marked."""
    page = open_page()
    text = '[network]\nkind = "lrnn"\nn = 6\nT = 2\nb = 3\nd = 3\nm = 5\n'
    load(page, text + f"[learnable]\nB = {[[1, 1, 1]] * 5 + [[0, 0, 0]]}\n")
    shows(page, "minimal")
    expect(page.locator(".mp-facts")).to_contain_text("14 of 15")
    wrong = page.locator(".mp-theorems li:has(.mp-wrong)")
    expect(wrong).to_have_count(1)
    expect(wrong).to_contain_text("3.2")


def test_blocks_and_cells_highlight_each_other(open_page):
    """Pointing at a weight highlights its block, and pointing at a block its weights."""
    page = open_page()
    cell(page, "W", 0).click()
    cell(page, "W", 1).click()
    page.wait_for_selector(".mp-block")
    cell(page, "W", 0).hover()
    page.wait_for_selector(".mp-block-lit")
    page.locator(".mp-block-lit").first.hover()
    page.wait_for_selector("[data-matrix=W] .mp-lit")


def test_keys_paint(open_page):
    """Arrows move, space paints, l locks, r fills a row, c a column, Ctrl+Z undoes."""
    page = open_page()
    cell(page, "W", 0).focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("l")
    learns(page, [0, 3])
    assert "locked: must learn" in cell(page, "W", 3).get_attribute("aria-label")
    shows(page, "intermediate")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    learns(page, [])
    page.keyboard.press("Control+Shift+z")
    page.keyboard.press("r")
    learns(page, [0, 2, 3])
    page.keyboard.press("c")
    learns(page, [0, 1, 2, 3])


def test_a_drag_paints_and_a_design_obeys_locks(open_page):
    """A stroke paints every weight on its way; a design obeys the locks."""
    page = open_page()
    load(page, TOML.replace("n = 2", "n = 4"))
    page.wait_for_selector("[data-matrix=W] [data-k='15']")
    settled(page)
    cell(page, "W", 0).hover()
    page.mouse.down()
    # The results for the first weight may move the cells.
    learns(page, [0])
    settled(page)
    box = cell(page, "W", 3).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.up()
    # The pointer jumped over two of them.
    learns(page, [0, 1, 2, 3])
    page.click("[data-do=clear]")
    cell(page, "W", 6).click(button="right")
    for k in (0, 5, 10, 15):
        cell(page, "W", k).click(button="right")
        cell(page, "W", k).click(button="right")
    learns(page, [6])
    page.click("[data-action=design]")
    page.click(".mp-go")
    page.wait_for_selector(".mp-told-done")
    found = learning(page)
    assert 6 in found
    assert not {0, 5, 10, 15} & set(found)
    assert "--must W=must_W.csv" in page.locator(".mp-command").inner_text()
    page.click("[data-do=undo]")
    learns(page, [6])


def test_an_estimate_streams_and_is_cancelled(open_page):
    """Results are shown while trials finish; after an early cancel the slider is still shown."""
    page = open_page()
    cell(page, "W", 0).click()
    cell(page, "W", 3).click()
    shows(page, "intermediate")
    start_estimate(page, 400_000)
    more_trials(page, more_trials(page))
    page.click(".mp-cancel")
    page.wait_for_selector(".mp-told-stopped")
    expect(page.locator("[data-trials]")).to_contain_text("(stopped)")
    expect(page.locator(".mp-card .mp-result")).to_contain_text("real solutions")
    # On a slow machine the job may be killed before a size is known: then the reason is shown.
    expect(page.locator(".mp-bound input, .mp-unbounded")).to_have_count(1)


def test_the_focus_stays_while_a_study_streams(open_page):
    """The document's frame is redrawn, not replaced; Cancel passes its focus to Estimate."""
    page = open_page()
    for k in (0, 3):
        cell(page, "W", k).click()
    shows(page, "intermediate")
    start_estimate(page, 500_000)
    done = more_trials(page)
    page.focus(".mp-card .mp-result")
    page.evaluate("window.frame_ = document.activeElement")
    shown = page.locator(".mp-card .mp-result").inner_text()
    more_trials(page, more_trials(page, done))
    page.wait_for_function("text => frame_.innerText !== text", arg=shown)
    assert page.evaluate("frame_.isConnected && document.activeElement === frame_")
    page.focus(".mp-actions .mp-cancel")
    page.keyboard.press("Enter")
    page.wait_for_selector(".mp-told-stopped")
    assert page.evaluate("document.activeElement.className") == "mp-go"


def test_a_reload_restores_allocation_and_study(open_page, served):
    """The address contains the allocation; a running study is found again."""
    page = open_page()
    cell(page, "W", 1).click()
    cell(page, "W", 2).click()
    shows(page, "intermediate")
    page.click("[data-do=pin]")
    start_estimate(page, 300_000)
    more_trials(page)
    page.reload()
    shows(page, "intermediate")
    learns(page, [1, 2])
    assert page.locator("[data-side=A]").count() == 1
    page.click("[data-action=estimate]")
    page.wait_for_selector(".mp-cancel")
    more_trials(page, trials(page))
    page.click(".mp-cancel")
    page.wait_for_selector(".mp-told-stopped")
    assert (served.folder / "page.sqlite").exists()


def test_two_tabs_share_studies_but_not_allocations(open_page):
    """Each tab has its own allocation; a study of the same allocation is shown in both."""
    one, two = open_page(), open_page()
    cell(one, "W", 0).click()
    cell(two, "W", 0).click()
    cell(two, "W", 1).click()
    shows(one, "minimal")
    shows(two, "maximal")
    cell(one, "W", 1).click()
    shows(one, "maximal")
    learns(two, [0, 1])
    for page in (one, two):
        page.click("[data-action=estimate]")
    start_estimate(one, 50)
    two.wait_for_selector("text=50 of 50 trials")


def test_errors_are_shown_next_to_the_wrong_input(open_page):
    """A file's error is below the editor, with its line; a size's below the sizes."""
    page = open_page()
    cell(page, "W", 0).click()
    load(page, TOML + "[learnable]\nW = [[1, 0],\n     [0, 2]]\n")
    expect(page.locator("#mp-toml-error")).not_to_be_empty()
    words = page.locator("#mp-toml-error").inner_text()
    assert words.startswith("Line 8: ")
    assert "[1][1]` is 2" in words
    load(page, "[network\n")
    expect(page.locator("#mp-toml-error")).to_contain_text("Line 1:")
    page.fill("[data-size=n]", "0")
    page.keyboard.press("Tab")
    page.wait_for_selector("[data-size=n][aria-invalid=true]")
    assert "`n` (0)" in page.locator("#mp-size-error").inner_text()
    page.fill("[data-size=n]", "5000")
    page.keyboard.press("Tab")
    expect(page.locator("#mp-size-error")).to_contain_text("5000, and the page draws")
    learns(page, [0])
    page.goto(page.url.split("#")[0] + "#nonsense")
    page.wait_for_selector(".mp-said-warn")


def test_saving_stays_in_the_folder(open_page, served):
    """A file is written in the page's folder; another is replaced only on request."""
    page = open_page()
    cell(page, "W", 0).click()
    cell(page, "W", 1).click()
    shows(page, "maximal")
    page.fill(".mp-filename", "row.toml")
    page.click("[data-do=save]")
    page.wait_for_selector("text=Saved as row.toml")
    assert "[1, 1]" in (served.folder / "row.toml").read_text()
    cell(page, "W", 1).click()
    page.click("[data-do=save]")
    page.click("[data-do=replace]")
    page.wait_for_selector("text=Saved as row.toml")
    assert "[1, 0]" in (served.folder / "row.toml").read_text()
    page.fill(".mp-filename", "../out.toml")
    page.click("[data-do=save]")
    expect(page.locator(".mp-banner")).to_contain_text("without a folder")
    page.fill(".mp-filename", "row.toml")
    assert not (served.folder.parent / "out.toml").exists()
    cell(page, "W", 1).click()
    shows(page, "maximal")
    page.click(".mp-go")
    page.wait_for_selector(".mp-told-done")
    page.click("text=Save the certificate")
    page.wait_for_selector("text=Saved as row.certificate.json")
    found = json.loads((served.folder / "row.certificate.json").read_text())
    assert found["verdict"] == "maximal"


def test_the_problem_is_copied_in_three_forms(open_page):
    """The problem is copied as TOML, as Python or as a command."""
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    cell(page, "W", 0).click()
    for form, words in (
        ("toml", "[learnable]"),
        ("python", "mp.LinearRNN("),
        ("command", "matchprob certify"),
    ):
        page.click(f"[data-copy={form}]")
        page.wait_for_selector(f"text=Copied as {'TOML' if form == 'toml' else form}")
        assert words in page.evaluate("navigator.clipboard.readText()")
        page.click(".mp-close")


def test_a_stroke_over_a_large_matrix(open_page, record_property):
    """A stroke over a 64 × 64 matrix paints every weight; frame times are reported."""
    page = open_page(height=1100)
    load(page, TOML.replace("n = 2", "n = 64").replace("d = 1", "d = 4").replace("m = 2", "m = 8"))
    page.wait_for_selector("[data-matrix=W] [data-k='4095']")
    settled(page)
    session = page.context.new_cdp_session(page)
    # Processor time does not depend on other programs.
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent():
        metrics = session.send("Performance.getMetrics")["metrics"]
        return {metric["name"]: metric["value"] for metric in metrics}

    page.evaluate(
        """() => {
          window.frames_ = [];
          const tick = (now) => { frames_.push(now); requestAnimationFrame(tick); };
          requestAnimationFrame(tick);
        }"""
    )
    before = spent()
    first, last = (cell(page, "W", k).bounding_box() for k in (0, 63))
    page.mouse.move(first["x"] + 3, first["y"] + 3)
    page.mouse.down()
    page.mouse.move(last["x"] + 3, last["y"] + 3, steps=64)
    page.mouse.up()
    after = spent()
    moments = page.evaluate("frames_")
    gaps = sorted(b - a for a, b in itertools.pairwise(moments))
    layouts = after["LayoutCount"] - before["LayoutCount"]
    report = {
        "frames": len(gaps),
        "median": round(gaps[len(gaps) // 2], 1),
        "95 %": round(gaps[int(0.95 * len(gaps))], 1),
        "processor time a drawn frame": round(
            1000 * (after["TaskDuration"] - before["TaskDuration"]) / max(1, layouts), 1
        ),
    }
    record_property("milliseconds a frame", report)
    print("milliseconds a frame:", report)
    learns(page, list(range(64)))
    page.wait_for_selector("text=row 0 of W has 64 learnable weights")


def test_a_canvas_is_painted(open_page):
    """A matrix above 64 × 64 is a canvas; strokes and keys paint it."""
    page = open_page()
    load(page, TOML.replace("n = 2", "n = 70"))
    canvas = page.locator("[data-matrix=W] canvas")
    canvas.wait_for()
    settled(page)
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 80, box["y"] + 40, steps=3)
    page.mouse.up()
    drawn(page)
    canvas.focus()
    before = int(page.locator("[data-matrix=W] .mp-count").inner_text().split()[0])
    assert before >= 5
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator("[data-matrix=W] .mp-count")).to_have_text(f"{before + 1} learn")


def test_a_canvas_covers_its_visible_part(open_page):
    """After zoom and scroll a click paints the weight under it, and the canvas stays small."""
    page = open_page()
    load(page, TOML.replace("n = 2", "n = 70"))
    canvas = page.locator("[data-matrix=W] canvas")
    canvas.wait_for()
    settled(page)
    for _ in range(6):
        page.click("button[title='larger cells']")
    drawn(page)
    scroll = page.locator("[data-matrix=W] .mp-scroll")
    whole = scroll.evaluate("e => { e.scrollLeft = 700; e.scrollTop = 400; return e.scrollWidth }")
    drawn(page)
    box = scroll.bounding_box()
    assert canvas.bounding_box()["width"] < whole / 2
    # Two px of padding on each side, and margins of 14 px.
    size = (whole - 4 - 28) / 70
    row, column = int((400 + 60) / size), int((700 + 120) / size)
    x, y = (2 + 14 + (k + 0.5) * size for k in (column, row))
    page.mouse.click(box["x"] + x - 700, box["y"] + y - 400)
    expect(page.locator(".mp-hint")).to_contain_text(f"row {row}, column {column}")
    expect(page.locator("[data-matrix=W] .mp-count")).to_have_text("1 learns")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(open_page, scheme):
    """axe finds no serious violation of accessibility."""
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(color_scheme=scheme)
    cell(page, "W", 0).click()
    cell(page, "W", 3).click()
    shows(page, "intermediate")
    page.click("[data-do=pin]")
    page.click("[data-action=design]")
    page.click(".mp-file summary")
    found = Axe().run(page).response["violations"]
    serious = [
        (v["id"], [node["html"][:120] for node in v["nodes"][:3]])
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (800, "dark"),
        pytest.param(1280, "dark", marks=pytest.mark.long),
        pytest.param(800, "light", marks=pytest.mark.long),
    ],
)
def test_nothing_extends_beyond_the_window(open_page, width, scheme):
    """The page is as wide as its window; screenshots are kept."""
    page = open_page(width=width, color_scheme=scheme)
    for k in (0, 3):
        cell(page, "W", k).click()
    shows(page, "intermediate")
    page.wait_for_selector(".mp-block")
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(ARTEFACTS / f"page-{width}-{scheme}.png"), full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_end_of_the_server_is_reported(open_page, tmp_path):
    """If the server ends, the page reports it; the address contains the allocation."""
    server = PageServer(first_problem(), folder=tmp_path)
    with running(server):
        page = open_page(server.address)
        cell(page, "W", 2).click()
        shows(page, "minimal")
    page.wait_for_selector(".mp-said-error")
    assert "kept in the address" in page.locator(".mp-banner").inner_text()
    cell(page, "W", 1).click()
    learns(page, [1, 2])
    state = state_in_address(page)
    again = open_page()
    again.goto(again.url.split("#")[0] + "#" + state)
    again.reload()
    shows(again, "intermediate")
    learns(again, [1, 2])


def test_an_address_is_edited_while_the_page_writes_its_own(open_page):
    """An edited address takes precedence over the allocation painted at that moment."""
    page = open_page()
    cell(page, "W", 1).click()
    shows(page, "minimal")
    wanted = state_in_address(page)
    cell(page, "W", 2).click()
    shows(page, "intermediate")
    page.evaluate(
        "hash => { location.hash = hash; document.querySelector('[data-do=clear]').click(); }",
        wanted,
    )
    page.wait_for_selector("[data-matrix=W] [data-k='1'][aria-selected=true]")
    shows(page, "minimal")
    learns(page, [1])
    assert state_in_address(page) == wanted


def test_clicks_before_the_first_answer_do_nothing(open_page):
    """A click before the server's first answer does nothing, and the same click works after it."""
    page = open_page()
    settled(page)
    held = []
    page.route("**/message*", lambda route: held.append(route))
    page.reload()
    summary = page.locator(".mp-file summary")
    place = summary.bounding_box()
    page.mouse.click(place["x"] + 5, place["y"] + 5)
    assert not page.locator(".mp-file[open]").count()
    page.unroute("**/message*")
    settled(page)
    summary.click()
    expect(page.locator(".mp-editor")).not_to_have_value("")


def test_a_wrong_token_is_refused(open_page, served):
    """With another token the server sends a message and no page."""
    page = open_page(f"http://127.0.0.1:{served.port}/{'x' * 24}/")
    assert "its address is not known here" in page.content()
    assert page.locator("#allocator").count() == 0


def test_each_size_has_an_input_of_its_form(open_page):
    """Biases have a checkbox, an activation a menu, a polynomial's coefficients a text field."""
    page = open_page()
    text = TOML.replace("lrnn", "rnn") + 'activation = "tanh"\n[learnable]\nW = [[1, 0], [0, 1]]\n'
    load(page, text)
    biases = page.locator("[data-size=biases]")
    expect(biases).to_have_attribute("type", "checkbox")
    expect(biases).not_to_be_checked()
    assert page.locator("[data-matrix=c]").count() == 0
    biases.check()
    cell(page, "c", 1).wait_for()
    chosen = page.locator("select[data-size=activation]")
    chosen.select_option("polynomial")
    numbers = page.locator("input[data-size=activation]")
    expect(numbers).to_have_value("0, 0, 1")
    numbers.fill("0, 1/3, 1")
    before = state_in_address(page)
    page.keyboard.press("Tab")
    page.wait_for_function("before => location.hash.slice(1) !== before", arg=before)
    page.click("text=Read again")
    expect(page.locator(".mp-editor")).to_have_value(re.compile(r'"1/3"'))
    expect(biases).to_be_checked()
    learns(page, [0, 3])
    numbers.fill("5")
    page.keyboard.press("Tab")
    expect(page.locator("#mp-size-error")).to_contain_text("two or more coefficients")
    expect(numbers).to_have_attribute("aria-invalid", "true")
    chosen.select_option("tanh")
    expect(numbers).to_have_count(0)
    expect(page.locator("#mp-size-error")).to_be_empty()
    biases.uncheck()
    expect(page.locator("[data-matrix=c]")).to_have_count(0)


def test_a_design_by_lines(open_page):
    """A goal by rows or columns has a menu for them; the command contains caps and lines."""
    page = open_page()
    page.click("[data-action=design]")
    assert page.locator("[data-option=line]").count() == 0
    page.select_option("[data-option=goal]", "neurons")
    page.select_option("[data-option=line]", "column")
    page.fill("[data-option=column_cap]", "2")
    command = page.locator(".mp-command")
    expect(command).to_contain_text("--goal neurons")
    expect(command).to_contain_text("--by column")
    expect(command).to_contain_text("--column-cap 2")
    page.click(".mp-go")
    page.wait_for_selector(".mp-told-done")
    assert page.locator("[data-k][aria-selected=true]").count() >= 2


def test_neurons_have_names(open_page):
    """Pointing at a weight shows the names of its neurons; sizes are explained."""
    page = open_page()
    load(page, TOML + '[names]\nneurons = ["AVAL", "AVAR"]\n[learnable]\nW = [[1, 0], [0, 1]]\n')
    settled(page)
    cell(page, "W", 1).hover()
    expect(page.locator(".mp-hint")).to_contain_text("W, row 0 (AVAL), column 1 (AVAR): fixed")
    expect(page.locator(".mp-glossary")).to_contain_text("T time steps")
    assert page.locator(".mp-size:has([data-size=m])").get_attribute("title") == "samples"


def test_parameters_of_types_are_listed_by_table(open_page):
    """Of a circuit with types Identify and Record list parameters by table, and units by name."""
    page = open_page()
    load(page, TYPED)
    settled(page)
    expect(page.locator("[data-matrix=W] .mp-head-row").nth(1)).to_have_text("SST")
    expect(page.locator("[data-matrix=W] .mp-count")).to_contain_text("3 gains")
    cell(page, "W", 1).hover()
    expect(page.locator(".mp-hint")).to_contain_text("learns by g_W[I→E]")
    before = learning(page)
    cell(page, "W", 1).click()
    assert learning(page) == before == [1, 2, 3, 5, 6]
    page.click("[data-action=identify]")
    page.click(".mp-go")
    page.wait_for_selector(".mp-told-done")
    heads = page.locator(".mp-list h3")
    expect(heads).to_have_text(["g_W: 3 of 3 free", "t_c: 2 of 2 free"])
    expect(page.locator(".mp-names").first).to_contain_text("g_W[I→E]")
    page.click("[data-action=record]")
    page.click(".mp-go")
    page.wait_for_selector(".mp-told-done .mp-list")
    chosen = page.locator(".mp-names").first.locator("li")
    names = [text.removeprefix("unit ") for text in chosen.all_inner_texts()]
    assert set(names) < {"PV", "SST", "Pyr"}
    lit = page.locator("[data-matrix=W] .mp-head-row.mp-recorded")
    assert lit.all_inner_texts() == names
    expect(heads).to_contain_text(["record ", "g_W: 0 of 3 free", "t_c: 0 of 2 free"])
    page.click("[data-action=design]")
    page.click(".mp-go")
    expect(page.locator(".mp-told-failed")).to_contain_text("use the command `design`")
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(ARTEFACTS / "types.png"), full_page=True)


def test_a_large_net_keeps_its_actions_in_the_window(open_page):
    """At n = 60 the button is in the window; two buttons change the size of the cells."""
    page = open_page(height=800)
    load(page, TOML.replace("n = 2", "n = 60").replace("d = 1", "d = 6").replace("m = 2", "m = 8"))
    page.wait_for_selector("[data-matrix=W] [data-k='3599']")
    settled(page)
    page.evaluate("scrollTo(0, 0)")
    box = page.locator(".mp-go").bounding_box()
    assert box["y"] + box["height"] <= 800
    width = cell(page, "W", 0).bounding_box()["width"]
    page.click("[aria-label='larger cells']")
    drawn(page)
    assert cell(page, "W", 0).bounding_box()["width"] > width
    page.click("[aria-label='cells as large as fit into the window']")
    drawn(page)
    assert cell(page, "W", 0).bounding_box()["width"] == width


def test_a_network_with_an_activation(open_page):
    """Ranks, what one weight more does, verdict and reason of an rnn and an ffn."""
    page = open_page()
    text = TOML.replace("lrnn", "rnn").replace("n = 2", "n = 3").replace("m = 2", "m = 3")
    load(page, text + 'activation = "tanh"\n[learnable]\nW = [[1, 0, 0], [0, 1, 0], [0, 0, 0]]\n')
    shows(page, "minimal")
    expect(page.locator(".mp-facts")).to_contain_text("2 of 3")
    expect(page.locator("[data-matrix=W] .mp-raises").first).to_be_visible()
    expect(page.locator(".mp-card-theorems")).to_contain_text("do not apply")
    cell(page, "W", 8).click()
    expect(page.locator(".mp-facts")).to_contain_text("3 of 3")
    expect(page.locator(".mp-verdict")).not_to_have_attribute("data-verdict", "pending")
    square = (
        'kind = "ffn"\nq = 2\nwidths = [3]\nd = 1\nm = 2\nactivation = {polynomial = [0, 0, 1]}\n'
    )
    load(page, f"[network]\n{square}[learnable]\nW2 = [[1, 1, 0]]\n")
    shows(page, "maximal")
    expect(page.locator(".mp-why")).to_contain_text("affine in W2")


def test_the_actions_cover_no_matrix(open_page):
    """After a repair every weight can be reached, and nothing else lies over it; the legend is in
    view.
    """
    page = open_page(width=1280, height=800)
    load(
        page,
        TOML.replace("n = 2", "n = 8")
        + f"[learnable]\nW = {[[1] * 2 + [0] * 6] + [[0] * 8] * 7}\n",
    )
    settled(page)
    page.click("[data-action=repair]")
    page.click(".mp-go")
    page.wait_for_selector(".mp-told-done")
    [allocation, legend, actions] = (
        page.locator(name).bounding_box()
        for name in (".mp-allocation", ".mp-legend", ".mp-actions")
    )
    assert allocation["y"] + allocation["height"] <= legend["y"] + 1
    assert legend["y"] + legend["height"] <= actions["y"] + 1
    assert actions["y"] + actions["height"] <= 800
    last = page.locator("[data-matrix=B] [data-k]").last
    last.scroll_into_view_if_needed()
    assert last.evaluate(
        """(cell) => {
          const { x, y, width, height } = cell.getBoundingClientRect();
          return document.elementFromPoint(x + width / 2, y + height / 2) === cell;
        }"""
    )


def test_a_design_shows_what_is_forced(open_page):
    """The legend names the marks on the weights of a design; the next change removes them."""
    page = open_page()
    page.click("[data-action=design]")
    page.click(".mp-go")
    page.wait_for_selector("[data-k].mp-exchangeable")
    assert "not in all as cheap" in page.inner_text(".mp-legend")
    assert page.locator("[data-k].mp-exchangeable[aria-selected=true]").count() == 2
    assert "not in all as cheap" in page.locator("[data-k].mp-exchangeable").first.get_attribute(
        "title"
    )
    cell(page, "W", 1).click()
    expect(page.locator(".mp-legend")).not_to_contain_text("not in all as cheap")


def test_a_command_shows_what_runs(open_page):
    """The panel of a study that another button started has that study's trials."""
    page = open_page()
    # A problem that no other test has estimated.
    laws = '[distribution]\ninputs = "uniform"\n'
    load(page, f"{TOML}{laws}[learnable]\nW = [[1, 0], [0, 1]]\n")
    settled(page)
    offered = page.locator(".mp-card-chance button")
    number = re.sub(r"\D", "", offered.inner_text())
    offered.click()
    expect(page.locator(".mp-command")).to_contain_text(f"--trials {number} ")
    assert page.locator("[data-option=trials]").input_value() == number


def test_a_table_is_dropped(open_page, tmp_path):
    """A list of synapses says which weights learn, or which exist; a wrong one is refused."""
    page = open_page()
    load(page, TOML + '[names]\nneurons = ["A", "B"]\n[learnable]\nW = "all"\n')
    settled(page)
    (tmp_path / "synapses.csv").write_text("pre,post\nA,B\nB,B\n")
    chosen = page.locator("input[type=file]")
    chosen.set_input_files(tmp_path / "synapses.csv")
    page.click("[data-table=support]")
    learns(page, [2, 3])
    page.locator("[data-matrix=W] [data-k='0'].mp-absent").wait_for()
    data = "d => { const t = new DataTransfer(); t.items.add(new File([d], 'x.csv')); return t }"
    dropped = page.evaluate_handle(data, "pre,post\nA,B\n")
    page.dispatch_event(".mp", "drop", {"dataTransfer": dropped})
    page.click("[data-table=learnable]")
    learns(page, [2])
    (tmp_path / "synapses.csv").write_text("pre,post\nA,C\n")
    chosen.set_input_files(tmp_path / "synapses.csv")
    page.click("[data-table=learnable]")
    expect(page.locator(".mp-banner")).to_contain_text("none of the [names]")


def test_an_example_is_recorded(open_page):
    """The circuit among the examples: its names are on the axes, and Record chooses its units."""
    page = open_page()
    page.select_option("[data-examples]", "a circuit of ten neurons")
    # The page was settled before, too: what it shows of the example is waited for.
    heads = page.locator("[data-matrix=W] .mp-head-row.mp-named")
    expect(heads).to_have_text(["S1", "S2", "S3", "I1", "I2", "I3", "I4", "M1", "M2", "M3"])
    settled(page)
    page.click("[data-action=record]")
    expect(page.locator(".mp-command")).to_contain_text("record example.toml --what units")
    page.click(".mp-go")
    expect(page.locator(".mp-told-done")).to_contain_text(re.compile("record \\d of 10"))


def test_a_limit_is_no_verdict(open_page, monkeypatch):
    """What a time limit left open says so, and a button goes on."""
    monkeypatch.setattr(session, "QUICK", {"timeout": 0.5, "search": 0.1})
    page = open_page()
    # All rows and columns of the first eight units: N is in the thousands.
    text = '[network]\nkind = "lrnn"\nn = 12\nT = 6\nb = 1\nd = 4\nm = 6\n[learnable]\nW = '
    rows = [[int((i + j) % 4 == 0 and i < 8) for j in range(12)] for i in range(12)]
    load(page, f"{text}{rows}\n")
    expect(page.locator(".mp-verdict")).to_contain_text("stopped after 0.5 s")
    page.click("[data-do=continue]")
    expect(page.locator(".mp-command")).to_contain_text("certify P.toml --timeout 120")
    expect(page.locator(".mp-cancel")).to_be_visible()
    page.click(".mp-cancel")


def test_a_phone_shows_verdict_and_matrices_first(open_page):
    """On a narrow screen the verdict is above the matrices, the sizes of the network below."""
    page = open_page(width=390, height=844)
    settled(page)
    tops = [page.locator(f".mp-{one}").bounding_box()["y"] for one in ("verdict", "centre", "side")]
    assert tops == sorted(tops)
    assert tops[1] < 500


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_brightness_orders_what_weights_may_do(open_page, scheme):
    """No weight, fixed, would raise the rank, learns: further and further from the background."""
    page = open_page(color_scheme=scheme)
    names = ["--mp-paper", "--mp-absent", "--mp-cell", "--mp-raises", "--mp-on"]
    inks = page.evaluate(
        "names => names.map(n => getComputedStyle(document.querySelector('.mp'))"
        ".getPropertyValue(n).trim())",
        names,
    )
    lights = [luminance(ink) for ink in inks]
    away = [abs(light - lights[0]) for light in lights]
    assert away == sorted(away), dict(zip(names, inks, strict=True))


def luminance(ink):
    """Relative luminance of a colour "#rrggbb" (WCAG 2.2)."""
    parts = [int(ink[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
