# SPDX-License-Identifier: BSD-3-Clause
"""SharedCache on CUDA devices with the stock torch: tensors in slices of streams, in several processes. Without MPI."""

import copy
import ctypes
import gc
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

import syncyte
from syncyte import SharedCache
from syncyte.cache import clear

UNIT = 512
MIB = 1 << 20
RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED
spawned = multiprocessing.get_context("spawn")

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")

if "SYNCYTE_TEST_HOST_OPS" in os.environ:
    torch.ops.load_library(os.environ["SYNCYTE_TEST_HOST_OPS"])


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNCYTE_CACHE_FOLDER", str(tmp_path / "meet"))
    yield
    gc.collect()
    clear()


@pytest.fixture
def cache():
    return SharedCache(2 * MIB, 2 * MIB, device="cuda")


@pytest.fixture
def stream():
    """A stream, the current one, which has no slice at the end."""
    with torch.cuda.stream(torch.cuda.Stream()) as _:
        yield torch.cuda.current_stream()
        gc.collect()
        clear()


def offset_in(cache, tensor):
    return tensor.data_ptr() - cache.memory.data_ptr()


def is_inside(cache, tensor):
    return 0 <= offset_in(cache, tensor) < cache.memory.numel()


def test_a_cache_on_a_device(cache):
    assert cache.device == torch.device("cuda", torch.cuda.current_device())
    assert cache.parameter_bytes == 2 * MIB
    memory = cache.memory
    assert (memory.device, memory.dtype, memory.shape) == (cache.device, torch.uint8, (4 * MIB,))
    assert not memory.any()
    cache.touch()
    cache.free()
    memory.fill_(3)  # a view keeps the memory
    assert memory[-1] == 3
    assert SharedCache(UNIT, UNIT).device == torch.device("cpu")


def test_new_tensors_of_the_stream_lie_in_its_slice(cache, stream):
    cache.insert(UNIT, MIB)
    first = torch.arange(5.0, device="cuda")
    second = torch.empty(129, device="cuda")
    assert [offset_in(cache, each) for each in (first, second)] == [UNIT, 2 * UNIT]
    assert torch.equal(cache.memory[UNIT : UNIT + 20].view(torch.float32).cpu(), torch.arange(5.0))
    assert is_inside(cache, copy.deepcopy(first))
    assert is_inside(cache, torch.UntypedStorage(10, device="cuda"))
    assert is_inside(cache, torch.zeros(3).cuda())
    assert is_inside(cache, (first * 2).add_(1))
    with torch.cuda.stream(torch.cuda.default_stream()):
        assert not is_inside(cache, torch.empty(5, device="cuda"))
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.cuda.current_stream()))
    thread.start()
    thread.join()
    assert found != [stream]

    def in_thread():
        with torch.cuda.stream(stream):
            found.append(torch.empty(5, device="cuda"))

    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    assert is_inside(cache, found.pop())
    del first, second


def test_gradients_lie_there_too(cache, stream):
    layer = torch.nn.Linear(8, 4)
    wanted = torch.nn.Linear(8, 4)
    wanted.load_state_dict(layer.state_dict())
    cache.insert(0, MIB)
    layer.cuda()
    values = torch.randn(3, 8)
    layer(values.cuda()).sum().backward()
    wanted(values).sum().backward()
    assert is_inside(cache, layer.weight)
    assert is_inside(cache, layer.weight.grad)
    assert torch.equal(layer.weight.grad.cpu(), wanted.weight.grad)


def test_a_full_slice_is_an_error(cache, stream):
    cache.insert(0, 4 * UNIT)
    kept = torch.empty(3 * UNIT, dtype=torch.uint8, device="cuda")
    with pytest.raises(torch.OutOfMemoryError, match=r"1024 bytes do not fit the shared cache's slice \[0, 2048\)"):
        torch.empty(2 * UNIT, dtype=torch.uint8, device="cuda")
    del kept
    assert offset_in(cache, torch.empty(4 * UNIT, dtype=torch.uint8, device="cuda")) == 0


def test_clear_refuses_living_tensors(cache, stream):
    cache.insert(0, MIB)
    first, second = torch.empty(1, device="cuda"), torch.empty(1000, device="cuda")
    with pytest.raises(syncyte.BusyError, match=r"2 tensors .* at offset 0 \(512 bytes\), 512 \(4096 bytes\)"):
        clear()
    assert is_inside(cache, torch.empty(1, device="cuda")), "nothing has changed"
    del first, second
    clear()
    assert not is_inside(cache, torch.empty(1, device="cuda"))
    cache.insert(0, MIB)


def test_clear_removes_the_threads_and_the_streams_slices_or_none(cache, stream):
    on_host = SharedCache(UNIT, UNIT)
    on_host.insert(0, UNIT)
    cache.insert(0, MIB)
    places = ["cpu", "cuda"]
    for busy in places:
        kept = torch.empty(1, device=busy)
        with pytest.raises(syncyte.BusyError, match="stream's" if busy == "cuda" else "thread's"):
            clear()
        del kept
        for place in places:
            begin = cache.memory.data_ptr() if place == "cuda" else on_host.memory.ctypes.data
            assert torch.empty(1, device=place).data_ptr() == begin, "nothing has changed"
    clear()
    assert not is_inside(cache, torch.empty(1, device="cuda"))
    assert torch.empty(1).data_ptr() != on_host.memory.ctypes.data


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two devices")
def test_clear_removes_the_slices_of_another_device():
    allocators = torchs_allocators()
    cache = SharedCache(2 * MIB, 2 * MIB, device="cuda:1")
    assert torch.cuda.current_device() == 0
    with torch.cuda.stream(torch.cuda.Stream("cuda:1")):
        cache.insert(0, MIB)
        kept = torch.empty(1, device="cuda:1")
        torch.cuda.set_device(0)
        assert kept.data_ptr() == cache.memory.data_ptr()
        with pytest.raises(syncyte.BusyError, match="stream's"):
            clear()
        del kept
        clear()
        assert not is_inside(cache, torch.empty(1, device="cuda:1"))
        cache.insert(0, MIB)
        clear()
    cache.free()
    assert torchs_allocators() == allocators


def torchs_allocators():
    """What torch allocates CUDA tensors and CUDA storages with."""
    folder = Path(torch.__file__).parent / "lib"
    name = "_ZN3c104cuda20CUDACachingAllocator9allocatorE"
    get = ctypes.CDLL(str(folder / "libc10.so"))._ZN3c1012GetAllocatorERKNS_10DeviceTypeE
    get.restype = ctypes.c_void_p
    cuda = ctypes.byref(ctypes.c_int8(1))
    return ctypes.c_void_p.in_dll(ctypes.CDLL(str(folder / "libc10_cuda.so")), name).value, get(cuda)


def test_torchs_allocator_is_back_after_the_last_cache_and_slice(stream):
    own = torchs_allocators()
    cache, other = SharedCache(MIB, MIB, device="cuda"), SharedCache(MIB, MIB, device="cuda")
    assert torchs_allocators() == own, "no slice yet"
    cache.insert(0, MIB)
    with torch.cuda.stream(torch.cuda.default_stream()):
        outside = torch.ones(100, device="cuda")
    assert torchs_allocators() != own
    cache.free()
    assert torchs_allocators() != own, "the slice needs it"
    clear()
    assert torchs_allocators() == own
    grown = outside.resize_(10000)[:100].clone()  # of the allocator that is gone
    del outside
    assert grown.cpu().tolist() == [1.0] * 100
    other.insert(0, MIB)
    inside = torch.ones(3, device="cuda")
    assert is_inside(other, inside)
    with pytest.raises(syncyte.BusyError):
        clear()
    del inside
    clear()
    assert torchs_allocators() != own, "a cache needs it"
    del other
    assert torchs_allocators() == own


def test_slices_overlap_only_if_all_may(cache, stream):
    cache.insert(0, MIB)
    with pytest.raises(syncyte.BusyError, match="overlaps"):
        cache.insert(0, MIB)
    with torch.cuda.stream(torch.cuda.Stream()):
        for may in (False, True):
            with pytest.raises(syncyte.BusyError, match="clear that stream first"):
                cache.insert(MIB // 2, MIB, may_overlap=may)
    clear()
    cache.insert(0, MIB, may_overlap=True)
    own = torch.empty(3, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        cache.insert(0, MIB, may_overlap=True)
        other = torch.empty(3, device="cuda")
        assert other.data_ptr() == own.data_ptr()
        del own, other
        clear()
    with pytest.raises(syncyte.UnsupportedError, match="may_overlap"):
        SharedCache(4096, 4096).insert(0, 4096, may_overlap=True)


def test_memory_that_another_stream_uses_returns_after_its_work(cache, stream):
    cache.insert(0, MIB)
    shared = torch.zeros(1000, device="cuda")
    place = shared.data_ptr()
    other = torch.cuda.Stream()
    other.wait_stream(stream)
    pinned = torch.zeros(1000).pin_memory()
    with torch.cuda.stream(other):
        for _ in range(9):
            pinned.copy_(shared, non_blocking=True)
    shared.record_stream(other)
    del shared
    assert torch.empty(1000, device="cuda").data_ptr() != place
    with pytest.raises(syncyte.BusyError, match="other streams still use freed memory .* at offset 0"):
        clear()
    other.synchronize()
    assert torch.empty(1000, device="cuda").data_ptr() == place


def test_what_cannot_use_a_slice_says_so(cache, stream):
    cache.insert(0, MIB)
    tensor = torch.empty(3, device="cuda")
    with pytest.raises(NotImplementedError, match="no CUDA graph can be captured"):
        torch.cuda.CUDAGraph().capture_begin()
    with pytest.raises(NotImplementedError, match="cannot be passed by torch.multiprocessing"):
        tensor.untyped_storage()._share_cuda_()
    assert is_inside(cache, torch.empty(3, device="cuda"))
    driver, made = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    assert driver.cuStreamBeginCapture_v2(ctypes.c_void_p(stream.cuda_stream), RELAXED) == 0
    with pytest.raises(NotImplementedError, match="no CUDA graph can be captured"):
        torch.empty(3, device="cuda")
    assert driver.cuStreamEndCapture(ctypes.c_void_p(stream.cuda_stream), ctypes.byref(made)) == 0
    del tensor
    clear()
    with torch.cuda.graph(torch.cuda.CUDAGraph(), stream=stream):
        with pytest.raises(syncyte.UnsupportedError, match="captured into a CUDA graph"):
            cache.insert(0, MIB)


def test_torchs_own_allocator_serves_the_rest(cache, stream):
    cache.insert(0, MIB)
    with torch.cuda.stream(torch.cuda.default_stream()):
        before = torch.cuda.memory_allocated()
        kept = torch.empty(MIB, device="cuda")
        assert torch.cuda.memory_allocated() == before + 4 * MIB
        assert torch.cuda.memory_stats()["allocated_bytes.all.current"] == before + 4 * MIB
        assert len(torch.cuda.memory_snapshot()) > 0
        del kept
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.get_allocator_backend() == "native"
    data = torch.cuda.caching_allocator_alloc(100)
    torch.cuda.caching_allocator_delete(data)


def test_wrong_arguments(cache):
    with pytest.raises(syncyte.errors.ArgumentError, match="offset is 1"):
        cache.insert(1, UNIT)
    with pytest.raises(syncyte.errors.ArgumentError, match="size is"):
        cache.insert(0, 1 << 40)
    with pytest.raises(syncyte.errors.ArgumentError, match="device is 99"):
        SharedCache(UNIT, UNIT, device="cuda:99")
    with pytest.raises(syncyte.errors.ArgumentError, match="device is meta"):
        SharedCache(UNIT, UNIT, device="meta")
    with pytest.raises(syncyte.errors.OutOfMemoryError, match="parameter_bytes"):
        SharedCache(1 << 44, UNIT, device="cuda")


MISSING = """
import torch, syncyte
cache = syncyte.SharedCache(512, 512, device="cuda")
cache.memory.fill_  # needs no libsyncyte_torch_cuda
try:
    cache.insert(0, 512)
except syncyte.UnsupportedError as error:
    print(error)
"""


def test_a_missing_library_is_named(tmp_path):
    empty = tmp_path / "libsyncyte_torch_cuda.so"
    empty.write_bytes(b"")
    found = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True, check=True, timeout=60,
                           env={**os.environ, "SYNCYTE_TORCH_CUDA_LIBRARY": str(empty)})  # fmt: skip
    assert "libsyncyte_torch_cuda is missing, or of another torch than this one" in found.stdout


def layers():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(30, 100), torch.nn.ReLU(), torch.nn.Linear(100, 7)).requires_grad_(False)


def work(pipe, folder):
    """Answers with another process's weights; clears at the end."""
    os.environ["SYNCYTE_CACHE_FOLDER"] = folder
    if "SYNCYTE_TEST_HOST_OPS" in os.environ:
        torch.ops.load_library(os.environ["SYNCYTE_TEST_HOST_OPS"])
    cache = SharedCache.receive(timeout=60)
    model = layers()
    for parameter in model.parameters():
        parameter.data = torch.empty(0)
    shapes = [each.shape for each in layers().parameters()]
    parameters, computation = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(parameters):
        cache.insert(0, cache.parameter_bytes)
        for parameter, shape in zip(model.parameters(), shapes, strict=True):
            parameter.data = torch.empty(shape, device="cuda")
    with torch.cuda.stream(computation):
        cache.insert(cache.parameter_bytes, cache.computation_bytes)
        while (data := pipe.recv()) is not None:
            output = model(torch.from_numpy(data).cuda())
            pipe.send((output.cpu().numpy(), offset_in(cache, output)))
            del output
        model.to_empty(device="meta")
        del parameter
        gc.collect()
        clear()
    with torch.cuda.stream(parameters):
        clear()
    pipe.send("clear")


@pytest.mark.parametrize("is_killed", [False, True])
def test_another_process_finds_the_weights(cache, stream, is_killed):
    here, there = spawned.Pipe()
    worker = spawned.Process(target=work, args=(there, os.environ["SYNCYTE_CACHE_FOLDER"]))
    worker.start()
    cache.send(timeout=60)
    model = layers()
    values = torch.randn(5, 30)
    for round in range(3):
        for parameter in model.parameters():
            parameter.mul_(0.5)
        cache.insert(0, cache.parameter_bytes)
        on_device = [parameter.cuda() for parameter in model.parameters()]
        del on_device  # the bytes stay
        clear()
        here.send(values.numpy())
        assert here.poll(60)
        output, offset = here.recv()
        assert torch.allclose(torch.from_numpy(output), model(values), atol=1e-5)
        assert offset >= cache.parameter_bytes
        if is_killed and round == 1:
            worker.kill()
            break
    else:
        here.send(None)
        assert here.poll(60)
        assert here.recv() == "clear"
    worker.join(60)
    assert worker.exitcode == (-signal.SIGKILL if is_killed else 0)
    assert cache.memory[:4].cpu().view(torch.float32)[0] == model[0].weight[0, 0]


def test_nothing_is_left(stream):
    driver = ctypes.CDLL("libcuda.so.1")
    if not hasattr(driver, "standin_used"):
        pytest.skip("counts the stand-in's memory")
    gc.collect()
    torch.cuda.empty_cache()
    before = driver.standin_used(0)
    cache = SharedCache(64 * MIB, MIB, device="cuda:0")
    cache.insert(0, MIB)
    kept = torch.empty(1000, device="cuda")
    cache.free()
    assert driver.standin_used(0) >= before + 64 * MIB
    del kept
    clear()
    assert driver.standin_used(0) == before


def virtual_functions(header: Path) -> set[str]:
    """Names of the virtual functions of classes in a header, without destructors."""
    text = re.sub(r"//[^\n]*", "", header.read_text())
    return set(re.findall(r"\bvirtual\s+[\w:<>,\s*&]*?\b(\w+)\(", text))


def test_the_allocator_forwards_every_virtual_function_of_torchs():
    include = Path(torch.__file__).parent / "include" / "c10"
    device = include / "core" / "CachingDeviceAllocator.h"
    allocator = (include / "core" / "Allocator.h").read_text()
    names = virtual_functions(include / "cuda" / "CUDACachingAllocator.h") | virtual_functions(device)
    names |= set(
        re.findall(r"virtual .*?\b(\w+)\(", allocator[: allocator.index("struct C10_API InefficientStdFunction")])
    )
    names -= {"Execute", "Allocator", "FreeMemoryCallback", "AllocatorState", "DeviceAllocator"}
    assert len(names) > 40, names
    source = Path(__file__).parents[3] / "bindings" / "torch" / "src" / "cuda" / "forwarding_allocator.hpp"
    calls = re.findall(r"own_->(\w+)\(", source.read_text())
    assert names <= set(calls), names - set(calls)
