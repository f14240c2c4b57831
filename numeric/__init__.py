r"""Floating-point computations, checked against `algebra`: instances, tracking, certified roots,
engines, studies. `matchprob` imports it; it does not import `matchprob`.

arguments/      Searches for evidence that exact arguments then check
certification/  Krawczyk's test: which approximate roots are near exact ones, and which are real
conditions      Condition of a match: bounds of its Jacobian's smallest singular value
count_result    The counts of many instances: how many real solutions, which are open, and why
counts          Counts of real solutions: one result class for all engines
engines/        Engines: methods that count the solutions of an instance
equations/      Equations as tapes, and the arithmetics that run them: doubles, discs, balls, lanes
experiments/    Profiles of the cost of a match, and training
families/       What is particular to ReLU networks, normalization and activations
float_simplex   A guess in doubles of the final basis of a linear program, which exact arithmetic
                then checks
instances       Random instances: fixed weights, teacher and samples of one trial
kernels         Compiled functions, cached under a key of all their sources
levenberg_marquardt  Damped Gauss–Newton for a batch of real starts
questions/      Questions besides the verdict: recordings under noise, caps of designs
solutions       Cost of each match: size, change, signs, residual after rounding, condition
statistics/     Statistics of trials: intervals, confidence sequences, comparisons
streams         Random streams of the parts of trials, seeded one by one or together
studies/        Stored trials: computed by several processes or machines, resumable
tracking/       Path tracking between instances, monodromy and the number of solutions
warm_up         Compiles the kernels before their first use
"""
