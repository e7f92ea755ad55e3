# SPDX-License-Identifier: BSD-3-Clause
"""Memory of CUDA devices, which torch's tensors have, and the streams on which the library uses it."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _library, dtypes
from ._checks import wrong
from ._declarations import Memory
from .errors import ArgumentError, DtypeError, UnsupportedError

if TYPE_CHECKING:
    import torch

_LEGACY_STREAM = 1  # another name of the default stream, whose handle is 0; the library waits for work on 0


def as_cuda_device(device: Any) -> torch.device | None:
    """Returns the CUDA device that an argument `device` names; None for the CPU, or for None."""
    if device is None:
        return None
    torch = dtypes.import_torch()
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise wrong(DtypeError, "device", repr(device), "a torch.device, its name, or None") from error
    if chosen.type == "cpu":
        return None
    if chosen.type != "cuda":
        raise wrong(ArgumentError, "device", chosen, "cpu, cuda or cuda:N")
    if chosen.index is not None:
        return chosen
    return torch.device("cuda", torch.cuda.current_device() if torch.cuda.is_available() else 0)


def is_on_device(array: Any) -> bool:
    """Whether an array is a CUDA tensor."""
    return dtypes.is_torch_tensor(array) and array.is_cuda


def pinned_like(array: torch.Tensor) -> torch.Tensor:
    """A new tensor of this shape and type in pinned host memory, contents undefined."""
    return dtypes.import_torch().empty(array.shape, dtype=array.dtype, device="cpu", pin_memory=True)


def on_host(array: Any) -> Any:
    """A copy of a CUDA tensor in pinned host memory, complete on return; any other array itself."""
    return pinned_like(array).copy_(array.detach()) if is_on_device(array) else array


def alert_not_deterministic(operation: str) -> None:
    """Raises UnsupportedError, or warns, if torch.use_deterministic_algorithms() forbids an operation."""
    torch = dtypes.import_torch()
    if not torch.are_deterministic_algorithms_enabled():
        return
    text = f"{operation} adds in any order, and torch.use_deterministic_algorithms() asks for one"
    if not torch.is_deterministic_algorithms_warn_only_enabled():
        raise UnsupportedError(text)
    warnings.warn(text, stacklevel=3)


@contextlib.contextmanager
def on_current_stream(device: torch.device) -> Iterator[None]:
    """Makes the library queue this thread's operations on a device on torch's current stream."""
    stream = dtypes.import_torch().cuda.current_stream(device).cuda_stream or _LEGACY_STREAM
    core = _library.core()
    core.syncyte_memory_set_stream(int(Memory.CUDA), stream)
    try:
        yield
    finally:
        core.syncyte_memory_set_stream(int(Memory.CUDA), None)
