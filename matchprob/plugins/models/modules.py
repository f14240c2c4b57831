r"""Problems from torch modules, and learnable weights as masks for their gradients.

Torch is neither needed nor imported, except for programs: modules are recognized by the name of
their class and by their attributes (`children`, `named_parameters`). Supported are

* a ``Linear``, or a ``Sequential`` of them with ``Tanh``, ``Sigmoid``, ``Softplus`` or nothing
  between them: kinds ``linear``, ``lffn`` or ``ffn``;
* ``Linear``, ``ReLU``, ``Linear`` without biases: kind ``relu``;
* a pair of a one-layer tanh ``RNN`` and the ``Linear`` that reads its last state: kind ``rnn``.

The `forward` of a module of another class (which may call `torch.tanh`, add a residual, or use
layers in another order than that of their registration) does not follow from its parts. With
`example_inputs` torch traces it, and the module is read as a program
(`algebra.plugins.models.aten`).

**RNN.** Torch's h_t = tanh(V x_t + W h_{t−1} + c) adds the inputs after the product with the
recurrent matrix, kind ``rnn`` before it: h_t = tanh(W (h_{t−1} + B x_t) + c). The first is the
second with b more units: W' = (W V; 0 0), B' = (0; I), c' = (c; 0), D' = (D 0). The added units
always have the value tanh(0) = 0 and pass on x_t; they are named relay0, …, the module's own units
h0, …, and neither `design` nor `record` proposes them. The zeros are structural, in student and
teacher. The ones of B' are drawn like other weights: for numbers β ≠ 0, V diag(β) takes the place
of V in both. Verdicts and ranks, which hold for all laws with positive densities, are those of
torch's network; the match probability between 0 and 1 is that of a slightly different law of V.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from algebra.errors import InputError, one_line, shown, whole_number
from algebra.networks.base import Network
from algebra.networks.feedforward import LinearEstimator, LinearFeedForward
from algebra.networks.ffn import FeedForward
from algebra.networks.rnn import RNN
from algebra.plugins.models.onnx import Read
from algebra.plugins.relu.network import ShallowReLU
from algebra.problems.allocation import Allocation, as_mask
from algebra.problems.problem import Problem
from algebra.problems.updates import Gain, LowRank, Tied, Update, read_update
from matchprob.api.question import as_problem, detached, program_problem
from matchprob.plugins.models.layers import PASSIVE, leaves
from matchprob.plugins.models.models import read_module
from matchprob.verbs.parameters import Question

# Activations of torch by the names of their classes.
ACTIVATIONS = {"Tanh": "tanh", "Sigmoid": "sigmoid", "Softplus": "softplus", "ReLU": "relu"}


@dataclass(frozen=True, eq=False)
class Place:
    """The place of a parameter of a module in a matrix of the network.

    Attributes
    ----------
    parameter : object
        The tensor.
    name : str
        As in `named_parameters`.
    matrix : str
    row, column : int
        Of its first entry.
    shape : (int, int)
        A bias is a column.
    """

    parameter: Any
    name: str
    matrix: str
    row: int
    column: int
    shape: tuple[int, int]

    @property
    def block(self) -> tuple[slice, slice]:
        """Its part of the matrix."""
        rows, columns = self.shape
        return slice(self.row, self.row + rows), slice(self.column, self.column + columns)


@dataclass(frozen=True)
class ModuleReading:
    """A module as a network.

    Attributes
    ----------
    network : Network
    places : tuple of Place
    support : mapping of str to ndarray
        Structural zeros that the module's form has.
    names : mapping
        Of units, if some are no units of the module.
    """

    network: Network
    places: tuple[Place, ...]
    support: Mapping[str, np.ndarray]
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)


@overload
def from_torch(
    module: Any,
    example_inputs: int | None = None,
    m: int | None = None,
    *,
    masks: Mapping[str, Any] | None = None,
    support: Mapping[str, Any] | None = None,
    T: int | None = None,
) -> Problem: ...
@overload
def from_torch(
    module: Any,
    example_inputs: Any,
    m: int,
    *,
    masks: Mapping[str, Any] | None = None,
    support: Mapping[str, Any] | None = None,
    axis: int | None = 0,
    output: int | str = 0,
    fixed: Sequence[str] = (),
) -> Problem: ...
@overload
def from_torch(
    module: Any,
    example_inputs: Any,
    *,
    axis: int | None = 0,
    output: int | str = 0,
    fixed: Sequence[str] = (),
) -> Read: ...


def from_torch(
    module: Any,
    example_inputs: Any = None,
    m: int | None = None,
    *,
    masks: Mapping[str, Any] | None = None,
    support: Mapping[str, Any] | None = None,
    T: int | None = None,
    axis: int | None = 0,
    output: int | str = 0,
    fixed: Sequence[str] = (),
) -> Problem | Read:
    """The problem of a torch module: its sizes and learnable weights; or its program.

    Parameters
    ----------
    module : torch.nn.Module or (RNN, Linear)
        See the module `matchprob.plugins.models.modules`.
    example_inputs : tensor, sequence or mapping, optional
        What the module's `forward` takes, for any number of samples: one tensor, arguments in their
        order, or by name.  Any module whose operators are known is then read, in evaluation mode.
    m : int, optional
        Number of samples; required without `example_inputs`.
    masks : mapping of str to array or mapping, optional
        For some parameters, by their names in ``module.named_parameters()``, 0/1 arrays of their
        shape, or updates such as ``{"lora": 2}`` (`algebra.problems.updates`). Others learn as a
        whole if they require gradients, and not otherwise.
    support : mapping of str to array, optional
        Structural zeros, with the same names and shapes (the weights that pruning keeps).
    T : int, optional
        Time steps, for an RNN.
    axis : int or None, optional
        The axis of the samples in `example_inputs`; None if these are one sample without such an
        axis (a graph, for example).
    output : int or str, optional
        With `example_inputs`: the number of the output that gives the labels, among those that are
        tensors; or the name of a part of the module whose value gives them, for hidden states.
    fixed : sequence of str, optional
        Inputs, by their names in `forward`, that are the same for all samples, as in the example:
        numbers of token types, for example.  Masks of attention are so by themselves.

    Returns
    -------
    Problem or Read
        With `example_inputs` and without `m` a `Read`, for `matchprob.capacity` and
        `matchprob.dimension`: the program, its parameters by name, which require a gradient.

    Raises
    ------
    InputError
        If the module has another form; the message names what was found.

    Examples
    --------
    >>> import matchprob as mp
    >>> from torch import nn  # doctest: +SKIP
    >>> net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2))  # doctest: +SKIP
    >>> net[0].weight.requires_grad_(False)  # doctest: +SKIP
    >>> mp.certify(mp.from_torch(net, m=10)).verdict  # doctest: +SKIP
    'minimal'
    >>> mp.capacity(mp.from_torch(net, torch.zeros(1, 3)))  # doctest: +SKIP
    """
    if not isinstance(module, (tuple, list)) and not hasattr(module, "named_parameters"):
        raise InputError(
            f"`module` ({shown(module)}) must be a torch module; an ONNX file is read by its name, "
            "as in capacity(name)"
        )
    if isinstance(example_inputs, int):
        example_inputs, m = None, example_inputs
    if example_inputs is not None:
        if T is not None:
            raise InputError(
                f"`T` ({shown(T)}) and `example_inputs` exclude each other: the inputs have steps"
            )
        read = read_module(module, example_inputs, axis=axis, output=output, fixed=fixed)
        if m is not None:
            return program_problem(read, m, masks, support, type(module).__name__)
        if masks is not None or support is not None:
            raise InputError("`masks` and `support` are parts of a problem: give `m` as well")
        return read
    try:
        found = _read(module, whole_number(m, "m", 1), T)
    except InputError as error:
        if isinstance(module, (tuple, list)):
            raise
        raise InputError(
            f"{error}; with `example_inputs`, a tensor that its forward takes, any module is read"
        ) from None
    network, given = found.network, dict(masks or {})
    zeros = dict(support or {})
    known = {place.name for place in found.places}
    for argument, table in (("masks", given), ("support", zeros)):
        for name in table:
            if name not in known:
                raise InputError(
                    f"`{argument}` names `{one_line(name)}`, but the module's parameters are "
                    + ", ".join(sorted(known))
                )
    learnable: dict[str, Any] = {}
    exists = {name: np.array(mask) for name, mask in found.support.items()}
    for place in found.places:
        rows, columns = place.block
        if place.name in zeros:
            whole = exists.setdefault(place.matrix, np.ones(network.shapes[place.matrix], np.int8))
            whole[rows, columns] = _mask(zeros[place.name], place, "support")
    for place in found.places:
        value = given.get(place.name)
        if value is None and not getattr(place.parameter, "requires_grad", True):
            continue
        if isinstance(value, Mapping):
            _put_update(learnable, place, read_update(value, f"masks.{place.name}"), network)
            continue
        if isinstance(learnable.get(place.matrix), Update):
            raise _mixed(place)
        whole = learnable.setdefault(place.matrix, np.zeros(network.shapes[place.matrix], np.int8))
        rows, columns = place.block
        mask = np.ones(place.shape, np.int8) if value is None else _mask(value, place, "masks")
        if place.matrix in exists and value is None:
            mask = mask * exists[place.matrix][rows, columns]
        # The two biases of a recurrent layer are added: the sum learns if one of them does.
        whole[rows, columns] |= mask
    return Problem(network, learnable, exists, names=found.names)


def _put_update(learnable: dict[str, Any], place: Place, update: Update, network: Network) -> None:
    shape = network.shapes[place.matrix]
    if place.matrix in learnable:
        raise _mixed(place)
    if place.shape != shape:
        if not isinstance(update, Tied):
            raise InputError(
                f"masks.{place.name} ({shown(update.to_dict())}): the weights of a torch RNN are "
                "parts of one matrix here, for which only masks and ties are implemented"
            )
        update.check(place.name, place.shape, None)
        numbers = np.zeros(shape, int)
        numbers[place.block] = np.array(update.numbers)
        update = Tied(numbers)
    learnable[place.matrix] = update


def _mixed(place: Place) -> InputError:
    return InputError(
        f"masks.{place.name}: another parameter that is part of the same matrix {place.matrix} "
        "learns, too; with an update freeze it (requires_grad_(False)) or write one tie for both"
    )


def _mask(value: Any, place: Place, table: str) -> np.ndarray:
    """A mask in the shape of its block, which is a column for a bias."""
    array = np.asarray(detached(value))
    if place.shape[1] == 1 and array.ndim == 1:
        array = array[:, None]
    return as_mask(array, place.shape, f"{table}.{place.name}")


# -- reading --------------------------------------------------------------------------------


def _read(module: Any, m: int, T: int | None) -> ModuleReading:
    """A module as a network; raises InputError if it has another form."""
    if isinstance(module, (tuple, list)):
        parts, named = list(module), _named_of(module)
        if [type(part).__name__ for part in parts] != ["RNN", "Linear"]:
            raise InputError(
                f"`module` ({', '.join(type(part).__name__ for part in parts) or 'empty'}): a pair "
                "is an RNN and the Linear layer that reads its last state; layers in their order "
                "are one nn.Sequential(…)"
            )
    else:
        named = {id(p): name for name, p in module.named_parameters()}
        order = leaves(module)
        if order is None:
            raise _own_forward(module)
        parts = list(order)
    for part in (module, *parts):
        if not isinstance(part, (tuple, list)):
            _check_forward(part)
    parts = [part for part in parts if type(part).__name__ not in PASSIVE]
    kinds = [type(part).__name__ for part in parts]
    if "RNN" in kinds:
        return _read_rnn(parts, kinds, named, m, T)
    if T is not None:
        raise InputError(f"`T` ({shown(T)}) is for an RNN, and this module contains none")
    return _read_layers(parts, kinds, named, m)


def _own_forward(module: Any) -> InputError:
    return InputError(
        f"`module` is a {one_line(type(module).__name__)}: what its own `forward` computes does "
        "not follow from its parts; give nn.Sequential(…) of torch's own layers, a pair "
        "(rnn, readout), or a single Linear"
    )


def _check_forward(part: Any) -> None:
    """Refuse a part that may compute something other than torch's class of its name."""
    kind = type(part)
    if kind.__module__.partition(".")[0] != "torch":
        raise _own_forward(part)
    if "forward" in vars(part):
        raise InputError(
            f"`module`: the `forward` of {kind.__name__} was replaced: what it computes does not "
            "follow from its parts"
        )
    for hooks in ("_forward_hooks", "_forward_pre_hooks"):
        if getattr(part, hooks, None):
            raise InputError(
                f"`module`: {kind.__name__} has a hook that runs with its forward (pruning and "
                "weight_norm set one, too): remove it, and use `masks` for what learns and "
                "`support` for what exists"
            )


def _named_of(parts: Any) -> dict[int, str]:
    return {
        id(parameter): f"{k}.{name}"
        for k, part in enumerate(parts)
        if hasattr(part, "named_parameters")
        for name, parameter in part.named_parameters()
    }


def _read_layers(
    parts: list[Any], kinds: list[str], named: dict[int, str], m: int
) -> ModuleReading:
    listed = ", ".join(kinds) or "nothing"
    linear = [part for part, kind in zip(parts, kinds, strict=True) if kind == "Linear"]
    between: list[str] = []
    for k, kind in enumerate(kinds):
        if kind not in ("Linear", *ACTIVATIONS):
            raise InputError(
                f"`module` contains {kind} ({listed}): known are Linear with "
                f"{', '.join(ACTIVATIONS)} between them, and RNN followed by a Linear"
            )
        if kind == "Linear":
            if k and kinds[k - 1] == "Linear":
                between.append("linear")
        elif k == 0 or k == len(kinds) - 1 or kinds[k - 1] != "Linear":
            raise InputError(
                f"`module` ({listed}): activations must stand between two Linear layers, one each"
            )
        else:
            between.append(ACTIVATIONS[kind])
            _check_softplus(parts[k])
    if not linear:
        raise InputError(f"`module` has no Linear layer ({listed})")
    if len(set(between)) > 1:
        raise InputError(f"`module` has different activations ({listed}): all must be the same")
    sizes = [_shape(linear[0])[1], *(_shape(layer)[0] for layer in linear)]
    for before, layer in zip(sizes, linear, strict=False):
        if _shape(layer)[1] != before:
            raise InputError(
                f"`module`: a Linear layer takes {_shape(layer)[1]} inputs after {before} outputs"
            )
    activation = between[0] if between else "linear"
    biased = [getattr(layer, "bias", None) is not None for layer in linear]
    network = _layered(sizes, activation, any(biased), m)
    places, support = [], {}
    names = ["W"] if "W" in network.shapes else [f"W{k}" for k in range(1, len(linear) + 1)]
    for k, (layer, name) in enumerate(zip(linear, names, strict=True), 1):
        places.append(Place(layer.weight, _name(named, layer.weight), name, 0, 0, _shape(layer)))
        bias = "e" if k == len(linear) else f"c{k}"
        if biased[k - 1]:
            shape = (_shape(layer)[0], 1)
            places.append(Place(layer.bias, _name(named, layer.bias), bias, 0, 0, shape))
        elif any(biased):
            support[bias] = np.zeros((_shape(layer)[0], 1), np.int8)
    return _checked(ModuleReading(network, tuple(places), support))


def _layered(sizes: list[int], activation: str, biases: bool, m: int) -> Network:
    q, *widths, d = sizes
    if activation == "relu" and len(widths) == 1 and not biases:
        return ShallowReLU(q=q, n=widths[0], d=d, m=m)
    if biases or activation != "linear":
        return FeedForward(q=q, widths=tuple(widths), d=d, m=m,
                           activation=activation, biases=biases)  # fmt: skip
    if widths:
        return LinearFeedForward(q=q, widths=tuple(widths), d=d, m=m)
    return LinearEstimator(q=q, d=d, m=m)


def _read_rnn(
    parts: list[Any], kinds: list[str], named: dict[int, str], m: int, T: int | None
) -> ModuleReading:
    listed = ", ".join(kinds)
    if kinds != ["RNN", "Linear"]:
        raise InputError(
            f"`module` ({listed}): an RNN is read as a pair (rnn, readout) with the Linear layer "
            "that reads its last state"
        )
    if T is None:
        raise InputError("`T` is missing: the number of time steps, which an RNN does not contain")
    T = whole_number(T, "T", 1)
    rnn, readout = parts
    for key, good in (("num_layers", 1), ("bidirectional", False), ("nonlinearity", "tanh")):
        value = getattr(rnn, key, good)
        if value != good:
            raise InputError(f"`module`: RNN with {key} = {shown(value)}; known is {good!r}")
    W, V, D = rnn.weight_hh_l0, rnn.weight_ih_l0, readout.weight
    (n, _), (_, b) = tuple(W.shape), tuple(V.shape)
    d, reads = tuple(D.shape)
    if reads != n:
        raise InputError(f"`module`: the readout takes {reads} inputs, the RNN has {n} units")
    inner = [getattr(rnn, key, None) for key in ("bias_ih_l0", "bias_hh_l0")]
    biases = [bias for bias in inner if bias is not None]
    outer = getattr(readout, "bias", None)
    has_biases = bool(biases) or outer is not None
    network = RNN(n=n + b, T=T, b=b, d=d, m=m, activation="tanh", biases=has_biases)
    support = {
        "W": np.vstack([np.ones((n, n + b), np.int8), np.zeros((b, n + b), np.int8)]),
        "B": np.vstack([np.zeros((n, b), np.int8), np.eye(b, dtype=np.int8)]),
        "D": np.hstack([np.ones((d, n), np.int8), np.zeros((d, b), np.int8)]),
    }
    places = [
        Place(V, _name(named, V), "W", 0, n, (n, b)),
        Place(W, _name(named, W), "W", 0, 0, (n, n)),
        Place(D, _name(named, D), "D", 0, 0, (d, n)),
    ]
    if has_biases:
        support["c"] = np.zeros((n + b, 1), np.int8)
        support["c"][:n] = bool(biases)
        support["e"] = np.full((d, 1), int(outer is not None), np.int8)
        places += [Place(bias, _name(named, bias), "c", 0, 0, (n, 1)) for bias in biases]
        if outer is not None:
            places.append(Place(outer, _name(named, outer), "e", 0, 0, (d, 1)))
    neurons = [*(f"h{k}" for k in range(n)), *(f"relay{k}" for k in range(b))]
    return _checked(ModuleReading(network, tuple(places), support, {"neurons": neurons}))


def _shape(layer: Any) -> tuple[int, int]:
    rows, columns = tuple(layer.weight.shape)
    return int(rows), int(columns)


def _name(named: Mapping[int, str], parameter: Any) -> str:
    try:
        return named[id(parameter)]
    except KeyError:
        raise InputError(
            "`module` has a weight that is not one of its parameters (because of a parametrization "
            "or pruning): remove that, and use `masks` for what learns and `support` for what "
            "exists"
        ) from None


def _check_softplus(module: Any) -> None:
    beta = getattr(module, "beta", 1)
    if beta != 1:
        raise InputError(f"`module`: Softplus with beta = {shown(beta)}; known is beta = 1")


def _checked(found: ModuleReading) -> ModuleReading:
    """Refuse a parameter that is used at two places."""
    seen: dict[int, str] = {}
    for place in found.places:
        if id(place.parameter) in seen:
            raise InputError(
                f"`module`: {place.name} is used at two places; all weights of a network must be "
                "different"
            )
        seen[id(place.parameter)] = place.name
    return found


# -- writing --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GradientMask:
    """The projection of a parameter's gradient onto what learns.

    Called with a gradient (and, for gains, the weights before learning) it returns the projected
    gradient: a step along it keeps fixed cells fixed, changes tied cells by the same amount, and
    multiplies lines with gains by factors.

    Attributes
    ----------
    parameter : str
    mask : ndarray of int8
        In the parameter's shape.
    update : Update or None
    """

    parameter: str
    mask: np.ndarray
    update: Update | None = None

    def __call__(self, gradient: Any, weight: Any = None) -> Any:
        """The projected gradient, of the same type."""
        if isinstance(self.update, Tied):
            total = gradient * 0
            for places in self.update.groups.values():
                own = np.zeros((len(self.update.numbers), len(self.update.numbers[0])))
                own[tuple(np.array(places).T)] = 1
                one = _like(gradient, own.reshape(self.mask.shape))
                total = total + one * ((gradient * one).sum() / len(places))
            return total
        kept = gradient * _like(gradient, self.mask.astype(float))
        if not isinstance(self.update, Gain):
            return kept
        if weight is None:
            raise InputError(
                f"`weight` of {self.parameter} is missing: a gain scales the weights before "
                "learning"
            )
        if self.mask.ndim == 1 and self.update.line == "rows":
            return kept
        axis = 1 if self.update.line == "rows" else 0
        along = (kept * weight).sum(axis=axis, keepdims=True)
        size = (weight * weight).sum(axis=axis, keepdims=True)
        return weight * (along / (size + (size == 0)))


def _like(tensor: Any, array: np.ndarray) -> Any:
    """An array as a tensor of the same type."""
    return tensor.new_tensor(array.tolist()) if hasattr(tensor, "new_tensor") else array


def to_torch(
    question: Question | Allocation, module: Any, *, attach: bool = False
) -> dict[str, GradientMask]:
    """The learnable weights as masks for the gradients of a module's parameters.

    Parameters
    ----------
    question : Problem, Allocation, str or Path
        Such as the result of `from_torch`, or of `design` for that problem.
    module : torch.nn.Module or (RNN, Linear)
    attach : bool, optional
        Also give every parameter a hook that applies its mask in each backward pass, and switch off
        the gradients of parameters that do not learn. Weight decay changes weights without
        gradients: switch it off. Masks of cells work with every optimizer; ties and gains with
        plain gradient descent, with or without momentum (Adam scales each cell separately).

    Returns
    -------
    dict of str to GradientMask
        By the parameters' names.

    Raises
    ------
    InputError
        If network and module differ, or a matrix learns by a low-rank update, whose factors are
        trained instead.
    """
    problem = Problem.of(question) if isinstance(question, Allocation) else as_problem(question)
    network = problem.network
    found = _read(module, network.m, getattr(network, "T", None))
    if found.network != network:
        raise InputError(f"`module` is a {found.network}, `question` is about a {network}")
    learning = problem.learning
    out = {}
    for place in found.places:
        update = learning.updates.get(place.matrix)
        if isinstance(update, LowRank):
            raise InputError(
                f"{place.name}: {update.words(place.matrix, place.shape)} is not a mask of a "
                "gradient; train the factors U and V instead, with this weight frozen"
            )
        mask = learning.moving.masks[place.matrix][place.block]
        if isinstance(update, Tied):
            update = Tied(np.array(update.numbers)[place.block])
        mask = mask.reshape(tuple(place.parameter.shape)) if mask.shape[1] == 1 else mask
        out[place.name] = GradientMask(place.name, mask, update)
    if attach:
        for place in found.places:
            _attach(place.parameter, out[place.name])
    return out


def _attach(parameter: Any, mask: GradientMask) -> None:
    learns = bool(mask.mask.any())
    parameter.requires_grad_(learns)
    if learns:
        before = parameter.detach().clone()
        parameter.register_hook(lambda gradient: mask(gradient, before))
