# SPDX-License-Identifier: BSD-3-Clause
"""Non-blocking collectives against the blocking ones; orders of waits, errors on one rank, dropped requests."""

import gc
import random

import numpy as np
import pytest

import syncyte


def lengths_of(world):
    return [(rank + 2) % 4 for rank in range(world.size)]


def pairs(world, seed):
    """Started operations, each with the result of the blocking one."""
    counts, rank = lengths_of(world), world.rank
    values = np.arange(12.0).reshape(4, 3) + 100 * rank + seed
    part = np.arange(2.0 * counts[rank]).reshape(2, counts[rank])[:, ::-1] + rank
    whole = np.arange(2.0 * sum(counts)).reshape(sum(counts), 2) * (rank + 1)
    root = seed % world.size
    yield world.iallreduce(values, "max"), world.allreduce(values, "max")
    yield world.ibcast(values.copy(), root), world.bcast(values.copy(), root)
    yield world.iallgather_along(part, -1, counts=counts), world.allgather_along(part, axis=-1, counts=counts)
    yield world.ireduce_scatter_along(whole, counts=counts), world.reduce_scatter_along(whole, counts=counts)
    given = {"gather_counts": counts}
    yield world.ialltoall_along(part, 1, 0, **given), world.alltoall_along(part, 1, 0, **given)


def test_results_in_any_order(world):
    started = [pair for seed in range(6) for pair in pairs(world, seed)]
    random.Random(world.rank).shuffle(started)
    for request, expected in started:
        np.testing.assert_array_equal(request.wait(), expected)
        assert request.test()
        with pytest.raises(syncyte.HandleError, match="waited for before"):
            request.wait()


def test_out_and_in_place(world):
    array, out = np.full(5, world.rank + 1.0), np.zeros(5)
    total = world.size * (world.size + 1) / 2
    request = world.iallreduce(array, out=out)
    while not request.test():
        pass
    assert request.wait() is out
    assert (out == total).all()
    assert world.iallreduce(array, out=array).wait() is array
    assert (array == total).all()


def test_wait_any_finds_each_end_once(world):
    store = syncyte.Store(10, 3)
    worker = store.worker()
    worker.push([1], np.ones(3, np.float32))
    worker.barrier()
    pulled = worker.ipull([1])
    requests = [world.iallreduce(np.ones(2)), pulled, world.ibcast(np.arange(2), 0)]
    ended = []
    while (found := syncyte.wait_any(requests)) is not None:
        place, result = found
        assert requests[place].test()
        ended.append((place, result.tolist()))
    assert dict(ended) == {0: [1.0 * world.size] * 2, 1: [[1.0 * world.size] * 3], 2: [0, 1]}
    assert len(ended) == 3
    assert syncyte.wait_any([]) is None


def test_wait_any_raises_the_error_of_the_request_that_has_ended(world):
    wrong = world.rank == world.size - 1
    try:
        request = world.iallreduce(np.ones(3), "nonsense" if wrong else "sum")
    except ValueError:
        assert wrong
    else:
        with pytest.raises(ValueError, match="nonsense|op is"):
            syncyte.wait_any([request])
        assert request.test(), "it is over"
        assert syncyte.wait_any([request]) is None
    world.barrier()  # makes progress on the refused start


@pytest.mark.parametrize("wrong", ["op", "root", "counts"])
def test_an_error_on_one_rank(world, wrong):
    odd = world.rank == world.size - 1

    def start():
        if wrong == "op":
            return world.iallreduce(np.zeros(3), "nonsense" if odd else "sum")
        if wrong == "root":
            return world.ibcast(np.zeros(3), 99 if odd else 0)
        return world.iallgather_along(np.zeros(1), counts=[1] * (world.size + odd))

    before = world.iallreduce(np.ones(2))
    if odd:
        with pytest.raises(syncyte.Error if wrong != "op" else (syncyte.Error, ValueError), match=wrong):
            start()
    else:
        request = start()
        with pytest.raises(syncyte.Error, match=f"failed on rank {world.size - 1} of world: .*{wrong}"):
            request.wait()
    after = world.iallreduce(np.ones(2))
    assert after.wait()[0] == before.wait()[0] == world.size


def test_a_mismatch(world):
    if world.size == 1:
        pytest.skip("needs ranks that differ")
    request = world.iallreduce(np.zeros(3 if world.rank else 4))
    with pytest.raises(syncyte.MismatchError, match="elements of output is"):
        request.wait()


def test_a_dropped_request_warns_and_is_completed(world):
    values = np.full(1000, float(world.rank))
    request = world.iallreduce(values, out=values)
    if not request.test():
        with pytest.warns(ResourceWarning, match="comm_iallreduce.* was dropped"):
            del request
            gc.collect()
    world.barrier()
    for _ in range(50):
        world.iallreduce(np.ones(1)).wait()
    assert values[0] == sum(range(world.size))
