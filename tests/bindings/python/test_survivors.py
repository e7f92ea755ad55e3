"""One of three ranks is killed under mpirun --enable-recovery: the others get PeerDiedError, and end without a hang."""

import os
import re
import subprocess
import sys

import pytest

sys.path.insert(0, os.environ["SYNCYTE_LAUNCH_FOLDER"])
from mpi_harness.job import MPIRUN, environment

SCRIPT = """
import atexit, os, signal, time
import numpy
atexit.register(lambda: os.write(1, f"rank {{os.environ['OMPI_COMM_WORLD_RANK']}} ends\\n".encode()))
{imports}
import syncyte
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
os.write(1, f"rank {{world.rank}} is told\\n".encode())
"""


@pytest.mark.skipif("--tag-output" not in MPIRUN, reason="only Open MPI's mpirun goes on when a rank dies")
@pytest.mark.parametrize("imports", ["", "from mpi4py import MPI  # initialises MPI"])
def test_survivors_are_told_and_end(imports):
    mpirun, *flags = MPIRUN.split("|")
    env = environment({"SYNCYTE_LIBRARY": os.environ["SYNCYTE_TEST_LIBRARY"], "SYNCYTE_WATCHDOG": "20"})
    program = [sys.executable, "-B", "-c", SCRIPT.format(imports=imports)]
    done = subprocess.run(
        [mpirun, "--enable-recovery", *flags, "3", *program], env=env, capture_output=True, text=True, timeout=30
    )
    output = re.sub(r"\[\d+,\d+\]<std(out|err)>: ?", "", done.stdout + done.stderr)
    for rank in 0, 2:
        for text in "is told", "ends":
            assert f"rank {rank} {text}\n" in output, output
