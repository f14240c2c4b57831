"""What a newcomer types first: help, one word or the other, a bar, a page of a notebook."""

import io
import sys
import typing

import pytest

import matchprob as mp
from matchprob.api.designs.goals import GOALS, GoalName
from matchprob.plugins.circuits.record import ElementName
from matchprob.plugins.training.train import OptimizerName
from matchprob.verbs.verb import VERBS
from numeric.programs.descent import OPTIMIZERS
from tests.matchprob.calls import call as run
from tests.refusals import refuses
from tests.samples import DIAGONAL, NET

TANH = mp.RNN(n=3, T=2, b=1, d=1, m=3, activation="tanh")
LEARNS = {"W": [[1, 0, 1], [0, 1, 1], [0, 1, 0]]}


@pytest.mark.parametrize("word", ["cite", "version", "help"])
def test_an_option_written_as_a_command_is_suggested(word, capsys):
    """`matchprob cite` names `--cite`, not the verb with the nearest letters."""
    assert run(word) == 2
    assert f"Did you mean '--{word}'?" in capsys.readouterr().err


def test_help_shows_the_words_that_an_option_takes(capsys):
    """Every option with a fixed set of words lists them in the help of its command."""
    several = {
        (verb.name, p.flag): "|".join(p.choices)
        for verb in VERBS.values()
        for p in verb.parameters
        if p.choices
    }
    assert ("design", "--among") in several
    assert ("record", "--what") in several
    for name, flag in several:
        assert run(name, "--help") == 0
        assert f"{flag} {several[name, flag]}" in capsys.readouterr().out
    assert run("certify", "--help") == 0
    assert "model (ONNX)" in capsys.readouterr().out


def test_typed_words_are_the_registered_ones():
    """A type checker accepts exactly the goals, kinds of elements and optimizers there are."""
    from algebra.plugins.circuits.elements import ELEMENT_KINDS

    for literal, known in ((GoalName, GOALS), (ElementName, ELEMENT_KINDS)):
        assert set(typing.get_args(literal)) == set(known)
    assert set(typing.get_args(OptimizerName)) == set(OPTIMIZERS)


def test_units_and_neurons_are_the_same_word(tmp_path):
    """Names, types, kinds and names of elements, targets and goals take either word."""
    by_unit = mp.Problem(TANH, LEARNS, names={"units": ["x", "y", "z"]})
    by_neuron = mp.Problem(TANH, LEARNS, names={"neurons": ["x", "y", "z"]})
    assert by_unit.names == by_neuron.names
    refuses("units and neurons", mp.Problem, TANH, LEARNS,
            names={"units": ["x", "y", "z"], "neurons": ["x", "y", "z"]})  # fmt: skip
    units = mp.record(by_unit, "units", must=["unit y"], costs={"unit 2": 3})
    neurons = mp.record(by_unit, "neurons", must=["neuron y"], costs={"neuron 2": 3})
    assert (units.names, units.cost) == (neurons.names, neurons.cost)
    targets = [mp.record(by_unit, "outputs", target=t).names for t in ("neurons", "units")]
    assert targets[0] == targets[1]
    assert mp.design(mp.Problem(NET, {}), goal="units").goal == "neurons"  # type: ignore[arg-type]
    both = mp.Types(NET, {"units": ["E", "I"]}), mp.Types(NET, {"neurons": ["E", "I"]})
    assert both[0].places == both[1].places


def test_a_file_of_names_or_types_by_either_word(tmp_path):
    """[names] and [types] of a problem file read a file of names under either word."""
    (tmp_path / "names.txt").write_text("PV\nSST\n")
    (tmp_path / "types.csv").write_text("SST,I\nPV,E\n")
    found = []
    for word in ("units", "neurons"):
        path = tmp_path / f"{word}.toml"
        path.write_text(
            '[network]\nkind = "lrnn"\nn = 2\nT = 2\nb = 1\nd = 1\nm = 2\n'
            f'[learnable]\nW = "all"\n[names]\n{word} = "names.txt"\n'
            f'[types]\n{word} = "types.csv"\n'
        )
        found.append(mp.load_problem(path))
    assert found[0].names == found[1].names
    assert [str(p.updates) for p in found[:1]] == [str(p.updates) for p in found[1:]]


class _Terminal(io.StringIO):
    """A text that says that it is a terminal."""

    def isatty(self):
        """As a terminal does."""
        return True


@pytest.mark.parametrize(("advance", "shows"), [(None, True), (True, True), (False, False)])
def test_a_terminal_shows_a_bar_unless_refused(advance, shows, monkeypatch):
    """Python shows in a terminal what a command shows; False switches it off."""
    monkeypatch.setattr(sys, "stderr", stream := _Terminal())
    mp.count(DIAGONAL, 2, engine="exact", advance=advance)
    assert ("counting" in stream.getvalue()) == shows


def test_one_bar_at_a_time(monkeypatch):
    """Work inside work that shows a bar shows none of its own: two would exclude each other."""
    from matchprob.io.progress import counter

    monkeypatch.setattr(sys, "stderr", stream := _Terminal())
    with counter("outside"):
        mp.count(DIAGONAL, 1, engine="exact")
    assert "outside" in stream.getvalue()
    assert "counting" not in stream.getvalue()


def test_what_a_verb_may_raise_is_public():
    """Whoever catches errors finds their classes under `matchprob`, each with its base."""
    assert issubclass(mp.Unrealized, mp.InputError)
    assert issubclass(mp.LimitReached, mp.Unfinished)
    assert issubclass(mp.InputError, ValueError)
    with pytest.raises(mp.InputError):
        mp.design(mp.Problem(NET, {}), goal="best")  # type: ignore[arg-type]


def test_a_table_for_a_paper_needs_only_the_extra_for_frames():
    """`to_frame().to_latex()` works with what `matchprob[frames]` installs."""
    assert r"\begin{tabular}" in mp.certify(DIAGONAL).to_frame().to_latex()
