r"""The family of networks whose normalization layers learn.

augmented    Linear normalization networks as products of augmented matrices
blocks       Allocations of a normalization network that realize every target, layer by layer
certify      Verdicts on normalization networks
dense        Networks over the rationals: targets, and frozen ones with their scales and shifts
hidden_orders  Orders and scales of a deep ReLU target's hidden units that a frozen network
             can realize
hidden_scales  Narrow blocks of deep ReLU targets: positive scales of the hidden units that realize
             them
inspect      Inspection of normalization networks: the linear system of Lemma 1, layer by layer
khatri_rao   Khatri–Rao products: their generic rank, dense or sparse, and the widths it leads to
matching     Exact decision whether an instance of a one-hidden-layer network has a match
network      Networks whose normalization layers learn: frozen matrices, tunable scales and
             shifts; linear ones as multi-layer linear networks, by augmented matrices
reconstruct  Normalization layers that make a frozen network equal to a target, exactly
scales       Exact scales of one block that realize a layer of a target, or a proof that none
             do
skip_blocks  Depth instead of width: skip connections feed the input block by block (Theorem 2)
unreachable  Proof modulo a prime that no scales realize a target: fast if rationals are long
verify       Verification of certificates of normalization networks
"""
