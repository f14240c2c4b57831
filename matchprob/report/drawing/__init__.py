"""Pictures of results.

palette      The colours of all pictures
style        One style for all pictures: type, headings, legends, and how they are saved
masks        Matrices side by side, each cell in the colour of its group
drawing      The drawing of results of one class
atlas        The masks of all orbits
pictures     Incidence matrices in block form, numbers of real solutions
allocations  Allocations: certificates, designs, repairs, identifications
trials       Trials: counts, estimates, comparisons, training
checks       Checks of proofs, and of theorems against verdicts
solutions    A match that was found, and scales that were constructed
paint        Every result as a picture, by the module that draws it
"""
