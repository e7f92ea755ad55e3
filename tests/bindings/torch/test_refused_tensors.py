# SPDX-License-Identifier: BSD-3-Clause
"""A tensor of an unsupported layout or device on one rank of a collective: every rank raises."""

import contextlib
import functools

import pytest
import torch
from mpi4py import MPI

import syncyte
from ranks import works
from syncyte.torch import (
    allgather_along,
    allreduce,
    alltoall_along,
    bcast,
    bcast_,
    exscan,
    gather,
    gather_along,
    halo_exchange,
    iallgather_along,
    iallreduce,
    isend,
    reduce,
    reduce_,
    reduce_scatter_along,
    scan,
    scatter_along,
)

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
ODD = SIZE - 1
ALL = 4 if RANK == 0 else 0  # rows that this rank gets: rank 0 gets all

LAYOUTS = {
    "sparse": lambda x: x.to_sparse(),
    "sparse rows": lambda x: x.to_sparse_csr(),
    "meta": lambda x: x.to("meta"),
    "quantised": lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8),
}
if torch.backends.mkldnn.is_available():
    LAYOUTS["mkldnn"] = lambda x: x.to_mkldnn()
TEXT = "expected a dense tensor|expected a tensor with memory"

OPERATIONS = {
    "allreduce": allreduce,
    "max": lambda x: allreduce(x, op="max"),
    "bcast": bcast,
    "reduce": reduce,
    "scan": scan,
    "exscan": exscan,
    "allgather": allgather_along,
    "allgather with counts": lambda x: torch.ops.syncyte.allgather_along.counts(
        x, syncyte.COMM_WORLD.handle, 0, [4] * SIZE
    ),
    "gather": gather_along,
    "scatter": lambda x: scatter_along(x, ALL, 0, ODD),
    "reduce_scatter": lambda x: reduce_scatter_along(x, ALL),
    "alltoall": lambda x: alltoall_along(x, 0, 1, ALL),
    "bcast_": bcast_,
    "reduce_": reduce_,
    "iallreduce": lambda x: iallreduce(x).wait(),
    "iallgather": lambda x: iallgather_along(x, counts=[4] * SIZE).wait(),
}


def given(layout: str) -> torch.Tensor:
    x = torch.ones(4, 4)
    return LAYOUTS[layout](x) if RANK == ODD else x


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_on_one_rank_it_is_every_ranks_error(name, layout):
    with pytest.raises(NotImplementedError, match=TEXT):
        OPERATIONS[name](given(layout))
    assert works()


@pytest.mark.parametrize("layout", ["sparse", "meta"])
def test_with_gradients_too(layout):
    x = given(layout).requires_grad_()
    with pytest.raises(NotImplementedError, match=TEXT):
        allreduce(x)
    assert works()


@pytest.mark.parametrize("layout", ["sparse", "meta"])
def test_neighbours_of_a_halo_are_told(layout):
    ring = syncyte.Halo(syncyte.COMM_WORLD.cartesian([0], True), (4, 4), "float32", 1)
    is_near = (RANK - ODD) % SIZE in (0, 1, SIZE - 1)
    with pytest.raises((NotImplementedError, ValueError, RuntimeError)) if is_near else contextlib.nullcontext():
        halo_exchange(given(layout), ring)
    assert torch.equal(halo_exchange(torch.ones(4, 4), ring), torch.ones(4, 4))
    assert works()


def test_an_index_of_a_collective_gather(comm):
    whole = syncyte.WholeTensor((2 * SIZE, 2), torch.float64, comm=comm)
    whole.requires_grad_()
    index = torch.tensor([0, 1])
    with pytest.raises(NotImplementedError, match=TEXT):
        gather(whole, index.to_sparse() if RANK == ODD else index, collective=True)
    assert gather(whole, index, collective=True).shape == (2, 2)


def test_a_message_fails_alone():
    if RANK == ODD:
        with pytest.raises(NotImplementedError, match=TEXT):
            isend(torch.ones(2).to_sparse(), 0)
    assert works()


def test_fake_tensors_have_meta_kernels_still():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        assert allreduce(torch.empty(3)).shape == (3,)


def test_compiled_functions_have_kernels_still():
    run = torch.compile(functools.partial(allreduce), fullgraph=True, backend="aot_eager")
    assert run(torch.ones(2)).tolist() == [SIZE] * 2
