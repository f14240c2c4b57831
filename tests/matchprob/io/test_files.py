"""Files are written completely or not at all, and never replace an input."""

import errno
import os
import stat
import threading

import pytest

from algebra.errors import InputError
from matchprob.io import files
from matchprob.io.files import (
    check_outputs,
    check_target,
    inputs_of,
    write_bytes,
    write_text,
)
from tests.refusals import refuses


def test_write_and_replace(tmp_path):
    """A file is replaced as a whole, and nothing else is left in the folder."""
    path = tmp_path / "a.json"
    write_text(path, "one")
    write_text(path, "zwei")
    assert path.read_text() == "zwei"
    assert list(tmp_path.iterdir()) == [path]


def test_bad_targets(tmp_path):
    """A folder, or a file in a folder that is not there, is refused."""
    for path in (tmp_path, tmp_path / "no" / "file", tmp_path / ("x" * 300), tmp_path / "a\0b"):
        refuses("", check_target, path)
        refuses("", write_bytes, path, b"")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    refuses("", check_target, loop)


def test_modes_of_written_files(tmp_path):
    """A new file has the mode of the umask; an existing one keeps its mode."""
    path = tmp_path / "new"
    write_text(path, "1")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o600)
    write_text(path, "2")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "2"


def test_writing_through_symbolic_links(tmp_path):
    """A symbolic link is kept: its target is replaced, or created."""
    for there in (True, False):
        target, link = tmp_path / f"target{there}", tmp_path / f"link{there}"
        if there:
            target.write_text("old")
        link.symlink_to(target.name)
        write_text(link, "new")
        assert link.is_symlink()
        assert target.read_text() == "new"


def test_outputs_do_not_replace_inputs(tmp_path):
    """The problem file, a matrix file named in it, and links to either are refused as outputs.

    Two results in one file, and unknown suffixes of pictures, are refused too.
    """
    problem, mask = tmp_path / "p.toml", tmp_path / "w.csv"
    problem.write_text('[network]\nkind = "linear"\n[learnable]\nW = "w.csv"\n')
    mask.write_text("1\n")
    (tmp_path / "link").symlink_to("w.csv")
    os.link(problem, tmp_path / "hard")
    inputs = inputs_of(problem)
    assert inputs == [problem, mask]
    for name in ("p.toml", "w.csv", "link", "hard"):
        refuses("is an input", check_outputs, [problem], tmp_path / name)
        refuses("is an input", check_outputs, [None, problem], store=tmp_path / name)
    check_outputs([problem], tmp_path / "a", None, plot=tmp_path / "b.png", store=tmp_path / "c")
    with pytest.raises(InputError, match="two results"):
        check_outputs([problem], tmp_path / "a", tmp_path / ".." / tmp_path.name / "a")
    refuses("two results", check_outputs, [problem], tmp_path / "a.png", plot=tmp_path / "a.png")
    refuses("ends in", check_outputs, [problem], plot=tmp_path / "a.tif")


def test_pipe_and_device(tmp_path):
    """A pipe and a device are written to, not replaced; they are refused as stores."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write_bytes(pipe, b"x" * 200_000)
    reader.join(10)
    assert got == [b"x" * 200_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_bytes(files.Path(os.devnull), b"nothing")
    for path in (pipe, files.Path(os.devnull)):
        refuses("no regular file", check_outputs, [], store=path)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is full")
def test_full_device():
    """Writing to a full device raises the OSError ENOSPC."""
    caught = refuses("", write_text, files.Path("/dev/full"), "text", error=OSError)
    assert caught.errno == errno.ENOSPC


def test_full_disk_leaves_the_old_file(tmp_path, monkeypatch, file):
    """Without space the old file stays, no temporary file is left, and the error names the file."""
    path = file("old", "kept")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    refuses("kept", write_text, path, "new", error=OSError)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
