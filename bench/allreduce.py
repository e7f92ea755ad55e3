# SPDX-License-Identifier: BSD-3-Clause
"""torch.ops.syncyte.allreduce against mpi4py's Allreduce into an existing buffer, float64."""

import torch
from mpi4py import MPI

import syncyte
from paired import WORLD, Row, measure_time
from syncyte.torch import allreduce

# bytes, name, repeats in a round, goal without checks, goal with the default checks
SIZES = [
    (8, "8 B", 2000, 4.0, 5.5),
    (8 << 10, "8 KiB", 1000, 1.4, 1.8),
    (1 << 20, "1 MiB", 40, None, 1.1),
    (32 << 20, "32 MiB", 3, None, 1.15),
]


def measure(
    size: tuple[int, str, int, float | None, float], comm: syncyte.Comm, checks: str, goal: float | None
) -> None:
    count, name, repeats, *_ = size
    data = torch.full((count // 8,), 1.0 + WORLD.rank, dtype=torch.float64)
    source, target = data.numpy(), data.clone().numpy()
    result = allreduce(data, comm)
    WORLD.Allreduce(source, target, MPI.SUM)
    assert torch.equal(result, torch.from_numpy(target)), "the sums differ"
    row = Row(f"allreduce of {name}, SYNCYTE_CHECK={checks}", "us", "mpi4py into an existing buffer", "lower", goal)
    measure_time(
        row, 1e6, lambda: allreduce(data, comm), lambda: WORLD.Allreduce(source, target, MPI.SUM), repeats=repeats
    )


def main() -> None:
    torch.set_num_threads(1)
    unchecked = syncyte.COMM_WORLD.dup(check="off")
    for size in SIZES:
        if size[3] is not None:
            measure(size, unchecked, "off", size[3])
        measure(size, syncyte.COMM_WORLD, "on", size[4])


if __name__ == "__main__":
    main()
