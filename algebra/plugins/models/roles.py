"""Parameters of a model by their use: words that name them whatever the file calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from algebra.plugins.models.onnx import Read
    from algebra.programs.program import Program

# Words of `Read.roles`, by the words for their parameters.
_USES = {"biases": "bias", "norms": "norm", "matrices": "matrix"}
LEARNING = "what requires a gradient"
ROLES = (*_USES, "last layer", "all", LEARNING)


def of_role(found: Read, word: str) -> list[str]:
    """The parameters of a role; none if the word is no role.

    Parameters
    ----------
    found : Read
    word : str
        One of `ROLES`.

    Returns
    -------
    list of str
        In the model's order.
    """
    names = list(found.parameters)
    word = {"bias": "biases", "norm": "norms"}.get(word, word)
    if word in _USES:
        return [name for name in names if _USES[word] in found.roles.get(name, "").split()]
    if word == "all":
        return names
    if word == "last layer":
        layer = last_layer(found.program, of_role(found, "matrices"))
        return [name for name in layer if name in names]
    if word == LEARNING:
        return [name for name in names if name in (found.trainable or ())]
    return []


def last_layer(program: Program, matrices: Sequence[str]) -> list[str]:
    """The matrix that the labels meet first, from the end, and the parameters after it.

    Parameters
    ----------
    program : Program
    matrices : sequence of str
        The parameters that are matrices.

    Returns
    -------
    list of str
        Those that reach the labels; parameters used before the matrix, too, are not of this layer.

    Examples
    --------
    >>> from algebra.programs.program import Builder
    >>> build = Builder()
    >>> U, V, x = build.weight("U", (3, 2)), build.weight("V", (9, 3)), build.sample("X", (2,))
    >>> inner = build.contract("ij,j->i", U, x)
    >>> outer = build.add(build.contract("ij,j->i", V, inner), build.weight("c", (9,)))
    >>> last_layer(build.program(outer), ["U", "V"])
    ['V', 'c']
    >>> last_layer(build.program(inner), ["U", "V"])
    ['U']
    """
    shared: dict[int, set[str]] = {}
    uses: dict[str, list[int]] = {}
    for k in sorted(program.needed([program.output])):
        node = program.nodes[k]
        inside = set[str]().union(*(shared.get(j, set()) for j in node.inputs))
        if not node.batched:
            shared[k] = inside | ({node.name} if node.op == "block" else set())
            continue
        for name in inside:
            uses.setdefault(name, []).append(k)
    last = max((max(uses[name]) for name in matrices if name in uses), default=None)
    if last is None:
        return []
    return [name for name in program.weights if name in uses and min(uses[name]) >= last]
