"""Stores of older versions brought up to date where they are opened.

Version 2 had no column for what a count rests on: it stood in the note, in words.  Those words
are read here once, and nowhere else.  Version 3 kept no solutions; trials of either go without.

Results of the second paper's experiments once stood alone in a file without any mark of ours.
"""

from __future__ import annotations

import json
import sqlite3

from numeric.counts import COMPLETE, TRACE_NOTE, Reason

# What notes of version 2 began with where a child process had died.
_LOST = (
    "phcpy: the phcpy process ",
    "msolve: msolve was ended by signal ",
)
# Engines of version 2 that only search.
_SEARCHING = ("multistart", "fsolve", "adam", "levenberg-marquardt")


def from_version_2(db: sqlite3.Connection) -> None:
    """Add the column `reason`, and forget trials that a dead child process left undetermined.

    Parameters
    ----------
    db : sqlite3.Connection
        Inside a transaction.
    """
    db.execute("ALTER TABLE trials ADD COLUMN reason TEXT NOT NULL DEFAULT ''")
    engines = dict(
        db.execute("SELECT id, json_extract(work, '$.settings.engine') FROM studies").fetchall()
    )
    rows = db.execute("SELECT study, number, real, status, note FROM trials").fetchall()
    found = [
        (study, number, reason_of_note(engines.get(study, ""), real, status, note))
        for study, number, real, status, note in rows
    ]
    db.executemany(
        "UPDATE trials SET reason = ? WHERE study = ? AND number = ?",
        [(str(why), study, number) for study, number, why in found if why is not Reason.LOST],
    )
    db.executemany(
        "DELETE FROM trials WHERE study = ? AND number = ?",
        [(study, number) for study, number, why in found if why is Reason.LOST],
    )
    db.execute("PRAGMA user_version=3")


def from_version_3(db: sqlite3.Connection) -> None:
    """Add the column `solutions`, empty for the trials that are there.

    Parameters
    ----------
    db : sqlite3.Connection
        Inside a transaction.
    """
    db.execute("ALTER TABLE trials ADD COLUMN solutions BLOB")
    db.execute("PRAGMA user_version=4")


def is_bare(db: sqlite3.Connection) -> bool:
    """Whether a file holds the results of version 0.1 and nothing else."""
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return tables == [("normalization",)]


def take_bare(db: sqlite3.Connection) -> None:
    """Move results of version 0.1 among those of experiments.

    Parameters
    ----------
    db : sqlite3.Connection
        Inside a transaction.
    """
    for setting, result in db.execute("SELECT setting, result FROM normalization").fetchall():
        done, found = json.loads(setting), json.loads(result)
        repeat = done.pop("repeat")
        # It called Adam's result by the paper's word.
        if "sgd" in found:
            found["adam"] = found.pop("sgd")
        done["experiment"] = "normalization"
        db.execute(
            "INSERT OR IGNORE INTO results VALUES (?, ?, ?)",
            (json.dumps(done, sort_keys=True), repeat, json.dumps(found)),
        )
    db.execute("DROP TABLE normalization")


# Each brings a store of that version to the next.
UPGRADES = {2: from_version_2, 3: from_version_3}


def reason_of_note(engine: str, real: int | None, status: str, note: str) -> Reason:
    """What a count of version 2 rests on.

    Parameters
    ----------
    engine : str
    real : int or None
    status, note : str
    """
    if note.startswith("no solution, with probability 1"):
        return Reason.SETTLED_MINIMAL
    if note.startswith("certified maximal"):
        return Reason.SETTLED_MAXIMAL
    if status == COMPLETE:
        return Reason.COUNTED_BY_TRACE if TRACE_NOTE in note else Reason.COUNTED
    if real:
        return Reason.FOUND_ONE
    if note.startswith(_LOST):
        return Reason.LOST
    searched = engine in _SEARCHING or "lower bound by the engine multistart" in note
    if searched or note == "surplus weights kept fixed":
        return Reason.SEARCHED
    return Reason.FAILED
