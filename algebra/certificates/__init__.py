r"""Verdicts and their evidence; the families of networks decide which verdict holds.

certificate  A verdict and its evidence: the object, its field names and its plain data
explanation  Why a verdict is known, what stays open, and what would decide it, in sentences
family       The interface of a family of networks
on_ranks     Certification of verdicts that are based on generic ranks
sentences    Sentences that the verdicts of several families share
signing      The programs that make proof files here, written into them
tools        What a search for a verdict may use: seed, limits, methods in floating point
trial_costs  Whether an estimate is worth suggesting: the processor time of a trial
vanishing    Problems whose labels are all 0
verification  The result of a verification, and what it says
"""
