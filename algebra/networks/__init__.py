r"""Network kinds, one file each: sizes, matrices and the map they compute.

base           Network architectures: sizes, weight matrices and the map they compute
normalization  Networks whose normalization layers learn: frozen matrices, tunable scales and
               shifts
"""
