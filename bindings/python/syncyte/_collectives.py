"""The collectives of a communicator, and how all ranks learn of an error that Python finds on one of them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _buffers, _library
from . import _declarations as c
from ._buffers import Buffer, as_buffer
from ._checks import as_counts, as_index, as_int32, as_op, check_rows, row_of
from ._declarations import Op
from ._handles import Handle
from .errors import ArgumentError, ShapeError, status_of

Result = TypeVar("Result")


class Collectives(Handle):
    """What syncyte.Comm does with all its ranks."""

    _rank: int | None
    _size: int | None

    @property
    def rank(self) -> int:
        """This process's number, 0 to size - 1. Local."""
        if self._rank is None:
            number = ctypes.c_int32()
            _library.core().syncyte_comm_rank(self.handle, ctypes.byref(number))
            self._rank = number.value
        return self._rank

    @property
    def size(self) -> int:
        """Number of ranks. Local."""
        if self._size is None:
            number = ctypes.c_int32()
            _library.core().syncyte_comm_size(self.handle, ctypes.byref(number))
            self._size = number.value
        return self._size

    @property
    def check(self) -> str:
        """How much is compared before data moves: "off", "on" or "full" (SYNCYTE_CHECK). Local."""
        level = ctypes.c_int32()
        _library.core().syncyte_comm_check_level(self.handle, ctypes.byref(level))
        return ("off", "on", "full")[level.value]

    # Errors that Python finds on one rank.

    def _tell(self, error: BaseException, operation: str, lifecycle: bool = False) -> None:
        """Takes part in the other ranks' agreement on a collective that this rank cannot begin; they get the error."""
        if not lifecycle and self.check == "off":
            return  # there is no agreement: the error is this rank's alone
        lib, status = _library.core(), status_of(error)
        lib.syncyte_error_set(status, str(error).encode("utf-8", "replace"))
        lib.unchecked("syncyte_comm_agree")(self.handle, status, operation.encode(), 0, None)

    def _prepare(self, operation: str, prepare: Callable[[], Result], lifecycle: bool = False) -> Result:
        """Runs a collective's local checks; if they fail, all ranks fail."""
        try:
            return prepare()
        except Exception as error:
            self._tell(error, operation, lifecycle)
            raise

    # Collectives.

    def agree(self, error: BaseException | None = None, operation: str = "agree", **facts: int) -> None:
        """All ranks learn whether all are well and agree. Collective.

        error: this rank's own failure, or None. operation: name for messages. facts: up to 32 integers that must be
        equal on all ranks. Raises on all ranks the gravest rank's error, or MismatchError that names the odd ranks.
        """

        def prepare() -> tuple[int, Any]:
            array = (c.Fact * max(len(facts), 1))()
            for number, (name, value) in enumerate(facts.items()):
                array[number].name, array[number].value = name.encode(), as_index(value, name)
            if error is not None:
                _library.core().syncyte_error_set(status_of(error), str(error).encode("utf-8", "replace"))
            return (0 if error is None else status_of(error)), array

        status, array = self._prepare(operation, prepare, lifecycle=True)
        _library.core().syncyte_comm_agree(self.handle, status, operation.encode(), len(facts), array)

    def barrier(self) -> None:
        """Returns when all ranks have called it. Collective."""
        _library.core().syncyte_comm_barrier(self.handle)

    def collect(self) -> None:
        """Frees what all ranks have dropped: tensors, windows and communicators made on this one. Collective."""
        _library.core().syncyte_collect(self.handle)

    def bcast(self, array: Any, root: int = 0) -> Any:
        """Sends root's elements to all ranks, in place; returns `array`. Collective: element type, number of elements
        and root must be equal on all ranks.

        array: any shape, contiguous, host memory; read on root, written elsewhere.
        """

        def prepare() -> tuple[Buffer, int]:
            number = as_int32(root, "root")
            if not 0 <= number < self.size:  # before the array, which is read or written depending on root
                raise ArgumentError(f"root is {number}; expected 0 to {self.size - 1}")
            return as_buffer(array, "array", writable=self.rank != number), number

        buffer, number = self._prepare("comm_bcast", prepare)
        _library.core().syncyte_comm_bcast(self.handle, number, None, buffer.reference)
        if self.rank != number:
            buffer.written()
        return array

    def allreduce(self, array: Any, op: Op | str = "sum", out: Any = None) -> Any:
        """Reduces element by element over all ranks; all get the same. Collective: element type, number of elements and
        op must be equal on all ranks. Not differentiable: see syncyte.torch.

        array: any shape, contiguous; or a Python number, which gives a number. out: an array of the same type and
        number of elements; `array` itself: in place; None: a new one of array's shape and kind. Returns out.
        """
        if isinstance(array, (bool, int, float, complex)) and out is None:
            return self.allreduce(np.asarray(array), op).item()

        def prepare() -> tuple[Buffer | None, Op, Buffer, Any]:
            reduction = as_op(op)
            if out is array:
                return None, reduction, as_buffer(array, "array", writable=True), array
            source = as_buffer(array, "array")
            result = _buffers.empty_like(source, source.shape) if out is None else out
            return source, reduction, as_buffer(result, "out", writable=True, expected=source.dtype), result

        source, reduction, target, result = self._prepare("comm_allreduce", prepare)
        reference = None if source is None else source.reference
        _library.core().syncyte_comm_allreduce(self.handle, reference, int(reduction), None, target.reference)
        if out is not None:
            target.written()
        return result

    def allgather(self, array: Any, out: Any = None) -> Any:
        """Stacks equal contributions of all ranks. Collective: element type and number of elements must be equal.

        array: any shape, contiguous. out: contiguous, size times as many elements; None: a new array of shape
        (size, *array.shape). Returns out.
        """

        def prepare() -> tuple[Buffer, Buffer, Any]:
            source = as_buffer(array, "array")
            result = _buffers.empty_like(source, (self.size, *source.shape)) if out is None else out
            return source, as_buffer(result, "out", writable=True, expected=source.dtype), result

        source, target, result = self._prepare("comm_allgather", prepare)
        _library.core().syncyte_comm_allgather(self.handle, source.reference, None, target.reference)
        if out is not None:
            target.written()
        return result

    def allgatherv(self, array: Any, counts: Sequence[int] | None = None, out: Any = None) -> Any:
        """Concatenates the ranks' rows, of which each may have another number. Collective: element type and counts
        must be equal on all ranks.

        array: (rows, ...), contiguous. counts: rows of every rank, equal on all ranks; None: they are exchanged first
        (all ranks give None then, or none does). out: contiguous, (sum of counts, ...); None: a new array. Returns out.
        """
        if counts is None:
            rows = self._prepare("comm_allgather", lambda: row_of(as_buffer(array, "array"), "array")[0])
            counts = self.allgather(np.asarray(rows, np.int64)).tolist()
        known: Sequence[int] = counts

        def prepare() -> tuple[Buffer, Any, Buffer, Any]:
            source = as_buffer(array, "array")
            rows, shape, elements = row_of(source, "array")
            numbers = as_counts(known, "counts", self.size, elements)
            if rows != known[self.rank]:
                raise ShapeError(f"array has {rows} rows; counts[{self.rank}] is {known[self.rank]}")
            result = _buffers.empty_like(source, (sum(known), *shape)) if out is None else out
            return source, numbers, as_buffer(result, "out", writable=True, expected=source.dtype), result

        source, numbers, target, result = self._prepare("comm_allgatherv", prepare)
        _library.core().syncyte_comm_allgatherv(self.handle, source.reference, numbers, None, target.reference)
        if out is not None:
            target.written()
        return result

    def alltoallv(
        self, array: Any, send_counts: Sequence[int], recv_counts: Sequence[int] | None = None, out: Any = None
    ) -> Any:
        """Every rank sends some rows to every rank. Collective: the element type must be equal on all ranks.

        array: (rows, ...), contiguous, the pieces in order of target ranks. send_counts: rows for every rank.
        recv_counts: rows from every rank; None: they are exchanged first (all ranks give None then, or none does).
        out: contiguous, (sum of recv_counts, ...), the pieces in order of source ranks; None: a new array. Returns out.
        """

        def prepare_send() -> tuple[Buffer, Any]:
            source = as_buffer(array, "array")
            _, _, elements = row_of(source, "array")
            numbers = as_counts(send_counts, "send_counts", self.size, elements)
            check_rows(source, numbers, "array", "send_counts")
            return source, numbers

        source, sent = self._prepare("comm_alltoallv", prepare_send)
        if recv_counts is None:
            ones, asked = [1] * self.size, np.asarray([int(count) for count in send_counts], np.int64)
            recv_counts = self.alltoallv(asked, ones, ones).tolist()
        expected: Sequence[int] = recv_counts

        def prepare_receive() -> tuple[Any, Buffer, Any]:
            _, shape, elements = row_of(source, "array")
            numbers = as_counts(expected, "recv_counts", self.size, elements)
            result = _buffers.empty_like(source, (sum(expected), *shape)) if out is None else out
            target = as_buffer(result, "out", writable=True, expected=source.dtype)
            check_rows(target, numbers, "out", "recv_counts")
            return numbers, target, result

        received, target, result = self._prepare("comm_alltoallv", prepare_receive)
        _library.core().syncyte_comm_alltoallv(self.handle, source.reference, sent, received, None, target.reference)
        if out is not None:
            target.written()
        return result
