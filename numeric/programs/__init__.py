"""Programs in floating point.

descent        Gradient descent, Adam and Levenberg–Marquardt for a batch of students
enclosed       Values with bounds of their errors; matrices that are surely regular
exponentials   Exponentials beyond the range of doubles
least_loss     The least loss that a search finds for an instance of any kind
losses         Mean squared errors of a batch, their gradients and Jacobians
patterns       Activation patterns at drawn points
reverse        Values of many runs at once, and derivatives by learnable weights
singular       Singular values of the Jacobian at a model's own weights
students       A batch of students at their starts: weights, samples, labels, starts
"""
