"""Verbs: functions with one description for Python, the command line and the reference.

verb        The decorator `verb`, the registry, and descriptions from signature and docstring
parameters  Parameters that several verbs share, each described once, and how they are read
docstrings  Parameters in a numpydoc docstring: read, and completed
unfinished  Work that was interrupted: its finished part, and messages about missing trials
"""
