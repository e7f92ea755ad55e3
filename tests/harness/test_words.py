# SPDX-License-Identifier: BSD-3-Clause
"""The harness understands the messages of Open MPI 4 and 5 about ranks that died."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "python"))

from mpi_harness.job import Job

SAID = {
    "   Process name: [[21501,1],2]\n   Exit code:    9\n": "rank 2 exited with status 9",
    "   Process name: [prterun-node-7-12338@1,2]\n   Exit code:    9\n": "rank 2 exited with status 9",
    "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).\n": "rank 1 died of SIGKILL",
    "prterun noticed that process rank 1 with PID 7 on node vm exited on\nsignal 11 (x).\n": "rank 1 died of SIGSEGV",
    "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\nwith errorcode 5.\n": "rank 2 called MPI_Abort(5)",
    "MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\n"
    "  Proc: [[36141,1],2]\n  Errorcode: 5\n": "rank 2 called MPI_Abort(5)",
    "nothing of that kind": "",
}

for text, expected in SAID.items():
    job = Job.__new__(Job)
    job.output = text
    if job.deaths() != expected:
        sys.exit(f"{text!r} is understood as {job.deaths()!r}, expected {expected!r}")
