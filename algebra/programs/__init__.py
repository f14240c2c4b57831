"""Networks as programs: short lists of operations, evaluated in many arithmetics.

program      `Program`, `Node`, `Block`, and `Builder`, which makes programs and checks shapes
evaluate     A program's values in an arithmetic; the protocol `Arithmetic`
onnx/        Programs from ONNX files
"""

from algebra.programs.evaluate import Arithmetic, evaluate
from algebra.programs.program import Block, Builder, Node, Program, Value

__all__ = ["Arithmetic", "Block", "Builder", "Node", "Program", "Value", "evaluate"]
