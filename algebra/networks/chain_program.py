"""The program of a chain of matrix products, with names for the values in its forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from algebra.networks.base import STATES, TRACES
from algebra.programs.program import Builder, Program, Value
from algebra.time_limits import checked

if TYPE_CHECKING:
    from algebra.networks.chain import ChainNetwork

# Names of values in the program of a chain, beside `STATES`.
INPUTS, DRIVES, READ = "inputs", "drives", "read"


def unrolled(net: ChainNetwork, *, every_step: bool) -> Program:
    """The program of the chain for one column of U, with names for the values in its forms.

    ``inputs t`` are the inputs of step t, ``drives t`` their contributions to the units,
    ``states t`` the states, and `READ` is the last state, which the output matrix multiplies.
    The outputs of every step are ``traces t``.
    """
    chain, build = net.chain(), Builder()
    U = build.sample("X", (net.input_shape[0],))
    blocks = {name: build.weight(name, shape) for name, shape in net.shapes.items()}

    def times(name: str, value: Value) -> Value:
        return build.contract("ij,j->i", blocks[name], value)

    if chain.start is None:
        state = build.name(f"{INPUTS} 0", U)
        for k, name in enumerate(checked(chain.steps)):
            state = build.name(f"{STATES} {k}", times(name, state))
        return build.program(times(chain.output, state))
    b = net.step_inputs
    states: list[Value] = []
    for t, name in enumerate(checked(chain.steps)):
        x = build.name(f"{INPUTS} {t}", build.index(np.arange(t * b, (t + 1) * b), U))
        drive = build.name(f"{DRIVES} {t}", times(chain.start, x))
        state = build.add(drive, *(times(name, h) for h in states))
        states = [build.name(f"{STATES} {t}", state)]
        if every_step:
            trace = times(chain.output, times(name, state))
            build.name(f"{TRACES} {t}", trace)
    read = build.name(READ, times(chain.steps[-1], states[0]))
    return build.program(times(chain.output, read))
