"""The command line, called in this process, and small problem files for it."""

from typer.testing import CliRunner

from matchprob.cli import app, run_command

NETWORK = '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
ROW = NETWORK + "[learnable]\nW = [[1, 1], [0, 0]]\n"
DIAGONAL = NETWORK + "[learnable]\nW = [[1, 0], [0, 1]]\n"


def call(line, *words):
    """Run a command, of a text and further words, in this process and return its exit status."""
    words = [*line.split(), *map(str, words)]
    return run_command(lambda: app(words, standalone_mode=False))


def completed(*words):
    """The completions that a shell offers for the last word of a command line."""
    line = {"COMP_WORDS": " ".join(("matchprob", *words)), "COMP_CWORD": str(len(words))}
    env = {"_MATCHPROB_COMPLETE": "complete_bash", **line}
    return CliRunner().invoke(app, env=env, prog_name="matchprob").output.split()
