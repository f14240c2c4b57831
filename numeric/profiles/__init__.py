r"""Match probability as a function of what a match may cost.

A trial is matched under a bound b where some match costs at most b.  So each trial has one number
τ, the least cost of its real solutions, infinite where there are none; the match probability under
b is P(τ ≤ b), a step function of which one run of complete counts shows all steps.

Costs (`MEASURES`), with w a match and v the weights before learning:

size
    the largest \|w\| (the constraint ``max_abs``);
change
    the largest \|w − v\| (``max_change``);
norm
    the Euclidean length of w − v;
condition
    the relative condition number of the match (`numeric.conditions`), of the doubles nearest to it.

**What is certain.**  A solution's certified disc gives an interval for its cost, and a trial an
interval [low, high] for τ: the trial is matched at b ≥ high, unmatched at b < low, undetermined in
between.  Where solutions may be missing, low is 0; where none is known, high is infinite.

**More weights than equations** leave a whole family of matches, which no list holds.  Then size and
change are profiled bound by bound: a trial is asked again under each of the bounds given, as a
constraint.  A trial that is unmatched at one bound and matched at the next has its τ in between.
So are trials of ReLU nets with a continuum of matches in one activation cell.

measures    What a match may cost, enclosed
profile     The match probability as a function of a bound; where rankings cross
thresholds  The least cost of each trial's matches: from lists of solutions, or bound by bound
"""
