# SPDX-License-Identifier: BSD-3-Clause
"""Behaviour of WholeMemory in syncyte.compat.wholememory_pytorch, and defects of WholeMemory that it does not have."""

import gc
import importlib
import importlib.util
import os
import sys

import numpy as np
import pytest
import torch

import syncyte
from syncyte import COMM_WORLD, compat
from syncyte.compat import wholememory_pytorch as wm

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.fixture(autouse=True)
def session(comm):
    wm.init_lib()
    wm.mp_init(comm.rank, comm.size)
    yield
    gc.collect()
    wm.finalize_lib()


def last_two(comm) -> list[int]:
    return [comm.size - 2, comm.size - 1] if comm.size > 1 else [0]


# Tensors of all ranks.


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool, torch.complex64, torch.float8_e4m3fn])
def test_a_tensor_is_one_range_of_zeros_that_all_ranks_write(comm, dtype):
    t = wm.create_tensor([2 * comm.size + 1, 3], [], dtype, True, [])
    assert type(t) is torch.Tensor
    assert t.dtype == dtype
    assert t.stride() == (3, 1)
    assert t.data_ptr() % 64 == 0
    bits = t.view(torch.uint8)
    assert not bits.any()
    wm.barrier([])
    bits[2 * comm.rank + 1] = comm.rank + 1
    wm.barrier([])
    for rank in range(comm.size):
        assert bits[2 * rank + 1].eq(rank + 1).all()
        assert not bits[2 * rank].any()
    wm.barrier([])


def test_a_small_table_is_spread_over_all_ranks(comm, monkeypatch):
    """WholeMemory put tensors of less than 512 MiB on the last rank."""
    made = []

    def make(*arguments, **named):
        made.append(syncyte.WholeTensor(*arguments, **named))
        return made[0]

    monkeypatch.setattr(wm, "WholeTensor", make)
    t = wm.create_tensor([comm.size, 16], [], torch.float32, True, [])
    t[comm.rank] = comm.rank
    wm.barrier([])
    assert [len(made[0].rows(rank)) for rank in range(comm.size)] == [1] * comm.size
    assert made[0].local.eq(comm.rank).all()


def test_strides_leave_gaps(comm):
    t = wm.create_tensor([4, 2, 3], [10, 4, 1], torch.int32, True, [])
    assert t.stride() == (10, 4, 1)
    assert t.untyped_storage().nbytes() == 4 * 10 * 4
    wm.barrier([])
    if comm.rank == comm.size - 1:
        t.copy_(torch.arange(24, dtype=torch.int32).view(4, 2, 3))
    wm.barrier([])
    assert torch.equal(t, torch.arange(24, dtype=torch.int32).view(4, 2, 3))


def test_no_dimension_and_no_elements(comm):
    assert wm.create_tensor([], [], torch.float64, True, []).shape == ()
    assert wm.create_tensor([0, 5], [], torch.float64, True, []).shape == (0, 5)
    assert wm.create_tensor([5, 0], [], torch.float64, True, []).shape == (5, 0)


def test_views_of_the_cpu_also_of_slices(comm):
    t = wm.create_tensor([6, 4], [], torch.float32, True, [])
    part = wm.get_tensor_view(t[2:4, 1:], torch.device("cpu"))
    assert part.data_ptr() == t[2:, 1:].data_ptr()
    assert part.stride() == (4, 1)
    assert part.shape == (2, 3)
    assert wm.get_tensor_view(t, "cpu").data_ptr() == t.data_ptr()
    with pytest.raises(ValueError, match="in memory of its own; expected a tensor that create_tensor"):
        wm.get_tensor_view(torch.ones(3), torch.device("cpu"))


def test_tensors_are_dropped_in_any_order(comm):
    """WholeMemory's free was collective: it hung unless all ranks freed in the same order."""
    tensors = [wm.create_tensor([100, 8], [], torch.float32, True, []) for _ in range(6)]
    parts = [t[3:5] for t in tensors]
    order = np.random.default_rng(comm.rank).permutation(6)
    for which in order:
        tensors[which] = None
        if comm.rank == 0:
            gc.collect()
    wm.create_tensor([10], [], torch.float32, True, [])
    assert all(not part.any() for part in parts)  # a slice keeps its memory
    for which in order[::-1]:
        parts[which] = None
    comm.collect()


# Ranks.


def test_a_tensor_of_some_ranks_is_theirs_alone(comm):
    ranks = last_two(comm)
    if comm.rank in ranks:
        t = wm.create_tensor([len(ranks), 4], [], torch.int64, True, ranks)
        t[ranks.index(comm.rank)] = comm.rank
        wm.barrier(ranks)
        assert t[:, 3].tolist() == ranks
        wm.barrier(ranks)
        del t
        assert wm.create_tensor([3], [], torch.int8, True, ranks).tolist() == [0, 0, 0]
        assert wm.aggregate_size(10, ranks) == (10 * len(ranks), 10 * ranks.index(comm.rank))
    wm.barrier([])


def test_many_tensors_of_the_same_ranks_take_one_communicator(comm):
    before = set(wm._session.groups)
    backwards = list(range(comm.size))[::-1]
    for _ in range(100):
        wm.create_tensor([3], [], torch.int8, True, backwards)
    wm.create_tensor([3], [], torch.int8, True, list(range(comm.size)))
    assert set(wm._session.groups) <= before | {tuple(backwards)}


def shared_mappings() -> int:
    with open("/proc/self/maps", encoding="utf-8") as file:
        return sum("memfd:" in line for line in file)


def test_the_end_frees_tensors_of_some_ranks_too(comm):
    ranks = list(range(comm.size))[::-1]
    wm.create_tensor([3], [], torch.int8, True, ranks)  # makes the group
    wm.finalize_lib()
    before = shared_mappings()
    for _ in range(3):
        wm.mp_init(comm.rank, comm.size)
        t = wm.create_tensor([1000, 100], [], torch.float32, True, ranks)
        t[:] = comm.rank
        del t
        wm.finalize_lib()
    assert shared_mappings() <= before


@pytest.mark.skipif(COMM_WORLD.size < 2, reason="ranks that differ")
def test_lists_of_ranks_that_differ_are_an_error_of_all_until_mp_init(comm):
    wm._session.groups.pop((0, 1), None)
    wm._session.groups.pop((1, 0), None)
    if comm.size == 2:  # [0, 1] are all ranks, so no group is made
        mine = [1, 0] if comm.rank == 0 else [1, 0, 0]
    else:
        mine = [1, 0] if comm.rank == 0 else [0, 1]
    if comm.rank < 2:
        with pytest.raises(ValueError, match="ranks"):
            wm.create_tensor([3], [], torch.float32, True, mine)
        with pytest.raises(ValueError, match="an earlier one has failed"):
            wm.barrier([comm.rank])
    wm.mp_init(comm.rank, comm.size)
    if comm.rank < 2:
        wm.barrier([1, 0])
        wm.barrier([comm.rank])


def test_aggregate_size(comm):
    total, offset = wm.aggregate_size(comm.rank + 3, [])
    assert total == sum(rank + 3 for rank in range(comm.size))
    assert offset == sum(rank + 3 for rank in range(comm.rank))
    with pytest.raises(ValueError, match="local_size is -1"):
        wm.aggregate_size(-1 if comm.rank == comm.size - 1 else 1, [])
    with pytest.raises(ValueError, match="the sum of local_size|expected 0 to"):
        wm.aggregate_size(2**63 - 1 if comm.size > 1 else 2**63, [])


def test_rank_and_size_must_be_those_of_the_world(comm):
    last = comm.size - 1
    with pytest.raises(ValueError, match=f"rank, size is .{last}, {comm.size + 1}.; expected COMM_WORLD's"):
        wm.mp_init(comm.rank, comm.size + (comm.rank == last))
    wm.finalize_lib()
    with pytest.raises(RuntimeError, match="mp_init"):
        wm.create_tensor([3], [], torch.float32, True, [])


# Wrong arguments.


@pytest.mark.parametrize(
    "sizes, strides, dtype, error, text",
    [
        ([3, 4], [3, 1], torch.float32, ValueError, r"strides\[0\] is 3; expected 4 or more"),
        ([3, 4], [4], torch.float32, ValueError, "2 numbers, as many as sizes has"),
        ([2, 3, 4], [12, 100, 1], torch.float32, ValueError, "reach 216 elements"),
        ([-1, 4], [], torch.float32, ValueError, "0 or more"),
        ([2.5, 4], [], torch.float32, TypeError, "2.5; expected an integer"),
        (4, [], torch.float32, TypeError, "sizes is 4; expected a sequence"),
        ([3], [], "float32", TypeError, "expected a torch.dtype"),
        ([1] * 9, [], torch.float32, ValueError, "at most 8"),
        ([2**40, 2**40], [], torch.float32, ValueError, "at most 2\\^63 - 1 bytes"),
        ([2**40, 2**10], [], torch.float32, MemoryError, "are available"),
    ],
)
@pytest.mark.parametrize("chunked", [False, True])
def test_wrong_arguments_of_one_rank_are_every_ranks_error(comm, sizes, strides, dtype, error, text, chunked):
    def create(*arguments):
        return wm.create_chunked_tensor(*arguments, []) if chunked else wm.create_tensor(*arguments, True, [])

    with pytest.raises(error, match=text):
        if comm.rank == comm.size - 1 or error is MemoryError:
            create(sizes, strides, dtype)
        else:
            create([3], [], torch.float32)
    create([3], [], torch.float32)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device")
def test_device_memory_needs_a_device(comm):
    with pytest.raises(NotImplementedError, match="there is no CUDA device"):
        wm.create_tensor([3], [], torch.float32, comm.rank != 0, [])
    with pytest.raises(NotImplementedError, match="there is no CUDA device"):
        wm.get_tensor_view(wm.create_tensor([3], [], torch.float32, True, []), torch.device("cuda:0"))


@pytest.mark.skipif(COMM_WORLD.size < 2, reason="ranks that differ")
@pytest.mark.parametrize(
    "mine, text",
    [
        (([4], [], torch.float32), r"sizes\[0\]"),
        (([3, 1], [], torch.float32), "dimensions"),
        (([3], [], torch.int32), "dtype is .*(float32|int32) on rank"),
        (([3], [2], torch.float32), r"strides\[0\]"),
    ],
)
def test_arguments_that_differ_are_an_error_of_all(comm, mine, text):
    with pytest.raises(ValueError, match=text):
        wm.create_tensor(*(mine if comm.rank == 0 else ([3], [], torch.float32)), True, [])


@pytest.mark.parametrize("more, text", [([0], "every rank once"), ([COMM_WORLD.size], "expected 0 to")])
def test_wrong_ranks(comm, more, text):
    with pytest.raises(ValueError, match=text):
        wm.create_tensor([3], [], torch.float32, True, [*range(comm.size), *more])
    with pytest.raises(TypeError, match="ranks"):
        wm.create_tensor([3], [], torch.float32, True, [0.5])
    assert wm.create_tensor([3], [], torch.float32, True, [*range(comm.size)]).shape == (3,)


# Gather.


@pytest.mark.parametrize("index_dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("out_dtype", FLOATS)
@pytest.mark.parametrize("dtype", FLOATS)
def test_gather_converts_as_torch_does(comm, dtype, out_dtype, index_dtype):
    generator = torch.Generator().manual_seed(11 + comm.rank)
    for columns in (1, 7, 64):
        t = wm.create_tensor([50, columns], [columns + 3, 1], dtype, True, [])
        if comm.rank == 0:
            t.copy_(torch.randn(50, columns, generator=generator) * 1e3)
            t[3] = torch.tensor(float("nan"))
            t[4] = torch.tensor(float("inf"))
        wm.barrier([])
        index = torch.randint(0, 50, (33,), generator=generator).to(index_dtype)
        found = torch.ops.wholememory.gather(index, t, out_dtype)
        torch.testing.assert_close(found, t[index.long()].to(out_dtype), rtol=0, atol=0, equal_nan=True)
        wm.barrier([])


def test_gather_of_slices_integers_and_what_is_not_contiguous(comm):
    """WholeMemory applied a slice's offset twice, and read strided tensors as if they were dense."""
    t = wm.create_tensor([40, 6], [], torch.int16, True, [])
    if comm.rank == comm.size - 1:
        t.copy_(torch.arange(240, dtype=torch.int16).view(40, 6))
    wm.barrier([])
    index = torch.tensor([0, 9, 3, 3])
    for part in (t, t[20:35], t[5:, 2:], t[:, ::2], t[::3], t.t()[:, :10].t(), t[:, 1]):
        assert torch.equal(torch.ops.wholememory.gather(index, part, part.dtype), part[index])
    every_second = torch.arange(20)[::2]
    assert torch.equal(torch.ops.wholememory.gather(every_second, t, t.dtype), t[every_second])
    assert torch.ops.wholememory.gather(torch.empty(0, dtype=torch.int32), t, t.dtype).shape == (0, 6)
    wm.barrier([])


@pytest.mark.parametrize("bad", [-1, 10, 2**31 - 1])
def test_an_index_out_of_range_is_named_with_its_position(comm, bad):
    t = wm.create_tensor([10, 4], [], torch.float32, True, [])
    with pytest.raises(IndexError, match=f"index {bad} at position 2 is out of range; expected 0 to 9"):
        torch.ops.wholememory.gather(torch.tensor([0, 9, bad, bad]), t, torch.float16)


def test_what_cannot_be_gathered(comm):
    t = wm.create_tensor([10, 4], [], torch.int32, True, [])
    gather = torch.ops.wholememory.gather
    with pytest.raises(TypeError, match="index: dtype is float32"):
        gather(torch.tensor([0.0, 1.0]), t, t.dtype)
    with pytest.raises(TypeError, match="expected the table's int32"):
        gather(torch.tensor([0]), t, torch.float32)
    with pytest.raises(ValueError, match="index is of 2 dimensions"):
        gather(torch.tensor([[0]]), t, t.dtype)
    with pytest.raises(ValueError, match="table is of 0 dimensions"):
        gather(torch.tensor([0]), torch.tensor(1.0), torch.float32)
    with pytest.raises(ValueError, match="requires grad"):
        gather(torch.tensor([0]), torch.ones(3, 2, requires_grad=True), torch.float32)


# Chunked tensors.


def test_chunked_tensors_and_their_parts(comm):
    c = wm.create_chunked_tensor([20, 8], [], torch.float32, [])
    assert (c.shape, c.stride, c.dtype) == ([20, 8], [8, 1], torch.float32)
    values = torch.arange(160.0).view(20, 8)
    if comm.rank == 0:
        c._tensor.copy_(values)
    wm.barrier([])
    part = wm.get_sub_chunked_tensor(c, [4, 2], [10])
    again = wm.get_sub_chunked_tensor(part, [1], [-1])
    assert part.shape == [10, 6]
    assert part.stride == [8, 1]
    assert again.shape == [9, 6]
    index = torch.tensor([0, 5, 8])
    found = torch.ops.wholememory.gather_chunked(index, again.get_ptr(), torch.float64)
    assert torch.equal(found, values[5:14, 2:][index].double())
    with pytest.raises(IndexError):
        torch.ops.wholememory.gather_chunked(torch.tensor([9]), again.get_ptr(), torch.float32)
    with pytest.raises(ValueError, match=r"start\[0\] is 21"):
        wm.get_sub_chunked_tensor(c, [21], [])
    with pytest.raises(ValueError, match=r"count\[1\] is 8"):
        wm.get_sub_chunked_tensor(c, [0, 1], [1, 8])
    with pytest.raises(ValueError, match="in count no more"):
        wm.get_sub_chunked_tensor(c, [0], [1, 1])
    pointer = again.get_ptr()
    del again
    gc.collect()
    with pytest.raises(ValueError, match="of a live ChunkedTensor"):
        torch.ops.wholememory.gather_chunked(index, pointer, torch.float32)
    wm.barrier([])


# Files.


@pytest.fixture
def folder(comm, tmp_path_factory):
    """A folder that all ranks share."""
    mine = str(tmp_path_factory.mktemp("parts")) if comm.rank == 0 else ""
    text = np.zeros(4096, np.uint8)
    text[: len(mine)] = np.frombuffer(mine.encode(), np.uint8)
    return bytes(comm.bcast(text, 0)).rstrip(b"\0").decode()


def write_parts(comm, prefix, values, counts):
    if comm.rank == 0:
        first = 0
        for part, count in enumerate(counts):
            values[first : first + count].numpy().tofile(f"{prefix}_part_{part}_of_{len(counts)}")
            first += count
    comm.barrier()


@pytest.mark.parametrize("chunked", [False, True])
def test_embeddings_are_loaded_from_uneven_parts_and_converted(comm, folder, chunked):
    values = torch.randn(23, 5, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    prefix = os.path.join(folder, f"emb[{chunked}]")
    write_parts(comm, prefix, values, [4, 0, 18, 1])
    arguments = torch.float64, torch.float16, 23, 5, prefix
    if chunked:
        c = wm.create_chunked_tensor([30, 8], [], torch.float16, [])
        wm.load_embedding_to_chunked_tensor_from_file_prefix(c, *arguments)
        t = c._tensor
    else:
        t = wm.create_tensor([30, 8], [], torch.float16, True, [])
        wm.load_embedding_to_tensor_from_file_prefix(t, *arguments)
    assert torch.equal(t[:23, :5], values.half())
    assert not t[23:].any()
    assert not t[:, 5:].any()
    part = wm.create_tensor([40, 9], [], torch.float64, True, [])
    wm.load_embedding_to_tensor_from_file_prefix(part[10:35, 2:7], torch.float64, torch.float64, 23, 5, prefix)
    assert torch.equal(part[10:33, 2:7], values)
    assert not part[:10].any()
    wm.barrier([])


def test_files_that_do_not_fit_are_every_ranks_error_and_change_nothing(comm, folder):
    prefix = os.path.join(folder, "bad")
    t = wm.create_tensor([6, 2], [], torch.float32, True, [])

    def load(rows=4, columns=2, tensor=t, dtype=torch.float32):
        wm.load_embedding_to_tensor_from_file_prefix(tensor, torch.float32, dtype, rows, columns, prefix)

    with pytest.raises(FileNotFoundError, match="is of no file; expected all i from 0"):
        load()
    write_parts(comm, prefix, torch.ones(4, 2), [2, 2])
    with pytest.raises(OSError, match="is 4; expected table_size, 5"):
        load(rows=5)
    with pytest.raises(ValueError, match="at least table_size"):
        load(rows=7 if comm.rank == 0 else 4)
    with pytest.raises(ValueError, match="embedding_dim"):
        load(columns=3 if comm.rank == comm.size - 1 else 2)
    with pytest.raises(TypeError, match="expected emb_dtype"):
        load(dtype=torch.float64)
    with pytest.raises(ValueError, match="memory of its own"):
        load(tensor=torch.ones(6, 2))
    comm.barrier()
    if comm.rank == 0:
        with open(prefix + "_part_1_of_2", "ab") as file:
            file.write(b"x")
    comm.barrier()
    with pytest.raises(OSError, match="is 17 bytes long; expected a multiple of a row's 8"):
        load()
    comm.barrier()
    if comm.rank == 0:
        os.remove(prefix + "_part_1_of_2")
    comm.barrier()
    with pytest.raises(FileNotFoundError, match="_part_1_of_2 is missing"):
        load()
    assert not t.any()


# Names.


def test_install_makes_every_name_the_same_module(comm, monkeypatch):
    for name in ("mpi4torch", "wholememory", "wholememory.torch", "wholememory.torch.wholememory_pytorch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    compat.install()
    compat.install()
    import wholememory.torch.wholememory_pytorch as dotted
    from wholememory.torch import wholememory_pytorch

    assert dotted is wholememory_pytorch is wm is importlib.import_module("wholememory.torch.wholememory_pytorch")
    assert importlib.import_module("mpi4torch").__name__ == "syncyte.compat.mpi4torch"
    assert importlib.util.find_spec("wholememory") is not None
    assert importlib.util.find_spec("wholememory.torch") is not None
