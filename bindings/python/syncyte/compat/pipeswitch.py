# SPDX-License-Identifier: BSD-3-Clause
"""PipeSwitch's functions of torch.cuda on Syncyte's shared cache, on CUDA devices and on the CPU.

``from syncyte.compat import pipeswitch``; after ``syncyte.compat.install()``, and in a script that
``python -m syncyte.compat`` runs, they are also functions of torch.cuda, as in PipeSwitch's plugin. New programs use
syncyte.SharedCache.

A process has one cache, which it has allocated or received, until syncyte.compat.uninstall() releases it. It is on the
current device once the process that allocates it has initialized CUDA, as PipeSwitch's programs do first; its slices
then belong to the current stream. Otherwise it is in host memory, for CPU tensors of the calling thread.
docs/from-pipeswitch.md lists the differences.
"""

from __future__ import annotations

import os
from typing import Any, NoReturn

import torch

from syncyte import cache
from syncyte.cache import SharedCache
from syncyte.errors import BusyError, HandleError, OutOfMemoryError, UnsupportedError

__all__ = [
    "allocate_shared_cache",
    "clear_shared_cache",
    "insert_shared_cache_for_computation",
    "insert_shared_cache_for_parameter",
    "recv_shared_cache",
    "send_shared_cache",
]

_cache: tuple[int, SharedCache] | None = None  # process id and cache: a forked child may receive its own cache
_streams: set[torch.cuda.Stream] = set()  # that have slices, or had some


def allocate_shared_cache() -> None:
    """Allocates this process's cache. Local.

    It has PipeSwitch's 1 GiB for parameters and 11 GiB for computation, unless SYNCYTE_CACHE_PARAMETER_BYTES and
    SYNCYTE_CACHE_COMPUTATION_BYTES in the environment are set; with less memory, SharedCache's defaults.

    Raises
    ------
    BusyError, UnsupportedError, OutOfMemoryError
        The process has a cache already; its device cannot share memory; there is less memory than the environment asks
        for.
    """
    _require_none("allocate_shared_cache")
    parts = {"PARAMETER": 1 << 30, "COMPUTATION": 11 << 30}
    sizes: dict[str, Any] = {f"{part.lower()}_bytes": size for part, size in parts.items()
             if not os.environ.get(f"SYNCYTE_CACHE_{part}_BYTES")}  # fmt: skip
    options: dict[str, Any] = {"device": "cuda"} if torch.cuda.is_initialized() else {}
    try:
        _keep(SharedCache(**sizes, **options))
    except OutOfMemoryError:
        _keep(SharedCache(**options))


def send_shared_cache() -> None:
    """Sends the cache to one process, which calls recv_shared_cache() before or after. Waits for it.

    Raises
    ------
    HandleError, WaitTimeoutError, BusyError
        This process has no cache; no process has received it in time; another process sends at the same time.
    """
    _required("send_shared_cache").send()


def recv_shared_cache() -> None:
    """Receives the cache of a process that calls send_shared_cache(). Waits for it.

    Raises
    ------
    BusyError, WaitTimeoutError, UnsupportedError, VersionError
        This process has a cache already; no process has sent one in time; it does not see the cache's device, or uses
        CUDA, and the cache is in host memory; the sender has another version of torch.
    """
    _require_none("recv_shared_cache")
    received = SharedCache.receive()
    if not received.is_on_device:
        _refuse_cuda_user("recv_shared_cache")
    _keep(received)


def insert_shared_cache_for_parameter() -> None:
    """Makes the current stream, or the calling thread for CPU tensors, allocate in the part for parameters.

    Raises
    ------
    HandleError, BusyError
        This process has no cache; the stream, or a thread of it, has inserted this part.
    """
    cache = _required("insert_shared_cache_for_parameter")
    _insert(cache, 0, cache.parameter_bytes)


def insert_shared_cache_for_computation() -> None:
    """Makes the current stream, or the calling thread for CPU tensors, allocate in the part for computation.

    Raises
    ------
    HandleError, BusyError
        This process has no cache; the stream, or a thread of it, has inserted this part.
    """
    cache = _required("insert_shared_cache_for_computation")
    _insert(cache, cache.parameter_bytes, cache.computation_bytes)


def _insert(cache: SharedCache, offset: int, size: int) -> None:
    if not cache.is_on_device:
        cache.insert(offset, size)
        return
    # A worker has streams for each of its models, all with slices of the same bytes, and uses one model at a time.
    cache.insert(offset, size, may_overlap=True)
    _streams.add(torch.cuda.current_stream(cache.device))


def clear_shared_cache() -> None:
    """Removes the slices of the current stream, or of the calling thread; drop the tensors in them before.

    Raises
    ------
    BusyError
        Tensors in the slices are still in use.
    """
    _require_cpu("clear_shared_cache")
    cache.clear()


_CPU_ONLY = (
    "the shared cache is in host memory and holds tensors on the CPU only; make tensors with device='cpu', and no CUDA "
    "stream, or initialize CUDA before the cache is allocated"
)


def _require_cpu(operation: str) -> None:
    """Refuses processes that use CUDA, and have a cache in host memory."""
    if _cache is not None and not _cache[1].is_on_device:
        _refuse_cuda_user(operation)


def _refuse_cuda_user(operation: str) -> None:
    """Refuses processes that use CUDA: their GPU tensors would silently not lie in the cache."""
    if torch.cuda.is_initialized():
        raise UnsupportedError(f"{operation}: this process uses CUDA, and {_CPU_ONLY}")


_replaced: tuple[Any, Any] | None = None  # what _refuse_cuda() has replaced in torch.cuda, until release()


def _refuse_cuda() -> None:
    """Makes CUDA fail in this process: its initialization, by `.cuda()` or device='cuda', and new streams."""
    global _replaced

    def refuse(*_: object, **__: object) -> NoReturn:
        raise UnsupportedError(f"this process has a shared cache of PipeSwitch's functions, and {_CPU_ONLY}")

    if _replaced is None:
        _replaced = torch.cuda._lazy_init, vars(torch.cuda.Stream)["__new__"]
        torch.cuda._lazy_init = refuse
        torch.cuda.Stream.__new__ = refuse  # type: ignore[method-assign]


def release() -> None:
    """Releases this process's cache, if it has one; it may then use CUDA.

    Raises
    ------
    BusyError
        Tensors of the calling thread, or of a stream, lie in the cache.
    """
    global _cache, _replaced
    if _cache is not None:
        cache.clear()
        for stream in list(_streams):
            with torch.cuda.stream(stream):
                cache.clear()
            _streams.discard(stream)
        _cache = None
    if _replaced is not None:
        torch.cuda._lazy_init, torch.cuda.Stream.__new__ = _replaced  # type: ignore[method-assign]
        _replaced = None


def _require_none(operation: str) -> None:
    _require_cpu(operation)
    if _cache is not None and _cache[0] == os.getpid():
        raise BusyError(
            f"{operation}: this process has a shared cache already; syncyte.SharedCache makes and receives more"
        )


def _keep(cache: SharedCache) -> None:
    global _cache
    _cache = os.getpid(), cache
    if not cache.is_on_device:
        _refuse_cuda()


def _required(operation: str) -> SharedCache:
    _require_cpu(operation)
    if _cache is None:
        raise HandleError(f"{operation}: this process has no shared cache; call allocate_shared_cache() or "
                          f"recv_shared_cache() first")  # fmt: skip
    return _cache[1]
