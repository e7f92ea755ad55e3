# SPDX-License-Identifier: BSD-3-Clause
"""Collectives of a communicator on arrays of any strides; each rank's array is a part of a whole along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays
from . import _declarations as c
from ._buffers import NUMPY, TORCH, Buffer, as_buffer
from ._checks import as_counts, as_index, as_int32, as_op, part_extent, whole_extent
from ._collectives import CollectiveCall, CollectiveMethods, call_into
from ._numbers import is_number
from ._requests import Request
from ._types import Array, Reduction
from .errors import ArgumentError

Shape = tuple[int, ...]


def even_counts(extent: int, parts: int) -> list[int]:
    """Lengths of parts as even as possible, the first ones longer. Local.

    Parameters
    ----------
    extent : int
        Extent to divide, 0 or more.
    parts : int
        Number of parts, 1 or more.

    Returns
    -------
    list of int
        The lengths.

    Raises
    ------
    ArgumentError
        A negative extent, or less than one part.
    """
    extent, parts = as_index(extent, "extent"), as_index(parts, "parts")
    if extent < 0 or parts < 1:
        raise ArgumentError(f"extent is {extent}, parts is {parts}; expected 0 or more, and 1 or more")
    return [extent // parts + (part < extent % parts) for part in range(parts)]


# The C library refuses an axis that an array does not have, on all ranks; until then its extent is taken as 0.


def _extent(shape: Shape, axis: int) -> int:
    return shape[axis] if -len(shape) <= axis < len(shape) else 0


def _with_extent(shape: Shape, axis: int, extent: int) -> Shape:
    changed = list(shape)
    if -len(shape) <= axis < len(shape):
        changed[axis] = extent
    return tuple(changed)


def _any_strides(array: Any, recorded_by: str) -> Buffer:
    return as_buffer(array, "array", contiguous=False, recorded_by=recorded_by)


def _with_a_dimension(array: Any) -> Any:
    """A number, numpy's too, is a part of one element."""
    return np.array([array]) if is_number(array) or isinstance(array, np.generic) else array


class AxisMethods(CollectiveMethods):
    """The part of syncyte.Comm with methods along an axis, which call counts() and bcast().

    The ranks' arrays are parts of a whole along `axis` (negative: counted from the end); their other extents are equal.
    `counts` holds the parts' extents along the axis in rank order, equal on all ranks; a part may be empty. `out` may
    have any strides; memory between its elements is not written. Not differentiable.
    """

    def _collected(
        self, array: Any, axis: int, counts: Sequence[int] | None, recorded_by: str, name: str = "axis"
    ) -> Sequence[int]:
        """Returns `counts`, or collects all ranks' extents along the axis."""
        if counts is not None:
            return counts

        def prepare() -> int:
            return _extent(_any_strides(array, recorded_by).shape, as_int32(axis, name))

        return self.counts(self._prepare("comm_counts", prepare))

    def gather_along(
        self,
        array: Array,
        axis: int = 0,
        root: int = 0,
        *,
        counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Array | None:
        """Joins the ranks' parts along an axis, on root. Collective.

        Element type, extents of the other axes, axis, counts and root must be equal.

        Parameters
        ----------
        array : array or number
            This rank's part; a number is a part of one element.
        axis : int
            Negative: from the end.
        root : int
            Rank that gets the whole array.
        counts : sequence of int, optional
            The parts' extents; None: they are exchanged first. All ranks pass None, or none does.
        out : array, optional
            On root: filled with the whole array; None: a new one.

        Returns
        -------
        array or None
            out on root, None elsewhere.
        """
        part = _with_a_dimension(array)
        known = self._collected(part, axis, counts, "gather_along")
        return self._run_collective("gather_along", self._gathering, part, axis, known, root, out)

    def _gathering(self, name: str, array: Any, axis: int, counts: Any, root: int, out: Any) -> CollectiveCall:
        if self.rank == as_int32(root, "root"):
            return self._joining(name, array, axis, counts, out, root=int(root))
        source, parts = _any_strides(array, name), as_counts(counts, "counts")
        inputs = source.reference, as_int32(axis, "axis"), int(root), len(parts), parts
        return CollectiveCall(inputs, output=None, arrays=(source,), result=None)

    def _joining(
        self, name: str, array: Any, axis: int, counts: Any, out: Any, *, root: int | None = None
    ) -> CollectiveCall:
        source, along, parts = _any_strides(array, name), as_int32(axis, "axis"), as_counts(counts, "counts")
        shape = _with_extent(source.shape, along, whole_extent(parts))
        to = () if root is None else (root,)
        return call_into(out, source, shape, source.reference, along, *to, len(parts), parts, contiguous=False)

    def allgather_along(
        self, array: Array, axis: int = 0, *, counts: Sequence[int] | None = None, out: Array | None = None
    ) -> Array:
        """Joins the ranks' parts along an axis, on all ranks. Collective.

        Element type, extents of the other axes, axis and counts must be equal.

        Parameters
        ----------
        array : array
            This rank's part.
        axis : int
            Negative: from the end.
        counts : sequence of int, optional
            The parts' extents; None: they are exchanged first. All ranks pass None, or none does.
        out : array, optional
            The whole array; None: a new one.

        Returns
        -------
        array
            out.
        """
        known = self._collected(array, axis, counts, "allgather_along")
        return self._run_collective("allgather_along", self._joining, array, axis, known, out)

    def iallgather_along(
        self, array: Array, axis: int = 0, *, counts: Sequence[int], out: Array | None = None
    ) -> Request[Array]:
        """Starts allgather_along(). Collective.

        Parameters
        ----------
        array, axis, out
            As of allgather_along().
        counts : sequence of int
            The parts' extents; required, because a start cannot exchange them.

        Returns
        -------
        Request
            Its result is out.
        """
        return self._start_collective("iallgather_along", self._joining, array, axis, counts, out)

    def scatter_along(
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
            On root: the whole array; ignored elsewhere. Its type, shape and kind (numpy or torch) are sent to all ranks
            first.
        axis : int
            Negative: from the end.
        root : int
            Rank that has the whole array.
        counts : sequence of int, optional
            The parts' extents; None: as even as possible, the first ones longer.
        out : array, optional
            This rank's part; None: a new array.

        Returns
        -------
        array
            out.
        """
        whole = self._described_by_root(array, root)
        return self._run_collective("scatter_along", self._scattering, array, whole, axis, root, counts, out)

    def _scattering(
        self, name: str, array: Any, whole: tuple[str, c.DType, Shape], axis: int, root: int, counts: Any, out: Any
    ) -> CollectiveCall:
        kind, dtype, shape = whole
        source = (_any_strides(array, name),) if self.rank == root else ()
        along, parts, part = self._cut(shape, axis, counts)
        result = _arrays.empty(kind, dtype, part) if out is None else out
        target = as_buffer(result, "out", writable=True, contiguous=False, expected=dtype)
        inputs = source[0].reference if source else None, along, int(root), len(parts), parts
        written = None if out is None else target
        return CollectiveCall(inputs, target.reference, (*source, target), result, written)

    def _cut(
        self, shape: Shape, axis: int, counts: Sequence[int] | None, axis_name: str = "axis"
    ) -> tuple[int, Any, Shape]:
        """Returns the axis and the counts for the C library, and the shape of this rank's part."""
        along = as_int32(axis, axis_name)
        parts = as_counts(even_counts(_extent(shape, along), self.size) if counts is None else counts, "counts")
        return along, parts, _with_extent(shape, along, part_extent(parts, self.rank))

    def _described_by_root(self, array: Any, root: int) -> tuple[str, c.DType, Shape]:
        """Returns kind, element type and shape of root's array, on all ranks. Collective."""

        def prepare() -> np.ndarray:
            header = np.zeros(3 + c.MAX_NDIM, np.int64)
            if self.rank == as_int32(root, "root"):
                whole = _any_strides(array, "scatter_along")
                header[:3] = whole.array_kind == TORCH, whole.dtype, len(whole.shape)
                header[3 : 3 + len(whole.shape)] = whole.shape
            return header

        is_torch, dtype, ndim, *extents = self.bcast(self._prepare("comm_scatter_along", prepare), root).tolist()
        return TORCH if is_torch else NUMPY, c.DType(dtype), tuple(extents[:ndim])

    def reduce_scatter_along(
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
            A whole array.
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
        return self._run_collective("reduce_scatter_along", self._reducing, array, axis, op, counts, out)

    def ireduce_scatter_along(
        self,
        array: Array,
        axis: int = 0,
        op: Reduction = "sum",
        *,
        counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Request[Array]:
        """Starts reduce_scatter_along(). Collective.

        Parameters
        ----------
        array, axis, op, counts, out
            As of reduce_scatter_along().

        Returns
        -------
        Request
            Its result is out.
        """
        return self._start_collective("ireduce_scatter_along", self._reducing, array, axis, op, counts, out)

    def _reducing(self, name: str, array: Any, axis: int, op: Reduction, counts: Any, out: Any) -> CollectiveCall:
        source, reduction = _any_strides(array, name), int(as_op(op))
        along, parts, part = self._cut(source.shape, axis, counts)
        return call_into(out, source, part, source.reference, along, reduction, len(parts), parts, contiguous=False)

    def alltoall_along(
        self,
        array: Array,
        gather_axis: int,
        scatter_axis: int,
        *,
        gather_counts: Sequence[int] | None = None,
        scatter_counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Turns parts along gather_axis into parts along scatter_axis (a parallel transposition). Collective.

        If the axes are equal, changes the parts' extents. Element type, extents of the other axes, both axes and all
        counts must be equal.

        Parameters
        ----------
        array : array
            This rank's part along gather_axis, whole along scatter_axis.
        gather_axis, scatter_axis : int
            Negative: from the end.
        gather_counts : sequence of int, optional
            Extents of the input's parts; None: they are exchanged first. All ranks pass None, or none does.
        scatter_counts : sequence of int, optional
            Extents of the output's parts; None: as even as possible, the first ones longer.
        out : array, optional
            This rank's part along scatter_axis, whole along gather_axis; None: a new array.

        Returns
        -------
        array
            out.
        """
        given = self._collected(array, gather_axis, gather_counts, "alltoall_along", "gather_axis")
        axes = gather_axis, scatter_axis
        return self._run_collective("alltoall_along", self._transposing, array, *axes, given, scatter_counts, out)

    def ialltoall_along(
        self,
        array: Array,
        gather_axis: int,
        scatter_axis: int,
        *,
        gather_counts: Sequence[int],
        scatter_counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Request[Array]:
        """Starts alltoall_along(). Collective.

        Parameters
        ----------
        array, gather_axis, scatter_axis, scatter_counts, out
            As of alltoall_along().
        gather_counts : sequence of int
            Extents of the input's parts; required, because a start cannot exchange them.

        Returns
        -------
        Request
            Its result is out.
        """
        return self._start_collective(
            "ialltoall_along", self._transposing, array, gather_axis, scatter_axis, gather_counts, scatter_counts, out
        )

    def _transposing(
        self, name: str, array: Any, gather_axis: int, scatter_axis: int, gather_counts: Any, counts: Any, out: Any
    ) -> CollectiveCall:
        source, before = _any_strides(array, name), as_int32(gather_axis, "gather_axis")
        gathered = as_counts(gather_counts, "gather_counts")
        whole = _with_extent(source.shape, before, whole_extent(gathered))
        after, scattered, part = self._cut(whole, scatter_axis, counts, "scatter_axis")
        lists = (before, after, len(gathered), gathered, len(scattered), scattered)
        return call_into(out, source, part, source.reference, *lists, contiguous=False)
