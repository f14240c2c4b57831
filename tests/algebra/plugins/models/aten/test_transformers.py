"""Models of transformers and PEFT from their default configurations: labels are torch's."""

import inspect

import numpy as np
import pytest

import matchprob as mp
from algebra.plugins.models.aten.export import tensors_by_name
from algebra.plugins.models.aten.reader import read_torch
from algebra.programs.tokens import token_samples
from tests.doubles import labels, weights_of
from tests.refusals import refuses

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

# What torch, transformers and PEFT say of their own versions and settings is no fault of ours.
pytestmark = [
    pytest.mark.filterwarnings(f"ignore::{kind}")
    for kind in ("UserWarning", "FutureWarning", "DeprecationWarning")
]
WORDS, STEPS = 11, 5
SMALL = {
    "GPT2LMHeadModel": {"n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 8},
    "LlamaForCausalLM": {
        "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1,
        "num_attention_heads": 2, "num_key_value_heads": 1,
    },
    "BertModel": {
        "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2,
    },
    "T5ForConditionalGeneration": {
        "d_model": 8, "d_kv": 4, "d_ff": 12, "num_layers": 1, "num_heads": 2,
    },
}  # fmt: skip
SMALL["GPT2ForSequenceClassification"] = {
    **SMALL["GPT2LMHeadModel"], "num_labels": 3, "pad_token_id": 0,
}  # fmt: skip
ADAPTERS = {
    "LoraConfig": {"r": 2},
    "DoRA": {"r": 2, "use_dora": True},
    "IA3Config": {},
    "PrefixTuningConfig": {"num_virtual_tokens": 3},
    "PromptTuningConfig": {"num_virtual_tokens": 3},
    "OFTConfig": {"oft_block_size": 4, "target_modules": ["q_proj", "v_proj"]},
    "BOFTConfig": {"boft_block_size": 2, "target_modules": ["q_proj", "v_proj"]},
}


def tokens(steps=STEPS):
    """Two samples, without the token 0."""
    return torch.randint(1, WORDS, (2, steps))


def made(name):
    """A small model with random weights, and its inputs."""
    torch.manual_seed(1)
    kind = getattr(transformers, name)
    config = kind.config_class(vocab_size=WORDS, bos_token_id=0, eos_token_id=0, **SMALL[name])
    inputs = {"input_ids": tokens()}
    if name.startswith("T5"):
        inputs["decoder_input_ids"] = tokens(3)
    return kind(config), inputs


def agrees(net, inputs, tolerance):
    """The module as it was read, which must have torch's labels."""
    net = net.double()
    for parameter in net.parameters():
        parameter.data.add_(torch.randn(parameter.shape).double() / 4)
    cached = net.config.use_cache if hasattr(net.config, "use_cache") else None
    read = read_torch(net, inputs)
    if cached is not None:
        assert net.config.use_cache == cached, "the configuration is as it was"
        net.config.use_cache = False
    with torch.no_grad():
        found = net.eval()(**inputs)
    found = found[0].numpy()
    given = {}
    for name in read.program.samples:
        rows = np.eye(read.tokens[name])[tensors_by_name(torch, net, inputs)[name]]
        given[name] = np.moveaxis(rows, 0, -1)
    ours = labels(read.program, weights_of(read), given)
    assert np.allclose(ours.T, found.reshape(len(found), -1), rtol=tolerance, atol=tolerance)
    return read


# Modules of transformers are made in training mode, with dropout.
EVALUATED = "the module is read in evaluation mode, where dropout is off"


@pytest.mark.parametrize("name", list(SMALL))
def test_default_configurations(name):
    """Masks built inside, caches, tied tables: read unaided; names are those of the module."""
    net, inputs = made(name)
    # Norms of Llama and T5 compute in binary32, whatever the module's type.
    read = agrees(net, inputs, 1e-5 if name[:2] in ("Ll", "T5") else 1e-12)
    assert set(read.parameters) <= {name for name, _ in net.named_parameters()}
    padded = ("no sample of `input_ids` contains 0 (padding)",)
    drops = any("Dropout" in type(part).__name__ for part in net.modules())
    evaluated = (EVALUATED,) if drops else ()
    assert read.assumed == (*evaluated, *(padded if "Sequence" in name else ()))


def test_a_mask_is_a_constant():
    """A mask of attention that is an input is the example's; it must be the same for all."""
    net, inputs = made("BertModel")
    mask = torch.ones(2, STEPS, dtype=torch.long)
    mask[:, -1] = 0
    read = agrees(net, {**inputs, "attention_mask": mask}, 1e-12)
    same = "`attention_mask` is the same for all samples, as in the example"
    assert read.assumed == (EVALUATED, same)
    mask[0, 0] = 0
    refuses("its samples differ", read_torch, net, {**inputs, "attention_mask": mask})
    sorts = {"token_type_ids": torch.zeros(2, STEPS, dtype=torch.long)}
    assert set(read_torch(net, {**inputs, **sorts}).tokens) == {"input_ids", "token_type_ids"}
    fixed = read_torch(net, {**inputs, **sorts}, fixed=["token_type_ids"])
    assert set(fixed.tokens) == {"input_ids"}
    refuses("`fixed` names `x`", read_torch, net, inputs, fixed=["x"])


@pytest.mark.parametrize("name", list(ADAPTERS))
def test_adapters(name):
    """What PEFT adds to a model is read; exactly that requires a gradient."""
    peft = pytest.importorskip("peft", reason="peft is not installed")
    net, inputs = made("LlamaForCausalLM" if "OFT" in name else "GPT2LMHeadModel")
    options = {"task_type": "CAUSAL_LM", **ADAPTERS[name]}
    kind = getattr(peft, name, peft.LoraConfig)
    adapted = peft.get_peft_model(net, kind(**options))
    assert "input_ids" in inspect.signature(adapted.forward).parameters
    if name == "DoRA":
        # It detaches the norms of the updated weights, which enter the labels otherwise, too.
        refuses("behind a `detach` .* and outside of it, too", read_torch, adapted, inputs)
        return
    read = agrees(adapted, inputs, 1e-5 if "OFT" in name else 1e-12)
    assert read.trainable == {n for n, p in adapted.named_parameters() if p.requires_grad}
    assert read.trainable <= set(read.parameters)


def test_padding_is_refused():
    """A forward that looks for padding is read for samples without it, and others are refused."""
    torch.manual_seed(1)
    config = transformers.RobertaConfig(
        vocab_size=WORDS, hidden_size=8, intermediate_size=12, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=9, pad_token_id=1,
    )  # fmt: skip
    net, ids = transformers.RobertaModel(config), torch.randint(2, WORDS, (2, STEPS))
    read = agrees(net, {"input_ids": ids}, 1e-12)
    assert read.tokens.excluded == {"input_ids": frozenset({1})}
    drawn = token_samples(read.program, read.tokens, 40)["input_ids"]
    assert drawn.any(axis=(0, 2)).tolist() == [k != 1 for k in range(WORDS)]
    ids[1, -1] = 1
    text = "input_ids contains 1, which the model takes for padding"
    refuses(f"`example_inputs`: {text}", mp.from_torch, net, ids)
    refuses(f"`data`: {text}", mp.capacity, read, ["norms"], data=ids)
    # What a model of transformers takes for an example is one of shapes only.
    assert mp.capacity(net, check=True).trainable
