"""The papers' figures and tables, one script each: ``matchprob reproduce NAME`` runs it.

paper1_small_nets         First paper: section B.1.1 and the warm-up
paper1_linear             First paper: figures of linear networks
paper1_relu               First paper: figures of shallow ReLU networks
paper1_digits             First paper: allocations on digits
paper1_weights            First paper: its allocations under bounds, and found by training
paper2_training           Second paper, Appendix E: constructed against trained
paper2_sparse             Second paper, Theorem 3: how sparse frozen weights may be
paper2_match_probability  Second paper: match probability of normalization layers
activation_verdicts       Which verdicts of linear networks carry over to tanh and polynomials
large_networks            What MP tends to as a linear RNN grows
classification            Labelled samples, and which allocations let a ReLU net classify them all
normalization_experiment  Appendix E's experiment: three ways to set normalization parameters
normalization_training    Gradient training of small ReLU networks, or of scales and shifts only
sparse_masks              Frozen matrices with random zeros: how often scales still realize targets
"""
