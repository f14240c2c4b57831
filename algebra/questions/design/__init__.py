r"""Designs: allocations that are optimal for a goal, with proofs of optimality.

goals       The goals of a design: the registry used by the verb, its help and its page
demand      The demand on a design: which weights may and must learn, costs, caps, number
result      A design, its value, and the bound that is proved
cheapest    Goals "cheapest" and "rank", the largest within a cost budget: matroid intersection, or
            branch and bound
ties        How many designs are as cheap: weights in every one of them, and in none
spread      Goal "spread": the least cap that a design can keep
neurons     Goal "neurons": branch and bound over rows (or columns), with a bound that respects caps
maximal     Goal "maximal": root counts in order of cost
odd_counts  Root counts of many allocations: certified maximal, or not, by an odd count
ranked      Bases in order of cost, the cheapest first
reasons     Reasons why a design is impossible, with numbers that can be checked
proof       The proof file: the claims of each goal
verify      Verification of the proof of a design, from the file alone
repair      The fewest weights to move so that MP > 0, or that MP = 1 is certified
robustness  The number of learnable weights that may be lost before MP becomes 0
"""
