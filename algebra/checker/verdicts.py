"""Verdicts: their names, and the note on the laws for which they are known."""

from __future__ import annotations

FORMAT = "matchprob-certificate"
VERSION = 1

# Verdicts on allocations: minimal means MP = 0, maximal MP = 1, intermediate strictly between.
VERDICTS = MINIMAL, MAXIMAL, INTERMEDIATE, UNDECIDED = (
    "minimal",
    "maximal",
    "intermediate",
    "undecided",
)

# For discrete weights or inputs.
DISCRETE = "the law is discrete: this is a statement about generic instances, not about MP"
