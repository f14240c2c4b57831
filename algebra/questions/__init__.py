"""Questions about an allocation or a network besides the verdict.

capacity/   How many samples can parts of a model fit, and which parameters are redundant?
design/     Which allocation is optimal for a goal?
identify/   Which weights do the data determine?
premises    The features of problems for which questions about generic weights have answers
record/     What has to be recorded so that the data determine the weights?
surveys/    What holds for many allocations of a network at once?
theorems/   What do the papers' theorems say of an allocation?
"""
