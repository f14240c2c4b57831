r"""Exact algebra without floating point. `numeric` and `matchprob` import it; it imports neither.

arguments/      The arguments for verdicts: theorem, search, check; one certify and one verify
checker/        How proof files are read and their statements checked
certificates/   Verdicts and their evidence
children        Child processes: started, waited for and ended in one place
declarations    Tables of files, declared as dataclasses, and their reading
documents       The content of a result as plain data, and its renderings as text and HTML
errors          Classes of errors, and short texts of values for their messages
families/       What is particular to a family of networks, and the registry of families
files/          Files that are read: opened, bounded and checked in one place
frames          Data frames of pandas or polars
latex           Tables of results in LaTeX
given           Values that users give to functions: tables, lists, matrices, words
installing      The commands that install optional parts, as matchprob itself was installed
linalg/         Linear algebra over GF(p) and Q, independent of networks
matroids/       Least-cost bases of linear matroids under caps, independent of networks
networks/       Network kinds, one file each: sizes, matrices and the map they compute
polynomials/    Polynomial rings, ideals and their points, independent of networks
problems/       A network, what learns in it, structural zeros and laws: the problem, its file,
                its symmetries
programs/       Networks as lists of operations, evaluated in many arithmetics
plugins/        What the core does without: models, relu, normalization, circuits, papers
questions/      Questions besides the verdict: identify, design
ranks/          Generic ranks: the decision whether MP = 0, and explanations by counting
results         The base class of results: a document, a data frame, a picture
pictures        The function that draws results, which `matchprob` registers
schemas         The JSON Schema of tables of files, made from their declarations
systems/        The equations of an allocation, their incidence, their core, and the generic root
                count N
memory_limits   One memory limit for a whole call, compared with estimates before the work
work            Work, by which the parts of a search end
time_limits     One time limit for a whole call, checked in the innermost loops; phases
words           Words of counts and lists, as results print them
workers         Child processes that answer one request after the other
"""
