"""Write the transcripts ``docs/first-hour-….md``: the first hours of three new users.

``python scripts/first_hours.py`` runs every command in a scratch copy of the examples and writes
its output; it stops if an exit status differs from the one given here.  Status lines of slow
machines are left out.  The engineer's takes torch and onnx.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LONGEST = 40


@dataclass(frozen=True)
class Step:
    """A sentence, a command, and the status it ends with."""

    text: str
    command: str
    status: int = 0


TITLES = {
    "neuroscientist": "A neuroscientist: which synapses should be plastic?",
    "algebraist": "An algebraist: equations, roots, certificates",
    "engineer": "An engineer: many trials, several processes, other programs",
}
SESSIONS = {
    "neuroscientist": [
        Step(
            "The question is a file: the network, what its units are called, and an edge list of "
            "the plastic synapses.",
            "cat circuit.toml plastic.csv",
        ),
        Step("Which equations does that lead to?", "matchprob inspect circuit.toml"),
        Step(
            "Can it learn? The verdict is exact: seven weights cannot meet eight equations.",
            "matchprob certify circuit.toml",
        ),
        Step(
            "The fewest moves that repair it, as a new file.",
            "matchprob repair circuit.toml --write mended.toml",
        ),
        Step("Is that one certain to match?", "matchprob certify mended.toml --timeout 60"),
        Step("How many plastic synapses may be lost?", "matchprob robust mended.toml --seconds 10"),
        Step("Which of them do the data determine?", "matchprob identify mended.toml"),
        Step(
            "Synapses onto PV cost five times as much: an edge list of costs.",
            "cat costs.csv && matchprob design free.toml --matrix W --costs W=costs.csv",
        ),
        Step(
            "With a cost budget of six: the largest rank that it allows.",
            "matchprob design free.toml --matrix W --costs W=costs.csv --cost-budget 6",
        ),
        Step(
            "The cheapest allocation with at most two plastic synapses a neuron.",
            "matchprob design circuit.toml --matrix W --row-cap 2 --column-cap 2",
            2,
        ),
        Step(
            "A design chooses among the weights that may learn: here all of W.",
            "matchprob design free.toml --matrix W --row-cap 2 --column-cap 2",
        ),
        Step(
            "A whole connectome: an edge list with measured weights, whose neurons are named in a "
            "file. Which of its synapses suffice?",
            "cat connectome.toml; wc -l edges.csv; head -3 edges.csv; "
            "matchprob design connectome.toml --write chosen.csv | tail -12; head -4 chosen.csv",
        ),
        Step(
            "Computations that are too large for this machine are refused before they begin.",
            "sed 's/m = 20/m = 4000/' connectome.toml > long.toml; "
            "matchprob record long.toml --what units --seconds 30",
            3,
        ),
        Step("A typing error gives a one-line message.", "matchprob inspect circiut.toml", 2),
    ],
    "algebraist": [
        Step("Two weights of a small net.", "cat examples/diagonal.toml"),
        Step(
            "The equations, learnable weights between brackets, and their core after elimination.",
            "matchprob inspect examples/diagonal.toml --equations --core",
        ),
        Step(
            "Two complex solutions, and an instance without a real one: MP is strictly between.",
            "matchprob certify examples/diagonal.toml --out between.json",
        ),
        Step("The check is independent of the certification.", "matchprob verify between.json"),
        Step(
            "Real solutions of instances, counted exactly, each in a box of rationals.",
            "matchprob count examples/diagonal.toml --instances 4 --engine exact --solutions",
        ),
        Step(
            "How can the six solutions be computed? Their monodromy group, with its evidence.",
            "matchprob count examples/mixed.toml --instances 1 --monodromy",
        ),
        Step("A given instance: small rationals.", "cat own.toml"),
        Step(
            "Its core over Q, which shows that its two solutions are not real.",
            "matchprob inspect examples/diagonal.toml --instance own.toml --core | tail -12 && "
            "matchprob count examples/diagonal.toml --instance own.toml",
        ),
        Step(
            "The same equations for Singular (or Magma, SageMath, Macaulay2, msolve, …).",
            "matchprob inspect examples/diagonal.toml --instance own.toml --export own.sing "
            "> report.txt && cat own.sing",
        ),
        Step(
            "Which labels have a match? The sign of a discriminant in the labels decides.",
            "python -c 'import matchprob as mp; "
            'd = mp.discriminant("examples/diagonal.toml", instance="own.toml"); '
            "print(d, d.sign(Y_0_0=1, Y_0_1=2), d.sign(Y_0_0=9, Y_0_1=2))'",
        ),
        Step(
            "A file that claims more than is true.",
            'sed \'s/"intermediate"/"maximal"/\' between.json > forged.json',
        ),
        Step("It does not hold: status 3.", "matchprob verify forged.json", 3),
        Step(
            "The first paper's theorems as stated, against the verdict, on a net that is small "
            "enough for all allocations.",
            "matchprob audit layer.toml --matrix W1",
        ),
        Step("Every allocation of a net, up to symmetry.", "matchprob atlas pair.toml --budget 2"),
        Step(
            "A design with a proof that no other costs less, and its check.",
            "matchprob design free.toml --matrix W --proof proof.json && "
            "matchprob verify proof.json",
        ),
    ],
    "engineer": [
        Step("Your own network: a torch module, unchanged.", "cat block.py"),
        Step(
            "How many samples can each choice of parameters fit, before anything is trained?",
            "python -W ignore block.py && "
            "matchprob capacity block.onnx --learn '*.bias' --learn 'out.*' --lora 1,2",
        ),
        Step(
            "The verdict for one of them at three samples, with a certificate, and its check.",
            "matchprob certify block.onnx --m 3 --learn '*.bias' --out cert.json && "
            "matchprob verify cert.json",
        ),
        Step(
            "Trials are stored; the same command continues where it stopped.",
            "matchprob estimate examples/diagonal.toml --trials 200 --store study.sqlite",
        ),
        Step(
            "More of them, by two processes.",
            "matchprob estimate examples/diagonal.toml --trials 400 --workers 2 "
            "--store study.sqlite",
        ),
        Step(
            "A certified allocation needs no trial.",
            "matchprob estimate examples/row.toml --trials 400 --store study.sqlite",
        ),
        Step(
            "How often does the loss get below 1e-3, beside exact matches?",
            "matchprob estimate examples/diagonal.toml --trials 100 --epsilon 1e-3 "
            "--store study.sqlite",
        ),
        Step(
            "Two allocations on common instances.",
            "matchprob compare examples/diagonal.toml examples/row.toml --trials 100",
        ),
        Step("The studies in a store.", "matchprob study list study.sqlite"),
        Step(
            "One JSON object on stdout, for other programs.",
            "matchprob study show study.sqlite diagonal --json | "
            "python -c 'import json, sys; d = json.load(sys.stdin); "
            'print(d["name"], d["trials"], d["matched"], d["low"] < d["estimate"] < d["high"])\'',
        ),
        Step("A table for data frames.", "matchprob study export study.sqlite 1 | head -4"),
        Step(
            "A file without learnable weights is refused with a message.",
            "matchprob certify examples/net8.toml",
            2,
        ),
        Step(
            "An interval of a given width, or status 3.",
            "matchprob estimate examples/diagonal.toml --trials 300 --half-width 0.02 "
            "--store study.sqlite",
            3,
        ),
        Step(
            "A cluster that cannot be reached.",
            "matchprob estimate examples/diagonal.toml --scheduler cluster",
            2,
        ),
        Step("Completion for the shell.", "matchprob --help | grep completion"),
    ],
}
_RNN = '[network]\nkind = "lrnn"\nn = 4\nT = 2\nb = 2\nd = 2\nm = 4\n'
_NAMES = (
    '\n[names]\nneurons = ["PV", "SST", "VIP", "E"]\ninputs = ["light", "sound"]\n'
    'outputs = ["lick", "run"]\n'
)


def connectome(neurons: int, inputs: int) -> str:
    """An edge list with weights: each neuron receives from so many others."""
    draw = random.Random("connectome")
    lines = ["pre,post,weight"]
    for post in range(neurons):
        for pre in sorted(draw.sample(range(neurons), inputs)):
            lines.append(f"N{pre:03d},N{post:03d},{draw.gauss(0, 1):.3f}")
    return "\n".join(lines) + "\n"


FILES = {
    "block.py": '''import torch
from torch import nn


class Block(nn.Module):
    """The method `forward` counts, not the order of the layers."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 2)
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 4)

    def forward(self, x):
        h = torch.tanh(self.first(x))
        return self.out(h + torch.tanh(self.second(h)))


torch.manual_seed(0)
torch.onnx.export(
    Block().eval(), (torch.zeros(1, 3),), "block.onnx", input_names=["x"],
    dynamic_axes={"x": {0: "N"}}, dynamo=False,
)
''',
    "circuit.toml": "# Seven plastic synapses between four neurons.\n"
    + _RNN
    + _NAMES
    + '\n[learnable]\nW = "plastic.csv"\n',
    "plastic.csv": "pre,post\nPV,PV\nPV,SST\nE,SST\nPV,VIP\nPV,E\nSST,E\nVIP,E\n",
    "costs.csv": "pre,post,cost\nPV,PV,5\nSST,PV,5\nVIP,PV,5\nE,PV,5\n",
    "own.toml": '[weights]\nW = [["1/2", 0.25],\n     [-1, 0]]\nB = [[1], [1]]\nD = [[1, "3/2"]]\n'
    '\n[samples]\nX = [[1, 0], ["2/3", 1]]\n\n[labels]\nY = [[1, 2]]\n',
    "free.toml": _RNN + _NAMES + '\n[learnable]\nW = "all"\n',
    "layer.toml": '[network]\nkind = "lffn"\nq = 3\nwidths = [3]\nd = 2\nm = 2\n',
    "connectome.toml": '[network]\nkind = "lrnn"\nn = 320\nT = 3\nb = 4\nd = 4\nm = 20\n\n'
    '[names]\nneurons = "neurons.csv"\n\n[support]\nW = "edges.csv"\n\n'
    '[learnable]\nW = "edges.csv"\n',
    "neurons.csv": "name\n" + "".join(f"N{k:03d}\n" for k in range(320)),
    "edges.csv": connectome(320, 6),
    "pair.toml": '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n',
}


def run(command: str, folder: Path) -> tuple[int, str]:
    """Exit status, and what was printed, as on a terminal."""
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "100",
    }
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False, timeout=600,
    )  # fmt: skip
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    lines = [x for x in lines if not (x.startswith("matchprob: ") and " … " in x)]
    if len(lines) > _LONGEST:
        lines[_LONGEST:] = [f"... ({len(lines) - _LONGEST} more lines)"]
    return done.returncode, "\n".join(lines)


def transcript(name: str, folder: Path) -> str:
    """The page of a session."""
    parts = [f"# {TITLES[name]}", "Written by `scripts/first_hours.py`, which runs every command."]
    for step in SESSIONS[name]:
        status, printed = run(step.command, folder)
        if status != step.status:
            raise SystemExit(f"{name}: {step.command}: status {status}\n{printed}")
        shown = f"$ {step.command}\n{printed}".rstrip()
        note = f"\n[status {status}]" if status else ""
        parts.append(f"{step.text}\n\n```text\n{shown}{note}\n```")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write the pages, or those that are named."""
    for name in sys.argv[1:] or SESSIONS:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            shutil.copytree(ROOT / "examples", folder / "examples")
            for file, text in FILES.items():
                (folder / file).write_text(text)
            (folder / "bin").mkdir()
            for program, words in (("matchprob", "-m matchprob"), ("python", "")):
                script = folder / "bin" / program
                script.write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
                script.chmod(0o755)
            page = transcript(name, folder)
        target = ROOT / "docs" / f"first-hour-{name}.md"
        target.write_text(page, encoding="utf-8")
        print(f"wrote {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
