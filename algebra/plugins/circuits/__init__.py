r"""The elements to record so that the data determine as many weights as they can.

elements   elements that may be recorded: outputs, entries, samples, steps, hidden units
question   the question: the elements, their costs, the required ones; the matroid of their rows
target     activities that are to be determined instead of the weights
stimulation  units that may be driven in further samples, beside what is recorded
blocks     rows of elements, computed when a search needs them; bounds for the other elements
result     the recorded elements, the bound of the cost; the proof as plain data
recording  the cheapest elements that determine as much as all elements, and a proof of that
proof      reading of the proof file
verify     verification of the proof of a recording, from the file alone
"""
