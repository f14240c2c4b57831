"""Calls in place of a chunk of trials; a child process loads nothing else for them."""

import os
import signal


def dies(*given):
    """The process is killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def lacks_memory(*given):
    """The memory is not enough."""
    raise MemoryError


def has_a_bug(*given):
    """An error that is not meant."""
    raise KeyError("x")
