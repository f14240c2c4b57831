r"""Renderings of results: documents in a terminal, pictures.

documents    Documents (`algebra.documents`) in a terminal
steps        The steps of an explanation as command lines
impossible   Explanations of targets that normalization layers do not realize
inspection   The equations of an inspection, and the core, as text
enclosures   The real solutions of counted instances: interval ends and costs
profile      Picture of match probabilities against a bound
principles   Picture of match probabilities against numbers that may predict them
identification  Picture of the weights that data determine
capacity     Pictures of capacities against parameters, and of dimensions
recording    Picture of what to record, on the grid of units and steps
drawing/     Pictures: their one style, and every result as one
"""
