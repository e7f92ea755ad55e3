"""The collectives of a communicator on arrays of any strides, each rank's a part of a whole along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _library
from . import _declarations as c
from ._buffers import NUMPY, TORCH, Buffer, as_buffer
from ._checks import as_counts, as_index, as_int32, as_op
from ._collectives import Collectives
from ._declarations import DType, Op
from ._types import Array, Reduction
from .errors import ArgumentError

Shape = tuple[int, ...]


def even_counts(extent: int, parts: int) -> list[int]:
    """Lengths of parts as even as possible, the first ones longer. Local.

    Parameters
    ----------
    extent : int
        What is divided, 0 or more.
    parts : int
        1 or more.

    Returns
    -------
    list of int

    Raises
    ------
    ArgumentError
        A negative extent, or fewer parts than one.
    """
    extent, parts = as_index(extent, "extent"), as_index(parts, "parts")
    if extent < 0 or parts < 1:
        raise ArgumentError(f"extent is {extent}, parts is {parts}; expected 0 or more, and 1 or more")
    return [extent // parts + (part < extent % parts) for part in range(parts)]


# An axis that an array does not have is for the C library to refuse, on all ranks; until then it has extent 0.


def _extent(shape: Shape, axis: int) -> int:
    return shape[axis] if -len(shape) <= axis < len(shape) else 0


def _with_extent(shape: Shape, axis: int, extent: int) -> Shape:
    changed = list(shape)
    if -len(shape) <= axis < len(shape):
        changed[axis] = extent
    return tuple(changed)


# Counts are checked by the C library, after the result is allocated: wrong ones give an extent of 0 or more.


def _whole(counts: Sequence[int]) -> int:
    return max(sum(counts), 0)


def _part(counts: Sequence[int], rank: int) -> int:
    return max(counts[rank], 0) if rank < len(counts) else 0


def _any_strides(array: Any, recorded_by: str) -> Buffer:
    return as_buffer(array, "array", contiguous=False, recorded_by=recorded_by)


def _as_output(result: Any, dtype: DType) -> Buffer:
    return as_buffer(result, "out", writable=True, contiguous=False, expected=dtype)


class Along(Collectives):
    """What syncyte.Comm does along an axis.

    The ranks' arrays are parts of a whole along `axis` (negative: from the end), their other extents equal. `counts`
    are the parts' extents there, in order of ranks and equal on all ranks; a part may be empty. `out` may have any
    strides; nothing beside its elements is written. Not differentiable.
    """

    def _collected(
        self, array: Any, axis: int, counts: Sequence[int] | None, recorded_by: str, name: str = "axis"
    ) -> Sequence[int]:
        """`counts`, or what all ranks have along the axis."""
        if counts is not None:
            return counts

        def prepare() -> int:
            return _extent(_any_strides(array, recorded_by).shape, as_int32(axis, name))

        return self.counts(self._prepare("comm_counts", prepare))

    def gather(
        self,
        array: Array,
        axis: int = 0,
        root: int = 0,
        *,
        counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Array | None:
        """Joins the ranks' parts along an axis, on root. Collective.

        Element type, extents but along the axis, axis, counts and root must be equal.

        Parameters
        ----------
        array : array
            This rank's part.
        axis : int
            Negative: from the end.
        root : int
            The rank that gets the whole.
        counts : sequence of int, optional
            The parts' extents; None: they are exchanged first (all ranks give None then, or none does).
        out : array, optional
            On root, the whole array; None: a new one.

        Returns
        -------
        array or None
            out on root, None elsewhere.
        """
        known = self._collected(array, axis, counts, "gather_along")

        def prepare() -> tuple[Buffer, int, Any, int, Buffer | None, Any]:
            source, along, number = _any_strides(array, "gather_along"), as_int32(axis, "axis"), as_int32(root, "root")
            parts = as_counts(known, "counts")
            if self.rank != number:
                return source, along, parts, number, None, None
            shape = _with_extent(source.shape, along, _whole(parts))
            result = _arrays.empty_like(source, shape) if out is None else out
            return source, along, parts, number, _as_output(result, source.dtype), result

        source, along, parts, number, target, result = self._prepare("comm_gather_along", prepare)
        output = None if target is None else target.reference
        _library.core().syncyte_comm_gather_along(
            self.handle, source.reference, along, parts, len(parts), number, None, output
        )
        if target is not None and out is not None:
            target.written()
        return result

    def allgather(
        self, array: Array, out: Array | None = None, *, axis: int | None = None, counts: Sequence[int] | None = None
    ) -> Array:
        """Joins the ranks' arrays, on all ranks. Collective.

        Element type and extents (but along the axis), axis and counts must be equal.

        Parameters
        ----------
        array : array
            This rank's part.
        out : array, optional
            The whole array; None: a new one, of shape (size, *array.shape) if stacked.
        axis : int, optional
            None: stacks contiguous arrays of equal size along a new first axis. A number (0 where only counts are
            given): joins parts along that axis.
        counts : sequence of int, optional
            The parts' extents; None: they are exchanged first (all ranks give None then, or none does).

        Returns
        -------
        array
            out.
        """
        if axis is None and counts is None:
            return self._stack(array, out)
        along = 0 if axis is None else axis
        known = self._collected(array, along, counts, "allgather_along")

        def prepare() -> tuple[Buffer, int, Any, Buffer, Any]:
            source, number = _any_strides(array, "allgather_along"), as_int32(along, "axis")
            parts = as_counts(known, "counts")
            shape = _with_extent(source.shape, number, _whole(parts))
            result = _arrays.empty_like(source, shape) if out is None else out
            return source, number, parts, _as_output(result, source.dtype), result

        source, number, parts, target, result = self._prepare("comm_allgather_along", prepare)
        _library.core().syncyte_comm_allgather_along(
            self.handle, source.reference, number, parts, len(parts), None, target.reference
        )
        if out is not None:
            target.written()
        return result

    def _stack(self, array: Any, out: Any) -> Any:
        def prepare() -> tuple[Buffer, Buffer, Any]:
            source = as_buffer(array, "array", recorded_by="allgather_along")
            result = _arrays.empty_like(source, (self.size, *source.shape)) if out is None else out
            return source, as_buffer(result, "out", writable=True, expected=source.dtype), result

        source, target, result = self._prepare("comm_allgather", prepare)
        _library.core().syncyte_comm_allgather(self.handle, source.reference, None, target.reference)
        if out is not None:
            target.written()
        return result

    def scatter(
        self,
        array: Array | None,
        axis: int = 0,
        root: int = 0,
        *,
        counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Cuts root's array along an axis, a part for every rank. Collective: axis, counts and root must be equal.

        Parameters
        ----------
        array : array, optional
            On root, the whole; ignored elsewhere. What it is (type, shape, numpy or torch) is sent to all ranks first.
        axis : int
            Negative: from the end.
        root : int
            The rank that has the whole.
        counts : sequence of int, optional
            The parts' extents; None: as even as possible, the first ones longer.
        out : array, optional
            This rank's part; None: a new array.

        Returns
        -------
        array
            out.
        """
        kind, dtype, shape = self._described_by_root(array, root)

        def prepare() -> tuple[Any, int, Any, Buffer, Any]:
            source = _any_strides(array, "scatter_along").reference if self.rank == root else None
            along = as_int32(axis, "axis")
            known = even_counts(_extent(shape, along), self.size) if counts is None else counts
            parts = as_counts(known, "counts")
            part = _with_extent(shape, along, _part(parts, self.rank))
            result = _arrays.empty(kind, dtype, part) if out is None else out
            return source, along, parts, _as_output(result, dtype), result

        source, along, parts, target, result = self._prepare("comm_scatter_along", prepare)
        _library.core().syncyte_comm_scatter_along(
            self.handle, source, along, parts, len(parts), int(root), None, target.reference
        )
        if out is not None:
            target.written()
        return result

    def _described_by_root(self, array: Any, root: int) -> tuple[str, DType, Shape]:
        """Kind, element type and shape of root's array, on all ranks. Collective."""

        def prepare() -> np.ndarray:
            header = np.zeros(3 + c.MAX_NDIM, np.int64)
            if self.rank == as_int32(root, "root"):
                whole = _any_strides(array, "scatter_along")
                header[:3] = whole.world == TORCH, whole.dtype, len(whole.shape)
                header[3 : 3 + len(whole.shape)] = whole.shape
            return header

        is_torch, dtype, ndim, *extents = self.bcast(self._prepare("comm_scatter_along", prepare), root).tolist()
        return TORCH if is_torch else NUMPY, DType(dtype), tuple(extents[:ndim])

    def reduce_scatter(
        self,
        array: Array,
        axis: int = 0,
        op: Reduction = "sum",
        *,
        counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Reduces the ranks' whole arrays element by element, and gives each rank its part of the result. Collective.

        Element type, extents, axis, counts and op must be equal.

        Parameters
        ----------
        array : array
            The whole.
        axis : int
            Negative: from the end.
        op : str or Op
            As of allreduce().
        counts : sequence of int, optional
            The parts' extents; None: as even as possible, the first ones longer.
        out : array, optional
            This rank's part; None: a new array.

        Returns
        -------
        array
            out.
        """

        def prepare() -> tuple[Buffer, int, Any, Op, Buffer, Any]:
            source, along, reduction = _any_strides(array, "reduce_scatter_along"), as_int32(axis, "axis"), as_op(op)
            known = even_counts(_extent(source.shape, along), self.size) if counts is None else counts
            parts = as_counts(known, "counts")
            part = _with_extent(source.shape, along, _part(parts, self.rank))
            result = _arrays.empty_like(source, part) if out is None else out
            return source, along, parts, reduction, _as_output(result, source.dtype), result

        source, along, parts, reduction, target, result = self._prepare("comm_reduce_scatter_along", prepare)
        _library.core().syncyte_comm_reduce_scatter_along(
            self.handle, source.reference, along, parts, len(parts), int(reduction), None, target.reference
        )
        if out is not None:
            target.written()
        return result

    def alltoall(
        self,
        array: Array,
        gather_axis: int,
        scatter_axis: int,
        counts: Sequence[int] | None = None,
        *,
        gather_counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Turns parts along gather_axis into parts along scatter_axis (a parallel transposition). Collective.

        If these are one axis, changes the parts' extents. Element type, extents but along the axes, both axes and
        all counts must be equal.

        Parameters
        ----------
        array : array
            This rank's part along gather_axis, whole along scatter_axis.
        gather_axis, scatter_axis : int
            Negative: from the end.
        counts : sequence of int, optional
            Of the parts of the output; None: as even as possible, the first ones longer.
        gather_counts : sequence of int, optional
            Of the parts of the input; None: they are exchanged first (all ranks give None then, or none does).
        out : array, optional
            This rank's part along scatter_axis, whole along gather_axis; None: a new array.

        Returns
        -------
        array
            out.
        """
        given = self._collected(array, gather_axis, gather_counts, "alltoall_along", "gather_axis")

        def prepare() -> tuple[Buffer, int, Any, int, Any, Buffer, Any]:
            source = _any_strides(array, "alltoall_along")
            before, after = as_int32(gather_axis, "gather_axis"), as_int32(scatter_axis, "scatter_axis")
            gathered = as_counts(given, "gather_counts")
            whole = _with_extent(source.shape, before, _whole(gathered))
            wanted = even_counts(_extent(whole, after), self.size) if counts is None else counts
            scattered = as_counts(wanted, "counts")
            part = _with_extent(whole, after, scattered[self.rank])
            result = _arrays.empty_like(source, part) if out is None else out
            return source, before, gathered, after, scattered, _as_output(result, source.dtype), result

        source, before, gathered, after, scattered, target, result = self._prepare("comm_alltoall_along", prepare)
        _library.core().syncyte_comm_alltoall_along(
            self.handle, source.reference, before, gathered, len(gathered), after, scattered, len(scattered), None,
            target.reference,
        )
        if out is not None:
            target.written()
        return result
