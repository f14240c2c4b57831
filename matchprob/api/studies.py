"""Stored trials as estimates and tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from algebra.errors import InputError
from algebra.installing import missing
from numeric.statistics.estimate import Estimate
from numeric.studies.store import Store, StudyInfo
from numeric.studies.trials import TrialSeries


def study_of(store: Store, name: str | None) -> StudyInfo:
    """A study by number, name or beginning of its key; the only one by default."""
    if name is not None:
        return store.find(name)
    studies = store.studies()
    if not studies:
        raise InputError(f"{store.path} holds no study yet")
    if len(studies) > 1:
        raise InputError(
            f"{store.path} has {len(studies)} studies: name one (`matchprob study list` shows them)"
        )
    return studies[0]


def estimate_of(store: Store, name: str | None) -> tuple[StudyInfo, Estimate]:
    """A study and the estimate from its trials 0 … n - 1."""
    info = study_of(store, name)
    work = TrialSeries.from_dict(info.work)
    records = store.records(info.id)
    done = next((k for k in range(len(records)) if k not in records), len(records))
    counts = tuple(records[k] for k in range(done))
    return info, Estimate(work.problem, work.settings.engine, work.seed, counts, done)


def trial_columns(store: Store, name: str | None) -> dict[str, list[Any]]:
    """All trials of a study, column by column; their real solutions as lists in JSON."""
    records = store.records(study_of(store, name).id).values()
    fields = ("index", "outcome", "real", "complex", "status", "note", "seconds")
    columns: dict[str, list[Any]] = {f: [getattr(c, f) for c in records] for f in fields}
    columns["solutions"] = [json.dumps(c.solutions) if c.solutions else "" for c in records]
    return columns


def write_parquet(columns: dict[str, list[Any]], path: Path) -> None:
    """A Parquet file of columns."""
    try:
        from pyarrow import parquet, table
    except ImportError:
        raise InputError(missing("a .parquet file needs", "pyarrow", "frames")) from None
    parquet.write_table(table(columns), path)
