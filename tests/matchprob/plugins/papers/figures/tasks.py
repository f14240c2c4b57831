"""Tasks of experiments; a child process loads nothing else for them."""

import os
import time


def process(task):
    """What `compute` keeps: the task, and the process that computed it."""
    time.sleep(0.3 * (task == 0))
    return {"task": task, "process": os.getpid()}


def nap(seconds):
    """A task that takes so long."""
    time.sleep(seconds)
    return {}
