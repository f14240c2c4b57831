"""Operators of ONNX's second domain, ai.onnx.ml, that prepare the samples of a network.

scikit-learn's exporter writes them before the layers of a pipeline.  Their numbers are attributes,
and no parameters.
"""

from __future__ import annotations

import math

import numpy as np

from algebra.errors import InputError
from algebra.plugins.models.onnx.scope import Call, Operator
from algebra.plugins.models.onnx.values import Item

DOMAIN = "ai.onnx.ml"


def _scaler(call: Call) -> Item:
    """(x − offset) · scale, for each feature or with one number for all."""
    item = call.item(0)
    for name, change, apply in (("offset", -1, call.total), ("scale", 1, call.product)):
        numbers = call.option(name)
        if numbers is None:
            continue
        table = change * np.asarray(numbers)
        if table.size not in (1, item.shape[-1]):
            raise InputError(f"its {name} has {table.size} numbers for {item.shape[-1]} features")
        item = apply(item, call.constant(table.reshape((1,) * (item.ndim - 1) + (-1,))))
    return item


def _chosen_features(call: Call) -> Item:
    """Entries along the last axis."""
    item, where = call.item(0), call.array(1, "the places").ravel().astype(np.int64)
    axis = call.along(item, -1, "takes entries along")
    size = item.shape[axis]
    if where.size and not (where.min() >= 0 and where.max() < size):
        raise InputError(f"places {where.min()} … {where.max()} of an axis of size {size}")
    call.build.room(math.prod(item.shape) // max(1, size) * where.size)
    return call.move(item, call.places(item)[..., where], item.batch)


PREPARATIONS: dict[str, Operator] = {
    "ArrayFeatureExtractor": Operator(_chosen_features, "X Y"),
    "Scaler": Operator(_scaler, "X", "offset scale"),
}
