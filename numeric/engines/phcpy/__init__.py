r"""PHCpack through phcpy, in a worker process.

engine         The engine `phcpy`: real solutions, complete or undetermined
floating_core  A core system in floating point: coefficients for solvers, weights from their roots
install        The Python with phcpy, the start of a worker, and errors if phcpy is missing
paths          PHCpack's path tracker from known solutions, in the free inputs of recurrent nets
process        phcpy in a worker process: the blackbox solver and the path tracker of PHCpack
solutions      Solutions in PHCpack's format, and which of them to accept
systems        Polynomial systems in PHCpack's format
worker         The worker process: phcpy with two pipes, one JSON object per line
"""
