"""Programs from PyTorch modules, through `torch.export`.

export      The graph of a module, and the parameters that reach its outputs
constants   Values of buffers where a forward that is followed depends on them
call        One node of the exported graph: its arguments by name; it applies operators of ONNX
moves       Operators that move entries or repeat numbers
orders      Operators that compare entries, or take them at computed places
operators   The table of all operators, each in terms of operators of ONNX: `ATEN`
reader      Export of a module, and the reading of its nodes in order: `read_torch`
"""

from algebra.plugins.models.aten.operators import ATEN
from algebra.plugins.models.aten.reader import read_torch

__all__ = ["ATEN", "read_torch"]
