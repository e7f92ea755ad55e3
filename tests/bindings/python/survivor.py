# SPDX-License-Identifier: BSD-3-Clause
"""Rank 1 of the job is killed; the others get PeerDiedError and end: survivor.py {mpi4py|syncyte} {none|NUMBER|raise}.

The first word says who initializes MPI, the second how the program ends.
"""

import atexit
import os
import signal
import sys
import time

import numpy

atexit.register(lambda: os.write(1, f"rank {os.environ['OMPI_COMM_WORLD_RANK']} ends\n".encode()))
if sys.argv[1] == "mpi4py":
    from mpi4py import MPI  # noqa: F401

import syncyte  # noqa: E402

world = syncyte.COMM_WORLD
tensor = syncyte.WholeTensor((9, 2))
world.barrier()
if world.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
for wait in (lambda: world.allreduce(numpy.ones(4)), world.barrier, tensor.sync):
    try:
        wait()
    except syncyte.PeerDiedError as error:
        assert "rank 1" in str(error), error
    else:
        raise AssertionError("it went well")
time.sleep(0.5)  # until the other rank knows too
print(f"rank {world.rank} is told")  # the exit flushes it
if sys.argv[2] == "raise":
    world.barrier()
if sys.argv[2] != "none":
    sys.exit(int(sys.argv[2]))
