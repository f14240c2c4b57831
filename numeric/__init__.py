r"""Floating point, held against `algebra`: instances, tracking, certified roots, engines,
studies.

activations/    Instances of networks with activations: found in doubles, certified in balls
adam            Adam's steps
caches          Folders that outlive a call: start systems, compiled kernels
cap_relaxation  Multipliers for bases under several kinds of caps, from a linear program
certification/  Krawczyk's test: which approximate roots are roots, and which of them are real
chains/         Chains of matrix products in several arithmetics: doubles, discs, balls, vector
                lanes
children        A child process that is spoken to in lines of JSON
conditions      How well a match is determined: bounds of its Jacobian's smallest singular value
counts          Counts of real solutions: one result for every engine
engines/        Engines: how the solutions of an instance are counted
float_simplex   Where a linear program ends, guessed in doubles: the basis that exact arithmetic
                then checks
instances       Random instances: fixed weights, teacher and samples of one trial
kernels         Compiled functions, cached under a key of all their sources
levenberg_marquardt  Damped Gauss–Newton from many real starts at once
normalization/  Scales and shifts in doubles: construction, training, sparse masks
phcpy/          PHCpack behind phcpy, in a worker process
profiles/       Match probability as a function of what a match may cost
programs/       Programs in machine numbers
relu/           Shallow ReLU instances in floating point: trees that search, programs that bound
solutions       What each match costs: sizes, changes, signs, what rounding leaves, condition
statistics/     From trials to statements: intervals, confidence sequences, comparisons
studies/        Trials kept, shared among processes and machines, and taken up again
training/       Does training find the match: gradient methods, their ends certified
tracking/       Paths from one instance's solutions to another's, and how many there are
warm_up         Compile the kernels ahead of their first use
"""
