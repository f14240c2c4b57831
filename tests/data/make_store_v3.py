"""How `store_v3.sqlite` was made: run with the last code that wrote stores of version 3.

In a checkout of commit bca89e6, with this file's folder as the place for the result::

    PYTHONPATH=$PWD python make_store_v3.py examples store_v3.sqlite
"""

# mypy: ignore-errors
import sqlite3
import sys
from pathlib import Path

from algebra.problems.files import load_problem
from numeric.studies.study import Study

EXAMPLES, STORE = Path(sys.argv[1]), Path(sys.argv[2])
STUDIES = (
    ("diagonal.toml", "exact", 12, {}),
    ("row.toml", None, 5, {}),
    ("diagonal.toml", "multistart", 5, {}),
    ("relu.toml", None, 8, {}),
)

STORE.unlink(missing_ok=True)
for name, engine, trials, settings in STUDIES:
    with Study(load_problem(EXAMPLES / name), engine=engine, store=STORE, **settings) as study:
        print(name, engine, study.run(trials))
db = sqlite3.connect(STORE)
db.execute("PRAGMA journal_mode=DELETE")
db.execute("VACUUM")
db.close()
