# SPDX-License-Identifier: BSD-3-Clause
"""The device whose tensors are tested: CUDA's, or a pretended one (pretend_device/).

SYNCYTE_TEST_DEVICE: "cuda", or the path of the pretended device's library. The pretended device runs on any machine:
its memory is host memory, and its streams run nothing until a caller waits for them.
SYNCYTE_TEST_HOST_OPS: the library that runs CUDA's operators on the CPU (host_ops.cpp), where the driver is a stand-in.
SYNCYTE_TEST_MPI_TAKES=1: the MPI library accepts the device's memory. It always accepts the pretended device's.
"""

import os
import types

import pytest
import torch

import syncyte.torch  # noqa: F401  (loads the operators)

_given = os.environ.get("SYNCYTE_TEST_DEVICE", "cuda")
IS_PRETENDED = _given != "cuda"

if IS_PRETENDED:
    torch.ops.load_library(_given)
    torch.utils.rename_privateuse1_backend("pretend")
    module = types.ModuleType("torch.pretend")
    module.is_available = lambda: True
    module.is_initialized = lambda: True
    module.device_count = lambda: 2
    module.current_device = lambda: 0
    module._is_in_bad_fork = lambda: False
    torch._register_device_module("pretend", module)

if "SYNCYTE_TEST_HOST_OPS" in os.environ:
    torch.ops.load_library(os.environ["SYNCYTE_TEST_HOST_OPS"])

DEVICE = torch.device("pretend" if IS_PRETENDED else "cuda", 0)

needs_device = pytest.mark.skipif(not IS_PRETENDED and not torch.cuda.is_available(), reason="no CUDA device")
needs_cuda = pytest.mark.skipif(IS_PRETENDED or not torch.cuda.is_available(), reason="no CUDA device")
needs_pretended = pytest.mark.skipif(not IS_PRETENDED, reason="asks the pretended device what happened")
mpi_takes_it = IS_PRETENDED or os.environ.get("SYNCYTE_TEST_MPI_TAKES") == "1"


def give_to_mpi(whether: bool) -> None:
    """True: MPI gets pointers to device memory. False: MPI gets copies on the host."""
    torch.ops.syncyte.use_device_memory(3 if whether else 0)


def copies(function) -> list[int]:
    """Numbers of copies during a call: to the host, to the pretended device, and those for which the host waits."""
    before = torch.ops.pretend.copies()
    function()
    return [after - earlier for earlier, after in zip(before, torch.ops.pretend.copies(), strict=True)]


def pending(values: torch.Tensor, device: torch.device = DEVICE) -> torch.Tensor:
    """A tensor that has other values until a caller waits for the device's current stream."""
    filled = values.to(device)
    result = torch.zeros(values.shape, dtype=values.dtype).to(device)
    result.copy_(filled)
    assert not IS_PRETENDED or values.numel() == 0 or not torch.ops.pretend.is_finished(0)
    return result
