r"""Allocations chosen for a purpose, with proofs that nothing is better.

cheapest    Allocations chosen for a purpose: the cheapest that is not minimal, the most spread
            one
demand      What is asked of a design: which weights may learn, which must, costs, caps, how many
maximal     The cheapest allocation that is certified maximal
neurons     The fewest neurons that need to learn: a branch and bound over rows (or columns)
odd_counts  Quick rulings on many allocations: certified maximal, or not, by an odd root count
proof       The proof that a design is cheapest, as plain data that somebody else can check
ranked      Bases in the order of their cost, the cheapest first, without end until there are no
            more
reasons     Why a design is impossible, in words with numbers that can be checked
repair      The fewest weights to move so that an allocation is not minimal, or is certified
            maximal
robustness  How many learnable weights may be lost before the match probability drops to 0
evidence    What proves a design's bounds: frozen, of exact types, written to a file and read from
            it
goals       The goals a design may have, each in one place: its search, its proof, a line of help
result      A chosen allocation, how good it is, and how far that is proved
verify      The proof of a design checked, from the file alone
"""
