r"""Files written safely; stdout and stderr.

files     Writing results: never half a file, never over an input, with errors in one line
output    Stdout whose text is not lost where it cannot be written
progress  A progress bar on stderr, only where stderr is a terminal
costs     Costs and marks of weights, from CSV tables of the matrices' shapes
"""
