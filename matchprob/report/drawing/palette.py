"""The colours of all pictures.

Any two of them are distinguishable in normal, deuteranopic and protanopic vision: they differ by at
least 20 in CIELAB after the dichromacies are simulated as in [1]_ (checked in a test).

References
----------
.. [1] G. Machado, M. Oliveira, L. Fernandes, "A physiologically-based model for simulation of
   color vision deficiency", IEEE TVCG 15 (2009), 1291-1298.
"""

from __future__ import annotations

BLUE, ORANGE, SKY = "#0072b2", "#e08a00", "#56b4e9"
VERMILION, YELLOW, ROSE = "#b03a00", "#f0e442", "#cc79a7"
ABSENT, INK = "#e4e4e4", "#202020"
PALETTE = (BLUE, ORANGE, SKY, VERMILION, YELLOW, ROSE, ABSENT, INK)

# Curves side by side, in this order.
SERIES = (BLUE, VERMILION, ORANGE, ROSE, SKY, INK)
VERDICTS = {"maximal": BLUE, "minimal": VERMILION, "intermediate": ORANGE, "undecided": ROSE}
OUTCOMES = {"matched": BLUE, "unmatched": VERMILION, "undetermined": ORANGE}
