# SPDX-License-Identifier: BSD-3-Clause
"""Processes that ranks start. A worker of multiprocessing that imports a script which uses COMM_WORLD ends with an
error that names the rank, and the ranks continue. Forked children do not disturb the ranks."""

import json
import os
import re
import subprocess
import sys

import pytest

sys.path.insert(0, os.environ["SYNCYTE_LAUNCH_FOLDER"])
from mpi_harness.job import MPIRUN, environment, without_launcher

SCRIPT = """
import multiprocessing
import sys

import syncyte

WORLD = syncyte.COMM_WORLD
RANK = WORLD.rank

if __name__ == "__main__":
    worker = multiprocessing.get_context(sys.argv[1]).Process(target=print, args=("worked",))
    worker.start()
    worker.join(20)
    print(f"ended with {worker.exitcode} of {WORLD.allreduce(1)}\\n", end="", flush=True)
    worker.kill()
"""

FORKING = """
import os
import syncyte

tensor = syncyte.WholeTensor((6, 2))
tensor.sync()
child = os.fork()
if child == 0:
    tensor.gather([5])
    syncyte.finalize()
    assert syncyte.COMM_SELF.allreduce(3) == 3, "finalize has done nothing"
    print("child")
    raise SystemExit(0)
assert os.waitpid(child, 0)[1] == 0
tensor.sync()
print("rank")
"""

FORKED_BEFORE = """
import multiprocessing
import syncyte

def work():
    try:
        syncyte.COMM_SELF.rank
    except syncyte.UnsupportedError as error:
        print(str(error).split(",")[0], flush=True)

worker = multiprocessing.get_context("fork").Process(target=work)
worker.start()
worker.join()
"""

# Rank 1 starts a program before or after its own start; "separate" without the launcher's variables.
STARTING = """
import os
import subprocess
import sys

import syncyte

PROGRAM = "import syncyte; print(f'program {syncyte.COMM_WORLD.allreduce(100)}', end='.', flush=True)"

def start(environment=None):
    return subprocess.run([sys.executable, "-m", "syncyte", "-c", PROGRAM], env=environment).returncode

if sys.argv[1] == "instead":
    sys.exit(start())
rank = syncyte.COMM_WORLD.rank
if rank == 1:
    assert start() != 0
    launchers = ("OMPI_C", "OMPI_MCA_ess", "OMPI_MCA_orte", "PMIX_", "PRTE_", "SLURM_")
    assert start({name: value for name, value in os.environ.items() if not name.startswith(launchers)}) == 0
print(f"rank {syncyte.COMM_WORLD.allreduce(1)}", end=".", flush=True)
"""


def output_of_two_ranks(script, *arguments):
    """Standard output and standard error of a job that ends well, without mpirun's tags."""
    env = environment({"SYNCYTE_WATCHDOG": "40", "SYNCYTE_LIBRARY": os.environ["SYNCYTE_TEST_LIBRARY"]})
    line = [*MPIRUN.split("|"), "2", sys.executable, "-B", str(script), *arguments]
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=60)
    output = re.sub(r"\[\d+,\d+\]<std(out|err)>: ?", "", done.stdout + done.stderr)
    assert done.returncode == 0, output
    return output


@pytest.mark.parametrize("method", ["spawn", pytest.param("forkserver", marks=pytest.mark.thorough)])
def test_a_worker_that_imports_the_script_is_no_rank(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    output = output_of_two_ranks(script, method)
    assert output.count("ended with 1 of 2") == 2, output
    assert "worked" not in output, output
    for rank in range(2):
        assert f"UnsupportedError: this process is a multiprocessing worker of rank {rank}" in output, output
    assert "under `if __name__ == '__main__':`" in output, output


def alone(path, *arguments, **variables):
    """Output of a script that runs without mpirun."""
    env = without_launcher({"SYNCYTE_LIBRARY": os.environ["SYNCYTE_TEST_LIBRARY"], **variables})
    line = [sys.executable, "-B", str(path), *arguments]
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_mpirun_a_worker_is_a_job_of_its_own(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    assert "worked" in alone(script, "spawn")


def test_a_forked_child_leaves_its_ranks_trace_alone(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(FORKING)
    assert alone(script, SYNCYTE_TRACE=str(tmp_path)) == "child\nrank\n"
    events = json.loads((tmp_path / "rank-0.json").read_text())
    assert [event["name"] for event in events].count("tensor_sync") == 2
    assert not any(event["name"] == "tensor_gather" for event in events)


def test_a_worker_that_was_forked_before_the_start_is_no_rank(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(FORKED_BEFORE)
    assert alone(script, OMPI_COMM_WORLD_RANK="7") == "this process is a multiprocessing worker of rank 7\n"


def test_a_program_that_a_rank_starts_is_not_the_rank(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(STARTING)
    output = output_of_two_ranks(script, "after")
    assert output.count("rank 2") == 2, output
    assert output.count("program 100") == 1, output
    assert re.search(r"UnsupportedError.*process \d+ is rank 1 and has started this process", output), output
    assert "ranks were started" not in output, output


def test_a_program_may_be_started_in_a_ranks_place(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(STARTING)
    output = output_of_two_ranks(script, "instead")
    assert output.count("program 200") == 2, output
    assert output.count("this process takes the place of process") == 2, output
