# SPDX-License-Identifier: BSD-3-Clause
"""Kills one rank with kill -9 during saves: the file must be complete, and be the result of one completed save."""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading

import h5py

SUPPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "python")
sys.path.insert(0, SUPPORT)
from mpi_harness.job import without_launcher  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpirun", required=True, help="command and flags, separated by |")
    parser.add_argument("--program", required=True)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--ranks", type=int, default=2)
    return parser.parse_args()


def run_and_kill(arguments, path):
    """Starts a job and kills one of its ranks. Returns the step in the file that the job found at its start."""
    command = [*arguments.mpirun.split("|"), str(arguments.ranks), arguments.program, path]
    job = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=without_launcher({}),
        start_new_session=True,
    )
    limit = threading.Timer(60, os.killpg, (job.pid, signal.SIGKILL))
    limit.start()
    try:
        text, pids, found = "", [], None
        while len(pids) < arguments.ranks:
            line = job.stdout.readline()
            if not line:
                sys.exit(f"the job ended by itself:\n{text}")
            text += line
            if match := re.search(r"pid (\d+) found (-?\d+)", line):
                pids.append(int(match[1]))
                found = int(match[2])
        threading.Event().wait(random.uniform(0, 0.15))
        os.kill(random.choice(pids), signal.SIGKILL)
        job.communicate()
        return found
    finally:
        limit.cancel()


def main():
    arguments = parse()
    random.seed(3)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "checkpoint.h5")
        steps = []
        # On a busy machine the first jobs may all be killed before a save is complete.
        while len(steps) < arguments.rounds or (steps[-1] == steps[0] and len(steps) < 5 * arguments.rounds):
            steps.append(run_and_kill(arguments, path))
            if os.path.exists(path):
                with h5py.File(path) as file:
                    for key in ("w", "x"):
                        assert (file[key][...] == file.attrs["step"]).all(), f"h5py reads a mixture in {key}"
        left = len(os.listdir(folder)) - 1
        print("steps found:", steps, "left over:", left)
        assert left <= 1, "temporaries of jobs before the last one are still there"
        assert steps == sorted(steps), "saves went backwards"
        assert steps[-1] > steps[0], "no save completed"


if __name__ == "__main__":
    main()
