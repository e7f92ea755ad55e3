# SPDX-License-Identifier: BSD-3-Clause
"""SYNCYTE_PREEMPTION: which signals are caught, and what ranks of a real mpirun are told."""

import os
import subprocess
import sys

import pytest

from scripts import run

# Signals rank 1 when something first asks for numpy: before the package has imported it, and long before the script.
EARLY = """
import os, signal, sys

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "numpy" and os.environ.get("OMPI_COMM_WORLD_RANK") == "1":
            os.kill(os.getpid(), signal.SIGUSR1)

sys.meta_path.insert(0, Finder)
"""


def import_with(value):
    script = "import signal, syncyte; print([signal.getsignal(s) for s in (signal.SIGUSR1, signal.SIGUSR2)])"
    environment = {**os.environ, "SYNCYTE_PREEMPTION": value}
    return subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)


def test_all_ranks_learn_of_a_signal_that_came_to_one_before_numpy_was_imported(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(EARLY)
    path = f"{tmp_path}:{os.environ['PYTHONPATH']}"
    script = "sys.exit(75 if syncyte.COMM_WORLD.preempted() else 1)"
    outcome = run(tmp_path, script, ranks=3, seconds=5.0, SYNCYTE_PREEMPTION="USR1", PYTHONPATH=path)
    assert outcome.status == 75, outcome.output
    assert "MPI_ABORT" not in outcome.output, outcome.output


def test_a_handler_of_the_script_replaces_the_packages(tmp_path):
    script = """
import signal
signal.signal(signal.SIGUSR1, lambda *_: print("<mine>", flush=True))
if rank == 1:
    os.kill(os.getpid(), signal.SIGUSR1)
sys.exit(int(syncyte.COMM_WORLD.preempted()))
"""
    outcome = run(tmp_path, script, SYNCYTE_PREEMPTION="USR1")
    assert outcome.status == 0, outcome.output
    assert outcome.output.count("<mine>") == 1, outcome.output


@pytest.mark.parametrize(("value", "caught"), [("", []), ("USR1", [0]), ("SIGUSR2", [1])])
def test_only_the_signal_that_is_named_is_caught(value, caught):
    handlers = import_with(value).stdout.split(", ")
    assert [number for number, handler in enumerate(handlers) if "_note" in handler] == caught, handlers


def test_a_package_that_another_thread_has_imported_catches_the_signal_from_the_start_on():
    script = """
import threading
first = threading.Thread(target=lambda: __import__("syncyte"))
first.start(), first.join()
import os, signal, syncyte
syncyte.init()
os.kill(os.getpid(), signal.SIGUSR1)
print("preempted:", syncyte.COMM_WORLD.preempted())
"""
    environment = {**os.environ, "SYNCYTE_PREEMPTION": "USR1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout == "preempted: True\n", done


@pytest.mark.parametrize("value", ["KILL", "SEGV", "SIGCHLD", "usr1", "10"])
def test_a_name_that_is_no_signal_to_catch_is_an_error(value):
    error = import_with(value).stderr
    assert f"SYNCYTE_PREEMPTION is {value!r}; expected a signal that can be caught" in error, error
