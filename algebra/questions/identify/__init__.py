r"""The weights that data determine.

alternatives    the number of values that the data leave for each weight: all N complex solutions
balls           proof in ball arithmetic of a fibre found with formal values
effects         parameters without effect on the labels of a recurrent network
fibre           the weights that the data determine locally: the kernel of the Jacobian
freedom         what the data leave free of some activities
updates         the same for weights that low-rank updates, gains and ties change
identification  the result for a problem, cell by cell
explanation     what follows from it, what is open, and which verb to try
"""
