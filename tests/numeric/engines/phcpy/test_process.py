"""The parent process of the phcpy worker: roots compared with other methods, and failures."""

import contextlib
import gc
import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import numeric
from algebra.errors import InputError
from numeric.engines.phcpy.process import (
    PhcpyCrashed,
    PhcpyError,
    PhcpyInstallation,
    PhcpyProcess,
    PhcpyTimeout,
)
from numeric.engines.phcpy.systems import PhcSystem
from tests.numeric.engines.phcpy.polynomials import power, read
from tests.refusals import refuses
from tests.samples import many

TIMEOUT = 60.0
# Takes minutes: five quadrics in five unknowns in quad-double precision.
LONG = read(
    [
        f"{k + 1}*x{k}^2 + {k + 2}*x{(k + 1) % 5}*x{(k + 2) % 5} - x{(k + 3) % 5} - {k + 1}"
        for k in range(5)
    ],
    ["x0", "x1", "x2", "x3", "x4"],
)
TWO = read(["x^2 - 2"], "x")
GOAL, START = (read([f"x*y - {k}", "x - y - 1"], "xy") for k in (2, 6))
POINTS = [[3, 2], [-2, -3]]  # the solutions of START
shared = settings(
    deadline=None,
    max_examples=many(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
reals = st.floats(-5, 5).filter(lambda value: abs(value) > 1e-3)


def same_points(found, expected, tolerance=1e-9):
    """Whether two sets of points agree up to order, relative to their size."""
    found, expected = np.asarray(found, complex), np.asarray(expected, complex)
    if found.shape != expected.shape:
        return False
    left = list(expected)
    for point in found:
        gaps = [abs(point - other).max() / max(1, abs(other).max()) for other in left]
        best = int(np.argmin(gaps))
        if gaps[best] > tolerance:
            return False
        left.pop(best)
    return True


def gone(pid):
    """Whether a process has ended and been waited for (it is no zombie)."""
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return True
        time.sleep(0.05)
    return False


# -- with the real phcpy -----------------------------------------------------------


@shared
@given(st.lists(reals, min_size=2, max_size=6))
def test_roots_of_one_polynomial(phcpy, coefficients):
    """The roots of a polynomial in one unknown are the eigenvalues of its companion matrix."""
    expected = np.roots(coefficients)
    gaps = abs(expected[:, None] - expected) + 10 * np.eye(len(expected))
    assume(gaps.min() > 1e-2)
    terms = {(len(coefficients) - 1 - k,): c for k, c in enumerate(coefficients)}
    result = phcpy.solve([terms], timeout=TIMEOUT)
    assert result.status == "solved"
    assert same_points(result.roots, expected[:, None], 1e-7)


def bilinear(rng, count):
    """Random systems a + b x + c y + d x y, and for each the quadratic left without y."""
    monomials = [(0, 0), (1, 0), (0, 1), (1, 1)]
    for _ in range(count):
        (a, b, c, d), (e, f, g, h) = rows = rng.standard_normal((2, 4))
        yield (
            [dict(zip(monomials, row, strict=True)) for row in rows],
            (f * d - b * h, e * d + f * c - a * h - b * g, e * c - a * g),
            lambda x, a=a, b=b, c=c, d=d: -(a + b * x) / (c + d * x),
        )


def compare_bilinear(phcpy, count):
    """Number of systems on which phcpy's roots or real count differ from the quadratic's."""
    drawn = list(bilinear(np.random.default_rng(0), count))
    wrong = 0
    for k, (system, quadratic, second) in enumerate(drawn):
        result = phcpy.solve(system, ["x", "y"], timeout=TIMEOUT, seed=k)
        first = np.roots(quadratic)
        expected = np.column_stack([first, [second(x) for x in first]])
        real = 2 if quadratic[1] ** 2 > 4 * quadratic[0] * quadratic[2] else 0
        counted = sum(solution.is_real() for solution in result.accepted)
        wrong += counted != real or not same_points(result.roots, expected, 1e-6)
    return wrong


def test_bilinear_systems(phcpy):
    """Two bilinear equations have the roots of the quadratic that elimination leaves."""
    assert compare_bilinear(phcpy, 200) == 0


@pytest.mark.long
def test_thousands_of_bilinear_systems(phcpy):
    """Of 2,000 bilinear systems at most one differs; 2,000 quadratics are all correct."""
    assert compare_bilinear(phcpy, 2000) <= 1
    coefficients = np.random.default_rng(1).standard_normal((2000, 3))
    for k, (a, b, c) in enumerate(coefficients):
        result = phcpy.solve([{(2,): a, (1,): b, (0,): c}], timeout=9, seed=k)
        assert same_points(result.roots, np.roots([a, b, c])[:, None], 1e-6)
        assert sum(s.is_real() for s in result.accepted) == (2 if b * b > 4 * a * c else 0)


def test_order_of_unknowns(phcpy):
    """Coordinates follow the order of the exponents, for every order of the equations."""
    system = [{(1, 0): 1, (0, 1): -3}, {(0, 1): 1, (0, 0): -1}]
    found = phcpy.solve(system, ["w[0,10]", "w[0,2]"], timeout=TIMEOUT)
    assert found.variables == ("w[0,10]", "w[0,2]")
    assert np.allclose(found.roots, [[3, 1]])
    exchanged = [{a[::-1]: c for a, c in terms.items()} for terms in system]
    assert np.allclose(phcpy.solve(exchanged, timeout=TIMEOUT).roots, [[1, 3]])


def test_regular_linear_system(phcpy):
    """The solution of a regular linear system is NumPy's."""
    rng = np.random.default_rng(3)
    matrix, right = rng.standard_normal((4, 4)), rng.standard_normal(4)
    unit = [tuple(row) for row in np.eye(4, dtype=int).tolist()]
    system = [
        {**dict(zip(unit, row, strict=True)), (0, 0, 0, 0): -b}
        for row, b in zip(matrix, right, strict=True)
    ]
    roots = phcpy.solve(system, timeout=TIMEOUT).roots
    assert np.allclose(roots, [np.linalg.solve(matrix, right)], rtol=1e-12)


@pytest.mark.parametrize("right", [1, 2])
def test_singular_linear(phcpy, right):
    """A singular linear system has no accepted solution, and the path is counted as failed."""
    result = phcpy.solve(read(["x + y - 1", f"x + y - {right}"], "xy"), timeout=TIMEOUT)
    assert result.accepted == ()
    assert result.failed == len(result.solutions)


def test_curve_of_solutions(phcpy):
    """Points on a curve of solutions are not accepted: none is isolated."""
    result = phcpy.solve(read(["x^2 + y^2 - 1", "x^2 + y^2 - 1"], "xy"), timeout=TIMEOUT)
    assert result.accepted == ()


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 3.0e5, 1e200])
def test_scale_of_equations(phcpy, scale):
    """Equations of any size have the roots of the same equations of size one."""
    result = phcpy.solve(
        [{(2, 0): scale, (0, 1): -2 * scale}, {(0, 1): 1 / scale, (0, 0): -2 / scale}],
        timeout=TIMEOUT,
    )
    assert same_points(result.roots, [[2, 2], [-2, 2]])


def test_complex_coefficients(phcpy):
    """The roots of a polynomial with complex coefficients are NumPy's."""
    roots = phcpy.solve([{(2,): 1.5 - 2j, (0,): 1}], timeout=TIMEOUT).roots
    assert same_points(roots, np.roots([1.5 - 2j, 0, 1])[:, None])


def test_zero_coordinates(phcpy):
    """Roots with coordinates 0 are found too."""
    roots = phcpy.solve(read(["x*y", "x + y - 1"], "xy"), timeout=TIMEOUT).roots
    assert same_points(roots, [[0, 1], [1, 0]])


@pytest.mark.parametrize("precision", ["d", "dd", "qd"])
def test_solve_is_reproducible(phcpy, installation, precision):
    """One seed gives the same digits in any order of calls and in another process."""
    systems = [system for system, *_ in bilinear(np.random.default_rng(5), 6)]
    first = [
        phcpy.solve(system, timeout=TIMEOUT, seed=k, precision=precision)
        for k, system in enumerate(systems)
    ]
    with PhcpyProcess(installation) as other:
        again = [
            other.solve(systems[k], timeout=TIMEOUT, seed=k, precision=precision)
            for k in reversed(range(6))
        ]
    assert [r.solutions for r in first] == [r.solutions for r in reversed(again)]
    assert [r.seed for r in first] == [0, 1, 2, 3, 4, 5]


def test_largest_seed(phcpy):
    """Seeds that PHCpack cannot hold are reduced, and do not end the process."""
    for seed in (2**31 - 4, 2**31 - 3, 2**31 - 2, 2**31 - 1, 2**31, 2**64):
        assert len(phcpy.solve(TWO, timeout=TIMEOUT, seed=seed).accepted) == 2


def test_track_keeps_the_order_of_starts(phcpy):
    """Paths lead from given solutions to the target's, in the order of the starts.

    In the target's text y occurs first: PHCpack alone would exchange the coordinates.
    """
    target = [{(0, 1): 1, (1, 0): -1, (0, 0): 1}, {(1, 1): 1, (0, 0): -2}]
    result = phcpy.track(target, START, POINTS, timeout=TIMEOUT)
    ends = [solution.values for solution in result.solutions]
    assert np.allclose(ends, [[2, 1], [-1, -2]])


def test_track_one_start_twice(phcpy):
    """Of two paths that end in one point at most one is accepted: the others count as failed.

    PHCpack 2.4.94 gives up both of them, 2.4.86 neither.
    """
    result = phcpy.track(GOAL, START, [*POINTS, POINTS[0]], timeout=TIMEOUT)
    assert len(result.solutions) == 3
    assert result.failed == 3 - len(result.roots) >= 1
    ends = [[2, 1], [-1, -2]]
    assert same_points(result.roots, ends) or same_points(result.roots, ends[1:])


def test_track_is_reproducible(phcpy):
    """The same seed gives the same ends; another seed may permute them, not change them."""
    arguments = (
        read(["x^3 - 2*x - 5"], "x"),
        power(3),
        np.exp(2j * np.pi * np.arange(3) / 3)[:, None],
    )
    one, same, other = (phcpy.track(*arguments, timeout=TIMEOUT, seed=k) for k in (1, 1, 2))
    assert one.solutions == same.solutions
    assert same_points(one.roots, np.roots([1, 0, -2, -5])[:, None])
    assert same_points(other.roots, one.roots)


def test_track_to_infinity(phcpy):
    """A path without an end is returned and not accepted."""
    target, start = read(["x*y - 1", "x - 2"], "xy"), read(["x*y - 1", "x^2 - 1"], "xy")
    result = phcpy.track(target, start, [[1, 1], [-1, -1]], timeout=TIMEOUT)
    assert len(result.solutions) == 2
    assert same_points(result.roots, [[2, 0.5]])
    assert result.failed == 1


def test_memory_limit_of_a_worker(installation):
    """A worker that uses too much memory is replaced, and results do not change."""
    with PhcpyProcess(installation, memory_limit=1) as small:
        small.start()
        for square in (2, 3, 5):
            result = small.solve([{(2,): 1, (0,): -square}], timeout=TIMEOUT)
            assert small.pid is None
            assert round(abs(result.roots[0, 0]) ** 2) == square


def test_timeout_of_a_call(installation):
    """A call that takes too long raises PhcpyTimeout and its process is ended; the next works."""
    with PhcpyProcess(installation) as process:
        process.start()
        pid = process.pid
        refuses(r"0\.3 s", process.solve, LONG, timeout=0.3, precision="qd", error=PhcpyTimeout)
        assert gone(pid)
        assert len(process.solve(TWO, timeout=TIMEOUT).accepted) == 2


def test_killed_during_a_call(installation):
    """A worker killed during a call raises PhcpyCrashed, and the next call works."""
    with PhcpyProcess(installation) as process:
        process.start()
        pid = process.pid
        timer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
        timer.start()
        refuses("SIGKILL", process.solve, LONG, timeout=TIMEOUT, precision="qd", error=PhcpyCrashed)
        timer.join()
        assert gone(pid)
        assert len(process.solve(TWO, timeout=TIMEOUT).accepted) == 2


def test_killed_while_idle(installation):
    """A worker that was killed between calls is replaced without an error."""
    with PhcpyProcess(installation) as process:
        process.start()
        pid = process.pid
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        assert len(process.solve(TWO, timeout=TIMEOUT).accepted) == 2
        assert process.pid != pid


def test_calls_from_threads(phcpy):
    """Each of several threads gets the results of its own calls."""
    found = {}

    def work(k):
        found[k] = [
            phcpy.solve([{(1,): 1, (0,): -10 * k - i}], timeout=TIMEOUT).roots[0, 0]
            for i in range(9)
        ]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.allclose(found[k], 10 * k + np.arange(9)) for k in range(4))


def test_forked_child_has_its_own_worker(phcpy):
    """A forked child gets a separate worker and does not use the parent's."""
    phcpy.start()
    mine = phcpy.pid
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            right = len(phcpy.solve(TWO, timeout=TIMEOUT).accepted) == 2
            status = 0 if right and phcpy.pid != mine else 2
            phcpy.close()
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert phcpy.pid == mine
    assert len(phcpy.solve([{(2,): 1, (0,): -3}], timeout=TIMEOUT).accepted) == 2


# -- start and end ------------------------------------------------------------------


def test_close_and_collect(fake_phcpy):
    """Closing, also twice, or deleting the object ends the worker without a zombie."""
    process = PhcpyProcess(PhcpyInstallation(fake_phcpy("old")))
    process.start()
    pid = process.pid
    process.close()
    process.close()
    assert gone(pid)
    process.start()
    pid = process.pid
    del process
    gc.collect()
    assert gone(pid)


SESSION = """
import os, sys
from numeric.engines.phcpy.process import PhcpyInstallation, PhcpyProcess
process = PhcpyProcess(PhcpyInstallation(sys.argv[1]))
process.start()
print(process.pid, flush=True)
try:
    process.solve([{(8,): 1, (0,): -1}], timeout=100)
except KeyboardInterrupt:
    print(len(process.solve([{(2,): 1, (0,): -1}], timeout=100).solutions), process.pid, flush=True)
    process.solve([{(8,): 1, (0,): -1}], timeout=100)
"""


@contextlib.contextmanager
def session(interpreter):
    """A Python process in the middle of a long call, and its worker's number."""
    root = str(Path(numeric.__file__).parent.parent)
    with subprocess.Popen(
        [sys.executable, "-c", SESSION, interpreter],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
        start_new_session=True,
    ) as process:
        try:
            worker = int(process.stdout.readline())
            asleep = Path(interpreter).parent.glob
            while process.poll() is None and not list(asleep("*/phcpy/asleep")):
                time.sleep(0.01)
            yield process, worker
        finally:
            process.kill()


def test_parent_killed(fake_phcpy):
    """When its parent is killed, a worker in the middle of a call ends too."""
    with session(fake_phcpy("old")) as (process, worker):
        process.kill()
        process.wait()
        assert gone(worker)


def test_interrupt(fake_phcpy):
    """Ctrl-C, which the terminal sends to the whole group, interrupts the call only."""
    with session(fake_phcpy("old")) as (process, worker):
        os.killpg(process.pid, signal.SIGINT)
        solutions, second = map(int, process.stdout.readline().split())
        assert solutions == 1
        assert second != worker
        assert gone(worker)


# -- with faulty workers -----------------------------------------------------------


@pytest.mark.parametrize("generation", ["old", "new"])
def test_both_generations(fake_phcpy, generation):
    """Old and new phcpy give the same results through the same calls."""
    with PhcpyProcess(PhcpyInstallation(fake_phcpy(generation))) as process:
        version = {"old": "1.1.2", "new": "1.1.5"}[generation]
        assert process.start().version == version
        assert np.allclose(process.solve(power(2), timeout=TIMEOUT).roots, [[1]])
        ends = process.track(power(1), [{(1,): 1, (0,): -2}], [[1.0]], timeout=TIMEOUT)
        assert np.allclose(ends.roots, [[1]])


def test_errors_of_one_system(fake_phcpy):
    """A crash, an exception, a refusal and invalid output affect only their own system."""
    why = {
        7: (PhcpyCrashed, r"ended with status 3 \(raised STORAGE_ERROR : stack overflow\)"),
        9: (PhcpyError, "ValueError: no such thing"),
        11: (PhcpyError, "did not accept"),
        12: (PhcpyError, "cannot be read"),
    }
    with PhcpyProcess(PhcpyInstallation(fake_phcpy("old"))) as process:
        for exponent in (2, 7, 9, 2, 11, 12, 2, 2, 7, 2):
            if exponent == 2:
                assert len(process.solve(power(2), timeout=TIMEOUT).accepted) == 1
                continue
            kind, text = why[exponent]
            with pytest.raises(kind, match=text) as caught:
                process.solve(power(exponent), timeout=TIMEOUT)
            assert caught.type is kind


def test_a_system_that_hangs(fake_phcpy):
    """A system that hangs is a timeout, and the next one is solved."""
    with PhcpyProcess(PhcpyInstallation(fake_phcpy("old"))) as process:
        assert len(process.solve(power(2), timeout=TIMEOUT).accepted) == 1
        refuses(r"1 s", process.solve, power(8), timeout=1.0, error=PhcpyTimeout)
        assert len(process.solve(power(2), timeout=TIMEOUT).accepted) == 1


def test_large_requests(fake_phcpy):
    """Requests larger than a pipe do not block the two sides."""
    large = [{(k,): complex(1 / 3, 1 / 7) for k in range(200, 700)}]
    assert len(PhcSystem.read(large).lines("qd")[0]) > 2**16  # capacity of a pipe in bytes
    with PhcpyProcess(PhcpyInstallation(fake_phcpy("new"))) as process:
        for _ in range(3):
            assert process.solve(large, timeout=TIMEOUT, precision="qd").status == "solved"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("exit 3", "ended with status 3"),
        ("echo libgnat is missing >&2; exit 1", "libgnat is missing"),
        ("kill -SEGV $$", "SIGSEGV"),
        ("echo hello; sleep 60", "not an answer"),
        ("echo '[1, 2]'; sleep 60", "not an answer"),
        ('echo \'{"ready": false, "error": "no phcpy"}\'', "no phcpy"),
        ("exec >&-; sleep 60", "closed its output"),
    ],
)
def test_bad_start(fake_python, text, why):
    """A worker that does not start is an error with the reason, each time."""
    with PhcpyProcess(fake_python(text)) as process:
        for _ in range(2):
            refuses(why, process.solve, power(1), timeout=TIMEOUT, error=PhcpyCrashed)
            assert process.pid is None


def test_silent_start(fake_python):
    """A worker that never reports that it is ready is ended."""
    with (
        PhcpyProcess(fake_python("sleep 60"), start_timeout=0.3) as process,
        pytest.raises(PhcpyTimeout, match=r"0\.3 s"),
    ):
        process.start()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("garbage", "not an answer"),
        ('{"id": 99, "solutions": []}', "99"),
        ('{"solutions": []}', "solutions"),
        ('{"id": 1}', "cannot be read"),
        ('{"id": 1, "solutions": 5, "seconds": 0}', "cannot be read"),
        ('{"id": 1, "solutions": ["xyz"], "seconds": 0}', "cannot be read"),
    ],
)
def test_bad_answers(fake_python, answer, why):
    """Output that is not the result of the request is never accepted as one."""
    text = f"""echo '{{"ready": true, "version": "1", "phcpack": "2"}}'; read line
echo '{answer}'; read line"""
    with (
        PhcpyProcess(fake_python(text)) as process,
        pytest.raises(PhcpyError, match=why),
    ):
        process.solve(power(1), timeout=TIMEOUT)


def test_no_interpreter():
    """An interpreter that does not exist is an error that names it."""
    with (
        PhcpyProcess(PhcpyInstallation("/nowhere/python3")) as process,
        pytest.raises(PhcpyCrashed, match="/nowhere/python3 cannot be started: No such file"),
    ):
        process.start()


# -- without any worker ------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "variables", "status", "solutions"),
    [
        (["x^2 - 2", "3"], ["x"], "inconsistent", 0),
        (["x^2 - 2"], ["x", "y"], "underdetermined", 0),
        (["0*x"], ["x"], "underdetermined", 0),
        ([], [], "solved", 1),
        (["0"], [], "solved", 1),
        (["1"], [], "inconsistent", 0),
    ],
)
def test_trivial_systems_need_no_phcpy(system, variables, status, solutions):
    """Trivial systems are solved without phcpy, and "no root" differs from "no result"."""
    with PhcpyProcess(PhcpyInstallation("/nowhere/python3")) as process:
        result = process.solve(read(system, variables), variables, timeout=TIMEOUT)
    assert result.status == status
    assert len(result.accepted) == solutions


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"timeout": 0}, "`timeout` (0)"),
        ({"timeout": math.nan}, "`timeout` (nan)"),
        ({"timeout": 1, "seed": -1}, "`seed` (-1)"),
        ({"timeout": 1, "newton": -1}, "`newton` (-1)"),
        ({"timeout": 1, "precision": "mp"}, "`precision` ('mp')"),
    ],
)
def test_bad_arguments_of_solve(change, why):
    """Wrong arguments are refused by name before a process is started."""
    with (
        PhcpyProcess(PhcpyInstallation("/nowhere/python3")) as process,
        pytest.raises(InputError) as caught,
    ):
        process.solve(TWO, **change)
    assert why in str(caught.value)


def test_bad_arguments_of_track():
    """Wrong start systems, points and seeds are refused by name."""
    with PhcpyProcess(PhcpyInstallation("/nowhere/python3")) as process:
        good = (power(1), [{(1,): 1, (0,): -2}], [[2]])
        for (target, start, points), change, why in [
            (good, {"seed": -1}, "`seed`"),
            ((*good[:2], [[1, 2]]), {}, "`start_solutions`"),
            ((*good[:2], [[math.inf]]), {}, "`start_solutions`"),
            ((power(1), [{}], [[2]]), {}, "`start`"),
        ]:
            refuses(why, process.track, target, start, points, timeout=1, **change)
