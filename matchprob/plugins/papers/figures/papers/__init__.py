"""The papers' figures themselves: one script each, in ``examples/papers`` of the source tree.

The scripts are not part of the package's own code. In the source tree this package reads them from
that folder; a built package contains them here (the table ``package-dir`` of pyproject.toml).
"""

from pathlib import Path

__path__ = [str(Path(__file__).parents[5] / "examples" / "papers")]
