"""The one exception that means "the input is wrong, not the program"."""


class InputError(ValueError):
    """Bad input from a user: a wrong size, key, mask, file or a missing engine.

    The message names the argument, echoes the value and says what to try.  The
    command line prints it on stderr and exits with status 2.
    """
