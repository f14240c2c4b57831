"""Which libraries are loaded when, and a user's modules with the names of this project's."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import matchprob

TOP = Path(__file__).parents[2]
HEAVY = ("matplotlib", "numba", "scipy.optimize", "rich", "sqlite3", "sympy", "networkx")


def run(*arguments: str, cwd: Path = TOP, path: str = "") -> subprocess.CompletedProcess[str]:
    """Run another Python that finds this project (after `path`)."""
    places = ":".join(p for p in (path, str(TOP)) if p)
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PYTHONPATH": places, "PATH": "/usr/bin:/bin", "HOME": str(cwd)},
        check=False,
    )


@pytest.mark.parametrize(
    "code",
    [
        "import matchprob",
        "import matchprob.cli",
        "from matchprob import Problem, LinearRNN, InputError, certify",
        "import matchprob as mp; mp.certify; dir(mp)",
    ],
)
def test_heavy_libraries_are_not_loaded(code):
    """Importing the package and the names that a verdict needs loads none of `HEAVY`."""
    text = f"import sys; {code}; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = run("-c", text)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


@pytest.mark.parametrize("problem", ["row", "diagonal"])
def test_a_verdict_by_algebra_loads_no_kernels(problem):
    """With --json `certify` of a small net needs no SciPy, and of the heavy ones networkx alone,
    which orders the equations."""
    heavy = {*HEAVY, "scipy"} - {"networkx"}
    text = (
        "import sys; from matchprob.cli import app; "
        f"app(['certify', 'examples/{problem}.toml', '--json'], standalone_mode=False); "
        f"print([m for m in {sorted(heavy)!r} if m in sys.modules])"
    )
    done = run("-c", text)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_every_public_name_exists_and_is_listed_once():
    """`dir` is complete; names for type checkers and names at run time are equal."""
    assert set(matchprob.__all__) <= set(dir(matchprob))
    for name in matchprob.__all__:
        assert getattr(matchprob, name) is not None
    tree = ast.parse(Path(matchprob.__file__).with_name("public.py").read_text(encoding="utf-8"))
    typed = {
        (node.module, alias.name)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {(home, name) for name, home in matchprob._HOME.items()}
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        matchprob.magic  # noqa: B018


@pytest.mark.parametrize("name", ["numeric", "algebra"])
@pytest.mark.parametrize("package", [False, True])
def test_a_module_that_hides_a_package_is_named(tmp_path, name, package, file):
    """A message of one line names a user's numeric.py or another distribution's package."""
    if package:
        (tmp_path / name).mkdir()
        other = tmp_path / name / "__init__.py"
    else:
        other = tmp_path / f"{name}.py"
    other.write_text("VALUE = 1\n")
    script = file("import matchprob\n", "script.py")
    done = run(str(script), cwd=tmp_path)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: matchprob needs its own package")
    assert f"`{name}`" in last
    assert str(other) in last
    done = run("-m", "matchprob", "--version", cwd=tmp_path, path=str(tmp_path))
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("matchprob: matchprob needs its own package")
    assert str(other) in line


def test_version_and_help_of_engines():
    """The version is one line; the help of --engine lists the registered engines."""
    assert run("-m", "matchprob", "--version").stdout == f"matchprob {matchprob.__version__}\n"
    done = run("-m", "matchprob", "count", "--help")
    text = " ".join(done.stdout.split())
    assert "{engines}" not in text
    for words in (
        "homotopy (linear and polynomial, complete, the default for linear)",
        "fsolve (linear, lower bounds)",
    ):
        assert words in text
