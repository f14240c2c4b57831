r"""Files written safely; stdout and stderr; input that is no problem file.

files     Writing results atomically, never over an input, with one-line errors
characters  Replacements for characters that ASCII or Latin-1 cannot encode
page      Printed results: width of the output, and folding of long lines with their indent
output    A stdout that reports text that could not be written
progress  Progress: a bar in terminals and notebooks, text elsewhere
notebook  A progress bar in a notebook, without widgets
watch     Status lines on stderr: the phase of a long call and its time
sizes     Size of a picture: its width with unit, its resolution
languages Polynomial systems in the languages of other programs
costs     Costs and marks of weights, from CSV tables of the matrices' shapes
citation  Entries of a bibliography: matchprob and the papers whose questions it answers
"""
