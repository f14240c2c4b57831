"""Equations for other programs: these read the same equations and find the same solutions."""

import json
import re
import shutil
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import sympy
from typer.testing import CliRunner

import matchprob as mp
from algebra.polynomials.msolve.process import Deadline, run_msolve
from matchprob.cli import app
from matchprob.io.languages import LANGUAGES
from tests.refusals import refuses

DIAGONAL = mp.Problem(mp.LinearRNN(n=2, T=2, b=1, d=1, m=2), {"W": [[1, 0], [0, 1]]})
# A core of two unknowns, three solutions.
LARGER = mp.Problem(
    mp.LinearRNN(n=3, T=3, b=1, d=1, m=3),
    {"W": [[1, 0, 0], [1, 0, 0], [0, 1, 0]]},
)
LAYERS = mp.Problem(
    mp.LinearFeedForward(q=2, widths=(2,), d=2, m=2),
    {"W1": [[1, 0], [0, 1]], "W2": [[1, 0], [0, 1]]},
)
PROBLEMS = pytest.mark.parametrize(
    "problem", [DIAGONAL, LARGER, LAYERS], ids=["two", "three", "layers"]
)


def worst(problem, found, solutions):
    """The largest relative error of the labels, over all solutions."""
    instance = mp.draw_instance(problem, found.seed, found.index)
    return max(instance.residual(instance.with_weights(found.weights(s))) for s in solutions)


def counted(problem, index):
    """The numbers of real and complex solutions of the same instance that matchprob counts."""
    (count,) = mp.count(problem, instances=index + 1, engine="exact").instances[index:]
    return count.real, count.complex


@PROBLEMS
@pytest.mark.parametrize("index", [0, 3])
def test_msolve_solves_the_export(problem, index):
    """msolve finds as many real solutions as `count`, and they match the labels."""
    found = mp.export(problem, to="msolve", index=index)
    solutions = boxes(run_msolve(found.text, [], Deadline(60), 2000))
    assert len(solutions) == counted(problem, index)[0]
    middles = [[(low + high) / 2 for low, high in box] for box in solutions]
    assert not middles or worst(problem, found, middles) < 1e-6


def boxes(answer):
    """The boxes that msolve prints, rounded."""
    decimal = re.sub(
        r"(-?\d+) / 2\^(\d+)", lambda m: repr(float(Fraction(int(m[1]), 2 ** int(m[2])))), answer
    )
    _, (_, found) = json.loads(decimal.strip().removesuffix(":"))
    return found


def phc(text, folder):
    """Solutions that the program phc finds, as it prints them."""
    (folder / "system").write_text(text)
    subprocess.run(
        ["phc", "-b", "system", "found"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        check=True,
        timeout=60,
    )
    printed = (folder / "found").read_text()
    # The solutions of the start system are printed before them.
    printed = printed.rpartition("THE SOLUTIONS")[2]
    solutions = []
    for block in re.split(r"^solution \d+ :", printed, flags=re.MULTILINE)[1:]:
        values = {
            int(k): complex(float(a), float(b))
            for k, a, b in re.findall(r"^ x(\d+) : +(\S+) +(\S+)$", block, re.MULTILINE)
        }
        quality = re.search(r"err : +(\S+) .*rco : +(\S+) .*res : +(\S+)", block)
        error, inverse_condition, residual = map(float, quality.groups())
        # A failed path, or one on its way to infinity, is printed like a solution.
        if error < 1e-8 and inverse_condition > 1e-8 and residual < 1e-8:
            solutions.append([values[k] for k in range(len(values))])
    return solutions


@pytest.mark.skipif(
    shutil.which("phc") is None, reason="phc is not installed: apt-get install phcpack"
)
@PROBLEMS
def test_phcpack_solves_the_export(problem, tmp_path):
    """phc finds as many complex solutions as `count`, and they match the labels."""
    found = mp.export(problem, to="phcpack")
    solutions = phc(found.text, tmp_path)
    assert len({tuple(np.round(s, 6)) for s in solutions}) == counted(problem, 0)[1]
    assert worst(problem, found, solutions) < 1e-6


def parsed(found):
    """The equations of a text, read by SymPy, and the unknowns in their order."""
    text = found.text
    if found.to == "sympy":
        space = {}
        exec(text, space)
        return space["equations"], space["unknowns"]
    begin = r"(?:System\(\[|ideal\(|ideal I =|ideal<R \||R\.ideal\(\[)"
    body = re.search(begin + r"\n(.*?);?\n(?:[\])>]|ideal G)", text, re.DOTALL)[1].rstrip(";")
    names = sympy.symbols(list(found.names))
    listed = re.search(r"@var (.+)|QQ\[(.+)\]|R = 0, \((.+)\), dp|R<(.+)>|^\[(.+)\] =", text, re.M)
    assert re.split(r"[ ,]+", next(filter(None, listed.groups()))) == list(found.names)
    local = {str(n): n for n in names}
    lines = [line.strip().rstrip(",").replace("^", "**") for line in body.splitlines()]
    return [sympy.sympify(line, locals=local) for line in lines], names


@PROBLEMS
@pytest.mark.parametrize("to", ["julia", "macaulay2", "singular", "magma", "sage", "sympy"])
@pytest.mark.parametrize("form", ["core", "lifted"])
def test_sympy_reads_the_exported_equations(problem, to, form):
    """Each equation read is a multiple of the exported one: exactly, for Julia up to rounding."""
    chosen = form if form == "core" else ("forward" if problem is LAYERS else "B")
    found = mp.export(problem, chosen, to=to)
    equations, names = parsed(found)
    exported = [e for e in found.system.equations if len(e)]
    assert len(equations) == len(exported)
    for read, polynomial in zip(equations, exported, strict=True):
        terms = {
            tuple(map(int, m)): sympy.Rational(int(c.p), int(c.q)) for m, c in polynomial.terms()
        }
        read_terms = sympy.Poly(read, *names).as_dict()
        assert set(read_terms) == set(terms)
        ratios = [read_terms[m] / terms[m] for m in terms]
        if to == "julia":
            assert all(abs(r / ratios[0] - 1) < 1e-14 for r in ratios)
        else:
            assert set(ratios) == {ratios[0]}


@pytest.mark.skipif(shutil.which("Singular") is None, reason="Singular is not installed")
@PROBLEMS
def test_singular_counts_the_same(problem):
    """The dimension of the quotient in Singular is the number of solutions of `count`."""
    text = mp.export(problem, to="singular").text
    done = subprocess.run(
        ["Singular", "-q"], input=text, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["0", str(counted(problem, 0)[1])]


def as_given(instance):
    """A random instance in the form of an instance given by the user, with the same numbers."""

    def rows(matrix):
        return [[str(Fraction(x)) for x in row] for row in matrix]

    return {
        "weights": {name: rows(value) for name, value in instance.weights.items()},
        "teacher": {name: rows(value) for name, value in instance.teacher.items()},
        "samples": {"X": rows(instance.X)},
    }


@pytest.mark.parametrize("to", LANGUAGES)
def test_export_of_a_given_instance(to):
    """The numbers of trial 5, given as an instance, lead to the equations of trial 5, not of 0."""
    drawn = mp.draw_instance(DIAGONAL, 0, 5)
    found = mp.export(DIAGONAL, to=to, instance=as_given(drawn))
    random = mp.export(DIAGONAL, to=to, index=5)
    assert found.text.replace("a given instance", "seed 0, trial 5") == random.text
    assert found.system.equations != mp.export(DIAGONAL, to=to).system.equations
    assert found.to_dict()["instance"] == "own"
    assert "seed" not in found.to_dict()


def test_export_of_a_given_instance_of_a_normalization_net():
    """A normalization net is solved as a linear network: a given instance is converted to it."""
    problem = mp.load_problem("examples/normnet_ordinary.toml")
    drawn = mp.draw_instance(problem, 0, 3)
    fixed = problem.with_allocation(drawn.allocation)
    found = mp.export(fixed, "direct", to="sympy", instance=as_given(drawn))
    assert (
        found.system.equations == mp.export(problem, "direct", to="sympy", index=3).system.equations
    )


def test_the_command_line_exports_a_given_instance(tmp_path):
    """`inspect --instance FILE --export FILE` writes and names it; `--index` is refused with it."""
    (tmp_path / "own.toml").write_text(
        '[weights]\nW = [["1/2", 0.25], [-1, 0]]\nB = [[1], [1]]\nD = [[1, "3/2"]]\n'
        '[samples]\nX = [[1, 0], ["2/3", 1]]\n[labels]\nY = [[1, 2]]\n'
    )
    line = ["inspect", "examples/diagonal.toml", "--instance", str(tmp_path / "own.toml")]
    line += ["--export", str(tmp_path / "e.ms")]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0
    assert (tmp_path / "e.ms").read_text().splitlines()[-1] == "40*x0^2-114*x0^1+97"
    assert "core of a given instance for msolve: 1 equation in 1 unknown" in done.stdout
    refused = CliRunner().invoke(app, [*line, "--index", "3"])
    assert isinstance(refused.exception, mp.InputError)


def test_small_integers_are_an_instance_of_few_digits():
    """The same seed and trial give the same short equations, with 0 outside the support."""
    sparse = mp.Problem(DIAGONAL.network, {"W": [[1, 0], [0, 1]]}, {"W": [[1, 1], [0, 1]]})
    for problem in (DIAGONAL, LARGER, sparse):
        found = mp.export(problem, "direct", to="latex", integers=True, index=2)
        assert found.text == mp.export(problem, "direct", to="latex", integers=True, index=2).text
        assert "seed 0, trial 2, small integers" in found.text.splitlines()[0]
        assert r"\begin{align*}" in found.text
        assert max(map(len, re.findall(r"\d+", found.text))) < 12
    refuses("`integers`", mp.export, DIAGONAL, to="sympy", integers=True, instance={})


def test_the_sympy_file_solves_and_prints(tmp_path):
    """Run by Python, an exported file prints a line for each of the N solutions."""
    path = tmp_path / "e.py"
    line = ["inspect", "examples/diagonal.toml", "--export", str(path), "--integers"]
    assert CliRunner().invoke(app, line).exit_code == 0
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 2
    assert all("W_0_0: " in text for text in done.stdout.splitlines())


def test_the_core_that_is_printed_is_the_one_that_is_written(tmp_path):
    """With `--core --export` the equations have the written numbers, and the text names them."""
    path = tmp_path / "e.py"
    line = ["inspect", "examples/diagonal.toml", "--core", "--export", str(path), "--integers"]
    shown = CliRunner().invoke(app, line)
    assert "Core of the B form, of the instance that is written: seed 0, trial 0" in shown.stdout
    [equation] = re.findall(r"^    (.*W_0_0.*),$", path.read_text(), re.MULTILINE)
    assert f"  {equation} = 0" in shown.stdout


def test_sympy_finds_the_real_solutions():
    """On the first paper's example SymPy finds as many real roots as `count`, and they match."""
    for index in range(4):
        found = mp.export(DIAGONAL, to="sympy", index=index)
        (equation,), (unknown,) = parsed(found)
        roots = sympy.Poly(equation, unknown).real_roots()
        assert len(roots) == counted(DIAGONAL, index)[0]
        assert not roots or worst(DIAGONAL, found, [[float(r)] for r in roots]) < 1e-9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"to": "maple"}, "must be one of msolve, phcpack"),
        ({"to": "julia", "form": "C"}, "choose from core, B, D, direct"),
    ],
)
def test_unknown_words_are_refused(arguments, words):
    """The message for an unknown language or form lists the known ones."""
    refuses(words, mp.export, DIAGONAL, **arguments)


def test_an_empty_core_is_not_exported():
    """A linear system has an empty core: refused, and the message names the form to use."""
    row = mp.Problem(DIAGONAL.network, {"W": [[1, 1], [0, 0]]})
    refuses(r"linear.*form '[BD]' writes the equations", mp.export, row, to="sympy")
    assert len(mp.export(row, "B", to="sympy").names) == 6


def test_solutions_of_another_size_are_refused():
    """`weights` refuses a solution with more values than unknowns."""
    found = mp.export(DIAGONAL, to="sympy")
    refuses("2 values; the system has 1 unknowns", found.weights, [1.0, 2.0])


@pytest.mark.parametrize("to", LANGUAGES)
def test_the_command_line_writes_files(to, tmp_path):
    """The suffix determines the language; the file has the text that the function returns."""
    file = tmp_path / f"system{LANGUAGES[to].suffix}"
    done = CliRunner().invoke(
        app, ["inspect", "examples/diagonal.toml", "--export", str(file), "--index", "2", "--json"]
    )
    assert done.exit_code == 0
    meant = mp.export("examples/diagonal.toml", to=to, index=2)
    assert file.read_text() == meant.text
    assert json.loads(done.stdout)["export"] == meant.to_dict()


def test_the_command_line_refuses_unknown_suffixes(tmp_path):
    """A file whose suffix belongs to no language is refused; the message lists the suffixes."""
    run = CliRunner().invoke
    done = run(app, ["inspect", "examples/diagonal.toml", "--export", str(tmp_path / "a.txt")])
    assert isinstance(done.exception, mp.InputError)
    assert ".jl (HomotopyContinuation.jl)" in str(done.exception)


def test_a_normalization_net_is_lowered():
    """A linear normalization net is exported as the linear network as which it is solved."""
    found = mp.export("examples/normnet_ordinary.toml", "direct", to="sympy")
    assert len(found.system.equations) == len(parsed(found)[0]) > 0
