"""Theorems behind verdicts, with the features of problems that their proofs cover.

A verdict follows from a theorem only for problems whose features
(`algebra.problems.features`) are all in the theorem's allow-list `Premises.covers`; each entry is
the sentence of the proof that covers the feature.  `certify` does not search a theorem for other
problems, and `verify` refuses it there (`need_covered`, called by the frames
`algebra.certificates.on_ranks.certified` and `algebra.checker.claim.verified`).  A feature
that is new is covered by nothing.

Most theorems share sentences on laws.  `ALMOST_ALL` is for a statement about almost all instances:
the exceptions are zeros of polynomials, or of analytic functions, that do not vanish identically.
`NEARBY` is for a statement about all instances near a given one.
"""

from __future__ import annotations

from collections.abc import Collection

from algebra.checker.checks import CheckFailed
from algebra.problems.premises import Covers, Feature, Features, Premises

_DENSITY = "the law has a density that is positive on an open set: null sets have probability 0"
_EXISTING = "the variables are the weights that exist"
_DISCRETE = "the statement is about generic instances, not about MP, and the note says so"

# A statement about almost all instances: fixed weights, samples, labels.
ALMOST_ALL: Covers = {
    Feature.BOUNDED: _DENSITY,
    Feature.DISCRETE: _DISCRETE,
    Feature.SCALES: "a positive factor takes null sets to null sets",
    Feature.SIGNS: "the law has a density that is positive on an open orthant",
    Feature.ZEROS: _EXISTING,
    Feature.MEASURED: "with a jitter the law has a density around the measured number",
    Feature.BOUNDED_MEASURED: _DENSITY,
}

# A statement about the instances near a given one.
NEARBY: Covers = {
    Feature.BOUNDED: "labels are homogeneous in each matrix and in the samples: the instance is "
    "scaled into the support",
    Feature.DISCRETE: _DISCRETE,
    Feature.SCALES: "a positive factor takes open sets to open sets",
    Feature.SIGNS: "the instance has the signs, and so have those near it",
    Feature.ZEROS: "the instance has the structural zeros, and only existing weights move",
    Feature.MEASURED: "normal weights have full support, around every measured number",
}

AT_THE_NUMBERS = "ranks and counts are those at the exact numbers, for generic other weights"
NOISY = "given weights and samples, labels with normal noise have a positive density on all labels"
GENERIC_LABELS = "labels are generic where the rank of the network is their number"
DENSE = "each block of the student is a layer of the target, so their labels fill one variety"
RESTING = "without learnable weights the teacher's labels have a positive density on all labels"
SMALLER_SET = "the weights that the constraints allow are some of all weights"
# Options that may change only which weights a match may have.
CONSTRAINED: Covers = {Feature.BOUNDS: SMALLER_SET, Feature.MATCH_SIGNS: SMALLER_SET}
PARAMETERS = "updates are polynomial in their parameters, and the Jacobian is that by parameters"
NONLINEAR = (Feature.POLYNOMIAL, Feature.ANALYTIC, Feature.BOUNDED_NONLINEAR)
UPDATES: Covers = dict.fromkeys((Feature.LOW_RANKS, Feature.GAINS, Feature.TIES), PARAMETERS)


# A number of complex solutions that all instances have but a null set.
SAME_NUMBER: Covers = {
    **ALMOST_ALL,
    Feature.ARBITRARY_LABELS: GENERIC_LABELS,
    Feature.NOISE: NOISY,
    Feature.DENSE_TARGET: DENSE,
}
# The same for N, the solutions of as many weights as equations, if it is odd.
ODD_NUMBER: Covers = {
    **SAME_NUMBER,
    Feature.EXACT: AT_THE_NUMBERS,
    Feature.RESTING_TEACHER: RESTING,
    Feature.POLYNOMIAL: "N is that of any polynomial labels",
    Feature.BOUNDED_NONLINEAR: "a generic instance has a match, whatever its size",
}

# The number N of solutions of as many weights as equations is odd.
_IN_PARAMETERS = "N counts the solutions in the parameters of the updates (`algebra.ranks.updates`)"
ODD_COUNT = Premises(
    "root_count", "maximal", {**ODD_NUMBER, **dict.fromkeys(UPDATES, _IN_PARAMETERS)}
)
ODD_WHY = (
    "MP = 1: almost every instance has {solutions}, an odd number: non-real ones come in pairs, so "
    "at least one is real."
)

# A generic rank below the number of independent equations implies MP = 0.
RANK_DEFICIT = Premises(
    "rank_deficit",
    "minimal",
    {
        **ALMOST_ALL,
        **CONSTRAINED,
        **UPDATES,
        Feature.EXACT: AT_THE_NUMBERS,
        Feature.ARBITRARY_LABELS: "the labels of all students have measure 0 (Sard)",
        Feature.NOISE: NOISY,
        Feature.POLYNOMIAL: "the theorem is about analytic labels",
        Feature.ANALYTIC: "the theorem is about analytic labels",
        Feature.BOUNDED_NONLINEAR: _DENSITY,
        Feature.DENSE_TARGET: DENSE,
        Feature.RESTING_TEACHER: RESTING,
        Feature.OWN_WEIGHTS: "the proof is for any fixed weights, those of the file too",
    },
)

# If every weight that exists learns, the teacher itself is a student.
EVERYTHING_LEARNS = Premises(
    "everything_learns",
    "maximal",
    dict.fromkeys(
        (*ALMOST_ALL, *NONLINEAR, Feature.PIECES, Feature.OWN_WEIGHTS),
        "the teacher has these weights too, and all of them learn",
    ),
)

# Structural zeros leave no path from an input to an output.
LABELS_VANISH = Premises(
    "labels_vanish",
    "maximal",
    dict.fromkeys(
        (*ALMOST_ALL, *UPDATES, *NONLINEAR, Feature.EXACT, Feature.PIECES),
        "every label is 0, for all weights and samples",
    ),
)

# The labels are affine in some parameters that learn, of full rank.
_AFFINE = "for given other weights the students' labels are an affine space of full dimension"
AFFINE_PART = Premises(
    "affine_part",
    "maximal",
    {
        **ALMOST_ALL,
        **UPDATES,
        Feature.EXACT: AT_THE_NUMBERS,
        Feature.POLYNOMIAL: _AFFINE,
        Feature.ANALYTIC: _AFFINE,
        Feature.BOUNDED_NONLINEAR: _DENSITY,
        Feature.ARBITRARY_LABELS: "as many independent linear equations as labels have a solution",
        Feature.NOISE: NOISY,
        Feature.OWN_WEIGHTS: "the rank is that at the weights of the file",
    },
)
AFFINE_WHY = (
    "MP = 1: the labels are affine in {what}, of full rank: these linear equations have a "
    "solution, whatever else learns."
)


def need_covered(verdict: str, theorem: Premises | None, features: Features) -> None:
    """Refuse a verdict whose theorem is not proved for a problem with these features.

    Parameters
    ----------
    verdict : str
        The claimed one, not "undecided".
    theorem : Premises or None
        What the checks of the evidence showed.
    features : frozenset of Feature

    Raises
    ------
    CheckFailed
    """
    if theorem is None or theorem.claim != verdict:
        raise CheckFailed("verdict", f"no theorem for {verdict!r} was checked")
    missing = theorem.missing(features)
    if missing:
        text = f"{theorem.name}: its theorem is not proved for problems with " + ", ".join(missing)
        raise CheckFailed("verdict", text)


def common(theorems: Collection[Premises]) -> frozenset[Feature]:
    """The features that at least one of some theorems covers."""
    return frozenset(feature for theorem in theorems for feature in theorem.covers)
