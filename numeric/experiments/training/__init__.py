r"""Training experiments: how often gradient methods find a match, certified.

arrival     Whether a run ended at a match: Newton's basin of a certified solution, or a witness
document    The document of a training experiment
experiment  Training and complete counts: which of the existing matches are found
"""
