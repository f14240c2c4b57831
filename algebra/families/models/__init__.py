"""Networks that are programs read from files: the family of the kind ``program``.

inspect  The structure report
"""
