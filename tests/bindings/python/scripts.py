# SPDX-License-Identifier: BSD-3-Clause
"""Scripts that tests run under a real mpirun."""

import os
import re
import subprocess
import sys
import time

import pytest

sys.path.insert(0, os.environ["SYNCYTE_LAUNCH_FOLDER"])
from mpi_harness.job import MPIRUN, environment

PREAMBLE = """
import os, sys, threading, time
import syncyte, syncyte._meeting
rank = syncyte.COMM_WORLD.rank
with open("started", "w") as file:
    file.write(str(time.time()))
syncyte.COMM_WORLD.barrier()
syncyte._meeting.SECONDS = {seconds}
"""


class Outcome:
    """Result of an mpirun."""

    def __init__(self, folder, script, ranks, command, extra):
        path = folder / "script.py"
        path.write_text(script)
        env = environment({"SYNCYTE_WATCHDOG": "0", **extra})
        line = [*MPIRUN.split("|"), str(ranks), sys.executable, "-B", *command, str(path), "first", "--second"]
        begin = time.time()
        try:
            done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=90, cwd=folder)
        except subprocess.TimeoutExpired as error:
            pytest.fail(f"the job hangs: {error.stdout} {error.stderr}")
        # Counts from the barrier before the failure, because the start of a job may take long on a busy machine.
        started = folder / "started"
        self.seconds = time.time() - (float(started.read_text()) if started.exists() else begin)
        self.status = done.returncode
        # mpirun may insert its tags within a line, because Python writes a line in pieces.
        self.output = re.sub(r"\[\d+,\d+\]<std(out|err)>: ?", "", done.stdout + done.stderr)


def run(folder, script, *, ranks=2, command=("-m", "syncyte"), seconds=1.0, **extra):
    return Outcome(folder, PREAMBLE.format(seconds=seconds) + script, ranks, command, extra)


def thorough_but(usual, cases):
    """Parameters of a test: those that are not usual run with the label slow only."""
    return [case if case in usual else pytest.param(case, marks=pytest.mark.thorough) for case in cases]
