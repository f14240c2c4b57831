"""Five hundred odd command lines: none is a bug, each ends as it should, all in words."""

import json

import pytest

from tests.matchprob.cli.command_lines import read_table, run_line, write_files

ROWS = read_table()


def test_there_are_many():
    """The table is not cut."""
    assert len(ROWS) >= 500
    assert {status for status, _ in ROWS} == {0, 2, 3}


@pytest.mark.long
def test_command_lines(tmp_path, monkeypatch):
    """Status as in the table, one JSON object where it was asked for, refusals in a few words."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    wrong = []
    for expected, words in ROWS:
        status, out, said = run_line(words)
        text = out + said
        # How far a limited search gets is the machine's affair.
        limited = "--timeout" in words or "--seconds" in words
        if status != expected and not (limited and {status, expected} == {0, 3}):
            wrong.append(f"{words!r}: status {status}, not {expected}: {said[-200:]}")
        elif "Traceback" in text or "this is a bug" in text:
            wrong.append(f"{words!r}: {text[-200:]}")
        elif status == 2 and not said.strip():
            wrong.append(f"{words!r}: refused without a word")
        elif status == 2 and "Usage:" not in said and len(said.splitlines()) > 3:
            wrong.append(f"{words!r}: {len(said.splitlines())} lines")
        elif "--json" in words.split() and status == 0 and "--help" not in words:
            json.loads(out)
    assert wrong == []
