# SPDX-License-Identifier: BSD-3-Clause
"""Allocators that stand in front of torch's: tensors lie in slices of shared caches. They go with the last user."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any


class Allocator:
    """An allocator in front of torch's, while it has users: caches, and threads or streams with slices.

    Parameters
    ----------
    serve : callable
        Puts the allocator in front of torch's, or takes it away; calls may be repeated.
    """

    def __init__(self, serve: Callable[[bool], None]) -> None:
        self._serve = serve
        self._users: set[Hashable] = set()
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()  # a finalizer may call leave() within join()

    def join(self, user: Hashable) -> None:
        """Puts the allocator in front of torch's, until all users have left. Raises what `serve` raises."""
        with self._lock:
            self._users.add(user)  # first: a finalizer of the last other user may run meanwhile
            try:
                self._serve(True)
            except BaseException:
                self._users.discard(user)
                raise

    def leave(self, user: Hashable) -> None:
        """Undoes join(); does nothing for others."""
        with self._lock:
            if user not in self._users:
                return
            self._users.remove(user)
            if not self._users:
                self._serve(False)

    def changing(self) -> contextlib.AbstractContextManager[object]:
        """Keeps other threads from joining and leaving, while a user makes or removes what it joins with."""
        return self._lock

    def users(self) -> list[Hashable]:
        with self._lock:
            return list(self._users)

    def leave_with(self, owner: object, user: Hashable) -> weakref.finalize:
        """Calls leave() when `owner` is destroyed, but not at exit."""
        finalizer = weakref.finalize(owner, self.leave, user)
        finalizer.atexit = False
        return finalizer


_make_storage: Any = None  # torch's function, while another one stands in front of it


def _serve_threads(serves: bool) -> None:
    from ._torch_operators import serve_from_cache

    _wrap_storages(serve_from_cache(serves), serves)


def _wrap_storages(allocator: int, serves: bool) -> None:
    """Makes torch.UntypedStorage(n), which copy.deepcopy of a tensor uses, allocate in the slice too, or undoes it."""
    global _make_storage
    import torch

    if not serves and _make_storage is not None:
        torch.UntypedStorage.__new__, _make_storage = _make_storage, None  # type: ignore[method-assign]
    if not serves or _make_storage is not None:
        return
    make: Any = torch.UntypedStorage.__new__
    _make_storage = make

    def make_by_allocator(cls: type, *sizes: Any, device: Any = None, **options: Any) -> Any:
        if not options and (device is None or torch.device(device).type == "cpu"):
            return make(cls, *sizes, allocator=allocator)
        return make(cls, *sizes, device=device, **options)

    torch.UntypedStorage.__new__ = make_by_allocator  # type: ignore[method-assign]


def _serve_streams(serves: bool) -> None:
    from ._torch_operators import serve_from_device_cache

    serve_from_device_cache(serves)


THREADS = Allocator(_serve_threads)  #: for CPU tensors, in slices of threads
STREAMS = Allocator(_serve_streams)  #: for CUDA tensors, in slices of streams


class _Thread:
    """The calling thread as a user of THREADS, until it has no slices or ends."""

    def __init__(self) -> None:
        THREADS.leave_with(self, id(self))


_own = threading.local()


def join_thread() -> None:
    """Makes the calling thread a user of THREADS, which ends with it."""
    if not hasattr(_own, "thread"):
        _own.thread = _Thread()
    THREADS.join(id(_own.thread))


def leave_thread() -> None:
    if hasattr(_own, "thread"):
        THREADS.leave(id(_own.thread))
