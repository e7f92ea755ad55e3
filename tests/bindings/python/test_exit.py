# SPDX-License-Identifier: BSD-3-Clause
"""Processes that end while views exist: they must neither print an exception nor hang. Each case is a separate
process."""

import os
import subprocess
import sys

import pytest

from operators import needs_operators
from scripts import run, thorough_but

EXITS = {
    "views at exit": "tensor = syncyte.WholeTensor((9, 2)); keep = tensor.local[1:]",
    "after finalize": (
        "tensor = syncyte.WholeTensor((9, 2)); keep = tensor.local_array[1:]; keep[:] = 4; syncyte.finalize()\n"
        "assert (keep == 4).all()\n"
        "try:\n    tensor.sync()\nexcept syncyte.NotInitializedError:\n    del tensor, keep"
    ),
    "in a cycle": "box = [syncyte.WholeTensor((9, 2))]; box += [box, box[0].local_array]; del box",
    "in a module": "sys.keep = syncyte.WholeTensor((9, 2)).local_array",
    "in a thread": (
        "import threading, time\n"
        "tensor = syncyte.WholeTensor((9, 2))\n"
        "thread = threading.Thread(target=lambda view: time.sleep(0.5), args=(tensor.local,), daemon=True)\n"
        "thread.start()"
    ),
    "MPI finalized": "from mpi4py import MPI; keep = syncyte.WholeTensor((9, 2)).local_array; MPI.Finalize(); del keep",
    "window": "window = syncyte.Window(64); keep = window.view(); del window",
}


@pytest.mark.parametrize("name", thorough_but(("views at exit", "after finalize", "window"), EXITS))
def test_interpreter_exit(name):
    env = {**os.environ, "SYNCYTE_LIBRARY": os.environ["SYNCYTE_TEST_LIBRARY"]}
    code = f"import sys, numpy, syncyte\n{EXITS[name]}\n"
    done = subprocess.run([sys.executable, "-B", "-c", code], env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")
    assert "xception" not in done.stderr, done.stderr
    assert "Traceback" not in done.stderr, done.stderr


DEPARTED = """
import numpy, torch
import syncyte
import syncyte.torch
world = syncyte.COMM_WORLD
part, model = world.dup(), torch.nn.Linear(2, 1)
averager = syncyte.torch.DataParallel(model)
part.barrier()
if world.rank < world.size - 1:
    for wait in (
        lambda: world.recv(numpy.zeros(3), world.size - 1),
        part.barrier,
        lambda: part.iallreduce(numpy.zeros(3)).wait(),
        lambda: syncyte.torch.recv(torch.zeros(3), world.size - 1, comm=part),
        lambda: (model(torch.ones(1, 2)).sum().backward(), averager.average()),
    ):
        try:
            wait()
        except (syncyte.MismatchError, ValueError) as error:
            assert f"rank {world.size - 1}" in str(error), error
            assert "finalize" in str(error), error
        else:
            raise AssertionError("it went well")
    print("told", flush=True)
"""


@needs_operators
def test_who_waits_for_a_rank_that_has_ended_is_told(tmp_path):
    outcome = run(tmp_path, DEPARTED, ranks=2, SYNCYTE_WATCHDOG="30")
    assert outcome.status == 0, outcome.output
    assert outcome.output.count("told") == 1, outcome.output


COUNTER = """
counter = syncyte.WholeTensor((2,), "int64")
counter.sync()
if rank == 0:
    try:
        counter.wait(1, ">=", 1)
    except syncyte.PeerDiedError as error:
        assert "rank 1" in str(error), error
        assert "finalize" in str(error), error
        print("told", flush=True)
"""


@pytest.mark.parametrize("sharing", [{}, {"SYNCYTE_SHM": "none"}])
def test_a_counter_that_only_an_ended_rank_could_change_is_not_waited_for(tmp_path, sharing):
    outcome = run(tmp_path, COUNTER, SYNCYTE_WATCHDOG="30", **sharing)
    assert outcome.status == 0, outcome.output
    assert outcome.output.count("told") == 1, outcome.output


UNFINISHED = """
import torch, syncyte
from syncyte.torch import RowLoader
table = syncyte.WholeTensor((1000, 8), torch.float32)
iterator = iter(RowLoader(table, (torch.arange(1000) for _ in range(10**9)), 2, threads=2))
next(iterator)
print("reached", flush=True)
"""


@needs_operators
@pytest.mark.parametrize("end", thorough_but([""], ["", "syncyte.finalize()", "raise SystemExit"]))
def test_threads_that_load_rows_end_with_the_program(end):
    env = {**os.environ, "SYNCYTE_LIBRARY": os.environ["SYNCYTE_TEST_LIBRARY"]}
    command = [sys.executable, "-B", "-c", UNFINISHED + end]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "reached\n", "")
