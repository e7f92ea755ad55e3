# SPDX-License-Identifier: BSD-3-Clause
"""Whole tensors in device memory: views, rows, indexing, gradients, and what they refuse."""

import gc
import os

import numpy as np
import pytest
import torch
from mpi4py import MPI

import syncyte
from device_under_test import needs_device, pending
from syncyte import WholeTensor, checkpoint, errors
from syncyte.compat import wholememory_pytorch as wm

RANK, SIZE = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
ROWS = 5 * SIZE + 3
STANDIN = "SYNCYTE_TEST_HOST_OPS" in os.environ

pytestmark = needs_device


def numbers(rows: int, *others: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """The same numbers on all ranks, on the CPU."""
    return torch.randint(-9, 9, (rows, *others), generator=torch.Generator().manual_seed(3)).to(dtype)


def filled(values: torch.Tensor, **options) -> WholeTensor:
    whole = WholeTensor(values.shape, values.dtype, device="cuda", **options)
    own = whole.rows()
    whole.local.copy_(values[own.start : own.stop])
    whole.sync()
    return whole


def on_device(values) -> torch.Tensor:
    return torch.as_tensor(values, device="cuda")


def test_views_are_tensors_of_the_device():
    values = numbers(ROWS, 4)
    whole = filled(values)
    assert whole.device == whole.local.device == whole.node.device == torch.device("cuda", torch.cuda.current_device())
    assert torch.equal(whole.node.cpu(), values)
    node = whole.node
    del whole
    gc.collect()
    WholeTensor((1,))  # a collective point
    assert torch.equal(node.cpu(), values), "a view keeps the memory"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool])
def test_rows_of_all_ranks(dtype):
    values = numbers(ROWS, 3, dtype=dtype)
    whole = filled(values)
    index = torch.randint(0, ROWS, (7, 2), generator=torch.Generator().manual_seed(RANK))
    found = whole.gather(index.cuda())
    assert found.device.type == "cuda"
    assert torch.equal(found.cpu(), values[index])
    assert torch.equal(whole.gather(index.int().cuda()).cpu(), values[index])
    out = torch.zeros(7, 2, 3, dtype=dtype, device="cuda")
    assert whole.gather(index.cuda(), out) is out
    assert torch.equal(out.cpu(), values[index])


def test_indexing():
    values = numbers(ROWS, 4, 3)
    whole = filled(values)
    mask = values[:, 0, 0] > 0
    for key in (0, -1, slice(2, 9, 3), (slice(None), 2), (slice(1, 4), slice(None), slice(0, 2)), ..., [3, 0, 3]):
        assert torch.equal(whole[key].cpu(), values[key]), key
    for key in (torch.tensor([5, 1]), mask):
        assert torch.equal(whole[key.cuda()].cpu(), values[key])
    whole.sync()
    if RANK == 0:
        whole[2] = 7
        whole[torch.tensor([4, 3])] = numbers(2, 4, 3)
        whole[4:6, 1] = torch.ones(2, 3, device="cuda")
    whole.sync()
    values[2], values[[4, 3]], values[4:6, 1] = 7, numbers(2, 4, 3), 1
    assert torch.equal(whole[:].cpu(), values)


def test_boxes_with_rows_of_other_ranks():
    values = numbers(ROWS, 4)
    whole = filled(values)
    assert torch.equal(whole[1:-1, 1:3].cpu(), values[1:-1, 1:3])
    whole.sync()
    if RANK == SIZE - 1:
        whole[:3] = torch.ones(3, 4)  # on the CPU
        if whole.node.shape == whole.shape:
            whole[:, 3] = 5
        else:
            with pytest.raises(
                errors.UnsupportedError, match=r"rows of the box are on other nodes; expected whole rows"
            ):
                whole[:, 3] = 5
            whole[:, :] = whole[:].index_fill(1, torch.tensor([3], device="cuda"), 5)
    whole.sync()
    values[:3], values[:, 3] = 1, 5
    assert torch.equal(whole[:].cpu(), values)
    whole.sync()


def test_writes_and_sums_follow_the_stream():
    whole = WholeTensor((SIZE, 1000), "float32", device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        source = torch.ones(1, 1000, device="cuda") * (RANK + 1)  # enqueued, like the scatter that reads it
        whole.scatter_(on_device([(RANK + 1) % SIZE]), source)
        whole.sync()
        assert torch.equal(whole.node[:, 0].cpu(), torch.tensor([(r - 1) % SIZE + 1.0 for r in range(SIZE)]))
        whole.sync()
        whole.scatter_add_(on_device([0, SIZE - 1]), torch.ones(2, 1000, device="cuda"))
    torch.cuda.current_stream().wait_stream(stream)
    whole.sync()
    wanted = torch.tensor([(r - 1) % SIZE + 1.0 for r in range(SIZE)])
    wanted[0] += SIZE
    wanted[-1] += SIZE
    assert torch.equal(whole[:, 999].cpu(), wanted)


def test_gradients_of_gathered_rows():
    values = numbers(ROWS, 2)
    whole = filled(values).requires_grad_()
    index = torch.tensor([RANK, ROWS - 1, RANK])
    weights = numbers(3, 2)
    found = whole.gather(index.cuda())
    assert found.requires_grad
    assert found.device.type == "cuda"
    (found * weights.cuda()).sum().backward()
    whole.sync_grad()
    wanted = torch.zeros(ROWS, 2)
    for rank in range(SIZE):
        wanted.index_add_(0, torch.tensor([rank, ROWS - 1, rank]), weights)
    own = whole.rows()
    assert whole.local.grad.device.type == "cuda"
    assert torch.equal(whole.local.grad.cpu(), wanted[own.start : own.stop])
    whole.zero_grad()
    with pytest.raises(NotImplementedError, match="device memory"):
        whole.gather(index.cuda(), collective=True)


def test_deterministic_algorithms_refuse_sums_of_floats():
    whole, counts = filled(numbers(ROWS, 2)).requires_grad_(), filled(numbers(ROWS, dtype=torch.int64))
    index, ones = on_device([1]), torch.ones(1, 2, device="cuda")
    found = whole.gather(index)
    torch.use_deterministic_algorithms(True)
    try:
        counts.scatter_add_(index, on_device([1]))
        with pytest.raises(errors.UnsupportedError, match="use_deterministic_algorithms"):
            whole.scatter_add_(index, ones)
        with pytest.raises(RuntimeError, match="scatter_add of a whole tensor"):
            found.sum().backward()
        torch.use_deterministic_algorithms(True, warn_only=True)
        with pytest.warns(UserWarning, match="in any order"):
            whole.scatter_add_(index, ones)
    finally:
        torch.use_deterministic_algorithms(False)
    counts.sync()
    assert counts[1].item() == numbers(ROWS, dtype=torch.int64)[1] + SIZE
    whole.sync()


def test_an_index_out_of_range_is_the_next_syncs_error():
    whole = filled(numbers(ROWS, 2))
    found = whole.gather(on_device([1, ROWS]))
    with pytest.raises(errors.OutOfRangeError, match=f"index {ROWS} at position 1"):
        whole.sync()
    assert torch.equal(found[0].cpu(), numbers(ROWS, 2)[1])
    whole.sync()


def test_what_it_refuses():
    whole = filled(numbers(ROWS, 2))
    index, row = on_device([1]), torch.zeros(1, 2, device="cuda")
    with pytest.raises(errors.ArgumentError, match="index: memory is the host's"):
        whole.gather(torch.tensor([1]))
    with pytest.raises(errors.ArgumentError, match="source: memory is the host's"):
        whole.scatter_(index, torch.zeros(1, 2))
    with pytest.raises(errors.ArgumentError, match="in the tensor's memory"):
        whole.gather(index, whole.node[:1])
    for call, text in (
        (lambda: whole.igather(index), "the started form of tensor_gather"),
        (lambda: whole.put_box((0, 0), row), "boxes"),
        (lambda: whole.local_array, "numpy has no arrays"),
        (lambda: whole.relocate(local_rows=len(whole.rows())), "tensor_relocate"),
        (lambda: WholeTensor((4,), device="cuda", row_locks=True), "row_locks"),
        (lambda: WholeTensor((4,), device="cuda", deterministic=True), "deterministic"),
    ):
        with pytest.raises(errors.UnsupportedError, match=text):
            call()
    if torch.cuda.device_count() > 1:
        other = torch.device("cuda", 1 - torch.cuda.current_device())
        with pytest.raises(errors.ArgumentError, match=r"index: device is \d; expected \d"):
            whole.gather(torch.tensor([1], device=other))
    freed = filled(numbers(ROWS, 2))
    freed.free()
    with pytest.raises(errors.HandleError, match="freed"):
        freed.gather(index)
    with pytest.raises(errors.ArgumentError, match="device is 99"):
        WholeTensor((4,), device="cuda:99")
    with pytest.raises(errors.DtypeError, match="device is 'nowhere'"):
        WholeTensor((4,), device="nowhere")
    with pytest.raises(errors.ArgumentError, match="device is meta"):
        WholeTensor((4,), device="meta")
    if SIZE > 1:
        with pytest.raises(errors.MismatchError, match="memory"):
            WholeTensor((4,), device="cuda" if RANK == 0 else None)
    counters = WholeTensor((4,), "int64", device="cuda")
    with pytest.raises(errors.UnsupportedError, match="tensor_fetch_add"):
        counters.fetch_add(1, 1)


def test_checkpoints(tmp_path_factory):
    name = MPI.COMM_WORLD.bcast(str(tmp_path_factory.mktemp("checkpoints") / "checkpoint.h5"))
    whole = filled(numbers(30_000 * SIZE + 1, 300))  # 36 MB a rank: two pieces
    shared = numbers(7, dtype=torch.int64).cuda()
    checkpoint.save(
        name, {"whole": whole, "shared": shared, "late": pending(numbers(5)), "one": torch.tensor(3.0, device="cuda")}
    )
    again = WholeTensor(whole.shape, "float32", device="cuda")
    target, late = torch.zeros(7, dtype=torch.int64, device="cuda"), torch.zeros(5, device="cuda")
    checkpoint.load(name, {"whole": again, "shared": target, "late": late})
    again.sync()
    assert torch.equal(again.local.cpu(), whole.local.cpu())
    assert torch.equal(target.cpu(), shared.cpu())
    assert torch.equal(late.cpu(), numbers(5))
    host = WholeTensor(whole.shape, "float32")
    checkpoint.load(name, {"whole": host})
    assert torch.equal(host.local, whole.local.cpu())


def test_own_rows_are_a_part_in_a_checkpoint(tmp_path_factory):
    name = MPI.COMM_WORLD.bcast(str(tmp_path_factory.mktemp("parts") / "checkpoint.h5"))
    values = numbers(ROWS, 2)
    whole = filled(values)
    checkpoint.save(name, {"rows": whole.local})
    assert np.array_equal(checkpoint.load(name)["rows"], values.numpy())
    whole.local.zero_()
    whole.sync()
    checkpoint.load(name, {"rows": whole.local})
    whole.sync()
    assert torch.equal(whole[:].cpu(), values)


@pytest.mark.parametrize("device", ["cuda", None])
def test_rows_for_another_device_are_a_part_in_a_checkpoint(tmp_path_factory, device):
    name = MPI.COMM_WORLD.bcast(str(tmp_path_factory.mktemp("parts") / "checkpoint.h5"))
    values = numbers(ROWS, 2)
    whole = WholeTensor(values.shape, values.dtype, device=device)
    own = whole.rows()
    whole.local.copy_(values[own.start : own.stop])
    whole.sync()
    other = torch.device("cuda", (torch.cuda.current_device() + 1) % torch.cuda.device_count())
    checkpoint.save(name, {"rows": whole.node_on(other)})
    assert np.array_equal(checkpoint.load(name)["rows"], values.numpy())


def test_row_loaders_need_a_tensor_in_host_memory():
    with pytest.raises(errors.UnsupportedError, match="tensor is on cuda:.*in host memory"):
        syncyte.torch.RowLoader(filled(numbers(ROWS, 2)), [torch.tensor([0])])


def test_an_index_of_the_device_out_of_range():
    whole = filled(numbers(ROWS, 2))
    for key in (on_device([0, ROWS]), (slice(None), on_device([-3])), on_device([0, -ROWS - 1])):
        with pytest.raises(errors.OutOfRangeError, match=r"at position \d is out of range for dimension"):
            whole[key]


def test_wholememorys_barrier_waits_for_the_device():
    wm.init_lib()
    wm.mp_init(RANK, SIZE)
    for use_host_memory in (False, True):
        table = wm.create_tensor([SIZE, 2], [], torch.float32, use_host_memory, [])
        assert table.is_cuda
        table[RANK] = RANK + 1
        wm.barrier([])
        expected = torch.arange(1.0, SIZE + 1)
        assert torch.equal(table[:, 1].cpu(), expected)
        wm.barrier([])
    del table
    wm.finalize_lib()


def test_own_rows_stay_in_place():
    whole = filled(numbers(4 * SIZE, 2))
    whole.local.data = torch.ones(4, 2, device="cuda")
    with pytest.raises(errors.ArgumentError, match="local"):
        whole.sync()


@pytest.mark.parametrize("index", [[1.5], [True, False], True, [2**70], [None], ["a"]])
def test_an_index_that_is_no_integers(index):
    whole = filled(numbers(ROWS, 2))
    with pytest.raises((errors.DtypeError, errors.ArgumentError)):
        whole.gather(index)
    assert torch.equal(whole.gather(np.int64(1)).cpu(), numbers(ROWS, 2)[1])


def test_recorded_reads_by_any_key():
    values = numbers(ROWS, 2)
    whole = filled(values).requires_grad_()
    for key in (0, -1, slice(1, 3), ..., [0, 1], (0, 1), (slice(None), 1), torch.tensor([3, 0]), values[:, 0] > 0):
        found = whole[key]
        assert found.requires_grad
        assert torch.equal(found.detach().cpu(), values[key])
    assert torch.equal(whole.gather([2, 0]).detach().cpu(), values[[2, 0]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_numpy_values(dtype):
    whole = filled(numbers(ROWS, 2, dtype=dtype))
    whole.sync()
    row = numbers(1, 2, dtype=dtype)[0]
    bits = row.view(torch.uint16).numpy() if dtype == torch.bfloat16 else row.numpy()
    whole[1] = bits
    whole[[2]] = bits[None]
    assert torch.equal(whole[1].cpu(), row)
    assert torch.equal(whole[2].cpu(), row)
    everything = np.asarray(whole)
    assert everything.shape == (ROWS, 2)
    assert np.array_equal(everything[1], bits)
    whole.sync()


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_tensors_without_elements(shape):
    whole = WholeTensor(shape, device="cuda")
    assert whole.node.shape == shape
    assert whole[:].shape == shape
    assert whole.node_on("cuda:0").shape == shape
    whole.gather([5])
    with pytest.raises(errors.OutOfRangeError, match="index 5 at position 0"):
        whole.sync()


def test_views_for_another_device_of_any_type():
    if torch.cuda.device_count() < 2:
        pytest.skip("one device")
    wm.init_lib()
    wm.mp_init(RANK, SIZE)
    other = torch.device("cuda", (torch.cuda.current_device() + 1) % torch.cuda.device_count())
    numbers_of = wm.create_tensor([4, 4], [], torch.complex64, False, [])
    if RANK == 0:
        numbers_of.fill_(1 + 2j)
        torch.cuda.synchronize()
    wm.barrier([])
    assert wm.get_tensor_view(numbers_of.conj(), other)[0, 0].cpu() == 1 - 2j
    assert wm.get_tensor_view(numbers_of.conj().imag, other)[0, 0].cpu() == -2
    odd = wm.create_tensor([7], [], torch.float32, False, [])
    assert wm.get_tensor_view(odd[:6].view(torch.float64), other).shape == (3,)
    wm.barrier([])


def test_versions_are_published_and_taken_through_host_memory():
    layout = syncyte.Layout.mesh(syncyte.COMM_WORLD, (4 * SIZE, 3), (SIZE, 1), ghosts=1)
    live = WholeTensor.by_layout(layout, "float32", slots=2)
    field = torch.zeros(6, 5, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        field[1:-1, 1:-1] = RANK + 1.0  # enqueued
        live.publish(field, 7)
    taken = torch.zeros(4 * SIZE, 6, device="cuda")[:, ::2]
    found, step = live.take(out=taken, at_least=7)
    assert found is taken
    assert step == 7
    assert torch.equal(taken[:, 1].cpu(), torch.arange(1.0, SIZE + 1).repeat_interleave(4))
    with pytest.raises(errors.DtypeError, match="out"):
        live.take(out=taken.double())
    with pytest.raises(errors.UnsupportedError, match="by a layout in host memory"):
        WholeTensor((4, 4), device="cuda").publish(None, 1)
    live.sync()


def test_exports():
    if SIZE > 1:
        with pytest.raises(errors.UnsupportedError, match=f"of {SIZE} ranks is not one array"):
            torch.from_dlpack(filled(numbers(ROWS, 2)))
    whole = WholeTensor((ROWS, 2), "float32", comm=syncyte.COMM_SELF, device="cuda")
    whole.local.copy_(numbers(ROWS, 2))
    assert whole.__dlpack_device__() == (2, torch.cuda.current_device())  # kDLCUDA
    seen = torch.from_dlpack(whole)
    assert seen.data_ptr() == whole.local.data_ptr()
    assert torch.equal(seen.cpu(), numbers(ROWS, 2))
    with pytest.raises((RuntimeError, BufferError), match="device"):
        np.from_dlpack(whole)


@pytest.mark.parametrize("given", ["a stream", "1: the default stream", "-1: no order"])
def test_exports_follow_the_stream(given):
    """The consumer's stream waits for what is queued on the current one."""
    whole = WholeTensor((1, 1000), "float32", comm=syncyte.COMM_SELF, device="cuda")
    ones, index = torch.ones(1, 1000, device="cuda"), on_device([0])
    out, reading = torch.zeros(1, 1000).pin_memory(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        whole.scatter_(index, ones)
        if given.startswith("1"):
            reading = torch.cuda.default_stream()
        stream = {"a": reading.cuda_stream, "1": 1, "-": -1}[given[0]]
        capsule = whole.__dlpack__(stream=stream)
    with torch.cuda.stream(reading):
        out.copy_(torch.from_dlpack(capsule), non_blocking=True)
    reading.synchronize()
    if stream != -1:
        assert (out == 1).all()
    elif STANDIN:
        assert (out == 0).all(), "nothing waits: the consumer orders its stream itself"
    torch.cuda.synchronize()


def test_conversion_of_tables():
    table = numbers(ROWS, 6, dtype=torch.float32)
    index = torch.tensor([4, 0, 4])
    found = syncyte.gather_rows(table.cuda(), index.cuda(), dtype="float16")
    assert found.device.type == "cuda"
    assert torch.equal(found.cpu(), table[index].half())
    syncyte.gather_rows(table.cuda(), on_device([0, ROWS]))
    torch.cuda.synchronize()
    with pytest.raises(errors.OutOfRangeError, match=f"index {ROWS} at position 1"):
        syncyte.gather_rows(table.cuda(), on_device([0]))
    with pytest.raises(errors.ArgumentError, match="index: memory is the host's"):
        syncyte.gather_rows(table.cuda(), index)
    for dtype in ("int32", "float32"):  # integers are not converted, as on the host
        with pytest.raises(errors.DtypeError, match="expected the table's int64; float16"):
            syncyte.gather_rows(table.cuda().long(), index.cuda(), dtype=dtype)


def resident_bytes() -> int:
    """Bytes of memory files and others that this process has touched."""
    with open("/proc/self/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return (int(fields["RssAnon"].split()[0]) + int(fields["RssShmem"].split()[0])) * 1024


def test_wholememorys_example():
    """The example of WholeMemory's documentation: 10,000,000 x 512 numbers over the memory of all devices."""
    wm.init_lib()
    wm.mp_init(RANK, SIZE)
    before = resident_bytes()
    a = wm.create_tensor([10000000, 512], [], torch.float32, False, [])
    text = f"rank={RANK}, a={a}"
    assert f"rank={RANK}, a=tensor([[0., 0., 0.,  ..., 0., 0., 0.]," in text
    assert "device='cuda:" in text
    assert a.shape == (10000000, 512)
    assert a.is_contiguous()
    assert a.device.type == "cuda"
    a[7_000_000 + RANK, :3] = torch.tensor([1.0, 2.0, 3.0 + RANK], device=a.device)
    torch.cuda.synchronize()
    wm.barrier([])
    index = torch.tensor([7_000_000 + r for r in range(SIZE)], device=a.device)
    rows = torch.ops.wholememory.gather(index, a, torch.float16)
    assert rows.dtype == torch.float16
    assert rows.device == a.device
    assert torch.equal(rows[:, 2].cpu(), torch.tensor([3.0 + r for r in range(SIZE)]).half())
    again = wm.get_tensor_view(a[5:], torch.device("cuda", a.device.index))
    assert again.data_ptr() == a.data_ptr() + 5 * 512 * 4
    if torch.cuda.device_count() > 1:
        other = torch.device("cuda", (a.device.index + 1) % torch.cuda.device_count())
        seen = wm.get_tensor_view(a[7_000_000:], other)
        assert seen.device == other
        assert seen.shape == (3_000_000, 512)
        assert torch.equal(seen[:SIZE, 2].cpu(), torch.tensor([3.0 + r for r in range(SIZE)]))
        assert torch.ops.wholememory.gather(torch.tensor([0], device=other), seen, torch.float32).device == other
        assert wm.get_tensor_view(seen, a.device).data_ptr() == seen.data_ptr()
        del seen
    with pytest.raises(errors.UnsupportedError, match="device is cpu"):
        wm.get_tensor_view(a, "cpu")
    if STANDIN:
        assert resident_bytes() - before < 1 << 30
    wm.barrier([])
    del a, again
    wm.finalize_lib()


def test_wholememorys_chunked_tensors_and_strides():
    wm.init_lib()
    wm.mp_init(RANK, SIZE)
    table = wm.create_tensor([ROWS, 3], [5, 1], torch.float32, False, [])
    assert table.stride() == (5, 1)
    assert table.device.type == "cuda"
    chunked = wm.create_chunked_tensor([ROWS, 4], [], torch.float32, [])
    values = numbers(ROWS, 4)
    if RANK == 0:
        chunked._tensor.copy_(values)
        table.copy_(values[:, :3])
        torch.cuda.synchronize()
    wm.barrier([])
    part = wm.get_sub_chunked_tensor(chunked, [2], [-1])
    index = on_device([0, ROWS - 3])
    found = torch.ops.wholememory.gather_chunked(index, part.get_ptr(), torch.float64)
    assert torch.equal(found.cpu(), values[[2, ROWS - 1]].double())
    found = torch.ops.wholememory.gather(index, table, torch.float32)
    assert torch.equal(found.cpu(), values[[0, ROWS - 3], :3])
    wm.barrier([])
    wm.finalize_lib()


# Older versions do not tell operators their stream, which they wait for.
tells_its_streams = pytest.mark.skipif(torch.__version__ < (2, 11), reason="torch does not tell its streams")


def captured(call) -> torch.cuda.CUDAGraph:
    """A graph of what the call enqueues; the call runs once before."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def test_graphs_gather_and_add_at_each_replay():
    values = numbers(ROWS, 4)
    whole = filled(values)
    index, out = on_device([ROWS - 1, 0]), torch.empty(2, 4, device="cuda")
    graph = captured(lambda: whole.gather(index, out=out))
    own = whole.rows()
    for factor in (2, 3):
        whole.local.copy_(factor * values[own.start : own.stop])
        whole.sync()
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(out.cpu(), factor * values[[ROWS - 1, 0]])
        whole.sync()
    sums = WholeTensor((ROWS,), torch.int64, device="cuda")
    rows, ones = on_device([1, 1]), on_device([1, 1])
    graph = captured(lambda: sums.scatter_add_(rows, ones))
    graph.replay()
    graph.replay()
    sums.sync()
    assert sums.gather(rows).tolist() == [6 * SIZE] * 2
    sums.sync()


@tells_its_streams
def test_graphs_add_gradients_at_each_replay():
    whole = filled(numbers(ROWS, 2)).requires_grad_()
    index, gradient = on_device([0, 2]), torch.full((2, 2), 3.0).cuda()
    graph = captured(lambda: whole.gather(index).backward(gradient))
    graph.replay()
    whole.sync_grad()
    found = whole.local.grad.cpu()
    expected = torch.zeros(ROWS, 2)
    expected[[0, 2]] = 6.0 * SIZE
    own = whole.rows()
    assert torch.equal(found, expected[own.start : own.stop])


@tells_its_streams
def test_graphs_do_not_capture_what_waits():
    whole = filled(numbers(ROWS, 2))
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        with pytest.raises(errors.UnsupportedError, match="cannot be captured into a CUDA graph"):
            whole.sync()
    whole.sync()


def test_a_communicator_that_checks_all_raises_at_once():
    whole = WholeTensor((ROWS,), device="cuda", comm=syncyte.COMM_WORLD.dup(check="full"))
    with pytest.raises(errors.OutOfRangeError, match=f"index {ROWS} at position 1"):
        whole.gather(on_device([0, ROWS]))
    whole.sync()


def test_the_default_device_of_torch_does_not_place_results():
    values = numbers(ROWS, 4)
    host = WholeTensor((ROWS, 4))
    if RANK == 0:
        host[:] = values
    host.sync()
    with torch.device("cuda"):
        for read in (host.gather(torch.tensor([1], device="cpu")), host.gather([1]), host[[1]], host[1:2]):
            assert torch.equal(torch.as_tensor(read, device="cpu"), values[1:2])
        table = torch.arange(6.0, device="cpu").view(3, 2)
        assert syncyte.gather_rows(table, torch.tensor([2], device="cpu")).tolist() == [[4.0, 5.0]]
        whole = syncyte.nn.WholeEmbedding(ROWS, 4, optimizer="sgd", lr=1.0, device="cuda")
        assert whole(on_device([0])).shape == (1, 4)
    host.sync()


def test_a_bad_index_of_gather_rows_is_the_error_of_the_next_sync():
    whole, table = filled(numbers(ROWS, 2)), on_device([[1.0], [2.0]])
    rows = syncyte.gather_rows(table, on_device([1, 2, 0]))
    with pytest.raises(errors.OutOfRangeError, match="index 2 at position 1 .*gather_rows"):
        whole.sync()
    assert rows.tolist() == [[2.0], [0.0], [1.0]]
    whole.sync()


def test_wholememorys_barrier_raises_what_gathers_have_skipped():
    wm.init_lib()
    wm.mp_init(RANK, SIZE)
    table = wm.create_tensor([4, 2], [], torch.float32, False, [])
    torch.ops.wholememory.gather(on_device([0, 4]), table, torch.float32)
    with pytest.raises(errors.OutOfRangeError, match="index 4 at position 1"):
        wm.barrier([])
    wm.barrier([])
    del table
    wm.finalize_lib()
