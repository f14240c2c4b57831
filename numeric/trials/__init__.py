"""One trial: its random numbers, its instance, its count.

count_result    The counts of many instances: how many real solutions, which are open, and why
counts          Counts of real solutions: one result class for all engines
instances       Random instances: fixed weights, teacher and samples of one trial
streams         Random streams of the parts of trials, seeded one by one or together
"""
