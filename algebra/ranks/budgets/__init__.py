r"""Budgets: bounds of the equations that the weights of a row, a column or a cross affect.

cover    Equation budgets: rows, columns and crosses with more learnable weights than equations
crosses  Crosses, the cells of some rows and some columns, that hold more weights than equations
lines    Budgets of whole matrices, rows and columns, and covers by them
"""
