"""Rules on the source: places of kinds, docstrings of folders, import cycles, exactness.

The layers themselves are checked by import-linter (`make lint`).
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import matchprob
from algebra.networks.kinds import KINDS

ROOT = Path(__file__).parents[1]
PACKAGES = ("algebra", "numeric", "matchprob")
MODULES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
FOLDERS = sorted({path.parent for path in MODULES})

# Places where code may depend on a network's kind: its file, the families' list and folders.
KIND_KNOWN = (
    "algebra/networks/",
    "algebra/families/",
    "algebra/plugins/",
    "numeric/families/",
    "numeric/plugins/",
)

# The only calls that start a process.
STARTS = {
    "algebra/children.py": {"subprocess.Popen"},
    "matchprob/plugins/page/fork_server.py": {"os.fork"},
}
STARTING = re.compile(
    r"(subprocess|multiprocessing)\.\w+|os\.(fork|forkpty|popen|system|spawn\w+|posix_spawnp?)"
    r"|asyncio\.create_subprocess_\w+|concurrent\.futures\.ProcessPoolExecutor"
)


def where(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(source: ast.AST) -> list[ast.AST]:
    """All nodes of a tree: several rules look at each."""
    return list(ast.walk(source))


def kind_questions(source: ast.AST) -> list[int]:
    """Lines that ask for the class of a network, or compare its kind."""
    classes = {cls.__name__ for cls in KINDS.values()} | {"ChainNetwork"}
    kinds = set(KINDS)
    found = []
    for node in nodes(source):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
            "isinstance",
            "issubclass",
        ):
            names = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
            names |= {n.attr for n in ast.walk(node.args[1]) if isinstance(n, ast.Attribute)}
            if names & classes:
                found.append(node.lineno)
        elif isinstance(node, ast.MatchClass) and getattr(node.cls, "id", "") in classes:
            found.append(node.pattern.lineno if hasattr(node, "pattern") else node.cls.lineno)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            asks = any(
                (isinstance(s, ast.Attribute) and s.attr == "kind" and "network" in ast.dump(s))
                or (
                    isinstance(s, ast.Attribute)
                    and s.attr == "kind"
                    and getattr(s.value, "id", "") in classes
                )
                for s in sides
            )
            words = {s.value for s in sides if isinstance(s, ast.Constant)}
            if asks or (words & kinds - {"linear", "relu"}):
                found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("isinstance(network, LinearRNN)", True),
        ("isinstance(network, (Network, NormNet))", True),
        ("isinstance(x, networks.relu.ShallowReLU)", True),
        ("network.kind == 'relu'", True),
        ("problem.network.kind in names", True),
        ("kind != 'normnet'", True),
        ("match network:\n    case LinearRNN(n=n):\n        pass", True),
        ("isinstance(network, Network)", False),
        ("violation.kind == 'row'", False),
        ("network.chain() is None", False),
    ],
)
def test_kind_questions_are_seen(text, asks):
    """The search finds dependences on the kind, and nothing else."""
    assert bool(kind_questions(ast.parse(text))) == asks


def _unpacked(module):
    """Lines of a module that set several constants to numbers, unless these count states."""
    for node in module.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
            continue
        values = [v.value for v in node.value.elts if isinstance(v, ast.Constant)]
        is_counted = set(values) <= {*range(len(values))} or set(values) <= {0, 1, -1, -2}
        names = isinstance(node.targets[0], ast.Tuple)
        if names and any(isinstance(v, (int, float)) for v in values) and not is_counted:
            yield node.lineno


def test_each_number_has_a_line():
    """Constants are not unpacked from one line, where their order would be their meaning."""
    assert list(_unpacked(ast.parse("FEW, MANY = 3, 1_000\nNONE, ONE, TWO = 0, 1, 2"))) == [1]
    found = [f"{where(path)}:{line}" for path in MODULES for line in _unpacked(tree(path))]
    assert found == []


def test_kinds_are_used_in_their_folders():
    """No code outside the listed folders depends on the class or the kind of a network."""
    found = [
        f"{where(path)}:{line}"
        for path in MODULES
        if not where(path).startswith(KIND_KNOWN)
        for line in kind_questions(tree(path))
    ]
    assert found == []


@cache
def classes():
    """The members of each class that it defines itself, and the names of its bases."""
    found = {}
    for node in (node for path in MODULES for node in nodes(tree(path))):
        if isinstance(node, ast.ClassDef):
            stored = {
                n.id if isinstance(n, ast.Name) else n.attr
                for n in nodes(node)
                if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Store)
            }
            defined = {own.name for own in node.body if hasattr(own, "name")}
            bases = {n.id for base in node.bases for n in nodes(base) if isinstance(n, ast.Name)}
            found[node.name] = stored | defined, bases
    return found


def has(name, member):
    """Whether a class or one of its bases has a member; one from elsewhere may have any."""
    members, bases = classes().get(name, ({member}, ()))
    return member in members or any(has(base, member) for base in bases if base in classes())


def exists(reference):
    """Whether there is what a dotted name means; names that are not the project's exist."""
    first, *rest = parts = reference.split(".")
    if first in classes():
        return has(first, rest[0])
    if first not in PACKAGES:
        return True
    here = ROOT
    while parts and ((here / parts[0]).is_dir() or (here / f"{parts[0]}.py").exists()):
        here /= parts.pop(0)
    if not parts:
        return True
    if here == ROOT / "matchprob":
        return hasattr(matchprob, parts[0])
    module = tree(
        here.with_suffix(".py") if here.with_suffix(".py").exists() else here / "__init__.py"
    )
    known = {getattr(n, "name", "") for n in module.body} | {
        n.id for n in nodes(module) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    return parts[0] in known and (len(parts) == 1 or has(parts[0], parts[1]))


@pytest.mark.parametrize(
    ("reference", "there"),
    [
        ("algebra.networks.base", True),
        ("algebra.networks.base.Network.at_file", True),
        ("LinearRNN.at_file", True),
        ("matchprob.certify", True),
        ("numpy.linalg", True),
        ("algebra.networks.bases", False),
        ("algebra.networks.base.Net", False),
        ("LinearRNN.at_files", False),
        ("matchprob.certified", False),
    ],
)
def test_missing_references_are_seen(reference, there):
    """A module, a member, one of a base class, a public name."""
    assert exists(reference) == there


def test_what_docstrings_refer_to_exists():
    """Each dotted name between backquotes is that of something in the tree."""
    found = [
        f"{where(path)}: {name}"
        for path in MODULES
        for name in re.findall(r"`((?:[A-Za-z_]\w*\.)+\w+)`", path.read_text(encoding="utf-8"))
        if not exists(name)
    ]
    assert found == []


# The docstring of `matchprob` itself is for its users.
@pytest.mark.parametrize("folder", [f for f in FOLDERS if where(f) != "matchprob"], ids=where)
def test_maps_name_each_file(folder):
    """The docstring of each folder's `__init__` names every file and folder in it, and no other."""
    text = ast.get_docstring(tree(folder / "__init__.py")) or ""
    inside = {
        path.stem
        for path in folder.iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").exists())
        and path.name not in ("__init__.py", "__main__.py")
    }
    missing = {name for name in inside if not re.search(rf"\b{name}\b", text)}
    assert missing == set()
    rows = re.findall(r"^(\w+)  +\S", text, re.MULTILINE)
    assert set(rows) <= inside


def test_functions_close_no_import_cycle():
    """An import inside a function does not close a cycle of imports at module level."""
    outer: dict[str, set[str]] = {}
    inner: list[tuple[str, str]] = []
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in MODULES}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}

    def targets(node: ast.AST) -> set[str]:
        if isinstance(node, ast.Import):
            listed = {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            listed = {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        else:
            return set()
        return {name for name in listed if name in names}

    for name, path in names.items():
        source = tree(path)
        outer[name] = set()
        waiting: list[tuple[ast.AST, bool]] = [(source, False)]
        while waiting:
            node, is_inside = waiting.pop()
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                continue
            if is_inside:
                # A package that imports a module of its own names itself too.
                inner += [(name, other) for other in targets(node) if other != name]
            else:
                outer[name] |= targets(node)
            is_inside |= isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            waiting += [
                (child, is_inside)
                for child in ast.iter_child_nodes(node)
                if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case)
            ]

    @cache
    def reached(start: str) -> set[str]:
        seen, left = {start}, [start]
        while left:
            more = outer[left.pop()] - seen
            seen |= more
            left += more
        return seen

    hidden = [f"{name} -> {other}" for name, other in inner if name in reached(other)]
    assert hidden == []


def test_class_names_are_unique():
    """No two classes of the project have the same name."""
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in nodes(tree(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{where(path)}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


# Files of algebra that may use floats, and why.  Seconds are times of a clock; doubles in the
# input are exact binary fractions.
SECONDS = "seconds of the clock"
FLOATS = {
    "algebra/time_limits.py": SECONDS,
    "algebra/work.py": SECONDS,
    "algebra/families/registry.py": SECONDS,
    "algebra/families/certify.py": SECONDS,
    "algebra/files/opening.py": SECONDS,
    "algebra/files/arrays.py": "arrays of doubles in files",
    "algebra/children.py": SECONDS,
    "algebra/workers.py": SECONDS,
    "algebra/certificates/certificate.py": SECONDS,
    "algebra/certificates/explanation.py": SECONDS,
    "algebra/questions/design/goals.py": SECONDS,
    "algebra/questions/design/maximal.py": SECONDS,
    "algebra/questions/design/neurons.py": SECONDS,
    "algebra/questions/design/odd_counts.py": SECONDS,
    "algebra/questions/design/robustness.py": SECONDS,
    "algebra/questions/design/verify.py": SECONDS,
    "algebra/questions/identify/alternatives.py": SECONDS,
    "algebra/questions/identify/identification.py": SECONDS,
    "algebra/plugins/circuits/recording.py": SECONDS,
    "algebra/networks/activation.py": "an activation is written once for doubles, balls and jets",
    "algebra/programs/arrays.py": "entries that have a root know it themselves",
    "algebra/ranks/pieces.py": "a method of balls, sqrt",
    "algebra/programs/balls.py": "methods of balls: exp, sqrt",
    "algebra/programs/degrees.py": "infinity, as a degree",
    "algebra/declarations.py": "similarity of two words",
    "algebra/schemas.py": "the name of a type",
    "algebra/ranks/size.py": "estimated cost of a computation, in GB and hours",
    "algebra/plugins/normalization/matching.py": SECONDS,
    "algebra/polynomials/msolve/solver.py": SECONDS,
    "algebra/systems/growth.py": "a method of balls, log",
    "algebra/systems/root_count.py": SECONDS,
    "algebra/problems/constraints.py": "a bound is the double a user wrote: a binary fraction",
    "algebra/problems/constraint_entries.py": "the same",
    "algebra/problems/files.py": "a decimal of a problem file is a double, or refused",
    "algebra/linalg/products.py": "integers below 2^53, whose sums doubles hold exactly",
    "algebra/linalg/short_primes.py": "the same",
    "algebra/linalg/residues.py": "estimated quotients; the remainders are integers",
    "algebra/linalg/modular.py": "an estimated number of multiplications",
    "algebra/linalg/echelon.py": "the type of residues in 32 bits",
    "algebra/memory_limits.py": "sizes of memory in sentences",
    "algebra/linalg/numbers.py": "a number may be given as a double: a binary fraction",
    "algebra/checker/claim.py": "a certificate object hands its bound on as a double",
    "algebra/plugins/models/aten/call.py": "a module's numbers are doubles",
    "algebra/plugins/models/aten/operators.py": "the same",
    "algebra/plugins/models/aten/reader.py": "the same",
    "algebra/plugins/models/onnx/weights.py": "the same",
    "algebra/plugins/models/onnx/elementwise.py": "constants that the exporter rounds, too",
    "algebra/plugins/models/onnx/layers.py": "the same",
    "algebra/plugins/models/onnx/reader.py": "the same",
    "algebra/plugins/models/onnx/shapes.py": "the same",
    "algebra/plugins/models/onnx/values.py": "doubles in a file are binary fractions",
    "algebra/results.py": "numbers of any kind in a table for another program",
    "algebra/documents.py": "numbers of any kind as readers see them",
}


def floats(source: ast.Module) -> list[int]:
    """Lines that make, name or compute with floating-point numbers; annotations do not."""
    rounded = {"float64", "float32", "sqrt", "log", "log2", "log10", "exp", "linalg"}
    found = [
        node
        for node in nodes(source)
        if (isinstance(node, ast.Constant) and isinstance(node.value, float))
        or (isinstance(node, ast.Name) and node.id == "float")
        or (isinstance(node, ast.Attribute) and node.attr in rounded)
    ]
    annotated: set[int] = set()
    for node in nodes(source) if found else ():
        for part in ("annotation", "returns"):
            hint = getattr(node, part, None)
            if hint is not None:
                annotated |= {id(inner) for inner in ast.walk(hint)}
        # `Entry = float | int | …`: an alias of types.
        if isinstance(node, ast.Assign) and "BitOr" in ast.dump(node.value):
            annotated |= {id(inner) for inner in ast.walk(node.value)}
    return [node.lineno for node in found if id(node) not in annotated]


@pytest.mark.parametrize(
    ("text", "has"),
    [
        ("x = 0.5", True),
        ("x = float(y)", True),
        ("np.zeros(3, np.float64)", True),
        ("np.linalg.inv(A)", True),
        ("def f(seconds: float) -> float: ...", False),
        ("x = fmpq(1, 2)", False),
    ],
)
def test_floats_are_seen(text, has):
    """The search finds floating-point numbers, and nothing else."""
    assert bool(floats(ast.parse(text))) == has


def test_algebra_is_exact():
    """`algebra` uses no floating point except in the listed files."""
    files = [path for path in MODULES if where(path).startswith("algebra/")]
    assert {where(path) for path in files if floats(tree(path))} - set(FLOATS) == set()


def started(source: ast.AST) -> set[str]:
    """Calls that start a process, and imports of functions that do."""
    called = {ast.unparse(node.func) for node in nodes(source) if isinstance(node, ast.Call)}
    imported = {
        f"{node.module}.{alias.name}"
        for node in nodes(source)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return {name for name in called | imported if STARTING.fullmatch(name)}


@pytest.mark.parametrize(
    "source",
    [
        "subprocess.run(['ls'])",
        "os.posix_spawn('ls', [], {})",
        "from subprocess import Popen",
        "from multiprocessing import Pool",
        "from concurrent.futures import ProcessPoolExecutor",
    ],
)
def test_a_start_of_a_process_is_seen(source):
    """The search finds every way to start a process."""
    assert started(ast.parse(source))


def test_processes_start_in_one_place():
    """Children are started by `algebra.children`; the page's jobs alone are forked."""
    found = {where(path): started(tree(path)) for path in MODULES}
    assert {name: calls for name, calls in found.items() if calls} == STARTS


ONNX_OPERATORS = "algebra/plugins/models/onnx/test_operators.py"
ONNX_READER = "algebra/plugins/models/onnx/test_reader.py"
# Modules of algebra that no test imports, and the files that test them.
THROUGH = {
    "algebra/arguments/cells_within_reach.py": "algebra/families/updates/test_certify.py",
    "algebra/problems/cell_types.py": "algebra/ranks/test_parametrized.py",
    "algebra/plugins/normalization/verify.py": "algebra/plugins/normalization/test_certify.py",
    "algebra/polynomials/rational_functions.py": "matchprob/api/equations/test_symbolic.py",
    "algebra/plugins/models/aten/moves.py": "algebra/plugins/models/aten/test_operators.py",
    "algebra/plugins/models/onnx/elementwise.py": ONNX_READER,
    "algebra/plugins/models/onnx/layers.py": ONNX_READER,
    "algebra/plugins/models/onnx/neighbourhoods.py": ONNX_OPERATORS,
    "algebra/plugins/models/onnx/resampling.py": ONNX_OPERATORS,
    "algebra/plugins/models/onnx/model.py": ONNX_READER,
    "algebra/plugins/models/onnx/reader.py": ONNX_READER,
    "algebra/plugins/models/onnx/recurrent.py": ONNX_OPERATORS,
    "algebra/plugins/models/onnx/scope.py": ONNX_OPERATORS,
    "algebra/plugins/models/onnx/shapes.py": ONNX_READER,
    "algebra/plugins/relu/certify.py": "algebra/families/test_registry.py",
    "algebra/plugins/relu/inspect.py": "algebra/families/test_registry.py",
    "algebra/problems/constraint_entries.py": "algebra/problems/test_constraints.py",
    "algebra/problems/populations.py": "algebra/problems/test_names.py",
    "algebra/problems/units_in_text.py": "algebra/problems/test_names.py",
    "algebra/problems/laws/forms.py": "algebra/problems/test_schema.py",
    "algebra/problems/laws/measured.py": "algebra/problems/laws/test_values.py",
    "algebra/problems/laws/factors.py": "algebra/problems/laws/test_distribution.py",
    "algebra/problems/options.py": "algebra/problems/test_problem.py",
    "algebra/problems/plain.py": "algebra/problems/test_problem.py",
    "algebra/problems/cells.py": "algebra/problems/test_allocation.py",
    "algebra/arguments/argued.py": "algebra/arguments/test_verify.py",
    "algebra/given.py": "algebra/test_errors.py",
    "algebra/problems/laws/pinned.py": "algebra/problems/laws/test_values.py",
    "algebra/networks/chain_layout.py": "algebra/networks/test_chain.py",
    "algebra/networks/chain_program.py": "algebra/systems/test_forms.py",
    "algebra/networks/chain_units.py": "algebra/networks/test_chain.py",
    "algebra/checker/problem_options.py": "algebra/checker/test_claim.py",
    "algebra/checker/tables.py": "algebra/checker/test_claim.py",
    "algebra/linalg/products.py": "algebra/linalg/test_modular.py",
    "algebra/linalg/sparse_products.py": "algebra/linalg/test_sparse.py",
    "algebra/systems/discriminant.py": "matchprob/api/equations/test_symbolic.py",
    "algebra/systems/inspection.py": "algebra/families/linear/test_inspect.py",
    "algebra/systems/symbolic.py": "matchprob/api/equations/test_symbolic.py",
}


def test_modules_have_their_tests():
    """A module of `algebra` has a test file of its name, or one that imports it, or is listed."""
    tests = ROOT / "tests"
    imported = "\n".join(path.read_text(encoding="utf-8") for path in tests.rglob("*.py"))
    untested = set()
    for path in MODULES:
        inside = path.relative_to(ROOT)
        name = ".".join(inside.with_suffix("").parts)
        if inside.parts[0] != "algebra" or path.name == "__init__.py":
            continue
        mirror = tests / inside.parent / f"test_{path.stem}.py"
        if not mirror.exists() and not re.search(rf"from {re.escape(name)} import", imported):
            untested.add(where(path))
    assert untested - set(THROUGH) == set()
    for shared in THROUGH.values():
        assert (tests / shared).exists(), shared
