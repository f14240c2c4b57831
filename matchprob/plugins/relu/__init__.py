"""Shallow ReLU networks.

decide  One trial decided with a proof: the verb decide
"""
