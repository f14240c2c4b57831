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
