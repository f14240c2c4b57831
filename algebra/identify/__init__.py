r"""Which weights do the data determine?  And what has to be recorded so that they do?

alternatives    how many values the data leave for each weight: all N complex solutions at once
fibre           which weights the data determine, locally: the kernel of the Jacobian
dimension       the dimension of the set of functions that a network can be
verify_dimension  its proof file checked
updates         the same for the weights that low-rank updates, gains and ties move
identification  the answer for a problem, cell by cell
"""
