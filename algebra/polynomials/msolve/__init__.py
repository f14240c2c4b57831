r"""The msolve program: input and output text, process, solvers.

process  Running the msolve program: its path, its limits, its exit status
solver   Complex solutions counted over GF(p), real solutions isolated over Q, with msolve
text     The text that msolve reads and writes
"""
