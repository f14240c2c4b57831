"""Programs from ONNX files.

values          A value of a graph as the value of one sample, with its batch axis; moves of entries
bounds          Bounds of a model, checked before anything is expanded
batches         The axis of the samples of each input
weights         Weights collected while nodes are read; the result of a reader, `Read`
model           Opening a file: its size, version and inputs
notes           What an exporter says of tensors, in metadata
scope           One node: its inputs and attributes; what is declared of an operator
elementwise     Elementwise operators, and softmax
layers          Products with weights, norms, sums and attention
neighbourhoods  Convolutions and pools
resampling      Resize and Upsample
orders          Operators that compare the entries along an axis, and computed places
places          Operators that take entries at places, or put others there
preparations    Operators of the domain ai.onnx.ml that prepare samples
recurrent       GRU, LSTM and simple recurrent layers, unrolled
shapes          Operators that move entries
written         Programs without an ONNX file, as text: for certificates
reader          Reading of the nodes in order: `read_onnx`
"""

from algebra.plugins.models.onnx.reader import OPERATORS, read_onnx
from algebra.plugins.models.onnx.weights import Read

__all__ = ["OPERATORS", "Read", "read_onnx"]
