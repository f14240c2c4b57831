"""Memory limits: sizes as text, nested limits, limits of the system."""

import json
import os
import resource
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import matchprob as mp
from algebra import memory_limits
from algebra.errors import InputError, Unfinished
from algebra.memory_limits import (
    AboveLimit,
    beside_held,
    free_memory,
    held_memory,
    in_units,
    limit_in_words,
    limited_memory,
    memory_limit,
    memory_size,
)
from algebra.networks.feedforward import LinearEstimator
from algebra.plugins.models.onnx import read_onnx
from algebra.problems.problem import Problem
from algebra.programs import program
from algebra.programs.generic import (
    Columns,
    Model,
    bytes_of_sample,
    least_memory,
    memory_beside_weights,
    random_program_point,
)
from algebra.programs.program import Builder
from algebra.ranks.jacobian import all_cells, everything_learns
from tests.onnx_models import Net, images, onnx


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GiB", 4 << 30), ("4GB", 4 * 10**9), ("2G", 2 * 10**9), ("512", 512), ("1.5 MiB", 3 << 19)],
)
def test_sizes(text, size):
    """Decimal and binary units, with or without the B."""
    assert memory_size(text) == size
    assert memory_size(size) == size


@pytest.mark.parametrize("text", ["", "lots", "-1GB", "0", "4 XB", True, "1e9"])
def test_bad_sizes(text):
    """What is no size is refused with its name."""
    with pytest.raises(InputError, match="`memory`"):
        memory_size(text)


def test_nested_limits():
    """An inner limit cannot exceed an outer one; the default is half of what is free."""
    assert 0 < memory_limit() <= free_memory()
    with limited_memory(1000):
        with limited_memory(2000):
            assert memory_limit() == 1000
        with limited_memory(None):
            assert memory_limit() == 1000
        with limited_memory(10):
            assert memory_limit() == 10
    assert memory_limit() > 2000


def test_limits_of_the_shell(monkeypatch):
    """A limit of the address space counts, without what is in use."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 50, 1 << 50))
    before = free_memory()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 28, 1 << 28))
    assert free_memory() < min(before, 1 << 28)


def _net():
    build = Builder()
    W, V = build.weight("W", (30, 20)), build.weight("V", (4, 30))
    x = build.sample("X", (20,))
    hidden = build.apply("tanh", build.contract("ij,j->i", W, x))
    return Model(build.program(build.contract("ij,j->i", V, hidden)))


def test_samples_in_parts():
    """A small limit gives more parts and the same Jacobian; a smaller one is refused in words."""
    model = _net()
    point = random_program_point(model, 9, "parts", bits=23)
    cells = [("W", 3, 4), ("V", 1, 2), ("W", 0, 0)]
    whole = Columns(model, point, 9, ["V", "W"])
    assert whole.step == 9
    own = bytes_of_sample(model.program, frozenset(["V", "W"]))
    with limited_memory(17 * own):
        parts = Columns(model, point, 9, ["V", "W"])
        assert parts.step == 2
        assert (parts.of(cells) == whole.of(cells)).all()
    with limited_memory(own), pytest.raises(Unfinished, match="one sample takes"):
        Columns(model, point, 9, ["V", "W"])


def _images(size, channels):
    """A convolution by patches, a ReLU's polynomial stand-in, means, and a last layer."""
    build = Builder()
    x = build.sample("X", (size, size))
    places = np.arange(size * size).reshape(size, size)
    patches = np.stack([np.roll(places, (i, j), (0, 1)) for i in range(3) for j in range(3)])
    kernel, head = build.weight("kernel", (channels, 9)), build.weight("head", (2, channels))
    h = build.contract("ck,kij->cij", kernel, build.index(patches, x))
    h = build.multiply(h, h)
    return Model(build.program(build.contract("oc,cij->o", head, h)))


@pytest.mark.parametrize("bits", [23, 61])
@pytest.mark.parametrize("name", ["head", "kernel"])
def test_the_estimate_of_a_sample(name, bits):
    """What one sample takes is not more than the estimate by a fifth, nor less than a sixth."""
    model = _images(300, 16)
    point = random_program_point(model, 1, "memory", bits=bits)
    columns = Columns(model, point, 1, [name])
    tracemalloc.start()
    try:
        columns.of([(name, 0, 0), (name, 1, 3)])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    estimate = bytes_of_sample(model.program, frozenset([name]))
    assert estimate / 6 < peak < 1.2 * estimate, peak / estimate


def test_units():
    """Sizes in sentences have three digits."""
    assert in_units(3.2e11) == "320 GB"


def test_what_the_process_holds_is_subtracted():
    """Of a given limit, what is read inside it; of a limit of the process, all that it holds."""
    with limited_memory(10**12):
        assert memory_limit() == 10**12
        with beside_held():
            read = np.ones(20_000_000)
            with beside_held():
                left = memory_limit()
        assert 100_000_000 < 10**12 - left < 400_000_000 < 10**12
        assert read.all()
    with limited_memory(10**12, whole=True):
        held = 10**12 - memory_limit()
        assert held == pytest.approx(held_memory(), rel=0.3)
        assert f"of which {in_units(held)} are taken" in limit_in_words()
    with limited_memory(None), beside_held():
        assert "taken" not in limit_in_words()


def test_reading_is_limited_before_it_begins(tmp_path):
    """A file of 8 MB is not read in a limit of 20 MB, nor a table of many places made."""
    net = Net()
    value = net.linear("l", net.input("x", 1000), 1000, 1000, bias=False)
    onnx.save(net.model(value), str(tmp_path / "large.onnx"))
    limits = []
    for size in (20_000_000, None):
        with limited_memory(size or limits[0]):
            if size:
                with pytest.raises(Unfinished, match=r"large.onnx: reading it takes about 36") as e:
                    read_onnx(tmp_path / "large.onnx")
                limits.append(memory_size(str(e.value).rpartition(" ")[2]))
            else:
                read_onnx(tmp_path / "large.onnx")
    assert 36_000_000 < limits[0] < 130_000_000
    build = Builder(1 << 30)
    with limited_memory(20_000_000), pytest.raises(Unfinished, match="a table of 2000000 places"):
        build.room(2_000_000)


def test_the_limit_of_a_refusal_suffices(tmp_path):
    """A model that 1 MB is too little for is answered in the limit that the message names."""
    net = Net()
    onnx.save(net.model(net.linear("l", net.input("x", 3), 3, 2)), str(tmp_path / "l.onnx"))
    with limited_memory(1_000_000, whole=True), pytest.raises(Unfinished) as refused:
        mp.capacity(tmp_path / "l.onnx", ["all"])
    limit = memory_size(str(refused.value).rpartition(" ")[2])
    with limited_memory(limit, whole=True):
        [found] = mp.capacity(tmp_path / "l.onnx", ["all"]).subsets
    assert (found.rank, found.capacity) == (8, 4)


def _with_images(net):
    value = net("Conv", net.input("x", 1, 200, 150), net.weight("c.weight", 16, 1, 3, 3))
    return net.linear("l", net("Flatten", net("GlobalMaxPool", net("Relu", value))), 16, 2)


def _with_attention(net):
    value = net.linear("in", net.input("x", 6, 20), 20, 20)
    scores = net("MatMul", value, net("Transpose", value, perm=[0, 2, 1]))
    return net.linear("out", net("MatMul", net("Softmax", scores), value), 20, 3)


@pytest.mark.parametrize(("make", "samples"), [(_with_images, 2), (_with_attention, None)])
def test_no_refusal_follows_in_the_limit_of_a_refusal(make, samples, tmp_path):
    """Once a model is read, the limit that a refusal names is that of the whole call."""
    net = Net()
    onnx.save(net.model(make(net)), str(tmp_path / "net.onnx"))
    read, size = read_onnx(tmp_path / "net.onnx"), 70_000
    limits = []
    # One stage after the other refuses.
    while size < 70_000_000 and len(limits) < 5:
        try:
            with limited_memory(size):
                mp.capacity(read, ["*.bias"], m=samples)
            break
        except Unfinished as refused:
            limits.append(memory_size(str(refused).rpartition("to ")[2].partition(",")[0]))
            size *= 4
    assert limits
    with limited_memory(min(limits)):
        [found] = mp.capacity(read, ["*.bias"], m=samples).subsets
    assert found.rank > 0


def _residual():
    net = Net()

    def conv(name, x, q, n):
        kernel = net.weight(f"{name}.weight", n, q, 3, 3)
        return net("Conv", x, kernel, net.weight(f"{name}.bias", n), pads=[1, 1, 1, 1])

    x = conv("stem", net.input("x", 3, 60, 60), 3, 16)
    y = conv("b", net("Relu", conv("a", x, 16, 16)), 16, 16)
    x = net("GlobalAveragePool", net("Relu", net("Add", x, y)))
    return net.model(net.linear("head", net("Flatten", x), 16, 3))


def _tokens():
    net = Net()
    x = net.input("x", 90, 32)
    gain, shift = (net.tensor(value, f"norm.{k}") for k, value in enumerate((np.ones(32),) * 2))
    y = net("LayerNormalization", x, gain, shift)
    q, k, v = (net("MatMul", y, net.weight(f"{name}.weight", 32, 32)) for name in "qkv")
    scores = net("Softmax", net("MatMul", q, net("Transpose", k, perm=[0, 2, 1])))
    x = net("Add", x, net("MatMul", scores, v))
    x = net("ReduceMean", x, net.tensor(np.array([1])), keepdims=0)
    return net.model(net.linear("head", x, 32, 4))


@pytest.mark.parametrize("make", [lambda: images(120, 90), _residual, _tokens])
def test_the_first_refusal_of_a_file_names_enough(make, monkeypatch):
    """While a model is read the limit that is named suffices, and is not twice too large."""
    held = [10**8]
    monkeypatch.setattr(memory_limits, "held_memory", lambda: held[0])
    monkeypatch.setattr(program, "_LARGE_TABLE", 1000)
    data = make().SerializeToString()
    with limited_memory(40_000), pytest.raises(AboveLimit) as refused:
        read_onnx("net.onnx", data=data)
    read = read_onnx("net.onnx", data=data)
    tables = sum(node.table.nbytes for node in read.program.nodes if node.table is not None)
    tables += sum(8 * np.size(node.places) for node in read.program.nodes if node.op == "index")
    model = Model(read.program)
    needed = memory_limit() - memory_beside_weights(model) + least_memory(model, ["head.weight"])
    assert needed < refused.value.enough < 2.2 * (needed + tables)


@pytest.mark.long
def test_a_large_input_in_an_address_space(tmp_path):
    """Images of 900 × 120 and 65 learnable numbers: five samples in 6 GB of address space.

    The layers before are frozen, and five of the 64 units are 0 for almost all samples.
    """
    path = tmp_path / "images.onnx"
    onnx.save(images(900, 120), str(path))
    call = f"ulimit -v 6000000; exec {sys.executable} -m matchprob capacity {path} --json"
    call += " --learn 'head.*'"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(["bash", "-c", call], env=env, capture_output=True, check=False)
    [row] = json.loads(done.stdout)["subsets"]
    assert (done.returncode, row["learnable"], row["rank"], row["capacity"]) == (0, 65, 59, 59)


def test_a_list_of_all_weights_counts():
    """Not made for an allocation of a part of them, and refused if it is too large."""
    net = LinearEstimator(q=2000, d=1000, m=1)
    some = Problem(net, {"W": np.eye(1000, 2000, dtype=np.int8)}).allocation
    with limited_memory(20_000_000):
        assert not everything_learns(some, {})
        with pytest.raises(Unfinished, match="a list of 2,000,000 weights"):
            all_cells(net)


@pytest.mark.long
@pytest.mark.parametrize("limit", ["120MB", "250MB", "400MB", "600MB"])
def test_no_peak_exceeds_the_limit_by_more_than_a_fifth(limit):
    """Five models of 2,433 to two million parameters: their ranks, or a refusal, in this memory."""
    root = Path(__file__).parents[2]
    script, env = root / "benchmarks" / "bench_models.py", {**os.environ, "PYTHONPATH": str(root)}
    models = ("tanh", "relu", "mlp10k", "images", "mlp100k", "lora1M", "norms2M")
    call = [sys.executable, str(script), "--memory", limit, "--only", *models]
    assert subprocess.run(call, env=env, check=False).returncode == 0
