r"""How proof files are read and their statements checked: what a check needs, and no search.

Nothing here imports a family, an argument, a question, a system of equations or a result: these
hand their checks over (`formats.ProofFormat`).  `python -m matchprob.check` runs them.

affine_part      Linear networks whose labels are affine in weights of full rank
arrays           Matrices of proof files as arrays
checks           The results of a check, one for each statement of a proof file
claim            The claims in the file of a certificate: the fields that all families share
compact          Large matrices of proof files written in sparse form
duals            Evidence for bounds of matroid problems, declared for proof files
fields           Fields of a file read with their exact types, each refusal with its place
formats          Formats of proof files: what every format has around its own statements
linear           Certificates of linear networks that follow by linear algebra, as plain data
linear_map       The map of a linear network in FLINT's matrices: derivatives, ranks at points
maker            What made a proof file: a key that no check relies on
minors           Regular minors in certificates: reading and verification
network_ranks    Ranks of networks of every kind, in arrays
new_points       A generic rank at new points, by a check's own code where matrices are small
parts            Fields that several kinds of proof files have: a problem, prices, caps
points           Ranks that a file gives with a prime and a point
premises         Theorems behind verdicts, with the features of problems that their proofs cover
problem_tables   The problem of a proof file
problem_options  Options of problems in proof files: updates, measured weights, a teacher
rank_claims      Claims that are based on generic ranks: their evidence, and its checks
rank_data        A rank in a file with its witness, checked there and at new points
reading          Reading of proof files: JSON text to plain data, within limits
records          Tables of proof files, declared as dataclasses: read, written, made a schema
root_evidence    A generic root count in a file: its form, and the relations between its fields
sparse           Large matrices of proof files in sparse form
statements       Statements of proof files: proved, probable with an error, or unfinished
tables           Tables of proof files about networks: sizes, masks by matrix, laws
vanishing        Structural zeros that leave no path: evidence and check
verdicts         Names of verdicts, and the note on discrete laws
"""
