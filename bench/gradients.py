# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of collectives of syncyte.torch against raw mpi4py calls into existing buffers, float64."""

import numpy
import torch
from mpi4py import MPI

from paired import WORLD, Row, measure_time
from syncyte.torch import allgather_along, allreduce, alltoall_along

MIB = (1 << 20) // 8  # float64


def forward_and_backward_of_allreduce() -> None:
    x = torch.full((MIB,), 1.0 + WORLD.rank, dtype=torch.float64, requires_grad=True)
    cotangent = torch.ones_like(x)
    source, target = x.detach().numpy(), numpy.empty(MIB)

    def ours() -> None:
        torch.autograd.grad(allreduce(x), x, cotangent)

    def raw() -> None:
        WORLD.Allreduce(source, target, MPI.SUM)
        WORLD.Allreduce(target, source_of_backward, MPI.SUM)

    source_of_backward = numpy.empty(MIB)
    measure_time(
        Row(
            "forward and backward of allreduce of 1 MiB", "us", "two MPI_Allreduce into existing buffers", "lower", 1.3
        ),
        1e6,
        ours,
        raw,
        repeats=40,
    )


def backward_of_allgather() -> None:
    x = torch.ones(MIB, dtype=torch.float64, requires_grad=True)
    y = allgather_along(x, counts=[MIB] * WORLD.size)
    cotangent = torch.randn_like(y)
    part, whole = numpy.empty(MIB), cotangent.numpy()
    (gradient,) = torch.autograd.grad(y, x, cotangent, retain_graph=True)
    WORLD.Reduce_scatter(whole, part, [MIB] * WORLD.size, MPI.SUM)
    assert numpy.allclose(gradient.numpy(), part), "the sums differ"
    measure_time(
        Row("backward of allgather of 1 MiB a rank", "us", "one MPI_Reduce_scatter", "lower", 1.3),
        1e6,
        lambda: torch.autograd.grad(y, x, cotangent, retain_graph=True),
        lambda: WORLD.Reduce_scatter(whole, part, [MIB] * WORLD.size, MPI.SUM),
        repeats=20,
    )


def alltoall() -> None:
    rows, columns = 512, 512 * WORLD.size
    x = torch.randn(rows, columns, dtype=torch.float64)
    packed = numpy.empty((WORLD.size, rows, columns // WORLD.size))
    received = numpy.empty((WORLD.size * rows, columns // WORLD.size))
    parts = x.numpy().reshape(rows, WORLD.size, -1).transpose(1, 0, 2)
    counts = [rows * columns // WORLD.size] * WORLD.size

    def raw() -> None:
        packed[...] = parts
        WORLD.Alltoallv([packed, counts], [received, counts])

    raw()
    result = alltoall_along(x, 0, 1, columns // WORLD.size)
    assert numpy.array_equal(result.numpy(), received), "the results differ"
    measure_time(
        Row("alltoall of 2 MiB a part", "us", "packing and MPI_Alltoallv", "lower", 1.2),
        1e6,
        lambda: alltoall_along(x, 0, 1, columns // WORLD.size),
        raw,
        repeats=20,
    )


def main() -> None:
    torch.set_num_threads(1)
    forward_and_backward_of_allreduce()
    backward_of_allgather()
    alltoall()


if __name__ == "__main__":
    main()
