"""Torch modules as programs: capacities, dimensions, ranks compared with autograd in binary64."""

import random

import numpy as np
import pytest

import matchprob as mp
from algebra.errors import InputError
from algebra.linalg.ranks import modular_rank
from algebra.plugins.models.capacity import cells_of
from algebra.programs.generic import Columns, Model, random_program_point
from numeric.programs.patterns import pattern_at
from tests.refusals import refuses
from tests.torch_modules import MODULES, Computes, nn, normal, torch

# Torch says that its derivatives of attention are slow for many labels at once.
pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
SMALL = (
    "mlp", "convnet", "gelu", "swiglu", "layernorm", "weighted_attention", "transformer_block",
    "gru", "lstm", "low_rank",
)  # fmt: skip


def autograd_rank(net, own, drawn, names):
    """The rank of torch's Jacobian at a point, from the singular values of its scaled columns."""

    def labels(part):
        return torch.func.functional_call(net, {**own, **part}, drawn).flatten()

    J = torch.func.jacrev(labels)({name: own[name] for name in names})
    table = torch.cat([J[n].reshape(J[n].shape[0], -1) for n in names], 1).numpy()
    sizes = np.linalg.norm(table, axis=0)
    singular = np.linalg.svd(table / np.where(sizes > 0, sizes, 1), compute_uv=False)
    return int((singular > 1e-11 * max(singular.max(), 1e-300)).sum())


@pytest.mark.long
@pytest.mark.parametrize("name", SMALL)
def test_ranks_equal_those_of_autograd(name):
    """Modular ranks of random subsets of parameters equal torch's, on one activation pattern."""
    net, inputs, axis = MODULES[name]()
    read, m, rng = mp.from_torch(net.eval(), inputs, axis=axis), 4, random.Random(name)
    buffers = dict(net.named_buffers())
    for seed in range(4):
        torch.manual_seed(seed)
        shapes = [[m if k == axis else s for k, s in enumerate(x.shape)] for x in inputs]
        drawn = tuple(torch.randn(shape, dtype=torch.float64) for shape in shapes)
        own = {n: torch.randn(p.shape, dtype=torch.float64) / 2 for n, p in net.named_parameters()}
        weights = {n: own[n].numpy() for n in read.parameters}
        for statistic in read.buffers:
            value = buffers[statistic].numpy()
            weights[statistic] = (value + 1e-5) ** -0.5 if "var" in statistic else value
        samples = {
            n: x.movedim(axis, -1).numpy() for n, x in zip(read.program.samples, drawn, strict=True)
        }
        signs = pattern_at(read.program, weights, samples)
        model = Model(read.program, patterns=lambda m, signs=signs: signs)
        chosen = rng.sample(list(read.parameters), min(3, len(read.parameters)))
        cells = [cell for n in chosen for cell in cells_of(model, n)]
        point = random_program_point(model, m, f"{name}/{seed}")
        found = modular_rank(Columns(model, point, m, chosen).of(cells), point.p)
        assert found == autograd_rank(net, own, drawn, chosen), chosen


def test_capacities_of_a_transformer_block():
    """75 biases of rank 34 fit 11 samples (their number suggests 25); norms fit 10, q and v 42."""
    net, inputs, _ = MODULES["transformer_block"]()
    found = mp.capacity(mp.from_torch(net, inputs), ["*.bias", "norm*", "q.weight,v.weight"])
    assert found.parameters == 627
    subsets = [(s.learnable, s.rank, s.capacity, s.counting) for s in found.subsets]
    assert subsets == [(75, 34, 11, 25), (32, 32, 10, 10), (128, 128, 42, 42)]
    assert found.exactness.is_exact


def test_trainable_are_the_parameters_that_require_a_gradient():
    """For PEFT's low-rank updates of q and v these are the factors: 64 numbers of rank 56."""
    net, inputs, _ = MODULES["low_rank"]()
    read = mp.from_torch(net, inputs)
    assert read.trainable == {f"{m}.lora_{x}.default.weight" for m in "qv" for x in "AB"}
    found = mp.capacity(read, [",".join(read.trainable)])
    assert [(s.learnable, s.rank, s.capacity) for s in found.subsets] == [(64, 56, 18)]


def test_dimension_of_a_module():
    """A net with x² as activation has the published dimension 32, where 35 are expected."""
    net = Computes(lambda s, x: s.c(s.b(s.a(x) ** 2) ** 2),
                   a=nn.Linear(5, 5, bias=False), b=nn.Linear(5, 3, bias=False),
                   c=nn.Linear(3, 1, bias=False))  # fmt: skip
    assert mp.dimension(mp.from_torch(net, torch.zeros(1, 5))).dimension == 32
    assert mp.dimension(mp.from_torch(net, torch.zeros(1, 5), m=3)).dimension == 32


def test_options_of_the_two_forms_of_from_torch():
    """`T` and `example_inputs` exclude each other; a refused layer's message names the latter."""
    net = nn.Sequential(nn.Linear(2, 3), nn.GELU(), nn.Linear(3, 1))
    with pytest.raises(InputError, match=r"`T` .* and `example_inputs` exclude each other"):
        mp.from_torch(net, torch.zeros(1, 2), T=3)
    refuses(r"contains GELU .*; with `example_inputs`", mp.from_torch, net, m=3)
    assert mp.from_torch(net, torch.zeros(1, 2)).parameters["2.bias"] == (1,)


def test_from_torch_with_m_makes_a_problem():
    """The parameters that require a gradient learn, or those of `masks`, which need `m`."""
    net = nn.Sequential(nn.Linear(2, 3), nn.GELU("tanh"), nn.Linear(3, 1))
    net[2].requires_grad_(False)
    x = torch.zeros(1, 2)
    problem = mp.from_torch(net, x, m=3)
    assert problem.allocation.size == 9
    assert mp.certify(problem).verdict != "minimal"
    assert mp.certify(mp.from_torch(net, x, m=10)).verdict == "minimal"
    masks = {"0.weight": [[1, 0], [0, 0], [0, 1]], "0.bias": torch.zeros(3)}
    assert mp.from_torch(net, x, m=3, masks=masks).allocation.size == 2
    with pytest.raises(InputError, match=r"masks\.0\.bias has the shape \(2,\)"):
        mp.from_torch(net, x, m=3, masks={"0.bias": [1, 0]})
    refuses(r"give `m` as well", mp.from_torch, net, x, masks=masks)


def test_frozen_parameters_keep_their_values():
    """Of a frozen diag(1, 0, 0) one feature and the bias count: two samples, and no third."""
    net = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Tanh(), nn.Linear(3, 1))
    net[0].weight.data = torch.diag(torch.tensor([1.0, 0, 0]))
    net[0].requires_grad_(False)
    for m, verdict in ((2, "maximal"), (3, "minimal")):
        problem = mp.from_torch(net, torch.zeros(1, 3), m=m)
        assert problem.network.weights == "file"
        found = mp.certify(problem)
        assert (found.verdict, mp.verify(found).holds) == (verdict, True)


@pytest.mark.parametrize("norm", [False, True])
def test_example_inputs_are_the_first_pattern(norm):
    """Their rank is that of autograd there, unless they are one number; others follow."""
    torch.manual_seed(3)
    parts = [nn.Linear(3, 6), nn.ReLU(), *[nn.LayerNorm(6)] * norm, nn.Linear(6, 6), nn.ReLU()]
    net, x = nn.Sequential(*parts, nn.Linear(6, 1)).double(), normal(3).repeat(8, 1)
    x = x + torch.randn_like(x)
    names = [name for name, _ in net.named_parameters() if name.endswith("bias")]
    own = {name: p.detach() for name, p in net.named_parameters()}
    [found] = mp.capacity(net, [",".join(names)], example_inputs=x, data=x).subsets
    assert [point.at for point in found.points][:2] == ["data", "training"]
    if not norm:
        assert found.points[0].rank == autograd_rank(net, own, x, names)
    [blank] = mp.capacity(net, [",".join(names)], example_inputs=torch.zeros(2, 3)).subsets
    assert blank.points[0].at == "file"
    assert found.rank >= blank.points[0].rank
    [given] = mp.capacity(mp.from_torch(net, x), [",".join(names)], data=x[:4]).subsets
    assert (given.points[0].at, given.points[0].rank <= 4) == ("data", True)


def test_hidden_states_are_labels():
    """The value of a part by its name: what comes after has no effect; forward is as before."""
    net, (x,), _ = MODULES["transformer_block"]()
    before = net(x)
    found = mp.capacity(net, "norms", example_inputs=x, output="o", outputs="last:8")
    [row] = found.subsets
    assert (found.outputs, row.learnable, row.rank) == (8, 16, 16)
    checked = mp.capacity(net, example_inputs=x, output="o", check=True)
    after = ("norm2", "up", "down", "head")
    assert checked.unused == ("k.bias", *(f"{n}.{x}" for n in after for x in ("weight", "bias")))
    read = mp.from_torch(net, x, output="norm1")
    assert read.program.nodes[read.program.output].size == x[0].numel()
    assert torch.equal(net(x), before)
    refuses(r"no part of this name; parts are norm1", mp.from_torch, net, x, output="norm")
