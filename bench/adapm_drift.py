# SPDX-License-Identifier: BSD-3-Clause
"""The job of hosts_drift.cpp with intents, on syncyte.compat.adapm and on AdaPM's PyTorch bindings, between two hosts.

Each step pulls a batch of keys, computes for 3 ms and pushes the batch. 90 % of a batch's keys are from the rank's
working set, which drifts, the others are random keys; the batch was intended 20 steps before."""

import sys
import time
from typing import Any

import numpy as np
import torch

from adapm_nodes import NOT_FOUND, Node, busy_cores, node, sent_bytes, serve
from paired import WORLD, Row, print_not_measured, print_row

KEYS, LENGTH = 200000, 16
WORKING_SET, DRIFT, DRAWN, DRAWN_FROM_WORKING_SET = 4000, 40, 1000, 900
ROUNDS, STEPS_OF_ROUND, STEPS_BEFORE_ROUND, STEPS_AHEAD, FILLING_STEPS = 7, 60, 20, 20, 120
STEPS = FILLING_STEPS + (1 + ROUNDS) * (STEPS_BEFORE_ROUND + STEPS_OF_ROUND)  # the first round is a warm-up
COMPUTE = 0.003

ROWS = [
    Row("drift: time in the store, with intents, from Python", "ms/step", "AdaPM", "lower", 1 / 3),
    Row("drift: bytes sent, with intents, from Python", "kB/step", "AdaPM", "lower", 1),
    Row("drift: processor time of an idle node", "cores", "AdaPM", "lower", 0.01 / 0.5),
]


def batches(rank: int, ranks: int) -> list[torch.Tensor]:
    """Distinct keys of each step, in random order."""
    permutation = np.random.default_rng(5).permutation(KEYS)
    part = KEYS // ranks

    def batch(step: int) -> torch.Tensor:
        draw = np.random.default_rng([rank, step])
        first = rank * part + step * DRIFT % (part - WORKING_SET)
        own = permutation[first + draw.integers(0, WORKING_SET, DRAWN_FROM_WORKING_SET)]
        others = draw.integers(0, KEYS, DRAWN - DRAWN_FROM_WORKING_SET)
        return torch.from_numpy(draw.permutation(np.unique(np.concatenate([own, others]))))

    return [batch(step) for step in range(STEPS)]


class Job:
    """The job on a module with the interface of AdaPM's bindings. Its methods are collective."""

    def __init__(self, adapm: Any, rank: int, ranks: int) -> None:
        torch.set_num_threads(1)
        self._ranks = ranks
        self._batches = batches(rank, ranks)
        self._ones, self._pulled = torch.ones(DRAWN * LENGTH), torch.empty(DRAWN * LENGTH)
        self._step = 0
        adapm.setup(KEYS, 1)
        self._server = adapm.Server(LENGTH)
        self._worker = adapm.Worker(0, self._server)

    def fill(self) -> None:
        """The first steps, in which the working set comes."""
        for step in range(STEPS_AHEAD):
            self._worker.intent(self._batches[step], step, step + 1)
        self._meet()
        self._run(FILLING_STEPS)

    def run_round(self) -> list[float]:
        """Milliseconds in the store and kilobytes sent by this host, for each step."""
        self._meet()
        self._run(STEPS_BEFORE_ROUND)
        before = sent_bytes()
        seconds = self._run(STEPS_OF_ROUND)
        self._meet()
        return [1e3 * seconds / STEPS_OF_ROUND, 1e-3 * (sent_bytes() - before) / STEPS_OF_ROUND]

    def idle(self) -> float:
        self._meet()
        return busy_cores(0.5)

    def check(self) -> bool:
        """Whether every seventh key has as many pushes as all batches ask for."""
        expected = np.zeros(KEYS, np.float32)
        for rank in range(self._ranks):
            for keys in batches(rank, self._ranks):
                expected[keys.numpy()] += 1
        self._meet()
        self._meet()
        some = np.arange(0, KEYS, 7)
        values = torch.empty(len(some) * LENGTH)
        self._worker.pull(torch.from_numpy(some), values)
        self._worker.barrier()
        return bool((values.numpy().reshape(-1, LENGTH) == expected[some, None]).all())

    def end(self) -> None:
        self._worker.finalize()
        self._server.shutdown()

    def _run(self, steps: int) -> float:
        """Does steps; returns the seconds in calls of the store."""
        return sum(self._do_step() for _ in range(steps))

    def _do_step(self) -> float:
        worker, step = self._worker, self._step
        keys = self._batches[step]
        values = len(keys) * LENGTH
        begin = time.perf_counter()
        worker.pull(keys, self._pulled[:values])
        if step + STEPS_AHEAD < STEPS:
            worker.intent(self._batches[step + STEPS_AHEAD], step + STEPS_AHEAD, step + STEPS_AHEAD + 1)
        pulled = time.perf_counter()
        time.sleep(COMPUTE)
        computed = time.perf_counter()
        worker.push(keys, self._ones[:values])
        worker.advance_clock()
        self._step += 1
        return pulled - begin + time.perf_counter() - computed

    def _meet(self) -> None:
        self._worker.wait_sync()
        self._worker.barrier()


def means_of_ranks(rounds: list[list[float]]) -> list[list[float]]:
    """For each figure those of all rounds but the warm-up."""
    return np.mean(WORLD.allgather(rounds[1:]), axis=0).T.tolist()


def measure(peer: Node) -> None:
    from syncyte.compat import adapm

    ours = Job(adapm, WORLD.rank, WORLD.size)
    ours.fill()
    peer.call("fill")
    mine, others = [], []
    for round in range(1 + ROUNDS):
        for is_ours in (True, False) if round % 2 == 0 else (False, True):
            if is_ours:
                mine.append([*ours.run_round(), ours.idle()])
            else:
                others.append([*peer.call("run_round"), peer.call("idle")])
    if not all(WORLD.allgather(ours.check() and peer.call("check"))):
        sys.exit("the sums of pushes are wrong")
    ours.end()
    for row, a, b in zip(ROWS, means_of_ranks(mine), means_of_ranks(others), strict=True):
        print_row(row, a, b, [x / y for x, y in zip(a, b, strict=True)])


def main() -> None:
    with node(__file__, KEYS) as peer:
        if peer is not None:
            measure(peer)
    if peer is None:
        for row in ROWS:
            print_not_measured(row, NOT_FOUND)


if __name__ == "__main__":
    main() if len(sys.argv) == 1 else serve(Job)
