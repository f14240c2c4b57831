r"""Files written safely; stdout and stderr.

files     Writing results: never half a file, never over an input, with errors in one line
characters  Characters that a terminal of ASCII or Latin-1 does not know
page      Printed results: as wide as they may be, long lines folded under their own indent
output    Stdout whose text is not lost where it cannot be written
progress  How far the work is: a bar in terminals and notebooks, elsewhere a word
notebook  A bar in a notebook, without widgets
watch     Signs of life on stderr: a call that takes long says what it is at, and for how long
sizes     How large a picture is: its width as a person writes it, its dots
languages Polynomial systems in the languages of other programs
costs     Costs and marks of weights, from CSV tables of the matrices' shapes
things    Costs and marks of things to record, by name or from files
"""
