"""Small torch modules, by name, with inputs, for tests of exported programs."""

import math
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
nn, F = torch.nn, torch.nn.functional

# A module, its inputs with five samples, and the axis of the samples.
Made = tuple[Any, tuple[Any, ...], int]
MODULES: dict[str, Callable[[], Made]] = {}


def entry(make: Callable[[], Any]) -> Callable[[], Any]:
    """Enter a module under its function's name, in binary64; samples along axis 0 by default."""

    def whole() -> Made:
        torch.manual_seed(1)
        made = make()
        net, inputs, axis = made if len(made) == 3 else (*made, 0)
        net = net.double()
        for name, buffer in net.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_()
            if name.endswith("running_var"):
                buffer.uniform_(0.5, 2)
        for parameter in net.parameters():
            # Gains of one and shifts of zero would hide their positions.
            parameter.data.add_(torch.randn(parameter.shape) / 4)
        return net, inputs, axis

    MODULES[make.__name__] = whole
    return make


def normal(*shape: int) -> Any:
    """Five samples."""
    return torch.randn(5, *shape, dtype=torch.float64)


class Computes(nn.Module):
    """A module whose forward is a function of its parts."""

    def __init__(self, forward: Callable[..., Any], **parts: Any) -> None:
        super().__init__()
        for name, part in parts.items():
            if isinstance(part, torch.Tensor) and not isinstance(part, nn.Parameter):
                self.register_buffer(name, part)
            else:
                setattr(self, name, part)
        self._computes = forward

    def forward(self, *inputs: Any) -> Any:
        """The value of the function."""
        return self._computes(self, *inputs)


@entry
def mlp() -> Any:
    """ReLU and biases."""
    return nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 5), nn.ReLU(),
                         nn.Linear(5, 2)), (normal(3),)  # fmt: skip


@entry
def convnet() -> Any:
    """A convolution, batch normalization, a residual block, pools."""
    block = Computes(
        lambda s, x: F.relu(x + s.norm(s.conv(x))),
        conv=nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False), norm=nn.BatchNorm2d(4),
    )  # fmt: skip
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, stride=(2, 1), padding=1), nn.BatchNorm2d(4), nn.ReLU(), block,
        nn.MaxPool2d(2, 1, padding=1), nn.AvgPool2d(2, padding=1), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Dropout(0.5), nn.Linear(4, 3),
    ), (normal(2, 6, 5),)  # fmt: skip


@entry
def conv1d() -> Any:
    """One axis, dilation, group and instance norms, an adaptive mean."""
    return nn.Sequential(
        nn.Conv1d(2, 4, 3, dilation=2, padding="same"), nn.GroupNorm(2, 4), nn.ELU(0.7),
        nn.InstanceNorm1d(4, affine=True), nn.ConstantPad1d((1, 2), 0.0), nn.AdaptiveAvgPool1d(3),
        nn.Flatten(), nn.BatchNorm1d(12, affine=False), nn.Linear(12, 2),
    ), (normal(2, 9),)  # fmt: skip


@entry
def gelu() -> Any:
    """Both forms."""
    return nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.Linear(5, 4), nn.GELU("tanh"),
                         nn.Linear(4, 2)), (normal(3),)  # fmt: skip


@entry
def swiglu() -> Any:
    """A gated layer before RMS normalization."""
    return Computes(
        lambda s, x: s.down(s.norm(F.silu(s.gate(x)) * s.up(x))),
        gate=nn.Linear(3, 5, bias=False), up=nn.Linear(3, 5, bias=False),
        norm=nn.RMSNorm(5, eps=1e-3), down=nn.Linear(5, 2),
    ), (normal(3),)  # fmt: skip


@entry
def layernorm() -> Any:
    """A residual block with a norm, tanh, and a table of positions that is no parameter."""
    return Computes(
        lambda s, x: s.head(x + s.inner(torch.tanh(s.norm(x + s.places)))),
        norm=nn.LayerNorm(4), inner=nn.Linear(4, 4), head=nn.Linear(4, 2),
        places=torch.linspace(-1, 1, 4),
    ), (normal(4),)  # fmt: skip


@entry
def last_states() -> Any:
    """The last states of two recurrent layers, and a stack along a new first axis."""
    return Computes(
        lambda s, x: torch.stack([s.a(s.l(x)[1][0][-1]), s.b(x[:, 0])]).sum(0),
        l=nn.LSTM(2, 2, num_layers=2, batch_first=True), a=nn.Linear(2, 3), b=nn.Linear(2, 3),
    ), (normal(4, 2),)  # fmt: skip


@entry
def attention() -> Any:
    """Self-attention by torch's own module, with a causal mask, samples along axis 1."""
    mask = nn.Transformer.generate_square_subsequent_mask(3, dtype=torch.float64)
    return Computes(
        lambda s, x: s.attend(x, x, x, attn_mask=s.mask, need_weights=False)[0].mean(0),
        attend=nn.MultiheadAttention(4, 2), mask=mask,
    ), (torch.randn(3, 5, 4, dtype=torch.float64),), 1  # fmt: skip


@entry
def weighted_attention() -> Any:
    """The same with weights requested, for which torch uses another implementation."""
    return Computes(
        lambda s, x: s.attend(x, x, x)[0].mean(1), attend=nn.MultiheadAttention(4, 2,
        batch_first=True),
    ), (normal(3, 4),)  # fmt: skip


@entry
def grouped_attention() -> Any:
    """Four heads of queries, two of keys and values, positions turned, a boolean mask."""
    angles = torch.outer(torch.arange(3.0), torch.tensor([1.0, 0.3])).double()

    def forward(s: Any, x: Any) -> Any:
        def heads(h: Any, count: int) -> Any:
            return h.unflatten(-1, (count, 4)).transpose(1, 2)

        def turned(h: Any) -> Any:
            a, b = h.chunk(2, -1)
            c, d = s.cosines, s.sines
            return torch.cat([a * c - b * d, a * d + b * c], -1)

        q, k = turned(heads(s.q(x), 4)), turned(heads(s.k(x), 2))
        v, mask = heads(s.v(x), 2), torch.ones(3, 3, dtype=torch.bool).tril()
        found = F.scaled_dot_product_attention(q, k, v, mask, scale=0.3, enable_gqa=True)
        return s.o(found.transpose(1, 2).flatten(2))[:, -1]

    return Computes(
        forward, q=nn.Linear(6, 16), k=nn.Linear(6, 8), v=nn.Linear(6, 8), o=nn.Linear(16, 2),
        cosines=angles.cos(), sines=angles.sin(),
    ), (normal(3, 6),)  # fmt: skip


def block(D: int = 8, H: int = 2, S: int = 3, d: int = 3, **options: Any) -> Any:
    """A transformer block before a mean over steps and a head; 627 parameters by default."""

    def forward(s: Any, x: Any) -> Any:
        def heads(h: Any) -> Any:
            return h.view(x.shape[0], S, H, D // H).transpose(1, 2)

        h = s.norm1(x)
        q, k, v = heads(s.q(h)), heads(s.k(h)), heads(s.v(h))
        a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
        x = x + s.o(a)
        x = x + s.down(s.act(s.up(s.norm2(x))))
        return s.head(x.mean(1))

    return Computes(
        forward, norm1=nn.LayerNorm(D), norm2=nn.LayerNorm(D),
        **{name: nn.Linear(D, D) for name in "qkvo"},
        up=nn.Linear(D, 2 * D), down=nn.Linear(2 * D, D), act=nn.SiLU(), head=nn.Linear(D, d),
        **options,
    )  # fmt: skip


@entry
def transformer_block() -> Any:
    """The block by its formulas."""
    return block(), (normal(3, 8),)


@entry
def encoder_layer() -> Any:
    """Torch's own block, frozen: the fused layer is not used."""
    net = nn.TransformerEncoderLayer(4, 2, 6, activation="gelu", batch_first=True, norm_first=True)
    return net.requires_grad_(False), (normal(3, 4),)


@entry
def tokens() -> Any:
    """Embeddings of tokens and positions, a table tied to the head."""

    def forward(s: Any, i: Any) -> Any:
        at = torch.arange(i.shape[1])
        return F.linear(torch.tanh(s.table(i) + s.place(at)).mean(1), s.table.weight)

    net = Computes(forward, table=nn.Embedding(6, 4), place=nn.Embedding(3, 4))
    return net, (torch.randint(0, 6, (5, 3)),)


@entry
def gru() -> Any:
    """Unrolled, two layers, a linear read-out of the last state."""
    return Computes(
        lambda s, x: s.head(s.rnn(x)[0][:, -1]), rnn=nn.GRU(3, 4, 2, batch_first=True),
        head=nn.Linear(4, 2),
    ), (normal(3, 3),)  # fmt: skip


@entry
def lstm() -> Any:
    """In both directions, steps along axis 0."""
    return Computes(
        lambda s, x: s.head(s.rnn(x)[0].mean(0)), rnn=nn.LSTM(3, 2, bidirectional=True),
        head=nn.Linear(4, 2),
    ), (torch.randn(3, 5, 3, dtype=torch.float64),), 1  # fmt: skip


@entry
def cells() -> Any:
    """A cell in a loop, states written into a tensor."""

    def forward(s: Any, x: Any) -> Any:
        h, out = torch.zeros(x.shape[0], 3, dtype=x.dtype), torch.zeros_like(x)
        for t in range(x.shape[1]):
            h = s.cell(x[:, t], h)
            out[:, t] = h
        return out.flatten(1)

    return Computes(forward, cell=nn.RNNCell(3, 3)), (normal(2, 3),)


@entry
def functions() -> Any:
    """Activations with options, one after another, and what else has one argument."""

    def forward(s: Any, x: Any) -> Any:
        parts = [
            F.softplus(x, 2.0), F.celu(x, 0.6), F.selu(x), F.mish(x), F.hardswish(x),
            F.hardsigmoid(x), F.leaky_relu(x, 0.2), F.logsigmoid(x), F.hardtanh(x, -0.4, 0.7),
            F.relu6(4 * x), s.slope(x), x.abs(), x.exp(), x.erf(), (x**2 + 1).sqrt(),
            (x**2 + 1).rsqrt(), 1 / (x**2 + 2), x.clamp(min=0.1), 2 - x,
            torch.rsub(x, 1.0, alpha=2), torch.sub(x, x**3, alpha=0.5), x.flip(-1),
            x.var(-1, keepdim=True).expand_as(x), x.amax(-1, True) - x,
            x.max(-1, keepdim=True)[0] + x.amin(-1, True), torch.maximum(x, s.shift),
            F.glu(torch.cat([x, x], -1)), x[:, [2, 0, 1]], x.repeat(1, 2)[:, 1:4],
            torch.where(s.shift > 0, x, 2 * x), F.normalize(x, dim=-1),
            torch.stack(x.unbind(1), 1), x.masked_fill(s.shift > 0, 0.5),
        ]  # fmt: skip
        return sum(k * part for k, part in enumerate(parts, 1))

    shift = torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64)
    return Computes(forward, slope=nn.PReLU(3), shift=shift), (normal(3),)


@entry
def resampled() -> Any:
    """Transposed convolutions, interpolation, a window of the memory, sums, logarithms."""

    def compute(self: Any, x: Any) -> Any:
        h = self.up(x)
        h = F.interpolate(h, scale_factor=2, mode="nearest")
        h = F.interpolate(h, size=(5, 6), mode="bilinear")
        h = F.interpolate(h, size=(4, 4), mode="bilinear", align_corners=True)
        h = torch.as_strided(h, (h.shape[0], 3, 4), (32, 4, 2), 1)
        h = torch.tril(torch.cumsum(h, 2), 1)
        h = torch.log1p(h * h) + torch.expm1(h / 4)
        return (F.log_softmax(h, 2) * torch.log(1 + h * h)).sum(1)

    net = Computes(compute, up=nn.ConvTranspose2d(2, 2, 3, stride=2, padding=1, output_padding=1))
    return net, (normal(2, 2, 3),)


@entry
def two_inputs() -> Any:
    """A bilinear form of two inputs, an einsum."""
    return Computes(
        lambda s, x, y: torch.einsum("nij,jk,nk->ni", x, s.middle, y),
        middle=nn.Parameter(torch.randn(3, 2)),
    ), (normal(2, 3), normal(2))  # fmt: skip


class LowRank(nn.Module):
    """A frozen linear layer with an update of low rank beside it, as PEFT wraps one."""

    def __init__(self, base: Any, rank: int) -> None:
        super().__init__()
        self.base_layer = base.requires_grad_(False)
        self.lora_A = nn.ModuleDict({"default": nn.Linear(base.in_features, rank, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(rank, base.out_features, bias=False)})
        self.scaling = 1 / math.sqrt(rank)

    def forward(self, x: Any) -> Any:
        """The layer, and its update."""
        return self.base_layer(x) + self.lora_B["default"](self.lora_A["default"](x)) * self.scaling


@entry
def low_rank() -> Any:
    """The block with updates of rank 2 on q and v, all else frozen."""
    net = block().requires_grad_(False)
    net.q, net.v = LowRank(net.q, 2), LowRank(net.v, 2)
    return net, (normal(3, 8),)


@entry
def comparisons() -> Any:
    """Shrunk and bounded values, values chosen by conditions, the largest of two windows."""
    return nn.Sequential(
        nn.Linear(3, 6), nn.GroupNorm(2, 6), nn.Softshrink(0.1), nn.Linear(6, 6),
        nn.Threshold(0.1, -0.2), nn.Linear(6, 6), nn.Hardshrink(0.2),
        Computes(lambda s, x: torch.where((x > 0) & ~(x >= 1.5), x * x, torch.sign(x) - x)),
        nn.Linear(6, 6), nn.Unflatten(1, (1, 6)), nn.AdaptiveMaxPool1d(2), nn.Flatten(),
        nn.Linear(2, 2),
    ), (normal(3),)  # fmt: skip


@entry
def sines() -> Any:
    """Sines and other functions by them, exponentials and logarithms; powers that learn."""

    def forward(s: Any, x: Any) -> Any:
        up = x * x + 1
        parts = [
            x.sin(), x.cos(), x.tan(), x.sinh(), x.cosh(), torch.exp2(x), up.log2(), up.log10(),
            x.erfc(), torch.logaddexp(x, up), up**0.3, up**s.exponent, 2**x,
            torch.nan_to_num(x), torch.where(torch.isfinite(x), x, 0 * x),
            torch.where(torch.isnan(x), 0 * x, x * x), x.clamp(min=s.shift),
            F.rrelu(x), x.norm(p=1, dim=-1, keepdim=True),
            up.pow(torch.tensor([1.0, 2.0, 3.0])), x.masked_fill(x == float("inf"), 0.0),
        ]  # fmt: skip
        return s.out(sum(k * part for k, part in enumerate(parts, 1)))

    shift = torch.tensor([0.3, -0.2, 0.1], dtype=torch.float64)
    return nn.Sequential(nn.Linear(3, 3), Computes(
        forward, exponent=nn.Parameter(torch.ones(1)), shift=shift, out=nn.Linear(3, 2)
    )), (normal(3),)  # fmt: skip


@entry
def orders() -> Any:
    """Entries in their order, at places of largest ones, and combined along an axis."""

    def forward(s: Any, x: Any) -> Any:
        most, at = x.topk(2, -1)
        parts = [
            x.sort(-1)[0], x.gather(1, x.argsort(1, descending=True)), most.sum(-1, True),
            torch.zeros_like(x).scatter(-1, at, most), x * F.one_hot(x.argmax(-1), 4),
            x.scatter_add(1, at, most), x.median(-1, keepdim=True)[0],
            x.kthvalue(2, -1, keepdim=True)[0], x.cummax(-1)[0], x.cumprod(-1),
            x.prod(-1, keepdim=True), x.logcumsumexp(-1), x.logsumexp(-1, keepdim=True),
            x.gather(1, x.max(-1, keepdim=True)[1]), x.gather(1, x.argmin(-1, keepdim=True)),
            s.table[x.argmax(-1)], F.embedding(at, s.table).sum(1),
            torch.where(x.argmax(-1, keepdim=True) == 2, x, 2 * x),
            x.view(-1, 2, 2).prod(1).repeat(1, 2),
        ]  # fmt: skip
        return sum(k * part for k, part in enumerate(parts, 1))

    table = nn.Parameter(torch.randn(4, 4))
    return nn.Sequential(nn.Linear(3, 4), Computes(forward, table=table)), (normal(3),)


@entry
def rearranged() -> Any:
    """Pads of three modes, windows, diagonals, entries added at places, functions of matrices."""

    def forward(s: Any, x: Any) -> Any:
        n, square = x.shape[0], x.view(-1, 2, 2)
        parts = [
            F.pad(x[:, None], (1, 2), mode=mode)[:, 0, 1:5] for mode in s.modes
        ] + [
            x.unfold(1, 2, 1).sum(-1).repeat(1, 2)[:, :4], square.diagonal(0, 1, 2).repeat(1, 2),
            torch.zeros(n, 4, dtype=x.dtype).index_add(1, s.at, x),
            x.scatter_add(1, s.at.expand(n, 4), x), x.gather(1, s.at.expand(n, 4)),
            x[:, s.at != 1].repeat(1, 2)[:, :4], torch.matrix_exp(square).flatten(1),
            torch.linalg.inv(square + s.shift).flatten(1),
        ]  # fmt: skip
        return sum(k * part for k, part in enumerate(parts, 1))

    return nn.Sequential(nn.Linear(3, 4), Computes(
        forward, at=torch.tensor([0, 2, 2, 1]), shift=4 * torch.eye(2).double(),
        modes=("circular", "reflect", "replicate"),
    )), (normal(3),)  # fmt: skip


@entry
def experts() -> Any:
    """The two best of three experts, by their gates."""

    def forward(s: Any, x: Any) -> Any:
        gates, at = s.gate(x).topk(2, -1)
        made = torch.stack([expert(x) for expert in s.experts], 1)
        own = made.gather(1, at[..., None].expand(-1, -1, 2))
        return (own * gates.softmax(-1)[..., None]).sum(1)

    experts = nn.ModuleList([nn.Linear(3, 2) for _ in range(3)])
    return Computes(forward, gate=nn.Linear(3, 3), experts=experts), (normal(3),)


@entry
def graph() -> Any:
    """Messages along the edges of a graph without loops, as PyTorch Geometric selects them."""

    def forward(s: Any, x: Any) -> Any:
        source, target = s.edges[:, s.edges[0] != s.edges[1]]
        degree = torch.zeros(4).double().index_add(0, target, torch.ones(len(target)).double())
        h = torch.tanh(s.layer(x))
        h = torch.zeros_like(h).index_add(1, target, h[:, source])
        pairs = s.edges.nonzero()
        return (h / degree.clamp(min=1)[:, None]).sum(1) + h[:, pairs[0, 1]]

    edges = torch.tensor([[0, 1, 2, 0, 3], [1, 2, 0, 0, 2]])
    return Computes(forward, layer=nn.Linear(2, 3), edges=edges), (normal(4, 2),)


@entry
def bags() -> Any:
    """Means of rows of a table."""
    return nn.Sequential(nn.EmbeddingBag(5, 3), nn.Linear(3, 2)), (torch.randint(0, 5, (5, 3)),)


@entry
def pooled() -> Any:
    """A mean with an exponent that learns, after a convolution with circular pads."""
    return Computes(
        lambda s, x: s.head(s.conv(x).clamp(min=1e-3).pow(s.p).mean((2, 3)).pow(1 / s.p)),
        conv=nn.Conv2d(1, 3, 3, padding=1, padding_mode="circular"), head=nn.Linear(3, 2),
        p=nn.Parameter(torch.tensor([3.0])),
    ), (normal(1, 4, 3),)  # fmt: skip
