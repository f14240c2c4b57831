r"""Floating-point computations, checked against `algebra`: instances, tracking, certified roots,
engines, studies.

activations/    Instances of networks with activations: solved in doubles, certified in balls
adam            The Adam optimizer
caches          Folders that persist between calls: start systems, compiled kernels
cap_relaxation  Multipliers for bases under several kinds of caps, from a linear program
certification/  Krawczyk's test: which approximate roots are near exact ones, and which are real
chains/         Chains of matrix products in several arithmetics: doubles, discs, balls, vector
                lanes
children        A child process with a protocol of JSON lines
conditions      Condition of a match: bounds of its Jacobian's smallest singular value
count_result    The counts of many instances: how many real solutions, which are open, and why
counts          Counts of real solutions: one result class for all engines
definite_search  A search for a positive definite form that proves MP < 1
engines/        Engines: methods that count the solutions of an instance
float_simplex   A guess in doubles of the final basis of a linear program, which exact arithmetic
                then checks
gradings        Sign symmetries of recurrent nets: instances whose solutions come in pairs
instances       Random instances: fixed weights, teacher and samples of one trial
kernels         Compiled functions, cached under a key of all their sources
levenberg_marquardt  Damped Gauss–Newton for a batch of real starts
normalization/  Scales and shifts in doubles: construction, training, sparse masks
phcpy/          PHCpack through phcpy, in a worker process
profiles/       Match probability as a function of a bound on the match's cost
programs/       Programs evaluated in doubles
relu/           Shallow ReLU instances in floating point: tree searches and linear programs
solutions       Cost of each match: size, change, signs, residual after rounding, condition
statistics/     Statistics of trials: intervals, confidence sequences, comparisons
studies/        Stored trials: computed by several processes or machines, resumable
training/       Training experiments: how often gradient methods find a match, certified
tracking/       Path tracking between instances, monodromy and the number of solutions
warm_up         Compiles the kernels before their first use
"""
