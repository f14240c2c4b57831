"""Layers of networks from elsewhere: arrays, ``.npz`` files, scikit-learn, torch.

Neither scikit-learn nor torch is needed or imported: their objects are known by what they have.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from algebra.errors import InputError, shown
from algebra.normalization.dense import DenseNet

# What torch adds to a running variance where nobody changed it.
EPSILON = 1e-5


@dataclass(frozen=True)
class Layer:
    """A linear layer and the normalization behind it, if any.

    Attributes
    ----------
    weight : ndarray, n×m
    bias : ndarray, n
    norm : str or None
        Prefix of the normalization's entries in the state dict.
    mean, deviation : ndarray, n
        Its statistics; 0 and 1 where there is none.
    scale, shift : ndarray, n
        Its own scales and shifts.
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
        """The normalization's own γ, β with which ``Γ W x + β`` has given scales and shifts."""
        return scale * self.deviation, shift - scale * (self.bias - self.mean)


def _array(value: Any, name: str) -> np.ndarray:
    """A float64 array of anything like one; tensors of torch are detached."""
    for method in ("detach", "cpu", "numpy"):
        if hasattr(value, method):
            value = getattr(value, method)()
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"`{name}` ({shown(value)}) is not an array of numbers") from None
    if not np.isfinite(array).all():
        raise InputError(f"`{name}` has entries that are not finite")
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
        What it is called in messages.
    """
    if isinstance(network, (str, Path)):
        return read_layers(_load(Path(network)), str(network))
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
        with np.load(path, allow_pickle=False) as archive:
            if not hasattr(archive, "files"):
                raise InputError(f"{path}: one array, not an .npz archive of W1, b1, …")
            return {key: archive[key] for key in archive.files}
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except InputError:
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"{path}: cannot be read as an .npz archive: {reason}") from None
