"""Networks that are programs read from files: the family of the kind ``program``.

certify  Certification
verify   Verification
inspect  The structure report
"""
