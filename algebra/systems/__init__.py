r"""The equations of an allocation, their incidence, their core, and the generic root count N.

core         The core of a system: what exact elimination leaves, and the way back to the weights
elimination  Exact elimination of linear sub-blocks: the core system
incidence    Structure of a system of equations: matchings, Dulmage–Mendelsohn, block triangular
             form
inspection   The report of an inspection: forms, blocks, core, budgets
root_count   The generic root count N: how many complex solutions a generic instance has
system       The polynomial equations an allocation leads to
"""
