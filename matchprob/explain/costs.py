"""What matches cost, and which of them training finds: profile, train."""

from __future__ import annotations

import math

import numpy as np

from algebra.networks.limits import plural
from algebra.results import Explanation
from numeric.profiles.measures import MEASURES
from numeric.profiles.profile import Profile, ProfileResult
from numeric.statistics.bands import band_half_width
from numeric.training.experiment import MSE, TrainResult

Command = tuple[str, str]
_OTHER = {"adam": "levenberg-marquardt", "gd": "levenberg-marquardt", "levenberg-marquardt": "adam"}


def explain_profile(found: ProfileResult, file: str = "P.toml") -> Explanation:
    """What a profile shows.

    Parameters
    ----------
    found : ProfileResult
    file : str, optional
        How commands are to name the problems.
    """
    seed = f" --seed {found.seed}" if found.seed else ""
    again = f"matchprob profile {file} --by {found.by}{seed} --trials"
    if not found.trials:
        same = (f"{again} {found.requested}", "the same again, with more time")
        return Explanation((), "everything: no trial was finished", "", (same,))
    several = len(found.profiles) > 1
    known = [
        text
        for k, profile in enumerate(found.profiles)
        for text in _of_one(profile, f"{profile.name or f'Problem {k + 1}'}: " * several)
    ]
    half = band_half_width(found.trials, found.confidence)
    known.append(
        f"With {found.confidence:.0%} confidence the whole curve is right within ± {half:.4f}, at "
        "all bounds at once."
    )
    if several:
        known.append(
            f"The ranking turns over {plural(len(found.crossings), f'{len(found.crossings)} time')}"
            ", for certain: which is better depends on the bound."
            if found.crossings
            else "That the ranking turns over at some bound is not shown."
        )
    open_ = max(profile.at(math.inf).undetermined for profile in found.profiles)
    commands: list[Command] = []
    if open_:
        words = (
            f"whether {open_} of {plural(found.trials, f'{found.trials} trial')} have a match at "
            "all: they count on both sides"
        )
        decided = "a complete count of each"
        commands.append((f"{again} {found.requested} --trial-timeout 3600", "more time for each"))
    else:
        words, decided = "the curve within that band: the rest is chance", ""
    if found.is_partial:
        commands.append((f"{again} {found.requested}", "all the trials asked for"))
    elif half > 0.01:
        commands.append((f"{again} {4 * found.trials}", "a band half as wide"))
    if not several:
        commands.append(
            (f"matchprob train {file}{seed}", "which of these matches an optimizer finds")
        )
    return Explanation(tuple(known), words, decided, tuple(commands))


def _of_one(profile: Profile, head: str) -> list[str]:
    """How many trials match without a bound, and what their matches cost."""
    end = profile.at(math.inf)
    trials = plural(profile.trials, f"{profile.trials} trial")
    out = [
        f"{head}Without a bound {end.matched} of {trials} match, {end.unmatched} do not: "
        f"MP between {end.interval.low:.4f} and {end.interval.high:.4f}."
    ]
    costs = [t.high for t in profile.thresholds if math.isfinite(t.high)]
    if costs:
        half, most = (float(np.quantile(costs, q, method="inverted_cdf")) for q in (0.5, 0.9))
        what = MEASURES[profile.by].title.removesuffix(" allowed")
        out.append(
            f"{head}Of those that match half have a match with {what} at most {half:.3g}, nine "
            f"tenths one with at most {most:.3g}."
        )
    return out


def explain_training(found: TrainResult, file: str = "P.toml") -> Explanation:
    """What training shows of the matches that exist.

    Parameters
    ----------
    found : TrainResult
    file : str, optional
        How commands are to name the problem.
    """
    settings = found.settings
    seed = f" --seed {found.seed}" if found.seed else ""
    base = f"matchprob train {file}{seed}"
    if not found.trials:
        same = (f"{base} --trials {found.requested}", "the same again, with more time")
        return Explanation((), "everything: no trial was trained", "", (same,))
    share = found.found_given_exists
    trials = plural(found.trials, f"{found.trials} trial")
    known = [f"A match exists in {found.exists} of {trials}: counted, not trained."]
    if found.exists:
        known.append(
            f"{settings.optimizer} ends at one in {found.found} of these: given that a match "
            f"exists it is found with probability between {share.interval.low:.4f} and "
            f"{share.interval.high:.4f} ({found.confidence:.0%} confidence)."
        )
    known.append(
        f"The papers' criterion (MSE < {MSE:g}) calls {found.below_criterion} trials matched. "
        f"{found.false_matches} of these have no match, and {found.missed_matches} with a match "
        "are missed."
    )
    words = decided = ""
    commands: list[Command] = []
    if found.undetermined:
        words = (
            f"whether a match exists in {found.undetermined} of {trials}; the interval holds "
            "either way"
        )
        decided = "a complete count of each"
        commands.append((f"{base} --trial-timeout 3600", "more time for each count"))
    elif found.exists > found.found:
        words = (
            f"whether the {found.exists - found.found} that are missed are out of reach, or were "
            "given up too early"
        )
        decided = "more steps, restarts, or another optimizer"
    if found.is_partial:
        commands.append((f"{base} --trials {found.requested}", "all the trials asked for"))
    elif found.exists > found.found:
        if not settings.restarts:
            commands.append((f"{base} --restarts 10", "runs from other weights"))
        other = _OTHER.get(settings.optimizer)
        if other:
            commands.append((f"{base} --optimizer {other}", "another optimizer"))
    commands.append((f"matchprob profile {file}{seed}", "what the matches cost that exist"))
    return Explanation(tuple(known), words, decided, tuple(commands))
