# SPDX-License-Identifier: BSD-3-Clause
"""A shared cache: memory that processes of one machine share, of the host or a GPU, in which PyTorch tensors lie.

The same order of allocations gives the same offsets in every process, so that a process finds in its new tensors the
values that another process has written into its own. It needs no MPI, and works before and after Syncyte is started.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from . import _arrays, _library, dtypes
from . import _declarations as c
from ._buffers import NUMPY
from ._cache_allocators import STREAMS, THREADS, join_thread, leave_thread
from ._checks import as_int64, wrong
from ._devices import as_cuda_device
from ._handles import Handle
from ._modules import loaded
from ._rendezvous import interruptible, rendezvous
from .errors import ArgumentError, LibraryError, UnsupportedError

if TYPE_CHECKING:
    import torch

__all__ = ["SharedCache", "clear"]


class SharedCache(Handle):
    """Memory that processes of one user share: a part for parameters, then a part for computation.

    Parameters
    ----------
    parameter_bytes, computation_bytes : int, optional
        Sizes of the parts, rounded up to pages; by default as SYNCYTE_CACHE_PARAMETER_BYTES and
        SYNCYTE_CACHE_COMPUTATION_BYTES say. Sizes that neither chooses are scaled down, with a warning in the log, if
        the machine or the device has less memory; on a device also to SYNCYTE_CACHE_DEVICE_BYTES.
    device : torch.device or str, optional
        "cuda" or "cuda:N": the cache lies in the memory of this CUDA device. None or "cpu": in host memory.

    Raises
    ------
    OutOfMemoryError
        The machine, or the device, has less than the chosen sizes, or SYNCYTE_CACHE_DEVICE_BYTES is less.
    UnsupportedError
        There is no CUDA device, or it cannot share memory between processes.

    Notes
    -----
    Local. The memory is zeroed; the system provides pages of host memory when they are first touched. It is freed when
    the last process releases it.
    """

    kind = "cache"

    def __init__(self, parameter_bytes: int | None = None, computation_bytes: int | None = None,
                 device: torch.device | str | None = None) -> None:  # fmt: skip
        where: dict[str, int] = {}
        if (cuda := as_cuda_device(device)) is not None:
            where = {"memory": c.Memory.CUDA, "device": cuda.index}
        sizes = _library.new_struct(c.CacheSizes, parameter_bytes=_size(parameter_bytes, "parameter_bytes"),
                                 computation_bytes=_size(computation_bytes, "computation_bytes"),
                                 framework=_framework(), **where)  # fmt: skip
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
            The received file is not a cache, or is of another version, or was made for another version of torch than
            this process has imported.
        UnsupportedError
            The cache is on a device that this process does not see (CUDA_VISIBLE_DEVICES).
        """
        place = rendezvous(name, folder, nonce, timeout)
        with interruptible():
            handle = _library.core().output("syncyte_cache_receive", place)
        cache = cls.__new__(cls)
        cache._keep(handle)
        return cache

    def _check_framework(self) -> None:
        """Raises VersionError if the cache was made for another version of torch: its allocations may differ."""
        _library.core().syncyte_cache_check_framework(self.handle, _framework())

    def _keep(self, handle: int) -> None:
        self._own(handle)
        self._check_framework()
        self._sizes: tuple[int, int] = _library.core().output("syncyte_cache_sizes", self.handle)
        memory, number = _library.core().output("syncyte_cache_device", self.handle)
        self._device_number: int | None = number if memory == c.Memory.CUDA else None
        self._leave = (STREAMS if self.is_on_device else THREADS).leave_with(self, self.handle)
        # A tensor that was made before this call grows outside the cache.
        if not self.is_on_device and loaded("torch") is not None:
            with contextlib.suppress(LibraryError):  # a build without PyTorch
                THREADS.join(self.handle)

    @property
    def parameter_bytes(self) -> int:
        """Size of the part for parameters, which begins at offset 0."""
        return self._sizes[0]

    @property
    def computation_bytes(self) -> int:
        """Size of the part for computation, which begins at offset parameter_bytes."""
        return self._sizes[1]

    @property
    def is_on_device(self) -> bool:
        """Whether it lies in a device's memory."""
        return self._device_number is not None

    @property
    def device(self) -> torch.device:
        """The device whose memory it is."""
        torch = dtypes.import_torch()
        return torch.device("cpu") if self._device_number is None else torch.device("cuda", self._device_number)

    @property
    def memory(self) -> np.ndarray | torch.Tensor:
        """View of all bytes (uint8): a numpy array, or a tensor of the device. It keeps the memory."""
        if self._device_number is not None:
            from ._torch_operators import operators

            return operators.device_cache(self.handle)
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

        First uses then do not wait for pages. Those of a device are resident from the start.

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

    def insert(self, offset: int, size: int, *, may_overlap: bool = False) -> None:
        """Makes the calling thread allocate new CPU tensors in these bytes.

        It does so until it inserts another slice or calls clear(). Every tensor takes a multiple of 512 bytes; the same
        order of allocations gives the same offsets in every process. A new tensor keeps the existing contents.

        A slice of a cache on a device belongs to torch's current stream of that device, in every thread: new CUDA
        tensors lie in it while this stream is the current one.

        Parameters
        ----------
        offset, size : int
            Multiples of 512.
        may_overlap : bool
            True: the bytes may also be those of slices of other streams, if all of these may. Tensors of several such
            slices must not be used at the same time. On devices only.

        Raises
        ------
        ArgumentError
            Not a multiple, or outside the cache.
        BusyError
            The slice overlaps one that this process has inserted and not cleared.
        UnsupportedError
            A cache on a device, and this torch, or this build of Syncyte, is for the CPU only; the stream is captured
            into a CUDA graph.
        VersionError
            The cache was made for another version of torch.

        Notes
        -----
        A tensor that does not fit the slice raises torch.OutOfMemoryError: there is no fallback to other memory.
        """
        begin, count, core = as_int64(offset, "offset"), as_int64(size, "size"), _library.core()
        dtypes.import_torch()  # which the program may not have done before it received the cache
        self._check_framework()
        if self._device_number is not None:
            stream = _stream_to_serve(self.device)
            with STREAMS.changing():
                STREAMS.join(self.handle)
                core.syncyte_cache_insert_on_stream(self.handle, stream, begin, count, int(may_overlap))
                STREAMS.join((self._device_number, stream))
            return
        if may_overlap:
            raise wrong(UnsupportedError, "may_overlap", True, "False: the cache is in host memory")
        THREADS.join(self.handle)
        core.syncyte_cache_insert(self.handle, begin, count)
        join_thread()

    @staticmethod
    def clear() -> None:
        """Removes the slices of the calling thread and of the current streams; see syncyte.cache.clear()."""
        clear()

    def free(self) -> None:
        """Drops this object's reference. Slices and views keep the memory."""
        self._leave()  # first: a new cache may get the same handle
        super().free()

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

    Once CUDA is used, it also waits for torch's current stream, and removes this stream's slices. Then it does so on
    each other device where streams have slices, with the current stream of that device.

    Raises
    ------
    BusyError
        Tensors in these slices are alive, or other streams still use memory of tensors that were dropped. The message
        names offsets. Nothing has changed, but on devices before this one.
    """
    torch = loaded("torch")
    if torch is None or not torch.cuda.is_initialized():
        _library.core().syncyte_cache_clear()
        leave_thread()
        return
    here = torch.cuda.current_device()
    _clear_current_stream(here, "syncyte_cache_clear_both")
    leave_thread()
    for device in sorted({user[0] for user in STREAMS.users() if isinstance(user, tuple)} - {here}):
        _clear_current_stream(device, "syncyte_cache_clear_stream")


def _clear_current_stream(device: int, function: str) -> None:
    stream = device, dtypes.import_torch().cuda.current_stream(device).cuda_stream
    with STREAMS.changing():
        getattr(_library.core(), function)(*stream)
        STREAMS.leave(stream)


def _stream_to_serve(device: torch.device) -> int:
    """Returns the current stream of the device, which can get a slice."""
    torch = dtypes.import_torch()
    torch.cuda.init()
    with torch.cuda.device(device):
        is_captured = torch.cuda.is_current_stream_capturing()
    if is_captured:
        raise UnsupportedError("insert: the current stream is captured into a CUDA graph, which cannot use the cache")
    return torch.cuda.current_stream(device).cuda_stream


def _framework() -> bytes | None:
    """Name and version of torch, if this process has imported it."""
    torch = loaded("torch")
    return None if torch is None else f"torch {torch.__version__}".encode()


def _size(value: int | None, name: str) -> int:
    if value is None:
        return 0
    number = as_int64(value, name)
    if number < 1:
        raise wrong(ArgumentError, name, number, "1 or more, or None for the default")
    return number
