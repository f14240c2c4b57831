"""Frozen networks made equal to a target by their normalization layers.

construct      The verb construct
constructions  By width and by depth; random frozen networks; entries of state dicts
impossible     Explanations of targets that normalization layers do not realize
pictures       Pictures of constructions: conditions of their systems, sizes of their scales
"""
