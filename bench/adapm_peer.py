# SPDX-License-Identifier: BSD-3-Clause
"""Pulls and pushes of syncyte.Store against AdaPM's PyTorch bindings, on one node with one worker, in rank 0."""

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import torch

import syncyte
from adapm_nodes import NOT_FOUND, load_adapm, scheduler
from paired import WORLD, Row, measure_rate, print_not_measured

KEYS, LENGTH, BATCH, BATCHES = 1 << 20, 16, 1000, 200
ROWS = [
    Row(f"store: {name} from Python, batches of 1,000 keys", "Mkeys/s", "AdaPM", "higher", 5)
    for name in ("pull", "push")
]

Operation = Callable[[torch.Tensor, torch.Tensor], object]


@contextlib.contextmanager
def adapm_worker(adapm: Any) -> Iterator[object]:
    """The worker of AdaPM's only node: this process."""
    with scheduler(KEYS, "127.0.0.1", 1) as environment:
        os.environ |= environment
        adapm.setup(KEYS, 1)
        server = adapm.Server(LENGTH)
        worker = adapm.Worker(0, server)
        yield worker
        worker.finalize()
        server.shutdown()


def own_batches(store: syncyte.Store) -> tuple[torch.Tensor, ...]:
    """Distinct random keys of this rank."""
    own = torch.from_numpy(store.owner(torch.arange(KEYS)) == WORLD.rank).nonzero().flatten()
    order = torch.randperm(len(own), generator=torch.Generator().manual_seed(7))
    return own[order[: BATCHES * BATCH]].split(BATCH)


def over(batches: tuple[torch.Tensor, ...], operation: Operation, values: torch.Tensor) -> Callable[[], None]:
    def run() -> None:
        for keys in batches:
            operation(keys, values)

    return run


def check_equal(batches: tuple[torch.Tensor, ...], ours: Operation, theirs: Operation) -> None:
    mine, expected = torch.zeros(BATCH, LENGTH), torch.zeros(BATCH, LENGTH)
    for keys in batches:
        ours(keys, mine)
        theirs(keys, expected)
        assert expected.all() and torch.equal(mine, expected), "the values differ"


def measure(ours: syncyte.StoreWorker, peer: object) -> None:
    batches = own_batches(ours.store)
    pushed, pulled = torch.rand(BATCH, LENGTH) + 1, torch.empty(BATCH, LENGTH)
    runs = [
        (over(batches, ours.pull, pulled), over(batches, peer.pull, pulled)),
        (over(batches, ours.push, pushed), over(batches, peer.push, pushed)),
    ]
    for push in runs[1] * 2:
        push()
    check_equal(batches, ours.pull, peer.pull)
    measure_both(runs)
    check_equal(batches, ours.pull, peer.pull)


def measure_both(runs: list[tuple[Callable[[], None], Callable[[], None]]]) -> None:
    for row, (ours, theirs) in zip(ROWS, runs, strict=True):
        measure_rate(row, BATCHES * BATCH * 1e-6, ours, theirs, repeats=5)


def main() -> None:
    adapm = load_adapm()
    if adapm is None:
        for row in ROWS:
            print_not_measured(row, NOT_FOUND)
        return
    torch.set_num_threads(1)
    worker = syncyte.Store(KEYS, LENGTH).worker()
    if WORLD.rank == 0:
        with adapm_worker(adapm) as peer:
            measure(worker, peer)
    else:
        measure_both([(lambda: None, lambda: None)] * 2)


if __name__ == "__main__":
    main()
