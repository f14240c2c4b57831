r"""Training experiments: how often gradient methods find a match, certified.

arrival     Whether a run ended at a match: Newton's basin of a certified solution, or a witness
document    The document of a training experiment
experiment  Training and complete counts: which of the existing matches are found
optimizers  The first paper's criterion for ReLU nets: an optimizer, and "a match" where MSE < 1e-2
profiles/   Match probability as a function of a bound on the match's cost
"""
