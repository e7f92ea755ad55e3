"""Processes that end with views alive: no exception may be printed, nothing may hang. Each case is a process of its
own."""

import os
import subprocess
import sys

import pytest

EXITS = {
    "views at exit": "tensor = syncyte.WholeTensor((9, 2)); keep = tensor.local[1:]",
    "after finalize": (
        "tensor = syncyte.WholeTensor((9, 2)); keep = tensor.local_array[1:]; keep[:] = 4; syncyte.finalize()\n"
        "assert (keep == 4).all()\n"
        "try:\n    tensor.sync()\nexcept syncyte.NotInitialisedError:\n    del tensor, keep"
    ),
    "in a cycle": "box = [syncyte.WholeTensor((9, 2))]; box += [box, box[0].local_array]; del box",
    "in a module": "sys.keep = syncyte.WholeTensor((9, 2)).local_array",
    "in a thread": (
        "import threading, time\n"
        "tensor = syncyte.WholeTensor((9, 2))\n"
        "thread = threading.Thread(target=lambda view: time.sleep(0.5), args=(tensor.local,), daemon=True)\n"
        "thread.start()"
    ),
    "MPI finalised": "from mpi4py import MPI; keep = syncyte.WholeTensor((9, 2)).local_array; MPI.Finalize(); del keep",
    "window": "window = syncyte.Window(64); keep = window.view(); del window",
}


@pytest.mark.parametrize("name", EXITS)
def test_interpreter_exit(name):
    env = {**os.environ, "SYNCYTE_LIBRARY": os.environ["SYNCYTE_TEST_LIBRARY"]}
    code = f"import sys, numpy, syncyte\n{EXITS[name]}\n"
    done = subprocess.run([sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
    assert "xception" not in done.stderr and "Traceback" not in done.stderr, done.stderr
