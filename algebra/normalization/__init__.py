r"""The family of networks whose normalization layers learn.

blocks       Which allocations of a normalization network realize every target, layer by layer
certify      Verdicts on normalization networks
dense        Networks over the rationals: targets, and frozen ones with their scales and shifts
hidden_orders  In which order and scale a frozen network can have the hidden units of a deep ReLU
             target
hidden_scales  Narrow blocks of deep ReLU targets: positive scales of the hidden units that realize
             them
inspect      Inspection of normalization networks: the linear system of Lemma 1, layer by layer
khatri_rao   Khatri–Rao products: their generic rank, dense or sparse, and the widths it leads to
matching     Does an instance of a one-hidden-layer normalization network have a match?  Exactly
reconstruct  A frozen network made equal to a target by its normalization layers, exactly
scales       Scales of one block, exactly: those that realize a layer of a target, or why there are
             none
skip_blocks  Depth instead of width: skip connections feed the input block by block (Theorem 2)
unreachable  Proof modulo a prime that no scales realize a target: quick where rationals are long
verify       Certificates of normalization networks checked again, from scratch
"""
