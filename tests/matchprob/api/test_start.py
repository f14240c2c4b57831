"""Updates at their start, where a factor is zero: ranks there and at almost all other points."""

from dataclasses import replace

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.models.onnx import Read
from algebra.programs.program import Builder
from tests.doubles import labels, weights_of
from tests.samples import more

LEARNING = "what requires a gradient"


def adapted(start, inputs=4, units=3, rank=1, outputs=2):
    """tanh((W + B A) x) read out by some rows, with the factor B at a start."""
    build = Builder()
    x = build.sample("x", (inputs,))
    W, A, B = (
        build.weight(*one)
        for one in (("W", (units, inputs)), ("A", (rank, inputs)), ("B", (units, rank)))
    )
    through = build.contract("ij,j->i", B, build.contract("ij,j->i", A, x))
    hidden = build.apply("tanh", build.add(build.contract("ij,j->i", W, x), through))
    out = build.weight("out", (outputs, units))
    program = build.program(build.contract("ij,j->i", out, hidden))
    rng = np.random.default_rng(1)
    values = {name: (rng.integers(-9, 9, s), 7) for name, s in program.weights.items()}
    values["B"] = (np.full((units, rank), start), 7)
    roles = dict.fromkeys(values, "matrix")
    return Read(program, values, frozenset(), {}, roles, frozenset({"A", "B"}))


def rank_in_doubles(read, names):
    """The rank of the Jacobian at the model's own weights, from singular values."""
    weights, rng = weights_of(read), np.random.default_rng(2)
    samples = {n: rng.normal(size=(*s, 12)) for n, s in read.program.samples.items()}
    step, rows = 1e-200, []
    for name in names:
        for place in np.ndindex(weights[name].shape):
            moved = weights[name].astype(complex)
            moved[place] += 1j * step
            found = labels(read.program, {**weights, name: moved}, samples)
            rows.append(np.imag(found).ravel() / step)
    return np.linalg.matrix_rank(np.array(rows), tol=1e-9)


def test_both_ranks_are_said():
    """With B = 0 a change of A has no effect: rank 3 of 7 there, 6 at almost all A and B."""
    read = adapted(0)
    found = mp.capacity(read).subsets[0]
    assert (found.name, found.rank, found.at_weights.rank) == (LEARNING, 6, 3)
    assert (found.at_weights.at, found.at_weights.exact) == ("file", True)
    assert rank_in_doubles(read, ["A", "B"]) == 3
    moved = replace(read, values={**read.values, "B": (np.array([[1], [2], [5]]), 7)})
    assert rank_in_doubles(moved, ["A", "B"]) == 6
    assert mp.capacity(moved).subsets[0].at_weights.rank == 6


@pytest.mark.parametrize(("rank", "size"), more((5, 20), (8, 64)))
def test_an_update_of_low_rank_of_a_square_matrix(rank, size):
    """r · n at B = 0 (of rank 8 and 64 rows 512); r · (n + n) − r² otherwise (960); divided by
    three labels.
    """
    read = adapted(0, inputs=size, units=size, rank=rank, outputs=3)
    found = mp.capacity(read, LEARNING).subsets
    most, start = 2 * rank * size - rank**2, rank * size
    [one] = found
    assert (one.rank, one.capacity) == (most, most // 3)
    assert (one.at_weights.rank, one.at_weights.capacity) == (start, start // 3)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_the_start_of_an_adapter():
    """PEFT's LoRA of a small GPT-2: both ranks are autograd's."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    peft = pytest.importorskip("peft", reason="peft is not installed")
    torch.manual_seed(1)
    config = transformers.GPT2Config(
        vocab_size=5, n_positions=4, n_embd=4, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
    )
    net = peft.get_peft_model(
        transformers.GPT2LMHeadModel(config), peft.LoraConfig(r=1, task_type="CAUSAL_LM")
    ).double()
    tokens = torch.cartesian_prod(*[torch.arange(5)] * 3)
    [found] = mp.capacity(mp.from_torch(net, tokens), LEARNING).subsets
    learns = {n: p for n, p in net.named_parameters() if p.requires_grad}
    for known in (found.at_weights.rank, found.rank):
        net.eval()

        def forward(values):
            return torch.func.functional_call(net, values, (tokens,)).logits.flatten()

        J = torch.autograd.functional.jacobian(
            lambda *given: forward(dict(zip(learns, given, strict=True))), tuple(learns.values())
        )
        flat = torch.cat([part.reshape(len(part), -1) for part in J], 1)
        size = torch.linalg.svdvals(flat)
        # Those that count fall to 10⁻⁹ of the largest; those that are rounding are below 10⁻¹⁵.
        assert known == int((size > 1e-12 * size[0]).sum())
        # Then at other values of what learns; what is frozen stays.
        for own in learns.values():
            own.data.add_(torch.randn(own.shape).double())
