"""One command line for each verb and kind of error: its exit status, and never a bug."""

import json
import random

import pytest

from tests.matchprob.cli.command_lines import HUGE, all_lines, read_table, run_line, write_files

ROWS = read_table()


def test_the_table_is_complete():
    """The table has the lines that are made, with each exit status."""
    assert [words for _, words in ROWS] == list(all_lines())
    assert {status for status, _ in ROWS} == {0, 2, 3}


def faults(rows):
    """The faults of command lines that are run one after another in this folder."""
    wrong = []
    for expected, words in rows:
        status, out, said = run_line(words)
        text = out + said
        # The progress of a search with a time limit depends on the machine.
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
    """The status is that of the table, --json gives one JSON object, refusals are short."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert faults(ROWS) == []


def test_a_sample_of_command_lines(tmp_path, monkeypatch):
    """Forty random lines that do not depend on earlier ones have the status of the table."""
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
    assert len(alone) >= 100
    assert faults(random.Random(16).sample(alone, 40)) == []
