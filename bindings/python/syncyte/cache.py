# SPDX-License-Identifier: BSD-3-Clause
"""A shared cache: memory that processes of one machine share, and in which their PyTorch tensors lie.

The same order of allocations gives the same offsets in every process, so that a process finds in its new tensors the
values that another process has written into its own. It needs no MPI, and works before and after Syncyte is started.
"""

from __future__ import annotations

import contextlib
import functools
import os
from typing import Any, NoReturn

import numpy as np

from . import _arrays, _library
from . import _declarations as c
from ._buffers import NUMPY
from ._checks import as_int64, wrong
from ._handles import Handle
from ._modules import loaded
from ._rendezvous import interruptible, rendezvous
from .errors import ArgumentError, LibraryError

__all__ = ["SharedCache", "clear"]


class SharedCache(Handle):
    """Memory that processes of one user share: a part for parameters, then a part for computation.

    Parameters
    ----------
    parameter_bytes, computation_bytes : int, optional
        Sizes of the parts, rounded up to pages; by default as SYNCYTE_CACHE_PARAMETER_BYTES and
        SYNCYTE_CACHE_COMPUTATION_BYTES say. Sizes that neither chooses are scaled down, with a warning in the log, if
        the machine has less memory.

    Raises
    ------
    OutOfMemoryError
        The machine has less than the chosen sizes.

    Notes
    -----
    Local. The memory is zeroed; the system provides its pages when they are first touched. It is freed when the last
    process releases it.
    """

    kind = "cache"

    def __init__(self, parameter_bytes: int | None = None, computation_bytes: int | None = None) -> None:
        sizes = _library.new_struct(c.CacheSizes, parameter_bytes=_size(parameter_bytes, "parameter_bytes"),
                                 computation_bytes=_size(computation_bytes, "computation_bytes"))  # fmt: skip
        self._keep(_library.core().output("syncyte_cache_create", sizes))

    @classmethod
    def receive(
        cls, *, name: str | None = None, folder: str | os.PathLike[str] | None = None, nonce: int = 0,
        timeout: float | None = None
    ) -> SharedCache:  # fmt: skip
        """Receives a cache that another process of this user sends; waits for it.

        Parameters
        ----------
        name, folder, nonce, timeout
            As of send().

        Returns
        -------
        SharedCache
            The cache.

        Raises
        ------
        WaitTimeoutError
            No process has sent a cache within the time.
        ArgumentError
            Other users can open the folder, or the nonce differs from the sender's.
        FileFormatError, VersionError
            The received file is not a cache, or is of another version.
        """
        place = rendezvous(name, folder, nonce, timeout)
        with interruptible():
            handle = _library.core().output("syncyte_cache_receive", place)
        cache = cls.__new__(cls)
        cache._keep(handle)
        return cache

    def _keep(self, handle: int) -> None:
        self._own(handle)
        self._sizes: tuple[int, int] = _library.core().output("syncyte_cache_sizes", self.handle)
        # A tensor that was made before this call grows outside the cache.
        if loaded("torch") is not None:
            with contextlib.suppress(LibraryError):  # a build without PyTorch
                _serve_torch()

    @property
    def parameter_bytes(self) -> int:
        """Size of the part for parameters, which begins at offset 0."""
        return self._sizes[0]

    @property
    def computation_bytes(self) -> int:
        """Size of the part for computation, which begins at offset parameter_bytes."""
        return self._sizes[1]

    @property
    def memory(self) -> np.ndarray:
        """View of all bytes (uint8). The memory stays while this array, or a part of it, lives."""
        address = _library.core().output("syncyte_cache_data", self.handle)
        return _arrays.view("cache", self.handle, NUMPY, c.DType.UINT8, (sum(self._sizes),), address)

    def send(
        self, *, name: str | None = None, folder: str | os.PathLike[str] | None = None, nonce: int = 0,
        timeout: float | None = None
    ) -> None:  # fmt: skip
        """Sends the cache to one process of this user, which calls receive() before or after; waits for it.

        Parameters
        ----------
        name : str, optional
            Name of the Unix socket, whose file is NAME.syncyte; by default as SYNCYTE_CACHE says.
        folder : path, optional
            Folder of the socket, which belongs to this user and has mode 0700; made if it is missing. By default
            as SYNCYTE_CACHE_FOLDER says; a folder that neither names must not be a symbolic link.
        nonce : int
            A secret of at most 128 bits that both processes know; 0: none.
        timeout : float, optional
            Seconds to wait; by default as SYNCYTE_CACHE_TIMEOUT says.

        Raises
        ------
        WaitTimeoutError
            No process has received it within the time.
        BusyError
            Another process sends under this name.
        ArgumentError
            The folder belongs to another user, other users can open it, or a default folder is a symbolic link.
        """
        place = rendezvous(name, folder, nonce, timeout)
        with interruptible():
            _library.core().syncyte_cache_send(self.handle, place)

    def touch(self, offset: int = 0, size: int | None = None) -> None:
        """Makes bytes resident in this process, in huge pages if the machine has some. Contents are kept.

        First uses then do not wait for pages.

        Parameters
        ----------
        offset : int
            First byte.
        size : int, optional
            Number of bytes; None: all from offset on.

        Raises
        ------
        OutOfMemoryError
            The machine has less memory.

        Notes
        -----
        A signal's handler that raises (Ctrl-C) ends it within a fraction of a second; some of the bytes are resident
        then.
        """
        begin = as_int64(offset, "offset")
        count = max(sum(self._sizes) - begin, 0) if size is None else as_int64(size, "size")
        with interruptible():
            _library.core().syncyte_cache_touch(self.handle, begin, count)

    def insert(self, offset: int, size: int) -> None:
        """Makes the calling thread allocate new CPU tensors in these bytes.

        It does so until it inserts another slice or calls clear(). Every tensor takes a multiple of 512 bytes; the same
        order of allocations gives the same offsets in every process. A new tensor keeps the existing contents.

        Parameters
        ----------
        offset, size : int
            Multiples of 512.

        Raises
        ------
        ArgumentError
            Not a multiple, or outside the cache.
        BusyError
            The slice overlaps one that a thread of this process has inserted and not cleared.

        Notes
        -----
        A tensor that does not fit the slice raises torch.OutOfMemoryError: there is no fallback to other memory.
        """
        _serve_torch()
        _library.core().syncyte_cache_insert(self.handle, as_int64(offset, "offset"), as_int64(size, "size"))

    @staticmethod
    def clear() -> None:
        """Removes the calling thread's slices of all caches; see syncyte.cache.clear()."""
        clear()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a SharedCache belongs to its process and cannot be pickled or copied; call send() here and "
            "SharedCache.receive() in the other process"
        )

    def __copy__(self) -> NoReturn:
        self.__reduce__()

    def __repr__(self) -> str:
        state = "freed" if self._is_freed else f"{self.parameter_bytes} + {self.computation_bytes} bytes"
        return f"<SharedCache, {state}>"


def clear() -> None:
    """Removes all slices that the calling thread has inserted, of all caches; new tensors then lie in ordinary memory.

    Raises
    ------
    BusyError
        Tensors in this thread's slices are alive; drop them first. The message names offsets and sizes, and nothing has
        changed.
    """
    _library.core().syncyte_cache_clear()


def _serve_torch() -> None:
    """Makes torch allocate CPU tensors in the slice of the calling thread."""
    from ._torch_operators import operators

    _wrap_storages(operators.serve_from_cache())


@functools.cache
def _wrap_storages(allocator: int) -> None:
    """Makes torch.UntypedStorage(n), which copy.deepcopy of a tensor uses, allocate in the slice too."""
    import torch

    make: Any = torch.UntypedStorage.__new__

    def make_by_allocator(cls: type, *sizes: Any, device: Any = None, **options: Any) -> Any:
        if not options and (device is None or torch.device(device).type == "cpu"):
            return make(cls, *sizes, allocator=allocator)
        return make(cls, *sizes, device=device, **options)

    torch.UntypedStorage.__new__ = make_by_allocator  # type: ignore[method-assign]


def _size(value: int | None, name: str) -> int:
    if value is None:
        return 0
    number = as_int64(value, name)
    if number < 1:
        raise wrong(ArgumentError, name, number, "1 or more, or None for the default")
    return number
