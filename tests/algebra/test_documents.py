"""Documents: their plain text, their HTML, and texts that are changed everywhere."""

from algebra.documents import (
    Document,
    Explanation,
    Paragraph,
    Step,
    Table,
    TextPicture,
    is_numeric,
    step,
)

WHOLE = Document(
    "two <roots>",
    {"degree": 3, "generic_root_count": None},
    (
        Paragraph("  of W[0,1]"),
        Table({"name": ["a", "W[0,1]"], "rank": [1, None]}, "ranks"),
        TextPicture(("●·", "·●"), "a mask"),
    ),
    Explanation(("W[0,1] is known.",), "the rest", "time", (step("certify", "more", timeout=60),)),
)


def test_plain_text_has_title_and_parts():
    """Paragraphs, aligned tables and pictures in order; neither facts nor what follows."""
    assert str(WHOLE).split("\n") == [
        "two <roots>", "  of W[0,1]", "ranks", "name    rank", "a          1", "W[0,1]     –",
        "a mask", "●·", "·●",
    ]  # fmt: skip


def test_long_tables_are_cut_in_plain_text_only():
    """Forty rows and the number of the others; HTML has all rows."""
    long = Document("many", parts=(Table({"k": list(range(100))}),))
    assert str(long).endswith("… and 60 more rows")
    assert long.html().count("<tr>") == 101


def test_html_is_escaped_and_has_what_follows():
    """Facts that are not known are left out; sentences are paragraphs."""
    text = WHOLE.html()
    assert "two &lt;roots&gt;" in text
    assert "generic root count" not in text
    assert "<p>Open: the rest.</p>" in text
    assert "<pre>●·\n·●</pre>" in text


def test_a_change_reaches_every_text():
    """Names of units replace indices in parts and sentences alike."""
    named = WHOLE.mapped(lambda text: text.replace("W[0,1]", "W[a,b]"))
    assert "W[0,1]" not in str(named) + named.html() + str(named.why)
    assert named.why.steps == WHOLE.why.steps


def test_sentences_of_an_explanation():
    """Known, open, decided by, and the steps as calls in Python."""
    assert WHOLE.why.lines() == [
        "W[0,1] is known.", "Open: the rest.", "Decided by: time.",
        "Try: mp.certify(problem, timeout=60)   (more)",
    ]  # fmt: skip
    both = Step("repair", "a new file", {"write": "b.toml"}, then=step("certify", subject="b.toml"))
    assert str(both) == "mp.certify(mp.repair(problem).problem)"
    picture = step("capacity", learn="*.bias", lora="1,2", plot="a.png")
    assert str(picture) == "mp.capacity(model, learn='*.bias', lora=(1, 2)).plot()"


def test_columns_of_numbers_are_seen():
    """Bounds, intervals and shares are numbers; sentences that begin with one are not."""
    assert is_numeric(["1.5e-7", "–", "∞", "[0.25, 1.00]", "3 of 7", "≤ 2"])
    assert not is_numeric(["3 of them"])
