r"""Floating-point computations, checked against `algebra`: instances, tracking, certified roots,
engines, studies. `matchprob` imports it; it does not import `matchprob`.

arguments/      Searches for evidence that exact arguments then check
certification/  Krawczyk's test: which approximate roots are near exact ones, and which are real
engines/        Engines: methods that count the solutions of an instance
equations/      Equations as tapes, and the arithmetics that run them: doubles, discs, balls, lanes
families/       What is particular to networks with activations
kernels         Compiled functions, cached under a key of all their sources
linalg/         Methods in doubles that know nothing of networks: least squares, linear programs
matches/        What a match costs: size, change, residual after rounding, condition
programs/       Programs in doubles: students, losses, optimizers, activation patterns
plugins/        What the core does without: relu, normalization, circuits, papers, training
questions/      Questions besides the verdict: caps of designs
statistics/     Statistics of trials: intervals, confidence sequences, comparisons
studies/        Stored trials: computed by several processes or machines, resumable
tracking/       Path tracking between instances, monodromy and the number of solutions
trials/         One trial: its random numbers, its instance, its count
warm_up         Compiles the kernels before their first use
"""
