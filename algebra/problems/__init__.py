r"""A network, what learns in it, structural zeros and laws: the problem, its file, its
symmetries.

allocation    Allocations: which cells of which weight matrices may learn
names         Names of units: neurons, inputs and outputs, as a person calls them
problem       A question: a network, what learns in it, its structural zeros, laws, constraints
edges         Synapses as a list of edges, of published tables, graphs and matrices of counts
tables        Matrices and edge lists in text files, as spreadsheets and NumPy write them
schema        What a problem file may say, as a JSON Schema; what its keys mean
files         Problem files: TOML, with matrices, edge lists and graphs in files beside it
instance_files  One's own instance: weights, samples and a teacher or labels, as rationals
constraints   Bounds, largest changes and signs: what the weights of a match must obey
updates       Matrices that learn by low-rank updates, gains or ties
laws          How weights and samples are drawn, signs, measured weights
learning      All that learns: cells, and matrices with updates
random_cells  Random allocations: 0/1 matrices drawn uniformly under row and column caps
reachability  Paths through the weights that exist: whether any input reaches an output
reduction     A problem solved instead of another one, and how its solutions come back
symmetry      Symmetries of a network that preserve the match probability
"""
