"""The number of samples that a set of parameters can fit.

pieces       The largest ranks and capacities over several activation patterns
own_weights  Whether ranks at a model's own weights are more than upper bounds
ranks        Ranks of 1, 2, … samples, capacities
bounds       Upper bounds for each number of samples; affine last layers
reasons      Groups of redundant parameters, with reasons that are checked
effects      Parameters that change no label, and the result of a check
result       `Subset`, of which parameters learn, and the result with its document
"""

from algebra.plugins.models.capacity.pieces import Piece, capacities_on
from algebra.plugins.models.capacity.ranks import capacities, whole_rank
from algebra.plugins.models.capacity.result import Capacity, Subset, SubsetCapacity
from algebra.programs.generic import cells_of

__all__ = [
    "Capacity",
    "Piece",
    "Subset",
    "SubsetCapacity",
    "capacities",
    "capacities_on",
    "cells_of",
    "whole_rank",
]
