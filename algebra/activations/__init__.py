"""Networks with activations and biases: the family of kinds ``rnn`` and ``ffn``.

formal    Why ranks of tanh, sigmoid and softplus networks can be found modulo a prime
minors    A regular minor at a rational point, in ball arithmetic: a rank proved another way
reach     Matches that always exist, and labels that no student reaches, for every allocation
certify   The verdict
verify    Its check
inspect   The structure report
"""
