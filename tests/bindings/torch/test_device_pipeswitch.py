# SPDX-License-Identifier: BSD-3-Clause
"""PipeSwitch's six functions on CUDA devices: one process, and PipeSwitch's frontend and workers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import syncyte
from syncyte.compat import pipeswitch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")

IS_STANDIN = "SYNCYTE_TEST_HOST_OPS" in os.environ
if IS_STANDIN:
    torch.ops.load_library(os.environ["SYNCYTE_TEST_HOST_OPS"])


@pytest.fixture(autouse=True)
def environment(tmp_path, monkeypatch):
    monkeypatch.setenv("SYNCYTE_CACHE_FOLDER", str(tmp_path / "meet"))
    monkeypatch.setenv("SYNCYTE_CACHE_PARAMETER_BYTES", "2M")
    monkeypatch.setenv("SYNCYTE_CACHE_COMPUTATION_BYTES", "4M")
    torch.cuda.init()
    yield
    pipeswitch.release()


def test_slices_belong_to_the_current_stream():
    pipeswitch.allocate_shared_cache()
    cache = pipeswitch._cache[1]
    assert cache.device.type == "cuda"
    assert (cache.parameter_bytes, cache.computation_bytes) == (2 << 20, 4 << 20)
    begin = cache.memory.data_ptr()
    streams = [torch.cuda.Stream() for _ in range(4)]
    kept = []
    for parameters, computation in (streams[:2], streams[2:]):  # of two models
        with torch.cuda.stream(parameters):
            pipeswitch.insert_shared_cache_for_parameter()
            kept.append(torch.empty(100, device="cuda"))
            assert kept[-1].data_ptr() == begin
            with pytest.raises(syncyte.BusyError, match="overlaps"):
                pipeswitch.insert_shared_cache_for_parameter()
        with torch.cuda.stream(computation):
            pipeswitch.insert_shared_cache_for_computation()
            kept.append(torch.empty(100, device="cuda"))
            assert kept[-1].data_ptr() == begin + (2 << 20)
    assert not begin <= torch.empty(100, device="cuda").data_ptr() < begin + (6 << 20)
    with torch.cuda.stream(streams[0]), pytest.raises(syncyte.BusyError, match="1 tensor"):
        pipeswitch.clear_shared_cache()
    with pytest.raises(syncyte.BusyError, match="1 tensor"):
        pipeswitch.release()
    kept.clear()
    with torch.cuda.stream(streams[0]):
        pipeswitch.clear_shared_cache()
        pipeswitch.clear_shared_cache()


def test_the_limit_of_a_device_holds(monkeypatch):
    monkeypatch.delenv("SYNCYTE_CACHE_COMPUTATION_BYTES")
    monkeypatch.setenv("SYNCYTE_CACHE_DEVICE_BYTES", "8M")
    pipeswitch.allocate_shared_cache()  # scales PipeSwitch's sizes down
    assert (pipeswitch._cache[1].parameter_bytes, pipeswitch._cache[1].computation_bytes) == (2 << 20, 6 << 20)
    pipeswitch.release()
    monkeypatch.setenv("SYNCYTE_CACHE_PARAMETER_BYTES", "16M")
    with pytest.raises(syncyte.OutOfMemoryError, match="SYNCYTE_CACHE_DEVICE_BYTES is 8388608"):
        pipeswitch.allocate_shared_cache()


def test_a_receiver_with_another_torch_is_refused(monkeypatch):
    sender = "import torch; from syncyte import SharedCache; SharedCache(4096, 4096, 'cuda').send(timeout=30)"
    with subprocess.Popen([sys.executable, "-c", sender]) as other:
        monkeypatch.setenv("SYNCYTE_CACHE_TIMEOUT", "30")
        with monkeypatch.context() as patched:
            patched.setattr(torch, "__version__", "2.6.0+other")
            with pytest.raises(syncyte.VersionError, match="this process has torch 2.6.0"):
                pipeswitch.recv_shared_cache()
        assert other.wait(30) == 0
    pipeswitch.allocate_shared_cache()  # nothing of the other one is kept


def test_a_cache_in_host_memory_is_refused(monkeypatch):
    sender = "import syncyte; syncyte.SharedCache(4096, 4096).send(timeout=30)"
    with subprocess.Popen([sys.executable, "-c", sender]) as other:
        monkeypatch.setenv("SYNCYTE_CACHE_TIMEOUT", "30")
        with pytest.raises(syncyte.UnsupportedError, match="recv_shared_cache: this process uses CUDA"):
            pipeswitch.recv_shared_cache()
        assert other.wait(30) == 0


def test_pipeswitchs_frontend_and_workers(monkeypatch):
    monkeypatch.delenv("SYNCYTE_CACHE_PARAMETER_BYTES")
    monkeypatch.delenv("SYNCYTE_CACHE_COMPUTATION_BYTES")
    monkeypatch.setenv("SYNCYTE_CACHE_TIMEOUT", "60")
    script = Path(__file__).with_name("pipeswitch_application.py")
    found = subprocess.run([sys.executable, "-m", "syncyte.compat", str(script)], capture_output=True, text=True,
                           check=False, timeout=200)  # fmt: skip
    assert found.returncode == 0, found.stderr
    *answers, first, second, resident = found.stdout.splitlines()
    assert answers == ["resnet152 right", "bert_base right", "bert_base right", "resnet152 right"]
    assert [first, second] == ["worker 0", "worker 0"]
    if IS_STANDIN:  # 12 GiB, of which only what was written is resident
        assert 400 << 20 < int(resident.split()[1]) < 1 << 30
