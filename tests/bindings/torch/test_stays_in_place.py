# SPDX-License-Identifier: BSD-3-Clause
"""The torch views of a whole tensor stay in shared memory: an operation that would move one raises on its rank."""

import copy
import io
import multiprocessing
import pickle

import numpy as np
import pytest
import torch
import torch.multiprocessing

import syncyte
import syncyte.torch
from syncyte._reducer import Reducer

ROWS = 5


@pytest.fixture
def whole(comm):
    tensor = syncyte.WholeTensor((ROWS * comm.size, 2), torch.float32, local_rows=ROWS, name="table")
    tensor.local[:] = comm.rank + 1
    tensor.sync()
    return tensor


class Rows(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, number):
        return self.rows[number]


def module_with(rows):
    module = torch.nn.Module()
    module.table = torch.nn.Parameter(rows)
    return module


def load_with(start):
    return lambda rows: next(
        iter(torch.utils.data.DataLoader(Rows(rows), num_workers=1, multiprocessing_context=start))
    )


def shared_by_name(rows):
    before = torch.multiprocessing.get_sharing_strategy()
    torch.multiprocessing.set_sharing_strategy("file_system")
    try:
        multiprocessing.get_context("spawn").SimpleQueue().put(rows)
    finally:
        torch.multiprocessing.set_sharing_strategy(before)


MOVES = {
    "share_memory_": lambda rows: rows.share_memory_(),
    "of a slice": lambda rows: rows[1:].share_memory_(),
    "of a parameter": lambda rows: torch.nn.Parameter(rows).share_memory_(),
    "of a module": lambda rows: module_with(rows).share_memory(),
    "queue": lambda rows: multiprocessing.get_context("spawn").SimpleQueue().put(rows),
    "queue by name": shared_by_name,
    "spawn": load_with("spawn"),
    "forkserver": load_with("forkserver"),
}


@pytest.mark.parametrize("name", MOVES)
def test_what_would_move_it_raises(whole, comm, name):
    local = whole.local
    with pytest.raises(syncyte.UnsupportedError, match=r"moving it.*tensor\.clone\(\)"):
        MOVES[name](local)
    local.add_(10)
    whole.sync()
    last = comm.size - 1
    assert whole[ROWS * last].tolist() == [last + 11.0] * 2
    whole.sync()


def test_the_node_view_and_a_reducers_pieces_stay_too(whole, comm):
    reducer = Reducer([(torch.float32, 4)], comm)
    for view in (whole.node, reducer.bucket(0)):
        with pytest.raises(syncyte.UnsupportedError, match="moving it"):
            view.share_memory_()
    comm.barrier()


def test_copies_are_as_any_other(whole, comm):
    local = whole.local
    for made in (local.clone(), copy.deepcopy(local), pickle.loads(pickle.dumps(local)), saved_and_loaded(local)):
        assert torch.equal(made, local)
        assert made.share_memory_().is_shared()
    assert torch.utils.data.default_collate([local[0], local[1]]).shape == (2, 2)
    comm.barrier()


def saved_and_loaded(tensor):
    file = io.BytesIO()
    torch.save({"table": tensor}, file)
    file.seek(0)
    return torch.load(file)["table"]


def test_forked_workers_see_the_rows_in_place(whole, comm):
    loader = torch.utils.data.DataLoader(
        Rows(whole.local), num_workers=1, multiprocessing_context="fork", batch_size=ROWS
    )
    assert torch.equal(next(iter(loader)), whole.local)
    comm.barrier()


@pytest.mark.parametrize("make", [torch.ones, lambda *shape: np.ones(shape, np.float32)], ids=["torch", "numpy"])
def test_a_wrapped_array_stays_while_it_is_wrapped(comm, make):
    array = make(2, 3)
    tensor = syncyte.WholeTensor.wrap(array)
    with pytest.raises(syncyte.UnsupportedError, match="moving it"):
        tensor.local.share_memory_()
    tensor.local[0] = 7
    tensor.sync()
    assert tensor[2 * (comm.size - 1)].tolist() == [7.0] * 3
    again = syncyte.WholeTensor.wrap(array)
    tensor.free()
    again.sync()
    again.sync()
    with pytest.raises(syncyte.UnsupportedError, match="moving it"):
        again.local.share_memory_()
    again.free()
    comm.collect()
    syncyte.WholeTensor((1,)).sync()
    if isinstance(array, torch.Tensor):
        assert type(array.untyped_storage()) is torch.UntypedStorage
        assert array.share_memory_().is_shared()


def test_memory_that_is_shared_already_may_be_wrapped_and_shared(comm):
    array = torch.ones(2, 3).share_memory_()
    tensor = syncyte.WholeTensor.wrap(array)
    multiprocessing.get_context("spawn").SimpleQueue().put(tensor.local)
    tensor.local[0] = 7
    tensor.sync()
    assert tensor[2 * (comm.size - 1)].tolist() == [7.0] * 3
    comm.barrier()


GIVEN_AWAY = {
    "data": lambda local: setattr(local, "data", torch.zeros(local.shape)),
    "set_": lambda local: local.set_(torch.zeros(local.shape)),
}


@pytest.mark.parametrize("collective", ["sync", "sync_grad", "zero_grad"])
@pytest.mark.parametrize("name", GIVEN_AWAY)
def test_a_view_that_was_given_other_memory_is_every_ranks_error(whole, comm, name, collective):
    last = comm.size - 1
    whole.requires_grad_()
    local = whole.local
    if comm.rank == last:
        with torch.no_grad():
            GIVEN_AWAY[name](local)
        with pytest.raises(syncyte.ArgumentError, match=r"local of tensor 'table' lies at 0x\w+, but .*local\[:\] = "):
            whole.local  # noqa: B018
    with pytest.raises(syncyte.ArgumentError, match="local of tensor 'table' lies at") as caught:
        getattr(whole, collective)()
    if comm.rank != last:
        assert f"rank {last}" in str(caught.value)
    assert comm.allreduce(1) == comm.size


def test_gradients_are_not_recorded_with_respect_to_other_memory(whole, comm):
    last = comm.size - 1
    local = whole.local
    if comm.rank == last:
        local.data = torch.zeros(ROWS, 2)
    with pytest.raises(syncyte.ArgumentError, match="local of tensor 'table' lies at"):
        whole.requires_grad_()
    comm.barrier()


USES = {
    "gather": lambda whole: whole.gather([0]),
    "index": lambda whole: whole[0],
    "scatter": lambda whole: whole.scatter_([0], np.zeros((1, 2), np.float32)),
    "flush": lambda whole: whole.flush(),
    "array": lambda whole: np.asarray(whole),
}


@pytest.mark.parametrize("name", USES)
def test_every_use_looks_whether_a_view_was_given_other_memory(whole, name):
    local = whole.local
    memory = local.data
    local.data = torch.zeros_like(memory)
    with pytest.raises(syncyte.ArgumentError, match="local of tensor 'table' lies at"):
        USES[name](whole)
    local.data = memory
    USES[name](whole)


@pytest.mark.parametrize("name", ["save", "load", "gather"])
def test_collectives_tell_all_ranks_of_other_memory(whole, comm, tmp_path, name):
    uses = {
        "save": lambda: syncyte.checkpoint.save(tmp_path / "table.h5", {"w": whole}, comm),
        "load": lambda: syncyte.checkpoint.load(tmp_path / "table.h5", {"w": whole}, comm),
        "gather": lambda: whole.gather(torch.tensor([0]), collective=True),
    }
    whole.requires_grad_()
    local = whole.local
    memory = local.data
    if comm.rank == comm.size - 1:
        local.data = torch.zeros_like(memory)
    with pytest.raises(ValueError, match="local of tensor 'table' lies at"):
        uses[name]()
    local.data = memory
    comm.barrier()


def test_a_view_that_was_written_with_gradients_is_found(whole):
    whole.local[:] = torch.ones(ROWS, 2, requires_grad=True)
    with pytest.raises(syncyte.ArgumentError, match=r"records gradients, because .* local.detach_\(\)"):
        whole[0]
    whole._cache["local", "torch"].detach_()
    assert whole[whole.rows().start].tolist() == [1, 1]


def test_after_a_view_that_could_not_be_made_sync_works(comm, monkeypatch):
    tensor = syncyte.WholeTensor((comm.size,), torch.float32)

    def fail(*_):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(syncyte._arrays, "view", fail)
        with pytest.raises(MemoryError):
            tensor.local.add_(1)
    tensor.sync()
    assert tensor.local.tolist() == [0]
