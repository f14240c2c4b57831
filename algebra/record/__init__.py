r"""What has to be recorded so that the data determine the weights as far as they can.

things     What may be recorded: outputs, entries, samples, steps, hidden units
asked      What is asked: which things, their costs, what must be there; the matroid of their rows
blocks     The rows of things, made when a search asks for them; what bounds the others
result     What to record, how good it is, how far that is proved; its proof as plain data
recording  The cheapest things that determine as much as all of them, and how far that is proved
proof      The proof file read
verify     The proof of a recording checked, from the file alone
"""
