"""Calls with values of the wrong type are refused in one line that names the argument."""

import numpy as np
import pytest

import matchprob as mp
from algebra.errors import Unfinished
from tests.refusals import refuses
from tests.samples import NET

P = mp.Problem(NET, {"W": [[1, 0], [0, 1]]})
FREE = mp.Problem(NET, {})
ONES = np.ones((2, 2))

CALLS = {
    "with_allocation(dict of another matrix)": lambda: P.with_allocation({"Q": [[1]]}),
    "with_allocation(None)": lambda: P.with_allocation(None),
    "Problem(str)": lambda: mp.Problem("lrnn", {"W": [[1]]}),
    "load_problem(int)": lambda: mp.load_problem(3),
    "design costs=array": lambda: mp.design(FREE, costs=ONES),
    "design costs=dict of arrays": lambda: mp.design(FREE, costs={"W": ONES}),
    "design costs=number": lambda: mp.design(FREE, costs=3),
    "design caps=3": lambda: mp.design(FREE, caps=3),
    "design caps=list": lambda: mp.design(FREE, caps=["row"]),
    "design must=str": lambda: mp.design(FREE, must="W[0,1]"),
    "design must=cell": lambda: mp.design(FREE, must=("W", 0, 1)),
    "design must=3": lambda: mp.design(FREE, must=3),
    "design forbidden=array": lambda: mp.design(FREE, forbidden=ONES),
    "design matrices=3": lambda: mp.design(FREE, matrices=3),
    "design budget=str": lambda: mp.design(FREE, budget="3"),
    "design timeout=None": lambda: mp.design(FREE, timeout=None),
    "repair costs=array": lambda: mp.repair(P, costs=ONES),
    "certify timeout=None": lambda: mp.certify(P, timeout=None),
    "certify seed=-1": lambda: mp.certify(P, seed=-1),
    "identify seed=str": lambda: mp.identify(P, seed="a"),
    "identify timeout=None": lambda: mp.identify(P, timeout=None),
    "estimate timeout=None": lambda: mp.estimate(P, 4, timeout=None),
    "estimate store=3": lambda: mp.estimate(P, 4, store=3),
    "estimate half_width=str": lambda: mp.estimate(P, 4, half_width="x"),
    "estimate seed=None": lambda: mp.estimate(P, 4, seed=None),
    "count engine=list": lambda: mp.count(P, engine=["exact"]),
    "record what=3": lambda: mp.record(P, 3),
    "record costs=list": lambda: mp.record(P, costs=[1]),
    "record caps=3": lambda: mp.record(P, caps=3),
    "record must=str": lambda: mp.record(P, must="output 0"),
    "atlas budget=str": lambda: mp.atlas(NET, "2"),
    "monodromy_group(problem)": lambda: mp.monodromy_group(P),
    "monodromy_group(None)": lambda: mp.monodromy_group(None),
    "minimal_polynomials(problem)": lambda: mp.minimal_polynomials(P),
    "enclosures(name)": lambda: mp.enclosures("examples/diagonal.toml"),
    "verify(problem)": lambda: mp.verify(P),
    "from_torch(None)": lambda: mp.from_torch(None),
    "from_torch(name)": lambda: mp.from_torch("model.pt", m=3),
    "certify(bytes)": lambda: mp.certify(b"net.toml"),
    "construct(problem)": lambda: mp.construct(P),
    "Tied of rows of different length": lambda: mp.Problem(NET, {"W": mp.Tied([[1, 1], [1]])}),
    "plot(name of a file)": lambda: mp.certify(P).plot("a.png"),
    "plot(3)": lambda: mp.identify(P).plot(3),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_wrong_types_raise_an_input_error(call):
    """The error is an InputError of one line with the name of the argument in backquotes."""
    refuses("`", call)


def test_what_to_write_instead():
    """A network has to say what learns; results of a count are made by one; modules are modules."""
    refuses(r'Problem\(network, {"W": "all"}\)', lambda: mp.certify(NET))
    refuses(r"monodromy_group\(count\(problem, 1\)\)", lambda: mp.monodromy_group(P))
    refuses("must be a torch module", lambda: mp.from_torch("model.pt"))


def test_masks_as_an_allocation():
    """`with_allocation` takes masks too."""
    assert P.with_allocation({"W": [[1, 1], [0, 0]]}).allocation.cells == (("W", 0, 0), ("W", 0, 1))


def test_a_problem_is_printed_on_one_line():
    """The repr of a problem is one line, however large its masks, and names its other tables."""
    net = mp.LinearRNN(n=100, T=2, b=1, d=1, m=2)
    problem = mp.Problem(
        net, {"W": np.ones((100, 100), int)}, constraints=mp.Constraints(max_abs=1)
    )
    assert repr(problem) == f"Problem({net}; 10000 learnable in W; [constraints])"


def test_a_store_is_created_only_on_request(tmp_path):
    """`Store` of a missing file is refused without `create=True` and leaves no file."""
    with pytest.raises(mp.InputError, match="no such store"):
        mp.Store(tmp_path / "typo.sqlite")
    assert not (tmp_path / "typo.sqlite").exists()
    mp.Store(tmp_path / "new.sqlite", create=True).close()
    assert (tmp_path / "new.sqlite").exists()


def test_capacity_of_odd_subsets():
    """Numbers for names, ranks that are none, and more samples than memory holds: in one line."""
    model = "examples/data/perceptron.onnx"
    refuses(r"`learn` \(3\) must be a text of names", mp.capacity, model, 3)
    refuses(r"`lora` \(1.5\) must be a whole number", mp.capacity, model, lora=1.5)
    with pytest.raises(Unfinished, match=r"samples take about .* of memory, more than"):
        mp.capacity(model, ["*.bias"], m=10**9)


@pytest.mark.parametrize("verb", [mp.identify, mp.record, mp.audit])
def test_networks_with_activation_patterns(verb):
    """What needs one Jacobian says so, and which verbs take a ReLU network."""
    relu = mp.Problem(mp.ShallowReLU(q=3, n=4, d=2, m=3), {"W1": "all"})
    refuses("has a Jacobian for each activation pattern", verb, relu)


def test_files_of_another_kind(tmp_path):
    """What the ending says that a file is, it is not read as anything else."""
    model = "examples/data/block.onnx"
    refuses("a problem file .* is expected, and this is an ONNX", mp.identify, model)
    refuses("proof file .* is expected, and this is a problem file", mp.verify, "examples/row.toml")
    for name in ("net.pt", "net.safetensors"):
        (tmp_path / name).write_bytes(bytes(20))
        refuses("export the module to ONNX", mp.capacity, tmp_path / name)
        refuses("export the module to ONNX", mp.certify, tmp_path / name)
    refuses("no such file", mp.certify, tmp_path / "none.onnx.toml")
    refuses("names no parameter", mp.certify, model, learn=[""], m=3)
    assert mp.certify(model, learn=["norms,"], m=3).learnable == 32
