"""Studies with intermediate results, also of a study that is stopped early."""

import pytest

from matchprob import Problem, Study
from matchprob.plugins.page.trials import Sizes, stream_estimate
from tests.samples import DIAGONAL, NET


def told(stop_at, trials, problem=DIAGONAL, complete=True):
    """The events of a study, which is interrupted at an event with so many trials."""
    events = []

    def tell(event, found=None):
        events.append({**event, "found": found})
        if found is None and event["trials"] >= stop_at:
            raise KeyboardInterrupt

    stream_estimate(problem, {"trials": trials, "seed": 0, "complete": complete}, tell)
    return events


@pytest.mark.parametrize("stop_at", [1, 9, 600])
def test_a_study_that_is_stopped_keeps_its_slider(stop_at):
    """However early the stop, the last event has the match probability against a bound."""
    last = told(stop_at, 100_000)[-1]
    assert last["found"].is_partial
    assert last["document"] == last["found"].document().html()
    assert last["trials"] >= stop_at
    assert last["bounds"] or "no match" in last["bounds_why"]
    if last["found"].matched:
        assert 0 < last["bounds"][-1]["trials"] <= last["trials"]


def test_the_last_event_has_all_sizes():
    """Without interrupt the last event has all trials, also if sizes are computed in parts."""
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
def test_the_reason_is_given_if_there_are_no_sizes(mask, complete, why):
    """If matches are not listed, the event contains the reason."""
    last = told(10**9, 5, Problem(NET, {"W": mask}), complete)[-1]
    assert last["bounds"] == []
    assert why in last["bounds_why"]


def test_sizes_keep_their_time_limit():
    """A profile has the trials for which there was time; the next call continues."""
    with Study(DIAGONAL, complete=True, certify=False) as study:
        counts = study.run(60).counts
        sizes = Sizes(DIAGONAL, 0, study.work.settings.engine)
    for k in range(1, 61):
        sizes.points(counts, seconds=0.0)
        assert sizes.missing(counts) == 60 - k
    assert sizes.points(counts) == Sizes(DIAGONAL, 0, "homotopy").points(counts, seconds=600.0)
