"""Networks that are programs read from files: the family of the kind ``program``.

certify  Verdicts: by the arguments, or as those of a feed-forward network
inspect  The structure report
verify   The checks of these
"""
