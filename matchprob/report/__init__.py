r"""Results for readers: text for a terminal, pictures.

tables       Parts shared by reports: tables, masks, colours of verdicts
inspection   The structure report and the equations themselves
certificate  Verdicts and their evidence; the checks of a verification
audit        Results on many allocations: of an audit and an atlas
explanation  The explanation of a result, below its numbers
enclosures   The real solutions of counted instances, with interval ends
estimate     Counts, estimates, comparisons, and stored studies
profile      Match probability against a bound: table and picture
train        Results of training: which of the existing matches were found
identification  The weights that data determine, on the masks
capacity     Capacities against parameters
recording    The things to record, on the grid of units and steps
design       Designs: masks, reasons, bounds
repair       Repairs and possible losses, before and after
drawing/     Pictures: their one style, and every result as one
"""
