r"""Verdicts, their evidence and checks; the families of networks decide which verdict holds.

certificate  A verdict and its evidence: the object, its field names and its plain data
compact      Large matrices of proof files written in sparse form
checks       The results of a check, one for each statement of a proof file
claim        The claims in the file of a certificate: the fields that all families share
duals        Evidence for bounds of matroid problems, declared for proof files
explanation  Why a verdict is known, what stays open, and what would decide it, in sentences
family       The interface of a family of networks
formats      Formats of proof files: what every format has around its own statements
fields       Fields of a file read with their exact types, each refusal with its place
maker        What made a proof file: a key that no check relies on
minors       Regular minors in certificates: reading and verification
on_ranks     Certification of verdicts that are based on generic ranks
parts        Fields that several kinds of proof files have: a problem, prices, caps
problem_options  Options of problems in proof files: updates, measured weights, a teacher
points       Ranks that a file gives with a prime and a point, computed again at that point
premises     Theorems behind verdicts, with the features of problems that their proofs cover
rank_claims  Claims that are based on generic ranks: their evidence, and its checks
reading      Reading of proof files: JSON text to plain data, within limits
records      Tables of proof files, declared as dataclasses: read, written, made a schema
root_evidence  A generic root count in a file: its form, and the relations between its fields
signing      The programs that make proof files here, written into them
sparse       Large matrices of proof files in sparse form
statements   Statements of proof files: proved, probable with an error, or unfinished
tables       Tables of proof files about networks: sizes, masks by matrix, laws
tools        What a search for a verdict may use: seed, limits, methods in floating point
trial_costs  Whether an estimate is worth suggesting: the processor time of a trial
verification  The result of a verification, and what it says
verdicts     Names of verdicts, and sentences that families share
vanishing    Structural zeros that leave no path: certificate and verification
"""
