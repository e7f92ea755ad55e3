"""The device whose tensors are tested: CUDA's, or a pretended one (pretend_device/).

SYNCYTE_TEST_DEVICE: "cuda", or the library of the pretended device, which lets its tests run on any machine: its memory
is the host's, and its streams do nothing until they are waited for.
SYNCYTE_TEST_MPI_TAKES=1: the MPI library takes the device's memory; it takes the pretended device's in any case.
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

DEVICE = torch.device("pretend" if IS_PRETENDED else "cuda", 0)

needs_device = pytest.mark.skipif(not IS_PRETENDED and not torch.cuda.is_available(), reason="no CUDA device")
needs_pretended = pytest.mark.skipif(not IS_PRETENDED, reason="asks the pretended device what happened")
mpi_takes_it = IS_PRETENDED or os.environ.get("SYNCYTE_TEST_MPI_TAKES") == "1"


def give_to_mpi(whether: bool) -> None:
    """Whether MPI is given the device's memory, or copies of it on the host."""
    torch.ops.syncyte.use_device_memory(3 if whether else 0)


def copies(function) -> list[int]:
    """How many copies go to the host, to the pretended device, and how many of them the host waits for."""
    before = torch.ops.pretend.copies()
    function()
    return [after - earlier for earlier, after in zip(before, torch.ops.pretend.copies(), strict=True)]


def pending(values: torch.Tensor) -> torch.Tensor:
    """A tensor whose values come when its stream, the pretended device's current one, is waited for."""
    filled = values.to(DEVICE)
    result = torch.empty_like(filled)
    result.copy_(filled)
    assert values.numel() == 0 or not torch.ops.pretend.is_finished(0)
    return result
