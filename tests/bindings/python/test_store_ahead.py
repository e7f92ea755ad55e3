# SPDX-License-Identifier: BSD-3-Clause
"""Distinct keys and prefetches of syncyte.StoreWorker, and loaders whose values are pulled ahead.
tests/kv/test_prefetch.cpp tests the operations themselves."""

import gc

import numpy as np
import pytest
import torch

import syncyte

SIZE, RANK = syncyte.COMM_WORLD.size, syncyte.COMM_WORLD.rank
BATCHES = [[7, 0, 7], [1, 2, 3, 4], [7], [], [9, 8, 7]]


@pytest.fixture
def store(comm):
    return syncyte.Store(10, 2)


@pytest.fixture
def worker(store):
    """A worker of a store in which the values of each key are its number."""
    made = store.worker()
    if RANK == 0:
        made.set(np.arange(10), np.repeat(np.arange(10, dtype=np.float32), 2))
    made.barrier()
    yield made
    store.sync()


def has_other_nodes() -> bool:
    return syncyte.COMM_WORLD.topology.nodes > 1


@pytest.mark.parametrize("make", [np.array, torch.tensor, list])
def test_each_distinct_key_is_pulled_once(worker, make):
    before = worker.info().pulled_keys
    for found in (worker.pull_unique(make([7, 3, 7, 3, 0])), worker.ipull_unique(make([7, 3, 7, 3, 0])).wait()):
        values, inverse, keys = found
        assert {type(each) for each in found} == {torch.Tensor if make is torch.tensor else np.ndarray}
        assert keys.tolist() == [7, 3, 0]
        assert inverse.tolist() == [0, 1, 0, 1, 2]
        assert values.tolist() == [[7, 7], [3, 3], [0, 0]]
        assert values[inverse].tolist() == worker.pull([7, 3, 7, 3, 0]).tolist()
        memory = values.untyped_storage().nbytes() if make is torch.tensor else (values.base, values.nbytes)
        assert memory in (24, (None, 24))  # not a view of the room for all keys
    assert worker.info().pulled_keys == before + 2 * (3 + 5)
    square = worker.pull_unique(np.array([[1, 2], [2, 1]]))
    assert square.values[square.inverse].shape == (2, 2, 2)
    assert square.keys.tolist() == [1, 2]
    nothing = worker.pull_unique(np.empty((0, 3), np.int64))
    assert nothing.values.shape == (0, 2)
    assert nothing.inverse.shape == (0, 3)
    with pytest.raises(syncyte.OutOfRangeError, match=r"keys\[1\] is 10; expected 0 to 9"):
        worker.pull_unique([0, 10])


def test_values_of_repeated_keys_are_added_first(worker):
    keys, values = np.array([5, 1, 5]), np.arange(6, dtype=np.float32)
    worker.push_unique(keys, values)
    worker.ipush_unique(torch.tensor([5, 1, 5]), torch.from_numpy(values)).wait()
    assert worker.info().pushed_keys == 4
    worker.barrier()
    assert worker.pull([5, 1]).tolist() == [[5 + 8 * SIZE, 5 + 12 * SIZE], [1 + 4 * SIZE, 1 + 6 * SIZE]]
    with pytest.raises(syncyte.ShapeError, match="values"):
        worker.push_unique(keys, values[:5])


def test_keys_may_differ_in_length(comm):
    store = syncyte.Store(3, [1, 4, 2])
    worker = store.worker()
    worker.push_unique([1, 2, 1], np.ones(10, np.float32))
    store.sync()
    values, inverse, keys = worker.pull_unique([1, 0, 1, 2])
    assert values.tolist() == [2 * SIZE] * 4 + [0] + [SIZE] * 2
    assert (inverse.tolist(), keys.tolist()) == ([0, 1, 0, 2], [1, 0, 2])
    worker.prefetch([2, 0])
    assert worker.pull([2, 0]).tolist() == [SIZE, SIZE, 0]
    store.sync()


def test_a_pull_takes_a_prefetch(worker):
    keys = np.arange(10)
    worker.prefetch(keys)
    worker.flush()
    syncyte.COMM_WORLD.barrier()
    if RANK == 0:
        worker.push([9], np.ones(2, np.float32))
    syncyte.COMM_WORLD.barrier()
    seen = 10 if RANK == 0 or not has_other_nodes() else 9
    assert worker.pull(keys)[9, 0] == seen
    assert worker.pull(keys)[9, 0] == 10
    worker.prefetch(torch.from_numpy(keys))
    worker.drop_prefetches()
    with pytest.raises(syncyte.OutOfRangeError):
        worker.prefetch([10])


class Loader:
    """Batches of keys with their numbers, and an error in the place of a batch."""

    def __init__(self, error_at=None):
        self.error_at = error_at
        self.read = 0

    def __len__(self):
        return len(BATCHES)

    def __iter__(self):
        for number, keys in enumerate(BATCHES):
            if number == self.error_at:
                raise ValueError(f"batch {number}")
            self.read += 1
            yield {"keys": keys, "number": number}


@pytest.mark.parametrize("steps", [1, 2, 15])
def test_a_loader_is_read_ahead(worker, steps):
    loader = Loader()
    ahead = worker.ahead(loader, lambda batch: batch["keys"], steps=steps)
    assert len(ahead) == 5
    for _ in range(2):
        loader.read = 0
        for number, (batch, values) in enumerate(ahead):
            assert batch == {"keys": BATCHES[number], "number": number}
            assert values.tolist() == [[key, key] for key in BATCHES[number]]
            assert loader.read == min(number + 1 + steps, 5)
        assert number == 4


def test_own_pushes_are_in_the_values_of_later_batches(worker):
    keys = np.array([4, RANK, 4])
    key = 9 - RANK % 5  # no other rank on few nodes
    batches = [np.array([key, key])] * 6
    pushes = 0
    for batch, values in worker.ahead(batches, steps=3):
        assert values[0, 0] >= key + pushes
        if SIZE <= 5:
            assert (values == key + pushes).all()
        worker.push_unique(batch, np.full((2, 2), 0.5, np.float32))
        pushes += 1
    for _, found in worker.ahead([keys, keys], unique=True):
        assert found.values[found.inverse].tolist() == worker.pull(keys).tolist()


def test_an_error_comes_in_the_place_of_its_batch(worker):
    seen = []
    with pytest.raises(ValueError, match="batch 3"):
        for batch, _ in worker.ahead(Loader(error_at=3), lambda batch: batch["keys"], steps=2):
            seen.append(batch["number"])
    assert seen == [0, 1, 2]
    seen = []
    with pytest.raises(syncyte.OutOfRangeError, match=r"keys\[1\] is 10"):
        for batch, _ in worker.ahead([[1], [2], [3, 10], [4]], steps=15):
            seen += batch
    assert seen == [1, 2]
    with pytest.raises(KeyError):
        list(worker.ahead(Loader(), lambda batch: batch["labels"]))


def test_a_break_drops_what_was_prefetched(worker):
    everything = [list(range(10))] * 3
    for _ in worker.ahead(everything):
        break
    gc.collect()
    syncyte.COMM_WORLD.barrier()
    worker.push([9], np.ones(2, np.float32))
    syncyte.COMM_WORLD.barrier()
    assert worker.pull(everything[0])[9, 0] == 9 + SIZE
    left = iter(worker.ahead(everything))
    next(left)
    worker.free()
    del left  # after the end of its worker


def test_wrong_arguments(worker):
    for batches in (5, "keys"):
        with pytest.raises(syncyte.DtypeError, match="batches is .*expected an iterable of batches"):
            worker.ahead(batches)
    with pytest.raises(syncyte.DtypeError, match="keys is 'keys'; expected a function"):
        worker.ahead([], "keys")
    for steps, error in ((0, "1 or more"), (16, "at most 15")):
        with pytest.raises(syncyte.ArgumentError, match=f"steps is {steps}; expected {error}"):
            worker.ahead([], steps=steps)
    with pytest.raises(syncyte.DtypeError, match="steps is 1.5; expected an integer"):
        worker.ahead([], steps=1.5)


@pytest.mark.skipif(SIZE > 3, reason="as many more processes as ranks")
def test_batches_of_a_torch_loader(worker):
    """Its processes are forked while values are prefetched."""
    samples = torch.arange(40) % 10
    loader = torch.utils.data.DataLoader(samples, batch_size=8, num_workers=1, multiprocessing_context="fork")
    worker.prefetch(samples)
    count = 0
    for batch, values in worker.ahead(loader):
        assert values.tolist() == [[key, key] for key in batch.tolist()]
        count += 1
    assert count == 5
    worker.pull(samples)
