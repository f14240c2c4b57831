"""Circuits: what has to be recorded.

elements  Costs and marks of elements to record, by name or from files
pictures  Picture of what to record, on the grid of units and steps
record    What has to be recorded so that the data determine the weights: the verb record
"""
