r"""Results as a person reads them: text for a terminal, pictures.

tables       What reports share: tables, masks, colours of verdicts
inspection   The structure report and the equations themselves
certificate  Verdicts and what they rest on; the checks of a verification
audit        Many allocations at once: what an audit and an atlas found
explanation  What a result means, in plain words, below its numbers
enclosures   The real solutions of counted instances, each between its ends
estimate     Counts, estimates, comparisons, and the studies they are kept in
profile      Match probability against a bound: table and picture
train        What training found of the matches that exist
identification  What data determine, on the masks
capacity     Capacities against parameters
recording    What to record, on the grid of units and steps
design       Designs: masks, reasons, bounds
repair       Repairs and what may be lost, before and after
drawing/     Pictures: their one style, and every result as one
"""
