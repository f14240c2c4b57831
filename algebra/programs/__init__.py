"""Networks as programs: short lists of operations, evaluated in many arithmetics.

program      `Program`, `Node`, `Block`, and `Builder`, which builds programs and checks shapes
balls        Values and derivatives in ball arithmetic, at rational points
degrees      Degrees and bits of Jacobian entries, for error bounds; degrees in some weights
evaluate     A program's values in an arithmetic; the protocol `Arithmetic`
homogeneous  Entries divided by powers of numbers that may be 0: weights that tend to infinity
formal       Exponentials, roots and signs over GF(p), with the proofs
generic      Points, exactness of ranks, columns of Jacobians in the order of the samples
arrays       Arithmetics whose values are arrays; entries that know their own ring
patches      Patches of convolutions, formed in parts where they are multiplied
paths         Which values paths lead to, and which weights begin them: over 0 and 1
presence      Which entries of values can be other than 0, and which depend on chosen weights
ranges        Ranges of the values of a program, for all real weights and samples
read_out      The matrix that a program applies last, and what it reads
sketches     Products of a Jacobian with few random directions, by vectors along the axes
tokens       Samples of tokens: different ones, in one order for all points
scales       Diagonal changes of the weights that leave the labels unchanged
chosen_labels  Fewer labels than all outputs: the last position, random directions
strides      Indices that move, cut or repeat whole axes
residues     Values over GF(p), p below 2^61; polynomials of degree at most two
rewriting    Values as unknowns (lifted); products of matrices from either end
duals        Values with derivatives in one direction over GF(p), in forward mode
jacobian     The Jacobian at a point in arrays, in reverse mode over all samples at once; its
             factors, for programs of matrices
leaks        Units that keep a share of their state: the leak, and when ranks are exact
programmed   Base class of networks given by a program: values and derivatives in any ring
"""
