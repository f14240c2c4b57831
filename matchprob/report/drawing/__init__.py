"""Pictures of results.

palette      The colours of all pictures
style        One style for all pictures: type, headings, legends, and how they are saved
masks        Matrices side by side, each cell in the colour of its group
pictures     Incidence matrices in block form, an atlas, numbers of real solutions
paint        Every result as a picture
"""
