"""One folder for each family of networks: what is particular to it, and nothing outside asks which.

activations/      Networks with activation functions and biases
arbitrary_labels  Verdicts under arbitrary labels by counting, for any family
certify           Verdicts of every family, and what the papers say
equations         Structure and written forms of the equations of an allocation
linear/           Networks that are chains of matrices
other_teacher     Verdicts if a network of another size, activation or kind gives the labels
registry          The families; verify by the family of a network
theorems          All theorems that verdicts follow from, with the features that each covers
updates/          Problems whose matrices learn by low-rank updates, gains or ties
verify            Certificates verified: by the check's own map, or by the family
"""
