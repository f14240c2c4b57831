"""Architectures in plain torch and by configurations of transformers: random weights, no download.

`REAL` has the models at their published sizes: a function that returns the module and an example.
"""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
nn = torch.nn


class Block(nn.Module):
    """Two convolutions of 3 × 3 (ResNet-18), or 1 × 1, 3 × 3, 1 × 1 (ResNet-50)."""

    def __init__(self, inner, width, step, deep):
        super().__init__()
        outer = 4 * width if deep else width
        sizes = [(inner, width, 1), (width, width, 3), (width, outer, 1)] if deep else [
            (inner, width, 3), (width, outer, 3)]  # fmt: skip
        layers = []
        for k, (before, after, size) in enumerate(sizes):
            own = step if k == deep else 1
            layers += [nn.Conv2d(before, after, size, own, size // 2, bias=False),
                       nn.BatchNorm2d(after), nn.ReLU()]  # fmt: skip
        self.layers = nn.Sequential(*layers[:-1])
        self.beside = nn.Identity()
        if step > 1 or inner != outer:
            self.beside = nn.Sequential(
                nn.Conv2d(inner, outer, 1, step, bias=False), nn.BatchNorm2d(outer)
            )

    def forward(self, x):
        """The layers, and the input beside them."""
        return torch.relu(self.layers(x) + self.beside(x))


class ResNet(nn.Module):
    """He and others, as torchvision has it; `counts` of blocks, `deep` with three layers each."""

    def __init__(self, counts, deep, classes=1000, width=64):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )  # fmt: skip
        blocks, inner = [], width
        for stage, count in enumerate(counts):
            for k in range(count):
                own = width << stage
                blocks.append(Block(inner, own, 2 if stage and not k else 1, deep))
                inner = 4 * own if deep else own
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(inner, classes)

    def forward(self, x):
        """Labels of images."""
        return self.head(self.blocks(self.stem(x)).mean(dim=(2, 3)))


def gpt2(length=16):
    """GPT-2 small: 124 million parameters, hidden states."""
    return transformers.GPT2Model(transformers.GPT2Config()), words(50257, length)


def gpt2_words(length=16):
    """GPT-2 small with the scores of all words."""
    return transformers.GPT2LMHeadModel(transformers.GPT2Config()), words(50257, length)


def bert(length=16):
    """BERT-base: 109 million parameters, hidden states."""
    config = transformers.BertConfig()
    return transformers.BertModel(config, add_pooling_layer=False), words(30522, length)


def vit(size=224):
    """ViT-B/16: 86 million parameters, hidden states."""
    config = transformers.ViTConfig(image_size=size)
    return transformers.ViTModel(config, add_pooling_layer=False), torch.randn(2, 3, size, size)


def resnet18(size=224):
    """ResNet-18: 11.7 million parameters."""
    return ResNet((2, 2, 2, 2), deep=False), torch.randn(2, 3, size, size)


def resnet50(size=224):
    """ResNet-50: 25.6 million parameters."""
    return ResNet((3, 4, 6, 3), deep=True), torch.randn(2, 3, size, size)


def words(count, length):
    """Two samples of tokens."""
    return {"input_ids": torch.randint(0, count, (2, length))}


REAL = {"GPT-2 small": gpt2, "BERT-base": bert, "ViT-B/16": vit, "ResNet-18": resnet18,
        "ResNet-50": resnet50, "GPT-2 small, words": gpt2_words}  # fmt: skip


# -- small ones, of each architecture --------------------------------------------------------------


def images(size=16, channels=3, count=6):
    """Samples of images."""
    return torch.randn(count, channels, size, size)


class Head(nn.Module):
    """Some labels from what a model gives: the mean over places or steps, and a linear layer."""

    def __init__(self, model, size, labels=3):
        super().__init__()
        self.model, self.head = model, nn.Linear(size, labels)

    def forward(self, *inputs, **named):
        """Labels of a sample."""
        found = self.model(*inputs, **named)
        found = found if isinstance(found, torch.Tensor) else found[0]
        if found.ndim == 4:
            found = found.mean((2, 3))
        return self.head(found.mean(1) if found.ndim == 3 else found)


class Computed(nn.Module):
    """A module whose forward is a function of its parts."""

    def __init__(self, forward, **parts):
        super().__init__()
        for name, part in parts.items():
            buffer = isinstance(part, torch.Tensor) and not isinstance(part, nn.Parameter)
            self.register_buffer(name, part) if buffer else setattr(self, name, part)
        self._computed = forward

    def forward(self, *inputs):
        """The value of the function."""
        return self._computed(self, *inputs)


def of_config(name, size, inputs, model="Model", **options):
    """A model of transformers by its configuration, with a head."""
    config = getattr(transformers, f"{name}Config")(**options)
    return Head(getattr(transformers, f"{name}{model}")(config), size), inputs


def tokens(count=11, length=5, samples=9):
    """Samples of tokens."""
    return torch.randint(2, count, (samples, length))


TEXT = {"vocab_size": 11, "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1,
        "num_attention_heads": 2, "max_position_embeddings": 16}  # fmt: skip


def densenet():
    """Two layers whose inputs are all values before them."""

    def forward(s, x):
        for layer in s.layers:
            x = torch.cat([x, layer(x)], 1)
        return s.head(torch.relu(s.norm(x)).mean((2, 3)))

    layers = [
        nn.Sequential(nn.BatchNorm2d(3 + 4 * k), nn.ReLU(), nn.Conv2d(3 + 4 * k, 4, 3, padding=1))
        for k in range(2)
    ]
    return Computed(
        forward, layers=nn.ModuleList(layers), norm=nn.BatchNorm2d(11), head=nn.Linear(11, 3)
    ), images(6)


def mobilenet():
    """Inverted residuals: wide, each channel by itself, narrow."""

    def block(step):
        wide = [nn.Conv2d(4, 8, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6()]
        each = [nn.Conv2d(8, 8, 3, step, 1, groups=8, bias=False), nn.BatchNorm2d(8), nn.ReLU6()]
        return nn.Sequential(*wide, *each, nn.Conv2d(8, 4, 1, bias=False), nn.BatchNorm2d(4))

    def forward(s, x):
        x = s.stem(x)
        return s.head(s.second(x + s.first(x)).mean((2, 3)))

    return Computed(
        forward, stem=nn.Conv2d(3, 4, 3, 2, 1), first=block(1), second=block(2),
        head=nn.Linear(4, 3),
    ), images(8)  # fmt: skip


def unet():
    """Down, up, and the values beside."""

    def forward(s, x):
        first = torch.relu(s.first(x))
        deep = torch.relu(s.deep(nn.functional.max_pool2d(first, 2)))
        return s.last(torch.cat([s.up(deep), first], 1)).flatten(1)

    return Computed(
        forward, first=nn.Conv2d(1, 3, 3, padding=1), deep=nn.Conv2d(3, 4, 3, padding=1),
        up=nn.ConvTranspose2d(4, 3, 2, 2), last=nn.Conv2d(6, 1, 1),
    ), images(4, 1)  # fmt: skip


def graph_layers(attends):
    """GCN or GAT: two layers on one graph of four nodes, features of nodes as samples."""
    edges = torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3], [1, 2, 3, 0, 0, 1, 2, 3]])

    def layer(s, h, linear, score):
        h, (source, target) = linear(h), s.edges
        if attends:
            scores = nn.functional.leaky_relu(
                (score(torch.cat([h[:, source], h[:, target]], -1))), 0.2
            ).exp()
            total = torch.zeros(len(h), 4, 1).to(h).index_add(1, target, scores)
            weights = scores / total[:, target]
        else:
            degree = torch.zeros(4).to(h).index_add(0, target, torch.ones(len(target)).to(h))
            weights = (degree[source] * degree[target]).rsqrt()[:, None]
        return torch.zeros_like(h).index_add(1, target, h[:, source] * weights)

    def forward(s, x):
        return layer(s, torch.tanh(layer(s, x, s.a, s.b)), s.c, s.d).flatten(1)

    parts = {"b": nn.Linear(6, 1), "d": nn.Linear(4, 1)} if attends else {"b": None, "d": None}
    return Computed(
        forward, edges=edges, a=nn.Linear(2, 3), c=nn.Linear(3, 2), **parts
    ), torch.randn(9, 4, 2)  # fmt: skip


def schnet():
    """Filters that are functions of distances between atoms, as SchNet has them."""
    pairs = torch.tensor([[0, 0, 1, 1, 2, 2], [1, 2, 0, 2, 0, 1]])

    def forward(s, x):
        source, target = s.pairs
        distance = (x[:, source] - x[:, target]).norm(dim=-1, keepdim=True)
        waves = torch.exp(-2 * (distance - s.centers) ** 2)
        h = s.atoms.expand(len(x), 3, 4)
        made = h[:, source] * s.filters(waves)
        h = h + s.mix(torch.zeros_like(h).index_add(1, target, made))
        return s.head(nn.functional.softplus(h)).sum(1)

    return Computed(
        forward, pairs=pairs, centers=torch.linspace(0, 2, 5),
        atoms=nn.Parameter(torch.randn(3, 4)),
        filters=nn.Sequential(nn.Linear(5, 4), nn.Softplus(), nn.Linear(4, 4)),
        mix=nn.Linear(4, 4), head=nn.Linear(4, 2),
    ), torch.randn(20, 3, 3)  # fmt: skip


def tcn():
    """Causal convolutions with dilations, and values beside."""

    def forward(s, x):
        for k, layer in enumerate(s.layers):
            x = x + torch.relu(layer(nn.functional.pad(x, (2 << k, 0))))
        return s.head(x[:, :, -1])

    layers = [nn.Conv1d(3, 3, 3, dilation=1 << k) for k in range(2)]
    return Computed(forward, layers=nn.ModuleList(layers), head=nn.Linear(3, 2)), torch.randn(
        9, 3, 8
    )  # fmt: skip


def kan():
    """Sums of functions of one variable: radial bases, and SiLU."""

    def forward(s, x):
        for bases, own in zip(s.bases, s.own, strict=True):
            waves = torch.exp(-((x[..., None] - s.grid) ** 2)).flatten(1)
            x = bases(waves) + own(nn.functional.silu(x))
        return x

    return Computed(
        forward, grid=torch.linspace(-1, 1, 4),
        bases=nn.ModuleList([nn.Linear(12, 3, bias=False), nn.Linear(12, 2, bias=False)]),
        own=nn.ModuleList([nn.Linear(3, 3, bias=False), nn.Linear(3, 2, bias=False)]),
    ), torch.randn(60, 3)  # fmt: skip


def siren():
    """Sines of 30 (W x + b)."""
    return Computed(
        lambda s, x: s.c(torch.sin(s.b(torch.sin(30 * s.a(x))))),
        a=nn.Linear(2, 4), b=nn.Linear(4, 4), c=nn.Linear(4, 2),
    ), torch.rand(30, 2)  # fmt: skip


def nerf():
    """Sines and cosines of multiples of positions, then ReLU."""

    def forward(s, x):
        angles = (x[..., None] * s.multiples).flatten(1)
        return s.net(torch.cat([x, angles.sin(), angles.cos()], 1))

    net = nn.Sequential(nn.Linear(15, 6), nn.ReLU(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 4))
    return Computed(forward, net=net, multiples=2.0 ** torch.arange(2)), torch.rand(40, 3)


def flow():
    """Affine couplings (RealNVP): the image, and the logarithm of the determinant."""

    def forward(s, x):
        a, b = x.chunk(2, 1)
        total = 0
        for net in s.nets:
            scale, shift = net(a).chunk(2, 1)
            a, b = b * torch.tanh(scale).exp() + shift, a
            total = total + torch.tanh(scale).sum(1, keepdim=True)
        return torch.cat([a, b, total], 1)

    nets = [nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 4)) for _ in range(2)]
    return Computed(forward, nets=nn.ModuleList(nets)), torch.randn(20, 4)


def vae():
    """Means and variances of codes, and the decoder of the mean; noise is an input."""

    def forward(s, x, noise):
        mean, log = s.encoder(x).chunk(2, 1)
        code = mean + noise * (log / 2).exp()
        return torch.cat([s.decoder(code), mean, log], 1)

    return Computed(
        forward, encoder=nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 4)),
        decoder=nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 4)),
    ), (torch.randn(20, 4), torch.randn(20, 2))  # fmt: skip


def lstm():
    """The last hidden state of two layers."""
    return Computed(
        lambda s, x: s.head(s.net(x)[1][0][-1]),
        net=nn.LSTM(2, 3, 2, batch_first=True), head=nn.Linear(3, 2),
    ), torch.randn(20, 4, 2)  # fmt: skip


def clip():
    """Features of images and of text, and their product."""
    text = {**TEXT, "projection_dim": 6, "eos_token_id": 1, "bos_token_id": 0}
    vision = {"hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1,
              "num_attention_heads": 2, "image_size": 4, "patch_size": 2}  # fmt: skip
    config = transformers.CLIPConfig(text_config=text, vision_config=vision, projection_dim=6)
    model = transformers.CLIPModel(config)

    def forward(s, ids, x):
        a = s.model.text_model(input_ids=ids)[0].mean(1)
        b = s.model.vision_model(pixel_values=x)[1]
        a, b = s.model.text_projection(a), s.model.visual_projection(b)
        a, b = (v / v.norm(dim=-1, keepdim=True) for v in (a, b))
        return s.model.logit_scale.exp() * a * b

    return Computed(forward, model=model), (tokens(), images(4, 3, 9))


def whisper():
    """An encoder of sounds, a decoder of words."""
    config = transformers.WhisperConfig(
        vocab_size=11, num_mel_bins=3, d_model=8, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=12,
        decoder_ffn_dim=12, max_source_positions=4, max_target_positions=8, pad_token_id=0,
        bos_token_id=1, eos_token_id=1, decoder_start_token_id=1, suppress_tokens=None,
        begin_suppress_tokens=None,
    )  # fmt: skip
    return Head(transformers.WhisperModel(config), 8), {
        "input_features": torch.randn(9, 3, 8), "decoder_input_ids": tokens(),
    }  # fmt: skip


def t5():
    """An encoder and a decoder."""
    config = transformers.T5Config(
        vocab_size=11, d_model=8, d_kv=4, d_ff=12, num_layers=1, num_heads=2, pad_token_id=0,
        decoder_start_token_id=0,
    )  # fmt: skip
    return Head(transformers.T5Model(config), 8), {
        "input_ids": tokens(), "decoder_input_ids": tokens(),
    }  # fmt: skip


def unet2d():
    """The network of a diffusion model, with its embedding of times."""
    diffusers = pytest.importorskip("diffusers", reason="diffusers is not installed")
    model = diffusers.UNet2DModel(
        sample_size=4, in_channels=1, out_channels=1, block_out_channels=(4, 4), layers_per_block=1,
        norm_num_groups=2, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=2,
    )  # fmt: skip
    return Computed(lambda s, x: s.model(x, 3)[0].flatten(1), model=model), images(4, 1, 12)


def vision(name, size, pixels=8, **options):
    """A vision model of transformers."""
    return of_config(name, size, images(pixels), **options)


SMALL = {
    "ResNet": lambda: vision(
        "ResNet", 8, embedding_size=4, hidden_sizes=[4, 8], depths=[1, 1], layer_type="basic"),
    "EfficientNet": lambda: vision(
        "EfficientNet", 1280, 16, width_coefficient=1.0, depth_coefficient=1.0, image_size=16,
        in_channels=[32, 8], out_channels=[8, 8], depthwise_padding=[], strides=[1, 2],
        kernel_sizes=[3, 3], num_block_repeats=[1, 1], expand_ratios=[1, 2], hidden_dim=1280),
    "ConvNeXt": lambda: vision(
        "ConvNext", 6, num_stages=2, hidden_sizes=[4, 6], depths=[1, 1], patch_size=2),
    "ViT": lambda: vision(
        "ViT", 8, 4, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=12, image_size=4, patch_size=2),
    "Swin": lambda: vision(
        "Swin", 8, 8, image_size=8, patch_size=2, embed_dim=4, depths=[2, 1], num_heads=[1, 2],
        window_size=2),
    "DenseNet": densenet,
    "U-Net": unet,
    "MobileNet": mobilenet,
    "GPT-2": lambda: of_config(
        "GPT2", 8, tokens(), vocab_size=11, n_embd=8, n_layer=1, n_head=2, n_positions=8),
    "BERT": lambda: of_config("Bert", 8, tokens(), **TEXT),
    "DeBERTa": lambda: of_config(
        "DebertaV2", 8, tokens(), **TEXT, relative_attention=True, pos_att_type=["c2p", "p2c"],
        position_buckets=4),
    "T5": t5,
    "Llama": lambda: of_config("Llama", 8, tokens(), **TEXT, num_key_value_heads=1),
    "Mixtral": lambda: of_config(
        "Mixtral", 8, tokens(), **TEXT, num_key_value_heads=1, num_local_experts=3,
        num_experts_per_tok=2, experts_implementation="batched_mm"),
    "Mamba": lambda: of_config(
        "Mamba", 8, tokens(), vocab_size=11, hidden_size=8, state_size=2, num_hidden_layers=1,
        intermediate_size=12, conv_kernel=2, time_step_rank=2),
    "Whisper": whisper,
    "CLIP": clip,
    "UNet2D": unet2d,
    "GCN": lambda: graph_layers(False),
    "GAT": lambda: graph_layers(True),
    "SchNet-like": schnet,
    "LSTM": lstm,
    "TCN": tcn,
    "KAN": kan,
    "SIREN": siren,
    "NeRF": nerf,
    "flow": flow,
    "VAE": vae,
}  # fmt: skip
