"""Programs from PyTorch modules, through `torch.export`.

call        One node of the exported graph: its arguments by name, ONNX's operators applied to them
moves       Operators that move entries or repeat numbers
operators   The table of all, each by operators of ONNX: `ATEN`
reader      A module exported and its nodes read one after another: `read_torch`
"""

from algebra.programs.aten.operators import ATEN
from algebra.programs.aten.reader import read_torch

__all__ = ["ATEN", "read_torch"]
