# SPDX-License-Identifier: BSD-3-Clause
"""The memory of whole tensors: makes, frees and synchronizes it, and has views of this rank's and this node's rows."""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from . import _arrays, _library, _parts, dtypes
from . import _declarations as c
from ._buffers import NUMPY, TORCH, Buffer, as_buffer
from ._checks import as_index, as_int32, as_int64, check_kind, integers, wrong
from ._devices import as_cuda_device, on_current_stream
from ._handles import Handle
from ._requests import reap
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError, BusyError, Error, ShapeError, UnsupportedError
from .layout import Layout

if TYPE_CHECKING:
    import torch

# Arrays that tensors wrap, each with the flag that the C library sets once it no longer uses the array. It may do so
# after the interpreter has cleared this module (MPI_Finalize at the exit of mpi4py, last views): each entry has an
# extra reference that only _forget_released() drops.
_wrapped: dict[int, tuple[ctypes.c_int64, Any]] = {}


# Attribute of tensors that record gradients: two companion tensors, one for adds of backward passes, one for values in
# flight.
GRADIENT_COMPANIONS = "_gradient_companions"


# References to a view in WholeTensor._cache that nothing else refers to: the cache, a loop's variable, an argument.
_UNSHARED = 3


class _Wrapping:
    """Lives as long as a tensor has the array that it wraps: then the array is a part of a larger one."""


def _remember(released: ctypes.c_int64, array: Any) -> None:
    entry = (released, array)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(entry))
    _wrapped[id(entry)] = entry


def _forget_released() -> None:
    for key, (released, array) in list(_wrapped.items()):
        # Several threads may be here; only one of them gets the entry.
        if released.value and (entry := _wrapped.pop(key, None)) is not None:
            if dtypes.is_torch_tensor(array):
                from ._fixed_storage import release

                release(array)
            ctypes.pythonapi.Py_DecRef(ctypes.py_object(entry))


def _shape(shape: Any) -> tuple[int, ...]:
    extents = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    numbers = tuple(as_index(extent, "an extent of shape") for extent in extents)
    if any(not 0 <= number < 2**63 for number in numbers):
        raise wrong(ShapeError, "shape", numbers, "extents of 0 to 2^63 - 1")
    return numbers


def _array_kind_of(dtype: Any) -> str:
    """Kind of arrays that reads return."""
    is_torch = dtypes.is_torch_dtype(dtype) or (isinstance(dtype, (str, c.DType)) and dtypes.loaded_torch())
    return TORCH if is_torch else NUMPY


class TensorMemory(Handle):
    """The part of WholeTensor with its rows' memory and what describes it.

    All methods are local, except the constructor, wrap() and sync().
    """

    kind = "tensor"

    def __init__(
        self,
        shape: Sequence[int] | int,
        dtype: dtypes.DTypeLike = "float32",
        *,
        comm: Comm = COMM_WORLD,
        local_rows: int | None = None,
        name: str | None = None,
        label: str | None = None,
        row_locks: bool = False,
        deterministic: bool = False,
        device: torch.device | str | None = None,
    ):
        """Makes a tensor of zeros. Collective; all ranks agree on shape, dtype, name, and whether local_rows is given.

        Parameters
        ----------
        shape : int or sequence of int
            Global extents, 1 to 8 of them, 0 allowed.
        dtype : element type
            A syncyte.DType, a name, a numpy or torch dtype.
        comm : Comm
            The tensor's ranks.
        local_rows : int, optional
            Number of this rank's rows; the numbers of all ranks add up to shape[0]. None on all ranks: equal parts,
            with the remainder on the first ranks.
        name : str, optional
            Name, equal on all ranks; None is a name of its own.
        label : str, optional
            Name for messages instead of `name`; ranks may differ.
        row_locks : bool
            True: rows have locks, see lock(), of 8 bytes each. Equal on all ranks.
        deterministic : bool
            True: scatter_add_, and accumulate_box with "sum", of floating-point and complex numbers take effect in
            sync(), with the same bits for every order of the adds and for every rank that makes them. Equal on all
            ranks.
        device : torch.device or str, optional
            "cuda" or "cuda:N": this rank's rows lie in the memory of this CUDA device, of which all ranks give one; its
            `local` and `node` are CUDA tensors, and operations on rows are enqueued on torch's current stream. If the
            ranks are on several nodes, these operations are complete on return. None or "cpu": host memory.

        Raises
        ------
        UnsupportedError
            On all ranks: there is no such device; devices of the node cannot access each other's memory.
        DtypeError, ShapeError, ArgumentError, OutOfMemoryError, MismatchError
            On all ranks: wrong arguments; local_rows do not add up; too little memory; ranks differ.
        """
        comm = comm_or_world(comm)

        def prepare() -> tuple[tuple[int, ...], c.DType, Any]:
            rows = -1 if local_rows is None else as_int64(local_rows, "local_rows")
            if local_rows is not None and rows < 0:
                raise wrong(ShapeError, "local_rows", rows, "0 or more, or None")
            chosen = as_cuda_device(device)
            options = _library.new_struct(
                c.TensorOptions,
                name=_library.name_bytes(name),
                label=_library.name_bytes(label, "label"),
                local_rows=rows,
                memory=int(c.Memory.HOST if chosen is None else c.Memory.CUDA),
                device=-1 if chosen is None else chosen.index,
                row_locks=int(bool(row_locks)),
                deterministic=int(bool(deterministic)),
            )
            return _shape(shape), dtypes.as_dtype(dtype), options

        extents, element, options = comm._prepare("tensor_create", prepare, always=True)
        description = int(element), len(extents), integers(ctypes.c_int64, extents or (0,), "shape")
        handle = _library.core().output("syncyte_tensor_create", comm.handle, *description, options)
        cuda = dtypes.import_torch().device("cuda", options.device) if options.memory == c.Memory.CUDA else None
        kind = TORCH if cuda is not None else _array_kind_of(dtype)
        self._take(handle, comm, extents, element, kind, name=label or name, device=cuda)

    def _take(
        self, handle: int, comm: Comm, shape: tuple[int, ...], dtype: c.DType, array_kind: str, wrapped: Any = None,
        name: str | None = None, device: torch.device | None = None,
    ) -> None:  # fmt: skip
        self._own(handle)
        self._device = device  # None: host memory
        self._layout: Layout | None = None
        self._comm, self._shape, self._dtype, self._array_kind = comm, shape, dtype, array_kind
        self._original, self._name = wrapped, name
        self._wrapping = _Wrapping()
        self._cache: dict[tuple[str, str], Any] = {}
        self._addresses: dict[str, int] = {}  # addresses of the torch views in _cache when they were made
        self._seen_on: set[torch.device] = set()  # further devices, of node_on()

    @classmethod
    def zeros(cls, shape: Sequence[int] | int, dtype: dtypes.DTypeLike = "float32", **options: Any) -> Self:
        """Makes a tensor of zeros, as the constructor does. Collective.

        Parameters
        ----------
        shape, dtype, **options
            As of the constructor.

        Returns
        -------
        WholeTensor
            The tensor.
        """
        return cls(shape, dtype, **options)

    @classmethod
    def wrap(
        cls, array: Any, *, comm: Comm = COMM_WORLD, name: str | None = None, label: str | None = None,
        row_locks: bool = False, deterministic: bool = False,
    ) -> Self:  # fmt: skip
        """Makes a whole tensor of arrays that the ranks already have, without a copy. Collective.

        Element type, name and all extents but the first must be equal on all ranks. The memory is not shared: other
        ranks access it as they access other nodes' rows, and there is no node view.

        Parameters
        ----------
        array : array
            This rank's rows, contiguous, numpy or torch. It stays referenced until a collective point has freed the
            tensor, and then until the next call of wrap or sync of any tensor.
        comm : Comm
            The tensor's ranks.
        name : str, optional
            Name, equal on all ranks; None is a name of its own.
        label : str, optional
            Name for messages instead of `name`; ranks may differ.
        row_locks, deterministic : bool
            As of the constructor.

        Returns
        -------
        WholeTensor
            The tensor.
        """
        comm = comm_or_world(comm)

        def prepare() -> tuple[Buffer, Any]:
            options = _library.new_struct(
                c.TensorOptions,
                name=_library.name_bytes(name),
                label=_library.name_bytes(label, "label"),
                row_locks=int(bool(row_locks)),
                deterministic=int(bool(deterministic)),
            )
            return as_buffer(array, "array", writable=True), options

        _forget_released()
        buffer, options = comm._prepare("tensor_wrap", prepare, always=True)
        released = ctypes.c_int64()
        options.released = ctypes.pointer(released)
        if buffer.array_kind == TORCH:
            _arrays.fixed(buffer.array)
        _remember(released, buffer.array)  # before the call: Ctrl-C may end it after the library has taken the array
        try:
            handle = _library.core().output("syncyte_tensor_wrap", comm.handle, buffer.reference, options)
        except Error:
            released.value = 1
            raise
        tensor = cls.from_handle(handle, comm, buffer.array_kind, buffer.array)
        tensor._name = label or name
        return tensor

    @classmethod
    def by_layout(
        cls,
        layout: Layout,
        dtype: dtypes.DTypeLike = "float32",
        *,
        slots: int = 0,
        comm: Comm | None = None,
        name: str | None = None,
        label: str | None = None,
    ) -> Self:
        """Makes a tensor of zeros that is cut by a layout. Collective, with open() on ranks without the layout.

        Each point is stored once, by the first rank that has its right copy; ghosts are left out. What needs whole
        rows on one rank raises UnsupportedError: rows, owner, locate_box, node, lock, scatter_add_, put_signal,
        optimizers and gradients.

        Parameters
        ----------
        layout : Layout
            The layout, of the tensor's communicator or of another one of its ranks.
        dtype : element type
            A syncyte.DType, a name, a numpy or torch dtype.
        slots : int
            Number of versions of the field that the tensor keeps, for publish() and take(): its first extent, before
            those of the layout. 0: there are no versions.
        comm : Comm, optional
            The tensor's ranks; None: those of the layout's communicator.
        name : str, optional
            Name, equal on all ranks; None is a name of its own.
        label : str, optional
            Name for messages instead of `name`; ranks may differ.

        Returns
        -------
        WholeTensor
            The tensor.
        """
        if comm is None:
            comm = layout.comm if isinstance(layout, Layout) else COMM_WORLD
        comm = comm_or_world(comm)

        def prepare() -> tuple[int, int, int, Any]:
            check_kind(layout, Layout, "layout", "a syncyte.Layout")
            options = _library.new_struct(
                c.TensorOptions, name=_library.name_bytes(name), label=_library.name_bytes(label, "label")
            )
            return int(dtypes.as_dtype(dtype)), layout.handle, as_int64(slots, "slots"), options

        arguments = comm._prepare("tensor_create_by_layout", prepare, always=True)
        handle = _library.core().output("syncyte_tensor_create_by_layout", comm.handle, *arguments)
        return cls._made(handle, comm, _array_kind_of(dtype), label or name)

    @classmethod
    def open(cls, name: str, *, comm: Comm = COMM_WORLD) -> Self:
        """Takes part in by_layout() of other ranks by the tensor's name alone. Collective, with their call.

        Parameters
        ----------
        name : str
            The name that the others give.
        comm : Comm
            The tensor's ranks.

        Returns
        -------
        WholeTensor
            The tensor; element type, shape and layout are those of the others. Reads return torch tensors if torch is
            imported, otherwise numpy arrays.
        """
        comm = comm_or_world(comm)

        def prepare() -> bytes | None:
            if not isinstance(name, str):
                raise wrong(ArgumentError, "name", repr(name), "a str")
            return _library.name_bytes(name)

        given = comm._prepare("tensor_create_by_layout", prepare, always=True)
        handle = _library.core().output("syncyte_tensor_open", comm.handle, given)
        return cls._made(handle, comm, TORCH if dtypes.loaded_torch() else NUMPY, name)

    def relocate(self, layout: Layout | None = None, *, local_rows: int | None = None) -> Self:
        """Cuts the tensor anew, in place: this object and the values stay, each rank has another part. Collective.

        It is a sync, too. Until it returns, a rank has the memory of both parts; a later collective point frees that of
        the old one. No other thread may use the tensor meanwhile, and no rank holds a row's lock. A child that was
        forked before reads what the old rows had.

        Parameters
        ----------
        layout : Layout, optional
            The layout, of the tensor's shape, and of its communicator or another one of its ranks, all of which give
            it. None on all other ranks; on all: the tensor is cut by rows.
        local_rows : int, optional
            Without a layout: number of this rank's rows, as of the constructor.

        Returns
        -------
        WholeTensor
            The tensor. `local` and `node` are other views afterwards.

        Raises
        ------
        BusyError
            On all ranks: one of them has a view (local, node) or an operation in flight.
        ShapeError, ArgumentError, OutOfMemoryError, MismatchError
            On all ranks: wrong arguments; local_rows do not add up; too little memory; ranks differ.
        UnsupportedError
            On all ranks: the tensor has slots or an optimizer, or records gradients; a layout for one with row_locks or
            deterministic.
        """

        def prepare() -> tuple[int | None, int]:
            if layout is not None:
                check_kind(layout, Layout, "layout", "a syncyte.Layout, or None")
            rows = -1 if local_rows is None else as_int64(local_rows, "local_rows")
            if local_rows is not None and rows < 0:
                raise wrong(ShapeError, "local_rows", rows, "0 or more, or None")
            self._check_in_place()
            if getattr(self._cache.get(("local", TORCH)), "requires_grad", False):
                text = f"{self._called()} records gradients; expected requires_grad_(False) before relocate()"
                raise UnsupportedError(text)
            if any(sys.getrefcount(v) > _UNSHARED and v is not self._original for v in self._cache.values()):
                raise BusyError(f"{self._called()} has a view that is in use (local, node); expected none")
            return None if layout is None else layout.handle, rows

        reap()
        given = self._comm._prepare("tensor_relocate", prepare, always=True)
        self._forget_views()
        _library.core().syncyte_tensor_relocate(self.handle, *given)
        self.__dict__.pop(GRADIENT_COMPANIONS, None)  # they are cut as the tensor was
        self._original, self._wrapping = None, _Wrapping()
        self._layout = self._layout_of(self.handle)
        _forget_released()
        return self

    def _layout_of(self, handle: int) -> Layout | None:
        found = _library.core().output("syncyte_tensor_layout", handle)
        return Layout._of(self._comm, found) if found else None

    def _forget_views(self) -> None:
        self._cache.clear()
        self._addresses.clear()

    @classmethod
    def _made(cls, handle: int, comm: Comm, array_kind: str, name: str | None) -> Self:
        tensor = cls.from_handle(handle, comm, array_kind)
        tensor._name = name
        return tensor

    @classmethod
    def from_handle(cls, handle: int, comm: Comm | None = None, array_kind: str = NUMPY, wrapped: Any = None) -> Self:
        """Takes over one reference of a C handle; for libraries on top. Local.

        Parameters
        ----------
        handle : int
            The C handle.
        comm : Comm, optional
            Its communicator; None: queried from the C library.
        array_kind : str
            Kind of arrays that reads return: "numpy" or "torch".
        wrapped : array, optional
            The array that the tensor wraps.

        Returns
        -------
        WholeTensor
            The tensor.
        """
        core = _library.core()
        if comm is None:
            comm = Comm(core.output("syncyte_tensor_comm", handle))
        found = core.output("syncyte_tensor_describe", handle)
        tensor = cls.__new__(cls)
        shape, cuda = tuple(found.shape[: found.ndim]), None
        if found.memory == c.Memory.CUDA:
            cuda, array_kind = dtypes.import_torch().device("cuda", found.device), TORCH
        tensor._take(handle, comm, shape, c.DType(found.dtype), array_kind, wrapped, device=cuda)
        tensor._layout = tensor._layout_of(handle)
        return tensor

    def free(self) -> None:
        """Drops the tensor before this object is destroyed. Local; views stay valid as long as they live."""
        self._forget_views()
        super().free()

    def sync(self) -> None:
        """Synchronizes the tensor: after it, all ranks see all earlier writes. Collective.

        It also frees objects that all ranks have dropped.
        """
        self._agree_in_place("tensor_sync")
        if self._seen_on:
            self._comm._prepare("tensor_sync", self._wait_for_streams, always=True)
        with self._queued():
            _library.core().syncyte_tensor_sync(self.handle)
        _forget_released()

    def _wait_for_streams(self) -> None:
        for device in self._seen_on:
            dtypes.import_torch().cuda.current_stream(device).synchronize()

    # Properties.

    @property
    def comm(self) -> Comm:
        """The tensor's communicator. Local."""
        return self._comm

    @property
    def shape(self) -> tuple[int, ...]:
        """Global extents. Local."""
        return self._shape

    @property
    def ndim(self) -> int:
        """Number of dimensions. Local."""
        return len(self._shape)

    def numel(self) -> int:
        """Number of elements of the whole tensor. Local."""
        return math.prod(self._shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements of the whole tensor. Local."""
        return self.numel() * dtypes.itemsize(self._dtype)

    @property
    def dtype(self) -> c.DType:
        """Element type; see numpy_dtype and torch_dtype. Local."""
        return self._dtype

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Element type of the numpy views (uint16, the bits, for bfloat16). Local."""
        return dtypes.numpy_dtype(self._dtype)

    @property
    def torch_dtype(self) -> torch.dtype:
        """Element type of the torch views. Local; imports torch."""
        return dtypes.torch_dtype(self._dtype)

    @property
    def layout(self) -> Layout | None:
        """The layout that the tensor is cut by, among all of its ranks; None if it is cut by rows. Local."""
        return self._layout

    def _require_rows(self) -> None:
        """Raises UnsupportedError if the tensor is cut by a layout: then on all of its ranks."""
        if self._layout is not None:
            raise UnsupportedError(f"{self._called()} is cut by a layout; expected a tensor that is cut by rows")

    def _called(self) -> str:
        return f"tensor {self._name!r}" if self._name else f"the tensor of shape {self._shape}"

    def rows(self, rank: int | None = None) -> range:
        """Returns the global row numbers that a rank owns, possibly none. Local.

        Parameters
        ----------
        rank : int, optional
            The owner; None: this rank.

        Returns
        -------
        range
            The row numbers.
        """
        number = self._comm.rank if rank is None else as_int32(rank, "rank")
        first, count = _library.core().output("syncyte_tensor_rows", self.handle, number)
        return range(first, first + count)

    @property
    def device(self) -> torch.device:
        """Where the rows lie: a CUDA device of this rank, or the CPU. Local; imports torch."""
        return dtypes.import_torch().device("cpu") if self._device is None else self._device

    def _queued(self) -> contextlib.AbstractContextManager[None]:
        """For calls of the library that use device memory: they are enqueued on torch's current stream."""
        return contextlib.nullcontext() if self._device is None else on_current_stream(self._device)

    def _run(self, name: str, call: Any) -> Any:
        if self._device is None:
            return super()._run(name, call)
        with self._queued():
            return super()._run(name, call)

    # Views.

    def _view(self, part: str, array_kind: str) -> Any:
        found = self._cache.get((part, array_kind))
        if found is None:
            found = self._cache[part, array_kind] = self._make_view(part, array_kind)
        return found

    def _make_device_view(self, part: str, array_kind: str) -> Any:
        if array_kind != TORCH:
            raise UnsupportedError(
                f"{self._called()} is in memory of {self._device}, of which numpy has no arrays: use t.local or t.node"
            )
        from ._torch_operators import operators

        view = operators.device_rows(self.handle, part == "node", self.device.index)
        _, first = _library.core().output("syncyte_tensor_node", self.handle)
        self._remember_view(view, view.shape[0], None if part == "local" else first)
        if view.numel():
            self._addresses[part] = view.data_ptr()
        return view

    def node_on(self, device: torch.device | str) -> torch.Tensor:
        """Returns `node` as a tensor of a device of this process, of the same memory. Local.

        A CUDA tensor of a tensor in host memory is for kernels, which then read and write host memory; the memory is
        registered with CUDA until it is freed. sync() waits for the current stream of its device.

        Parameters
        ----------
        device : torch.device or str
            The device, or "cpu".

        Returns
        -------
        torch.Tensor
            The node's rows, the same object each time.

        Raises
        ------
        UnsupportedError
            "cpu" for a tensor in device memory; the device cannot access all of the memory; a wrapped tensor.
        ArgumentError
            There is no such device.
        OutOfMemoryError, BusyError
            The driver cannot register the memory; somebody else has registered it.
        """
        wanted = as_cuda_device(device)
        if wanted == self._device:
            return self.node
        if wanted is None:
            raise wrong(UnsupportedError, "device", device, f"a CUDA device, as {self._called()} is in memory of one")
        found = self._cache.get((key := str(wanted), TORCH))
        if found is None:
            from ._torch_operators import operators

            self._require_rows()
            _library.core().syncyte_tensor_allow_device(self.handle, wanted.index)
            found = self._cache[key, TORCH] = operators.device_rows(self.handle, True, wanted.index)
            first = self.node_first_row
            self._remember_view(found, found.shape[0], -1 if first is None else first)
            self._seen_on.add(wanted)
        return found

    def _make_view(self, part: str, array_kind: str) -> Any:
        if self._device is not None:
            return self._make_device_view(part, array_kind)
        found = _library.core().output(f"syncyte_tensor_{part}", self.handle)
        description = found if part == "local" else found[0]
        shape = description.shape[: description.ndim]
        if part == "local" and self._original is not None:
            found = self._original_as(array_kind)
            _parts.remember(found, self._own_part(), holder=self._wrapping)
        else:
            first = None if part == "local" else found[1]
            found = _arrays.view("tensor", self.handle, array_kind, self._dtype, shape, description.data)
            if self._layout is not None:
                self._remember_block(found)
            else:
                self._remember_view(found, shape[0], first)
        if array_kind == TORCH and 0 not in shape:
            self._addresses[part] = description.data
        return found

    def _remember_view(self, view: Any, rows: int, first: int | None) -> None:
        """Remembers a view of this rank's rows, or of the node's, so that a checkpoint does not take it for the whole.

        first: global number of the node view's first row, or -1; None: the view is of this rank's rows.
        """
        own = self._own_part()
        if first is None or rows == own.end - own.first:
            _parts.remember(view, own)
        elif rows != self._shape[0]:
            part = own if first < 0 else own._replace(first=first, end=first + rows)
            _parts.remember(view, part, is_refused=True)

    def _remember_block(self, view: Any) -> None:
        """Remembers the view of this rank's block, which a checkpoint refuses: it is no range along one axis."""
        part = _parts.Part(0, 0, view.shape[0], self._shape, self._comm.rank, self._comm.size)
        if self._comm.size > 1:
            _parts.remember(view, part, is_refused=True)

    def _own_part(self) -> _parts.Part:
        """Describes this rank's rows."""
        rows = self.rows()
        return _parts.Part(0, rows.start, rows.stop, self._shape, self._comm.rank, self._comm.size)

    def _original_as(self, array_kind: str) -> Any:
        original, is_torch = self._original, dtypes.is_torch_tensor(self._original)
        if array_kind == TORCH:  # wrap() has fixed the storage of a torch tensor
            return original if is_torch else _arrays.fixed(dtypes.import_torch().as_tensor(original))
        if not is_torch:
            return original
        return original.detach().view(getattr(dtypes.import_torch(), self.numpy_dtype.name)).numpy()

    # These checks detect two mistakes. local.data = ... or local.set_(...) replaces a view's memory, so that writes are
    # lost. A write of a tensor that requires grad adds the view to an autograd graph, which grows with every write.

    @property
    def handle(self) -> int:
        """The C handle. Raises HandleError once freed, ArgumentError as local does."""
        if self._addresses and not dtypes.is_compiling():
            self._check_in_place()
        return self.__dict__.get("_handle") or self._raise_freed()  # torch.compile cannot call super() here

    def _in_place(self, part: str) -> Any:
        found = self._view(part, TORCH)
        if not dtypes.is_compiling():
            self._check_in_place()
        return found

    def _check_in_place(self) -> None:
        for part, address in self._addresses.items():
            view = self._cache[part, TORCH]
            found = view.data_ptr()
            if view.grad_fn is not None:
                raise ArgumentError(
                    f"{part} of {self._called()} records gradients, because a tensor that requires grad was written to "
                    f"it; expected detached ones, or writes within torch.no_grad(). Call {part}.detach_() to go on"
                )
            if found != address:
                raise ArgumentError(
                    f"{part} of {self._called()} lies at {found:#x}, but the tensor's rows at {address:#x}: its memory "
                    f"was replaced ({part}.data = ..., {part}.set_(...)), and writes to it are lost; "
                    f"expected {part}[:] = ..., or {part}.copy_(...)"
                )

    def _agree_in_place(self, operation: str) -> None:
        """Calls _check_in_place() at the beginning of a collective; all ranks get its error."""
        if self._addresses:
            self._comm._prepare(operation, self._check_in_place, always=True)

    @property
    def local(self) -> torch.Tensor:
        """View of this rank's rows, a torch tensor, the same object each time. Local. It keeps the memory alive.

        Of a tensor that is cut by a layout it is this rank's block, without ghosts and without shared points that
        another rank has; all extents are 0 if there is none.

        Its memory cannot move: share_memory_() (also a module's), multiprocessing queues and a DataLoader with spawn or
        forkserver raise UnsupportedError. If its memory is replaced (local.data = ..., local.set_(...)), or a tensor
        that requires grad is written to it, all methods of the whole tensor raise ArgumentError; sync, sync_grad,
        zero_grad and a checkpoint do so on all ranks. If the memory of a Parameter made of it is replaced (.data = ...,
        module.double(), load_state_dict(assign=True)), the Parameter is separate from the whole tensor.

        Raises
        ------
        ArgumentError
            Its memory was replaced, or a tensor that requires grad was written to it.
        UnsupportedError
            The rank has several blocks.
        """
        return self._in_place("local")

    @property
    def local_array(self) -> np.ndarray:
        """View of this rank's rows, see local, a numpy array (for bfloat16 uint16, which holds the bits). Local."""
        return self._view("local", NUMPY)

    @property
    def node(self) -> torch.Tensor:
        """View of the rows of all ranks of this node, in rank order, a torch tensor. Local.

        Its row i is global row node_first_row + i, unless that is None.

        Raises
        ------
        UnsupportedError
            A wrapped tensor of several ranks.
        """
        return self._in_place("node")

    @property
    def node_array(self) -> np.ndarray:
        """View of the node's rows, see node, a numpy array (for bfloat16 uint16, which holds the bits). Local."""
        return self._view("node", NUMPY)

    @property
    def node_first_row(self) -> int | None:
        """Global number of the node view's first row. Local.

        None if the node's ranks are not consecutive: the view then holds the ranges of rows(rank) for the node's ranks,
        one after another.
        """
        _, first = _library.core().output("syncyte_tensor_node", self.handle)
        return None if first < 0 else first
