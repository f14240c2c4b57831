"""The bibliography that ``matchprob --cite`` prints."""

import re
from pathlib import Path

import matchprob
from matchprob.io.citation import bibliography

CITATION = Path(__file__).resolve().parents[3] / "CITATION.cff"


def test_it_says_what_the_citation_file_says():
    """Titles, family names, years and numbers of preprints are those of CITATION.cff."""
    text = bibliography()
    cited = CITATION.read_text(encoding="utf-8")
    for key in ("title", "family-names", "given-names", "year", "url"):
        for value in re.findall(rf'^\s*-?\s*{key}: "?(.*?)"?$', cited, flags=re.MULTILINE):
            assert value in text, value
    assert cited.count("type: article") == text.count("@misc")
    assert matchprob.__version__ in text


def test_braces_are_balanced_and_keys_are_distinct():
    """BibTeX reads three entries with different keys."""
    text = bibliography()
    assert text.count("{") == text.count("}")
    keys = re.findall(r"^@(?:software|misc)\{([a-z0-9]+),$", text, flags=re.MULTILINE)
    assert len(set(keys)) == len(keys) == 3
