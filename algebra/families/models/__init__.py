"""Networks that are programs read from files: the family of the kind ``program``.

patterns  Activation patterns at rational points, and the verdicts that one pattern permits
certify   Certification
verify    Verification
inspect   The structure report
"""
