r"""The weights that data determine, and the dimension of the set of functions of a network.

alternatives    numbers of values that the data leave for each weight: all N complex solutions
balls           whether a fibre found with formal values is proved in ball arithmetic
fibre           which weights the data determine, locally: the kernel of the Jacobian
dimension       the dimension of the set of functions of a network
verify_dimension  the check of its proof file
updates         the same for the weights that low-rank updates, gains and ties move
identification  the answer for a problem, cell by cell
"""
