r"""Trials kept, shared among processes and machines, and taken up again.

apart    What tells studies of one store apart: cells, laws, settings
cluster  Chunks of trials on a Dask cluster: the same work, done elsewhere
racing   Which of several allocations matches most often: successive halving on common instances
reuse    Constraints asked later: trials counted without them decide most trials under them
store    Trials kept on disk: an SQLite file that several processes may share
study    Studies: trials computed once, by whoever is there, and the estimate they give
together  Several studies side by side: an interrupt leaves all about equally far
trials   Trials as plain work: what to compute, said so that any process computes the same
worker   A worker process, ``python -m numeric.studies.worker``, spoken to by its `workers`
workers  Local worker processes that compute chunks of trials
"""
