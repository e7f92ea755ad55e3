# SPDX-License-Identifier: BSD-3-Clause
"""init_process_group("syncyte"): c10d's operations against their definitions, on any number of ranks."""

import datetime
import gc
import os
import time

import pytest
import torch
import torch.distributed as dist

import syncyte
import syncyte.distributed
from syncyte import _launcher

RANK, SIZE = syncyte.COMM_WORLD.rank, syncyte.COMM_WORLD.size
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE
TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int32,
         torch.int64, torch.bool, torch.complex64]  # fmt: skip
MOVED = [*TYPES, torch.float8_e4m3fn]
SHAPES = [(3, 4), (5,), (), (0,), (2, 0, 3)]

several_ranks = pytest.mark.skipif(SIZE == 1, reason="another rank takes part")


@pytest.fixture(autouse=True)
def group():
    dist.init_process_group("syncyte", init_method="syncyte://", timeout=datetime.timedelta(seconds=30))
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


@pytest.fixture(params=[False, True], ids=["blocking", "started"])
def run(request):
    """Calls a function of torch.distributed and waits for it."""

    def call(function, *arguments, **options):
        work = function(*arguments, async_op=request.param, **options)
        if request.param:
            work.wait()
            assert work.is_completed()

    return call


def of_rank(rank, shape, dtype):
    """Each rank's tensor of some small numbers."""
    numbers = torch.arange(torch.Size(shape).numel()) * 7 + rank * 3 + 1
    return (numbers % 5).reshape(shape).to(dtype)


def all_of(shape, dtype):
    return [of_rank(rank, shape, dtype) for rank in range(SIZE)]


def strided(tensor):
    """The same elements, of which no two are neighbours in memory."""
    wide = torch.full((*tensor.shape, 2), 99, dtype=tensor.dtype)
    wide[..., 0] = tensor
    return wide[..., 0]


def same(found, expected):
    """torch compares no float8."""
    if found.dtype in TYPES:
        return torch.equal(found, expected)
    return found.dtype == expected.dtype and torch.equal(found.view(torch.uint8), expected.view(torch.uint8))


LAYOUTS = pytest.mark.parametrize("layout", [torch.clone, strided], ids=["contiguous", "strided"])


@LAYOUTS
@pytest.mark.parametrize("dtype", MOVED, ids=str)
def test_elements_arrive(run, dtype, layout):
    for shape in SHAPES:
        whole = all_of(shape, dtype)
        mine = layout(whole[RANK])
        for root in range(SIZE):
            sent = mine.clone() if layout is torch.clone else strided(mine)
            run(dist.broadcast, sent, root)
            assert same(sent, whole[root])
            parts = [layout(torch.zeros_like(part)) for part in whole] if RANK == root else None
            run(dist.gather, mine, parts, root)
            assert RANK != root or all(map(same, parts, whole))
            part = layout(torch.zeros_like(mine))
            run(dist.scatter, part, [layout(each) for each in whole] if RANK == root else None, root)
            assert same(part, whole[RANK])
        parts = [layout(torch.zeros_like(part)) for part in whole]
        run(dist.all_gather, parts, mine)
        assert all(map(same, parts, whole))
        stacked = layout(torch.zeros((SIZE, *shape), dtype=dtype))
        run(dist.all_gather_into_tensor, stacked, mine)
        assert same(stacked, torch.stack(whole))
        parts = [layout(torch.zeros_like(part)) for part in whole]
        run(dist.all_to_all, parts, [layout(mine) for _ in whole])
        assert all(map(same, parts, whole))


def reduced(op, shape, dtype):
    """The slow obvious result: one rank's tensor after another."""
    whole = all_of(shape, dtype)
    if dtype == torch.bool:
        ops = {"SUM": "logical_or", "MAX": "logical_or", "PRODUCT": "logical_and", "MIN": "logical_and"}
    else:
        ops = {"SUM": "add", "PRODUCT": "mul", "MIN": "minimum", "MAX": "maximum", "AVG": "add"}
    ops |= {"BAND": "bitwise_and", "BOR": "bitwise_or", "BXOR": "bitwise_xor"}
    result = whole[0].float() if dtype in (torch.float16, torch.bfloat16) else whole[0].clone()
    for each in whole[1:]:
        result = getattr(torch, ops[op])(result, each.to(result.dtype))
    result = result.to(dtype)
    if op != "AVG":
        return result
    return torch.div(result, SIZE, rounding_mode=None if dtype.is_floating_point or dtype.is_complex else "trunc")


def has_operation(op, dtype):
    if dtype.is_complex:
        return op in ("SUM", "AVG")  # torch refuses the others itself
    if op in ("BAND", "BOR", "BXOR"):
        return not dtype.is_floating_point
    return op != "AVG" or dtype != torch.bool


@LAYOUTS
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_reductions(run, dtype, layout):
    for op in ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"):
        how = getattr(dist.ReduceOp, op)
        if not has_operation(op, dtype):
            with pytest.raises((TypeError, ValueError, RuntimeError), match=r"op|AVG|complex"):
                run(dist.all_reduce, of_rank(RANK, (2,), dtype), how)
            continue
        for shape in SHAPES:
            expected = reduced(op, shape, dtype)
            mine = layout(of_rank(RANK, shape, dtype))
            run(dist.all_reduce, mine, how)
            torch.testing.assert_close(mine, expected)
            mine = layout(of_rank(RANK, shape, dtype))
            run(dist.reduce, mine, SIZE - 1, how)
            torch.testing.assert_close(mine, expected if RANK == SIZE - 1 else of_rank(RANK, shape, dtype))
        every = reduced(op, (SIZE, 3), dtype)
        rows, part = layout(of_rank(RANK, (SIZE, 3), dtype)), layout(torch.zeros(3, dtype=dtype))
        run(dist.reduce_scatter_tensor, part, rows, how)
        torch.testing.assert_close(part, every[RANK])
        part = layout(torch.zeros(3, dtype=dtype))
        run(dist.reduce_scatter, part, [layout(row) for row in rows], how)
        torch.testing.assert_close(part, every[RANK])


def test_a_factor_before_the_sum(run):
    factor = dist._make_nccl_premul_sum(0.5)
    mine = torch.full((3,), RANK + 1.0)
    run(dist.all_reduce, mine, factor)
    assert torch.equal(mine, torch.full((3,), 0.25 * SIZE * (SIZE + 1)))
    part, rows = torch.zeros(2), torch.full((SIZE, 2), 4.0)
    run(dist.reduce_scatter_tensor, part, rows, factor)
    assert torch.equal(part, torch.full((2,), 2.0 * SIZE))
    assert torch.equal(rows, torch.full((SIZE, 2), 4.0))


def test_uneven_parts(run):
    """Lists may have tensors of different sizes, empty ones too."""
    mine = torch.arange(RANK, dtype=torch.int64)
    parts = [torch.empty(rank, dtype=torch.int64) for rank in range(SIZE)]
    run(dist.all_gather, parts, mine)
    assert all(torch.equal(part, torch.arange(rank)) for rank, part in enumerate(parts))
    part = torch.empty(RANK)
    run(dist.reduce_scatter, part, [torch.full((rank,), 1.0) for rank in range(SIZE)])
    assert torch.equal(part, torch.full((RANK,), float(SIZE)))
    rows = torch.full((sum(range(SIZE)), 2), float(RANK))  # r rows for rank r
    got = torch.empty((SIZE * RANK, 2))
    run(dist.all_to_all_single, got, rows, [RANK] * SIZE, list(range(SIZE)))
    assert torch.equal(got, torch.arange(float(SIZE)).repeat_interleave(RANK)[:, None].expand(-1, 2))


def test_memory_that_overlaps(run):
    """An input may be a part of the output, as in FSDP2."""
    whole = torch.zeros(SIZE, 4)
    whole[RANK] = RANK + 1.0
    run(dist.all_gather_into_tensor, whole, whole[RANK])
    assert torch.equal(whole, torch.arange(1.0, SIZE + 1)[:, None].expand(-1, 4))
    run(dist.reduce_scatter_tensor, whole[RANK], whole)
    assert torch.equal(whole[RANK], torch.full((4,), SIZE * (RANK + 1.0)))


def test_lazy_negatives(run):
    """The imaginary part of a lazy conj() has other numbers than its memory. torch resolves inputs, not outputs."""
    lazy = torch.full((2,), complex(1, RANK + 1)).conj().imag
    assert lazy.is_neg()
    whole = torch.zeros(SIZE, 2)
    run(dist.all_gather_into_tensor, whole, lazy)
    assert torch.equal(whole, -torch.arange(1.0, SIZE + 1)[:, None].expand(-1, 2))


def test_elements_that_share_memory(run):
    """They can be sent, and not written: an error on all ranks before data moves."""
    one = torch.full((1,), RANK + 1.0)
    whole = torch.zeros(SIZE, 3)
    run(dist.all_gather_into_tensor, whole, one.expand(3))
    assert torch.equal(whole, torch.arange(1.0, SIZE + 1)[:, None].expand(-1, 3))
    for write in (
        lambda: run(dist.all_reduce, one.expand(3)),
        lambda: run(dist.all_gather, [one.expand(3)] * SIZE, torch.ones(3)),
        lambda: run(dist.reduce_scatter_tensor, one.expand(3), torch.ones(3 * SIZE)),
    ):
        with pytest.raises((ValueError, RuntimeError), match="share memory"):
            write()
    assert one.item() == RANK + 1


def test_operations_end_in_the_order_of_their_starts():
    tensors = [torch.full((1000,), float(number)) for number in range(20)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    blocking = torch.ones(1)
    dist.all_reduce(blocking)  # behind the others
    assert all(work.is_completed() for work in works)
    assert [tensor[0].item() for tensor in tensors] == [SIZE * number for number in range(20)]
    assert blocking.item() == SIZE
    for work in reversed(works):
        work.wait()


def test_futures():
    mine = torch.ones(2)
    then = dist.all_reduce(mine, async_op=True).get_future().then(lambda future: future.value()[0] / SIZE)
    assert torch.equal(then.wait(), torch.ones(2))
    work = dist.all_reduce(mine, async_op=True)
    work.wait()
    assert torch.equal(work.get_future().wait()[0], mine)
    assert torch.equal(work.result()[0], mine)


@several_ranks
def test_futures_of_messages():
    received = torch.zeros(2)
    future = dist.irecv(received, PREVIOUS).get_future()
    dist.send(torch.full((2,), float(RANK)), NEXT)
    future.wait()
    assert received[0] == PREVIOUS


def test_a_future_may_start_an_operation_and_wait():
    def again(future):
        value = future.value()[0]
        dist.all_reduce(value)
        return value

    assert dist.all_reduce(torch.ones(1), async_op=True).get_future().then(again).wait() == SIZE * SIZE


def test_futures_may_wait_for_operations_that_they_start():
    """As torch's PowerSGD hook does."""

    def again(future):
        return dist.all_reduce(future.value()[0], async_op=True).get_future().wait()[0]

    assert dist.all_reduce(torch.ones(1), async_op=True).get_future().then(again).wait().item() == SIZE * SIZE


@several_ranks
def test_messages():
    got = torch.zeros(3, 2)
    work = dist.irecv(strided(got), PREVIOUS, tag=5)
    other = dist.irecv(got, PREVIOUS, tag=6)
    dist.send(torch.full((3, 2), 1.0 + RANK), NEXT, tag=6)
    dist.send(strided(torch.full((3, 2), 2.0 + RANK)), NEXT, tag=5)
    work.wait()
    other.wait()
    assert torch.equal(got, torch.full((3, 2), 1.0 + PREVIOUS))
    send = dist.isend(torch.full((1,), float(RANK)), NEXT)
    anyone = torch.zeros(1)
    assert dist.recv(anyone) == PREVIOUS
    assert anyone.item() == PREVIOUS
    send.wait()
    received = torch.zeros(4)
    operations = [
        dist.P2POp(dist.isend, torch.full((4,), float(RANK)), NEXT),
        dist.P2POp(dist.irecv, received, PREVIOUS),
    ]
    for each in dist.batch_isend_irecv(operations):
        each.wait()
    assert received[0] == PREVIOUS


@several_ranks
def test_a_message_that_nobody_waits_for_arrives():
    for number in range(20):
        dist.isend(torch.full((100_000,), float(number)), NEXT)
    gc.collect()
    got = torch.zeros(100_000)
    for number in range(20):
        dist.recv(got, PREVIOUS)
        assert got[0] == number
        assert got[-1] == number


def test_coalesced_operations():
    tensors = [torch.full((number,), 1.0 + RANK) for number in range(4)]
    with dist._coalescing_manager(async_ops=True) as manager:
        for tensor in tensors:
            dist.all_reduce(tensor)
    manager.wait()
    assert all(torch.equal(tensor, torch.full_like(tensor, SIZE * (SIZE + 1) / 2)) for tensor in tensors)


def test_objects():
    found = [None] * SIZE
    dist.all_gather_object(found, {"rank": RANK, "text": "x" * RANK})
    assert [each["rank"] for each in found] == list(range(SIZE))
    objects = [RANK, "a" * RANK]
    dist.broadcast_object_list(objects, SIZE - 1)
    assert objects == [SIZE - 1, "a" * (SIZE - 1)]
    mine = [None]
    dist.scatter_object_list(mine, [f"for {rank}" for rank in range(SIZE)] if RANK == 0 else None, 0)
    assert mine == [f"for {RANK}"]


def test_groups_of_some_ranks():
    assert dist.get_rank(dist.new_group(list(reversed(range(SIZE))))) == RANK  # torch sorts them
    alone = [dist.new_group([rank]) for rank in range(SIZE)][RANK]
    value = torch.full((1,), float(RANK))
    dist.all_reduce(value, group=alone)
    assert value.item() == RANK
    ends = dist.new_group([0, SIZE - 1]) if SIZE > 1 else dist.group.WORLD
    if RANK in (0, SIZE - 1):
        dist.all_reduce(value, group=ends)
        assert value.item() == (SIZE - 1 if SIZE > 1 else 0)
    part = dist.split_group(split_ranks=[[rank] for rank in range(SIZE)])
    dist.all_reduce(value, group=part)


@several_ranks
def test_a_group_that_only_its_members_make():
    if RANK in (0, SIZE - 1):
        group = dist.new_group([0, SIZE - 1], use_local_synchronization=True)
        value = torch.ones(1)
        dist.all_reduce(value, group=group)
        assert value.item() == 2


def test_end_and_begin_again():
    """A group of the same ranks uses the same communicator again, as MPI frees none before the end."""
    made = syncyte.stats()["comm_create_group"].calls
    for number in range(30):
        dist.destroy_process_group()
        dist.init_process_group("syncyte", init_method="syncyte://")
        for _ in range(3):
            group = dist.new_group(list(range(SIZE)))
            value = torch.full((1,), float(number))
            dist.all_reduce(value, group=group)
            assert value.item() == SIZE * number
    assert syncyte.stats()["comm_create_group"].calls - made <= 3  # of the groups of a round


def test_operations_in_flight_at_the_end():
    values = [torch.ones(10_000) for _ in range(50)]
    for value in values:
        dist.all_reduce(value, async_op=True)
    dist.destroy_process_group()
    assert all(value[0] == SIZE for value in values)


def other_rank(value, odd):
    """The value, and another one on the last rank."""
    return odd if RANK == SIZE - 1 else value


DIFFERENT = {
    "shape": lambda: dist.all_reduce(torch.ones(*other_rank((2, 3), (3, 2)))),
    "size": lambda: dist.all_reduce(torch.ones(other_rank(3, 4))),
    "dtype": lambda: dist.all_reduce(torch.ones(3, dtype=other_rank(torch.float32, torch.int32))),
    "a sum of float8": lambda: dist.all_reduce(torch.ones(3).to(other_rank(torch.float32, torch.float8_e5m2))),
    "op": lambda: dist.all_reduce(torch.ones(3), other_rank(dist.ReduceOp.SUM, dist.ReduceOp.AVG)),
    "types of a byte": lambda: dist.broadcast(torch.ones(3).to(other_rank(torch.float8_e4m3fn, torch.float8_e5m2)), 0),
    "root": lambda: dist.broadcast(torch.ones(3), other_rank(0, 1)),
    "operation": lambda: other_rank(dist.all_reduce, lambda tensor: dist.broadcast(tensor, 0))(torch.ones(3)),
    "gather": lambda: dist.all_gather_into_tensor(torch.ones(other_rank(3, 4) * SIZE), torch.ones(other_rank(3, 4))),
    "scatter": lambda: dist.reduce_scatter_tensor(torch.ones(other_rank(3, 4)), torch.ones(other_rank(3, 4) * SIZE)),
    "alltoall": lambda: dist.all_to_all_single(torch.ones(SIZE), torch.ones(other_rank(1, 2) * SIZE)),
    "a wrong output": lambda: dist.all_gather_into_tensor(torch.ones(other_rank(3, 2) * SIZE), torch.ones(3)),
    "a sparse tensor": lambda: dist.all_reduce(other_rank(torch.ones(3), torch.ones(3).to_sparse())),
    "a list that is too short": lambda: dist.all_gather([torch.ones(3)] * (SIZE - other_rank(0, 1)), torch.ones(3)),
}


@several_ranks
@pytest.mark.parametrize("what", DIFFERENT)
def test_what_differs_is_an_error_on_all_ranks(what):
    for _ in range(2):
        with pytest.raises((ValueError, RuntimeError, TypeError)) as caught:
            DIFFERENT[what]()
        assert f"rank {SIZE - 1}" in str(caught.value) or f"ranks {SIZE - 1}" in str(caught.value), str(caught.value)
    value = torch.ones(1)
    dist.all_reduce(value)
    assert value.item() == SIZE


@several_ranks
def test_a_message_of_another_shape():
    work = dist.isend(torch.ones(3), NEXT)
    with pytest.raises((ValueError, RuntimeError), match="3"):
        dist.recv(torch.ones(4), PREVIOUS)
    work.wait()


@several_ranks
def test_a_wait_has_a_limit():
    if RANK == 0:
        with pytest.raises(dist.DistBackendError, match=r"all_reduce.*rank 0"):
            dist.all_reduce(torch.ones(1), async_op=True).wait(datetime.timedelta(milliseconds=200))
        with pytest.raises(dist.DistBackendError, match=r"recv.*200 ms"):
            dist.irecv(torch.ones(1), NEXT, tag=9).wait(datetime.timedelta(milliseconds=200))
    else:
        syncyte.COMM_WORLD.barrier()
        dist.all_reduce(torch.ones(1))
    if RANK == 0:
        syncyte.COMM_WORLD.barrier()
    dist.barrier()
    dist.send(torch.ones(1), PREVIOUS, tag=9)
    if RANK != 0:
        dist.recv(torch.ones(1), NEXT, tag=9)


@several_ranks
def test_a_group_that_one_rank_has_left_behind():
    """Rank 0's blocking call ends after the group's timeout; its ranks are out of step, and a new group works."""
    for _ in range(2):
        group = dist.new_group(list(range(SIZE)), timeout=datetime.timedelta(seconds=0.5))
        if RANK == 0:
            with pytest.raises(RuntimeError, match=r"within its timeout of 0\.5 s"):
                dist.all_reduce(torch.ones(1), group=group)
            with pytest.raises(RuntimeError, match="out of step"):
                dist.all_reduce(torch.ones(1), group=group)
            with pytest.raises(RuntimeError, match="out of step"):
                dist.all_reduce(torch.ones(1), group=group, async_op=True).wait()
        dist.barrier()
        dist.destroy_process_group(group)


@several_ranks
def test_a_monitored_barrier_names_the_rank_that_does_not_come():
    half_a_second = datetime.timedelta(seconds=0.5)
    for all_ranks in (False, True):
        dist.monitored_barrier()
        if RANK == 0:
            with pytest.raises(RuntimeError, match=rf"Ranks? {SIZE - 1} failed to pass monitoredBarrier in 500 ms"):
                dist.monitored_barrier(timeout=half_a_second, wait_all_ranks=all_ranks)
        else:
            if RANK == SIZE - 1:
                time.sleep(1)
            with pytest.raises(RuntimeError, match=f"Rank {RANK} successfully reached.*no answer within 500 ms"):
                dist.monitored_barrier(timeout=half_a_second)
        dist.barrier()


def test_a_rank_that_is_not_mpis(monkeypatch):
    dist.destroy_process_group()
    with pytest.raises(syncyte.ArgumentError, match=f"rank {SIZE - 1} of {SIZE}: rank is 7"):
        dist.init_process_group("syncyte", init_method="syncyte://", rank=other_rank(RANK, 7), world_size=SIZE)
    for name, value in _launcher.torch_variables(os.environ).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("WORLD_SIZE", str(SIZE))
    dist.init_process_group("syncyte")  # env://
    assert dist.get_rank() == RANK
    assert os.environ["MASTER_PORT"] != "0"
