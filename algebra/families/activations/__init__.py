"""Networks with activations and biases: the family of kinds ``rnn`` and ``ffn``.

formal    Proof that ranks of tanh, sigmoid and softplus networks can be computed modulo a prime,
          and the checks of claims whose ranks are computed so
charts    All real weights as finitely many boxes, and the equations in them
decision  Evidence for one instance: a solution, or boxes that cover all weights without one
certify   Certification
verify    Verification
inspect   The structure report
"""
