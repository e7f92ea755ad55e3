# SPDX-License-Identifier: BSD-3-Clause
"""One of three ranks is killed under mpirun --enable-recovery: the others get PeerDiedError, and end without a hang,
with the program's exit status and without MPI_Finalize, which may wait for the dead rank for ever."""

import os
import re
import subprocess
import sys

import pytest

sys.path.insert(0, os.environ["SYNCYTE_LAUNCH_FOLDER"])
from mpi_harness.job import MPIRUN, environment

HERE = os.path.dirname(os.path.abspath(__file__))
RETURNS, SURVIVOR = (os.path.join(HERE, name) for name in ("returns.sh", "survivor.py"))
STATUSES = {"none": 0, "3": 3, "raise": 1}

FINALIZE = """
#include <unistd.h>
int PMPI_Finalize(void);
int MPI_Finalize(void) { return write(1, "MPI_Finalize\\n", 13) == 13 ? PMPI_Finalize() : 1; }
"""


@pytest.fixture(scope="module")
def told_of_finalize(tmp_path_factory):
    """A library to preload that writes a line when MPI_Finalize is called."""
    folder = tmp_path_factory.mktemp("finalize")
    source, library = folder / "finalize.c", folder / "finalize.so"
    source.write_text(FINALIZE)
    compiler = os.environ["SYNCYTE_CC"]
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    return str(library)


@pytest.mark.skipif("--tag-output" not in MPIRUN, reason="only Open MPI's mpirun goes on when a rank dies")
@pytest.mark.parametrize("first, end", [("syncyte", "none"), *(("mpi4py", end) for end in STATUSES)])
def test_survivors_are_told_and_end(first, end, told_of_finalize):
    mpirun, *flags = MPIRUN.split("|")
    env = environment({"SYNCYTE_LIBRARY": os.environ["SYNCYTE_TEST_LIBRARY"], "SYNCYTE_WATCHDOG": "20"})
    env["PRELOADED"] = told_of_finalize
    program = ["sh", RETURNS, sys.executable, "-B", SURVIVOR, first, end]
    done = subprocess.run(
        [mpirun, "--enable-recovery", *flags, "3", *program], env=env, capture_output=True, text=True, timeout=30
    )
    output = re.sub(r"\[\d+,\d+\]<std(out|err)>: ?", "", done.stdout + done.stderr)
    for rank in 0, 2:
        for text in "is told", "ends", f"returns {STATUSES[end]}":
            assert f"rank {rank} {text}" in output, output
    assert "MPI_Finalize\n" not in output, output
