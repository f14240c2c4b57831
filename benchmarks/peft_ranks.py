"""Ranks of what PEFT adds to small models, against singular values of torch's Jacobian in doubles.

For each kind of adapter the subset *requires a gradient*, at generic values of all parameters and
at PEFT's own start, where some factors are 0 or 1.  Samples of tokens are those that the ranks are
of.  Run it where torch, transformers and peft are installed::

    python -m benchmarks.peft_ranks [NAME …]
"""

import sys
import time
import warnings

import peft
import torch
import transformers

import matchprob as mp
from algebra.plugins.models.aten.reader import read_torch
from algebra.programs.tokens import token_samples
from tests.algebra.plugins.models.aten.recorded import singular_values

WORDS, STEPS = 5, 3
# A singular value counts if it is larger than the first times this.
TOLERANCE = 1e-10
LINEAR = {"target_modules": ["query", "value"]}
# A model, the class and the options of its adapter.
KINDS = {
    "LoRA": ("gpt2", "LoraConfig", {"r": 2}),
    "LoRA of rank 6, on 4 × 4": ("bert", "LoraConfig", {"r": 6, **LINEAR}),
    "LoRA, rank stabilized": ("bert", "LoraConfig", {"r": 2, "use_rslora": True, **LINEAR}),
    "DoRA": ("gpt2", "LoraConfig", {"r": 2, "use_dora": True}),
    "DoRA on linear layers": ("bert", "LoraConfig", {"r": 1, "use_dora": True, **LINEAR}),
    "LoRA and biases": ("bert", "LoraConfig", {"r": 1, "bias": "all", **LINEAR}),
    "IA³": ("gpt2", "IA3Config", {}),
    "IA³ on linear layers": ("bert", "IA3Config", {
        "target_modules": ["key", "value", "output.dense"],
        "feedforward_modules": ["output.dense"],
    }),
    "prefix tuning": ("gpt2", "PrefixTuningConfig", {"num_virtual_tokens": 2}),
    "prompt tuning": ("gpt2", "PromptTuningConfig", {"num_virtual_tokens": 2}),
    "OFT": ("bert", "OFTConfig", {"oft_block_size": 2, **LINEAR}),
    "BOFT": ("bert", "BOFTConfig", {"boft_block_size": 2, "boft_n_butterfly_factor": 1, **LINEAR}),
    "VeRA": ("bert", "VeraConfig", {"r": 3, **LINEAR}),
    "LoHa": ("bert", "LoHaConfig", {"r": 2, "alpha": 2, **LINEAR}),
    "LoKr": ("bert", "LoKrConfig", {"r": 2, "alpha": 2, **LINEAR}),
    "LayerNorm tuning": ("bert", "LNTuningConfig", {"target_modules": ["LayerNorm"]}),
    "adaption prompt": ("gpt2", "AdaptionPromptConfig", {"adapter_len": 2, "adapter_layers": 1}),
    "adapter of two layers": ("bert", "", {}),
}  # fmt: skip


class Bottleneck(torch.nn.Module):
    """An adapter as Houlsby and others add it: two small layers beside the identity."""

    def __init__(self, layer, size, middle=2):
        super().__init__()
        self.layer, self.down = layer, torch.nn.Linear(size, middle)
        self.up = torch.nn.Linear(middle, size)
        torch.nn.init.zeros_(self.up.weight)
        torch.nn.init.zeros_(self.up.bias)

    def forward(self, x):
        """The layer, and the adapter after it."""
        h = self.layer(x)
        return h + self.up(torch.nn.functional.silu(self.down(h)))


def adapted(kind):
    """A small model with the adapter of this kind."""
    model, name, options = KINDS[kind]
    torch.manual_seed(0)
    if model == "gpt2":
        config = transformers.GPT2Config(
            vocab_size=WORDS, n_embd=4, n_layer=1, n_head=2, n_positions=8, n_inner=6,
            bos_token_id=0, eos_token_id=0, use_cache=False,
        )  # fmt: skip
        net = transformers.GPT2LMHeadModel(config)
        options = {"task_type": "CAUSAL_LM", **options}
    else:
        config = transformers.BertConfig(
            vocab_size=WORDS, hidden_size=4, intermediate_size=6, num_hidden_layers=1,
            num_attention_heads=2, max_position_embeddings=8, hidden_act="silu",
        )  # fmt: skip
        net = transformers.BertModel(config, add_pooling_layer=False)
    if not name:
        net.requires_grad_(False)
        dense = net.encoder.layer[0].output.dense
        net.encoder.layer[0].output.dense = Bottleneck(dense, 4)
        return net.double().eval()
    return peft.get_peft_model(net, getattr(peft, name)(**options)).double().eval()


def shaken(net):
    """Generic values of all parameters."""
    torch.manual_seed(1)
    for parameter in net.parameters():
        own = parameter.data
        own.add_(0.3 * torch.randn(own.shape, dtype=own.dtype))
    return net


def softmax(x, dim=None, _stacklevel=3, dtype=None):
    """Without the conversion to binary32 that some adapters ask for."""
    return torch.softmax(x, dim)


def rank_in_torch(net, ids):
    """The rank of the labels' Jacobian by what requires a gradient."""
    learns = [p for p in net.parameters() if p.requires_grad]
    values = singular_values(torch, net(input_ids=ids)[0], learns)
    kept = values > TOLERANCE * values[0]
    rest = values[~kept]
    return int(kept.sum()), values[kept][-1] / values[0], rest.max(initial=0) / values[0]


def compared(kind):
    """Our ranks and torch's: generic, then at the start; with the gaps of the singular values."""
    read = read_torch(adapted(kind), {"input_ids": torch.ones(2, STEPS, dtype=torch.long)})
    [row] = mp.capacity(read, "what requires a gradient", any_weights=True, seed=0).subsets
    ids = token_samples(read.program, read.tokens, row.samples, 0)["input_ids"].argmax(axis=1).T
    points = {"generic": row.any_weights, "start": row.at_weights}
    nets = {"generic": shaken(adapted(kind)), "start": adapted(kind)}
    return [
        (point, row.learnable, found, *rank_in_torch(nets[point], torch.tensor(ids)))
        for point, found in points.items()
    ]


def main(kinds):
    """Print a row for each kind and point; the status is 1 if a rank differs."""
    print("kind | point | learnable | rank | torch | smallest kept | largest left | CPU s")
    wrong = 0
    for kind in kinds or KINDS:
        start = time.process_time()
        try:
            found = compared(kind)
        except mp.InputError as error:
            print(f"{kind} | refused: {error}")
            continue
        for point, size, own, rank, kept, left in found:
            mark = "" if own.exact else "(bound) "
            seconds = time.process_time() - start
            print(f"{kind} | {point} | {size} | {mark}{own.rank} | {rank} | {kept:.0e} | "
                  f"{left:.0e} | {seconds:.1f}", flush=True)  # fmt: skip
            wrong += rank != own.rank
    return int(wrong > 0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.nn.functional.softmax = softmax
    sys.exit(main(sys.argv[1:]))
