r"""Budgets: how many equations the weights of a row, a column or a cross take part in.

cover    Equation budgets: rows, columns and crosses with more learnable weights than equations
crosses  Crosses, the cells of some rows and some columns, that hold more weights than equations
limits   Limits of matrices, rows and columns: how many equations weights take part in
lines    Budgets of whole matrices, rows and columns, and covers by them
"""
