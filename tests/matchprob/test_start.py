"""Which libraries are loaded when, and a user's modules with the names of this project's."""

import ast
import importlib.util
import json
import shutil
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


def test_a_command_line_loads_no_numbers():
    """The help of every command is made without NumPy and flint: modules of verbs load the modules
    that compute inside their functions."""
    text = "import sys, matchprob.cli as c; c.app(['certify', '--help'], standalone_mode=False); "
    done = run("-c", text + "print([m for m in ('numpy', 'flint') if m in sys.modules])")
    assert (done.stdout.splitlines()[-1], done.stderr) == ("[]", "")


@pytest.mark.parametrize("problem", ["row", "diagonal"])
def test_a_verdict_by_algebra_loads_no_kernels(problem):
    """With --json `certify` of a small net needs no SciPy, and none of the heavy ones."""
    heavy = {*HEAVY, "scipy"}
    text = (
        "import sys; from matchprob.cli import app; "
        f"app(['certify', 'examples/{problem}.toml', '--json'], standalone_mode=False); "
        f"print([m for m in {sorted(heavy)!r} if m in sys.modules])"
    )
    done = run("-c", text)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


# Modules of the project that no process needs whose file is a linear certificate: the searches, the
# networks of other families, the readers of problem files.
NOT_FOR_CHECKS = (
    "algebra.questions",
    "algebra.systems",
    "algebra.polynomials",
    "algebra.arguments.certify",
    "algebra.plugins.relu",
    "algebra.networks.activated",
    "algebra.plugins.models.network",
    "algebra.problems.files",
    "algebra.problems.tables",
    "algebra.problems.updates",
    "matchprob.cli",
    "matchprob.report",
)


# What the check of such a certificate does not load besides: anything of what the search has its
# numbers from, but primes, names of features and the bound of an error.
NOT_FOR_RANKS = (
    "numpy",
    "algebra.arguments",
    "algebra.certificates",
    "algebra.families.registry",
    "algebra.linalg.modular",
    "algebra.linalg.ranks",
    "algebra.linalg.residues",
    "algebra.networks",
    "algebra.problems.features",
    "algebra.problems.problem",
    "algebra.programs",
    "algebra.ranks.generic_rank",
    "algebra.ranks.jacobian",
    "algebra.results",
    "algebra.work",
)


# What a check of a witness and of a small root count does not need either.
NOT_FOR_SMALL_COUNTS = (
    "algebra.polynomials.msolve",
    "algebra.systems.root_count",
    "algebra.systems.degeneracy",
    "algebra.arguments.certify",
    "algebra.arguments.large_recount",
    "algebra.arguments.solved_instances",
    "algebra.questions",
    "numeric.tracking",
    "numeric.kernels",
)


# Lines that the caller of `verify` loads, whose child checks.
CALLER = 11_300


@pytest.mark.parametrize(
    ("example", "most", "unused"),
    [
        ("missed", 4_450, NOT_FOR_CHECKS),
        ("discrete", 4_550, NOT_FOR_CHECKS),
        ("diagonal", 17_750, NOT_FOR_SMALL_COUNTS),
    ],
)
@pytest.mark.parametrize("child", [False, True])
def test_a_check_loads_little(child, example, most, unused, tmp_path):
    """A bounded number of lines of the project, in the process of the check; neither SymPy, Typer,
    matplotlib, nor a search."""
    problem, proof = TOP / f"examples/{example}.toml", tmp_path / "cert.json"
    if problem.exists():
        proof.write_text(matchprob.certify(problem).to_json(), encoding="utf-8")
    else:
        proof = TOP / f"tests/data/certificates/{example}.json"
    call = f"print(mp.verify({str(proof)!r}).holds)"
    if child:
        call = "from matchprob.api.proofs.check import check_proof\n"
        call += f"print(check_proof(open({str(proof)!r}, encoding='utf-8').read()).holds)"
    text = (
        "import json, sys\nimport matchprob as mp\n"
        f"{call}\nprint(json.dumps({{n: getattr(m, '__file__', None) for n, m in "
        "sys.modules.items() if m is not None}))"
    )
    done = run("-c", text)
    holds, loaded = done.stdout.splitlines()
    modules = json.loads(loaded)
    own = {
        n: f for n, f in modules.items() if n.split(".")[0] in ("algebra", "numeric", "matchprob")
    }
    lines = sum(len(Path(f).read_text(encoding="utf-8").splitlines()) for f in own.values() if f)
    assert holds == "True"
    assert 1_000 < lines <= (most if child else CALLER)
    assert f"at most {most:,}" in (TOP / "docs/verification.md").read_text(encoding="utf-8")
    assert not {*HEAVY, "typer", "onnx"} & modules.keys()
    if child and unused is NOT_FOR_CHECKS:
        unused = (*unused, *NOT_FOR_RANKS)
    assert [n for n in modules if n.startswith(unused)] == []


def test_a_verdict_from_python_needs_no_pictures_and_no_command_line():
    """Without matplotlib, typer and rich a problem is certified, printed, verified and counted."""
    text = (
        "import sys; sys.modules.update(dict.fromkeys(('matplotlib', 'typer', 'rich')))\n"
        "import matchprob as mp\n"
        "net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)\n"
        "found = mp.certify(mp.Problem(net, {'W': [[1, 0], [0, 1]]}))\n"
        "assert str(found)\n"
        "print(found.verdict, mp.verify(found.to_dict()).holds)\n"
        "print(len(mp.count(mp.Problem(net, {'W': [[1, 1], [0, 0]]}), 2).instances))"
    )
    assert run("-c", text).stdout.split() == ["intermediate", "True", "2"]


def test_deprecated_names_work_and_say_what_to_use(monkeypatch):
    """An old name is the object of the new one, with a warning that names it and the release."""
    monkeypatch.setitem(matchprob.DEPRECATED, "prove", ("certify", "0.4.0"))
    with pytest.warns(DeprecationWarning, match=r"matchprob\.certify now, and goes in 0\.4\.0"):
        assert matchprob.prove is matchprob.certify


def test_each_deprecated_name_has_a_new_one():
    """Every old name that is listed has a public successor."""
    assert {new for new, _ in matchprob.DEPRECATED.values()} <= set(matchprob.__all__)


def test_every_public_name_is_what_the_stub_says():
    """Each name is the object of the module that the stub names, and is exported by it."""
    assert set(matchprob.__all__) <= set(dir(matchprob))
    stub = Path(matchprob.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    imports = [node for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom)]
    listed = [(node.module, alias) for node in imports for alias in node.names]
    names = [alias.name for _, alias in listed]
    assert len(set(names)) == len(names)
    assert {*matchprob.__all__, "Allocator"} == set(names)
    for home, alias in listed:
        # Without `as` a type checker takes a name in a stub as private.
        assert alias.asname == alias.name
        if alias.name != "Allocator" or importlib.util.find_spec("anywidget"):
            assert getattr(matchprob, alias.name) is getattr(
                importlib.import_module(str(home)), alias.name
            )
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


@pytest.mark.parametrize("name", ["numeric", "algebra"])
@pytest.mark.parametrize("text", [None, "from plum import Dispatcher\n", ""])
def test_a_package_that_was_overwritten_is_named(tmp_path, name, text):
    """One line says which project was installed over ours, or removed its file, and what to do."""
    for folder in ("algebra", "numeric", "matchprob"):
        (tmp_path / folder).mkdir()
        shutil.copy(TOP / folder / "__init__.py", tmp_path / folder)
    for file in ("__init__.pyi", "__main__.py", "interrupts.py"):
        shutil.copy(TOP / "matchprob" / file, tmp_path / "matchprob")
    over = tmp_path / name / "__init__.py"
    # The other project needs plum, which is not installed: it is read, and not run.
    over.unlink() if text is None else over.write_text(text)

    def alone(*words):
        # Nothing but this folder and the standard library is on the path.
        return subprocess.run(
            [sys.executable, "-S", *words],
            capture_output=True, text=True, cwd=tmp_path, env={}, check=False,
        )  # fmt: skip

    done = alone("-m", "matchprob", "--version")
    assert done.returncode == 2
    (line,) = done.stderr.strip().splitlines()
    assert f"another project of that name was installed over {tmp_path / name}" in line
    assert f"`python -m pip uninstall {name}`" in line
    done = alone("-c", "import matchprob")
    assert done.stderr.strip().splitlines()[-1].startswith("ImportError: matchprob needs its own")


def test_modules_of_the_command_line_are_no_garbage():
    """The collector does not visit what loading made, and works when the command runs."""
    text = (
        "import gc, sys; from matchprob import __main__, cli\n"
        "cli.main = lambda: print(gc.isenabled(), gc.get_freeze_count() > 10_000)\n"
        "__main__.main()"
    )
    assert run("-c", text).stdout.split() == ["True", "True"]


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
