"""The largest ranks over activation patterns: what is exact, what is a lower bound."""

from dataclasses import replace

import numpy as np
import pytest

from algebra.plugins.models.capacity import pieces as pieces_module
from algebra.plugins.models.capacity import ranks
from algebra.plugins.models.capacity.pieces import Piece, largest_rank
from algebra.plugins.models.capacity.result import Subset
from algebra.programs.generic import Model, NoPattern
from algebra.programs.program import Builder
from algebra.time_limits import OutOfTime


def relu(on):
    """A net of four ReLU units, of which so many are on for all samples, on a pattern."""
    build = Builder()
    x = build.sample("x", (3,))
    U, V = build.weight("U", (4, 3)), build.weight("V", (2, 4))
    hidden = build.contract("ij,j->i", U, x)
    program = build.program(build.contract("ij,j->i", V, build.rectified(hidden)))
    [number] = [k for k, node in enumerate(program.nodes) if node.op == "choose"]

    def patterns(m):
        units = np.arange(4)[:, None] < on
        # Half of the samples switch each unit that is on.
        return {
            number: units & (np.arange(m) % 2 ** np.arange(1, 5)[:, None] > 0) | (units & (on < 0))
        }

    return Model(program, patterns=patterns)


ALL = Subset("all", ("U", "V"))


def capacities_on(pieces, subsets, **settings):
    """The same pieces for all subsets."""
    program = pieces[0].model.program
    return pieces_module.capacities_on(program, lambda _: pieces, subsets, **settings)


def test_the_largest_rank_counts():
    """Patterns with fewer units have smaller ranks; the points are listed in their order."""
    pieces = [Piece("file", relu(1)), Piece("training", relu(3)), Piece("training", relu(2))]
    [found] = capacities_on(pieces, [ALL]).subsets
    assert [point.at for point in found.points] == ["file", "training", "training"]
    ranks = [point.rank for point in found.points]
    assert found.rank == ranks[1] == max(ranks) > ranks[0]
    assert not found.exact
    assert found.on_patterns


def test_a_rank_is_exact_if_it_meets_a_bound_for_all_patterns():
    """20 weights less four scales: the largest rank; the capacity must meet its bound, too."""
    assert largest_rank(relu(4), ALL) == 16
    pieces = [Piece("file", relu(4)), Piece("training", relu(4))]
    [found] = capacities_on(pieces, [ALL]).subsets
    assert (found.rank, found.at_weights.rank) == (16, 16)
    assert found.exact == (found.capacity == 8)
    # With four samples 8 labels are the bound.
    [few] = capacities_on(pieces, [ALL], m=40).subsets
    assert (few.rank, few.redundant) == (16, 4)


def test_few_samples_say_nothing_of_the_parameters():
    """A rank that is all of the labels asked is a lower bound, and no parameter is wasted."""
    model = relu(4)
    [number] = model.patterns(1)
    model = replace(model, patterns=lambda m: {number: np.ones((4, m), bool)})
    found = capacities_on([Piece("training", model)], [ALL], m=2)
    [few] = found.subsets
    assert (few.rank, few.exact, few.is_whole, few.error_bound) == (4, False, False, 0)
    table = found.document().parts[0].columns
    assert (table["rank"], table["redundant"]) == (["≥ 4"], ["≤ 16"])
    assert "have the effect of" not in str(found.explain())


def test_a_teacher_is_fitted_where_all_labels_are():
    """Its samples are no fewer than those of arbitrary labels, on whatever pattern each is best."""
    pieces = [Piece("file", relu(2)), Piece("training", relu(4))]
    for subset in (ALL, Subset("U", ("U",)), Subset("V", ("V",))):
        [found] = capacities_on(pieces, [subset]).subsets
        assert found.teacher_capacity is None or found.teacher_capacity >= found.capacity


def test_updates_of_low_rank_have_their_own_bound():
    """k² less for W + U Vᵀ."""
    assert largest_rank(relu(4), Subset("low", (), {"U": 2})) == 2 * (4 + 3) - 4


def test_pieces_without_a_pattern_are_left_out():
    """If no piece has one the error says so."""

    def overflowing(m):
        raise NoPattern("no numbers")

    bad = Piece("file", Model(relu(1).program, patterns=overflowing))
    [found] = capacities_on([bad, Piece("training", relu(2))], [ALL]).subsets
    assert [point.at for point in found.points] == ["training"]
    assert found.at_weights is None
    with pytest.raises(NoPattern, match="no numbers"):
        capacities_on([bad], [ALL])


def test_smooth_programs_have_one_generic_rank():
    """No scale is subtracted, nothing depends on a pattern."""
    build = Builder()
    x = build.sample("x", (2,))
    hidden = build.apply("tanh", build.contract("ij,j->i", build.weight("U", (3, 2)), x))
    model = Model(build.program(build.contract("ij,j->i", build.weight("V", (1, 3)), hidden)))
    [found] = capacities_on([Piece("training", model)], [ALL]).subsets
    assert (found.rank, found.exact, found.on_patterns, found.range) == (9, True, False, "")


def test_lower_bounds_hold_for_larger_subsets():
    """All weights have at least the rank and the capacity of a part of them."""
    part = Subset("V", ("V",))
    pieces = [Piece("training", relu(3)), Piece("training", relu(2))]
    found = {s.name: s for s in capacities_on(pieces, [ALL, part], m=3).subsets}
    assert found["all"].rank >= found["V"].rank
    assert found["all"].capacity >= found["V"].capacity


def test_one_piece_of_a_costly_model(monkeypatch):
    """After the model's own weights one piece where training goes."""
    monkeypatch.setattr(ranks, "MOST_VALUES", 10)
    last = Subset("last", ("V",))
    pieces = [Piece("file", relu(2)), *(Piece("training", relu(k)) for k in (1, 4))]
    [found] = capacities_on(pieces, [last]).subsets
    assert [(point.at, point.rank) for point in found.points] == [("file", 4), ("training", 2)]
    assert (found.rank, found.exact) == (4, False)


def test_ranks_that_meet_the_number_of_labels_need_no_other_pattern():
    """With two given samples four labels are the most, of whatever pattern."""
    last, model = Subset("last", ("V",)), relu(4)
    [number] = model.patterns(2)
    full = replace(model, patterns=lambda m: {number: np.ones((4, m), bool)})
    pieces = [Piece("file", relu(1)), *(Piece("training", full) for _ in range(3))]
    [found] = capacities_on(pieces, [last], m=2).subsets
    assert [(point.at, point.rank) for point in found.points] == [("file", 2), ("training", 4)]
    assert (found.rank, found.capacity) == (4, 2)


def test_rows_are_kept_if_the_time_is_over_at_their_bounds(monkeypatch):
    """Then the number of parameters is the bound, and the rank a lower bound."""

    def late(*_):
        raise OutOfTime("the time limit is over")

    monkeypatch.setattr(pieces_module, "largest_rank", late)
    [found] = capacities_on([Piece("training", relu(4))], [ALL]).subsets
    assert (found.rank, found.exact) == (16, False)


@pytest.mark.parametrize("end", [KeyboardInterrupt, OutOfTime])
def test_an_interrupt_keeps_finished_rows(end):
    """What is finished by then is returned, the smallest subset first; before that, nothing."""
    parts = [ALL, Subset("read-out", ("V",))]
    calls = []

    def ends(after):
        def progress(done, whole):
            calls.append(done)
            if len(calls) > after:
                raise end

        return progress

    pieces = [Piece("file", relu(1)), Piece("training", relu(2))]
    found = capacities_on(pieces, parts, progress=ends(1))
    assert [row.name for row in found.subsets] == ["read-out"]
    assert found.unfinished == ("all",)
    calls.clear()
    with pytest.raises(end):
        capacities_on(pieces, parts, progress=ends(0))


def test_what_is_known_at_the_weights_is_kept(monkeypatch):
    """If the time is over before a piece where training goes, those ranks are lower bounds."""
    own, seen = pieces_module.row_of, []

    def limited(*given, **more):
        seen.append(given)
        if len(seen) > 1:
            raise OutOfTime("the time limit is over")
        return own(*given, **more)

    monkeypatch.setattr(pieces_module, "row_of", limited)
    pieces = [Piece("file", relu(2)), Piece("training", relu(4))]
    found = capacities_on(pieces, [ALL])
    [row] = found.subsets
    assert found.unfinished == ("all",)
    assert (row.rank, row.exact, row.is_whole) == (row.at_weights.rank, False, False)
    assert found.document().parts[0].columns["rank"] == [f"≥ {row.rank}"]
