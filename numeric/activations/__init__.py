"""Instances of networks with activations: solutions found in doubles and certified in balls.

newton     Many Levenberg-Marquardt runs, and what of their ends is certain
krawczyk   A solution proved and enclosed, by Krawczyk's test in ball arithmetic
pool       Certified, distinct solutions from approximate ones
"""
