r"""The interactive page: edit an allocation, see verdict and match probability.

The front end runs in the browser (`server`) and in a notebook (`widget`), with three tiers:

state      The state of the page as plain data: a problem, the locks of its weights, a name
examples   Problems to start from
immediate  Tier 1, at every click: ranks, budgets, violations, theorems, consequences of a change
jobs       Tier 2, in processes that the next click ends: verdicts, structure, searches
trials     Tier 3, studies with intermediate results: tallies, intervals, MP against a bound
fork_server  The process from which jobs are forked, with all modules loaded
job_runner   Starts, cancels and kills jobs, and passes on their events
studies    Studies that continue when the page is closed
commands   The content of the page as TOML, as Python and as a command
session    The messages and events of one front end
answers    Answers to messages of the front end
front      The front end as one ES module, joined from the files of ``static/``
server     The page's server: local, with a secret address, for one folder
widget     The page in a notebook: `matchprob.Allocator`
"""
