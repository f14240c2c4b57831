"""A plugin of pytest: each model file that the ini option `trainable` names is a test.

In ``pyproject.toml``::

    [tool.pytest.ini_options]
    trainable = ["models/*.onnx: *.bias, norms"]

A line is a pattern of files, relative to the root folder, and what learns: names, patterns or roles
as of `matchprob.assert_trainable`.  The test fails if a parameter that learns changes no label, or
is never moved by a gradient.  A file that several lines match is tested for each.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

OPTION = "trainable"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Enter the ini option."""
    words = "model files and what learns in them, as in 'models/*.onnx: *.bias, norms'"
    parser.addini(OPTION, words, type="linelist", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a line that does not say what learns; warn of one that names no file."""
    for line, (pattern, learn) in zip(config.getini(OPTION), _entries(config), strict=True):
        if not pattern or not learn:
            raise pytest.UsageError(
                f"{OPTION}: {line!r} must be a pattern of files, a colon, and what learns, such as "
                "'models/*.onnx: *.bias, norms'"
            )
        if pattern.startswith("/") or not any(config.rootpath.glob(pattern)):
            words = f"{OPTION}: no file in {config.rootpath} has the pattern {pattern!r}"
            config.issue_config_time_warning(pytest.PytestConfigWarning(words), stacklevel=2)


def _entries(config: pytest.Config) -> list[tuple[str, str]]:
    """For each line the pattern of files and what learns."""
    parts = [line.rpartition(":") for line in config.getini(OPTION)]
    return [(pattern.strip(), learn.strip()) for pattern, _, learn in parts]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A collector for a model file that the option names; None for any other file."""
    folder = parent.config.rootpath
    entries = _entries(parent.config)
    if not entries or not file_path.is_relative_to(folder):
        return None
    name = file_path.relative_to(folder).as_posix()
    wanted = [learn for pattern, learn in entries if fnmatch(name, pattern)]
    if not wanted:
        return None
    found: Any = ModelFile.from_parent(parent, path=file_path)
    found.wanted = wanted
    return found


class ModelFile(pytest.File):
    """A model file, with a test for each line that names it."""

    wanted: list[str]

    def collect(self) -> Iterator[pytest.Item]:
        """The tests."""
        for learn in self.wanted:
            yield ModelTest.from_parent(self, name=learn)


class ModelTest(pytest.Item):
    """The test of a model file: everything that learns has an effect."""

    def runtest(self) -> None:
        """Check the file; its name is what learns."""
        import matchprob as mp

        mp.assert_trainable(str(self.path), learn=self.name)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> str:
        """The lines of `assert_trainable`, or what is wrong with the file, without a traceback."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test stands in reports."""
        return self.path, None, f"{self.path.name}: {self.name}"
