"""The node tests of the ONNX standard, which the package onnx ships: equal labels, or refused."""

import warnings

import numpy as np
import pytest

from algebra.errors import InputError
from algebra.plugins.models.onnx import read_onnx
from tests.doubles import labels
from tests.onnx_models import numpy_helper, onnx
from tests.samples import LONG

# The value at a zero vector is said to be 0; the program divides by the vector's length.
UNDEFINED = ("test_l2normalization_axis_0",)
CUBES = ("test_averagepool_3d_default", "test_lppool_3d_default", "test_maxpool_3d_default")


def real(value):
    """Whether an input of a test holds real numbers of 32 or 64 bits."""
    return isinstance(value, np.ndarray) and value.dtype in (np.float32, np.float64)


def array(value):
    """An input or output of a test; sequences and the like stay as they are."""
    if isinstance(value, onnx.TensorProto):
        return numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, np.generic) else value


def as_model(case, every):
    """The file of a test, with the inputs that stay inputs: one, or every one with real numbers.

    The others become tensors of the file.
    """
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    given = [array(value) for value in case.data_sets[0][0]]
    fed = dict(zip([v.name for v in model.graph.input], given, strict=False))
    held = [name for name, value in fed.items() if real(value)] or list(fed)
    held = held if every else held[:1]
    for name, value in fed.items():
        if name not in held and isinstance(value, np.ndarray):
            model.graph.initializer.append(numpy_helper.from_array(value, name))
    return model, {name: fed[name] for name in held}


def told(case, every):
    """ "equal", "refused" or "wrong", for every output that is read."""
    model, fed = as_model(case, every)
    data, found = model.SerializeToString(), set()
    for info, expected in zip(model.graph.output, case.data_sets[0][1], strict=False):
        try:
            read = read_onnx("x.onnx", data=data, output=info.name, sizes={"samples": 1})
        except InputError as error:
            if "\n" in str(error):
                return "wrong"
            continue
        # The exponential of 10,000, which a test takes, is a number in the longer type.
        kind = np.longdouble if "large_number" in case.name else np.float64
        samples = {}
        for name, shape in read.program.samples.items():
            value = fed[name].astype(kind)
            if name in read.tokens:
                value = np.eye(read.tokens[name])[fed[name].astype(int)]
            samples[name] = np.reshape(value, (*shape, 1))
        weights = {
            name: np.array([int(v) / d for v in table.ravel().tolist()]).reshape(table.shape)
            for name, (table, d) in read.values.items()
        }
        with np.errstate(all="ignore"):
            ours = labels(read.program, weights, samples)[..., 0]
        wanted = np.ravel(array(expected))
        same = ours.shape == wanted.shape and np.allclose(
            ours.astype(np.float64), wanted, rtol=1e-4, atol=1e-4, equal_nan=True
        )
        found.add("equal" if same else "wrong")
    return "wrong" if "wrong" in found else "equal" if found else "refused"


def collected():
    """All node tests; in a quick run without pools of cubes of 32, which take seconds to compute,
    and with every third of the nodes that are written out by others.

    Pools of smaller cubes, with the same attributes, are there.
    """
    from onnx.backend.test.case import base
    from onnx.reference.ops import op_pool_common

    pool = op_pool_common.pool

    def small(padded, x_shape, kernel, strides, out_shape, *others, **options):
        if np.prod(out_shape) < 10_000:
            return pool(padded, x_shape, kernel, strides, out_shape, *others, **options)
        return np.full((*x_shape[:2], *out_shape), np.nan, padded.dtype)

    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        # The source of each test, for the standard's pages.
        patch.setattr(base, "process_snippet", lambda *names: (names[1], ""))
        if not LONG:
            patch.setattr(op_pool_common, "pool", small)
        from onnx.backend.test.case.node import collect_testcases

        cases = collect_testcases(None)
    cases = [case for case in cases if case.name not in UNDEFINED + (() if LONG else CUBES)]
    return [c for k, c in enumerate(cases) if LONG or k % 3 == 0 or "_expanded" not in c.name]


def test_labels_are_equal_or_the_node_is_refused():
    """No label differs, with the first input or with every real one as the sample.

    In a quick run the latter holds for every third test.
    """
    found = {}
    for k, case in enumerate(collected()):
        several = sum(real(array(value)) for value in case.data_sets[0][0]) > 1
        for every in (False, True)[: 1 + (several and (LONG or k % 3 == 0))]:
            found[case.name, every] = told(case, every)
    assert [name for name, word in found.items() if word == "wrong"] == []
    assert sum(word == "equal" for (_, every), word in found.items() if not every) > 600
    assert sum(word == "equal" for (_, every), word in found.items() if every) > (
        200 if LONG else 60
    )
