"""Programs from ONNX files.

values       A value of a graph as the value of one sample, with its batch axis; moves of entries
weights      Weights met while nodes are read: what a reader gives, `Read`
model        A file opened: its size, version and inputs
scope        One node: its inputs and attributes
elementwise  Operators on each entry, and softmax
layers       Products with weights, norms, sums and pools
recurrent    GRU, LSTM and simple recurrent layers, unrolled
shapes       Operators that move entries
written      Programs that no ONNX file holds, as text: for certificates
reader       The nodes read one after another: `read_onnx`
"""

from algebra.programs.onnx.reader import OPERATORS, read_onnx
from algebra.programs.onnx.weights import Read

__all__ = ["OPERATORS", "Read", "read_onnx"]
