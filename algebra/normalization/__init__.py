r"""The family of networks whose normalization layers learn.

blocks       Which allocations of a normalization network realize every target, layer by layer
certify      Verdicts on normalization networks
dense        Networks over the rationals: targets, and frozen ones with their scales and shifts
inspect      Inspection of normalization networks: the linear system of Lemma 1, layer by layer
khatri_rao   Khatri–Rao products: their generic rank, dense or sparse, and the widths it leads to
matching     Does an instance of a one-hidden-layer normalization network have a match?  Exactly
scales       Tuning only normalization layers, exactly: scales and shifts that realize a target
skip_blocks  Depth instead of width: skip connections feed the input block by block (Theorem 2)
unreachable  Proof modulo a prime that no scales realize a target: quick where rationals are long
verify       Certificates of normalization networks checked again, from scratch
"""
