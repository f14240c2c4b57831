"""Trials on disk: an SQLite file that several processes may share.

The file has one row for each study (problem, seed, engine and settings) and one for each trial.
It is in WAL mode and every chunk of trials is one transaction: a process killed at any moment loses
only its unfinished trials.  A trial is written once; a second process that computes it again
replaces it only if its count says more: it is complete and the stored one is not, or both are not
and it has more real solutions.  A trial is stored with its real solutions: 4 bytes, and 8 for each
weight of each.

Processes that work on one study at the same time announce the trials they compute
(`claim`).  Claims only avoid double work: those of a process that has ended are ignored,
and if no other trials are left, claimed trials are computed too.

Experiments other than counts keep their results in the same file as plain data, by the description
of the experiment and a number (`results`, `keep`).

A store that is only read needs no write permission, neither for the file nor for its folder.
"""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from algebra.errors import InputError, Unfinished
from algebra.results import named
from numeric.studies.trials import TrialSeries, contradict, record_of, says_more
from numeric.trials.counts import InstanceCount, Reason

# "mprb": the application id in the header of our SQLite files.
APPLICATION_ID = 0x6D707262
SCHEMA = 4
# A process without a sign of activity for this time counts as ended (seconds).
_STALE = 3600.0
# Seconds to wait for another process's lock.
_PATIENCE = 60.0
_NO_SPACE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)

_TABLES = """
CREATE TABLE studies (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    work TEXT NOT NULL,
    toml TEXT NOT NULL,
    version TEXT NOT NULL,
    created REAL NOT NULL
);
CREATE TABLE trials (
    study INTEGER NOT NULL REFERENCES studies(id),
    number INTEGER NOT NULL,
    real INTEGER,
    complex INTEGER,
    status TEXT NOT NULL,
    note TEXT NOT NULL,
    paths INTEGER NOT NULL,
    retried INTEGER NOT NULL,
    certified INTEGER NOT NULL,
    seconds REAL NOT NULL,
    paper_match INTEGER,
    reason TEXT NOT NULL,
    solutions BLOB,
    PRIMARY KEY (study, number)
) WITHOUT ROWID;
CREATE TABLE claims (
    study INTEGER NOT NULL,
    number INTEGER NOT NULL,
    owner TEXT NOT NULL,
    since REAL NOT NULL,
    PRIMARY KEY (study, number)
) WITHOUT ROWID;
"""
# A table of its own, so that stores and code from before names stay compatible.
_NAMES = "CREATE TABLE IF NOT EXISTS names (study INTEGER PRIMARY KEY, name TEXT NOT NULL)"
_RESULTS = (
    "CREATE TABLE IF NOT EXISTS results"
    " (experiment TEXT, number INTEGER, result TEXT NOT NULL, PRIMARY KEY (experiment, number))"
)
_COLUMNS = (
    "number, real, complex, status, note, paths, retried, certified, seconds, paper_match, reason, "
    "solutions"
)
# A trial is written once, unless the new count says more: it is complete, or finds more.
_UPSERT = f"""
    INSERT INTO trials (study, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (study, number) DO UPDATE SET
        real = excluded.real, complex = excluded.complex, status = excluded.status,
        note = excluded.note, paths = excluded.paths, retried = excluded.retried,
        certified = excluded.certified, seconds = excluded.seconds,
        paper_match = excluded.paper_match, reason = excluded.reason, solutions = excluded.solutions
    WHERE trials.status != 'complete'
        AND (excluded.status = 'complete' OR coalesce(excluded.real, 0) > coalesce(trials.real, 0))
"""


@dataclass(frozen=True)
class StudyInfo:
    """A study in a store.

    Attributes
    ----------
    id : int
    key : str
    work : dict
        `TrialSeries.to_dict`: problem, seed, settings.
    toml : str
        The problem file.
    version : str
        The version of the code that created it.
    created : float
        Seconds since 1970.
    trials, matched, unmatched : int
        Number of stored trials, and of their outcomes.
    name : str
        Given by the user, or the problem file's; may be empty.
    """

    id: int
    key: str
    work: dict[str, Any]
    toml: str
    version: str
    created: float
    trials: int
    matched: int
    unmatched: int
    name: str = ""

    @property
    def undetermined(self) -> int:
        """Number of undecided trials."""
        return self.trials - self.matched - self.unmatched

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            **named(self, "id", "name", "key"),
            "problem": self.work["problem"],
            "seed": self.work["seed"],
            **self.work["settings"],
            **named(self, "version", "created", "trials", "matched", "unmatched", "undetermined"),
        }


class StoreFull(Unfinished):
    """A store could not be written: no space is left, or the device fails.

    Everything written before is kept, and no trial is written in part.
    """


class Store:
    """An open store.

    Parameters
    ----------
    path : str or Path
    create : bool, optional
        Whether a missing file is created; not for reading, where the name may be misspelled.
    write : bool, optional
        Whether the store is written to.

    Raises
    ------
    InputError
        If the file is missing, damaged, or not a store.
    """

    def __init__(self, path: str | Path, *, create: bool = False, write: bool = True) -> None:
        self.path = Path(path)
        self._write = write
        create = create and write
        if not self.path.exists():
            if not create:
                raise InputError(
                    f"{self.path}: no such store; `estimate` with a store makes one, and in Python "
                    "Store(…, create=True)"
                )
            if not self.path.parent.is_dir():
                raise InputError(f"{self.path}: no folder {self.path.parent}")
        elif self.path.is_dir():
            raise InputError(f"{self.path}: a folder, not a store")
        with self._clear_errors():
            self._db = self._connect()
        try:
            with self._clear_errors():
                self._open()
        except BaseException:
            self._db.close()
            raise
        self.owner = f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"

    def _connect(self) -> sqlite3.Connection:
        """The database, or a read-only view of it."""
        if self._write:
            return sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
        where = self.path.absolute().as_uri() + "?mode=ro"
        log = self.path.with_name(self.path.name + "-wal")
        if not log.exists():
            # There is no writer; otherwise SQLite would create a log file and leave it.
            where += "&immutable=1"
        return sqlite3.connect(where, uri=True, timeout=_PATIENCE, isolation_level=None)

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Convert database errors to messages for the user."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            text = str(error)
            # The lowest byte is the primary code; the others distinguish kinds of input and output.
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NO_SPACE:
                raise StoreFull(
                    f"{self.path}: {text}; the trials stored before are kept: free space and "
                    "continue"
                ) from None
            if "not a database" in text or "malformed" in text:
                hint = _file_kind(self.path)
            elif "locked" in text:
                hint = "another process has locked it for a minute; try again"
            else:
                hint = "check the file, its folder and the space left"
            raise InputError(f"{self.path}: {text} ({hint})") from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._clear_errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                # On a full disk SQLite rolls back by itself.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _use_log(self) -> None:
        """Change to a log ahead of the file, as soon as no other process creates the same store.

        Here SQLite does not wait for a lock but fails at once.
        """
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(0.01)

    def _open(self) -> None:
        db = self._db
        empty = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        (mark,) = db.execute("PRAGMA application_id").fetchone()
        if not empty and mark != APPLICATION_ID:
            raise InputError(f"{self.path}: an SQLite file, but not a matchprob store")
        if empty and not self._write:
            raise InputError(f"{self.path}: empty, no store yet")
        if self._write:
            self._use_log()
            db.execute("PRAGMA synchronous=NORMAL")
        if empty:
            with self._transaction():
                # Another process may have created the tables first.
                if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                    db.execute(f"PRAGMA application_id={APPLICATION_ID}")
                    db.execute(f"PRAGMA user_version={SCHEMA}")
                    for statement in _TABLES.split(";"):
                        db.execute(statement)
        (schema,) = db.execute("PRAGMA user_version").fetchone()
        if schema != SCHEMA:
            raise InputError(
                f"{self.path}: a store of version {schema}, this code reads version {SCHEMA}; "
                "name a new file"
            )

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def check(self) -> None:
        """Read the whole file; raises InputError if it is damaged."""
        with self._clear_errors():
            (text,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
        if text != "ok":
            raise InputError(f"{self.path}: damaged: {text}")

    def study(self, work: TrialSeries, version: str = "", name: str = "") -> int:
        """Number of the study of these trials, created and named if it is new."""
        with self._transaction() as db:
            db.execute(
                "INSERT OR IGNORE INTO studies (key, work, toml, version, created)"
                " VALUES (?, ?, ?, ?, ?)",
                (
                    work.key,
                    json.dumps(work.to_dict(), sort_keys=True),
                    work.problem.to_toml(),
                    version,
                    time.time(),
                ),
            )
            (number,) = db.execute("SELECT id FROM studies WHERE key = ?", (work.key,)).fetchone()
        if name:
            self.rename(int(number), name, keep=True)
        return int(number)

    def rename(self, study: int, name: str, *, keep: bool = False) -> None:
        """Give a study a name; with `keep` only if it has none."""
        how = "INSERT OR IGNORE" if keep else "INSERT OR REPLACE"
        with self._transaction() as db:
            db.execute(_NAMES)
            db.execute(f"{how} INTO names (study, name) VALUES (?, ?)", (study, name))

    def studies(self) -> list[StudyInfo]:
        """All studies, oldest first."""
        query = """
            SELECT s.id, s.key, s.work, s.toml, s.version, s.created, count(t.number),
                   coalesce(sum(t.real > 0), 0),
                   coalesce(sum(t.status = 'complete' AND t.real = 0), 0)
            FROM studies s LEFT JOIN trials t ON t.study = s.id GROUP BY s.id ORDER BY s.id
        """
        with self._clear_errors():
            rows = self._db.execute(query).fetchall()
            names = {}
            if self._has("names"):
                names = dict(self._db.execute("SELECT study, name FROM names"))
        found = [StudyInfo(r[0], r[1], json.loads(r[2]), *r[3:]) for r in rows]
        return [replace(info, name=names.get(info.id, "")) for info in found]

    def find(self, name: str) -> StudyInfo:
        """The study with that number, name, or beginning of a key.

        Raises
        ------
        InputError
            If there is no such study, or if there are several.
        """
        known = self.studies()
        found = [s for s in known if str(s.id) == name]
        found = found or [s for s in known if s.name == name]
        found = found or [s for s in known if name and s.key.startswith(name)]
        if len(found) != 1:
            what = "several studies" if found else "no study"
            raise InputError(f"{self.path}: {what} {name!r}; `matchprob study list` shows them")
        return found[0]

    def records(self, study: int, below: int | None = None) -> dict[int, InstanceCount]:
        """Trials by number (those below `below`)."""
        query = f"SELECT {_COLUMNS} FROM trials WHERE study = ?"
        values: list[int] = [study]
        if below is not None:
            query += " AND number < ?"
            values.append(below)
        with self._clear_errors():
            rows = self._db.execute(query + " ORDER BY number", values).fetchall()
        return {row[0]: _count(row) for row in rows}

    def add(self, study: int, counts: Iterable[InstanceCount]) -> int:
        """Write trials in one transaction; returns how many were new or say more than stored ones.

        Counts without result because a child process ended are not written: the trials are
        computed again.
        """
        counts = list(counts)
        rows = [
            (
                study, c.index, c.real, c.complex, c.status, c.note, c.paths, c.retried,
                c.certified, c.seconds, c.paper_match, c.reason, packed(c.solutions),
            )
            for c in counts
            if not c.is_transient
        ]  # fmt: skip
        with self._transaction() as db:
            before = db.total_changes
            db.executemany(_UPSERT, rows)
            new = db.total_changes - before
            db.executemany(
                "DELETE FROM claims WHERE study = ? AND number = ?",
                [(study, c.index) for c in counts],
            )
        return new

    def keep(
        self, experiment: str, number: int, result: Mapping[str, Any], *, instead: bool = False
    ) -> None:
        """Write the result of an experiment; an existing one is kept or replaced.

        Parameters
        ----------
        experiment : str
            Description of the experiment, the same text for the same work.
        number : int
            Number of the repetition.
        result : mapping
            Plain data.
        instead : bool, optional
            Whether to replace an existing result.
        """
        how = "REPLACE" if instead else "IGNORE"
        with self._transaction() as db:
            db.execute(_RESULTS)
            db.execute(
                f"INSERT OR {how} INTO results VALUES (?, ?, ?)",
                (experiment, number, json.dumps(result)),
            )

    def results(self, experiment: str) -> dict[int, dict[str, Any]]:
        """Results of an experiment, by number."""
        rows = self._results("WHERE experiment = ? ORDER BY number", [experiment])
        return {number: result for _, number, result in rows}

    def _results(
        self, which: str = "", values: Sequence[str] = ()
    ) -> list[tuple[str, int, dict[str, Any]]]:
        with self._clear_errors():
            if not self._has("results"):
                return []
            rows = self._db.execute(
                f"SELECT experiment, number, result FROM results {which}", values
            ).fetchall()
        return [(experiment, number, json.loads(result)) for experiment, number, result in rows]

    def _has(self, table: str) -> bool:
        query = "SELECT count(*) FROM sqlite_master WHERE name = ?"
        return bool(self._db.execute(query, (table,)).fetchone()[0])

    def claim(self, study: int, wanted: Sequence[int]) -> list[int]:
        """Claim the wanted trials that no other process has claimed, and return them."""
        now = time.time()
        with self._transaction() as db:
            gone = [
                owner
                for owner, since in db.execute(
                    "SELECT owner, max(since) FROM claims GROUP BY owner"
                )
                if owner != self.owner and (now - since > _STALE or not _alive(owner))
            ]
            db.executemany("DELETE FROM claims WHERE owner = ?", [(owner,) for owner in gone])
            others = {
                number
                for (number,) in db.execute(
                    "SELECT number FROM claims WHERE study = ? AND owner != ?", (study, self.owner)
                )
            }
            free = [number for number in wanted if number not in others]
            db.executemany(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)",
                [(study, number, self.owner, now) for number in free],
            )
        return free

    def release(self) -> None:
        """Delete all claims of this process."""
        with self._transaction() as db:
            db.execute("DELETE FROM claims WHERE owner = ?", (self.owner,))

    def merge(self, other: Store) -> dict[str, int]:
        """Add the trials of another store.

        Counts are compared, not notes: a count may have failed on one machine for lack of time
        or memory, and the count that says more is kept (a complete one first).  Results of
        experiments are added if there is none: machines differ in the last digits.

        Returns
        -------
        dict
            ``studies`` and ``trials``: how many were new or say more.

        Raises
        ------
        InputError
            If two counts of a trial cannot both be true.  Then nothing is added.
        """
        other.check()
        new = {"studies": 0, "trials": 0}
        known = {s.key: s.id for s in self.studies()}
        todo: list[tuple[StudyInfo, list[InstanceCount]]] = []
        for study in other.studies():
            theirs = other.records(study.id)
            ours = self.records(known[study.key]) if study.key in known else {}
            for number in theirs.keys() & ours.keys():
                if contradict(theirs[number], ours[number]):
                    one, two = record_of(theirs[number]), record_of(ours[number])
                    raise InputError(
                        f"{other.path} and {self.path} differ on trial {number} of study "
                        f"{study.key[:8]}: {one} and {two}; one of them was made by another version"
                    )
            news = [c for n, c in theirs.items() if n not in ours or says_more(c, ours[n])]
            todo.append((study, news))
        for study, counts in todo:
            if study.key not in known:
                new["studies"] += 1
                with self._transaction() as db:
                    db.execute(
                        "INSERT OR IGNORE INTO studies (key, work, toml, version, created)"
                        " VALUES (?, ?, ?, ?, ?)",
                        (
                            study.key, json.dumps(study.work, sort_keys=True), study.toml,
                            study.version, study.created,
                        ),
                    )  # fmt: skip
                    query = "SELECT id FROM studies WHERE key = ?"
                    known[study.key] = int(db.execute(query, (study.key,)).fetchone()[0])
                if study.name:
                    self.rename(known[study.key], study.name, keep=True)
            new["trials"] += self.add(known[study.key], counts)
        for experiment, number, result in other._results():
            self.keep(experiment, number, result)
        return new


def _file_kind(path: Path) -> str:
    """Description of a file that is not a database."""
    with suppress(OSError), path.open("rb") as file:
        if b"matchprob-atlas" in file.read(100):
            return "the store of an atlas; trials are kept in a file of their own"
    return "damaged, or not a matchprob store; move it away or name another file"


def _count(row: Sequence[Any]) -> InstanceCount:
    number, real, complex_, status, note, paths, retried, certified, seconds, paper, why, kept = row
    return InstanceCount(
        number, real, complex_, status, note,
        paths=paths, retried=retried, certified=certified, seconds=seconds,
        paper_match=None if paper is None else bool(paper), reason=Reason(why),
        solutions=unpacked(kept),
    )  # fmt: skip


def packed(solutions: Sequence[Sequence[float]]) -> bytes | None:
    """Solutions in the store's format: the number of weights, then all weights as doubles."""
    if not solutions:
        return None
    width = len(solutions[0])
    weights = [w for solution in solutions for w in solution]
    return struct.pack(f"<I{len(weights)}d", width, *weights)


def unpacked(kept: bytes | None) -> tuple[tuple[float, ...], ...]:
    """The solutions from the bytes of `packed`; none if none are stored."""
    if not kept:
        return ()
    (width,) = struct.unpack_from("<I", kept)
    if not width:
        return ((),)
    if (len(kept) - 4) % (8 * width):
        raise InputError(f"a trial's solutions are damaged: {len(kept)} bytes, {width} weights")
    return tuple(struct.iter_unpack(f"<{width}d", kept[4:]))


def _started(pid: int) -> str:
    """Start time of a process, in the kernel's ticks: process numbers are reused."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[19]


def _alive(owner: str) -> bool:
    """Whether a claim's process still runs; processes of other machines are assumed to."""
    host, pid, started = owner.rsplit(":", 2)
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not started or _started(int(pid)) == started
