"""The package's metadata: its version, its licence, its groups of dependencies."""

import re
import tomllib
from pathlib import Path

import pytest

import matchprob
from algebra.checker import verdicts
from algebra.families.activations import decision as activation_decision
from algebra.plugins.circuits import proof as recording_proof
from algebra.plugins.models import dimension
from algebra.plugins.models.onnx import written
from algebra.plugins.relu import decision
from algebra.questions.design import proof as design_proof

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def requirements() -> list[str]:
    """Every requirement of the package, its extras and its groups."""
    project, groups = PYPROJECT["project"], PYPROJECT["dependency-groups"]
    lists = [project["dependencies"], *project["optional-dependencies"].values(), *groups.values()]
    return [r for listed in lists for r in listed if isinstance(r, str)]


def test_one_version():
    """The version is in `matchprob.__version__`, and in the citation of the package."""
    assert PYPROJECT["tool"]["setuptools"]["dynamic"]["version"] == {
        "attr": "matchprob.__version__"
    }
    cited = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited
    assert cited[1] == matchprob.__version__


def test_the_licence_is_an_spdx_expression():
    """The table form stops building in 2027; its classifier must go with it."""
    assert PYPROJECT["project"]["license"] == "MIT"
    assert not any(c.startswith("License") for c in PYPROJECT["project"]["classifiers"])
    (builder,) = PYPROJECT["build-system"]["requires"]
    assert int(builder.partition(">=")[2]) >= 77


@pytest.mark.parametrize("requirement", sorted(set(requirements())))
def test_every_requirement_has_a_lowest_version(requirement):
    """A lower bound, which `make test-lowest` installs; an upper one has its reason above it."""
    assert re.fullmatch(r"[\w-]+>=[\d.]+(,<[\d.]+)?", requirement)
    if "<" in requirement:
        lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
        (at,) = (i for i, line in enumerate(lines) if f'"{requirement}"' in line)
        assert lines[at - 1].lstrip().startswith("# ")


def test_a_requirement_has_the_same_bounds_wherever_it_stands():
    """An extra and a group that name the same library agree."""
    assert len({r.partition(">=")[0] for r in requirements()}) == len(set(requirements()))


def test_every_exception_is_explained():
    """Deviations from the common guide for packages have a sentence with the reason."""
    for reason in PYPROJECT["tool"]["repo-review"]["ignore"].values():
        assert len(reason) > 7


@pytest.mark.skipif(not (ROOT / ".github").exists(), reason="a source distribution has no checkout")
def test_hooks_and_continuous_integration_run_the_same_tools():
    """pre-commit and the workflow call only the commands of `make lint` and .ci/run."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    lint = (ROOT / "Makefile").read_text()
    for tool in ("ruff check", "ruff format --check", "mypy", "lint-imports"):
        assert f".venv/bin/{tool}" in hooks
        assert f"$(BIN)/{tool}" in lint
    assert "run: .ci/run" in (ROOT / ".github/workflows/ci.yml").read_text()


def test_formats_of_proof_files_are_listed():
    """The page on stability has the name and the version of each format that the code writes."""
    text = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| .* \| `(matchprob[- ][\w ]+)` \| (\d+) \|$", text, re.MULTILINE))
    decisions = (decision, activation_decision)
    modules = (verdicts, written, dimension, design_proof, recording_proof, *decisions)
    assert listed == {m.FORMAT: str(m.VERSION) for m in modules} | {"matchprob-atlas": "1"}
