"""Documents printed in a terminal."""

import io

from rich.console import Console

from algebra.documents import Document, Explanation, Paragraph, Table, TextPicture, step
from matchprob.report.documents import print_document


def test_a_document_is_printed_whole():
    """Title, facts with values, parts, sentences and commands; facts in the title only there."""
    document = Document(
        "maximal: one root",
        {"verdict": "maximal", "rank": 3, "bound": None},
        (Paragraph("  a note"), Table({"k": [1], "text": ["x"]}), TextPicture(("●·",), "W")),
        Explanation(("It is known.",), "nothing", "", (step("robust", "losses", seconds=300),)),
        tone="maximal",
    )
    out = io.StringIO()
    print_document(Console(file=out, width=100), document, "'a b.toml'")
    lines = [line.strip() for line in out.getvalue().splitlines() if line.strip()]
    assert lines == [
        "maximal: one root", "rank  3", "a note", "k  text", "1  x", "W", "●·", "It is known.",
        "Open: nothing.", "Try: matchprob robust 'a b.toml' --seconds 300   (losses)",
    ]  # fmt: skip
