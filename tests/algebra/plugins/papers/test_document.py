"""Surveys say where theorems are wrong, and the verdicts of all allocations."""

from dataclasses import replace

import matchprob as mp
from algebra.documents import Table, TextPicture
from tests.matchprob.explained import explained

NET = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)


def test_audits_tell_where_a_theorem_is_wrong():
    """Theorem 4.1 as stated; of an audit without a fault the rest of the allocations is open."""
    wrong = explained(mp.audit(mp.LinearFeedForward(q=3, widths=(3,), d=2, m=2)), "e.toml")
    assert any("called maximal and are minimal" in text for text in wrong.known)
    assert wrong.commands[-1][0] == "matchprob audit e.toml --corrected"
    assert not wrong.open
    part = explained(mp.audit(NET, matrices=["W"], count=2))
    assert any("No theorem is wrong for the 2 allocations" in text for text in part.known)
    assert "the other 4 allocations" in part.open


def test_an_atlas_counts_verdicts_in_words():
    """Of six allocations four are maximal; an undecided one names a longer search."""
    found = mp.atlas(NET, 2, search=0.0)
    assert "4 of 6 allocations are maximal" in explained(found).known[0]
    cut = replace(found, entries=found.entries[:1])
    assert "3 orbits of 4, not begun" in explained(cut).open
    vague = replace(found, entries=(replace(found.entries[0], verdict="undecided"),) * 4)
    assert vague.explain().steps[0].verb == "atlas"
    assert "--search 60" in explained(vague).commands[0][0]


def test_refuted_theorems_are_shown_with_their_masks():
    """A table of the theorems with the wrong numbers in the tone "bad", and the allocations."""
    parts = mp.audit(mp.LinearFeedForward(q=3, widths=(3,), d=2, m=2)).document().parts
    tables = [part for part in parts if isinstance(part, Table)]
    assert any("bad" in tones for table in tables for tones in table.tones.values())
    pictures = [part for part in parts if isinstance(part, TextPicture)]
    assert all("wrongly says" in picture.title and picture.rows for picture in pictures)
    assert pictures


def test_an_atlas_has_a_row_for_each_orbit():
    """As many rows as entries, the verdicts in their own tones."""
    found = mp.atlas(NET, 2, search=0.0)
    (table,) = found.document().parts
    assert table.columns["verdict"] == table.tones["verdict"] == [e.verdict for e in found.entries]


def test_small_masks_are_drawn_row_by_row():
    """A row of the table is the mask itself, so no two rows look equal; larger nets list cells."""
    net = mp.LinearRNN(n=3, T=2, b=1, d=2, m=2)
    found = mp.atlas(net, search=0.0)
    (table,) = found.document().parts
    assert (found.budget, table.columns["W"][0]) == (4, "●●● ●·· ···")
    assert len(set(table.columns["W"])) == len(found.entries) == 24
    layers = mp.atlas(mp.LinearFeedForward(q=2, widths=(2,), d=1, m=2), 2, search=0.0)
    assert [*layers.document().parts[0].columns][:2] == [*layers.matrices]
    wide = mp.atlas(mp.LinearRNN(n=7, T=2, b=1, d=1, m=2), 1, search=0.0)
    assert next(iter(wide.document().parts[0].columns)) == "allocation"


def test_an_audit_without_a_theorem_says_so():
    """Where no theorem applies there are no numbers of agreement, but the reason."""
    found = mp.audit(mp.LinearRNN(n=3, T=2, b=1, d=2, m=2))
    document = found.document()
    assert document.title == "141 allocations: no theorem applies"
    assert "No theorem applies" in document.why.known[0]
    assert {"agree", "silent", "wrong"}.isdisjoint(document.shown_facts())
    assert all("Td = 4, n = 3" in part.text for part in document.parts)
    assert "is wrong for any of them is at most" in str(found.explain().known)
    tanh = mp.RNN(n=2, T=2, b=1, d=1, m=2, activation="tanh")
    assert "rank, proved for all" in str(mp.audit(tanh, matrices=["D"], budget=2).explain().known)
    other = mp.audit(mp.LinearRNN(n=4, T=2, b=1, d=2, m=2), matrices=["W"], budget=1).document()
    assert "they need r = dm = 4, but r = 1" in str(other)
