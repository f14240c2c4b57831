"""The verbs of the command line, one file for each group of them.

Each module has ``register(app)``, which adds its verbs; `matchprob.cli` calls them all.
Verbs import what they need when they run: ``--help`` stays quick.
"""
