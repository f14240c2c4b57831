r"""What a verdict, its evidence and a check are; how a verdict is reached is the families'
matter.

certificate  A verdict and its evidence: the object, its names and its plain form
checks       What verification finds: one result for each statement of a certificate
claim        What the file of a certificate claims: the envelope all families share
duals        What proves bounds of matroid problems, as plain data
family       What a family of networks must be able to do, and what it may use
fields       Fields of a file read with their exact types, each refusal with its place
parts        Parts that several kinds of proof files have: a problem, prices, caps
points       Ranks that a file gives with a prime and a point, found again
reach_of_laws  Which verdicts are known where weights have signs or are measured
reading      Proof files read: JSON text to plain data, under limits
vanishing    Structural zeros that leave no path: the certificate and its check
"""
