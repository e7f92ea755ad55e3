# SPDX-License-Identifier: BSD-3-Clause
"""Wrong use of the collectives gives an exception on all ranks, never a hang."""

import pickle

import numpy as np
import pytest
import torch

import syncyte
from operators import needs_operators
from syncyte import _library
from syncyte._buffers import as_buffer, index_buffer
from syncyte._store_operands import take_operands


def last(world):
    return world.rank == world.size - 1


def on_last(world, text):
    """Pattern of the message of the last rank's error: on the last rank, and on the other ranks."""
    return text if last(world) else f"failed on rank {world.size - 1} of .*{text}"


def test_error_on_one_rank_is_everybodys(world):
    good = np.ones((4, 4))
    with pytest.raises(syncyte.ShapeError, match=on_last(world, "contiguous")):
        world.allreduce(good.T[:, :2] if last(world) else np.ones((4, 2)))
    with pytest.raises(TypeError, match=on_last(world, "array is a str")):
        world.bcast("text" if last(world) else good)
    read_only = np.ones(2)
    read_only.flags.writeable = False
    with pytest.raises(syncyte.ArgumentError, match="read-only"):
        world.allreduce(np.ones(2), out=read_only if last(world) else np.empty(2))
    assert world.allreduce(1) == world.size  # the next collective works


@pytest.mark.parametrize("make", [np.ones, torch.ones])
def test_the_library_does_not_write_inputs(world, make):
    core, given = _library.core(), as_buffer(make(2), "input")
    with pytest.raises(syncyte.ArgumentError, match="output: read_only is 1"):
        core.syncyte_comm_allreduce(world.handle, None, 0, None, given.reference)
    assert index_buffer([0, 1], "index", narrow=True).description.read_only == 1
    assert as_buffer(make(2), "out", writable=True).description.read_only == 0


def test_the_library_does_not_write_tensors_that_a_store_reads(world):
    store, core = syncyte.Store(2, 1), _library.core()
    keys, values = torch.arange(2), torch.ones(2)
    worker = store.worker()
    for is_written in (False, True, False):  # the descriptions are used again
        given = take_operands(keys, values, is_written)
        assert (given.keys.read_only, given.values.read_only) == (1, not is_written)
        given.finish()
    given = take_operands(keys, values, is_written=False)
    with pytest.raises(syncyte.ArgumentError, match="values: read_only is 1"):
        core.syncyte_store_worker_pull(worker.handle, *given.arguments)
    given.finish()
    worker.push(keys, values)
    store.sync()
    assert worker.pull(keys, values).tolist() == [world.size] * 2


def test_arrays_that_are_read_only(world):
    frozen, window = np.arange(3.0), syncyte.Window(24)
    frozen.flags.writeable = False
    tensor = syncyte.WholeTensor((3,), "float64")
    assert world.allreduce(frozen)[2] == 2 * world.size
    assert world.bcast(frozen if world.rank == 0 else np.empty(3))[2] == 2
    window.put(world.rank, 0, frozen)
    window.fence()
    if world.rank == 0:
        tensor.scatter_([0, 1, 2], frozen)
    tensor.sync()
    for write in (
        lambda: window.get(world.rank, 0, out=frozen),
        lambda: tensor.gather([0, 1, 2], out=frozen),
        lambda: tensor.get_box([0], out=frozen),
        lambda: world.recv(frozen, world.rank),
    ):
        with pytest.raises(syncyte.ArgumentError, match="read-only"):
            write()


def test_all_ranks_get_the_fields(world):
    of_last = {"rank": world.size - 1, "object": "world", "axis": -1}

    def expect(caught, **fields):
        assert caught.value.fields._asdict().items() >= {**of_last, **fields}.items()

    with pytest.raises(syncyte.ArgumentError) as caught:  # found by the C library
        world.bcast(np.ones(2), -3 if last(world) else 0)
    expect(caught, operation="comm_bcast", argument="root", value="-3", expected=f"0 to {world.size - 1}")
    with pytest.raises(syncyte.DtypeError) as caught:  # found by Python
        world.bcast(np.ones(2), 1.5 if last(world) else 0)
    expect(caught, operation="comm_bcast", argument="root", value="1.5", expected="an integer")
    with pytest.raises(syncyte.DtypeError) as caught:
        world.allgatherv(np.ones((2, 2)), [2] * (world.size - 1) + ["x" if last(world) else 2])
    expect(caught, argument="counts", axis=world.size - 1, value="'x'", expected="an integer")
    with pytest.raises(syncyte.DtypeError) as caught:
        request = world.ibcast(np.ones(2), None if last(world) else 0)
        request.wait()
    expect(caught, operation="comm_ibcast", argument="root", object="" if last(world) else "world")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is syncyte.DtypeError
    assert again.fields == caught.value.fields
    with pytest.raises(syncyte.ArgumentError) as caught:  # found by Python on one rank
        world.dup(check="sometimes")
    assert caught.value.fields.argument == "check"
    assert caught.value.fields.value == "'sometimes'"
    assert syncyte.Error("text").fields == syncyte.errors.ErrorFields()
    with pytest.raises(syncyte.DtypeError) as caught:  # found by Python on all ranks
        world.allreduce("abc")
    assert caught.value.fields.agreed_rank == world.rank
    assert caught.value.fields.argument == "array"
    world.barrier()


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: np.ones(3, ">f4"), syncyte.DtypeError),
        (lambda: torch.ones(3).to(torch.float8_e5m2), syncyte.DtypeError),
        (lambda: np.ones(3, np.longdouble), syncyte.DtypeError),
        (lambda: np.ones(3, "U1"), syncyte.DtypeError),
        (lambda: np.array([object()]), syncyte.DtypeError),
        (lambda: torch.ones(3, dtype=torch.complex64).conj(), syncyte.DtypeError),
        (lambda: torch.ones(3).to_sparse(), syncyte.DtypeError),
        (lambda: torch.ones(2, 3, device="meta"), syncyte.DtypeError),
        (lambda: torch.ones(4)[::2], syncyte.ShapeError),
        (lambda: np.ones((1,) * 9), syncyte.ShapeError),
        (lambda: np.frombuffer(b"x" * 9, np.uint8, 8, 1).view(np.int64), syncyte.ShapeError),
        (lambda: None, syncyte.DtypeError),
        (lambda: 2**200, syncyte.ArgumentError),
    ],
)
def test_arrays_that_cannot_be_used(world, make, error):
    with pytest.raises(error) as caught:
        world.allreduce(make())
    assert caught.value.status == error.status
    with pytest.raises(error, match=on_last(world, "array")):
        world.allreduce(make() if last(world) else np.ones(1))


def test_ranks_that_disagree(world):
    if world.size == 1:
        pytest.skip("needs two ranks")
    with pytest.raises(syncyte.MismatchError):
        world.allreduce(np.ones(3 if last(world) else 4))
    with pytest.raises(syncyte.MismatchError):
        world.allreduce(np.ones(3, np.float32 if last(world) else np.float64))
    with pytest.raises(syncyte.MismatchError):
        world.allreduce(np.ones(3), "sum" if last(world) else "max")
    with pytest.raises(syncyte.MismatchError):
        if last(world):
            world.barrier()
        else:
            world.bcast(np.ones(3))
    with pytest.raises(syncyte.MismatchError):
        world.bcast(np.ones(3), root=0 if last(world) else 1)


def test_wrong_arguments(world):
    with pytest.raises(ValueError, match="op is"):
        world.allreduce(1.0, "average")
    with pytest.raises(NotImplementedError):
        world.allreduce(np.ones(2, np.complex64), "max")
    for root in (-1, world.size, 2**40):
        with pytest.raises(ValueError):
            world.bcast(np.ones(2), root)
    with pytest.raises(TypeError, match="root"):
        world.bcast(np.ones(2), 1.5)
    with pytest.raises(ValueError, match="color"):
        world.split(-5)
    with pytest.raises(ValueError, match="check"):
        world.dup(check="sometimes")
    with pytest.raises(ValueError, match="zero"):
        world.dup(name="a\0b")
    with pytest.raises(syncyte.ShapeError):
        world.allreduce(np.ones(3), out=np.ones(4))
    with pytest.raises(syncyte.DtypeError, match="out is of float32; expected float64"):
        world.allgather(np.ones(1), out=np.ones(world.size, np.float32))
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="requires grad"):
        world.allreduce(leaf, out=leaf)
    world.barrier()


def test_wrong_counts(world):
    rows = np.ones((2, 3))
    with pytest.raises(syncyte.ShapeError, match="counts has"):
        world.allgatherv(rows, [2] * (world.size + 1))
    with pytest.raises(syncyte.ShapeError, match="expected 9, this rank's in counts"):
        world.allgatherv(rows, [3] * world.size)
    with pytest.raises(ValueError, match="expected 0 or more"):
        world.alltoallv(rows, [-1] * world.size)
    with pytest.raises(syncyte.ShapeError, match="the sum of send_counts"):
        world.alltoallv(rows, [7] * world.size)
    with pytest.raises(syncyte.ShapeError, match="no dimensions"):
        world.allgatherv(np.ones(()))
    with pytest.raises(ValueError):
        world.alltoallv(rows, [-1] * world.size if last(world) else [2] + [0] * (world.size - 1))
    assert world.allreduce(1) == world.size


def test_what_is_not_a_communicator(comm, world):
    with pytest.raises(TypeError, match="from_mpi4py"):
        syncyte.WholeTensor((3,), comm=comm)
    with pytest.raises(TypeError, match="expected an mpi4py"):
        syncyte.Comm.from_mpi4py("world")
    with pytest.raises(ValueError):
        syncyte.Comm.from_mpi4py(type(comm)())  # MPI_COMM_NULL
    world.barrier()


@pytest.mark.parametrize(
    "options", [{"check": "sometimes"}, {"check": ["full"]}, {"name": "a\0b"}, {"name": 3}], ids=lambda one: f"{one!r}"
)
def test_options_of_a_new_communicator_are_everybodys(comm, world, options):
    with pytest.raises((ValueError, TypeError)) as caught:
        syncyte.Comm.from_mpi4py(comm, **(options if last(world) else {}))
    if last(world):
        assert str(caught.value).startswith(f"{next(iter(options))} is {next(iter(options.values()))!r}")
    else:
        assert isinstance(caught.value, syncyte.ArgumentError)
    part = syncyte.Comm.from_mpi4py(comm, check="full", name="mine")
    assert part.check == "full"
    assert part.allreduce(1) == world.size


def test_errors_without_agreement_are_the_ranks_own(world):
    part = world.dup(check="off")
    assert part.check == "off"
    if last(part):
        with pytest.raises(syncyte.ShapeError):
            part.allreduce(np.ones(4)[::2])
    assert part.allreduce(1) == part.size


def test_root_is_checked_before_the_array(world):
    # A list is allowed on root only. If root does not exist, the message must name root and not the list.
    for root in (world.size, -1):
        with pytest.raises(syncyte.ArgumentError, match=f"root is {root}; expected 0 to {world.size - 1}"):
            world.bcast([1], root)


IN_PLACE = {
    "bcast": lambda world, x: world.bcast(x),
    "ibcast": lambda world, x: world.ibcast(x).wait(),
    "allreduce": lambda world, x: world.allreduce(x, out=x),
}
FROM = {
    "allreduce": lambda world, x: world.allreduce(x),
    "reduce": lambda world, x: world.reduce(x),
    "scan": lambda world, x: world.scan(x),
    "exscan": lambda world, x: world.exscan(x),
    "gather_along": lambda world, x: world.gather_along(x),
    "allgather_along": lambda world, x: world.allgather(x),
    "scatter_along": lambda world, x: world.scatter_along(x),
    "reduce_scatter_along": lambda world, x: world.reduce_scatter_along(x),
    "alltoall_along": lambda world, x: world.alltoall_along(x, 0, 0),
    "iallreduce": lambda world, x: world.iallreduce(x).wait(),
    "iallgather_along": lambda world, x: world.iallgather_along(x, counts=[2] * world.size).wait(),
    "ireduce_scatter_along": lambda world, x: world.ireduce_scatter_along(x).wait(),
    "ialltoall_along": lambda world, x: world.ialltoall_along(x, 0, 0, gather_counts=[2] * world.size).wait(),
    "send": lambda world, x: world.send(x, syncyte.PROC_NULL),
    "isend": lambda world, x: world.isend(x, syncyte.PROC_NULL).wait(),
    "sendrecv": lambda world, x: world.sendrecv(x, syncyte.PROC_NULL, np.ones(1), syncyte.PROC_NULL),
}


@pytest.mark.parametrize("name, call", [*IN_PLACE.items(), *FROM.items()])
def test_gradients_are_never_lost_silently(world, name, call):
    """Operations without gradients refuse a tensor that requires them, and name an operation with gradients."""
    for x in (torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True) * 2):
        with pytest.raises(syncyte.ArgumentError, match=rf"array requires grad.*syncyte\.torch\.{name}\(\)"):
            call(world, x)
        with torch.no_grad():
            call(world, x)
        call(world, x.detach())


def test_a_gradient_that_one_rank_would_lose_is_everybodys_error(world):
    with pytest.raises(syncyte.ArgumentError, match="requires grad"):
        world.allreduce(torch.ones(2, requires_grad=last(world)))
    with pytest.raises(syncyte.ArgumentError, match="out requires grad, and would be written in place"):
        world.allreduce(torch.ones(2), out=torch.ones(2, requires_grad=True) * 1)
    ring = world.cartesian([0], periods=True)
    halo = syncyte.Halo(ring, (4,), "float32", 1)
    with pytest.raises(syncyte.ArgumentError, match="halo_exchange"):
        halo.exchange(torch.ones(4, requires_grad=True))
    assert world.allreduce(1) == world.size


TARGETS = {
    "recv": lambda world, out: world.recv(out, syncyte.PROC_NULL),
    "irecv": lambda world, out: world.irecv(out, syncyte.PROC_NULL).wait(),
    "sendrecv": lambda world, out: world.sendrecv(np.ones(2), syncyte.PROC_NULL, out, syncyte.PROC_NULL),
    "gather": lambda world, out: world.gather_along(np.ones((4, 3)), counts=[4] * world.size, out=out),
    "allgather": lambda world, out: world.allgather_along(np.ones((4, 3)), counts=[4] * world.size, out=out),
    "scatter": lambda world, out: world.scatter_along(np.ones((4 * world.size, 3)), out=out),
    "reduce_scatter": lambda world, out: world.reduce_scatter_along(np.ones((4 * world.size, 3)), out=out),
    "alltoall": lambda world, out: world.alltoall_along(np.ones((4, 3)), 0, 0, out=out),
    "iallgather": lambda world, out: world.iallgather_along(np.ones((4, 3)), counts=[4] * world.size, out=out).wait(),
    "get_box": lambda world, out: syncyte.WholeTensor((4, 3), "float64").get_box((0, 0), out=out),
}


def test_targets_whose_elements_share_memory(world):
    numpys = np.lib.stride_tricks.as_strided(np.zeros(3), (4, 3), (0, 8))
    for name, call in TARGETS.items():
        for out in (numpys, torch.zeros(3, dtype=torch.float64).expand(4, 3)):
            text = "out would be written.*axis 0 share memory.*give a copy"
            if name == "gather" and world.rank != 0:
                out = np.zeros((4 * world.size, 3))  # only root's out is used
                text = f"failed on rank 0 of .*{text}"
            with pytest.raises(syncyte.ShapeError, match=text):
                call(world, out)
    assert not numpys.any()
    ring = world.cartesian([0], periods=True)
    halo = syncyte.Halo(ring, (4, 3), "float64", 1)
    with pytest.raises(syncyte.ShapeError, match="array would be written.*axis 0"):
        halo.exchange(numpys)
    world.send(numpys, syncyte.PROC_NULL)  # a send only reads the array
    world.barrier()


def test_targets_of_one_element_or_none_may_have_any_strides(world):
    for shape in ((1, 3), (0, 3)):
        world.recv(np.lib.stride_tricks.as_strided(np.zeros(3), shape, (0, 8)), syncyte.PROC_NULL)


@pytest.mark.parametrize("name, call", [*IN_PLACE.items(), *FROM.items()])
def test_masks_are_never_lost_silently(world, name, call):
    masked = np.ma.array([1.0, 1e20], mask=[False, True])
    with pytest.raises(syncyte.DtypeError, match=r"array is a masked array.*array\.filled\(value\)"):
        call(world, masked)
    call(world, masked.filled(0))
    assert world.allreduce(1) == world.size


def test_masks_of_other_arguments(world):
    masked, tensor = np.ma.array([0, 1], mask=[False, True]), syncyte.WholeTensor((2,), "int64")
    for call, name in (
        (lambda: world.allreduce(np.ones(2, np.int64), out=masked), "out"),
        (lambda: world.recv(masked, syncyte.PROC_NULL), "out"),
        (lambda: world.allgatherv(masked), "array"),
        (lambda: world.alltoallv(masked, [2] + [0] * (world.size - 1)), "array"),
        (lambda: tensor.scatter_([0, 1], masked), "source"),
        (lambda: tensor.put_box((0,), masked), "source"),
        (lambda: tensor.__setitem__(slice(None), masked), "values"),
        (lambda: tensor[masked], "an index"),
        (lambda: syncyte.WholeTensor.wrap(masked), "array"),
        (lambda: syncyte.Window(16).put(0, 0, masked), "source"),
    ):
        with pytest.raises(syncyte.DtypeError, match=f"{name} is a masked array"):
            call()
    with pytest.raises(syncyte.DtypeError, match=on_last(world, "array is a masked array")):
        world.allreduce(masked if last(world) else np.ones(2, np.int64))
    world.barrier()


def wrong_arguments(world):
    """Calls with one argument of a wrong kind; the message has the argument, its value and the expected kind."""
    ring, rows = world.cartesian([0], periods=True), np.ones((2, 3))
    tensor, numbers = syncyte.WholeTensor((6, 2), "float64"), syncyte.WholeTensor((6,), "int64")
    ones = [1] * world.size
    return [
        (lambda: world.cartesian(5), "dims is 5; expected a sequence of integers, one per dimension"),
        (lambda: world.cartesian([1.5]), r"dims\[0\] is 1.5; expected an integer"),
        (lambda: world.cartesian("22"), "dims is '22'; expected a sequence"),
        (lambda: world.cartesian([0], 5), "periods is 5; expected True or False, or a sequence of them"),
        (lambda: syncyte.Halo(ring, 4, "int8", 1), "shape is 4; expected a sequence of extents"),
        (
            lambda: syncyte.Halo(ring, (4,), "int8", 1.5),
            "low is 1.5; expected a sequence of 1 integers, .* or one integer",
        ),
        (lambda: syncyte.Halo(ring, (4,), "int8", 1, [0.5]), r"high\[0\] is 0.5; expected an integer"),
        (lambda: syncyte.Halo(ring, (4,), "int8", 1, axes=0), "axes is 0; expected a sequence of axes"),
        (lambda: ring.rank_at(0), "coords is 0; expected a sequence of integers"),
        (lambda: world.allgatherv(rows, 2), "counts is 2; expected a sequence of integers, one for each"),
        (lambda: world.alltoallv(rows, None), "send_counts is None; expected a sequence"),
        (lambda: world.alltoallv(np.ones((world.size, 3)), ones, 5), "recv_counts is 5; expected a sequence"),
        (lambda: world.gather_along(rows, counts=2), "counts is 2; expected a sequence"),
        (lambda: world.gather_along(rows, counts=np.array(3)), r"counts is array\(3\); expected a sequence"),
        (lambda: world.scatter_along(rows, counts=2), "counts is 2; expected a sequence"),
        (lambda: world.alltoall_along(rows, 0, 0, gather_counts={}), "gather_counts is {}; expected a sequence"),
        (lambda: world.iallgather_along(rows, counts=None), "counts is None; expected a sequence"),
        (lambda: world.agree(operation=5), "operation is 5; expected a string"),
        (lambda: tensor.get_box(0, (1, 1)), "lower is 0; expected a sequence of integers"),
        (lambda: tensor.get_box((0, 0), 1), "extent is 1; expected a sequence of integers"),
        (lambda: tensor.put_box(0, np.ones((1, 1))), "lower is 0; expected a sequence of integers"),
        (lambda: tensor.requires_grad_("no"), "requires_grad is 'no'; expected True or False"),
        (lambda: tensor[True], "an index is True, a single truth value; expected integers"),
        (lambda: syncyte.memory.empty(3, "int8"), "shape is 3; expected a sequence of extents"),
        (lambda: syncyte.memory.device_count("cuda"), "kind is 'cuda'; expected an integer"),
        (lambda: syncyte.wait_all(5), "requests is 5; expected a list of requests"),
        (lambda: syncyte.wait_any(5), "requests is 5; expected a list of requests"),
        (lambda: syncyte.wait_all([1.5]), r"requests\[0\] is 1.5; expected a request"),
        (lambda: numbers.fetch_add(0, "a"), "operand is 'a'; expected an integer"),
    ]


@needs_operators
def test_arguments_of_a_wrong_kind_are_named(world):
    for call, text in wrong_arguments(world):
        with pytest.raises(syncyte.DtypeError, match=text):
            call()
    numbers = syncyte.WholeTensor((6,), "int64")
    with pytest.raises(syncyte.ArgumentError, match=r"compare is \[1\]; expected one of ==, !=, >=, <="):
        numbers.wait(0, [1], 0)
    with pytest.raises(syncyte.DtypeError, match=on_last(world, "dims is 5; expected a sequence")):
        world.cartesian(5 if last(world) else [0])
    assert world.allreduce(1) == world.size


def beyond_64_bits(world, huge):
    """Calls with an integer that its C type does not hold, by the name of the argument that the error names."""
    ring, rows, ones = world.cartesian([0], periods=True), np.ones((2, 3)), [1] * (world.size - 1)
    tensor = syncyte.WholeTensor((6, 2), "float64", row_locks=True)
    numbers, window = syncyte.WholeTensor((6,), "int64"), syncyte.Window(8)
    store = syncyte.Store(10, 1)
    worker, save = store.worker(), syncyte.checkpoint.save
    return [
        ("step", lambda: save("huge.h5", {"x": rows}, step=huge)),
        ("block_bytes", lambda: save("huge.h5", {"x": rows}, block_bytes=huge)),
        ("local_rows", lambda: syncyte.WholeTensor((6,), local_rows=huge)),
        ("shape", lambda: syncyte.WholeTensor((huge,))),
        ("shape", lambda: syncyte.Halo(ring, (huge,), "int8", 1)),
        ("low", lambda: syncyte.Halo(ring, (4,), "int8", huge)),
        ("axes", lambda: syncyte.Halo(ring, (4,), "int8", 1, axes=[huge])),
        ("shape", lambda: syncyte.memory.empty([huge], "int8")),
        ("size", lambda: syncyte.Window(huge)),
        ("offset", lambda: window.put(0, huge, rows)),
        ("rank", lambda: window.put(huge, 0, rows)),
        ("rank", lambda: tensor.rows(huge)),
        ("row", lambda: tensor.lock(huge).__enter__()),
        ("element", lambda: numbers.load(huge)),
        ("value", lambda: numbers.store(0, huge)),
        ("extent", lambda: tensor.locate_box((0, 0), (huge, 1))),
        ("x", lambda: world.agree(x=huge)),
        ("count", lambda: world.counts(huge)),
        ("counts", lambda: world.allgather_along(rows, axis=0, counts=[*ones, huge])),
        ("send_counts", lambda: world.alltoallv(rows, [*ones, huge])),
        ("color", lambda: world.split(huge)),
        ("key", lambda: world.split(0, huge)),
        ("dims", lambda: world.cartesian([huge])),
        ("coords", lambda: ring.rank_at([huge])),
        ("displacement", lambda: ring.shift(0, huge)),
        ("root", lambda: world.bcast(rows, huge)),
        ("axis", lambda: world.gather_along(rows, huge)),
        ("dest", lambda: world.send(rows, huge)),
        ("tag", lambda: world.isend(rows, syncyte.PROC_NULL, huge)),
        ("source", lambda: world.recv(rows, huge)),
        ("num_keys", lambda: syncyte.Store(huge, 1)),
        ("workers", lambda: syncyte.Store(10, 1, workers=huge)),
        ("start", lambda: worker.intent([1], huge)),
        ("end", lambda: worker.intent([1], 0, huge)),
        ("count", lambda: worker.prepare_sample(huge)),
        ("sample", lambda: worker.finish_sample(huge)),
        ("seed", lambda: store.set_sampling("prepared", "uniform", 0, 10, seed=huge)),
        ("shared_keys", lambda: store.set_sampling("shared", "uniform", 0, 10, shared_keys=huge)),
        ("parameter_bytes", lambda: syncyte.SharedCache(huge, 1)),
    ]


@pytest.mark.parametrize("huge", [2**63, 2**64 + 1, -(2**64) + 1])
def test_integers_beyond_the_c_types_are_named(world, huge):
    for name, call in beyond_64_bits(world, huge):
        if (name, huge) == ("block_bytes", 2**63):  # a size_t
            continue
        with pytest.raises((syncyte.ArgumentError, syncyte.OutOfRangeError, syncyte.ShapeError)) as caught:
            call()
        assert name in str(caught.value), name
        assert str(huge) in str(caught.value), name
    for call in (lambda wrong: world.counts(wrong), lambda wrong: world.agree(x=wrong)):
        with pytest.raises(syncyte.ArgumentError, match="expected .* to 2.63 - 1"):
            call(huge if last(world) else 1)
    assert world.allreduce(1) == world.size
