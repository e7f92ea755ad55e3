# SPDX-License-Identifier: BSD-3-Clause
"""Forward and backward of a ParallelLinear, 2048 to 2048, 512 samples, float32, against torch.nn.Linear of this rank's
part and one raw MPI_Allreduce of the bytes that any implementation has to reduce: the input's gradient if columns are
cut, the result if rows are."""

import numpy
import torch
from mpi4py import MPI

from paired import WORLD, Row, measure_time
from syncyte.nn import ParallelLinear

WIDTH, SAMPLES = 2048, 512


def measure(dim: int, what: str) -> None:
    torch.manual_seed(1)
    layer = ParallelLinear(WIDTH, WIDTH, dim=dim)
    dense = torch.nn.Linear(layer.weight.size(1), layer.weight.size(0))
    with torch.no_grad():
        dense.weight.copy_(layer.weight)
        dense.bias.copy_(layer.bias)
    x = torch.randn(SAMPLES, layer.weight.size(1), requires_grad=True)
    cotangent = torch.randn(SAMPLES, layer.weight.size(0))
    partial, total = numpy.ones((SAMPLES, WIDTH), numpy.float32), numpy.empty((SAMPLES, WIDTH), numpy.float32)

    def ours() -> None:
        layer(x).backward(cotangent)

    def reference() -> None:
        dense(x).backward(cotangent)
        WORLD.Allreduce(partial, total, MPI.SUM)

    row = Row(
        f"ParallelLinear, {what}, forward and backward", "ms", "nn.Linear of the part, one MPI_Allreduce", "lower", 1.15
    )
    measure_time(row, 1e3, ours, reference, repeats=3)


def main() -> None:
    torch.set_num_threads(1)
    measure(1, "columns")
    measure(0, "rows, of an input in parts")


if __name__ == "__main__":
    main()
