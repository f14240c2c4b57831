r"""Allocations chosen for a purpose, with proofs that nothing is better.

goals       The goals a design may have: the registry that the verb, its help and its page use
demand      What is asked of a design: which weights may learn, which must, costs, caps, how many
result      A chosen allocation, how good it is, and how far that is proved
cheapest    Goals "cheapest" and "rank", the largest within a cost budget: matroid intersection, or
            branch and bound
spread      Goal "spread": the least cap that a design can keep
neurons     Goal "neurons": a branch and bound over rows (or columns), with a bound under caps
maximal     Goal "maximal": root counts in the order of cost
odd_counts  Many allocations, quickly: certified maximal, or not, by an odd root count
ranked      Bases in the order of their cost, the cheapest first, until there are no more
reasons     Why a design is impossible, in words with numbers that can be checked
evidence    What proves a design's bounds: frozen, of exact types, written to a file and read
proof       The proof file: what each goal claims
verify      The proof of a design checked, from the file alone
repair      The fewest weights to move so that MP > 0, or that MP = 1 is certified
robustness  How many learnable weights may be lost before the match probability drops to 0
"""
