"""Pages are correct: links lead to files, and the named examples and modules exist."""

import re
from os.path import normpath
from pathlib import Path

import pytest

from scripts.readme_commands import listed, missing, ready, transcripts

ROOT = Path(__file__).parents[1]
# Pages that the site makes, and those it makes of the examples.
MADE = ("docs/made/", "docs/gallery/")
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("changes.d/*.md")]
    if not page.relative_to(ROOT).as_posix().startswith(MADE)
)


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    """Every relative link and picture of a page is a file."""
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if target.startswith(("http://", "https://")):
            continue
        found = (page.parent / target).resolve()
        # Pages of the site that are made when it is built; `make docs` checks those links.
        if not found.is_relative_to(ROOT) or not found.relative_to(ROOT).as_posix().startswith(
            MADE
        ):
            assert found.exists(), target


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_files_that_are_named_exist(page):
    """Paths of the tree in a page's text are files or folders of the tree."""
    text = page.read_text(encoding="utf-8")
    paths = re.findall(
        r"`((?:algebra|numeric|matchprob|tests|examples|benchmarks|scripts|docs)/[\w./-]+)`", text
    )
    for path in paths:
        if "NAME" not in path and "<" not in path:
            assert (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_pages_of_the_site_are_reached(page):
    """Every page under docs/ is in the table of contents of another, once."""
    if page.is_relative_to(ROOT / "docs") and page != ROOT / "docs" / "index.md":
        entries: list[str] = []
        for other in PAGES:
            for block in re.findall(r"```\{toctree\}(.*?)```", other.read_text("utf-8"), re.DOTALL):
                lines = (line.strip() for line in block.splitlines())
                entries += [normpath(f"{other.parent / line}.md") for line in lines if line]
        assert entries.count(str(page)) == 1


def test_the_readme_is_one_page():
    """Its purpose, two commands, an example, links to other pages."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


def test_transcripts_are_compared_with_what_is_printed():
    """Parts between lines `...` have to be printed in their order; folds and times may differ."""
    page = "```console\n$ count\nfound 3\n  in 0.5 s\n...\nN = 2\n$ wait\n```\n"
    (command, parts), other = transcripts(page)
    assert (command, parts, other) == ("count", ["found 3 in … s", "N = 2"], ("wait", []))
    assert not missing(parts, "found 3 in\n12.25 s\nmore\n  N =\n  2\n")
    assert missing(parts, "found 4 in 0.5 s\nN = 2") == parts[0]
    assert missing(parts, "N = 2\nfound 3 in 0.5 s") == parts[1]


def test_commands_on_files_run_for_each_page():
    """Another page may have written the file; commands of one file wait for each other."""
    page = "```console\n$ help\nhelped\n$ make x.json\n$ verify x.json\nholds\n```\n"
    shown = listed([page, page.replace("holds", "fails")])
    commands = [command for command, _ in shown]
    assert commands == ["help", "make x.json", "verify x.json", "make x.json", "verify x.json"]
    assert shown[0][1] == [["helped"], ["helped"]]
    assert [parts for _, parts in shown[1:]] == [[[]], [["holds"]], [[]], [["fails"]]]
    assert ready(commands[2:], ["make x.json"]) is None
    assert ready(["make x.json", "help"], ["verify x.json"]) == 1


def test_numbered_theorems_have_anchors_and_are_listed():
    """Numbers begin at 1; each has one anchor, at its statement, and is in the list."""
    listed_at = ROOT / "docs" / "mathematics.md"
    rows = re.findall(
        r"^\| \[(\d+)\]\(#theorem-(\d+)\) \| (.+?) \|", listed_at.read_text(), re.MULTILINE
    )
    stated = {}
    for page in (ROOT / "docs").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        found = re.findall(
            r"^\(theorem-(\d+)\)=\n(?:> )?\*\*Theorem (\d+)\*\* \((.+?)\)\.", text, re.MULTILINE
        )
        assert len(found) == len(re.findall(r"\*\*Theorem", text)) == text.count("(theorem-")
        stated |= {int(anchor): (number, name) for anchor, number, name in found}
    assert [(int(a), (b, name)) for a, b, name in rows] == sorted(stated.items())
    assert sorted(stated) == [*range(1, len(stated) + 1)]
