"""Command lines, one for each verb and kind of error: their files, and how the table is made.

``python -m tests.matchprob.cli.command_lines`` runs them all and prints the table
``command_lines.tsv`` again: exit status and arguments.  Check the changes before keeping it.
"""

import contextlib
import io
import itertools
import os
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

TABLE = Path(__file__).with_name("command_lines.tsv")

_RNN = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
GOOD = {
    "row.toml": _RNN + "[learnable]\nW = [[1, 1], [0, 0]]\n",
    "diagonal.toml": _RNN + "[learnable]\nW = [[1, 0], [0, 1]]\n",
    "all.toml": _RNN + '[learnable]\nW = "all"\n',
    "random.toml": _RNN + "[learnable]\nW = { random = { budget = 2, rows = 2 } }\n",
    "signs.toml": _RNN
    + '[learnable]\nW = [[1, 0], [0, 1]]\n[distribution]\nweights = "rademacher"\n',
    "sparse.toml": _RNN + "[learnable]\nW = [[1, 1], [0, 0]]\n[support]\nW = [[1, 1], [0, 1]]\n",
    "one.toml": '[network]\nkind = "linear"\nq = 1\nd = 1\nm = 1\n[learnable]\nW = [[1]]\n',
    "layers.toml": '[network]\nkind = "lffn"\nq = 2\nwidths = [2]\nd = 2\nm = 1\n'
    "[learnable]\nW1 = [[1, 0], [0, 1]]\n",
    "relu.toml": '[network]\nkind = "relu"\nq = 2\nn = 2\nd = 1\nm = 2\n'
    "[learnable]\nW1 = [[1, 0], [0, 1]]\n",
    "edges.toml": _RNN + '[learnable]\nW = "signs.csv"\n[names]\nneurons = "neurons.csv"\n',
    "weighted.toml": _RNN + '[learnable]\nW = "all"\n[support]\nW = "weights.csv"\n',
    "named.toml": _RNN + '[learnable]\nW = "all"\n[names]\nneurons = "neurons.csv"\n',
    "tanh.toml": _RNN.replace("lrnn", "rnn") + 'activation = "tanh"\n[learnable]\nW = "all"\n',
    "norm.toml": '[network]\nkind = "normnet"\nwidths = [2, 2]\nhidden = [3]\nm = 2\n'
    'activation = "relu"\n[learnable]\ng1 = "all"\nb1 = "all"\n',
}
BAD = {
    "empty.toml": "",
    "words.toml": "this is no problem\n",
    "bare.toml": _RNN,
    "nothing.toml": _RNN + "[learnable]\n",
    "none.toml": _RNN + "[learnable]\nW = [[0, 0], [0, 0]]\n",
    "shape.toml": _RNN + "[learnable]\nW = [[1, 1, 1]]\n",
    "ragged.toml": _RNN + "[learnable]\nW = [[1, 1], [1]]\n",
    "two.toml": _RNN + "[learnable]\nW = [[2, 0], [0, 1]]\n",
    "matrix.toml": _RNN + "[learnable]\nV = [[1]]\n",
    "kind.toml": '[network]\nkind = "cnn"\nn = 2\n',
    "negative.toml": _RNN.replace("n = 2", "n = -2") + '[learnable]\nW = "all"\n',
    "float.toml": _RNN.replace("n = 2", "n = 2.5") + '[learnable]\nW = "all"\n',
    "file.toml": _RNN + '[learnable]\nW = "missing.csv"\n',
    "outside.toml": _RNN + "[learnable]\nW = [[1, 1], [0, 0]]\n[support]\nW = [[1, 0], [0, 1]]\n",
    "lengths.toml": _RNN + '[learnable]\nW = "lengths.csv"\n',
    "missing-names.toml": _RNN + '[learnable]\nW = "all"\n[names]\nneurons = "none.csv"\n',
    "empty-names.toml": _RNN + '[learnable]\nW = "all"\n[names]\nneurons = "letters.txt"\n',
    "law.toml": _RNN + '[learnable]\nW = [[1, 1], [0, 0]]\n[distribution]\nweights = "cauchy"\n',
}
# Sizes for which a verb answers, or says which resources it would need.
HUGE = {
    "long.toml": _RNN.replace("T = 2", "T = 1000000") + "[learnable]\nW = [[1, 1], [0, 0]]\n",
    "samples.toml": _RNN.replace("m = 2", "m = 1000000") + "[learnable]\nW = [[1, 1], [0, 0]]\n",
    "units.toml": _RNN.replace("n = 2", "n = 2000") + '[learnable]\nW = "all"\n',
    "outputs.toml": _RNN.replace("d = 1", "d = 100000") + "[learnable]\nW = [[1, 1], [0, 0]]\n",
    "wide.toml": '[network]\nkind = "lrnn"\nn = 2000\nT = 4\nb = 100\nd = 50\nm = 100\n'
    '[learnable]\nW = "all"\n',
}
OTHER = {
    "costs.csv": "1,2\n3,4\n",
    "big.csv": "1,2,3\n",
    "letters.csv": "a,b\nc,d\n",
    "list.json": "[1, 2]\n",
    "object.json": "{}\n",
    "half.json": '{"format": "matchprob-certificate", "version"\n',
    "latin.toml": "",
    "weights.csv": "pre,post,weight\n0,1,-0.5\n1,0,0\n1,1,2e-3\n",
    "signs.csv": "pre,post,sign\nA,B,-1\nB,A,1\n",
    "lengths.csv": "pre,post,length\n0,1,3\n",
    "neurons.csv": "name,type\nA,excitatory\nB,inhibitory\n",
    "own.toml": '[weights]\nW = [["1/2", 0.25], [-1, 0]]\nB = [[1], [1]]\nD = [[1, "3/2"]]\n'
    '[samples]\nX = [[1, 0], ["2/3", 1]]\n[labels]\nY = [[1, 2]]\n',
}
_PROBLEM_VERBS = {
    "inspect": "inspect {}",
    "certify": "certify {} --timeout 5 --search 0.2",
    "count": "count {} --instances 2 --engine exact --timeout 10",
    "estimate": "estimate {} --trials 3 --timeout 10",
    "decide": "decide {}",
    "audit": "audit {} --count 3",
    "atlas": "atlas {} --budget 1 --search 0",
    "design": "design {} --seconds 1",
    "repair": "repair {} --seconds 1",
    "robust": "robust {} --seconds 1",
    "identify": "identify {} --timeout 5",
    "record": "record {} --seconds 1",
    "compare": "compare {} {} --trials 2 --timeout 10",
    "profile": "profile {} --trials 2 --timeout 10",
    "train": "train {} --trials 2 --steps 20 --timeout 10",
}
# With a time limit much shorter than these would take.
_HUGE_VERBS = {
    "estimate": "estimate {} --trials 2 --timeout 3",
    "profile": "profile {} --trials 2 --timeout 3",
    "train": "train {} --trials 2 --steps 5 --timeout 3",
    "audit": "audit {} --count 2 --timeout 3",
    "robust": "robust {} --timeout 3",
    "identify": "identify {} --timeout 3",
}
_NUMBERS = ("-1", "0", "nan", "inf", "1e400", "abc", "''", "1_0", "9" * 30, "٣", "0x10", "1.5")
_OPTIONS = {
    "certify row.toml": ("--timeout", "--search", "--seed"),
    "count row.toml --engine exact": ("--instances", "--timeout", "--trial-timeout"),
    "estimate row.toml": ("--trials", "--confidence", "--half-width", "--timeout"),
    "audit row.toml": ("--count", "--budget"),
    "atlas row.toml": ("--budget",),
    "design bare.toml --matrix W": ("--budget", "--seconds", "--row-cap"),
    "decide relu.toml": ("--index",),
    "verify object.json": ("--timeout",),
    "profile row.toml --timeout 10": ("--trials",),
    "profile row.toml --trials 2": ("--bounds",),
    "train row.toml --steps 20 --timeout 10": ("--trials",),
    "train row.toml --trials 2 --steps 20": ("--rate",),
    "identify row.toml": ("--timeout",),
    "construct missing.npz": ("--timeout", "--density"),
}
_PLACES = ("missing/x.png", ".", "x.bmp", "x", "/dev/full", "row.toml", "'a\nb.png'", "''")
_ODD = """
--help
--version
--nonsense
nonsense
inspect
inspect --help
record diagonal.toml --what nonsense
record diagonal.toml --what units --what units
record row.toml --what units --must 'unit 0' --forbid 'unit 0'
record row.toml --costs costs.csv
record row.toml --costs outputs=letters.csv
record row.toml --costs 'output 0=-1'
record row.toml --row-cap 1
record row.toml --what entries --row-cap 0
record row.toml --out row.toml
record row.toml --what entries --out rec.json
verify rec.json
study --help
inspect row.toml diagonal.toml
inspect row.toml --plot
inspect --json
inspect missing.toml
inspect latin.toml
inspect row.toml --plot p.svg --width 85mm
inspect row.toml --plot p.png --width 85
inspect row.toml --plot p.png --dpi 1
compare row.toml diagonal.toml --trials 2 --plot p.pdf --width 85mm
reproduce warmup --trials 1 --format gif
profile row.toml --by nonsense
profile row.toml --by norm --trials 2
profile all.toml --by norm --trials 2
profile row.toml --by condition --trials 2 --timeout 10
profile row.toml --trials 2 --bounds 1,2,x
profile row.toml diagonal.toml --trials 2 --json
profile row.toml one.toml
profile
train row.toml --optimizer nonsense
train row.toml --optimizer levenberg-marquardt --trials 2 --json
train row.toml --optimizer levenberg-marquardt --rate 1
train row.toml --trials 2 --steps 0
train row.toml --trials 2 --restarts -1
train relu.toml --trials 1 --steps 5 --timeout 10
train norm.toml --trials 1
train
identify relu.toml
identify row.toml --plot p.svg
identify row.toml --index 1
identify diagonal.toml diagonal.toml
record row.toml
record row.toml --seconds 0
serve --no-open --port nonsense
serve missing.toml --no-open
serve empty.toml --no-open
serve --no-open --store row.toml
decide relu.toml --timeout 0
decide relu.toml --index 3 --json
decide relu.toml --out .
decide relu.toml --instance missing.toml
inspect row.toml --instance row.toml
count signs.toml --instance row.toml --json
estimate row.toml --engine nonsense
estimate row.toml --engine relu-exact
estimate relu.toml --engine exact --trials 2
estimate row.toml --workers 0
estimate row.toml --workers 2 --trials 3
estimate row.toml --scheduler nonsense
estimate row.toml --scheduler tcp://
estimate row.toml --scheduler tcp://127.0.0.1:99999
estimate row.toml --trials 2 --store row.toml
estimate row.toml --trials 2 --store list.json
estimate row.toml --trials 2 --store missing/s.sqlite
estimate row.toml --trials 2 --store s.sqlite
estimate row.toml --trials 2 --store s.sqlite --name first
estimate row.toml --trials 2 --seed 1 --store s.sqlite
compare row.toml diagonal.toml --trials 2 --engine exact
compare row.toml one.toml
compare row.toml signs.toml
compare row.toml
study
study list s.sqlite
study list s.sqlite --json
study list missing.sqlite
study list row.toml
study show s.sqlite
study show s.sqlite first
study show s.sqlite 2 --json
study show s.sqlite 99
study export s.sqlite
study export s.sqlite 1
study export s.sqlite 1 --json --out t.csv
study export s.sqlite 1 --out t.csv
study export s.sqlite 1 --out t.xlsx
study export s.sqlite 1 --out s.sqlite
study rename s.sqlite first second
study rename s.sqlite nobody second
study merge s.sqlite s.sqlite
study merge s.sqlite missing.sqlite
study merge new.sqlite s.sqlite
verify row.toml
verify missing.json
verify list.json
verify object.json
verify half.json
certify row.toml --out c.json
verify c.json
verify c.json --json
verify c.json --seed -1
certify row.toml --out row.toml
certify row.toml --out missing/c.json
audit row.toml --matrix V
audit row.toml --budget 5
audit row.toml --corrected --count 2
atlas row.toml
atlas row.toml --budget 2 --matrix B
atlas row.toml --budget 2 --search nan
atlas row.toml --budget 2 --search 0 --store a.json
atlas row.toml --budget 2 --search 0 --store a.json
atlas row.toml --budget 1 --search 0 --store a.json
atlas row.toml --budget 2 --search 0 --store s.sqlite
estimate row.toml --trials 2 --store a.json
atlas row.toml --budget 2 --search 0 --csv .
design bare.toml --goal nonsense
design bare.toml --costs costs.csv
design bare.toml --costs W=costs.csv --matrix W
design bare.toml --costs W=big.csv --matrix W
design bare.toml --costs W=letters.csv --matrix W
design bare.toml --costs V=costs.csv
design bare.toml --must W=costs.csv
design bare.toml --matrix V
design bare.toml --by diagonal
design bare.toml --budget 1
design bare.toml --budget 2 --matrix W --row-cap 0
design bare.toml --goal neurons --matrix W
design bare.toml --goal spread --matrix W
design bare.toml --proof missing/p.json
repair row.toml --goal nonsense
repair diagonal.toml --goal maximal --seconds 1
decide row.toml
decide relu.toml --out d.json
verify d.json
construct missing.npz
construct row.toml
reproduce
reproduce nonsense
reproduce b11 --trials 0
reproduce b11 --out row.toml
design bare.toml --matrix W --write chosen.csv
design edges.toml --write again.csv --json
inspect edges.toml
certify weighted.toml --timeout 5 --search 0
inspect lengths.toml
inspect missing-names.toml
inspect empty-names.toml
inspect named.toml --json
repair row.toml --write mended.csv
repair diagonal.toml --goal positive --write .csv
design bare.toml --write missing/edges.csv
design bare.toml --costs W=weights.csv
design bare.toml --must W=weights.csv --matrix W
design bare.toml --forbid W=weights.csv --json
record row.toml --write seen.csv
record row.toml --what entries --write seen.csv --json
record row.toml --write row.toml
record row.toml --what units --what entries --seconds 1
inspect diagonal.toml --export e.sing
inspect diagonal.toml --export e.magma --json
inspect diagonal.toml --export e.sage --index 2
inspect diagonal.toml --export e.sing --form Z
inspect diagonal.toml --instance own.toml --export e.ms
inspect diagonal.toml --instance own.toml --export e.ms --index 3
inspect diagonal.toml --instance own.toml --export row.toml
inspect diagonal.toml --instance named.toml --export e.ms
count diagonal.toml --instance own.toml --json
count diagonal.toml --instance own.toml --engine homotopy
certify row.toml --width 85mm
certify row.toml --dpi 100 --json
certify row.toml --width nonsense
certify row.toml --no-title
estimate diagonal.toml --trials 3 --store s.sqlite --timeout 0.000001
identify tanh.toml --timeout 5
certify tanh.toml --timeout 20 --search 0
design tanh.toml --goal maximal
design tanh.toml --json
record tanh.toml --what units --seconds 1 --json
record tanh.toml --what samples --seconds 1
inspect tanh.toml --export e.ms
robust tanh.toml --seconds 1
"""


def all_lines() -> Iterator[str]:
    """The command lines, in the order in which they are run."""
    # Each line once: the files that it writes would change a repetition.
    yield from dict.fromkeys(_made_lines())


def _made_lines() -> Iterator[str]:
    # One line for each verb and kind of error: verbs and values take turns.
    verbs = itertools.cycle(_PROBLEM_VERBS.values())
    for file in BAD:
        yield next(verbs).replace("{}", file)
    for file, verb in itertools.product(("bare.toml", "nothing.toml"), _PROBLEM_VERBS.values()):
        yield verb.replace("{}", file)
    for file in GOOD:
        for _ in range(2):
            yield next(verbs).replace("{}", file) + " --json"
    for verb in ("inspect", "certify", "estimate"):
        yield _PROBLEM_VERBS[verb].replace("{}", "long.toml")
    yield _PROBLEM_VERBS["certify"].replace("{}", "samples.toml")
    yield _PROBLEM_VERBS["certify"].replace("{}", "wide.toml")
    yield _PROBLEM_VERBS["atlas"].replace("{}", "units.toml")
    yield "inspect units.toml"
    huge = itertools.cycle(("units.toml", "long.toml", "samples.toml", "outputs.toml"))
    for words in _HUGE_VERBS.values():
        yield words.replace("{}", next(huge))
    numbers = itertools.cycle(_NUMBERS)
    for words, options in _OPTIONS.items():
        for option, _ in itertools.product(options, range(2)):
            yield f"{words} {option} {next(numbers)}"
    writers = itertools.cycle(
        (
            "inspect row.toml --plot {}",
            "certify row.toml --out {}",
            "atlas row.toml --budget 1 --search 0 --csv {}",
        )
    )
    for place in _PLACES:
        yield next(writers).replace("{}", place)
    yield from _ODD.strip().splitlines()


def write_files(folder: Path) -> None:
    """Write the files that the command lines name."""
    for name, text in (GOOD | BAD | HUGE | OTHER).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "latin.toml").write_bytes("# für\n".encode("latin-1"))


def read_table() -> list[tuple[int, str]]:
    """Read exit statuses and command lines; a line may need those before it."""
    rows = [line.split("\t", 1) for line in TABLE.read_text(encoding="utf-8").splitlines()]
    return [(int(status), words.encode().decode("unicode_escape")) for status, words in rows]


def run_line(words: str) -> tuple[int, str, str]:
    """Run a command line in this process and folder; return status, stdout and stderr."""
    from matchprob.cli import app, run_command

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = run_command(lambda: app(shlex.split(words), standalone_mode=False))
        except SystemExit as leaving:
            status = leaving.code if isinstance(leaving.code, int) else 1
    return status, out.getvalue(), err.getvalue()


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        os.chdir(folder)
        for words in all_lines():
            began = time.monotonic()
            status, _, said = run_line(words)
            seconds = time.monotonic() - began
            if status == 1 or seconds > 8:
                print(f"{status} {seconds:.0f} s {words!r}: {said[-300:]}", file=sys.stderr)
            print(f"{status}\t" + words.encode("unicode_escape").decode(), flush=True)


if __name__ == "__main__":
    main()
