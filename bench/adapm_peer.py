# SPDX-License-Identifier: BSD-3-Clause
"""Pulls and pushes of syncyte.Store against AdaPM's PyTorch bindings, on one node with one worker, in rank 0.

SYNCYTE_ADAPM_SOURCE names AdaPM's folder; its bindings/ holds the built extension. Without it nothing is measured."""

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import torch

import syncyte
from paired import WORLD, Row, measure_rate

KEYS, LENGTH, BATCH, BATCHES = 1 << 20, 16, 1000, 200
SOURCE = os.environ.get("SYNCYTE_ADAPM_SOURCE", "")
BINDINGS = os.path.join(SOURCE, "bindings")
adapm = None
if SOURCE:
    sys.path.append(BINDINGS)
    with contextlib.suppress(ImportError):
        import adapm

# A process without MPI. prctl(PR_SET_PDEATHSIG, SIGKILL) ends it when rank 0 ends.
SCHEDULER = f"""
import ctypes, sys, torch
ctypes.CDLL(None).prctl(1, 9)
sys.path.append({BINDINGS!r})
import adapm
adapm.scheduler({KEYS}, 1)
"""

Operation = Callable[[torch.Tensor, torch.Tensor], object]


@contextlib.contextmanager
def adapm_worker() -> Iterator[object]:
    """The worker of AdaPM's only node: this process."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    os.environ |= {
        "DMLC_NUM_SERVER": "1",
        "DMLC_ROLE": "server",
        "DMLC_PS_ROOT_URI": "127.0.0.1",
        "DMLC_PS_ROOT_PORT": str(port),
    }
    scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER], env={**os.environ, "DMLC_ROLE": "scheduler"})
    try:
        adapm.setup(KEYS, 1)
        server = adapm.Server(LENGTH)
        worker = adapm.Worker(0, server)
        yield worker
        worker.finalize()
        server.shutdown()
        scheduler.wait(60)
    finally:
        scheduler.kill()
        scheduler.wait()


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
    for name, (ours, theirs) in zip(("pull", "push"), runs, strict=True):
        measure_rate(
            Row(f"store: {name} from Python, batches of 1,000 keys", "Mkeys/s", "AdaPM", "higher", 5),
            BATCHES * BATCH * 1e-6,
            ours,
            theirs,
            repeats=5,
        )


def main() -> None:
    if adapm is None:
        if WORLD.rank == 0:
            print("SYNCYTE_ADAPM_SOURCE names no AdaPM with built bindings: no rows", file=sys.stderr)
        return
    torch.set_num_threads(1)
    worker = syncyte.Store(KEYS, LENGTH).worker()
    if WORLD.rank == 0:
        with adapm_worker() as peer:
            measure(worker, peer)
    else:
        measure_both([(lambda: None, lambda: None)] * 2)


if __name__ == "__main__":
    main()
