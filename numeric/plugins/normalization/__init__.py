r"""Scales and shifts in doubles: construction and its proof.

construct      Scales and shifts in doubles that realize a target network, with a proved error
               bound
document       The document of a tuned network: its distance from the target, and what is proved
               about it
goals          The goal of each block of a frozen network: a layer of the target, possibly
               rescaled
low_rank       A target of one layer and low rank as two layers
realize        One instance realized layer by layer, in rationals
scales         Scales of one block in doubles: linear solves, their condition, the best
               approximation
skip_blocks    Theorem 2's construction in doubles: depth instead of width, with a proved error
               bound
"""
