# SPDX-License-Identifier: BSD-3-Clause
"""Communicators and collectives on numpy arrays and torch tensors."""

import copy
import ctypes
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from mpi4py import MPI

import syncyte
from mpi_harness.job import without_launcher

NUMPY_TYPES = "float16 float32 float64 complex64 complex128 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()


def total(size):
    return size * (size - 1) // 2


def test_world_is_mpis(comm, world):
    assert (world.rank, world.size) == (comm.rank, comm.size)
    assert syncyte.initialized()
    assert syncyte.COMM_SELF.size == 1
    assert syncyte.thread_level() in ("single", "funneled", "serialized", "multiple")
    assert world.topology.node_size == world.size
    assert world.topology.nodes == 1


def test_from_mpi4py_keeps_order(comm, world):
    reversed_ranks = comm.Split(0, -comm.rank)
    ours = syncyte.Comm.from_mpi4py(reversed_ranks, name="reversed")
    assert (ours.rank, ours.size) == (reversed_ranks.rank, reversed_ranks.size)
    assert ours != world
    reversed_ranks.Free()
    assert ours.allreduce(1) == comm.size
    again = syncyte.Comm.from_fortran(ours.to_fortran())
    assert again.rank == ours.rank


def test_from_mpi4py_keeps_the_grid(comm, world):
    theirs = comm.Create_cart([1, comm.size], periods=[False, True], reorder=True)
    ours = syncyte.Comm.from_mpi4py(theirs)
    assert isinstance(ours, syncyte.Cart)
    assert isinstance(ours.dup(), syncyte.Cart)
    assert (ours.dims, ours.periods) == ((1, comm.size), (False, True))
    assert ours.rank == theirs.rank
    assert list(ours.coords) == theirs.coords
    assert list(ours.shift(1)) == list(theirs.Shift(1, 1))
    halo = syncyte.Halo(ours, (4, 6), "float64", 0, 1)
    halo.exchange(np.zeros((4, 6)))
    theirs.Free()


def test_copies_are_the_same(world):
    assert copy.deepcopy(world) is world
    assert copy.copy(world) is world
    part = world.dup()
    assert copy.deepcopy({"comm": part})["comm"] is part
    assert pickle.loads(pickle.dumps(world)) is world
    assert pickle.loads(pickle.dumps(part)) is part
    assert len({world, part}) == 2


def test_a_pickle_resolves_to_every_ranks_own(comm, world):
    """Rank 0 pickles a communicator; every rank unpickles its own one."""
    for made in (
        world.dup(),
        world.split(0, -world.rank),
        world.cartesian([0], True),
        world.split_node(),
        world.split_program("all"),
        syncyte.Comm.from_mpi4py(comm),
    ):
        pickled = comm.bcast(pickle.dumps({"in": [made]}), 0)
        assert pickle.loads(pickled)["in"][0] is made
    everywhere = comm.allgather(pickle.dumps(made))
    assert len(set(everywhere)) == 1
    assert pickle.loads(everywhere[-1]) is made


def test_communicators_of_other_ranks_do_not_resolve(comm, world):
    part = world.split(world.rank % 2)
    for rank, pickled in enumerate(comm.allgather(pickle.dumps(part))):
        if rank % 2 == world.rank % 2:
            assert pickle.loads(pickled) is part
        else:
            expected = f"of {world.size - part.size} ranks.* is not one of its ranks"
            with pytest.raises(syncyte.HandleError, match=expected):
                pickle.loads(pickled)


def test_freed_and_dropped_communicators_do_not_resolve(world):
    freed, dropped = world.dup(), world.dup()
    pickled = [pickle.dumps(freed), pickle.dumps(dropped)]
    freed.free()
    del dropped
    for each in pickled:
        with pytest.raises(syncyte.HandleError, match="the pickled Comm [0-9a-f]{16} .* freed or dropped"):
            pickle.loads(each)
    with pytest.raises(syncyte.HandleError, match="freed"):
        pickle.dumps(freed)
    world.collect()


def test_a_pickle_of_another_job_does_not_resolve(world):
    pickled = pickle.dumps(world.dup())
    script = "import pickle, sys, syncyte; syncyte.COMM_WORLD.rank; pickle.loads(bytes.fromhex(sys.argv[1]))"
    if world.rank == 0:
        ended = subprocess.run(
            [sys.executable, "-c", script, pickled.hex()], env=without_launcher({}), capture_output=True, text=True
        )
        assert ended.returncode != 0
        assert "pickled in another job" in ended.stderr
    world.barrier()


def test_several_objects_of_one_communicator(world):
    grid = world.cartesian([0])
    syncyte._library.core().syncyte_comm_retain(grid.handle)
    other = syncyte.Comm(grid.handle)
    assert pickle.loads(pickle.dumps(grid)) is grid
    assert pickle.loads(pickle.dumps(other)) == grid


def test_split(world):
    part = world.split(world.rank % 2, key=-world.rank)
    members = [rank for rank in reversed(range(world.size)) if rank % 2 == world.rank % 2]
    assert part.size == len(members)
    assert members[part.rank] == world.rank
    alone = world.split(None if world.rank == 0 else 7)
    assert (alone is None) == (world.rank == 0)
    assert alone is None or alone.size == world.size - 1


def test_split_program_and_node(world):
    part = world.split_program("odd" if world.rank % 2 else "even")
    assert part.size == (world.size + (world.rank + 1) % 2) // 2
    assert world.split_program().size == world.size
    assert world.split_node().size == world.size


def test_leaders_are_the_first_ranks_of_nodes(world):
    leaders = world.split_leaders(name="leaders")
    assert (leaders is None) == (world.topology.node_rank > 0)
    if leaders is not None:
        assert (leaders.rank, leaders.size) == (world.topology.node, world.topology.nodes)
        assert leaders.allreduce(world.topology.node_size) == world.size
    with pytest.raises(syncyte.ArgumentError, match="check is 'much'"):
        world.split_leaders(check="much" if world.rank == world.size - 1 else None)


def test_freed_comm_is_an_error(world):
    part = world.dup()
    part.free()
    part.free()
    with pytest.raises(syncyte.HandleError, match="freed"):
        part.barrier()
    world.collect()


@pytest.mark.parametrize("dtype", NUMPY_TYPES)
def test_allreduce_sums_every_numpy_type(world, dtype):
    array = np.arange(6, dtype=dtype).reshape(2, 3) + np.asarray(world.rank, dtype)
    expected = np.arange(6).reshape(2, 3) * world.size + total(world.size)
    result = world.allreduce(array)
    assert result.dtype == dtype
    assert result.shape == (2, 3)
    np.testing.assert_allclose(result, expected.astype(dtype))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("op", ["sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor"])
def test_unsigned_integers_have_all_their_bits(world, dtype, op):
    largest = int(np.iinfo(dtype).max)
    everyone = np.array([[largest - rank, rank, largest // 3 + rank] for rank in range(world.size)], dtype)
    ufunc = {
        "sum": np.add,
        "prod": np.multiply,
        "min": np.minimum,
        "max": np.maximum,
        "land": np.logical_and,
        "lor": np.logical_or,
        "lxor": np.logical_xor,
        "band": np.bitwise_and,
        "bor": np.bitwise_or,
        "bxor": np.bitwise_xor,
    }[op]
    expected = everyone[0] if op[0] != "l" else everyone[0] != 0 if world.size > 1 else everyone[0]
    for other in everyone[1:]:
        expected = ufunc(expected, other).astype(dtype)
    assert world.allreduce(everyone[world.rank], op=op).tolist() == expected.tolist()
    at_root = world.reduce(everyone[world.rank], op=op)
    if world.rank == 0:
        assert at_root.dtype == dtype
        assert at_root.tolist() == expected.tolist()
    before = world.exscan(everyone[world.rank], op=op)
    if world.rank == 1:
        assert before.tolist() == everyone[0].tolist()
    if world.rank == 0 and op in ("min", "max", "band"):
        assert before.tolist() == [0 if op == "max" else largest] * 3


def test_allreduce_of_torch_tensors(world):
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.int64):
        tensor = torch.full((4,), world.rank + 1, dtype=dtype)
        result = world.allreduce(tensor)
        assert isinstance(result, torch.Tensor)
        assert result.dtype == dtype
        assert result.tolist() == [total(world.size + 1)] * 4
    flags = torch.tensor([world.rank == 0, False])
    assert world.allreduce(flags).tolist() == [True, False]
    assert world.allreduce(flags, "prod").tolist() == [world.size == 1, False]


def test_allreduce_operations_and_numbers(world):
    assert world.allreduce(world.rank, "max") == world.size - 1
    assert world.allreduce(world.rank, syncyte.Op.MIN) == 0
    assert world.allreduce(1 << world.rank, "bor") == 2**world.size - 1
    assert world.allreduce(0.5) == world.size / 2
    assert isinstance(world.allreduce(1), int)


def test_sums_and_products_of_integers(world):
    size, rank, large = world.size, world.rank, 2**62 + 1
    most = (2**63 - 1) // size
    for value in (most, -most, -1, 2**32 - 1, np.int64(most), np.uint8(200)):
        number = int(value)
        assert world.allreduce(value) == size * number == world.iallreduce(value).wait()
        assert world.reduce(value, root=size - 1) == (size * number if rank == size - 1 else None)
        assert world.scan(value) == (rank + 1) * number
        assert world.scan(value, reverse=True) == (size - rank) * number
        assert world.exscan(value) == rank * number
        assert world.exscan(value, reverse=True) == (size - 1 - rank) * number
    assert world.allreduce(large, "prod") == large**size
    assert world.reduce(large, "prod") == (large**size if rank == 0 else None)
    assert world.scan(large, "prod") == large ** (rank + 1)
    assert world.exscan(large, "prod") == large**rank
    assert world.exscan(large, "prod", reverse=True) == large ** (size - 1 - rank)
    assert world.allreduce(large + rank, "max") == large + size - 1
    assert world.iallreduce(1.5).wait() == 1.5 * size
    assert world.iallreduce(rank, "max").wait() == size - 1


def test_integers_of_python_and_numpy_reduce_together(world):
    """Ranks may give integers of different types, and `out` on some ranks only."""
    size, rank = world.size, world.rank
    mixed = [3, np.int64(3), np.int32(3), np.array(3), torch.tensor(3)][rank % 5]
    assert world.allreduce(mixed) == 3 * size
    assert world.iallreduce(mixed).wait() == 3 * size
    assert world.scan(mixed) == 3 * (rank + 1)
    numbers = [3, np.int64(3), np.int32(3), np.uint16(3)][rank % 4]
    out = np.zeros(1, np.int64)
    for op, expected in (("sum", 3 * size), ("prod", 3**size)):
        assert world.allreduce(numbers, op) == expected
        assert world.reduce(numbers, op, out=out if rank == 0 else None) is (out if rank == 0 else None)
        assert rank != 0 or out.tolist() == [expected]
        assert world.allreduce(numbers, op, out=out if rank % 2 else None) == expected


def test_true_counts_as_one(world):
    size, rank = world.size, world.rank
    for result, expected in [
        (world.allreduce(True), size), (world.allreduce(rank == 0), 1), (world.scan(True), rank + 1),
        (world.exscan(True), rank), (world.allreduce(True, "prod"), 1), (world.allreduce(True if rank else 1), size),
        (world.allreduce(np.bool_(True)), size), (world.iallreduce(True if rank else np.bool_(True)).wait(), size),
    ]:  # fmt: skip
        assert type(result) is int
        assert result == expected
    assert world.reduce(True) == (size if rank == 0 else None)
    for op in ("land", "lor", "max", "min", "bor"):
        assert world.allreduce(True, op) is True
    assert world.allreduce(np.array([True])).tolist() == [True]  # of arrays it is the logical or


def test_numbers_that_cannot_be_reduced_are_everybodys_error(world):
    last = world.size - 1
    wide = 2**63 // world.size + 1
    for call, error, text in [
        (lambda odd: world.allreduce(2**200 if odd else 1), syncyte.ArgumentError, "array is 16069.*must fit 64 bits"),
        (lambda odd: world.scan(np.uint64(wide) if odd else 1), syncyte.ArgumentError, f"array is {wide}; expected an"),
        (lambda odd: world.iallreduce(-wide if odd else 1).wait(), syncyte.ArgumentError, f"array is -{wide}; expec"),
        (lambda odd: world.allreduce(2**63 if odd else 1, "prod"), syncyte.ArgumentError, "array is 92233720368547758"),
        (lambda odd: world.reduce(3, "prod", world.size if odd else 0), syncyte.ArgumentError, "root is"),
        (lambda odd: world.allreduce(3, "prod", np.zeros(2 if odd else 1, int)), syncyte.ShapeError, "out is of shape"),
        (lambda odd: world.scan(2**64 if odd else 1, "max"), TypeError, "array"),
        (lambda odd: world.allreduce(1, "mean" if odd else "sum"), syncyte.ArgumentError, "op is 'mean'"),
        (lambda odd: world.iallreduce(2, "prod").wait(), syncyte.DtypeError, "array is a product of int"),
    ]:
        with pytest.raises(error, match=text):
            call(world.rank == last)
        assert world.allreduce(1) == world.size
    if world.size > 1:
        with pytest.raises(syncyte.MismatchError, match="dtype"):
            world.allreduce(1.0 if world.rank == last else 1)
        for call, text in [
            (lambda odd: world.allreduce(np.array([2]) if odd else 2, "prod"), "comm_allgather"),
            (lambda odd: world.allgather(2) if odd else world.allreduce(2, "prod"), "number of facts"),
            (lambda odd: world.scan(2, "prod") if odd else world.exscan(2, "prod"), "2 scan.* is 3 on "),
            (lambda odd: world.scan(2, "prod", reverse=odd), "reverse"),
            (lambda odd: world.reduce(2, "prod", last if odd else 0), "root"),
        ]:
            with pytest.raises(syncyte.MismatchError, match=text):
                call(world.rank == last)
        out = np.zeros(1, np.int64)
        with pytest.raises(syncyte.ArgumentError, match="out is an int64 array for the product"):
            world.allreduce(2**62, "prod", out=out)
    assert world.allreduce(1) == world.size


def test_gather_of_numbers(world):
    for root in range(world.size):
        gathered = world.gather_along(10 * world.rank, root=root)
        assert gathered is None if world.rank != root else gathered.tolist() == [10 * r for r in range(world.size)]
    assert world.allgather(10 * world.rank).tolist() == [10 * rank for rank in range(world.size)]


def test_constants_of_mpi4py_and_torch(world):
    mine, reduce_op = np.array([world.rank + 1]), torch.distributed.ReduceOp
    for name in ("sum", "prod", "min", "max", "band", "bor", "bxor", "land", "lor", "lxor"):
        assert world.allreduce(mine, getattr(MPI, name.upper())) == world.allreduce(mine, name), name
    for op, name in [(reduce_op.SUM, "sum"), (reduce_op.PRODUCT, "prod"), (reduce_op(reduce_op.MAX), "max")]:
        assert world.allreduce(mine, op) == world.allreduce(mine, name), name
    for op in (MPI.MINLOC, MPI.NO_OP, reduce_op.AVG):
        with pytest.raises(syncyte.ArgumentError, match="op is .*; expected one of sum, prod"):
            world.allreduce(mine, op)
    window = syncyte.Window(8)
    window.fetch_op(world.rank, 0, 3, MPI.REPLACE)
    assert window.fetch_op(world.rank, 0, 4, MPI.MAX) == 3
    assert window.view(dtype="int64")[0] == 4
    window.fence()


def test_in_place_of_mpi4py(world):
    total, mine = sum(range(world.size)), np.array([world.rank, 1.0])
    assert world.allreduce(MPI.IN_PLACE, out=mine) is mine
    assert mine.tolist() == [total, world.size]
    mine = np.array([world.rank, 1.0])
    assert world.iallreduce(MPI.IN_PLACE, out=mine).wait() is mine
    assert mine.tolist() == [total, world.size]
    mine = np.array([1])
    assert world.scan(MPI.IN_PLACE, out=mine)[0] == world.rank + 1
    mine = np.array([1])
    result = world.reduce(MPI.IN_PLACE if world.rank == 0 else mine, out=mine)
    assert result is (mine if world.rank == 0 else None)
    assert mine[0] == (world.size if world.rank == 0 else 1)
    with pytest.raises(syncyte.ArgumentError, match="out is None; expected the array to reduce"):
        world.allreduce(MPI.IN_PLACE)
    for call in (
        lambda: world.allgather(MPI.IN_PLACE),
        lambda: world.bcast(MPI.IN_PLACE),
        lambda: world.reduce_scatter_along(MPI.IN_PLACE),
        lambda: world.allreduce(mine, out=MPI.IN_PLACE),
    ):
        with pytest.raises(syncyte.ArgumentError, match="is MPI.IN_PLACE; expected an array"):
            call()


def test_allreduce_in_place_and_out(world):
    array = np.full(5, float(world.rank))
    assert world.allreduce(array, out=array) is array
    assert array.tolist() == [total(world.size)] * 5
    source, out = torch.ones(3), torch.empty(3)
    version = out._version
    assert world.allreduce(source, out=out) is out
    assert out.tolist() == [world.size] * 3
    assert out._version > version


def test_large_results_come_from_the_pool(world):
    before = syncyte.memory.stats()
    array = np.ones(1 << 16)
    for _ in range(3):
        result = world.allreduce(array)
        assert (result == world.size).all()
        del result
    after = syncyte.memory.stats()
    assert after.hits >= before.hits + 2
    assert after.in_use == before.in_use


def test_bcast(world):
    for root in range(world.size):
        array = np.arange(4) * (10 if world.rank == root else 0)
        assert world.bcast(array, root) is array
        assert array.tolist() == [0, 10, 20, 30]
    fixed = np.arange(3)
    fixed.flags.writeable = world.rank != 0  # the root only reads its array
    assert world.bcast(fixed).tolist() == [0, 1, 2]


def test_allgather(world):
    result = world.allgather(np.full((2, 2), world.rank, np.int16))
    assert result.shape == (world.size, 2, 2)
    assert (result == np.arange(world.size)[:, None, None]).all()
    scalar = world.allgather(torch.tensor(world.rank))
    assert scalar.tolist() == list(range(world.size))


@pytest.mark.parametrize("given", [False, True])
def test_allgatherv_with_empty_ranks(world, given):
    rows = np.full((world.rank, 3), world.rank, np.float32)
    counts = list(range(world.size)) if given else None
    result = world.allgatherv(rows, counts)
    assert result.shape == (total(world.size), 3)
    assert result[:, 0].tolist() == [float(rank) for rank in range(world.size) for _ in range(rank)]


@pytest.mark.parametrize("given", [False, True])
def test_alltoallv(world, given):
    send = [(world.rank + rank) % 3 for rank in range(world.size)]
    rows = torch.cat([torch.full((count, 2), 100 * world.rank + rank) for rank, count in enumerate(send)])
    receive = [(world.rank + rank) % 3 for rank in range(world.size)] if given else None
    result = world.alltoallv(rows, send, receive)
    expected = [100 * rank + world.rank for rank in range(world.size) for _ in range((world.rank + rank) % 3)]
    assert result[:, 0].tolist() == expected
    assert result.shape == (len(expected), 2)


def test_agree(world):
    world.agree(operation="step", number=3, other=-1)
    with pytest.raises(syncyte.MismatchError, match="number") if world.size > 1 else pytest.raises(AssertionError):
        world.agree(operation="step", number=3 if world.rank == 0 else 4)
        assert world.size > 1
    with pytest.raises(syncyte.OutOfRangeError, match="row 7"):
        world.agree(IndexError("row 7 is out") if world.rank == world.size - 1 else None, "step")


def test_other_exporters(world):
    assert world.allgather(bytearray(b"ab")).shape == (world.size, 2)
    array = (ctypes.c_int32 * 3)(1, 2, 3)
    assert world.allreduce(array).tolist() == [world.size, 2 * world.size, 3 * world.size]
    out = bytearray(3)
    world.allreduce(np.ones(3, np.uint8), out=out)
    assert list(out) == [world.size] * 3


def test_representations_say_what_they_are(world):
    place = f"rank {world.rank} of {world.size}"
    assert repr(world) == f"<syncyte.COMM_WORLD: {place}>"
    assert repr(world.dup()) == f"<syncyte.Comm: {place}>"
    named = world.split(0, name="ocean")
    assert repr(named) == f"<syncyte.Comm 'ocean': {place}>"
    named.free()
    assert repr(named) == "<syncyte.Comm 'ocean': freed>"
    ring = world.cartesian([0, 1], [True, False], name="ring")
    grid = f"at ({world.rank}, 0) of dims ({world.size}, 1), periods (True, False)"
    assert repr(ring) == f"<syncyte.Cart 'ring': {place}, {grid}>"
    halo = syncyte.Halo(ring, (5, 5), "float64", 1, (2, 0), corners=False)
    assert repr(halo) == (
        "<syncyte.Halo of arrays of shape (5, 5), float64: ghosts (1, 1) below and (2, 0) above axes (0, 1), "
        f"no corners, over {ring!r}>"
    )
    halo.free()
    ring.free()
    assert repr(ring) == "<syncyte.Cart 'ring': freed>"
    assert repr(halo).endswith(f"over {ring!r}, freed>")
    window = syncyte.Window(8 * world.rank, name="flags")
    assert repr(window) == f"<syncyte.Window 'flags' of {8 * world.rank} bytes on this rank, over {world!r}>"
    window.free()
    assert repr(window).endswith(", freed>")


def test_a_group_is_made_by_its_ranks_alone_in_the_lists_order(world):
    ranks = list(range(world.size))[:0:-1] or [0]  # all but rank 0, the last first
    if world.rank in ranks:
        group = world.create_group(ranks, name="others")
        assert (group.size, group.rank) == (len(ranks), ranks.index(world.rank))
        assert group.allreduce(world.rank) == sum(ranks)
        assert "others" in repr(group)
    world.barrier()


def test_wrong_groups(world):
    everyone = list(range(world.size))
    with pytest.raises(ValueError, match="is 0; expected every rank once"):
        world.create_group([*everyone, 0])
    with pytest.raises(ValueError, match="expected None|check is|options->check"):
        world.create_group(everyone, check="loud" if world.rank == world.size - 1 else None)
    with pytest.raises(ValueError, match="count is 0"):
        world.create_group([])
    with pytest.raises(TypeError, match="ranks"):
        world.create_group(None)
    with pytest.raises(ValueError, match="tag is -1"):
        world.create_group(everyone, -1)
    assert world.create_group(everyone).size == world.size
