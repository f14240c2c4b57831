r"""The msolve program: text, process, answers.

process  Running the msolve program: where it is, its limits, what its end means
solver   Complex solutions counted over GF(p), real solutions isolated over Q, with msolve
text     The text msolve reads and writes
"""
