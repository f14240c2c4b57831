r"""Does training find the match: gradient methods on batches of students, their ends certified.

approximate  The least loss that a search finds for an instance, whatever its kind
arrival     Whether a run ended at a match: Newton's basin of a certified solution, or a witness
descent     Gradient descent, Adam and Levenberg–Marquardt for a batch of students
experiment  Training beside complete counts: what is found of what exists
students    A batch of students at their starts: weights, samples, labels, starts
losses      Mean squared errors of a batch, their slopes and Jacobians, by reverse mode
"""
