"""Features of problems: every option brings one, and a field without an entry is an error."""

import dataclasses

import pytest

import matchprob as mp
from algebra.problems.features import _OF_LAWS, features, need_entries
from algebra.problems.premises import Feature, Premises
from algebra.problems.random_cells import RandomCells
from tests.samples import NET

EYE = {"W": [[1, 0], [0, 1]]}
TIED = {"W": {"tied": [[1, 1], [2, 0]]}}
TANH = mp.RNN(n=2, T=2, b=1, d=1, m=2, activation="tanh")
SQUARE = mp.RNN(n=2, T=2, b=1, d=1, m=2, activation={"polynomial": [0, 0, 1]})
RELU = mp.ShallowReLU(q=2, n=2, d=1, m=2)
WIDER = mp.LinearRNN(n=3, T=2, b=1, d=1, m=2)


def _law(**laws):
    return mp.Problem(NET, EYE, distribution=mp.Distribution(**laws))


def _taught(teacher, **laws):
    return mp.Problem(
        NET, EYE, teacher=mp.Problem(teacher, {}, distribution=mp.Distribution(**laws))
    )


PROBLEMS = [
    (mp.Problem(NET, EYE), set()),
    (_law(weights="uniform"), {"bounded laws"}),
    (_law(inputs="rademacher"), {"bounded laws", "discrete laws"}),
    (_law(scale={"W": 2}), {"scales of matrices"}),
    (_law(signs=[1, -1]), {"signs of weights"}),
    (_law(labels="normal"), {"arbitrary labels"}),
    (mp.Problem(NET, EYE, support=EYE), {"structural zeros"}),
    (
        mp.Problem(NET, EYE, values={"B": [[1], [2]]}),
        {"measured weights", "fixed weights that are exact numbers"},
    ),
    (
        mp.Problem(
            NET,
            EYE,
            values={"B": [[1], [2]], "jitter": 1},
            distribution=mp.Distribution(teacher="uniform"),
        ),
        {"measured weights", "bounded laws", "measured weights with bounded laws"},
    ),
    (mp.Problem(NET, EYE, values={"W": [[1, None], [None, 2]]}), {"measured weights"}),
    (
        mp.Problem(NET, EYE, distribution=mp.Distribution(noise="1/10")),
        {"arbitrary labels", "noise of labels"},
    ),
    (mp.Problem(NET, EYE, constraints=mp.Constraints(max_abs=1)), {Feature.BOUNDS}),
    (mp.Problem(NET, EYE, constraints=mp.Constraints(sign="keep")), {Feature.MATCH_SIGNS}),
    (mp.Problem(NET, {"W": RandomCells(budget=2)}), {"random cells"}),
    (mp.Problem(NET, TIED), {"ties"}),
    (mp.Problem(NET, {"W": {"gain": "rows"}}), {"gains"}),
    (mp.Problem(NET, {"W": {"lora": 1}}), {"low ranks"}),
    (mp.Problem(TANH, EYE), {"analytic activations"}),
    (mp.Problem(SQUARE, EYE), {"polynomial activations"}),
    (mp.Problem(RELU, {"W1": [[1, 1], [0, 0]]}), {"labels on pieces"}),
    (_taught(WIDER), {"a teacher of another network"}),
    (
        _taught(WIDER, weights="uniform"),
        {"a teacher of another network", "bounded laws", str(Feature.NOT_CONTAINED)},
    ),
    (_taught(mp.RNN(n=2, T=2, b=1, d=1, m=2, activation="tanh")), {
        "a teacher of another network", str(Feature.NOT_CONTAINED),
    }),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "expected"), PROBLEMS)
def test_every_option_brings_its_feature(problem, expected):
    """The features of a problem are those of its options, and of pairs that meet in a premise."""
    assert set(map(str, problem.features)) == set(map(str, expected))
    assert problem.features == features(problem)


def test_a_field_without_an_entry_is_an_error():
    """An option that nobody gave a feature cannot be loaded."""
    more = dataclasses.make_dataclass(
        "Distribution", [("tail", str, "")], bases=(mp.Distribution,), frozen=True
    )
    with pytest.raises(TypeError, match="fields of Distribution and their features differ: tail"):
        need_entries(more, _OF_LAWS)


def test_premises_are_an_allow_list():
    """What is not listed is not covered."""
    own = Premises("a theorem", "maximal", {Feature.ZEROS: "they are there"})
    assert own.applies(frozenset())
    assert own.applies(frozenset({Feature.ZEROS}))
    assert own.missing(frozenset(Feature)) == tuple(sorted(set(Feature) - {Feature.ZEROS}))
