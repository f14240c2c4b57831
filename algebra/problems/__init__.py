r"""Problems: a network, its learnable weights, structural zeros and laws; their files, symmetries.

allocation    Allocations: which cells of which weight matrices may learn
as_layers     Models that are feed-forward networks
cells         Cells as data, as columns of a table, as text
mask_pictures  Masks as pictures made of characters, and a problem as a notebook shows it
names         Names of units: neurons, inputs and outputs
options       Options of a problem that do not go together
plain         Problems as plain data, as the text of a problem file, in words
populations   Populations of units by their names in problem files; names of units checked
units_in_text  Names of units in texts: found in tables, inserted after numbers
problem       A problem: a network, its learnable weights, structural zeros, laws, constraints
edges         Synapses as a list of edges, of published tables, graphs and matrices of counts
edge_columns  Long edge lists, coded by columns
arrow_tables  Feather and Parquet files, by columns
headers       Words of published edge lists: headers of columns, types of synapses
sheets        Tables of texts as they are published: separators, encodings, workbooks, compression
file_entries  Entries of problem files that name another file
sample_tables  Tables of samples: a row of numbers for each sample
unit_tables   Tables of units: columns of names, types, transmitters, roles
tables        Matrices and edge lists in files, as spreadsheets, NumPy and MATLAB write them
schema        The format of problem files as a JSON Schema, with the meaning of each key
files         Problem files: TOML, with matrices, edge lists and graphs in files beside it
instance_files  Instances given by the user: weights, samples and a teacher or labels, as rationals
constraint_entries  Entries of [constraints]: forms in files, checks
constraints   Constraints on a match: bounds, largest changes and signs of the learnable weights
intervals     Intervals of rationals, and numbers in them as columns of a linear program
updates       Matrices that learn by low-rank updates, gains or ties
laws          Laws of weights and samples, signs, measured weights
learning      The parameters that learn: single cells and matrices with updates
cell_types    Which parameters move together
random_cells  Random allocations: 0/1 matrices drawn uniformly under row and column caps
reduction     A problem that is solved in place of another one, and the way back of its solutions
renaming      Hidden units renamed: one allocation stands for all that differ by their order
premises      The names of features, and allow-lists of them
features      The features of a problem, which a theorem has to cover
variants      Variants of a problem file: one entry takes several values
symmetry      Symmetries of a network that preserve the match probability
"""
