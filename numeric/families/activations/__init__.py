"""Instances of networks with activations: solutions found in doubles and certified in balls.

newton     Levenberg-Marquardt runs from many starts, with certified endpoints
krawczyk   A proved enclosure of a solution, by Krawczyk's test in ball arithmetic
pool       Certified, distinct solutions from approximate ones
"""
