# SPDX-License-Identifier: BSD-3-Clause
"""syncyte.torch.RowLoader: batches of rows that threads gather ahead of their use."""

import gc
import os
import threading
import time

import pytest
import torch

import syncyte
from syncyte.torch import RowLoader

ROWS, WIDTH = 50, 3


@pytest.fixture
def table(comm):
    tensor = syncyte.WholeTensor((ROWS, WIDTH), torch.float32, comm=comm)
    tensor.local[:] = values()[tensor.rows()]
    tensor.sync()
    return tensor


def values() -> torch.Tensor:
    return torch.arange(ROWS * WIDTH, dtype=torch.float32).reshape(ROWS, WIDTH)


def batches(count: int) -> list[torch.Tensor]:
    return [torch.tensor([number % ROWS, (7 * number) % ROWS]) for number in range(count)]


def loading_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("syncyte.RowLoader")]


@pytest.fixture(autouse=True)
def no_thread_left():
    yield
    gc.collect()
    assert not loading_threads()


@pytest.mark.parametrize(("depth", "threads"), [(1, 1), (2, 1), (3, 4), (100, 2)])
def test_values_in_order(table, depth, threads):
    loader = RowLoader(table, batches(40), depth, threads=threads)
    assert len(loader) == 40
    for _ in range(2):  # a list can be iterated again
        found = list(loader)
        assert [rows.tolist() for rows in found] == [values()[index].tolist() for index in batches(40)]
    assert not loading_threads()


def test_items_with_labels(table):
    items = [(index, number) for number, index in enumerate(batches(5))]
    for number, (rows, label) in enumerate(RowLoader(table, iter(items))):
        assert label == number
        assert torch.equal(rows, values()[items[number][0]])
    assert list(RowLoader(table, [])) == []


def test_data_loader(table):
    samples = torch.utils.data.TensorDataset(torch.arange(ROWS), torch.arange(ROWS) % 2)
    seen = [(rows, labels) for rows, labels in RowLoader(table, torch.utils.data.DataLoader(samples, batch_size=8))]
    assert torch.equal(torch.cat([rows for rows, _ in seen]), values())
    assert torch.equal(torch.cat([labels for _, labels in seen]), torch.arange(ROWS) % 2)


def test_batches_are_separate_tensors(table):
    big = torch.arange(ROWS).repeat(2000)  # memory of large batches is recycled
    kept = [rows for rows in RowLoader(table, [big, big.flip(0), big])]
    assert torch.equal(kept[0], values()[big])
    assert torch.equal(kept[1], values()[big.flip(0)])
    addresses = {rows.data_ptr() for rows in RowLoader(table, [big] * 30)}
    assert len(addresses) < 10


def test_no_more_than_depth_ahead(table):
    read = []

    def items():
        for number, index in enumerate(batches(30)):
            read.append(number)
            yield index

    iterator = iter(RowLoader(table, items(), 3))
    deadline = time.monotonic() + 10
    while len(read) < 3 and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.05)
    assert read == [0, 1, 2]
    next(iterator)
    iterator.close()
    assert len(read) <= 4
    with pytest.raises(StopIteration):
        next(iterator)


def test_no_gradients(table):
    table.requires_grad_()
    assert not any(rows.requires_grad for rows in RowLoader(table, batches(2)))


def test_an_index_out_of_range(table):
    items = [*batches(3), torch.tensor([0, ROWS]), *batches(3)]
    iterator = iter(RowLoader(table, items))
    for index in batches(3):
        assert torch.equal(next(iterator), values()[index])
    with pytest.raises(syncyte.OutOfRangeError, match=r"batch 3: .*index 50 at position 1"):
        next(iterator)
    assert not loading_threads()
    with pytest.raises(StopIteration):
        next(iterator)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_of_the_items(table, threads):
    def items():
        yield from batches(2)
        raise KeyError("no such sample")

    found = []
    with pytest.raises(KeyError, match="batch 2: no such sample"):
        for rows in RowLoader(table, items(), threads=threads):
            found.append(rows)
    assert len(found) == 2
    with pytest.raises(TypeError, match="batch 0: the index is a list"):
        list(RowLoader(table, [[[0, 1]]]))
    with pytest.raises(TypeError, match="batch 0: the index is a tuple"):
        list(RowLoader(table, [()]))


@pytest.mark.parametrize("threads", [1, 3])
def test_early_exit(table, threads):
    for number, _ in enumerate(RowLoader(table, batches(1000), 4, threads=threads)):
        if number == 2:
            break
    gc.collect()
    assert not loading_threads()
    iterator = iter(RowLoader(table, batches(1000), 4, threads=threads))
    del iterator
    gc.collect()
    assert not loading_threads()


def test_several_at_once(table):
    for first, second in zip(RowLoader(table, batches(20)), RowLoader(table, batches(20)), strict=True):
        assert torch.equal(first, second)


def test_wrong_arguments(table):
    for arguments, named in (((table.local, []), "tensor"), ((table, 3), "index_batches"), ((table, "rows"), "index")):
        with pytest.raises(TypeError, match=named):
            RowLoader(*arguments)
    with pytest.raises(ValueError, match="depth"):
        RowLoader(table, [], 0)
    with pytest.raises(ValueError, match="threads"):
        RowLoader(table, [], threads=0)


def test_a_freed_tensor(table):
    loader = RowLoader(table, batches(3))
    table.free()
    with pytest.raises(syncyte.HandleError, match="batch 0"):
        next(iter(loader))


def test_forked_child(table):
    loader = RowLoader(table, batches(3))
    iterator = iter(loader)
    next(iterator)
    child = os.fork()
    if child == 0:
        status = 0
        for use in (lambda: next(iterator), lambda: iter(loader), lambda: RowLoader(table, [])):
            try:
                use()
                status = 1
            except NotImplementedError:
                pass
        iterator.close()
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    iterator.close()
