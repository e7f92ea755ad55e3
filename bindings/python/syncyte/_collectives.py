"""Collectives of a communicator on contiguous arrays, as sequences of elements or of rows."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _declarations as c
from . import _library
from ._agreement import Agreement
from ._buffers import Buffer, as_buffer, row_of
from ._checks import as_counts, as_int32, as_int64, as_op, whole_extent
from ._collective_call import CollectiveCall, call_into
from ._types import Array, Reduction
from .errors import ArgumentError


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex))


class Collectives(Agreement):
    """Collectives of syncyte.Comm, except those along an axis (_along.py)."""

    def _run_collective(self, name: str, prepare: Callable[..., CollectiveCall], *given: Any) -> Any:
        """Runs a blocking collective; prepare(name, *given) makes its local checks."""
        call = self._prepare(f"comm_{name}", lambda: prepare(name, *given))
        getattr(_library.core(), f"syncyte_comm_{name}")(self.handle, *call.arguments)
        return call.finish()

    def bcast(self, array: Array, root: int = 0) -> Array:
        """Sends root's elements to all ranks, in place. Collective.

        Element type, number of elements and root must be equal on all ranks.

        Parameters
        ----------
        array : array
            Any shape, contiguous, host memory; read on root, written elsewhere.
        root : int
            Rank that sends its elements.

        Returns
        -------
        array
            `array`.
        """
        return self._run_collective("bcast", self._broadcast, array, root)

    def _broadcast(self, name: str, array: Any, root: int) -> CollectiveCall:
        number = as_int32(root, "root")
        if not 0 <= number < self.size:  # checked before the array, because root decides whether that is written
            raise ArgumentError(f"root is {number}; expected 0 to {self.size - 1}")
        is_written = self.rank != number
        buffer = as_buffer(array, "array", writable=is_written, recorded_by=name)
        return CollectiveCall((number, None, buffer.reference), (buffer,), array, buffer if is_written else None)

    def allreduce(self, array: Array, op: Reduction = "sum", out: Array | None = None) -> Array:
        """Reduces element by element over all ranks; all ranks get the result. Collective.

        Element type, number of elements and op must be equal on all ranks. Not differentiable: see syncyte.torch.

        Parameters
        ----------
        array : array or number
            Any shape, contiguous; or a Python number, which gives a number.
        op : str or Op
            "sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor" or "bxor".
        out : array, optional
            An array of the same type and number of elements; `array` itself: in place; None: a new one of array's shape
            and kind.

        Returns
        -------
        array or number
            out.
        """
        if _is_number(array) and out is None:
            return self.allreduce(np.asarray(array), op).item()
        return self._run_collective("allreduce", self._reduction, array, op, out)

    def _reduction(self, name: str, array: Any, op: Reduction, out: Any, *numbers: int) -> CollectiveCall:
        reduction = as_op(op)
        if out is array:
            target = as_buffer(array, "array", writable=True, recorded_by=name)
            return CollectiveCall((None, int(reduction), *numbers, None, target.reference), (target,), array, target)
        source = as_buffer(array, "array", recorded_by=name)
        return call_into(out, source, source.shape, source.reference, int(reduction), *numbers)

    def reduce(
        self, array: Array, op: Reduction = "sum", root: int = 0, out: Array | None = None
    ) -> Array | None:
        """Reduces element by element over all ranks, to root. Collective.

        Element type, number of elements, op and root must be equal on all ranks. Not differentiable.

        Parameters
        ----------
        array, op
            As of allreduce().
        root : int
            Rank that gets the result.
        out : array, optional
            As of allreduce(), on root only; ignored elsewhere.

        Returns
        -------
        array, number or None
            out on root, None elsewhere.
        """
        if _is_number(array) and out is None:
            result = self.reduce(np.asarray(array), op, root)
            return None if result is None else result.item()
        return self._run_collective("reduce", self._reduction_to_root, array, op, root, out)

    def _reduction_to_root(self, name: str, array: Any, op: Reduction, root: int, out: Any) -> CollectiveCall:
        number = as_int32(root, "root")
        if self.rank == number:
            return self._reduction(name, array, op, out, number)
        source = as_buffer(array, "array", recorded_by=name)
        return CollectiveCall((source.reference, int(as_op(op)), number, None, None), (source,), None)

    def scan(
        self, array: Array, op: Reduction = "sum", reverse: bool = False, out: Array | None = None
    ) -> Array:
        """Reduces element by element over the ranks up to this one, its own included. Collective.

        Element type, number of elements, op and reverse must be equal on all ranks. Not differentiable.

        Parameters
        ----------
        array, op, out
            As of allreduce().
        reverse : bool
            True: reduces over the ranks from this one to the last.

        Returns
        -------
        array or number
            out.
        """
        return self._scan("scan", array, op, reverse, out)

    def exscan(
        self, array: Array, op: Reduction = "sum", reverse: bool = False, out: Array | None = None
    ) -> Array:
        """Reduces element by element over the ranks before this one. Collective. Not differentiable.

        The rank where it begins gets op's identity element: 0 for "sum", 1 for "prod", the highest value (or infinity)
        for "min", the lowest for "max".

        Parameters
        ----------
        array, op, reverse, out
            As of scan().

        Returns
        -------
        array or number
            out.
        """
        return self._scan("exscan", array, op, reverse, out)

    def _scan(self, name: str, array: Any, op: Reduction, reverse: bool, out: Any) -> Any:
        if _is_number(array) and out is None:
            return self._scan(name, np.asarray(array), op, reverse, None).item()
        start = c.Scan.FROM_LAST if reverse else c.Scan.FROM_FIRST
        return self._run_collective(name, self._reduction, array, op, out, int(start))

    def counts(self, count: int) -> list[int]:
        """Collects one number of every rank, usually the extent of its part. Collective.

        Parameters
        ----------
        count : int
            This rank's number, 0 or more.

        Returns
        -------
        list of int
            The numbers of all ranks, in rank order.
        """
        number = self._prepare("comm_counts", lambda: as_int64(count, "count"))
        collected = (ctypes.c_int64 * self.size)()
        _library.core().syncyte_comm_counts(self.handle, number, None, collected, self.size)
        return list(collected)

    def allgatherv(self, array: Array, counts: Sequence[int] | None = None, out: Array | None = None) -> Array:
        """Concatenates the ranks' rows; their numbers may differ. Collective.

        Element type and counts must be equal on all ranks.

        Parameters
        ----------
        array : array
            (rows, ...), contiguous.
        counts : sequence of int, optional
            Number of rows of every rank; None: they are exchanged first. All ranks pass None, or none does.
        out : array, optional
            Contiguous, (sum of counts, ...); None: a new array.

        Returns
        -------
        array
            out.
        """
        if counts is None:
            counts = self.counts(self._prepare("comm_counts", lambda: row_of(as_buffer(array, "array"), "array")[0]))
        return self._run_collective("allgatherv", self._rows_of_all, array, counts, out)

    def _rows_of_all(self, name: str, array: Any, counts: Sequence[int], out: Any) -> CollectiveCall:
        source = as_buffer(array, "array", recorded_by="allgather_along")
        _, shape, elements = row_of(source, "array")
        rows = as_counts(counts, "counts")
        parts = as_counts(list(rows), "counts", elements)
        return call_into(out, source, (whole_extent(rows), *shape), source.reference, parts, len(parts))

    def alltoallv(
        self,
        array: Array,
        send_counts: Sequence[int],
        recv_counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Every rank sends some rows to every rank. Collective: the element type must be equal on all ranks.

        Parameters
        ----------
        array : array
            (rows, ...), contiguous, the pieces in order of target ranks.
        send_counts : sequence of int
            Number of rows for every rank.
        recv_counts : sequence of int, optional
            Number of rows from every rank; None: they are exchanged first. All ranks pass None, or none does.
        out : array, optional
            Contiguous, (sum of recv_counts, ...), the pieces in order of source ranks; None: a new array.

        Returns
        -------
        array
            out.
        """
        source, rows, *arguments = self._prepare("comm_alltoallv", lambda: self._rows_to_send(array, send_counts))
        if recv_counts is None:
            ones, asked = [1] * self.size, np.asarray(rows, np.int64)
            recv_counts = self.alltoallv(asked, ones, ones).tolist()
        return self._run_collective("alltoallv", self._rows_to_receive, source, arguments, recv_counts, out)

    def neighbor_alltoall(self, array: Array, out: Array | None = None) -> Array:
        """Exchanges a block with each neighbour on a grid. Collective over a Cartesian communicator (Comm.cartesian).

        Element type and number of elements must be equal on all ranks. Not differentiable: see syncyte.torch.

        Parameters
        ----------
        array : array
            (2 * ndim, ...), contiguous: for each dimension the block for the neighbour below, then for that above.
        out : array, optional
            Like array; None: a new array. Blocks of missing neighbours stay as they are, in a new array 0.

        Returns
        -------
        array
            out.
        """
        return self._run_collective("neighbor_alltoall", self._neighbors, array, out)

    def _neighbors(self, name: str, array: Any, out: Any) -> CollectiveCall:
        source = as_buffer(array, "array", recorded_by=name)
        call = call_into(out, source, source.shape, source.reference)
        if out is None:
            call.result[...] = 0
        return call

    def _rows_to_send(self, array: Any, counts: Sequence[int]) -> tuple[Any, ...]:
        source = as_buffer(array, "array", recorded_by="alltoall_along")
        rows = as_counts(counts, "send_counts")
        parts = as_counts(list(rows), "send_counts", row_of(source, "array")[2])
        return source, rows, source.reference, parts, len(parts)

    def _rows_to_receive(
        self, name: str, source: Buffer, arguments: Sequence[Any], counts: Sequence[int], out: Any
    ) -> CollectiveCall:
        _, shape, elements = row_of(source, "array")
        rows = as_counts(counts, "recv_counts")
        parts = as_counts(list(rows), "recv_counts", elements)
        return call_into(out, source, (whole_extent(rows), *shape), *arguments, parts, len(parts))
