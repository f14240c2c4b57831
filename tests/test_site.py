"""The site's own parts: generated pages are complete, and a bad link is found."""

import ast
import importlib.util
import re
import sys
from pathlib import Path

import pytest

import matchprob as mp
from matchprob.cli import app

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(ROOT.glob("examples/*.py"))


def loaded(path: Path):
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def made():
    """The generator of the pages; it needs Sphinx for its types only."""
    pytest.importorskip("sphinx")
    return loaded(ROOT / "docs" / "_ext" / "made_pages.py")


def test_every_verb_and_option_is_told(made):
    """The page of verbs has each command of the parser, each option and its help."""
    text = made.verbs()
    names = made.commands()
    assert len(names) >= len(app.registered_commands) + len(app.registered_groups)
    for name in names:
        assert re.search(rf"^## {name}$", text, re.MULTILINE)
    for option in ("`--half-width` *H*", "`--json`", "`--export` *FILE*", "`--seed` *INTEGER*"):
        assert option in text
    assert "{engines}" not in text
    assert "`--as-json`" not in text


def test_gallery_pages_begin_with_their_picture(made):
    """The first picture follows the title directly; a page without one is unchanged."""
    picture = ".. image-sg:: /gallery/images/a.png\n   :alt: a\n   :class: b\n"
    page = f".. note::\n\nA title\n=======\n\nText.\n\n{picture}\nMore.\n"
    found = made.begin_with_picture(page)
    assert found.index(picture) < found.index("Text.")
    assert found.index("A title") < found.index(picture)
    assert found.count(picture) == 2
    assert made.begin_with_picture("A title\n=======\n") == "A title\n=======\n"


def test_symbols_of_sentences_are_formulas():
    """Chains of symbols between operators, with indices; no articles, units, cells or initials."""
    pytest.importorskip("sphinx")
    made = loaded(ROOT / "docs" / "_ext" / "symbols.py")
    for text, formulas in {
        "MP = 0 if rank J_A < rank J, at most 2⁻⁶⁰": ["MP = 0", "rank J_A < rank J", "2⁻⁶⁰"],
        "A row has c_i ≤ min(Tb, m) of the n(d + b) cells": ["c_i ≤ min(Tb, m)", "n(d + b)"],
        "a·m + b·d − a·b, or Π_i C(Tb, c_i)": ["a·m + b·d − a·b", "Π_i", "C(Tb, c_i)"],
        "in 10 s of CPU, 3.5 times; W[PV,SST] of E and I": [],
        "J. Otto, A. Forbes, 2019": [],
        "10^7 lines of D.": ["10^7", "D"],
    }.items():
        parts = made._parts(text)
        assert [part.rawsource for part in parts if part.tagname == "math"] == formulas
        assert "".join(getattr(p, "rawsource", "") or str(p) for p in parts) in (text, "")


def test_every_public_name_has_a_page_in_a_group(made):
    """`dir(matchprob)` and the reference agree; every name in a group is public."""
    pages = made.api()
    assert {f"api/{name}.md" for name in mp.__all__} == set(pages) - {"api.md"}
    assert {name for names in made.GROUPS.values() for name in names} <= set(mp.__all__)


def test_every_verb_that_returns_a_result_has_its_fields_told(made):
    """The classes are found from the verbs' own annotations."""
    found = made.result_classes()
    assert {"inspect", "certify", "verify", "count", "estimate", "design"} <= set(found)
    text = made.results()
    for name, cls in found.items():
        assert f"[`mp.{name}`]" in text
        assert f"## {cls.__name__}" in text


def test_changes_since_the_last_release_are_told(made):
    """Fragments are under "Unreleased"."""
    text = made.changelog()
    for path in ROOT.glob("changes.d/*.md"):
        if path.name != "README.md":
            assert path.read_text(encoding="utf-8").strip().splitlines()[0] in text


def test_the_gallery_is_ordered_by_files_that_exist(made):
    """A renamed example is renamed there; new ones come last."""
    assert set(made.GALLERY) <= {path.name for path in EXAMPLES}
    assert sorted(made.GALLERY, key=made.gallery_order) == list(made.GALLERY)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_have_a_title_and_a_paragraph(path):
    """What the gallery shows of each: a title underlined, and what was found or asked."""
    title, line, *rest = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).split("\n")
    assert line == "=" * len(title)
    assert len(" ".join(rest).split()) > 20


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<a href="b.html">x</a>', None),
        ('<a href="b.html#here">x</a><a href="#own" id="own">y</a>', None),
        ('<a href="https://arxiv.org/abs/2502.06300">x</a>', None),
        ('<a href="c.html">x</a>', "c.html leads nowhere"),
        ('<a href="b.html#there">x</a>', "no such place"),
        ('<img src="a.png">', "a.png leads nowhere"),
        ('<script src="https://example.org/x.js"></script>', "fetches https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "fetches //example.org/x.css"),
    ],
)
def test_a_link_that_leads_nowhere_is_seen(body, words, tmp_path):
    """The check of the built site fails if and only if it must."""
    check = loaded(ROOT / "scripts" / "check_site.py")
    (tmp_path / "a.html").write_text(body)
    (tmp_path / "b.html").write_text('<p id="here">')
    told, _, _ = check.wrong(tmp_path)
    assert (told == []) if words is None else any(words in line for line in told)
