"""Allocations found: by a goal and a budget, or near a given one.

demands    What may learn, what it costs, and what is asked of a design
design     Allocations found: the verb design
document   What designs and repairs say
goals      The goals of the verb design: those of `algebra.design.goals`, and the one that takes
           trials
probable   The design with the highest match probability: certified, or raced on common instances
repair     The nearest allocation that meets a goal, and what may be lost: repair and robust
"""
