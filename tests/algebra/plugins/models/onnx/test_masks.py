"""Inputs of Booleans and of whole numbers: masks, and tokens that are moved before they choose."""

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.models.onnx import read_onnx
from tests.doubles import labels, weights_of
from tests.onnx_models import Net, TensorProto, onnx
from tests.refusals import refuses


def masked_scores(net):
    """Softmax attention of one query, whose mask is an input."""
    h, mask = net.input("x", 4, 3), net.input("mask", 4, type=TensorProto.BOOL)
    scores = net("Squeeze", net.linear("q", h, 3, 1), net.tensor(np.array([2])))
    scores = net("Where", mask, scores, net.tensor(np.array(-np.inf)))
    return net("Einsum", net("Softmax", scores, axis=-1), h, equation="ns,nsd->nd")


def masked_by_sums(net):
    """The same with a mask of two inputs that is added as 0 and −∞."""
    h = net.input("x", 4, 3)
    first, second = (net.input(name, 4, type=TensorProto.BOOL) for name in ("mask", "other"))
    both = net("Or", first, net("Not", net("Xor", first, second)))
    scores = net("Squeeze", net.linear("q", h, 3, 1), net.tensor(np.array([2])))
    shift = net("Where", both, net.tensor(np.array(0.0)), net.tensor(np.array(-1e9)))
    shares = net("Softmax", net("Add", scores, shift), axis=-1)
    return net("Einsum", shares, h, equation="ns,nsd->nd")


def multiplied(net):
    """Numbers that a mask, made a number, removes; the mask is moved first."""
    h, mask = net.input("x", 3, 4), net.input("mask", 4, type=TensorProto.BOOL)
    mask = net("Unsqueeze", net("Cast", mask, to=TensorProto.DOUBLE), net.tensor(np.array([1])))
    return net("Tanh", net("Mul", net.linear("l", h, 4, 4), mask))


def heads(net):
    """The attention operator with a mask of Booleans, and keys that all samples see."""
    h, mask = net.input("x", 3, 4), net.input("mask", 1, 3, 3, type=TensorProto.BOOL)
    seen = net("Or", mask, net.tensor(np.eye(3, dtype=bool)))
    parts = [net.linear(name, h, 4, 4, bias=False) for name in "qkv"]
    return net("Attention", *parts, seen, q_num_heads=2, kv_num_heads=2)


def tokens(net):
    """Whole numbers of 32 bits: cast, cut, turned and put in another order before they choose."""
    ids = net.input("ids", 2, 3, type=TensorProto.INT32)
    ids = net("Transpose", net("Cast", ids, to=TensorProto.INT64), perm=[0, 2, 1])
    ids = net("Gather", ids, net.tensor(np.array([2, 0])), axis=1)
    ids = net("Slice", ids, *(net.tensor(np.array([k])) for k in (0, 1, 2)))
    ids = net("Reshape", ids, net.tensor(np.array([0, -1])))
    return net("Tanh", net("Gather", net.weight("table", 5, 3), ids))


NETS = {f.__name__: f for f in (heads, masked_by_sums, masked_scores, multiplied, tokens)}


@pytest.mark.parametrize("name", NETS)
def test_labels_are_those_of_the_reference(name):
    """For random masks and tokens, and samples whose axis is the first."""
    net = Net(opset=23)
    model = net.model(NETS[name](net))
    read = read_onnx("x.onnx", data=model.SerializeToString())
    rng, m, fed, samples = np.random.default_rng(2), 6, {}, {}
    for value in model.graph.input:
        dims = [d.dim_value or m for d in value.type.tensor_type.shape.dim]
        if value.type.tensor_type.elem_type == TensorProto.DOUBLE:
            fed[value.name] = rng.standard_normal(dims)
            samples[value.name] = np.moveaxis(fed[value.name], 0, -1)
            continue
        size = read.tokens[value.name]
        fed[value.name] = rng.integers(0, size, dims).astype(bool if size == 2 else np.int32)
        if size == 2:
            fed[value.name][..., 0] = True
        rows = np.eye(size)[fed[value.name].astype(int)]
        samples[value.name] = np.moveaxis(rows, 0, -1)
    weights = {
        key: np.array([int(v) / d for v in table.ravel().tolist()]).reshape(table.shape)
        for key, (table, d) in read.values.items()
    }
    [expected] = onnx.reference.ReferenceEvaluator(model).run(None, fed)
    ours = labels(read.program, weights, samples).T
    assert np.allclose(ours, expected.reshape(ours.shape), rtol=1e-7, atol=1e-9)


def test_what_whole_numbers_may_not_do():
    """Become real numbers, be padded, be joined with others: refused at the node."""
    for move in (
        lambda net, ids: net("Cast", ids, to=TensorProto.DOUBLE),
        lambda net, ids: net("Pad", ids, net.tensor(np.array([0, 1, 0, 0]))),
        lambda net, ids: net("Concat", ids, ids, axis=1),
    ):
        net = Net()
        found = move(net, net.input("ids", 3, type=TensorProto.INT64))
        data = net.model(net("Gather", net.weight("table", 5, 3), found)).SerializeToString()
        refuses("node 0 .*whole numbers, which may only choose", read_onnx, "x.onnx", data=data)


def padded_attention(net):
    """Attention over tokens, with a mask of whole numbers that is made a number and added."""
    ids, mask = (net.input(name, 3, type=TensorProto.INT64) for name in ("ids", "mask"))
    h = net("Gather", net.weight("table", 5, 4), ids)
    added = net("Cast", net("Unsqueeze", mask, net.tensor(np.array([1]))), to=TensorProto.DOUBLE)
    added = net("Mul", net("Sub", net.tensor(np.array(1.0)), added), net.tensor(np.array(-1e4)))
    scores = net("MatMul", h, net("Transpose", h, perm=[0, 2, 1]))
    return net("MatMul", net("Softmax", net("Add", scores, added), axis=-1), h)


def test_a_mask_of_whole_numbers_may_be_one_number():
    """With its value in `sizes`: the labels are the reference's, and the assumption is said."""
    net = Net(opset=17)
    model = net.model(padded_attention(net))
    data = model.SerializeToString()
    refuses("`sizes` mask=1 gives all of them one value", read_onnx, "x.onnx", data=data)
    read = read_onnx("x.onnx", data=data, sizes={"mask": 1})
    assert read.assumed == ("all numbers of `mask` are 1, for all samples",)
    ids = np.random.default_rng(0).integers(0, 5, (6, 3))
    fed = {"ids": ids, "mask": np.ones((6, 3), np.int64)}
    [expected] = onnx.reference.ReferenceEvaluator(model).run(None, fed)
    ours = labels(read.program, weights_of(read), {"ids": np.moveaxis(np.eye(5)[ids], 0, -1)})
    assert np.allclose(ours.T, expected.reshape(6, -1), rtol=1e-12)
    refuses("must be a whole number", read_onnx, "x.onnx", data=data, sizes={"mask": -1})
    # Results say it.
    found = mp.capacity(read, "table", m=2)
    assert found.to_dict()["assumed"] == read.assumed
    assert "Assumed: all numbers of `mask` are 1" in str(found.explain())
    assert "all numbers of `mask` are 1" in mp.dimension(read).known
    every = {"mask": 1, "ids": 2}
    refuses("depends on no sample", read_onnx, "x.onnx", data=data, sizes=every)


@pytest.mark.parametrize(("number", "said"), [(-10_000.0, 1), (-1e9, 1), (-np.inf, 0), (-3e38, 0)])
def test_what_large_numbers_of_a_mask_mean_is_said(number, said, tmp_path):
    """They count as −∞, which is an assumption unless sums with other numbers are that number."""
    net = Net()
    scores = net.linear("q", net.input("x", 3), 3, 4)
    scores = net("Add", scores, net("Constant", value_floats=[0.0, number, 0.0, 0.0]))
    onnx.save(net.model(net("Softmax", scores, axis=-1)), str(tmp_path / "masked.onnx"))
    read = read_onnx(tmp_path / "masked.onnx")
    assert len(read.assumed) == said
    assert all("in a mask are −∞" in text for text in read.assumed)
    assert mp.dimension(read).known.endswith(read.assumed or ("",))
