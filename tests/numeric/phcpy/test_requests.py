"""Requests and the reading of answers."""

import cmath

import pytest

from algebra.errors import InputError
from numeric.phcpy.channel import PhcpyError
from numeric.phcpy.requests import solve_job, track_job
from numeric.phcpy.solutions import write_solution
from numeric.phcpy.systems import PhcSystem

SYSTEM = PhcSystem.read([{(2,): 1, (0,): -2}], ["x"])


def test_solve_request():
    """A request holds what the worker needs, its seed in PHCpack's range and never 0."""
    request = solve_job(SYSTEM, 0, "dd", 3).request
    assert request["operation"] == "solve"
    assert request["polynomials"] == SYSTEM.lines("dd")
    assert (request["seed"], request["precision"], request["newton"]) == (1, "dd", 3)
    seeds = [solve_job(SYSTEM, s, "d", 0).request["seed"] for s in (2**31 - 3, 2**31 - 2, 10**30)]
    assert seeds[:2] == [2**31 - 2, 1]
    assert all(1 <= seed < 2**31 - 1 for seed in seeds)


def test_track_request():
    """Without a gamma the seed gives one of modulus 1, another for another seed."""
    jobs = [track_job(SYSTEM, SYSTEM, [[1.5]], None, 2, seed, "d", 0) for seed in (4, 4, 5)]
    gammas = [complex(*job.request["gamma"]) for job in jobs]
    assert gammas[0] == gammas[1] != gammas[2]
    assert cmath.isclose(abs(gammas[0]), 1)
    assert jobs[0].request["solutions"] == [write_solution([1.5])]


def test_read():
    """An answer becomes a result in the job's unknowns; an error is raised."""
    job = solve_job(SYSTEM, 0, "dd", 1)
    answer = {"id": 1, "solutions": [write_solution([2**0.5])], "seconds": 0.5}
    result = job.read(answer)
    assert result.variables == ("x",)
    assert result.roots[0, 0] == 2**0.5
    assert result.seconds == 0.5
    with pytest.raises(PhcpyError, match=r"^phcpy: ValueError: why$"):
        job.read({"id": 1, "error": "ValueError: why"})


def test_no_newton_in_quad_double():
    """phcpy's Newton step in quad-double precision is never used."""
    assert solve_job(SYSTEM, 0, "qd", 3).request["newton"] == 0


@pytest.mark.parametrize("points", [[1.0], [[1.0, 2.0]], [[float("nan")]]])
def test_bad_points(points):
    """Points of another shape or not finite are refused."""
    with pytest.raises(InputError, match="`start_solutions`"):
        track_job(SYSTEM, SYSTEM, points, None, 2, 0, "d", 0)
