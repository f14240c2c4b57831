"""Attacks in a process with limited memory and time: what became of them is counted.

An attack is a function of random numbers and a folder, which writes a file and has it read.  It
must return (the file was read), raise `InputError` with a message of one line (refused), or reach a
limit (`Unfinished`).  Anything else, a crash or a second of processor time too many fails.
"""

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

from algebra.errors import InputError, Unfinished
from algebra.time_limits import OutOfTime

# Processor seconds for one attack, and MiB above what the modules take.
SECONDS, MEMORY = 20.0, 1024
ROOT = Path(__file__).parents[1]


def main(attack):
    """Run the attacks of a command line, and print their counts as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seed")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    given = parser.parse_args()
    used = int(Path("/proc/self/status").read_text().partition("VmData:")[2].split()[0]) << 10
    limit = used + (MEMORY << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    signal.signal(signal.SIGVTALRM, _too_slow)
    counts = dict.fromkeys(("read", "refused", "unfinished"), 0)
    slowest, faults = 0.0, []
    np.seterr(divide="raise", over="raise", invalid="raise")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.first, given.first + given.count):
            began = time.process_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            try:
                outcome = _outcome(attack, f"{given.seed}/{number}", folder)
            except BaseException as error:
                lines = traceback.format_exc().splitlines()
                faults.append([number, f"{type(error).__name__}: {error}"[:300], lines[-6:]])
                outcome = ""
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            slowest = max(slowest, time.process_time() - began)
            if outcome:
                counts[outcome] += 1
    # The peak of this program: `ru_maxrss` would be that of the process which started it, too.
    peak = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) >> 10
    print(json.dumps({**counts, "slowest": round(slowest, 2), "peak": peak, "faults": faults}))


def _outcome(attack, seed, folder):
    try:
        attack(random.Random(seed), folder)
    except InputError as error:
        if "\n" in str(error):
            raise AssertionError("the message has more than one line") from error
        return "refused"
    except (Unfinished, OutOfTime):
        return "unfinished"
    return "read"


def _too_slow(number, frame):
    raise AssertionError(f"more than {SECONDS} s of processor time")


def attacked(module, seed, count, first=0):
    """The counts of attacks of a module of tests, made in a process of their own."""
    command = [sys.executable, "-W", "error", "-m", module, str(seed), str(first), str(count)]
    path = os.pathsep.join([str(ROOT), *sys.path])
    env = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"status {done.returncode}: {done.stderr[-2000:]}"
    return json.loads(done.stdout.splitlines()[-1])
