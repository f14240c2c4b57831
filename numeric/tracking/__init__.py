r"""Path tracking between instances, monodromy and the number of solutions.

kernel       The compiled loop of the path tracker: many paths, `LANES` at a time, any system
label_paths  Some complex solutions of one instance, along lines of labels, without N
label_curve  A curve of instances and its hyperplane sections: evaluation and path tracking
monodromy    Start systems: all roots of one random complex instance, found by monodromy
monodromy_group  The monodromy group of an allocation's solutions, and its consequences for solving
pade         Simultaneous Padé prediction in lanes: one denominator for all components of a path
pencils      Pencils of curve sections, and the sum of a section's points along them
precise      The end of a path in many bits, for roots near infinity
root_count   The generic root count without Gröbner bases: monodromy, then a trace test
settings     Settings of the path tracker
start_cache  Start systems on disk, so that monodromy runs once for each allocation
steps        Step control in lanes, shared by all path trackers
trace_test   A trace test: whether all solutions of a generic instance have been found
tracker      Batched path tracking between parameter vectors of a system
inputs/      Lines in the free inputs: few unknowns, no power of W
"""
