"""Allocations found: by a goal and a budget, or near a given one.

demands    What may learn, its costs, and the demands on a design
design     Allocations found: the verb design
document   The documents of designs and repairs
goals      The goals of the verb design: those of `algebra.questions.design.goals`, and the one
           that needs trials
probable   The design with the highest match probability: certified, or raced on common instances
repair     The nearest allocation with a goal, and the weights that may be lost: repair and robust
"""
