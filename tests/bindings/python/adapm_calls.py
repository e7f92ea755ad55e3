# SPDX-License-Identifier: BSD-3-Clause
"""All calls that AdaPM's bindings/example.py makes, by two workers of each rank, with torch and numpy, five times."""

import threading

import numpy as np
import torch

import syncyte
from syncyte.compat import adapm

KEYS, WORKERS, LENGTH = 1000, 2, 2
LONG = 400  # a key with 10 values
COMM = syncyte.COMM_WORLD


def check_calls(worker, number: int, make) -> None:
    """Each worker has keys of its own, which no other writes, and reads keys of all."""
    own = make(np.array([number, 500 + number, 700 + number]))
    common = make(np.array([101, 102, LONG]))
    pushed = make(np.arange(1, 7, dtype=np.float32))
    values, common_values = make(np.zeros(6, np.float32)), make(np.ones(14, np.float32))
    worker.pull(common, common_values)
    assert not common_values.any()
    worker.intent(own, worker.current_clock() + 1)
    worker.advance_clock()
    worker.wait_sync()
    worker.set(own, make(np.zeros(6, np.float32)))
    worker.push(own, pushed)
    worker.pull(own, values)
    assert (values == pushed).all()
    worker.set(own, make(np.ones(6, np.float32)))
    worker.push(own, pushed, True)
    worker.wait(worker.pull(own, values, True))
    assert (values == pushed + 1).all()
    stamps = worker.push(own, pushed, True), worker.pull(own, values, True)
    for stamp in stamps:
        worker.wait(stamp)
    assert (values == 2 * pushed + 1).all()
    long = make(np.zeros(10, np.float32))
    worker.pull(make(np.array([LONG])), long)
    sample = worker.prepare_sample(8, worker.current_clock())
    drawn, drawn_values = make(np.full(8, -1)), make(np.zeros(16, np.float32))
    worker.pull_sample(sample, drawn, drawn_values)
    assert all(0 <= int(key) < 500 and key != LONG for key in drawn)


def run_worker(worker, number: int, ended: list[int]) -> None:
    for make in (torch.from_numpy, np.asarray):
        check_calls(worker, number, make)
        worker.barrier()
    worker.finalize()
    ended.append(number)


def run_node(rank: int) -> None:
    adapm.setup(KEYS, WORKERS)
    lengths = torch.ones(KEYS) * LENGTH
    lengths[LONG] = 10
    server = adapm.Server(lengths)
    server.enable_sampling_support(
        scheme="local", with_replacement=True, distribution="uniform", min=0, max=int(KEYS / 2)
    )
    ended: list[int] = []
    threads = []
    for worker in range(WORKERS):
        number = rank * WORKERS + worker
        threads.append(threading.Thread(target=run_worker, args=(adapm.Worker(worker, server), number, ended)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    server.shutdown()
    assert len(ended) == WORKERS


for _ in range(5):
    run_node(COMM.rank)
