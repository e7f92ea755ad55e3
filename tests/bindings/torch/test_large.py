# SPDX-License-Identifier: BSD-3-Clause
"""Counts beyond 2^31 on one rank. Two ranks, which together need at most 12 GiB of memory."""

import gc

import numpy as np
import pytest
import torch
from mpi4py import MPI

import syncyte
from syncyte.torch import allgather_along, allreduce, bcast, gather_along, irecv, isend, join_dummies

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
COUNT = 2**31 + 5
PLACES = [0, 1, 2**30 + 7, 2**31 - 1, 2**31, 2**31 + 1, COUNT - 1]  # where a wrong count or offset shows

pytestmark = pytest.mark.skipif(SIZE != 2, reason="for two ranks")


@pytest.fixture(autouse=True)
def freed():
    yield
    gc.collect()
    syncyte.memory.trim()
    MPI.COMM_WORLD.Barrier()


def large(factor: int = 1, dtype: torch.dtype = torch.uint8) -> torch.Tensor:
    """Zeros except at PLACES."""
    result = torch.zeros(COUNT, dtype=dtype)
    result[PLACES] = factor * torch.arange(1, len(PLACES) + 1, dtype=dtype)
    return result


def expect(result: torch.Tensor, factor: int = 1, after: int = 0) -> None:
    """Checks marked elements, and that the `after` elements behind them are all 9."""
    assert result.numel() == COUNT + after
    assert result[PLACES].tolist() == [factor * (i + 1) for i in range(len(PLACES))]
    assert result[COUNT:].tolist() == [9] * after
    assert torch.count_nonzero(result) == len(PLACES) + after


def part() -> torch.Tensor:
    return large() if RANK == 0 else torch.full((3,), 9, dtype=torch.uint8)


def test_allreduce():
    x = large(RANK + 1)
    result = allreduce(x)
    del x
    expect(result, 3)


def test_allgather_of_unequal_parts():
    expect(allgather_along(part()), after=3)


def test_gather_of_unequal_parts():
    result = gather_along(part(), 0, 0)
    if RANK == 0:
        expect(result, after=3)
    else:
        assert result.numel() == 0


def test_bcast():
    result = bcast(large(2, torch.int8) if RANK == 1 else torch.zeros(COUNT, dtype=torch.int8), 1)
    expect(result, 2)


def test_messages():
    if RANK == 0:
        isend(large(3), 1).wait()
    else:
        expect(irecv(torch.empty((), dtype=torch.uint8).expand(COUNT), 0).wait(), 3)


def test_a_gradient():
    """More than 2^31 bytes in backward of a half-precision message."""
    x = torch.zeros(1, dtype=torch.float16, requires_grad=True)
    count = 2**30 + 3  # 2^31 + 6 bytes
    if RANK == 0:
        sent = isend(x.expand(count), 1)
        join_dummies(torch.zeros(()), [sent.wait()]).backward()
        assert x.grad.isinf()  # the sum of 2^30 ones
    else:
        got = irecv(torch.empty((), dtype=torch.float16).expand(count), 0).wait()
        assert got[-1] == 0
        assert got.numel() == count
        got.sum().backward()


def test_numpy_reductions():
    x = np.zeros(COUNT, dtype=np.uint8)
    x[PLACES] = RANK + 1
    assert syncyte.COMM_WORLD.allreduce(x, "sum", out=x) is x
    assert x[PLACES].tolist() == [3] * len(PLACES)
    assert np.count_nonzero(x) == len(PLACES)
    x[PLACES] = 1 << RANK
    syncyte.COMM_WORLD.reduce(x, "bor", root=1, out=x if RANK == 1 else None)
    assert x[PLACES].tolist() == [3 if RANK == 1 else 1] * len(PLACES)
    assert np.count_nonzero(x) == len(PLACES)
    x[PLACES] = RANK
    syncyte.COMM_WORLD.scan(x, "max", out=x)
    assert x[PLACES].tolist() == [RANK] * len(PLACES)


def test_numpy_gather_of_unequal_parts():
    x = np.full(3, 9, dtype=np.uint8)
    if RANK == 1:
        x = np.zeros(COUNT, dtype=np.uint8)
        x[PLACES] = 7
    result = syncyte.COMM_WORLD.gather_along(x, root=0)
    if RANK == 0:
        assert result[:3].tolist() == [9] * 3
        assert len(result) == COUNT + 3
        assert result[[3 + place for place in PLACES]].tolist() == [7] * len(PLACES)
        assert np.count_nonzero(result) == len(PLACES) + 3
