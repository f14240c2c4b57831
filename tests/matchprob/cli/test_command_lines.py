"""Five hundred odd command lines: none is a bug, each ends as it should, all in words."""

import json
import random

import pytest

from tests.matchprob.cli.command_lines import HUGE, read_table, run_line, write_files

ROWS = read_table()


def test_there_are_many():
    """The table is not cut."""
    assert len(ROWS) >= 500
    assert {status for status, _ in ROWS} == {0, 2, 3}


def faults(rows):
    """What is wrong with command lines, run one after another in this folder."""
    wrong = []
    for expected, words in rows:
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
    return wrong


@pytest.mark.long
def test_command_lines(tmp_path, monkeypatch):
    """Status as in the table, one JSON object where it was asked for, refusals in a few words."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert faults(ROWS) == []


def test_some_command_lines(tmp_path, monkeypatch):
    """The same of a random forty of those that need nothing from the lines before them."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    there = {path.name for path in tmp_path.iterdir()}
    huge = tuple(HUGE)
    alone = [
        (status, words)
        for status, words in ROWS
        if status == 2
        and not any(name in words for name in huge)
        and "scheduler" not in words
        and all(part in there for part in words.split() if part.endswith((".toml", ".json")))
    ]
    assert len(alone) > 200
    assert faults(random.Random(16).sample(alone, 40)) == []
