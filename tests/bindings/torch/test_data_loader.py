# SPDX-License-Identifier: BSD-3-Clause
"""Forked workers of a DataLoader: they read rows, and open checkpoints with COMM_SELF, as h5py users do."""

import pytest
import torch
from mpi4py import MPI
from torch.utils.data import DataLoader, Dataset

import syncyte

WORLD = syncyte.COMM_WORLD
RANK, SIZE = WORLD.rank, WORLD.size
LENGTH = 6


def batches(dataset):
    """All items, loaded by two workers. A worker that hangs is an error after 20 s."""
    loader = DataLoader(dataset, batch_size=2, num_workers=2, multiprocessing_context="fork", timeout=20)
    items = iter(loader)
    try:
        return torch.cat(list(items))
    finally:
        items._shutdown_workers()  # collected with an exception's frames, it would wait 5 s for each worker


class Items(Dataset):
    def __len__(self):
        return LENGTH


class OfCheckpoint(Items):
    """Opens the file at the first item, in the worker."""

    def __init__(self, path, comm):
        self.path, self.comm, self.file = path, comm, None

    def __getitem__(self, number):
        if self.file is None:
            self.file = syncyte.checkpoint.open(self.path, self.comm)
        return self.file.read("rows", (number, number + 1), torch=True)[0]


class OfTensor(Items):
    def __init__(self, tensor):
        self.tensor = tensor

    def __getitem__(self, number):
        return self.tensor.gather([number])[0]


class Summed(Items):
    def __getitem__(self, number):
        return torch.from_numpy(WORLD.allreduce(number + torch.zeros(1).numpy()))


@pytest.fixture
def rows():
    return torch.arange(3.0 * LENGTH).reshape(LENGTH, 3)


@pytest.fixture
def path(rows, tmp_path):
    name = MPI.COMM_WORLD.bcast(str(tmp_path / "rows.h5"))
    syncyte.checkpoint.save(name, {"rows": rows})
    return name


def test_a_worker_opens_a_checkpoint_with_comm_self(path, rows):
    assert torch.equal(batches(OfCheckpoint(path, syncyte.COMM_SELF)), rows)
    assert WORLD.allreduce(1) == SIZE, "the ranks' next collective is as if there were no workers"


@pytest.mark.skipif(SIZE == 1, reason="the world is one rank, which a worker may use")
def test_a_worker_that_opens_a_checkpoint_with_comm_world_is_told_the_way_out(path):
    with pytest.raises(syncyte.UnsupportedError, match=f"forked child of rank {RANK}.*use COMM_SELF"):
        batches(OfCheckpoint(path, WORLD))
    assert WORLD.allreduce(1) == SIZE


@pytest.mark.skipif(SIZE == 1, reason="the world is one rank, which a worker may use")
def test_a_collective_in_a_worker_is_refused_and_the_ranks_sums_stay_right():
    with pytest.raises(syncyte.UnsupportedError, match=f"forked child of rank {RANK}"):
        batches(Summed())
    assert WORLD.allreduce(RANK + 1) == SIZE * (SIZE + 1) // 2


def test_a_worker_reads_rows_of_a_whole_tensor(rows):
    tensor = syncyte.WholeTensor((LENGTH, 3), "float32")
    if RANK == 0:
        tensor[:] = rows
    tensor.sync()
    assert torch.equal(batches(OfTensor(tensor)), rows)
    tensor.sync()
