"""The style of pictures: legible at every width; files have the width and fonts of a paper."""

import re
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Patch

import matchprob as mp
from algebra.documents import Document
from algebra.plugins.papers.audit import AuditResult
from algebra.results import Result
from matchprob.io.sizes import check_dpi, inches
from matchprob.plugins.circuits.pictures import listed
from matchprob.report.drawing import style
from matchprob.report.drawing.drawing import Drawing
from matchprob.report.drawing.paint import MODULES, figure_of, register_picture, write_picture
from tests.matchprob.legible import faults
from tests.onnx_models import save
from tests.refusals import refuses
from tests.samples import DIAGONAL, NET

LARGE = mp.LinearRNN(n=9, T=3, b=1, d=3, m=3)
LAYERS = mp.LinearFeedForward(q=4, widths=(6, 6), d=6, m=4)
OTHER = mp.Problem(NET, {"W": [[0, 1], [1, 0]]})
MISSED = mp.Problem(
    mp.LinearRNN(n=4, T=2, b=2, d=2, m=4),
    {"W": [[1, 0, 0, 0], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 1, 1]]},
)


def of_model(verb):
    """A verb's result for a model in a file."""
    with tempfile.TemporaryDirectory() as folder:
        return verb(save("mlp_tanh", Path(folder)), lora=(1, 2))


RELU = mp.Problem(mp.ShallowReLU(q=2, n=2, d=1, m=2), {"W1": [[1, 1], [1, 0]]})
SMOOTH = mp.Problem(mp.RNN(n=2, T=2, b=1, d=1, m=1, activation="tanh"), {"W": [[1, 0], [0, 0]]})
# Of row 3 each third cell: a form of 70 weights takes seconds to find.
ONE_ROW = np.outer(np.arange(70) == 3, np.arange(70) % 3 == 0).astype(int)
WIDE = mp.Problem(mp.LinearRNN(n=70, T=2, b=1, d=1, m=2), {"W": np.eye(70, dtype=int)})
# No input reaches unit 2.
WIRING = {"W": [[1, 0, 0], [1, 0, 1], [0, 0, 0]], "B": [[1], [0], [0]]}
SILENT = mp.Problem(mp.RNN(n=3, T=2, b=1, d=1, m=1, activation="tanh"), {"W": WIRING["W"]}, WIRING)
# A unit shows two of the 21 weights.
UNEQUAL = mp.Problem(
    mp.LinearRNN(n=20, T=2, b=1, d=1, m=2),
    {"W": np.eye(20, dtype=int) + np.eye(20, k=19, dtype=int)},
)
MADE = {
    "inspect": lambda: mp.inspect(DIAGONAL),
    "inspect, 21 equations": lambda: mp.inspect(mp.Problem(LARGE, {"W": np.eye(9, dtype=int)})),
    "certify": lambda: mp.certify(DIAGONAL),
    "certify, 70 columns": lambda: mp.certify(mp.Problem(WIDE.network, {"W": ONE_ROW})),
    "verify": lambda: mp.verify(mp.certify(DIAGONAL)),
    "decide": lambda: next(
        found for k in range(20) if (found := mp.decide(RELU, index=k)).witness is not None
    ),
    "decide of smooth units": lambda: mp.decide(SMOOTH),
    "count": lambda: mp.count(DIAGONAL, 6),
    "estimate": lambda: mp.estimate(DIAGONAL, 30),
    "estimate, certified": lambda: mp.estimate(mp.Problem(NET, {"W": [[1, 1], [0, 0]]}), 30),
    "estimate, ReLU": lambda: mp.estimate(RELU, 10),
    "estimate by law": lambda: mp.estimate(
        DIAGONAL, 30, sweep="distribution.weights=normal,uniform"
    ),
    "compare": lambda: mp.compare(DIAGONAL, OTHER, 8),
    "identify": lambda: mp.identify(DIAGONAL),
    "record": lambda: mp.record(DIAGONAL, "units"),
    "record, two kinds, 70 units": lambda: mp.record(WIDE, ["outputs", "units"]),
    "record, ranked": lambda: mp.record(WIDE, "units"),
    "design, a wide and a square matrix": lambda: mp.design(
        mp.Problem(mp.LinearRNN(n=24, T=2, b=1, d=2, m=2), {})
    ),
    "record, stimulations": lambda: mp.record(SILENT, "units", stimulate="unit *"),
    "record, unequal": lambda: mp.record(UNEQUAL, "units"),
    "record, entries": lambda: mp.record(DIAGONAL, "entries"),
    "audit": lambda: mp.audit(mp.LinearFeedForward(q=2, widths=(2,), d=2, m=2)),
    "audit, principles": lambda: mp.audit(
        mp.LinearRNN(n=3, T=2, b=1, d=2, m=2), principles=True, trials=20
    ),
    "atlas": lambda: mp.atlas(NET, 2),
    "atlas, with trials": lambda: mp.atlas(NET, 2, trials=30),
    "atlas, many": lambda: mp.atlas(mp.LinearRNN(n=3, T=2, b=1, d=1, m=2), 3, search=0.0),
    "design": lambda: mp.design(DIAGONAL),
    "design, three matrices": lambda: mp.design(mp.Problem(LAYERS, {})),
    "repair": lambda: mp.repair(MISSED),
    "robust": lambda: mp.robust(DIAGONAL),
    "construct": lambda: mp.construct([[[1, 2], [3, 4]]]),
    "construct, by depth": lambda: mp.construct_by_depth([[[1, 2], [3, 4]]]),
    "profile": lambda: mp.profile(DIAGONAL, OTHER, trials=30),
    "train": lambda: mp.train(DIAGONAL, 6, steps=50),
    "capacity": lambda: of_model(mp.capacity),
    "dimension": lambda: mp.dimension(mp.LinearFeedForward(q=2, widths=(1,), d=2, m=2)),
}


@cache
def result(name):
    return MADE[name]()


def test_every_kind_of_picture_is_here():
    """Every type of result with a picture is drawn in these tests."""
    own = {"audit, principles", "construct, by depth"}
    first = {name for name in MADE if "," not in name} | own
    assert {type(result(name)).__name__ for name in first} | {AuditResult.__name__} == set(MODULES)


def test_results_from_outside_have_pictures():
    """A class that is registered is drawn, its subclasses too; no other, whatever its name."""

    @dataclass(frozen=True)
    class Ages(Result):
        years: tuple[int, ...] = (3, 1)

        def to_dict(self):
            return {"years": list(self.years)}

        def document(self):
            return Document("ages")

    class Estimate(Ages):
        """The name of a class of the project."""

    refuses("no picture of a Estimate", figure_of, Estimate())
    register_picture(Ages, Drawing(lambda axes, found: axes.bar([0, 1], found.years), (3.0, 2.0)))
    for found in (Ages(), Estimate()):
        figure = figure_of(found)
        assert [bar.get_height() for bar in figure.axes[0].patches] == [3, 1]
        assert figure.get_figwidth() == 3
        assert found.plot().patches


def drawn_at():
    """Names and widths; in a quick run every picture at the narrow one, and a sixth by itself."""
    for place, name in enumerate(MADE):
        for width in (None, "60mm", "85mm", "180mm"):
            is_long = width in ("85mm", "180mm") or (width is None and place % 6 > 0)
            yield pytest.param(name, width, marks=[pytest.mark.long] * is_long)


@pytest.mark.parametrize(("name", "width"), list(drawn_at()))
def test_pictures_can_be_read(name, width):
    """No text overlaps another or leaves the canvas, no legend covers data, no font is tiny."""
    figure = figure_of(result(name), width and inches(width))
    assert faults(figure) == []
    if width:
        assert figure.get_figwidth() == pytest.approx(inches(width))


def test_a_list_of_recordings_has_every_name():
    """Of 35 recorded units each has its name; stimulations have a colour and unequal lines bars."""
    many = figure_of(result("record, ranked")).axes[0]
    assert [text.get_text() for text in many.texts] == [str(k) for k in range(35)]
    assert listed(result("record, stimulations"))[-1] == ("2", 1, "stimulated")
    legend = figure_of(result("record, stimulations")).axes[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["recorded", "stimulated"]
    found = result("record, unequal")
    bars = [bar.get_width() for bar in figure_of(found).axes[0].patches]
    adds = [length for _, length, _ in listed(found)]
    assert max(adds) > min(adds)
    assert np.allclose(np.array(bars) / max(bars), np.array(adds) / max(adds))


@pytest.mark.parametrize("name", ["estimate", "certify", "inspect", "atlas"])
def test_panels_of_a_users_own_figure(name):
    """Axes that are given are drawn into and returned."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots(1, 2)
    for one in axes:
        assert result(name).plot(one) is one
    assert [fault for fault in faults(figure) if "covers" in fault or "canvas" in fault] == []


def test_faults_of_pictures_are_found():
    """`faults` finds a legend on data, overlapping texts, texts outside and tiny fonts."""
    figure = Figure(figsize=(3, 2))
    axes = figure.subplots()
    axes.plot([0, 1], label="a line")
    axes.legend(loc="upper right")
    axes.text(0.5, 0.5, "one text")
    axes.text(0.5, 0.5, "another", fontsize=4)
    axes.text(5, 0.5, "far away")
    found = "; ".join(faults(figure))
    assert "legend covers" in found
    assert "'one text' and 'another' meet" in found
    assert "'far away' leaves the canvas" in found
    assert "4.0 points" in found
    assert faults(Figure(figsize=(3, 2))) == []


def test_svg_text_stays_text(tmp_path):
    """SVG files keep text as text, have the given width, and are the same each time."""
    write_picture(result("certify"), tmp_path / "a.svg", "85mm")
    text = (tmp_path / "a.svg").read_text()
    assert ">learns: intermediate</text>" in text
    assert float(re.search(r'width="([0-9.]+)pt"', text)[1]) == pytest.approx(85 / 25.4 * 72, 1e-4)
    write_picture(result("certify"), tmp_path / "b.svg", "85mm")
    assert (tmp_path / "b.svg").read_bytes() == (tmp_path / "a.svg").read_bytes()


def test_pdf_embeds_its_fonts(tmp_path):
    """Fonts are TrueType (Type 42), which journals require, not Type 3; the width is as given."""
    write_picture(result("estimate"), tmp_path / "a.pdf", "85mm")
    data = (tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in data
    assert b"/CIDFontType2" in data
    assert b"/Type3" not in data
    box = re.search(rb"/MediaBox \[ ?0 0 ([0-9.]+) ", data)
    assert float(box[1]) == pytest.approx(85 / 25.4 * 72, 1e-3)


def test_dots_per_inch_on_paper(tmp_path):
    """The width in dots is the width on paper in inches times `dpi`."""
    write_picture(result("count"), tmp_path / "a.png", "85mm", 300)
    header = (tmp_path / "a.png").read_bytes()[16:20]
    assert int.from_bytes(header) == pytest.approx(85 / 25.4 * 300, abs=1)


@pytest.mark.parametrize("bad", ["85", "mm", "-85mm", "85 px", "nan mm", "1e9mm", "1mm", ""])
def test_bad_widths(bad):
    """A width without a unit, negative, not finite, or out of range is refused and quoted."""
    refuses(re.escape(repr(bad)), inches, bad)


def test_bad_dots_per_inch():
    """Too few or too many dots per inch are refused."""
    for bad in (0, 10, 100_000):
        refuses(str(bad), check_dpi, bad)


def test_wrapped_lines():
    """Lines fit the width and do not break within an equation; a word that is too long is split."""
    lines = style.wrapped("linear RNN: n = 2, T = 2, b = 1", 60.0, style.TITLE)
    assert len(lines) > 1
    assert not any(line.endswith(("=", "n", "T")) or line.startswith("=") for line in lines)
    assert " ".join(lines) == "linear RNN: n = 2, T = 2, b = 1"
    assert all(style.text_width(line, style.TITLE) <= 60.0 for line in lines)
    parts = style.wrapped("x" * 80, 60.0, style.TITLE)
    assert "".join(parts) == "x" * 80
    assert len(parts) > 3


def test_legends_use_the_width():
    """A legend has as many columns as fit in the width."""
    labels = ["learns", "fixed", "fatal alone", "fatal together"]
    assert style.legend_columns(labels, 400.0) == 4
    assert style.legend_columns(labels, 130.0) == 2
    assert style.legend_columns(labels, 30.0) == 1
    figure = Figure(figsize=(4, 3), layout="constrained")
    style.heading(figure.subplots(), "title", [Patch(label=label) for label in labels])
    assert faults(figure) == []
