"""Networks with activations and biases: the family of kinds ``rnn`` and ``ffn``.

charts    All real weights as finitely many boxes, and the equations in them
rational_sets  Intervals of rationals as entries of programs with ReLU
decision  Evidence for one instance: a solution, or boxes that cover all weights without one
inspect   The structure report
reach     Labels that no values of the learnable weights give
"""
