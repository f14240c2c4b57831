"""Studies with intermediate results: one that is stopped early shows the results so far."""

import pytest

from algebra.problems.problem import Problem
from matchprob.page.trials import Sizes, stream_estimate
from numeric.studies.study import Study
from tests.samples import DIAGONAL, NET


def told(stop_at, trials, problem=DIAGONAL, complete=True):
    """The pictures of a study, interrupted when one shows so many trials."""
    events = []

    def tell(event, found=None):
        events.append({**event, "found": found})
        if found is None and event["trials"] >= stop_at:
            raise KeyboardInterrupt

    stream_estimate(problem, {"trials": trials, "seed": 0, "complete": complete}, tell)
    return events


@pytest.mark.parametrize("stop_at", [1, 9, 600])
def test_a_study_that_is_stopped_keeps_its_slider(stop_at):
    """The last picture has the match probability against a bound, however early the stop."""
    last = told(stop_at, 100_000)[-1]
    assert last["found"].is_partial
    assert last["document"] == last["found"].document().html()
    assert last["trials"] >= stop_at
    assert last["bounds"] or "no match" in last["bounds_why"]
    if last["found"].matched:
        assert 0 < last["bounds"][-1]["trials"] <= last["trials"]


def test_the_end_has_all_sizes():
    """A study that was not interrupted shows all its trials; a stop of the sizes loses nothing."""
    last = told(10**9, 300)[-1]
    assert last["bounds"][-1]["trials"] == last["trials"] == 300
    assert last["bounds"][-1]["matched"] == last["found"].matched
    assert {point["confidence"] for point in last["bounds"]} == {last["found"].confidence}
    last = told(300, 300)[-1]
    assert last["trials"] == 300
    assert not last["found"].is_partial


@pytest.mark.parametrize(
    ("mask", "complete", "why"),
    [
        ([[1, 0], [0, 0]], True, "no match was found"),
        ([[1, 1], [0, 0]], False, "not every solution"),
        ([[1, 1], [1, 0]], True, "more weights learn than there are equations"),
    ],
)
def test_no_sizes_and_why(mask, complete, why):
    """Where matches are not listed, the page is given the reason."""
    last = told(10**9, 5, Problem(NET, {"W": mask}), complete)[-1]
    assert last["bounds"] == []
    assert why in last["bounds_why"]


def test_sizes_take_no_longer_than_asked():
    """A picture is of as many trials as there was time for, and the next goes on from there."""
    with Study(DIAGONAL, complete=True, certify=False) as study:
        counts = study.run(60).counts
        sizes = Sizes(DIAGONAL, 0, study.work.settings.engine)
    for k in range(1, 61):
        sizes.points(counts, seconds=0.0)
        assert sizes.missing(counts) == 60 - k
    assert sizes.points(counts) == Sizes(DIAGONAL, 0, "homotopy").points(counts, seconds=600.0)
