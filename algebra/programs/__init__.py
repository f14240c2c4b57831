"""Networks as programs: short lists of operations, evaluated in many arithmetics.

program      `Program`, `Node`, `Block`, and `Builder`, which makes programs and checks shapes
balls        Values and derivatives in ball arithmetic, at rational points
capacity     How many samples a set of parameters can fit
degrees      Degrees and bits of Jacobians: what a deficit of rank is worth; degrees in some weights
evaluate     A program's values in an arithmetic; the protocol `Arithmetic`
formal       Exponentials, roots and signs over GF(p), with the proofs
generic      Points, exactness of ranks, columns of Jacobians in the order of the samples
onnx/        Programs from ONNX files
arrays       Arithmetics whose values are arrays; entries that know their own ring
aten/        Programs from PyTorch modules
positive     Values that are positive for all real weights: where labels are analytic
residues     Values over GF(p), p below 2^61
duals        Values with derivatives in one direction over GF(p), forwards
jacobian     The Jacobian at a point in arrays, backwards over all samples at once
factors      The same in factors, of programs of matrices
leaks        Units that keep a part of their state: how much, and when ranks are exact
programmed   What is given by a program: values and derivatives in any ring
"""

from algebra.programs.evaluate import Arithmetic, evaluate
from algebra.programs.program import Block, Builder, Node, Program, Value

__all__ = ["Arithmetic", "Block", "Builder", "Node", "Program", "Value", "evaluate"]
