# SPDX-License-Identifier: BSD-3-Clause
"""Windows: one-sided access to memory of other ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, overload

import numpy as np

from . import _arrays, _library, dtypes
from . import _declarations as c
from ._buffers import NOT_RECORDED, NUMPY, Buffer, as_buffer
from ._checks import as_int32, as_op, as_size, wrong
from ._elements import as_own_element, from_element
from ._handles import Handle
from ._requests import Request, start
from ._types import Array, Number, WindowReduction
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError, ShapeError

__all__ = ["Window"]


def _target(shape: Sequence[int] | int | None, dtype: dtypes.DTypeLike, out: Any) -> Buffer:
    """The array that a read fills: out, or a new one."""
    if (shape is None) == (out is None):
        raise ArgumentError("shape and out: expected exactly one of them")
    if out is None:
        extents = shape if isinstance(shape, Iterable) else (shape,)
        sizes = [as_size(extent, "shape") for extent in extents]
        out = _arrays.empty(NUMPY, dtypes.as_dtype(dtype), sizes)
    return as_buffer(out, "out", writable=True)


class Window(Handle):
    """Zeroed memory of every rank, which all ranks read and write.

    All methods except the constructor and fence are local. Offsets are bytes from the start of the target rank's part.
    On a node an operation is complete when the call returns; between nodes a put or accumulate is complete at the
    target after flush. Puts and gets of the same bytes by two ranks without a lock, or a flush and a barrier, between
    them are races. A window is freed at a collective point once all ranks have dropped it.
    """

    kind = "window"

    def __init__(self, size: int, *, comm: Comm = COMM_WORLD, name: str | None = None, label: str | None = None):
        """Makes a window of zeroed memory. Collective.

        Parameters
        ----------
        size : int
            Bytes of this rank's part; they may differ between ranks and may be 0.
        comm : Comm
            The window's ranks.
        name : str, optional
            Name, equal on all ranks; None is a name of its own.
        label : str, optional
            Name for messages instead of `name`; ranks may differ.

        Raises
        ------
        MismatchError
            Ranks differ in the name.
        OutOfMemoryError
            The node has less memory than its ranks together request.
        UnsupportedError
            `comm` spans several nodes, a rank lacks UCX, and this MPI has no one-sided communication between them.
        """
        self._comm = comm_or_world(comm)

        def prepare() -> tuple[int, Any]:
            names = {"name": _library.name_bytes(name), "label": _library.name_bytes(label, "label")}
            return as_size(size, "size"), _library.new_struct(c.WindowOptions, **names)

        count, options = self._comm._prepare("window_create", prepare, always=True)
        self._own(_library.core().output("syncyte_window_create", self._comm.handle, count, options))
        self._bytes, self._name = count, label or name

    @property
    def comm(self) -> Comm:
        """The window's communicator."""
        return self._comm

    def size(self, rank: int | None = None) -> int:
        """Returns the size of a rank's part.

        Parameters
        ----------
        rank : int, optional
            The rank; None: this rank.

        Returns
        -------
        int
            Its bytes.
        """
        return _library.core().output("syncyte_window_size", self.handle, self._rank(rank))

    def view(self, rank: int | None = None, dtype: dtypes.DTypeLike = "uint8") -> np.ndarray:
        """Returns a view of a rank's part, which keeps the window's memory alive.

        Parameters
        ----------
        rank : int, optional
            The rank; None: this rank.
        dtype : element type
            Element type of the view.

        Returns
        -------
        numpy.ndarray
            The view, of one dimension.

        Raises
        ------
        UnsupportedError
            A rank on another node.
        ShapeError
            The part's size is not a multiple of the element size.
        """
        number, element = self._rank(rank), dtypes.as_dtype(dtype)
        count, left = divmod(self.size(number), dtypes.itemsize(element))
        if left:
            raise ShapeError(f"rank {number}'s {self.size(number)} bytes are not a whole number of elements")
        address = _library.core().output("syncyte_window_pointer", self.handle, number)
        return _arrays.view("window", self.handle, NUMPY, element, (count,), address)

    def put(self, rank: int, offset: int, source: Any) -> None:
        """Writes an array to a rank.

        Parameters
        ----------
        rank : int
            The target.
        offset : int
            Offset in bytes.
        source : array
            Contiguous array in host memory; may be re-used on return.

        Raises
        ------
        OutOfRangeError
            Beyond the end of the part.
        ArgumentError, ShapeError
            A wrong rank; `source` requires grad, or is not contiguous.
        """
        values = as_buffer(source, "source", recorded_by=NOT_RECORDED)
        _library.core().syncyte_window_put(self.handle, self._rank(rank), as_size(offset, "offset"), values.reference)

    @overload
    def get(self, rank: int, offset: int, *, out: Array) -> Array: ...
    @overload
    def get(
        self, rank: int, offset: int, shape: Sequence[int] | int, dtype: dtypes.DTypeLike = "uint8"
    ) -> np.ndarray: ...

    def get(
        self,
        rank: int,
        offset: int,
        shape: Sequence[int] | int | None = None,
        dtype: dtypes.DTypeLike = "uint8",
        *,
        out: Any = None,
    ) -> Any:
        """Reads an array of a rank.

        Parameters
        ----------
        rank, offset : int
            As of put().
        shape : int or sequence of int, optional
            Shape of a new array; not with `out`.
        dtype : element type
            Element type of a new array.
        out : array, optional
            Contiguous array to fill.

        Returns
        -------
        array
            out, or a new numpy array.

        Raises
        ------
        OutOfRangeError, ArgumentError, ShapeError
            As of put(); both or none of shape and out are given.
        """
        target = _target(shape, dtype, out)
        _library.core().syncyte_window_get(self.handle, self._rank(rank), as_size(offset, "offset"), target.reference)
        target.mark_written()
        return target.array if out is None else out

    def accumulate(self, rank: int, offset: int, source: Any, op: WindowReduction = "sum") -> None:
        """Combines elements with a rank's elements.

        Atomic per element with other accumulates, fetch_ops and compare_swaps.

        Parameters
        ----------
        rank, offset, source
            As of put().
        op : str or Op
            As of Comm.allreduce(), or "replace".

        Raises
        ------
        UnsupportedError
            An op or element type without atomics. Others as of put().
        """
        values: Buffer = as_buffer(source, "source", recorded_by=NOT_RECORDED)
        _library.core().syncyte_window_accumulate(
            self.handle, self._rank(rank), as_size(offset, "offset"), values.reference, int(as_op(op, of_window=True))
        )

    def fetch_op(
        self, rank: int, offset: int, operand: Number, op: WindowReduction = "sum", dtype: dtypes.DTypeLike = None
    ) -> Number:
        """Combines one element with a number; atomic.

        Parameters
        ----------
        rank, offset : int
            As of put().
        operand : number
            Number to combine it with, which the element type must hold: integers exactly, and only integers in an
            integer type; other numbers are rounded, but not to infinity.
        op : str or Op
            As of accumulate().
        dtype : element type, optional
            Type of the element in memory; None: int64. An operand that has a type of its own, as numpy's scalars have,
            must then be of int64.

        Returns
        -------
        number
            The old element.

        Raises
        ------
        DtypeError, ArgumentError
            An operand that is no number, or of another kind than the type; one that the type does not hold.
        """
        number = int(as_op(op, of_window=True))
        return self._atomic("syncyte_window_fetch_op", rank, offset, dtype, number, operand=operand)

    def _atomic(
        self, function: str, rank: int, offset: int, dtype: dtypes.DTypeLike, *options: int, **operands: Any
    ) -> Any:
        """Does an atomic operation on one element; returns the old element."""
        arguments, elements, element = self._atomic_arguments(rank, offset, dtype, options, operands)
        getattr(_library.core(), function)(self.handle, *arguments)
        return from_element(elements[-1], element)

    def _atomic_arguments(
        self, rank: int, offset: int, dtype: dtypes.DTypeLike, options: Sequence[int], operands: dict[str, Any]
    ) -> tuple[tuple[int, ...], list[np.ndarray], c.DType]:
        """Returns the C function's arguments; the elements, the last for the old element; their type."""
        element = c.DType.INT64 if dtype is None else dtypes.as_dtype(dtype)
        elements = [as_own_element(value, dtype, element, name) for name, value in operands.items()]
        elements.append(np.empty((), dtypes.numpy_dtype(element)))
        *given, previous = (each.ctypes.data for each in elements)
        place = self._rank(rank), as_size(offset, "offset"), int(element)
        return (*place, *given, *options, previous), elements, element

    def compare_swap(self, rank: int, offset: int, expected: int, desired: int, dtype: dtypes.DTypeLike = None) -> int:
        """Writes desired if the element equals expected; atomic.

        Parameters
        ----------
        rank, offset : int
            As of put().
        expected, desired : int
            Value to compare with, and value to write if they are equal; both as fetch_op()'s operand.
        dtype : element type, optional
            An integer type or bool; None: int64.

        Returns
        -------
        int
            The old element.

        Raises
        ------
        DtypeError, ArgumentError
            As of fetch_op().
        """
        values = {"expected": expected, "desired": desired}
        return self._atomic("syncyte_window_compare_swap", rank, offset, dtype, **values)

    # Started operations. An access to a rank of this node is complete when the start returns; others go on without
    # further calls.

    def iput(self, rank: int, offset: int, source: Any) -> Request[None]:
        """Starts put(). It is complete at the target when the request has ended; flush() does not wait for it.

        Parameters
        ----------
        rank, offset, source
            As of put(). source must not change until the end.

        Returns
        -------
        Request
            Its wait() returns None.

        Raises
        ------
        OutOfRangeError, ArgumentError, ShapeError
            As of put().
        """
        values = as_buffer(source, "source", recorded_by=NOT_RECORDED)
        return self._start("iput", values, lambda: None, *self._place(rank, offset), values.reference)

    @overload
    def iget(self, rank: int, offset: int, *, out: Array) -> Request[Array]: ...
    @overload
    def iget(
        self, rank: int, offset: int, shape: Sequence[int] | int, dtype: dtypes.DTypeLike = "uint8"
    ) -> Request[np.ndarray]: ...

    def iget(
        self,
        rank: int,
        offset: int,
        shape: Sequence[int] | int | None = None,
        dtype: dtypes.DTypeLike = "uint8",
        *,
        out: Any = None,
    ) -> Request[Any]:
        """Starts get().

        Parameters
        ----------
        rank, offset, shape, dtype, out
            As of get().

        Returns
        -------
        Request
            Its wait() returns the array: out, or the new one.

        Raises
        ------
        OutOfRangeError, ArgumentError, ShapeError
            As of get().
        """
        target = _target(shape, dtype, out)

        def finish() -> Any:
            target.mark_written()
            return target.array if out is None else out

        return self._start("iget", target, finish, *self._place(rank, offset), target.reference)

    def iaccumulate(self, rank: int, offset: int, source: Any, op: WindowReduction = "sum") -> Request[None]:
        """Starts accumulate(). It is complete at the target when the request has ended.

        Parameters
        ----------
        rank, offset, source, op
            As of accumulate(). source must not change until the end.

        Returns
        -------
        Request
            Its wait() returns None.

        Raises
        ------
        UnsupportedError, OutOfRangeError, ArgumentError, ShapeError
            As of accumulate().
        """
        values = as_buffer(source, "source", recorded_by=NOT_RECORDED)
        how = int(as_op(op, of_window=True))
        return self._start("iaccumulate", values, lambda: None, *self._place(rank, offset), values.reference, how)

    def ifetch_op(
        self, rank: int, offset: int, operand: Number, op: WindowReduction = "sum", dtype: dtypes.DTypeLike = None
    ) -> Request[Number]:
        """Starts fetch_op().

        Parameters
        ----------
        rank, offset, operand, op, dtype
            As of fetch_op().

        Returns
        -------
        Request
            Its wait() returns the old element.
        """
        number = int(as_op(op, of_window=True))
        return self._start_atomic("ifetch_op", rank, offset, dtype, number, operand=operand)

    def icompare_swap(
        self, rank: int, offset: int, expected: int, desired: int, dtype: dtypes.DTypeLike = None
    ) -> Request[int]:
        """Starts compare_swap().

        Parameters
        ----------
        rank, offset, expected, desired, dtype
            As of compare_swap().

        Returns
        -------
        Request
            Its wait() returns the old element.
        """
        return self._start_atomic("icompare_swap", rank, offset, dtype, expected=expected, desired=desired)

    def _start_atomic(
        self, name: str, rank: int, offset: int, dtype: dtypes.DTypeLike, *options: int, **operands: Any
    ) -> Request[Any]:
        arguments, elements, element = self._atomic_arguments(rank, offset, dtype, options, operands)
        return self._start(name, elements, lambda: from_element(elements[-1], element), *arguments)

    def _start(self, name: str, arrays: Any, finish: Callable[[], Any], *arguments: Any) -> Request[Any]:
        return start(f"syncyte_window_{name}", self.handle, *arguments, arrays=arrays, finish=finish)

    def _place(self, rank: int, offset: int) -> tuple[int, int]:
        return self._rank(rank), as_size(offset, "offset")

    @contextmanager
    def lock(self, rank: int, exclusive: bool = True) -> Iterator[Window]:
        """Context manager that holds a rank's advisory lock: ``with window.lock(rank):``.

        On leaving, it completes this rank's operations on that rank. Not recursive.

        Parameters
        ----------
        rank : int
            Rank whose part is locked.
        exclusive : bool
            False: a shared lock, which several ranks may hold.

        Yields
        ------
        Window
            This window.

        Raises
        ------
        PeerDiedError
            A holder, or the rank itself, died or is out of reach. A shared lock's holders are not known: any rank's
            death counts.
        BusyError
            This rank holds it already.
        """
        number = self._rank(rank)
        kind = c.Lock.EXCLUSIVE if exclusive else c.Lock.SHARED
        _library.core().syncyte_window_lock(self.handle, number, int(kind))
        try:
            yield self
        finally:
            _library.core().syncyte_window_unlock(self.handle, number)

    def flush(self, rank: int | None = None) -> None:
        """Completes this rank's blocking operations at a rank; a started one is complete when its request has ended.

        Parameters
        ----------
        rank : int, optional
            The rank; None: all ranks.
        """
        number = -1 if rank is None else self._rank(rank)
        if rank is not None and number < 0:
            raise wrong(ArgumentError, "rank", rank, f"0 to {self._comm.size - 1}, or None for all")
        _library.core().syncyte_window_flush(self.handle, number)

    def fence(self) -> None:
        """Completes all ranks' operations: after it, all ranks see all earlier writes. Collective.

        It also frees objects that all ranks have dropped.
        """
        _library.core().syncyte_window_fence(self.handle)

    def _rank(self, rank: int | None) -> int:
        return self._comm.rank if rank is None else as_int32(rank, "rank")

    def __repr__(self) -> str:
        name = f" {self._name!r}" if self._name else ""
        freed = ", freed" if self._is_freed else ""
        return f"<syncyte.Window{name} of {self._bytes} bytes on this rank, over {self._comm!r}{freed}>"
