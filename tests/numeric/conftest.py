"""Fixtures for the tests of the phcpy engine: the real phcpy, and substitutes."""

import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from algebra.errors import InputError
from numeric.engines.phcpy.install import find_phcpy
from numeric.engines.phcpy.process import PhcpyInstallation, PhcpyProcess

# A phcpy whose solver follows the exponent of x0 in the first polynomial.
_SOLVER = """
    import os
    import sys
    import time

    from phcpy import behaviour

    def root(value, m=1):
        return (
            "t :  1.00000000000000E+00   0.00000000000000E+00\\nm : %d\\n"
            "the solution for t :\\n x0 :  %.14E   0.00000000000000E+00\\n"
            "== err :  1.0E-16 = rco :  1.0E+00 = res :  1.0E-16 =" % (m, value)
        )

    def act(pols, quiet):
        first = pols[0]
        os.write(1, b'{"id": 1, "solutions": "chatter from compiled code"}\\n')
        print("chatter from Python")
        if "x0^7" in first:
            sys.stderr.write("raised STORAGE_ERROR : stack overflow\\n")
            sys.stderr.flush()
            os._exit(3)
        if "x0^8" in first:
            open(os.path.join(os.path.dirname(behaviour.__file__), "asleep"), "w").close()
            time.sleep(600)
        if "x0^9" in first:
            raise ValueError("no such thing")
        if "x0^11" in first:
            return None
        if "x0^12" in first:
            return ["nonsense"]
        if "x0^13" in first:
            assert sys.stdin.readline() == ""
        if quiet:
            return []
        return [root(behaviour.seed if "x0^14" in first else 1.0)]
"""

_OLD = {
    "__init__": 'print("PHCv2.4.86 works!")\n__version__ = "1.1.2"\n',
    "behaviour": "seed = 0\n",
    "phcpy2c3": """
        from phcpy import behaviour

        def py2c_set_seed(seed):
            behaviour.seed = seed

        def py2c_PHCpack_version_string():
            return "PHCv2.4.86 released 2022-05-30"
    """,
    "solver": _SOLVER
    + """
    def solve(pols, verbose=True, tasks=0, precision="d", checkin=True):
        return act(pols, not verbose)

    def newton_step(system, solutions, precision="d", decimals=100):
        return list(solutions)
    """,
    "trackers": """
        def standard_double_track(target, start, sols, gamma=0, pwt=2, tasks=0):
            return list(sols)
    """,
}
_NEW = {
    "__init__": 'print("PHCv2.4.90 works!")\n__version__ = "1.1.5"\n',
    "behaviour": "seed = 0\n",
    "dimension": """
        from phcpy import behaviour

        def set_seed(seed, vrblvl=0):
            behaviour.seed = seed
    """,
    "version": """
        def version_string(vrblvl=0):
            return "PHCv2.4.90 released 2023-11-17"
    """,
    "solver": _SOLVER
    + """
    def solve(pols, tasks=0, mvfocus=0, precision="d", checkin=True,
              dictionary_output=False, vrblvl=0):
        return act(pols, False)
    """,
    "deflation": """
        def double_newton_step(pols, sols, vrblvl=0):
            return list(sols)

        double_double_newton_step = double_newton_step
    """,
    "trackers": """
        def double_track(target, start, startsols, gamma=0, pwt=2, tasks=0, vrblvl=0):
            return (gamma, list(startsols))
    """,
}
FakePhcpy = Callable[[str], str]


@pytest.fixture
def fake_phcpy(tmp_path: Path) -> FakePhcpy:
    """A function from "old" or "new" to an interpreter with a substitute of that version."""

    def make(generation: str) -> str:
        package = tmp_path / generation / "phcpy"
        package.mkdir(parents=True)
        for name, source in (_OLD if generation == "old" else _NEW).items():
            (package / f"{name}.py").write_text(textwrap.dedent(source))
        return script(tmp_path, f'PYTHONPATH="{package.parent}" exec "{sys.executable}" "$@"')

    return make


def script(folder: Path, text: str) -> str:
    """An executable shell script with the given text."""
    path = folder / f"python{len(list(folder.iterdir()))}"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def fake_python(tmp_path: Path) -> Callable[[str], PhcpyInstallation]:
    """A function from shell commands to a substitute for an installation, which runs them."""
    return lambda text: PhcpyInstallation(script(tmp_path, text))


@pytest.fixture(scope="session")
def installation() -> PhcpyInstallation:
    """The real phcpy; without it the test is skipped, and fails under CI."""
    try:
        return find_phcpy()
    except InputError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def phcpy(installation: PhcpyInstallation) -> Iterator[PhcpyProcess]:
    """A worker with the real phcpy."""
    with PhcpyProcess(installation) as process:
        yield process
