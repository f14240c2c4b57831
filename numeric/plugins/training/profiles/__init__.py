r"""Match probability as a function of a bound on the match's cost.

A trial is matched under a bound b if some match costs at most b.  So each trial has one number
τ, the least cost of its real solutions, infinite if there are none; the match probability under
b is P(τ ≤ b), a step function; one run of complete counts gives all its steps.

The costs (`MEASURES`), with w a match and v the weights before learning, are:

size
    the largest \|w\| (the constraint ``max_abs``);
change
    the largest \|w − v\| (``max_change``);
norm
    the Euclidean norm of w − v;
condition
    the relative condition number of the match (`numeric.matches.conditions`), of the doubles
    nearest to it.
error
    E|f_w(x) − f*(x)|² / E|f*(x)|² for a new sample x and the teacher's function f*
    (`numeric.plugins.training.profiles.errors`).

**What is certified.**  A solution's certified disc gives an interval for its cost, and a trial an
interval [low, high] for τ: the trial is matched at b ≥ high, unmatched at b < low, undetermined in
between.  If solutions may be missing, low is 0; if none is known, high is infinite.

**More weights than equations** give a family of matches instead of a list.  Then size and
change are profiled bound by bound: a trial is counted again under each of the given bounds as a
constraint.  If a trial is unmatched at one bound and matched at the next, its τ is in between.
The same applies to trials of ReLU nets with a continuum of matches in one activation cell.

document    The document of a profile
errors      Errors of matches on new samples
families    Matches of small error where more weights learn than there are equations
measures    Costs of a match, enclosed in intervals
profile     The match probability as a function of a bound; crossings of rankings
thresholds  The least cost of each trial's matches: from lists of solutions, or bound by bound
"""
