"""Builds the sdist and the wheel, checks them, and uses each in a bare environment.

``make release-check`` runs it.  The version must stand in the CHANGELOG and in the citation, and no
fragment may be left in ``changes.d``.  The wheel may hold nothing but the three packages, their
data and the licence.  Each archive is then installed into an environment of its own, in which the
README's first example, `certify`, `count`, `verify` and the page are run outside of the checkout.
The exit status is 1 after the first thing that is wrong.
"""

from __future__ import annotations

import json
import os
import re
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
PACKAGES = ("algebra/", "numeric/", "matchprob/")
# What belongs to a checkout alone.
NOT_IN_SDIST = (".git/", "out/", ".venv/", "build/")


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
    inside = zipfile.ZipFile(wheel).namelist()
    own = f"{wheel.name.partition('-py3')[0]}.dist-info/"
    strange = [name for name in inside if not name.startswith((*PACKAGES, own))]
    if strange:
        fail(f"the wheel holds {', '.join(strange[:5])}")
    for needed in ("matchprob/py.typed", "algebra/py.typed", "numeric/py.typed"):
        if needed not in inside:
            fail(f"the wheel lacks {needed}")
    say(f"{wheel.name}: {len(inside)} files, {wheel.stat().st_size // 1024} kB")
    with tarfile.open(sdist) as archive:
        names = [n.partition("/")[2] for n in archive.getnames()]
    if any(n.startswith(NOT_IN_SDIST) for n in names):
        fail("the sdist holds files of a checkout")
    say(f"{sdist.name}: {len(names)} files, {sdist.stat().st_size // 1024} kB")


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


def main() -> None:
    sys.path.insert(0, str(ROOT))
    import matchprob

    check_texts(matchprob.__version__)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        # Without isolation nothing is fetched: the tools are in this environment.
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", work, ROOT)
        (sdist,), (wheel,) = work.glob("*.tar.gz"), work.glob("*.whl")
        run(sys.executable, "-m", "twine", "check", "--strict", sdist, wheel)
        check_contents(sdist, wheel)
        for archive in (sdist, wheel):
            use(archive, work)
    say(f"{matchprob.__version__} can be tagged")


if __name__ == "__main__":
    main()
