"""How `store_v2.sqlite` was made: run with the last code that wrote stores of version 2.

In a checkout of commit 3b491d5, with this file's folder as the place for the result::

    PYTHONPATH=$PWD python make_store_v2.py examples store_v2.sqlite
"""

# mypy: ignore-errors
import sqlite3
import sys
from pathlib import Path

from algebra.problem import load_problem
from numeric.study import Study

EXAMPLES, STORE = Path(sys.argv[1]), Path(sys.argv[2])
STUDIES = (
    ("diagonal.toml", "exact", 12, {}),
    ("row.toml", None, 5, {}),
    ("missed.toml", None, 5, {}),
    ("spare.toml", "exact", 5, {"certify": False}),
    ("diagonal.toml", "multistart", 5, {}),
    ("relu.toml", None, 8, {}),
    ("mixed.toml", "exact", 4, {"complete": True}),
)

STORE.unlink(missing_ok=True)
for name, engine, trials, settings in STUDIES:
    with Study(load_problem(EXAMPLES / name), engine=engine, store=STORE, **settings) as study:
        print(name, engine, study.run(trials))
db = sqlite3.connect(STORE)
# What that code wrote where the phcpy process had died.
db.execute(
    "UPDATE trials SET real = NULL, complex = NULL, status = 'undetermined',"
    " note = 'phcpy: the phcpy process was ended by SIGKILL' WHERE study = 1 AND number = 3"
)
db.commit()
db.execute("PRAGMA journal_mode=DELETE")
db.execute("VACUUM")
db.close()
