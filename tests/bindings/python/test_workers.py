"""Workers of multiprocessing that import a script whose first line uses COMM_WORLD: they end with an error that names
their rank, and the ranks go on."""

import os
import re
import subprocess
import sys

import pytest

sys.path.insert(0, os.environ["SYNCYTE_LAUNCH_FOLDER"])
from mpi_harness.job import environment  # noqa: E402

MPIRUN = os.environ.get("SYNCYTE_MPIRUN", "mpirun|--tag-output|-np").split("|")

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


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_worker_that_imports_the_script_is_no_rank(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    env = environment({"SYNCYTE_WATCHDOG": "40", "SYNCYTE_LIBRARY": os.environ["SYNCYTE_TEST_LIBRARY"]})
    line = [*MPIRUN, "2", sys.executable, "-B", str(script), method]
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=60)
    output = re.sub(r"\[\d+,\d+\]<std(out|err)>: ?", "", done.stdout + done.stderr)  # mpirun's tags
    assert done.returncode == 0, output
    assert output.count("ended with 1 of 2") == 2 and "worked" not in output, output
    for rank in range(2):
        assert f"UnsupportedError: this process is a worker of rank {rank}" in output, output
    assert "under `if __name__ == '__main__':`" in output, output


def test_a_worker_that_was_forked_before_the_start_is_no_rank():
    code = (
        "import multiprocessing, syncyte\n"
        "def work():\n"
        "    try:\n"
        "        syncyte.COMM_SELF.rank\n"
        "    except syncyte.UnsupportedError as error:\n"
        "        print(str(error).split(',')[0], flush=True)\n"
        "worker = multiprocessing.get_context('fork').Process(target=work)\n"
        "worker.start()\n"
        "worker.join()\n"
    )
    env = {**os.environ, "SYNCYTE_LIBRARY": os.environ["SYNCYTE_TEST_LIBRARY"], "OMPI_COMM_WORLD_RANK": "7"}
    done = subprocess.run([sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "this process is a worker of rank 7", done.stderr
