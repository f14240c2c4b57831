r"""PHCpack behind phcpy, in a worker process.

floating_core  A core system in floating point: coefficients for solvers, weights from their roots
install        Where phcpy is, how a worker is started, and what to do where it is not
process        phcpy in a worker process: the blackbox solver and the path tracker of PHCpack
solutions      Solutions as PHCpack writes them, and which of them to believe
systems        Polynomial systems as PHCpack reads them
worker         The worker process: phcpy behind two pipes, one JSON object a line
"""
