"""The example network as text, and what a call that may be refused comes to."""

from algebra.errors import InputError
from tests.refusals import refuses

HEAD = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
NETWORK = {"kind": "lrnn", "n": 2, "T": 2, "b": 1, "d": 1, "m": 2}


def refused(make, *words):
    """The call is an input error of one line that holds these words."""
    text = str(refuses("", make))
    assert all(word in text for word in words), text
    return text


def outcome(make):
    """What the call makes, or None and the message of its input error."""
    try:
        return make(), ""
    except InputError as error:
        return None, str(error)
