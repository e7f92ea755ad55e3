# SPDX-License-Identifier: BSD-3-Clause
"""allreduce of syncyte.torch against mpi4torch's Allreduce, float64.

mpi4torch needs torch 2.6 or older, and Syncyte built with that torch. Without mpi4torch nothing is measured."""

import sys

import torch

import syncyte
from paired import WORLD, Row, measure_time
from syncyte.torch import allreduce

try:
    import mpi4torch
except ImportError:
    mpi4torch = None


def measure(count: int, name: str, comm: syncyte.Comm, checks: str, goal: float | None, repeats: int) -> None:
    data = torch.full((count // 8,), 1.0 + WORLD.rank, dtype=torch.float64)
    peer = mpi4torch.COMM_WORLD
    expected = peer.Allreduce(data, mpi4torch.MPI_SUM)
    assert torch.equal(allreduce(data, comm), expected), "the sums differ"
    measure_time(
        Row(f"allreduce of {name}, SYNCYTE_CHECK={checks}", "us", "mpi4torch", "lower", goal),
        1e6,
        lambda: allreduce(data, comm),
        lambda: peer.Allreduce(data, mpi4torch.MPI_SUM),
        repeats=repeats,
    )


def main() -> None:
    if mpi4torch is None:
        print("mpi4torch is not installed: no rows", file=sys.stderr)
        return
    torch.set_num_threads(1)
    unchecked = syncyte.COMM_WORLD.dup(check="off")
    measure(8, "8 B", unchecked, "off", 0.9, 2000)
    measure(8, "8 B", syncyte.COMM_WORLD, "on", None, 2000)
    measure(1 << 20, "1 MiB", syncyte.COMM_WORLD, "on", None, 40)
    measure(32 << 20, "32 MiB", syncyte.COMM_WORLD, "on", 0.6, 3)


if __name__ == "__main__":
    main()
