"""Gradients that a module stops: `no_grad`, `detach`, the row of padding, and other modules."""

import pytest

import matchprob as mp
from tests.refusals import refuses
from tests.torch_modules import Computes, F, LowRank, block, nn, torch


def frozen(module):
    """The module, of which nothing learns."""
    for parameter in module.parameters():
        parameter.requires_grad_(False)
    return module


def behind(stop):
    """b(stop(tanh(a x))): 14 of 44 numbers learn."""
    torch.manual_seed(0)
    return Computes(
        lambda s, x: s.b(stop(torch.tanh, s.a(x))), a=nn.Linear(4, 6), b=nn.Linear(6, 2)
    )


def without(function, x):
    """Computed without a gradient, from the argument on."""
    with torch.no_grad():
        return function(x)


class Behind(nn.Module):
    """As `behind`, with a `forward` whose lines torch knows."""

    def __init__(self, stop):
        super().__init__()
        self.a, self.b, self.stop = nn.Linear(4, 6), nn.Linear(6, 2), stop

    def forward(self, x):
        h = self.a(x)
        return self.b(self.stop(torch.tanh, h))


STOPS = {"no_grad": without, "detach": lambda function, x: function(x).detach()}


@pytest.mark.parametrize("kind", STOPS)
def test_what_is_behind_a_stop_does_not_learn(kind):
    """As autograd has it; and `certify` does not let it learn, so that MP is not 1."""
    x = torch.randn(3, 4)
    found = mp.capacity(behind(STOPS[kind]), example_inputs=x, check=True)
    assert (found.trainable, found.effective, found.unused) == (44, 14, ("a.weight", "a.bias"))
    assert "stopped" in found.without_effect[0].reason
    [all_rows] = mp.capacity(behind(STOPS[kind]), "*", example_inputs=x).subsets
    assert (all_rows.learnable, all_rows.rank) == (14, 14)
    assert mp.certify(mp.from_torch(behind(STOPS[kind]), x, m=3)).learnable == 14


@pytest.mark.parametrize("kind", STOPS)
def test_a_parameter_behind_a_stop_is_named(kind):
    """It exists and gets no gradient; the line that stops it is said, in a check, too."""
    net, x = Behind(STOPS[kind]), torch.randn(3, 4)
    words = r"'a.weight' gets no gradient .*test_stopped.py, line \d+"
    refuses(words, mp.capacity, net, ["a.weight"], example_inputs=x)
    refuses(r"'a.\*' gets no gradient .*\(a.weight, for example\)", mp.capacity, net, ["a.*"],
            example_inputs=x)  # fmt: skip
    for pattern in ("a.*", "all", "what requires a gradient"):
        found = mp.capacity(net, [pattern], example_inputs=x, check=True)
        assert found.unmatched == ()
        assert found.unused == ("a.weight", "a.bias")
        assert "test_stopped.py, line" in found.without_effect[0].reason
    unused = Computes(lambda s, x: s.b(x), a=nn.Linear(4, 6), b=nn.Linear(4, 2))
    refuses("'a.bias' gets no gradient .*: no label depends on it", mp.capacity, unused,
            ["a.bias"], example_inputs=x)  # fmt: skip


def test_a_value_behind_a_stop_and_outside_of_it():
    """Its gradient is no derivative of the labels: refused by its name."""
    net = Computes(lambda s, x: s.a(x) * s.a(x).detach(), a=nn.Linear(3, 2))
    refuses("`a.bias` enters the labels behind a `detach`", mp.from_torch, net, torch.randn(2, 3))
    assert mp.from_torch(frozen(net), torch.randn(2, 3)).parameters


@pytest.mark.parametrize("choice", [torch.sign, torch.tanh])
def test_straight_through_estimators(choice):
    """The gradient of h + (f(h) − h).detach() is that of another function: refused by name."""

    def forward(s, x):
        h = s.a(x)
        return s.b(h + (choice(h) - h).detach())

    net = Computes(forward, a=nn.Linear(4, 6), b=nn.Linear(6, 2))
    refuses("`a.bias` .*straight-through", mp.capacity, net, example_inputs=torch.randn(3, 4))


def test_dora():
    """Its norms of rows are detached: refused by the name of a factor."""
    peft = pytest.importorskip("peft", reason="peft is not installed")
    net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
    net = peft.get_peft_model(net, peft.LoraConfig(r=2, target_modules=["0"], use_dora=True))
    refuses(r"lora_A.*DoRA", mp.capacity, net, example_inputs=torch.randn(3, 4), check=True)


def test_a_frozen_diagonal():
    """Behind tanh of a frozen diag(1, 0, 0): rank 2 of 4, and two without effect anywhere."""
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    net[0].weight.data = torch.diag(torch.tensor([1.0, 0, 0]))
    net[0].bias.data.zero_()
    frozen(net[0])
    x = torch.randn(5, 3)
    [row] = mp.capacity(net, "2.*", example_inputs=x).subsets
    assert (row.learnable, row.rank, row.capacity) == (4, 2, 2)
    checked = mp.capacity(net, example_inputs=x, check=True)
    assert (checked.trainable, checked.effective) == (4, 2)
    assert [(one.name, one.size, one.where) for one in checked.without_effect] == [
        ("2.weight", 2, "anywhere")
    ]


def test_frozen_kernels_that_are_equal():
    """Of seven frozen kernels four differ: 4 + 1 of 8 numbers behind tanh and a mean count."""
    net = Computes(lambda s, x: s.b(torch.tanh(s.a(x)).mean((2, 3))),
                   a=nn.Conv2d(1, 7, 2), b=nn.Linear(7, 1))  # fmt: skip
    for parameter in net.a.parameters():
        parameter.data[4:] = parameter.data[:3]
    frozen(net.a)
    x = torch.randn(3, 1, 4, 4)
    [row] = mp.capacity(net, "b.*", example_inputs=x, any_weights=True).subsets
    assert (row.learnable, row.rank, row.capacity) == (8, 5, 5)
    assert row.any_weights.rank == 8


def test_a_pruned_layer():
    """Nine of ten frozen weights are 0: of 30 units only the 16 that have one count."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(10, 30), nn.Tanh(), nn.Linear(30, 2))
    kept = torch.zeros(30, 10)
    kept[torch.arange(30) % 16, torch.arange(30) % 10] = 1
    net[0].weight.data *= kept
    frozen(net[0])
    [row] = mp.capacity(net, "2.*", example_inputs=torch.randn(5, 10), any_weights=True).subsets
    assert (row.learnable, row.rank, row.capacity) == (62, 34, 17)
    assert (row.any_weights.rank, row.any_weights.capacity) == (62, 31)


def test_low_rank_updates_of_a_fresh_block():
    """64 numbers of LoRA 2 on q and v: 56 count of any block, 52 where a fresh one is frozen.

    What its norm gives has the sum 0, so that a direction of each factor meets nothing.
    """
    torch.manual_seed(0)
    net = frozen(block())
    net.q, net.v = LowRank(net.q, 2), LowRank(net.v, 2)
    read = mp.from_torch(net, torch.randn(5, 3, 8))
    learn = ",".join(sorted(read.trainable))
    [row] = mp.capacity(read, learn, any_weights=True).subsets
    assert (row.learnable, row.rank, row.capacity, row.exact) == (64, 52, 17, True)
    assert (row.any_weights.rank, row.any_weights.capacity) == (56, 18)
    net, x = net.double(), torch.randn(20, 3, 8, dtype=torch.float64)
    factors = [parameter for parameter in net.parameters() if parameter.requires_grad]
    for parameter in factors:
        nn.init.normal_(parameter)
    rows = [torch.autograd.grad(y, factors, retain_graph=True) for y in net(x).reshape(-1)]
    J = torch.stack([torch.cat([part.reshape(-1) for part in row]) for row in rows])
    sizes = torch.linalg.svdvals(J)
    assert int((sizes > 1e-9 * sizes[0]).sum()) == 52


def test_dead_units():
    """Biases of −100 before ReLU: 42 of 44 numbers never get a gradient at these samples."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    net[0].bias.data.fill_(-100)
    found = mp.capacity(net, example_inputs=torch.randn(20, 4), check=True)
    assert (found.trainable, found.effective) == (44, 2)
    assert sum(one.size for one in found.without_effect if one.where == "here") == 42
    assert found.unused == ("0.weight", "0.bias", "2.weight")


@pytest.mark.parametrize("training", [True, False])
def test_a_module_without_effect_in_both_modes(training):
    """Keys' biases, and a layer whose value is not used."""
    torch.manual_seed(0)
    net = Computes(lambda s, x: (torch.softmax(s.k(x), 1) * s.v(x)).sum(1),
                   k=nn.Linear(3, 1), v=nn.Linear(3, 2), unused=nn.Linear(3, 3))  # fmt: skip
    net.train(training)
    found = mp.capacity(net, example_inputs=torch.randn(2, 5, 3), check=True)
    assert {one.name: one.size for one in found.without_effect} == {
        "k.bias": 1, "unused.weight": 9, "unused.bias": 3,
    }  # fmt: skip
    assert {one.where for one in found.without_effect} == {"anywhere"}


def test_a_branch_that_is_closed():
    """x + g f(x) with a frozen g = 0: of 16 numbers the 12 of f have no effect anywhere."""
    net = Computes(lambda s, x: s.b(x + s.g * torch.tanh(s.a(x))), a=nn.Linear(3, 3),
                   b=nn.Linear(3, 1))  # fmt: skip
    net.g = nn.Parameter(torch.zeros(1), requires_grad=False)
    found = mp.capacity(net, example_inputs=torch.randn(5, 3), check=True)
    assert (found.trainable, found.effective) == (16, 4)
    assert {(one.name, one.where) for one in found.without_effect} == {
        ("a.weight", "anywhere"), ("a.bias", "anywhere"),
    }  # fmt: skip


def test_the_row_of_padding():
    """It is fixed: 11 of 13 numbers have an effect; five tokens, of which four rows learn."""
    net = Computes(lambda s, i: s.h(torch.tanh(s.e(i)).sum(1)),
                   e=nn.Embedding(5, 2, padding_idx=0), h=nn.Linear(2, 1))  # fmt: skip
    tokens = torch.tensor([[1, 2, 0], [2, 3, 4]])
    found = mp.capacity(net, example_inputs=tokens, check=True)
    assert (found.trainable, found.effective, found.unused) == (13, 11, ("e.weight[0]",))
    [row] = mp.capacity(net, "e.weight", example_inputs=tokens).subsets
    assert (row.learnable, row.rank) == (8, 4)
    tied = Computes(lambda s, i: F.linear(torch.tanh(s.e(i)).sum(1), s.e.weight),
                    e=nn.Embedding(5, 2, padding_idx=0))  # fmt: skip
    read = mp.from_torch(tied, tokens)
    assert read.parameters == {"e.weight": (5, 2)}
    assert "used elsewhere" in read.assumed[0]


def test_training_mode_is_said():
    """A module in training mode is read in evaluation mode: batch norms and dropout differ."""
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5), nn.Linear(3, 1))
    texts = mp.from_torch(net.train(), torch.randn(3, 3)).assumed
    assert [("mean of the batch" in text, "dropout" in text) for text in texts] == [
        (True, False), (False, True),
    ]  # fmt: skip
    assert mp.from_torch(net.eval(), torch.randn(3, 3)).assumed == ()


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_the_last_state_of_a_recurrent_layer(kind):
    """h[-1], and a stack of values along a new first axis."""
    torch.manual_seed(0)
    layer = getattr(nn, kind)(2, 2, batch_first=True, num_layers=2)
    last = Computes(lambda s, x: s.o(_state(s.l(x)[1])[-1]), l=layer, o=nn.Linear(2, 1))
    whole = Computes(lambda s, x: s.o(s.l(x)[0][:, -1]), l=layer, o=last.o)
    x = torch.randn(3, 4, 2)
    first, second = (mp.from_torch(net, x) for net in (last, whole))
    assert first.parameters == second.parameters
    ranks = [mp.capacity(read, "o*", m=3).subsets[0].rank for read in (first, second)]
    assert ranks == [3, 3]
    stacked = Computes(lambda s, x: torch.stack([s.a(x), s.b(x)]).sum(0), a=nn.Linear(3, 2),
                       b=nn.Linear(3, 2))  # fmt: skip
    [row] = mp.capacity(mp.from_torch(stacked, torch.randn(2, 3)), "*").subsets
    assert (row.learnable, row.rank) == (16, 8)


def _state(states):
    return states[0] if isinstance(states, tuple) else states


@pytest.mark.parametrize(
    "forward",
    [
        lambda s, x: F.linear(F.normalize(x), F.normalize(s.w)),
        lambda s, x: F.cosine_similarity(x[:, None], s.w[None], dim=-1),
    ],
)
def test_lengths_of_a_cosine_classifier(forward):
    """16 of 20 numbers: the length of each row is free, and only lengths below 10⁻¹² are not."""
    torch.manual_seed(0)
    net = Computes(forward, w=nn.Parameter(torch.randn(4, 5)))
    [row] = mp.capacity(net, "w", example_inputs=torch.randn(3, 5)).subsets
    assert (row.learnable, row.rank, row.exact) == (20, 16, True)
    assert row.at_weights.rank == 16


@pytest.mark.parametrize(("eps", "rank"), [(1e-6, 12), (0.0, 11)])
def test_a_direction_that_exists_by_the_small_number_in_a_norm(eps, rank):
    """The length of what an RMS norm divides: it counts, and is marked; without that number not."""
    torch.manual_seed(0)
    net = Computes(lambda s, x: s.b(s.n(x @ s.w)), w=nn.Parameter(1000 * torch.randn(3, 4)),
                   n=frozen(nn.RMSNorm(4, eps=eps)), b=frozen(nn.Linear(4, 3)))  # fmt: skip
    x = torch.randn(6, 3, dtype=torch.float64)
    found = mp.capacity(net.double(), "w", example_inputs=x)
    [row] = found.subsets
    assert (row.learnable, row.rank, row.capacity) == (12, rank, rank // 3)
    text = str(found.document().why)
    assert ("by the small number in a normalization only" in text) == (rank == 12)
    assert (row.at_weights.smallest < 1e-10 * row.at_weights.largest) == (rank == 12)


def test_a_check_is_at_the_tokens_of_the_example():
    """A unit that is on for the third token only is off for an example without it."""
    net = Computes(lambda s, i: s.b(torch.relu(s.e(i)).sum(1)),
                   e=frozen(nn.Embedding(3, 1)), b=nn.Linear(1, 1))  # fmt: skip
    net.e.weight.data = torch.tensor([[-1.0], [-2.0], [1.0]])
    checked = [
        mp.capacity(net, example_inputs=torch.tensor(tokens), check=True)
        for tokens in ([[0, 1], [1, 0]], [[0, 1], [1, 2]])
    ]
    assert [found.effective for found in checked] == [1, 2]
    assert [(one.name, one.where) for one in checked[0].without_effect] == [("b.weight", "here")]
    assert checked[1].without_effect == ()
