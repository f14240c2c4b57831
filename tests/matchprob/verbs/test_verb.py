"""A verb from another package: the example of docs/extending.md works as the built-in verbs do."""

import importlib.util
import json
import os
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import Annotated

import pytest

from algebra.errors import InputError
from matchprob.verbs.docstrings import described_parameters
from matchprob.verbs.verb import VERBS, Callback, LineOption, verb
from tests.matchprob.calls import DIAGONAL, ROW, call, completed
from tests.refusals import refuses
from tests.test_extending import block
from tests.test_site import loaded

ROOT = Path(__file__).parents[3]


@pytest.fixture
def share(file):
    """The verb of the example, loaded from a file and unregistered after the test."""
    path = file(block("class Shares"), "share_of_weights.py")
    spec = importlib.util.spec_from_file_location("share_of_weights", path)
    module = sys.modules["share_of_weights"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module.share
    finally:
        VERBS.pop("share", None)
        del sys.modules["share_of_weights"]


@pytest.fixture
def row(file):
    return file(ROW, "row.toml")


def test_a_verb_prints_text_and_json(share, row, answer, printed):
    """The command prints the result's text; with --json one object with the seed."""
    assert "learning in each row: 100%, 0%" in printed("share", row)
    data = answer("share", row, "--line", "column", "--seed", 3)
    assert (data["line"], data["shares"], data["seed"]) == ("column", [0.5, 0.5], 3)


def test_help_of_a_verb_is_made_from_its_docstring(share, printed):
    """The help has first sentences, types and defaults, those of shared parameters included."""
    text = " ".join(printed("share", "--help").split())
    for words in (
        "Say which share of each neuron's weights learns.",
        "Problem file (TOML). [required]",
        "The matrix that is looked at. [default: W]",
        "What a neuron is. [default: row]",
        "Seed of all random numbers. [default: 0; x>=0]",
    ):
        assert words in text
    assert "share" in printed("--help")


def test_a_verb_is_completed(share):
    """A shell offers the verb, its options, and the values that its type allows."""
    assert completed("sha") == ["share"]
    assert completed("share", "P.toml", "--l") == ["--line"]
    assert completed("share", "P.toml", "--line", "c") == ["column"]


def test_a_verb_is_a_function_with_a_result(share, row):
    """In Python it returns an object that notebooks show; shared parameters are described."""
    found = share(row, line="column")
    assert found.shares == (0.5, 0.5)
    assert "50%, 50%" in found._repr_html_()
    entries = described_parameters(share.__doc__)
    assert list(entries) == [("question",), ("matrix",), ("line",), ("seed",)]
    assert entries["seed",] == "seed : int, optional\n    Seed of all random numbers."
    assert signature(share).parameters["seed"].annotation == "int"


def test_a_verb_has_a_page_of_the_reference(share):
    """The page of verbs has its usage, its options and their defaults."""
    pytest.importorskip("sphinx")
    text = loaded(ROOT / "docs" / "_ext" / "made_pages.py").verbs()
    page = text.partition("## share\n")[2].partition("\n## ")[0]
    assert "matchprob share PROBLEM [OPTIONS]" in page
    assert "| `--line` *row\\|column* | What a neuron is. | `row` |" in page


def test_an_installed_package_adds_a_verb(row, tmp_path):
    """The command finds a verb by the entry point of an installed package."""
    package = tmp_path / "site"
    (package / "share-1.0.dist-info").mkdir(parents=True)
    (package / "share_of_weights.py").write_text(block("class Shares"), encoding="utf-8")
    info = package / "share-1.0.dist-info"
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: share\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[matchprob.verbs]\nshare = share_of_weights\n")
    paths = {**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-m", "matchprob", "share", str(row), "--json"],
        env=paths, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["shares"] == [1.0, 0.0]


def test_messages_name_the_option(share, capsys, file):
    """The command line replaces the argument's name in a message by the option's."""
    path = file(DIAGONAL, "diagonal.toml")
    assert call("record", path, "--what", "nonsense") == 2
    assert "matchprob: --what ('nonsense') must be one of" in capsys.readouterr().err


def test_a_parameter_of_an_unknown_type_is_refused():
    """A parameter that is neither text nor number must declare how it is read."""

    def strange(question: dict) -> None:
        """Do nothing."""

    refuses("declare how it is read", verb, strange, error=TypeError)
    assert "strange" not in VERBS


def test_names_of_verbs_are_unique():
    """A second verb with the name of a registered one is refused."""

    def certify() -> None:
        """Certify nothing."""

    refuses("there is a verb 'certify' already", verb, certify, error=ValueError)


def test_annotations_of_parameters(capsys):
    """They declare repeated options, parts of a mapping, own readers, flags and callbacks."""
    seen = {}

    def toy(
        size: Annotated[float, LineOption(word=str, read=lambda text, _: len(text))] = 1.0,
        caps: Annotated[dict | None, LineOption(word=int, parts={"row": "In a row."})] = None,
        names: list[str] = (),
        exact: bool = True,
        advance: Annotated[object, Callback()] = None,
    ) -> None:
        """Do nothing."""
        seen.update(size=size, caps=caps, names=names, exact=exact, advance=advance)
        raise InputError("`exact` is wrong")

    verb(toy)
    try:
        line = (
            "toy",
            "--size",
            "four",
            "--row-cap",
            2,
            "--names",
            "a",
            "--names",
            "b",
            "--no-exact",
        )
        assert call(*line) == 2
        assert seen == {
            "size": 4, "caps": {"row": 2}, "names": ["a", "b"], "exact": False, "advance": True
        }  # fmt: skip
        assert "matchprob: --no-exact is wrong" in capsys.readouterr().err
        assert call("toy") == 2
        assert seen == {
            "size": 1.0, "caps": None, "names": (), "exact": True, "advance": True
        }  # fmt: skip
    finally:
        VERBS.pop("toy", None)
