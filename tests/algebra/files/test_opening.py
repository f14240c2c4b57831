"""Files are opened in one place: regular ones, within limits of length and time."""

import os
import re
import socket
import threading
import time
from pathlib import Path

import pytest

from algebra.files.opening import TooManyBytes, check_regular, read_bytes, read_text, within_time
from algebra.time_limits import Interrupted, OutOfTime, StopRequest, stoppable, within
from tests.refusals import refuses

ROOT = Path(__file__).parents[3]


def test_files_are_read_whole_or_in_part(tmp_path):
    """All bytes, or the part that was asked for; texts without marks and carriage returns."""
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc")
    assert read_bytes(path)[3:] == b"a\r\nb\rc"
    assert read_bytes(path, start=3, length=2) == b"a\r"
    assert read_text(path) == "a\nb\nc"
    refuses("it ends 5 bytes before", read_bytes, path, start=3, length=11)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "b")
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)
    with pytest.raises(ValueError, match="null"):
        read_bytes("a\0b")


def test_limits_bind_on_what_is_read(tmp_path):
    """Files whose length the system does not know are not read beyond the limit."""
    path = tmp_path / "a"
    path.write_bytes(bytes(11))
    assert len(read_bytes(path, 11)) == 11
    refuses("longer than 10 bytes", read_bytes, path, 10, error=TooManyBytes)
    os.truncate(path, 1 << 40)
    refuses("longer than 256 MiB", read_bytes, path, error=TooManyBytes)
    if Path("/proc/self/maps").exists():
        refuses("longer than 100 bytes", read_bytes, "/proc/self/maps", 100, error=TooManyBytes)


def _special(folder):
    os.mkfifo(folder / "pipe")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "socket"))
    (folder / "link").symlink_to("/dev/zero")
    return server, [folder / "pipe", folder / "socket", folder / "link", Path("/dev/zero")]


def test_nothing_special_is_opened_for_a_name_in_a_file(tmp_path):
    """Pipes, sockets, devices and links to them are refused without being opened."""
    server, places = _special(tmp_path)
    for path in places:
        refuses("no regular file", read_bytes, path, is_named_inside=True)
        refuses("no regular file", check_regular, path)
    server.close()
    check_regular(tmp_path / "missing")


def test_devices_without_end_are_refused(tmp_path):
    """Also when the user names them."""
    refuses("a device, no regular file", read_bytes, "/dev/zero")
    refuses("a device, no regular file", read_bytes, "/dev/null")


def test_pipes_are_read_and_waited_for(tmp_path):
    """A pipe that the user names is read to its end, and a slow writer is waited for."""
    os.mkfifo(path := tmp_path / "pipe")

    def write():
        time.sleep(0.2)
        with path.open("wb") as file:
            file.write(b"abc")
            file.flush()
            time.sleep(0.2)
            file.write(bytes(100_000))

    thread = threading.Thread(target=write)
    thread.start()
    assert read_bytes(path) == b"abc" + bytes(100_000)
    thread.join()


def test_a_wait_ends_with_the_time_limit_and_at_a_request(tmp_path):
    """A pipe that nobody writes to: the limit of the call holds, and one request is enough."""
    os.mkfifo(path := tmp_path / "pipe")
    began = time.monotonic()
    with pytest.raises(OutOfTime), within(0.2):
        read_bytes(path)
    request = StopRequest()
    threading.Timer(0.2, request.make).start()
    with pytest.raises(Interrupted), stoppable(request):
        read_bytes(path)
    assert time.monotonic() - began < 5


def test_calls_of_libraries_end_with_the_time_limit():
    """A call that looks at no limit is left to itself; results and errors are passed on."""
    assert within_time(sum, [1, 2]) == 3
    with pytest.raises(ZeroDivisionError):
        within_time(lambda: 1 // 0)
    with pytest.raises(OutOfTime), within(0.1):
        within_time(time.sleep, 1.0)


# Files that other places may open, with the reason.
OPENED = {
    "algebra/files/opening.py": "the place",
    "algebra/installing.py": "what the installer wrote about this package",
    "algebra/memory_limits.py": "limits that the system states in files of its own",
    "algebra/polynomials/msolve/process.py": "the answer of a program that was started here",
    "numeric/kernels.py": "sources and machine code of the project",
    "numeric/studies/store.py": "the name of a process; the first bytes of a store",
    "numeric/tracking/start_cache.py": "files of the project's own cache",
    "numeric/engines/phcpy/worker.py": "the memory of this process",
    "matchprob/__init__.py": "a source of the project",
    "matchprob/plugins/page/front.py": "files of the package",
    "matchprob/plugins/page/server.py": "files of the package",
    "matchprob/api/proofs/check.py": "the memory of this process",
}
READING = re.compile(
    r"\.read_text\(|\.read_bytes\(|np\.load\(|load_npz\(|fromfile|loadtxt|onnx\.load\("
    r"|\bopen\([^)]*\"rb?\"|\.open\(encoding"
)


def test_files_are_opened_in_one_place():
    """Nothing else in the three packages opens a file to read it, but those that are listed."""
    found = {
        path.relative_to(ROOT).as_posix()
        for package in ("algebra", "numeric", "matchprob")
        for path in (ROOT / package).rglob("*.py")
        if READING.search(path.read_text(encoding="utf-8"))
    }
    assert found - set(OPENED) == set()
