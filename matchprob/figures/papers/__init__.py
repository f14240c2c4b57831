"""The papers' figures themselves: one script each, in ``examples/papers`` of the source tree.

What only makes a figure of a paper again is no part of the package's own code.  In the source tree
this package reads the scripts where they stand; a built package has them here (the table
``package-dir`` of pyproject.toml).
"""

from pathlib import Path

__path__ = [str(Path(__file__).parents[3] / "examples" / "papers")]
