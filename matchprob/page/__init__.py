r"""The page to think with: paint an allocation, see verdict and match probability.

One front end, in the browser (`server`) and in a notebook (`widget`); three tiers behind it.

state      What the page shows, as plain data: a problem, the locks of its weights, a name
immediate  Tier 1, at every click: ranks, budgets, crosses, theorems, what if
jobs       Tier 2, in processes that the next click ends: verdicts, structure, searches
trials     Tier 3, studies told while they run: tallies, intervals, MP against a bound
zygote     The process that jobs are forked from, with everything loaded
workshop   Jobs started, killed, listened to
studies    Studies that run whatever happens to the page
commands   What the page shows, as a person would write it: TOML, Python, a command
session    One front end's conversation: what it asks, and what is told
answers    What the front end's messages are answered with
front      The front end as one ES module: the files of ``static/``, put together
server     The page's server: this machine only, by a secret address, for one folder
widget     The page in a notebook: `matchprob.Allocator`
"""
