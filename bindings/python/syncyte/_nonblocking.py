"""The non-blocking collectives of a communicator: started here, ended by a Request."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from . import _arrays, _library
from ._agreement import Result
from ._along import Along, _any_strides, _as_output, _extent, _part, _whole, _with_extent, even_counts
from ._buffers import Buffer, as_buffer
from ._checks import as_counts, as_int32, as_op
from ._declarations import Op
from ._requests import Request, reap
from ._types import Array, Reduction
from .errors import ArgumentError, status_of


def _started(
    operation: str, start: Callable[[Any], object], arrays: Any, written: Buffer | None, result: Array
) -> Request[Array]:
    """Starts an operation and keeps its arrays until its end; `written`: an array of the caller's."""
    reap()
    handle = ctypes.c_void_p()
    start(ctypes.byref(handle))

    def finish() -> Array:
        if written is not None:
            written.written()
        return result

    return Request(handle, arrays, operation, finish)


class Nonblocking(Along):
    """What syncyte.Comm starts.

    A start is collective but waits for no other rank: this rank's own error is raised at once, the others get it from
    wait() or test(). All ranks start in the same order, and wait in any.
    """

    def _prepare_start(self, operation: str, prepare: Callable[[], Result]) -> Result:
        """Runs a start's local checks; if they fail, the others learn of it without waiting for this rank."""
        try:
            return prepare()
        except Exception as error:
            self._refuse_start(operation, error)
            raise

    def _refuse_start(self, operation: str, error: Exception) -> None:
        """In place of a start that this rank cannot make: the others get the error from wait() or test()."""
        lib, status = _library.core(), status_of(error)
        lib.syncyte_error_set(status, str(error).encode("utf-8", "replace"))
        lib.unchecked("syncyte_comm_ifail")(self.handle, status, operation.encode())

    def ibcast(self, array: Array, root: int = 0) -> Request[Array]:
        """Starts bcast(). Collective.

        Parameters
        ----------
        array, root
            As of bcast().

        Returns
        -------
        Request
            Its result is `array`.
        """

        def prepare() -> tuple[Buffer, int]:
            number = as_int32(root, "root")
            if not 0 <= number < self.size:
                raise ArgumentError(f"root is {number}; expected 0 to {self.size - 1}")
            return as_buffer(array, "array", writable=self.rank != number, recorded_by="ibcast"), number

        buffer, number = self._prepare_start("comm_ibcast", prepare)
        return _started(
            "comm_ibcast",
            lambda request: _library.core().syncyte_comm_ibcast(self.handle, number, None, buffer.reference, request),
            buffer,
            buffer if self.rank != number else None,
            array,
        )

    def iallreduce(self, array: Array, op: Reduction = "sum", out: Array | None = None) -> Request[Array]:
        """Starts allreduce() of an array. Collective.

        Parameters
        ----------
        array, op, out
            As of allreduce().

        Returns
        -------
        Request
            Its result is out.
        """

        def prepare() -> tuple[Buffer | None, Op, Buffer, Any]:
            reduction = as_op(op)
            if out is array:
                return None, reduction, as_buffer(array, "array", writable=True, recorded_by="iallreduce"), array
            source = as_buffer(array, "array", recorded_by="iallreduce")
            result = _arrays.empty_like(source, source.shape) if out is None else out
            return source, reduction, as_buffer(result, "out", writable=True, expected=source.dtype), result

        source, reduction, target, result = self._prepare_start("comm_iallreduce", prepare)
        given = None if source is None else source.reference
        return _started(
            "comm_iallreduce",
            lambda request: _library.core().syncyte_comm_iallreduce(
                self.handle, given, int(reduction), None, target.reference, request
            ),
            (source, target),
            target if out is not None else None,
            result,
        )

    def iallgather(
        self, array: Array, counts: Sequence[int], axis: int = 0, *, out: Array | None = None
    ) -> Request[Array]:
        """Starts allgather() along an axis. Collective.

        Parameters
        ----------
        array, axis, out
            As of allgather().
        counts : sequence of int
            The parts' extents; they must be given, since nothing can be exchanged first.

        Returns
        -------
        Request
            Its result is out.
        """

        def prepare() -> tuple[Buffer, int, Any, Buffer, Any]:
            source, along = _any_strides(array, "iallgather_along"), as_int32(axis, "axis")
            parts = as_counts(counts, "counts")
            shape = _with_extent(source.shape, along, _whole(parts))
            result = _arrays.empty_like(source, shape) if out is None else out
            return source, along, parts, _as_output(result, source.dtype), result

        source, along, parts, target, result = self._prepare_start("comm_iallgather_along", prepare)
        return _started(
            "comm_iallgather_along",
            lambda request: _library.core().syncyte_comm_iallgather_along(
                self.handle, source.reference, along, parts, len(parts), None, target.reference, request
            ),
            (source, target),
            target if out is not None else None,
            result,
        )

    def ireduce_scatter(
        self,
        array: Array,
        axis: int = 0,
        op: Reduction = "sum",
        *,
        counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Request[Array]:
        """Starts reduce_scatter(). Collective.

        Parameters
        ----------
        array, axis, op, counts, out
            As of reduce_scatter().

        Returns
        -------
        Request
            Its result is out.
        """

        def prepare() -> tuple[Buffer, int, Any, Op, Buffer, Any]:
            source, along, reduction = _any_strides(array, "ireduce_scatter_along"), as_int32(axis, "axis"), as_op(op)
            known = even_counts(_extent(source.shape, along), self.size) if counts is None else counts
            parts = as_counts(known, "counts")
            part = _with_extent(source.shape, along, _part(parts, self.rank))
            result = _arrays.empty_like(source, part) if out is None else out
            return source, along, parts, reduction, _as_output(result, source.dtype), result

        source, along, parts, reduction, target, result = self._prepare_start("comm_ireduce_scatter_along", prepare)
        return _started(
            "comm_ireduce_scatter_along",
            lambda request: _library.core().syncyte_comm_ireduce_scatter_along(
                self.handle, source.reference, along, parts, len(parts), int(reduction), None, target.reference,
                request,
            ),
            (source, target),
            target if out is not None else None,
            result,
        )

    def ialltoall(
        self,
        array: Array,
        gather_axis: int,
        scatter_axis: int,
        gather_counts: Sequence[int],
        counts: Sequence[int] | None = None,
        *,
        out: Array | None = None,
    ) -> Request[Array]:
        """Starts alltoall(). Collective.

        Parameters
        ----------
        array, gather_axis, scatter_axis, counts, out
            As of alltoall().
        gather_counts : sequence of int
            Of the parts of the input; they must be given, since nothing can be exchanged first.

        Returns
        -------
        Request
            Its result is out.
        """

        def prepare() -> tuple[Buffer, int, Any, int, Any, Buffer, Any]:
            source = _any_strides(array, "ialltoall_along")
            before, after = as_int32(gather_axis, "gather_axis"), as_int32(scatter_axis, "scatter_axis")
            gathered = as_counts(gather_counts, "gather_counts")
            whole = _with_extent(source.shape, before, _whole(gathered))
            wanted = even_counts(_extent(whole, after), self.size) if counts is None else counts
            scattered = as_counts(wanted, "counts")
            part = _with_extent(whole, after, _part(scattered, self.rank))
            result = _arrays.empty_like(source, part) if out is None else out
            return source, before, gathered, after, scattered, _as_output(result, source.dtype), result

        source, before, gathered, after, scattered, target, result = self._prepare_start(
            "comm_ialltoall_along", prepare
        )
        return _started(
            "comm_ialltoall_along",
            lambda request: _library.core().syncyte_comm_ialltoall_along(
                self.handle, source.reference, before, gathered, len(gathered), after, scattered, len(scattered),
                None, target.reference, request,
            ),
            (source, target),
            target if out is not None else None,
            result,
        )
