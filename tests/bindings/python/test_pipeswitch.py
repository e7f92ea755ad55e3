# SPDX-License-Identifier: BSD-3-Clause
"""PipeSwitch's functions, in one process. docs/from-pipeswitch.md has a program with several processes."""

import inspect
import multiprocessing.spawn
import os
import subprocess
import sys

import pytest
import torch

import syncyte
from syncyte import compat
from syncyte.compat import pipeswitch

NAMES = ["allocate_shared_cache", "clear_shared_cache", "insert_shared_cache_for_computation",
         "insert_shared_cache_for_parameter", "recv_shared_cache", "send_shared_cache"]  # fmt: skip


@pytest.fixture(autouse=True)
def environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNCYTE_CACHE_FOLDER", str(tmp_path / "meet"))
    monkeypatch.setenv("SYNCYTE_CACHE_PARAMETER_BYTES", "64K")
    monkeypatch.setenv("SYNCYTE_CACHE_COMPUTATION_BYTES", "128K")
    yield
    pipeswitch.release()


def test_install_gives_torch_cuda_the_functions():
    compat.install()
    assert sorted(pipeswitch.__all__) == NAMES
    for name in NAMES:
        assert getattr(torch.cuda, name) is getattr(pipeswitch, name)
        assert not inspect.signature(getattr(pipeswitch, name)).parameters  # as in PipeSwitch's torch/cuda/__init__.py


def replaced_by_compat() -> list[object]:
    """What of torch and the interpreter install() and a cache replace."""
    return [
        torch.cuda._lazy_init,
        vars(torch.cuda.Stream)["__new__"],
        torch.UntypedStorage.__new__,
        multiprocessing.spawn.get_preparation_data,
        {name for name in NAMES if hasattr(torch.cuda, name)},
        {name for name in sys.modules if name.partition(".")[0] in ("adapm", "wholememory", "mpi4torch")},
    ]


def test_nothing_stays_replaced_after_uninstall():
    compat.uninstall()
    before = replaced_by_compat()
    assert before[4:] == [set(), set()]
    compat.install()
    pipeswitch.allocate_shared_cache()
    assert all(now != earlier for now, earlier in zip(replaced_by_compat(), before, strict=True))
    pipeswitch.insert_shared_cache_for_parameter()
    parameter = torch.ones(10)
    with pytest.raises(syncyte.BusyError, match="1 tensor"):
        compat.uninstall()
    with pytest.raises(syncyte.UnsupportedError, match="this process has a shared cache"):
        torch.cuda.Stream()
    del parameter
    compat.uninstall()
    assert replaced_by_compat() == before
    compat.uninstall()  # allowed again


def test_parts_of_the_cache():
    pipeswitch.allocate_shared_cache()
    memory = pipeswitch._cache[1].memory
    assert memory.size == (64 << 10) + (128 << 10)
    pipeswitch.insert_shared_cache_for_parameter()
    parameter = torch.ones(10)
    pipeswitch.insert_shared_cache_for_computation()
    result = torch.empty(10)
    assert parameter.data_ptr() == memory.ctypes.data
    assert result.data_ptr() == memory.ctypes.data + (64 << 10)
    with pytest.raises(syncyte.BusyError, match="2 tensors"):
        pipeswitch.clear_shared_cache()
    with pytest.raises(syncyte.BusyError, match="overlaps"):
        pipeswitch.insert_shared_cache_for_parameter()
    del parameter, result
    pipeswitch.clear_shared_cache()
    pipeswitch.clear_shared_cache()  # allowed without an inserted slice
    for again in (pipeswitch.allocate_shared_cache, pipeswitch.recv_shared_cache):
        with pytest.raises(syncyte.BusyError, match=f"{again.__name__}: this process has a shared cache already"):
            again()


@pytest.mark.parametrize("has_memory", [True, False])
def test_default_sizes_are_pipeswitchs_where_the_machine_has_the_memory(monkeypatch, has_memory):
    asked = []

    def make(**sizes):
        asked.append(sizes)
        if sizes and not has_memory:
            raise syncyte.OutOfMemoryError("short of memory")
        return syncyte.SharedCache(1 << 16, 1 << 16)

    monkeypatch.delenv("SYNCYTE_CACHE_PARAMETER_BYTES")
    monkeypatch.setenv("SYNCYTE_CACHE_COMPUTATION_BYTES", "")  # as if it were unset
    monkeypatch.setattr(pipeswitch, "SharedCache", make)
    pipeswitch.allocate_shared_cache()
    wanted = {"parameter_bytes": 1 << 30, "computation_bytes": 11 << 30}
    assert asked == ([wanted] if has_memory else [wanted, {}])


@pytest.mark.parametrize("name", [name for name in NAMES if "insert" in name or "send" in name])
def test_before_allocate(name):
    with pytest.raises(
        syncyte.HandleError, match=f"{name}: this process has no shared cache; call allocate_shared_cache"
    ):
        getattr(pipeswitch, name)()


def test_nobody_there(monkeypatch):
    monkeypatch.setenv("SYNCYTE_CACHE_TIMEOUT", "0.05")
    with pytest.raises(syncyte.WaitTimeoutError, match="no process has sent"):
        pipeswitch.recv_shared_cache()
    pipeswitch.allocate_shared_cache()
    with pytest.raises(syncyte.WaitTimeoutError, match="no process has received"):
        pipeswitch.send_shared_cache()


@pytest.mark.parametrize("name", NAMES)
def test_with_cuda(name, monkeypatch):
    pipeswitch.allocate_shared_cache()
    with monkeypatch.context() as patched:
        patched.setattr(torch.cuda, "is_initialized", lambda: True)
        with pytest.raises(syncyte.UnsupportedError, match=f"{name}: this process uses CUDA"):
            getattr(pipeswitch, name)()


ASKS_FOR_CUDA = """
import torch
from syncyte.compat import pipeswitch
pipeswitch.allocate_shared_cache()
for ask in (lambda: torch.ones(3).cuda(), lambda: torch.ones(3, device="cuda"), lambda: torch.nn.Linear(2, 2).cuda(),
            lambda: torch.empty(3).to("cuda:0"), lambda: torch.cuda.Stream(), lambda: torch.cuda.synchronize()):
    try:
        ask()
    except NotImplementedError as error:
        print(error)
print(torch.ones(3).sum().item(), torch.cuda.is_initialized())
"""


def test_what_asks_for_cuda_is_refused():
    found = subprocess.run(
        [sys.executable, "-c", ASKS_FOR_CUDA], capture_output=True, text=True, check=True, timeout=60
    )
    *refusals, last = found.stdout.splitlines()
    assert last == "3.0 False"
    assert len(refusals) == 6
    assert all("holds tensors on the CPU only; make tensors with device='cpu'" in text for text in refusals)


def test_a_forked_child_may_receive_its_own(monkeypatch):
    pipeswitch.allocate_shared_cache()
    child = os.fork()
    if child == 0:
        try:
            pipeswitch.recv_shared_cache()
            pipeswitch.insert_shared_cache_for_parameter()
            os._exit(int(torch.empty(1).item()))
        finally:
            os._exit(99)
    pipeswitch.insert_shared_cache_for_parameter()
    written = torch.full((1,), 42.0)
    pipeswitch.send_shared_cache()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    del written


SPAWNS = """
import multiprocessing, sys, torch

def work():
    assert torch.cuda.recv_shared_cache.__module__ == "syncyte.compat.pipeswitch"
    import adapm
    print(adapm.__name__, flush=True)

if __name__ == "__main__":
    for start in sys.argv[1:]:
        process = multiprocessing.get_context(start).Process(target=work)
        process.start()
        process.join()
"""


# A forkserver's processes get the functions as spawned ones do.
@pytest.mark.parametrize("ways", [["spawn", "fork"], pytest.param(["forkserver"], marks=pytest.mark.thorough)])
def test_processes_of_a_script_have_the_functions_too(tmp_path, ways):
    script = tmp_path / "script.py"
    script.write_text(SPAWNS)
    found = subprocess.run(
        [sys.executable, "-m", "syncyte.compat", script, *ways], capture_output=True, text=True, timeout=100
    )
    assert found.stdout == "syncyte.compat.adapm\n" * len(ways), found.stderr
