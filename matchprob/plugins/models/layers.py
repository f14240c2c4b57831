"""Layers of given networks: arrays, ``.npz`` files, scikit-learn, torch.

Neither scikit-learn nor torch is needed or imported: their objects are recognized by their
attributes.

The theorems are about ReLU between the layers. If an object has its activations (the modules of a
``Sequential`` by their class and order, a perceptron's ``activation``), other activations are
refused. Arrays and state dicts have none: ReLU between the layers and none after the last is then
an assumption, which the result states. An object that can be evaluated is evaluated at random
inputs, and refused if it is not the network that was read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from algebra.errors import ErrorsAt, InputError, one_line, shown
from algebra.files.arrays import read_arrays
from algebra.plugins.normalization.dense import DenseNet
from matchprob.api.question import detached

# The default of torch's ``eps``, which is added to a running variance.
EPSILON = 1e-5


@dataclass(frozen=True)
class Layer:
    """A linear layer and the normalization after it, if any.

    Attributes
    ----------
    weight : ndarray, n×m
    bias : ndarray, n
    norm : str or None
        Prefix of the normalization's entries in the state dict.
    mean, deviation : ndarray, n
        Its statistics; 0 and 1 if there is none.
    scale, shift : ndarray, n
        Its scales and shifts.
    """

    weight: np.ndarray
    bias: np.ndarray
    norm: str | None
    mean: np.ndarray
    deviation: np.ndarray
    scale: np.ndarray
    shift: np.ndarray

    @classmethod
    def plain(cls, weight: np.ndarray, bias: np.ndarray | None = None) -> Layer:
        """A layer without normalization."""
        zeros, ones = np.zeros(len(weight)), np.ones(len(weight))
        return cls(weight, zeros if bias is None else bias, None, zeros, ones, ones, zeros)

    def folded(self) -> tuple[np.ndarray, np.ndarray]:
        """Weight and bias of layer and normalization in one (Proposition 1)."""
        factor = self.scale / self.deviation
        return factor[:, None] * self.weight, factor * (self.bias - self.mean) + self.shift

    def entries(self, scale: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The γ, β of the normalization for which ``Γ W x + β`` has given scales and shifts."""
        return scale * self.deviation, shift - scale * (self.bias - self.mean)


@dataclass(frozen=True)
class ReadNetwork:
    """A given network: its layers, and what is known about the rest.

    Attributes
    ----------
    layers : list of Layer
    ends_in_relu : bool
        Whether a ReLU follows the last layer too.
    assumed : str
        The assumption about the activations; empty if they are known.
    unit : float
        Unit roundoff of the arithmetic of the network.
    forward : callable or None
        The network itself: outputs for inputs, one a column.
    """

    layers: list[Layer]
    ends_in_relu: bool = False
    assumed: str = ""
    unit: float = 2.0**-53
    forward: Callable[[np.ndarray], np.ndarray] | None = None

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Outputs of the network as it was read, in doubles."""
        return self._run(X)[0]

    def _run(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Outputs, and the sizes that rounding is relative to."""
        size = np.abs(X)
        for k, layer in enumerate(self.layers):
            W, b = layer.folded()
            factor = np.abs(layer.scale / layer.deviation)
            X = W @ X + b[:, None]
            own = factor * (np.abs(layer.bias) + np.abs(layer.mean)) + np.abs(layer.shift)
            size = np.abs(W) @ size + own[:, None]
            if k < len(self.layers) - 1 or self.ends_in_relu:
                X = np.maximum(X, 0)
        return X, size

    def check(self, name: str) -> None:
        """Refuse a network whose outputs for random inputs differ from those of what was read."""
        if self.forward is None:
            return
        columns = self.layers[0].weight.shape[1]
        X = np.random.default_rng(0).standard_normal((columns, 16)).astype(np.float32)
        wanted, size = self._run(X.astype(float))
        try:
            got = np.asarray(self.forward(X.astype(float)), dtype=float).reshape(wanted.shape)
        except Exception as error:
            raise InputError(
                f"`{name}` cannot be evaluated ({type(error).__name__}: {error}); give its "
                "matrices and shifts as a list of pairs"
            ) from None
        terms = sum(layer.weight.shape[1] + 16 for layer in self.layers)
        away = np.abs(got - wanted) - 4 * terms * self.unit * size
        if (away > 0).any():
            worst = float(np.abs(got - wanted).max())
            raise InputError(
                f"`{name}` is not linear layers with ReLU between them: its outputs differ by "
                f"{worst:.2g} from those of its matrices; it has other activations, or its layers "
                "are in another order"
            )


ASSUMED = "ReLU between the layers, none after the last (matrices do not contain activations)"


def read_layered_network(network: Any, name: str = "network") -> ReadNetwork:
    """A network with its activations, checked; see `read_layers` for the forms it may have.

    Raises
    ------
    InputError
        If its activations are known not to be ReLU between the layers.
    """
    if hasattr(network, "coefs_"):
        found = _perceptron(network, name)
    elif hasattr(network, "state_dict"):
        found = _module(network, name)
    else:
        found = ReadNetwork(read_layers(network, name), assumed=ASSUMED)
    found.check(name)
    return found


def _perceptron(network: Any, name: str) -> ReadNetwork:
    """A multi-layer perceptron of scikit-learn: `activation`, `out_activation_`."""
    layers = read_layers(network, name)
    hidden, last = (getattr(network, key, None) for key in ("activation", "out_activation_"))
    if len(layers) > 1 and hidden not in ("relu", None):
        raise InputError(f"`{name}` has activation={hidden!r}: the theorems are about 'relu'")
    if last not in ("identity", None):
        raise InputError(
            f"`{name}` puts {last!r} behind its last layer; for what stands before it give the "
            "pairs of coefs_[k].T and intercepts_[k]"
        )
    known = last is not None and (hidden is not None or len(layers) == 1)
    forward = None
    if known and hasattr(network, "predict"):

        def forward(X: np.ndarray) -> np.ndarray:
            return np.asarray(network.predict(X.T)).reshape(X.shape[1], -1).T

    return ReadNetwork(layers, assumed="" if known else ASSUMED, forward=forward)


# Modules that change nothing when a network is evaluated.
PASSIVE = ("Identity", "Dropout", "AlphaDropout", "FeatureAlphaDropout", "Flatten")


def leaves(module: Any) -> Iterator[Any] | None:
    """Modules in the order in which a Sequential runs them; None where the order is not known."""
    is_sequence = type(module).__name__ == "Sequential"
    # `children` omits a module's second appearance; the iterator of a Sequential does not.
    if is_sequence and hasattr(module, "__iter__"):
        children = list(module)
    else:
        children = list(module.children()) if hasattr(module, "children") else []
    if not children and not is_sequence:
        return iter([module])
    if not is_sequence:
        return None
    parts = [leaves(child) for child in children]
    if any(part is None for part in parts):
        return None
    return iter([leaf for part in parts if part is not None for leaf in part])


def _module(module: Any, name: str) -> ReadNetwork:
    """A torch module: activations from a Sequential's modules, otherwise only checked."""
    layers = read_layers(module, name)
    unit = 2.0**-53
    parameters = list(module.parameters()) if hasattr(module, "parameters") else []
    if parameters:
        unit = _unit(str(getattr(parameters[0], "dtype", "")), name)
    forward: Callable[[np.ndarray], np.ndarray] | None = None
    if parameters and callable(module) and hasattr(parameters[0], "new_tensor"):

        def forward(X: np.ndarray) -> np.ndarray:
            training = bool(getattr(module, "training", False))
            module.eval()
            try:
                return _array(module(parameters[0].new_tensor(X.T.tolist())), name).T
            finally:
                module.train(training)

    order = leaves(module)
    if order is None or not hasattr(module, "children"):
        assumed = ASSUMED if forward is None else ""
        return ReadNetwork(layers, assumed=assumed, unit=unit, forward=forward)
    norms: list[float] = []
    last = ""
    for leaf in order:
        kind = type(leaf).__name__
        if kind in PASSIVE:
            continue
        if kind == "Linear" and last in ("", "ReLU"):
            norms.append(EPSILON)
        elif kind == "BatchNorm1d" and last == "Linear":
            norms[-1] = float(getattr(leaf, "eps", EPSILON))
        elif kind == "ReLU" and last in ("Linear", "BatchNorm1d"):
            pass
        elif kind in ("Linear", "BatchNorm1d", "ReLU"):
            raise InputError(
                f"`{name}`: {kind} follows {last or 'nothing'}; the theorems are about Linear, "
                "optionally BatchNorm1d, ReLU, Linear, …, with ReLU between all layers"
            )
        else:
            raise InputError(
                f"`{name}` contains {kind}: the theorems are about linear layers with ReLU "
                "between them (and BatchNorm1d before it)"
            )
        last = kind
    if len(norms) != len(layers):
        raise InputError(f"`{name}`: {len(norms)} Linear modules but {len(layers)} matrices")
    for k, epsilon in enumerate(norms):
        if layers[k].norm is not None and epsilon != EPSILON:
            variance = layers[k].deviation ** 2 - EPSILON
            layers[k] = replace(layers[k], deviation=np.sqrt(variance + epsilon))
    return ReadNetwork(layers, last == "ReLU", "", unit, forward)


def _unit(dtype: str, name: str) -> float:
    units = {"float64": 2.0**-53, "float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}
    kind = dtype.rpartition(".")[2]
    if kind not in units:
        raise InputError(f"`{name}` computes in {kind or 'an unknown type'}: not known")
    return units[kind]


def _array(value: Any, name: str) -> np.ndarray:
    """A float64 array of anything like one; tensors of torch are detached."""
    try:
        array = np.array(detached(value), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` ({shown(value)}) is not an array of numbers") from None
    if not np.isfinite(array).all():
        first = np.argwhere(~np.isfinite(array))[0].tolist()
        raise InputError(f"`{name}` has entries that are not finite (the first at {first})")
    return array


def _matrix(value: Any, name: str) -> np.ndarray:
    array = _array(value, name)
    if array.ndim != 2 or not array.size:
        raise InputError(f"`{name}` has shape {array.shape}; it must be a matrix")
    return array


def read_layers(network: Any, name: str = "network") -> list[Layer]:
    """The layers of a network, first to last, from any of the forms it may have.

    Parameters
    ----------
    network : sequence, mapping, str, Path or module
        Matrices or (matrix, bias) pairs; a mapping with ``W1``, ``b1``, … or a torch state
        dict of linear layers and batch normalizations; an ``.npz`` file; an object with
        ``state_dict()`` (torch) or ``coefs_`` and ``intercepts_`` (scikit-learn).
    name : str, optional
        Its name in messages.
    """
    if isinstance(network, (str, Path)):
        loaded = _load(Path(network))
        with ErrorsAt(network):
            return read_layers(loaded)
    if hasattr(network, "state_dict"):
        network = network.state_dict()
    if hasattr(network, "coefs_"):
        return [
            Layer.plain(_matrix(W, f"coefs_[{k}]").T, _array(b, f"intercepts_[{k}]"))
            for k, (W, b) in enumerate(zip(network.coefs_, network.intercepts_, strict=True))
        ]
    if isinstance(network, Mapping):
        numbered = [key for key in network if re.fullmatch(r"W\d+", str(key))]
        return _numbered(network, len(numbered), name) if numbered else _state(network, name)
    if isinstance(network, DenseNet):
        network = list(zip(network.weights, network.shifts, strict=True))
    if isinstance(network, (str, bytes)) or not isinstance(network, Sequence):
        raise InputError(f"`{name}` ({shown(network)}) must be a list of matrices or a mapping")
    layers = []
    for k, entry in enumerate(network, 1):
        if isinstance(entry, tuple) and len(entry) == 2:
            layers.append(_with_bias(entry[0], entry[1], f"{name}[{k - 1}]"))
        else:
            layers.append(Layer.plain(_matrix(entry, f"{name}[{k - 1}]")))
    if not layers:
        raise InputError(f"`{name}` has no layers")
    return layers


def _with_bias(weight: Any, bias: Any, name: str) -> Layer:
    W, b = _matrix(weight, name), _array(bias, f"{name} bias")
    if b.shape != (len(W),):
        raise InputError(f"`{name}` has {len(W)} rows but a bias of shape {b.shape}")
    return Layer.plain(W, b)


def _numbered(data: Mapping[Any, Any], count: int, name: str) -> list[Layer]:
    layers = []
    for k in range(1, count + 1):
        if f"W{k}" not in data:
            raise InputError(f"`{name}` has {count} matrices but no W{k}")
        weight = data[f"W{k}"]
        if f"b{k}" in data:
            layers.append(_with_bias(weight, data[f"b{k}"], f"W{k}"))
        else:
            layers.append(Layer.plain(_matrix(weight, f"W{k}")))
    return layers


def _state(data: Mapping[Any, Any], name: str) -> list[Layer]:
    """Linear layers and batch normalizations of a state dict, in its order."""
    prefixes: dict[str, dict[str, np.ndarray]] = {}
    for key, value in data.items():
        prefix, _, field = str(key).rpartition(".")
        if field in ("weight", "bias", "running_mean", "running_var"):
            prefixes.setdefault(prefix, {})[field] = _array(value, str(key))
    layers: list[Layer] = []
    for prefix, fields in prefixes.items():
        if "running_mean" in fields:
            if not layers or layers[-1].norm is not None:
                raise InputError(f"`{name}`: normalization {prefix!r} follows no linear layer")
            before, size = layers[-1], len(fields["running_mean"])
            layers[-1] = Layer(
                before.weight, before.bias, prefix, fields["running_mean"],
                np.sqrt(fields["running_var"] + EPSILON),
                fields.get("weight", np.ones(size)), fields.get("bias", np.zeros(size)),
            )  # fmt: skip
        elif "weight" in fields and fields["weight"].ndim == 2:
            layers.append(Layer.plain(fields["weight"], fields.get("bias")))
        else:
            raise InputError(
                f"`{name}`: {prefix!r} is neither a linear layer nor a batch normalization"
            )
    if not layers:
        raise InputError(f"`{name}` has no matrices: keys W1, W2, … or those of a state dict")
    return layers


def _load(path: Path) -> dict[str, np.ndarray]:
    try:
        return read_arrays(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (InputError, OSError, ValueError) as error:
        if path.suffix != ".npz":
            raise InputError(
                f"{path}: a network is expected, an .npz file with W1, b1, W2, …, and this is no "
                ".npz file"
            ) from None
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot be read as an .npz archive: {one_line(reason)}") from None
