"""Instances of networks with activations: solutions in doubles, certified in balls, or excluded.

newton     Levenberg-Marquardt runs from many starts, with certified endpoints
boxes      All real weights, few of them, divided into boxes by branch and bound
decision   The decision of one instance, with its evidence
reach      A search for labels that no values of the learnable weights give
krawczyk   A proved enclosure of a solution, by Krawczyk's test in ball arithmetic
pool       Certified, distinct solutions from approximate ones
"""
