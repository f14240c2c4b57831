r"""Renderings of results: documents in a terminal, pictures.

documents    Documents (`algebra.documents`) in a terminal
steps        The steps of an explanation as command lines
inspection   The equations of an inspection, and the core, as text
enclosures   The real solutions of counted instances: interval ends and costs
identification  Picture of the weights that data determine
drawing/     Pictures: their one style, and every result as one
"""
