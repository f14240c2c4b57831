"""Figures of the source: sizes, branches on the kind of network, the largest function and call.

    python scripts/structure.py [TREE]

prints one figure per row for the three packages of a source tree (default: this one), so that
two trees can be compared.  A branch on the kind is an `isinstance` on a network class, a
comparison with a network's `.kind`, or a `case` of one, outside the folders where it is permitted:
`networks/`, the families' own folders and `families.py`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

PACKAGES = ("algebra", "numeric", "matchprob")
KINDS = {
    "LinearRNN",
    "SequenceRNN",
    "LinearFeedForward",
    "LinearEstimator",
    "ShallowReLU",
    "NormNet",
    "ChainNetwork",
}
PERMITTED = (
    "algebra/networks",
    "algebra/linear",
    "algebra/relu",
    "algebra/normalization",
    "algebra/families/registry.py",
    "numeric/relu",
    "numeric/normalization",
)


def names(node: ast.AST) -> set[str]:
    """Names and attributes that occur in an expression."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return found | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


def branches_on_kind(node: ast.AST) -> bool:
    """Whether this node branches on the kind of a network."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "isinstance" and bool(names(node) & KINDS)
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return any(
            isinstance(s, ast.Attribute) and s.attr == "kind" and "network" in ast.dump(s)
            for s in sides
        )
    return isinstance(node, ast.match_case) and bool(names(node.pattern) & KINDS)


def code_lines(tree: ast.Module, text: str) -> int:
    """Lines that hold code: neither blank, nor comment, nor docstring."""
    prose: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                prose |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(s.strip()) and s.strip()[0] != "#" and i not in prose for i, s in lines)


def seconds_of(command: list[str], root: Path) -> float:
    """User and system time of a command, the least of three runs."""
    import resource

    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, spent)
    return best


def main() -> int:
    """Print the table of one tree."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    files = [f for package in PACKAGES for f in sorted((root / package).rglob("*.py"))]
    total = code = branches = 0
    asking: set[str] = set()
    folders: dict[str, int] = {}
    functions: list[tuple[int, str]] = []
    calls: list[tuple[int, str]] = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        place = str(file.relative_to(root))
        total += len(text.splitlines())
        code += code_lines(tree, text)
        if file.name != "__init__.py":
            folder = str(file.parent.relative_to(root))
            folders[folder] = folders.get(folder, 0) + 1
        for node in ast.walk(tree):
            if branches_on_kind(node) and not place.startswith(PERMITTED):
                branches += 1
                asking.add(place)
            if isinstance(node, ast.FunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                functions.append((length, f"{place}:{node.name}"))
            if isinstance(node, ast.Call):
                calls.append((len(node.args), f"{place}:{node.lineno}"))
    crowded = max(folders.items(), key=lambda item: item[1])
    rows: list[tuple[str, object]] = [
        ("files", len(files)),
        ("lines", total),
        ("lines of code", code),
        ("folders with code", len(folders)),
        ("fullest folder", f"{crowded[1]} files ({crowded[0]})"),
        ("branches on the kind of network", f"{branches} in {len(asking)} files"),
        ("largest function", "{} lines ({})".format(*max(functions))),
        ("functions over 100 lines", sum(length > 100 for length, _ in functions)),
        ("positional arguments of the largest call", "{} ({})".format(*max(calls))),
    ]
    python = sys.executable
    diagonal = "examples/diagonal.toml"
    bare = seconds_of([python, "-c", "pass"], root)
    for label, command in (
        ("import matchprob", ["-c", "import matchprob"]),
        ("matchprob --version", ["-m", "matchprob", "--version"]),
        (f"certify {diagonal}", ["-m", "matchprob", "certify", diagonal]),
    ):
        spent = seconds_of([python, *command], root) - bare
        rows.append((f"CPU seconds above a bare python: {label}", f"{spent:.2f}"))
    for label, value in rows:
        print(f"{label:<72} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
