# SPDX-License-Identifier: BSD-3-Clause
"""syncyte.SharedCache, without mpirun: PyTorch's tensors in slices, processes that share a cache, and wrong input."""

import contextlib
import copy
import ctypes
import gc
import multiprocessing
import os
import pathlib
import pickle
import signal
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch

import syncyte
from syncyte import SharedCache
from syncyte.cache import clear

UNIT = 512
spawned = multiprocessing.get_context("spawn")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    folder = tmp_path / "meet"
    monkeypatch.setenv("SYNCYTE_CACHE_FOLDER", str(folder))
    yield folder
    gc.collect()
    clear()
    assert not folder.exists() or not list(folder.iterdir())


def inside(cache, tensor):
    return 0 <= offset_in(cache, tensor) < cache.memory.size


@pytest.fixture
def cache():
    return SharedCache(64 * UNIT, 1 << 20)


def offset_in(cache, tensor):
    return tensor.data_ptr() - cache.memory.ctypes.data


def test_sizes_and_memory(cache):
    assert (cache.parameter_bytes, cache.computation_bytes) == (64 * UNIT, 1 << 20)
    assert repr(cache) == "<SharedCache, 32768 + 1048576 bytes>"
    memory = cache.memory
    assert memory.dtype == np.uint8
    assert memory.shape == (64 * UNIT + (1 << 20),)
    assert not memory.any()
    cache.free()
    memory[-1] = 7  # the memory stays mapped
    assert memory[-1] == 7
    assert repr(cache) == "<SharedCache, freed>"
    with pytest.raises(syncyte.HandleError, match="this SharedCache has been freed"):
        cache.insert(0, UNIT)


RECEIVE_WITH_ANOTHER_TORCH = """
import syncyte, torch
torch.__version__ = "2.6.0+other"
try:
    syncyte.SharedCache.receive(timeout=30)
except syncyte.VersionError as error:
    print(error)
"""
RECEIVE_WITHOUT_TORCH = """
import sys, syncyte
cache = syncyte.SharedCache.receive(timeout=30)
print(cache.memory[0], "torch" in sys.modules)
"""


@pytest.mark.parametrize("program", [RECEIVE_WITH_ANOTHER_TORCH, RECEIVE_WITHOUT_TORCH])
def test_a_receiver_needs_the_senders_torch_or_none(cache, program):
    cache.memory[0] = 5
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as receiver:
        cache.send(timeout=30)
        found, _ = receiver.communicate(timeout=60)
    if program == RECEIVE_WITHOUT_TORCH:
        assert found == "5 False\n"
    else:
        assert f"made for torch {torch.__version__}, and this process has torch 2.6.0+other" in found


def test_insert_compares_versions_of_torch(cache, monkeypatch):
    with monkeypatch.context() as patched:  # as if it were received before torch was imported
        patched.setattr(torch, "__version__", "2.6.0+other")
        with pytest.raises(syncyte.VersionError, match="this process has torch 2.6.0"):
            cache.insert(0, UNIT)
    cache.insert(0, UNIT)


def test_sizes_from_the_environment(monkeypatch):
    monkeypatch.setenv("SYNCYTE_CACHE_PARAMETER_BYTES", "8K")
    monkeypatch.setenv("SYNCYTE_CACHE_COMPUTATION_BYTES", "4K")
    assert repr(SharedCache()) == "<SharedCache, 8192 + 4096 bytes>"


def test_default_sizes_are_scaled_down_with_a_warning():
    program = "import syncyte; c = syncyte.SharedCache(); print(c.computation_bytes / c.parameter_bytes)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert abs(float(found.stdout) - 1) < 0.01
    too_small = SharedCache().parameter_bytes < 1 << 30
    assert ("scaled down" in found.stderr) == too_small


def test_tensors_lie_in_the_slice_in_order(cache):
    cache.insert(0, cache.parameter_bytes)
    tensors = [
        torch.empty(shape, dtype=dtype)
        for shape, dtype in [
            ((3, 5), torch.float32),
            ((129,), torch.float32),
            ((), torch.int64),
            ((1000,), torch.float16),
        ]
    ]
    assert [offset_in(cache, each) for each in tensors] == [0, UNIT, 3 * UNIT, 4 * UNIT]
    cache.insert(cache.parameter_bytes, cache.computation_bytes)
    assert offset_in(cache, torch.zeros(8)) == cache.parameter_bytes
    negative = tensors[1].neg()  # an operation with a scalar would allocate a second block for the scalar
    assert offset_in(cache, negative) == cache.parameter_bytes
    tensors[0].fill_(2.0)
    assert cache.memory[:60].view(np.float32).tolist() == [2.0] * 15
    empty = torch.empty(0)  # takes no block
    del tensors, negative
    clear()
    assert torch.empty(8).data_ptr()
    assert empty.numel() == 0
    assert not 0 <= offset_in(cache, torch.empty(8)) < cache.memory.size


def test_what_was_written_is_there_for_the_same_order(cache):
    cache.insert(0, cache.parameter_bytes)
    first = [torch.full((100,), float(number)) for number in range(5)]
    del first
    clear()
    cache.insert(0, cache.parameter_bytes)
    second = [torch.empty(100) for _ in range(5)]
    for number, each in enumerate(second):
        assert torch.equal(each, torch.full((100,), float(number)))


def test_backward_and_resize_stay_in_the_slice(cache):
    cache.insert(cache.parameter_bytes, cache.computation_bytes)
    inside = range(cache.parameter_bytes, cache.memory.size)
    x = torch.ones(50, requires_grad=True)
    (x * x).sum().backward()
    assert offset_in(cache, x.grad) in inside
    assert torch.equal(x.grad, torch.full((50,), 2.0))
    grown = torch.ones(4).resize_(4000)
    assert offset_in(cache, grown) in inside
    assert grown[:4].tolist() == [1.0] * 4


def test_copies_and_storages_lie_in_the_slice(cache):
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    cache.insert(cache.parameter_bytes, cache.computation_bytes)
    copied = copy.deepcopy(network)
    state = [*copied.parameters(), *copied.buffers()]
    assert len(state) == 7
    assert all(inside(cache, each) for each in state)
    assert all(torch.equal(a, b) for a, b in zip(state, [*network.parameters(), *network.buffers()], strict=True))
    tensors = [
        torch.ones(5).untyped_storage().clone(),
        torch.UntypedStorage(20),
        torch.UntypedStorage(20, device="cpu"),
        torch.FloatStorage(5),
        torch.FloatStorage([1.0, 2.0]),
        pickle.loads(pickle.dumps(torch.ones(3))),
    ]
    assert all(inside(cache, each) for each in tensors)
    assert tensors[4].tolist() == [1.0, 2.0]
    assert tensors[5].tolist() == [1.0] * 3
    del tensors, state, copied
    clear()
    assert not inside(cache, torch.UntypedStorage(20))
    assert torch.UntypedStorage(20, device="meta").device.type == "meta"


def torchs_allocator():
    """The address of the allocator that torch uses for CPU tensors."""
    function = ctypes.CDLL(str(pathlib.Path(torch.__file__).parent / "lib" / "libc10.so"))._ZN3c1015GetCPUAllocatorEv
    function.restype = ctypes.c_void_p
    return function()


def test_torchs_allocator_is_back_after_the_last_cache_and_slice():
    own, make = torchs_allocator(), torch.UntypedStorage.__new__
    first, second = SharedCache(64 * UNIT, 1 << 20), SharedCache(UNIT, UNIT)
    assert torchs_allocator() != own
    first.insert(0, first.parameter_bytes)
    del first, second
    assert torchs_allocator() != own, "the slice needs it"
    outside = []
    thread = threading.Thread(target=lambda: outside.append(torch.ones(4)))
    thread.start()
    thread.join()
    kept = torch.ones(4)
    with pytest.raises(syncyte.BusyError):
        clear()
    assert torchs_allocator() != own
    del kept
    clear()
    assert torchs_allocator() == own
    assert torch.UntypedStorage.__new__ is make
    (grown,) = outside  # of the allocator that is gone
    assert copy.deepcopy(grown.resize_(10000)[:4]).tolist() == [1.0] * 4
    again = SharedCache(UNIT, UNIT)
    assert torchs_allocator() != own
    again.insert(0, UNIT)
    assert inside(again, torch.UntypedStorage(20))
    clear()
    again.free()
    assert torchs_allocator() == own


def test_tensors_of_a_thread_that_has_ended_outlive_the_allocator(cache):
    ours, kept = torchs_allocator(), []

    def work():
        cache.insert(0, UNIT)
        kept.append(torch.full((3,), 2.0))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert inside(cache, kept[0])
    cache.free()
    deadline = time.monotonic() + 20
    while torchs_allocator() == ours and time.monotonic() < deadline:
        time.sleep(0.001)  # Python's join() returns before the thread has completely ended
    assert torchs_allocator() != ours
    assert kept.pop().tolist() == [2.0] * 3
    assert torch.ones(3).sum() == 3


OFFSETS = """
import sys, torch, syncyte
cache = syncyte.SharedCache(65536, 4096)
if sys.argv[1] == "again":
    cache.insert(0, cache.parameter_bytes)
    syncyte.cache.clear()
buffer = torch.empty(0)
cache.insert(0, cache.parameter_bytes)
torch.arange(100.0, out=buffer)
print(torch.empty(100).data_ptr() - cache.memory.ctypes.data)
"""


def test_offsets_do_not_depend_on_earlier_insertions():
    printed = {subprocess.run([sys.executable, "-c", OFFSETS, what], capture_output=True, text=True, check=True).stdout
               for what in ("first", "again")}  # fmt: skip
    assert printed == {"512\n"}


def test_a_full_slice_is_an_error(cache):
    cache.insert(0, cache.parameter_bytes)
    kept = torch.ones(100)
    with pytest.raises(torch.OutOfMemoryError, match=r"40000 bytes do not fit the shared cache's slice \[0, 32768\)"):
        torch.empty(10000)
    with pytest.raises(torch.OutOfMemoryError):
        torch.ones(8000).add(1)  # the result has no room
    rest = torch.zeros(4000)
    assert kept.sum() == 100
    assert offset_in(cache, rest) > 0


def test_clear_names_living_tensors(cache):
    cache.insert(0, cache.parameter_bytes)
    first, second = torch.empty(10), torch.empty(1000)
    with pytest.raises(syncyte.BusyError, match=r"2 tensors .*at offset 0 \(512 bytes\), 512 \(4096 bytes\); drop"):
        clear()
    view = second[3:5]
    del first, second
    with pytest.raises(syncyte.BusyError, match=r"1 tensor is .*at offset 512"):
        clear()
    assert offset_in(cache, torch.empty(1)) == 0  # the slice is still inserted
    del view
    cache.clear()  # the same function


def test_other_threads_have_their_own_memory(cache):
    cache.insert(0, cache.parameter_bytes)
    mine = torch.empty(10)
    found = []

    def work():
        found.append(torch.empty(10))
        cache.insert(cache.parameter_bytes, cache.computation_bytes)
        found.append(torch.empty(10))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not 0 <= offset_in(cache, found[0]) < cache.memory.size
    assert offset_in(cache, found[1]) == cache.parameter_bytes
    with pytest.raises(
        syncyte.BusyError, match="where tensors of a thread that has ended live, at offset 32768|another thread"
    ):
        cache.insert(cache.parameter_bytes, cache.computation_bytes)
    found.clear()
    # Waits: Python's join() returns before the thread has completely ended.
    cache.insert(cache.parameter_bytes, cache.computation_bytes)
    dropped = threading.Thread(target=lambda tensors: tensors.clear(), args=([mine],))
    del mine
    dropped.start()
    dropped.join()


def test_tensors_of_before_and_after_are_left_alone(cache):
    before = torch.ones(10)
    cache.insert(0, cache.parameter_bytes)
    before.resize_(20)
    del before
    inside = torch.ones(10)
    assert 0 <= offset_in(cache, inside) < cache.memory.size
    del inside
    clear()


def test_a_forked_worker_of_a_data_loader_has_its_own_memory(cache):
    cache.insert(0, cache.parameter_bytes)
    kept = torch.arange(20.0)
    loader = torch.utils.data.DataLoader(kept, batch_size=5, num_workers=2, multiprocessing_context="fork")
    assert torch.cat(list(loader)).sum() == 190
    assert kept.tolist() == list(range(20))
    del loader


def test_a_forked_child_that_inserts_does_not_overwrite_what_it_inherits(cache):
    cache.insert(0, cache.parameter_bytes)
    inherited = torch.ones(10)
    child = os.fork()
    if child == 0:
        try:
            cache.insert(0, cache.parameter_bytes)
        except syncyte.BusyError as error:
            cache.insert(cache.parameter_bytes, cache.computation_bytes)
            own = torch.full((10,), 5.0)
            good = "tensors of the parent process live, at offset 0 (512 bytes)" in str(error)
            os._exit(0 if good and own.sum() == 50 and inherited.sum() == 10 else 2)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert inherited.sum() == 10


def test_a_network_gives_the_same_bits(cache):
    torch.manual_seed(1)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(8 * 36, 10),
    ).eval()
    data = torch.rand(2, 3, 8, 8)
    expected = network(data)
    state = {name: value.clone() for name, value in network.state_dict().items()}
    cache.insert(0, cache.parameter_bytes)
    with torch.no_grad():
        for each in [*network.parameters(), *network.buffers()]:
            each.data = torch.empty_like(each)
    for name, value in network.state_dict().items():
        value.copy_(state[name])
    cache.insert(cache.parameter_bytes, cache.computation_bytes)
    output = network(data)
    assert torch.equal(output, expected)
    assert 0 <= offset_in(cache, output) < cache.memory.size
    del output, network, value, each


def test_thousand_cycles_leak_nothing(cache):
    def cycle():
        cache.insert(0, cache.parameter_bytes)
        tensors = [torch.ones(100) for _ in range(5)]
        del tensors
        clear()

    def measure():
        gc.collect()
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
        return pages, (len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))

    for _ in range(20):
        cycle()
    pages, others = measure()
    for _ in range(1000):
        cycle()
    more_pages, more_others = measure()
    assert more_others == others
    # Python takes some pages for itself now and then; one tensor of each cycle would be about 100 of them.
    assert more_pages - pages < 64


def receive_and_answer(name, nonce, pipe):
    """Runs in a second process: each process sees what the other one has written."""
    cache = SharedCache.receive(name=name, nonce=nonce, timeout=60)
    cache.insert(0, cache.parameter_bytes)
    tensors = [torch.empty(7), torch.empty(300)]
    pipe.send([each.sum().item() for each in tensors])
    tensors[1].fill_(5.0)
    pipe.send((cache.parameter_bytes, cache.computation_bytes))
    pipe.recv()
    del tensors
    clear()


def test_two_processes_share(cache):
    ours, theirs = spawned.Pipe()
    other = spawned.Process(target=receive_and_answer, args=("shared", 2**127 + 9, theirs))
    other.start()
    cache.insert(0, cache.parameter_bytes)
    tensors = [torch.full((7,), 3.0), torch.full((300,), 4.0)]
    cache.send(name="shared", nonce=2**127 + 9, timeout=60)
    assert ours.recv() == [21.0, 1200.0]
    assert ours.recv() == (cache.parameter_bytes, cache.computation_bytes)
    assert tensors[1].sum() == 1500
    ours.send("end")
    other.join(30)
    assert other.exitcode == 0


@pytest.mark.parametrize("wrong", [
    (lambda cache: SharedCache(0), syncyte.ArgumentError, "parameter_bytes is 0; expected 1 or more"),
    (lambda cache: SharedCache(UNIT, -3), syncyte.ArgumentError, "computation_bytes is -3"),
    (lambda cache: SharedCache(1.5), syncyte.DtypeError, "parameter_bytes is 1.5; expected an integer"),
    (lambda cache: SharedCache(1 << 44), syncyte.OutOfMemoryError, "are available"),
    (lambda cache: SharedCache(2**70), syncyte.ArgumentError, "expected -2^63 to 2^63 - 1"),
    (lambda cache: cache.insert(3, UNIT), syncyte.ArgumentError, "offset is 3; expected a multiple of 512"),
    (lambda cache: cache.insert(0, 1 << 40), syncyte.ArgumentError, "size is 1099511627776"),
    (lambda cache: cache.insert("0", UNIT), syncyte.DtypeError, "offset is '0'"),
    (lambda cache: cache.touch(-1), syncyte.ArgumentError, "offset is -1"),
    (lambda cache: cache.touch(0, 1 << 40), syncyte.ArgumentError, "size is 1099511627776"),
    (lambda cache: cache.send(timeout=-1), syncyte.ArgumentError, "timeout is -1"),
    (lambda cache: cache.send(timeout="1"), syncyte.DtypeError, "timeout is '1'"),
    (lambda cache: cache.send(timeout=10**400), syncyte.ArgumentError, "expected a number of seconds"),
    (lambda cache: cache.send(timeout=-10**400), syncyte.ArgumentError, "expected a number of seconds, 0 or more"),
    (lambda cache: cache.send(timeout=float("nan")), syncyte.ArgumentError, "timeout is nan"),
    (lambda cache: cache.send(timeout=0, name="a/b"), syncyte.ArgumentError, 'name is "a/b"'),
    (lambda cache: cache.send(timeout=0, name=3), syncyte.DtypeError, "name is 3; expected a string"),
    (lambda cache: cache.send(timeout=0, name=""), syncyte.ArgumentError, "name is ''"),
    (lambda cache: cache.send(timeout=0, nonce=2**128), syncyte.ArgumentError, "nonce is of more bits"),
    (lambda cache: cache.send(timeout=0, nonce=-1), syncyte.ArgumentError, "nonce is -1"),
    (lambda cache: cache.send(timeout=0, nonce="x"), syncyte.DtypeError, "nonce is 'x'"),
    (lambda cache: cache.send(timeout=0), syncyte.WaitTimeoutError, "no process has received"),
    (lambda cache: SharedCache.receive(timeout=0), syncyte.WaitTimeoutError, "no process has sent"),
])  # fmt: skip
def test_wrong_input(cache, wrong):
    call, error, text = wrong
    with pytest.raises(error) as raised:
        call(cache)
    assert text in str(raised.value)


def test_a_folder_that_others_can_open_is_refused(cache, own_folder):
    own_folder.mkdir(mode=0o700)
    own_folder.chmod(0o770)
    for call in (lambda: cache.send(timeout=0), lambda: SharedCache.receive(timeout=0)):
        with pytest.raises(syncyte.ArgumentError, match=r"folder is .*, which belongs to user \d+ and has mode 0770"):
            call()
    own_folder.chmod(stat.S_IRWXU)


def test_a_second_sender_is_busy(cache):
    def send():
        for _ in range(1000):
            with contextlib.suppress(syncyte.BusyError):  # the other one was first
                return cache.send(timeout=30)

    first = threading.Thread(target=send)
    first.start()
    with pytest.raises(syncyte.BusyError, match="another process uses the name"):
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with contextlib.suppress(syncyte.WaitTimeoutError):  # before the first one
                cache.send(timeout=0)
    SharedCache.receive(timeout=30)
    first.join()


INTERRUPTED = """
import sys, syncyte
cache = syncyte.SharedCache(4096, 4096)
print("waiting", flush=True)
try:
    cache.send(timeout=60) if sys.argv[1] == "send" else syncyte.SharedCache.receive(timeout=60)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize("operation", ["send", "receive"])
def test_ctrl_c_ends_a_wait(operation):
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, operation], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == "interrupted\n"
    assert process.returncode == 0


def test_ctrl_c_ends_a_touch():
    cache = SharedCache(256 << 20, UNIT)
    status = pathlib.Path("/proc/self/status")
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)  # as for Ctrl-C
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.005)
            cache.touch()
    finally:
        signal.signal(signal.SIGALRM, before)
    resident = next(line for line in status.read_text().splitlines() if line.startswith("RssShmem"))
    assert int(resident.split()[1]) < 200 << 10
    cache.free()


def test_a_cache_is_not_pickled_or_copied(cache):
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"call send\(\) here and SharedCache.receive\(\) in the other process"):
            call(cache)


def test_former_names_say_the_new_ones(cache):
    with pytest.raises(AttributeError, match=r"insert_for_parameter is now SharedCache.insert\(0, "):
        cache.insert_for_parameter()
    with pytest.raises(AttributeError, match=r"insert_for_computation is now SharedCache.insert\(cache.par"):
        cache.insert_for_computation()


def test_the_library_is_used_without_mpi():
    program = "import torch, syncyte; c = syncyte.SharedCache(4096, 4096); c.insert(0, 4096); torch.empty(3); "
    program += "syncyte.cache.clear(); print(syncyte.initialized())"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout == "False\n"


def test_pointers_of_others_are_refused():
    with pytest.raises(syncyte.ArgumentError, match="data is 0x.*expected a pointer that cache_allocate"):
        syncyte._library.core().syncyte_cache_free(ctypes.c_void_p(4096))
