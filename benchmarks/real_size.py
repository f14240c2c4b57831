"""Models at their published sizes, with random weights: CPU seconds and peak memory of a question.

Each row is a process of its own, from the import of torch to the answer; the module is made in it,
too.  Run it where torch and transformers are installed::

    python -m benchmarks.real_size [NAME …]
"""

import os
import resource
import subprocess
import sys
import time

import torch

import matchprob as mp
from tests.architectures import REAL

# Tokens of a sample, labels of a sample, samples.
TOKENS, LABELS, SAMPLES = 8, 16, 4


class Directions(torch.nn.Module):
    """Some fixed random combinations of what a model gives: of the last position of a sequence."""

    def __init__(self, model, size, count):
        super().__init__()
        self.model = model
        self.register_buffer("mix", torch.randint(-9, 10, (count, size)).float())

    def forward(self, x):
        """The combinations."""
        found = self.model(x)
        found = found if isinstance(found, torch.Tensor) else found[0][:, -1]
        return found @ self.mix.T


class Encoder(torch.nn.Module):
    """One block for six positions, a mean over them and six labels: 4,678 parameters."""

    def __init__(self):
        super().__init__()
        self.emb = torch.nn.Linear(8, 16)
        self.pos = torch.nn.Parameter(torch.randn(6, 16) / 10)
        self.enc = torch.nn.TransformerEncoderLayer(
            16, 2, 96, dropout=0, activation="gelu", batch_first=True
        )
        self.head = torch.nn.Linear(16, 6)

    def forward(self, x):
        """The labels of a sequence."""
        return self.head(self.enc(self.emb(x) + self.pos).mean(1))


def by_default(learn):
    """Rows of a small model: some subsets, or those that are chosen by default."""
    read = mp.from_torch(Encoder().eval(), torch.randn(2, 6, 8))
    found = mp.capacity(read, learn)
    return f"{len(found.subsets)} rows, the largest rank {max(s.rank for s in found.subsets)}"


def checked(name):
    """Numbers of parameters that learn, and that have an effect."""
    module, inputs = REAL[name]()
    found = mp.capacity(module, example_inputs=inputs, check=True)
    return f"{found.effective} of {found.trainable}"


def adapted(name, on):
    """The rank of LoRA r = 8 on some matrices, of 64 labels."""
    module, inputs = REAL[name](TOKENS)
    net = Directions(module, 768, LABELS)
    read = mp.from_torch(net, inputs["input_ids"])
    [row] = mp.capacity(read, lora=8, on=on, m=SAMPLES).subsets
    return f"{row.rank} of {row.learnable}"


def biased(name):
    """The rank of all biases, of 64 labels of one image."""
    module, images = REAL[name]()
    net = Directions(module, 1000, 64)
    [row] = mp.capacity(net, "biases", example_inputs=images, m=1).subsets
    return f"{row.rank} of {row.learnable}"


ROWS = {
    **{f"check {name}": (checked, name) for name in REAL},
    "LoRA GPT-2 small": (adapted, "GPT-2 small", ["*c_attn.weight"]),
    "LoRA BERT-base": (adapted, "BERT-base", ["*query.weight,*value.weight"]),
    "biases ResNet-18": (biased, "ResNet-18"),
    "four rows, 4,678": (by_default, ["biases", "norms", "head*", "all"]),
    "default rows, 4,678": (by_default, []),
}


def main(names):
    """Print a row for each question."""
    print("question | answer | CPU s | GB")
    for name in names or ROWS:
        command = [sys.executable, "-m", "benchmarks.real_size", "--one", name]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = sum(getattr(after, k) - getattr(before, k) for k in ("ru_utime", "ru_stime"))
        answer, _, memory = done.stdout.strip().rpartition("|")
        if done.returncode:
            answer = done.stderr.strip().splitlines()[-1]
        print(f"{name} | {answer} | {seconds:.0f} | {memory}", flush=True)


def one(name):
    """Print one answer, and the peak memory in GB."""
    torch.manual_seed(0)
    question, *given = ROWS[name]
    start = time.process_time()
    answer = question(*given)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{answer} ({time.process_time() - start:.0f} s without imports)|{peak:.1f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    one(sys.argv[2]) if sys.argv[1:2] == ["--one"] else main(sys.argv[1:])
