"""Networks that are programs read from files: the family of the kind ``program``.

patterns  Activation patterns at rational points, and what of a verdict is about one pattern
certify   The verdict
verify    Its check
inspect   The structure report
"""
