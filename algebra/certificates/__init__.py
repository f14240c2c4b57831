r"""What a verdict, its evidence and a check are; how a verdict is reached is the families'
matter.

certificate  Verdicts on an allocation, with evidence that somebody else can check
checks       What verification finds: one result for each statement of a certificate
evidence     Evidence of a certificate as plain data, and reasons in words
"""
