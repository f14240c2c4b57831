r"""Files written safely; progress on stderr.

files     Writing results: never half a file, never over a folder, with errors in one line
costs     Costs and marks of weights, from CSV tables
progress  A progress bar on stderr, only where stderr is a terminal
costs     Costs and marks of weights, from CSV tables of the matrices' shapes
"""
