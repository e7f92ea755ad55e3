"""The collectives of a communicator on contiguous arrays, as sequences of elements or of rows."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, _library
from . import _declarations as c
from ._agreement import Agreement
from ._buffers import Buffer, as_buffer, row_of
from ._checks import as_counts, as_int32, as_int64, as_op
from ._declarations import Op
from ._types import Array, Reduction
from .errors import ArgumentError


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex))


def _operands(array: Any, op: Reduction, out: Any, recorded_by: str) -> tuple[Any, Op, Buffer, Any]:
    """A reduction's input (None: in place) and op as the C library takes them, its output, and what the caller gets."""
    reduction = as_op(op)
    if out is array:
        return None, reduction, as_buffer(array, "array", writable=True, recorded_by=recorded_by), array
    source = as_buffer(array, "array", recorded_by=recorded_by)
    result = _arrays.empty_like(source, source.shape) if out is None else out
    return source.reference, reduction, as_buffer(result, "out", writable=True, expected=source.dtype), result


class Collectives(Agreement):
    """What syncyte.Comm does with all its ranks, but for what _along.py has."""

    def bcast(self, array: Array, root: int = 0) -> Array:
        """Sends root's elements to all ranks, in place. Collective.

        Element type, number of elements and root must be equal on all ranks.

        Parameters
        ----------
        array : array
            Any shape, contiguous, host memory; read on root, written elsewhere.
        root : int
            The rank that sends.

        Returns
        -------
        array
            The argument.
        """

        def prepare() -> tuple[Buffer, int]:
            number = as_int32(root, "root")
            if not 0 <= number < self.size:  # before the array, which is read or written depending on root
                raise ArgumentError(f"root is {number}; expected 0 to {self.size - 1}")
            buffer = as_buffer(array, "array", writable=self.rank != number, recorded_by="bcast")
            return buffer, number

        buffer, number = self._prepare("comm_bcast", prepare)
        _library.core().syncyte_comm_bcast(self.handle, number, None, buffer.reference)
        if self.rank != number:
            buffer.written()
        return array

    def allreduce(self, array: Array, op: Reduction = "sum", out: Array | None = None) -> Array:
        """Reduces element by element over all ranks; all get the same. Collective.

        Element type, number of elements and op must be equal on all ranks. Not differentiable: see syncyte.torch.

        Parameters
        ----------
        array : array or number
            Any shape, contiguous; or a Python number, which gives a number.
        op : str or Op
            "sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor" or "bxor".
        out : array, optional
            Of the same type and number of elements; `array` itself: in place; None: a new one of array's shape and
            kind.

        Returns
        -------
        array or number
            out.
        """
        if _is_number(array) and out is None:
            return self.allreduce(np.asarray(array), op).item()

        source, reduction, target, result = self._prepare(
            "comm_allreduce", lambda: _operands(array, op, out, "allreduce")
        )
        _library.core().syncyte_comm_allreduce(self.handle, source, int(reduction), None, target.reference)
        if out is not None:
            target.written()
        return result

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
            The rank that gets the result.
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

        def prepare() -> tuple[Any, Op, int, Buffer | None, Any]:
            number = as_int32(root, "root")
            if self.rank != number:
                return as_buffer(array, "array", recorded_by="reduce").reference, as_op(op), number, None, None
            source, reduction, target, result = _operands(array, op, out, "reduce")
            return source, reduction, number, target, result

        source, reduction, number, target, result = self._prepare("comm_reduce", prepare)
        output = None if target is None else target.reference
        _library.core().syncyte_comm_reduce(self.handle, source, int(reduction), number, None, output)
        if target is not None and out is not None:
            target.written()
        return result

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
            Over the ranks from this one to the last.

        Returns
        -------
        array or number
            out.
        """
        return self._scan("comm_scan", array, op, reverse, out)

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
        return self._scan("comm_exscan", array, op, reverse, out)

    def _scan(self, operation: str, array: Any, op: Reduction, reverse: bool, out: Any) -> Any:
        if _is_number(array) and out is None:
            return self._scan(operation, np.asarray(array), op, reverse, None).item()
        source, reduction, target, result = self._prepare(
            operation, lambda: _operands(array, op, out, operation.removeprefix("comm_"))
        )
        start = c.Scan.FROM_LAST if reverse else c.Scan.FROM_FIRST
        function = getattr(_library.core(), f"syncyte_{operation}")
        function(self.handle, source, int(reduction), int(start), None, target.reference)
        if out is not None:
            target.written()
        return result

    def counts(self, count: int) -> list[int]:
        """One number of every rank, usually the extent of its part. Collective.

        Parameters
        ----------
        count : int
            This rank's, 0 or more.

        Returns
        -------
        list of int
            All ranks', in order of ranks.
        """
        number = self._prepare("comm_counts", lambda: as_int64(count, "count"))
        collected = (ctypes.c_int64 * self.size)()
        _library.core().syncyte_comm_counts(self.handle, number, None, collected, self.size)
        return list(collected)

    def allgatherv(self, array: Array, counts: Sequence[int] | None = None, out: Array | None = None) -> Array:
        """Concatenates the ranks' rows, of which each may have another number. Collective.

        Element type and counts must be equal on all ranks.

        Parameters
        ----------
        array : array
            (rows, ...), contiguous.
        counts : sequence of int, optional
            Rows of every rank; None: they are exchanged first (all ranks give None then, or none does).
        out : array, optional
            Contiguous, (sum of counts, ...); None: a new array.

        Returns
        -------
        array
            out.
        """
        if counts is None:
            counts = self.counts(self._prepare("comm_counts", lambda: row_of(as_buffer(array, "array"), "array")[0]))
        known: Sequence[int] = counts

        def prepare() -> tuple[Buffer, Any, Buffer, Any]:
            source = as_buffer(array, "array", recorded_by="allgather_along")
            _, shape, elements = row_of(source, "array")
            per_rank = list(as_counts(known, "counts"))
            numbers = as_counts(per_rank, "counts", elements)
            result = _arrays.empty_like(source, (max(sum(per_rank), 0), *shape)) if out is None else out
            return source, numbers, as_buffer(result, "out", writable=True, expected=source.dtype), result

        source, numbers, target, result = self._prepare("comm_allgatherv", prepare)
        _library.core().syncyte_comm_allgatherv(
            self.handle, source.reference, numbers, len(numbers), None, target.reference
        )
        if out is not None:
            target.written()
        return result

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
            Rows for every rank.
        recv_counts : sequence of int, optional
            Rows from every rank; None: they are exchanged first (all ranks give None then, or none does).
        out : array, optional
            Contiguous, (sum of recv_counts, ...), the pieces in order of source ranks; None: a new array.

        Returns
        -------
        array
            out.
        """

        def prepare_send() -> tuple[Buffer, list[int], Any]:
            source = as_buffer(array, "array", recorded_by="alltoall_along")
            _, _, elements = row_of(source, "array")
            per_rank = list(as_counts(send_counts, "send_counts"))
            numbers = as_counts(per_rank, "send_counts", elements)
            return source, per_rank, numbers

        source, rows_sent, sent = self._prepare("comm_alltoallv", prepare_send)
        if recv_counts is None:
            ones, asked = [1] * self.size, np.asarray(rows_sent, np.int64)
            recv_counts = self.alltoallv(asked, ones, ones).tolist()
        expected: Sequence[int] = recv_counts

        def prepare_receive() -> tuple[Any, Buffer, Any]:
            _, shape, elements = row_of(source, "array")
            per_rank = list(as_counts(expected, "recv_counts"))
            numbers = as_counts(per_rank, "recv_counts", elements)
            result = _arrays.empty_like(source, (max(sum(per_rank), 0), *shape)) if out is None else out
            return numbers, as_buffer(result, "out", writable=True, expected=source.dtype), result

        received, target, result = self._prepare("comm_alltoallv", prepare_receive)
        _library.core().syncyte_comm_alltoallv(
            self.handle, source.reference, sent, len(sent), received, len(received), None, target.reference
        )
        if out is not None:
            target.written()
        return result
