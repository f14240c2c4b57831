r"""Stored trials: computed by several processes or machines, resumable.

cluster  Chunks of trials on a Dask cluster
differences  Differences between studies of one store that look alike: cells, laws, settings
racing   The allocation that matches most often: successive halving on common instances
reuse    Trials counted without constraints decide most trials under constraints added later
store    Trials on disk: an SQLite file that several processes may share
study    Studies: trials computed by this or other processes, and their estimate
together  Several studies in turns: an interrupt leaves all with about as many trials
trials   The description of trials as plain data, from which every process computes the same
workers  Local worker processes that compute chunks of trials
"""
