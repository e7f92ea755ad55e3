# SPDX-License-Identifier: BSD-3-Clause
"""Agreement of a communicator's ranks, and collectives on contiguous arrays, as sequences of elements or of rows."""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from . import _arrays, _library, _numbers
from . import _declarations as c
from ._buffers import Buffer, as_buffer, descriptions, rank_array, row_of
from ._checks import as_counts, as_int32, as_int64, as_op, whole_extent, wrong
from ._foreign import is_in_place
from ._handles import Handle
from ._requests import Request, start
from ._types import Array, Reduction, Result
from .errors import ArgumentError, DtypeError, Error, ShapeError

CHECK_LEVELS = ("off", "on", "full")  # the C library's numbers are the positions
_DEFAULT_OPTIONS = None
_IN_PLACE = None  # input of a reduction that reads its output
_FACT_SIZE = ctypes.sizeof(c.Fact)
_REDUCTIONS = ("allreduce", "reduce", "scan", "exscan")
_REDUCTION_FACT = f"reduction ({', '.join(f'{number} {name}' for number, name in enumerate(_REDUCTIONS))})"


def _fact(name: str, value: int) -> c.Fact:
    return c.Fact(_FACT_SIZE, name.encode(), value)


class CollectiveCall(NamedTuple):
    """The call of a collective, common to its blocking and its non-blocking form."""

    inputs: tuple[Any, ...]  #: arguments of the C function between the communicator and the options
    output: Any  #: its last argument, a reference to a description; None on a rank that gets no result
    arrays: tuple[Buffer, ...]  #: arrays that the C library reads and writes until the end
    result: Any
    written: Buffer | None = None  #: the caller's array that the call writes, if any
    is_number: bool = False  #: whether the result's only element is returned as a number

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Arguments of the C function after the communicator."""
        return *self.inputs, _DEFAULT_OPTIONS, self.output

    def finish(self) -> Any:
        if self.written is not None:
            self.written.mark_written()
        return self.result.item() if self.is_number else self.result


def call_into(
    out: Any, source: Buffer, shape: tuple[int, ...], *inputs: Any, contiguous: bool = True
) -> CollectiveCall:
    """Makes a call that writes `out`, or a new array like source with another shape, as its output."""
    result = _arrays.empty_like(source, shape) if out is None else out
    target = as_buffer(result, "out", writable=True, contiguous=contiguous, expected=source.dtype)
    return CollectiveCall(inputs, target.reference, (source, target), result, None if out is None else target)


class CollectiveMethods(Handle):
    """The part of syncyte.Comm with its ranks, their agreement, and collectives except those along an axis (_along.py).

    A start (ibcast and so on) is collective but does not wait for other ranks: it raises this rank's own error at once,
    and the others get it from wait() or test(). All ranks start operations in the same order; they may wait in any
    order.
    """

    # Cached, and read when the handle is taken over, because torch.compile cannot trace the calls.
    _rank: Any = None
    _size: Any = None

    @property
    def rank(self) -> int:
        """This process's number, 0 to size - 1. Local."""
        if self._rank is None:
            self._rank = _library.core().output("syncyte_comm_rank", self.handle)
        return self._rank

    @property
    def size(self) -> int:
        """Number of ranks. Local."""
        if self._size is None:
            self._size = _library.core().output("syncyte_comm_size", self.handle)
        return self._size

    @property
    def check(self) -> str:
        """Check level (SYNCYTE_CHECK): "off", "on" or "full". Local."""
        return CHECK_LEVELS[_library.core().output("syncyte_comm_check_level", self.handle)]

    # Errors that Python finds on one rank.

    def _locate(self, error: BaseException, operation: str) -> None:
        """Adds operation and rank to the fields of an error that Python has found."""
        if isinstance(error, Error) and not error.fields.operation:
            error.fields = error.fields._replace(operation=operation, rank=self.rank)

    def _tell(self, error: BaseException, operation: str, always: bool = False) -> None:
        """Passes an error to the other ranks' agreement, for a collective that this rank cannot begin.

        `always`: also with SYNCYTE_CHECK=off, for collectives whose C function agrees at every check level (it creates,
        synchronizes or restores objects): the other ranks are waiting in that agreement.
        """
        self._locate(error, operation)
        if not always and self.check == "off":
            return  # without an agreement, only this rank gets the error
        status = _library.set_error(error)
        _library.core().unchecked("syncyte_comm_agree")(self.handle, status, operation.encode(), 0, None)
        agreed = _library.last_fields()
        if isinstance(error, Error):
            is_reported = agreed.rank == self.rank  # the other ranks get this error
            error.fields = agreed if is_reported else error.fields._replace(agreed_rank=agreed.agreed_rank)

    def _prepare(self, operation: str, prepare: Callable[[], Result], always: bool = False) -> Result:
        """Runs a collective's local checks; if they fail, all ranks get the error. `always`: as of _tell()."""
        try:
            return prepare()
        except Exception as error:
            self._tell(error, operation, always)
            raise

    # Collectives that move no data.

    def agree(self, error: BaseException | None = None, operation: str = "agree", **facts: int) -> None:
        """Agreement: raises the same error on all ranks if one has failed or facts differ. Collective.

        Parameters
        ----------
        error : BaseException, optional
            This rank's own error.
        operation : str
            Name for messages.
        **facts : int
            Up to 32 integers that must be equal on all ranks.

        Raises
        ------
        Error
            On all ranks: the error with the highest status of any rank.
        MismatchError
            On all ranks: facts differ; the message names the ranks that differ.
        """

        def prepare() -> tuple[int, Any]:
            array = (c.Fact * max(len(facts), 1))()
            for number, (name, value) in enumerate(facts.items()):
                array[number] = _fact(name, as_int64(value, name))
            if not isinstance(operation, str):
                raise wrong(DtypeError, "operation", repr(operation), "a string")
            return (0 if error is None else _library.set_error(error)), array

        called = operation if isinstance(operation, str) else "agree"
        status, array = self._prepare(called, prepare, always=True)
        _library.core().syncyte_comm_agree(self.handle, status, operation.encode(), len(facts), array)

    def barrier(self) -> None:
        """Returns when all ranks have called it. Collective."""
        _library.core().syncyte_comm_barrier(self.handle)

    def collect(self) -> None:
        """Frees tensors, windows and communicators made on this one that all ranks have dropped. Collective."""
        _library.core().syncyte_comm_collect(self.handle)

    # Collectives that move data.

    def _run_collective(self, name: str, prepare: Callable[..., CollectiveCall], *given: Any) -> Any:
        """Runs a blocking collective; prepare(name, *given) makes its local checks."""
        call = self._prepare(f"comm_{name}", lambda: prepare(name, *given))
        return self._run(name, call)

    def _run_reduction(self, name: str, prepare: Any, array: Any, op: Reduction, out: Any, *numbers: int) -> Any:
        """Runs a reduction of an array or a number; prepare(name, array, op, out, *numbers)."""
        if _numbers.is_integer(array) and self._prepare(f"comm_{name}", lambda: as_op(op)) == c.Op.PROD:
            return self._run_product(name, array, out, *numbers)
        return self._run_collective(name, prepare, array, op, out, *numbers)

    def _run_product(self, name: str, value: Any, out: Any, *numbers: int) -> Any:
        """Runs a product of integers: gathers all factors, because the product may have more than 64 bits."""
        gets_result = name != "reduce" or self.rank == numbers[0]

        def prepare() -> tuple[CollectiveCall, Buffer | None, Any]:
            fact = _fact("reverse", numbers[0] if numbers else 0)
            if name == "reduce":
                fact = _fact("root", self._as_root(numbers[0]))
            # All ranks must reduce in the same way; an application's allgather has no such facts.
            facts = (c.Fact * 2)(_fact(_REDUCTION_FACT, _REDUCTIONS.index(name)), fact)
            options = _library.new_struct(c.CollectiveOptions, facts=facts, fact_count=2)
            target = None
            if gets_result and out is not None:
                target = as_buffer(out, "out", writable=True, expected=c.DType.INT64)
                if math.prod(target.shape) != 1:
                    raise wrong(ShapeError, "out", f"of shape {target.shape}", "one element")
            source = as_buffer(_numbers.factor(value), "array")
            return call_into(None, source, (self.size,), source.reference), target, options

        call, target, options = self._prepare(f"comm_{name}", prepare)
        _library.core().syncyte_comm_allgather(self.handle, *call.inputs, options, call.output)
        if not gets_result:
            return None
        result = _numbers.product(call.finish().tolist(), name, self.rank, numbers)
        if target is None:
            return result
        _numbers.store_product(result, out)
        target.mark_written()
        return out

    def _as_root(self, root: Any) -> int:
        number = as_int32(root, "root")
        if not 0 <= number < self.size:
            raise wrong(ArgumentError, "root", number, f"0 to {self.size - 1}")
        return number

    def _prepare_start(self, operation: str, prepare: Callable[[], Result]) -> Result:
        """Runs a start's local checks; if they fail, passes the error to the other ranks, without waiting."""
        try:
            return prepare()
        except Exception as error:
            self._locate(error, operation)
            # The others get the error from wait() or test().
            _library.core().unchecked("syncyte_comm_ifail")(self.handle, _library.set_error(error), operation.encode())
            raise

    def _start_collective(self, name: str, prepare: Callable[..., CollectiveCall], *given: Any) -> Request[Any]:
        """Starts a collective; prepare(name, *given) makes its local checks."""
        call = self._prepare_start(f"comm_{name}", lambda: prepare(name, *given))
        return start(f"syncyte_comm_{name}", self.handle, *call.arguments, arrays=call.arrays, finish=call.finish)

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
        return self._start_collective("ibcast", self._broadcast, array, root)

    def _broadcast(self, name: str, array: Any, root: int) -> CollectiveCall:
        number = self._as_root(root)  # checked before the array, because root decides whether that is written
        is_written = self.rank != number
        buffer = as_buffer(array, "array", writable=is_written, recorded_by=name)
        return CollectiveCall((number,), buffer.reference, (buffer,), array, buffer if is_written else None)

    def allreduce(self, array: Array, op: Reduction = "sum", out: Array | None = None) -> Array:
        """Reduces element by element over all ranks; all ranks get the result. Collective.

        Element type, number of elements and op must be equal on all ranks. Not differentiable: see syncyte.torch.

        Parameters
        ----------
        array : array or number
            Any shape, contiguous; or a number, which gives a number. Integers are summed as int64 (ArgumentError if the
            sum might not fit) and multiplied exactly; True counts as 1. MPI.IN_PLACE: out is reduced in place.
        op : str or Op
            "sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor" or "bxor"; or mpi4py's (MPI.SUM), or
            torch.distributed's ReduceOp.
        out : array, optional
            An array of the same type and number of elements; `array` itself: in place; None: a new one of array's shape
            and kind.

        Returns
        -------
        array or number
            out.
        """
        return self._run_reduction("allreduce", self._reduction, array, op, out)

    def iallreduce(self, array: Array, op: Reduction = "sum", out: Array | None = None) -> Request[Array]:
        """Starts allreduce(). Collective.

        Parameters
        ----------
        array, op, out
            As of allreduce(), but no product of integers that are not in an array.

        Returns
        -------
        Request
            Its result is out, or a number.
        """
        return self._start_collective("iallreduce", self._started_reduction, array, op, out)

    def _started_reduction(self, name: str, array: Any, op: Reduction, out: Any) -> CollectiveCall:
        if _numbers.is_integer(array) and as_op(op) == c.Op.PROD:
            kind = f"a product of {type(array).__name__}"
            raise wrong(DtypeError, "array", kind, "an array of one element, or allreduce()")
        return self._reduction(name, array, op, out)

    def _operand(self, name: str, array: Any, op: c.Op) -> Buffer:
        """Describes a reduction's operand. A summed integer is sent as an int64 element, so that True counts as 1."""
        if op == c.Op.SUM and _numbers.is_integer(array):
            array = _numbers.summand(array, self.size)
        return as_buffer(array, "array", recorded_by=name)

    def _reduction(self, name: str, array: Any, op: Reduction, out: Any, *numbers: int) -> CollectiveCall:
        reduction = as_op(op)
        if is_in_place(array):
            if out is None:
                raise wrong(ArgumentError, "out", None, "the array to reduce, because array is MPI.IN_PLACE")
            array = out
        if out is array:
            target = as_buffer(array, "array", writable=True, recorded_by=name)
            return CollectiveCall((_IN_PLACE, int(reduction), *numbers), target.reference, (target,), array, target)
        source = self._operand(name, array, reduction)
        call = call_into(out, source, source.shape, source.reference, int(reduction), *numbers)
        return call._replace(is_number=out is None and _numbers.is_number(array))

    def reduce(self, array: Array, op: Reduction = "sum", root: int = 0, out: Array | None = None) -> Array | None:
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
        return self._run_reduction("reduce", self._reduction_to_root, array, op, out, root)

    def _reduction_to_root(self, name: str, array: Any, op: Reduction, out: Any, root: int) -> CollectiveCall:
        number = as_int32(root, "root")
        if self.rank == number:
            return self._reduction(name, array, op, out, number)
        reduction = as_op(op)
        source = self._operand(name, array, reduction)
        inputs = source.reference, int(reduction), number
        return CollectiveCall(inputs, output=None, arrays=(source,), result=None)

    def scan(self, array: Array, op: Reduction = "sum", reverse: bool = False, out: Array | None = None) -> Array:
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
        return self._run_reduction("scan", self._reduction, array, op, out, int(bool(reverse)))

    def exscan(self, array: Array, op: Reduction = "sum", reverse: bool = False, out: Array | None = None) -> Array:
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
        return self._run_reduction("exscan", self._reduction, array, op, out, int(bool(reverse)))

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
        _library.core().syncyte_comm_counts(self.handle, number, None, self.size, collected)
        return list(collected)

    def allgather(self, array: Array, out: Array | None = None) -> Array:
        """Stacks arrays of equal size of all ranks along a new first axis. Collective.

        Element type and number of elements must be equal.

        Parameters
        ----------
        array : array
            Contiguous.
        out : array, optional
            Contiguous, (size, *array.shape); None: a new one.

        Returns
        -------
        array
            out.
        """
        return self._run_collective("allgather", self._stack, array, out)

    def _stack(self, name: str, array: Any, out: Any) -> CollectiveCall:
        source = as_buffer(array, "array", recorded_by="allgather_along")
        return call_into(out, source, (self.size, *source.shape), source.reference)

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
        return call_into(out, source, (whole_extent(rows), *shape), source.reference, len(parts), parts)

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
            (rows, ...), contiguous, the blocks in order of target ranks.
        send_counts : sequence of int
            Number of rows for every rank.
        recv_counts : sequence of int, optional
            Number of rows from every rank; None: they are exchanged first. All ranks pass None, or none does.
        out : array, optional
            Contiguous, (sum of recv_counts, ...), the blocks in order of source ranks; None: a new array.

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

    @overload
    def relocate_rows(self, arrays: list[Array] | tuple[Array, ...], destinations: Any) -> list[Array]: ...

    @overload
    def relocate_rows(self, arrays: Array, destinations: Any) -> Array: ...

    def relocate_rows(self, arrays: Any, destinations: Any) -> Any:
        """Moves rows to other ranks, such as particles that have left a rank's part of space. Collective.

        The rows of all arrays with one number travel together. A rank gets first the rows that stay, then those of rank
        0, 1, ..., all in their order. Element types and extents of rows must be equal on all ranks.

        Parameters
        ----------
        arrays : array, or list or tuple of arrays
            (rows, ...), with any strides and as many rows each.
        destinations : integers
            The rank that each row goes to; PROC_NULL: the row goes nowhere.

        Returns
        -------
        array, or list of arrays
            New ones, with the rows that this rank has got.
        """
        several = isinstance(arrays, (list, tuple))

        def prepare() -> tuple[list[Buffer], np.ndarray, Any]:
            given = list(arrays) if several else [arrays]
            if not given:
                raise wrong(ArgumentError, "arrays", "empty", "an array or more")
            sources = [as_buffer(each, "arrays", contiguous=False, recorded_by="relocate_rows") for each in given]
            ranks = rank_array(destinations, "destinations")
            for each in sources:
                if each.shape[:1] != ranks.shape:
                    expected = f"{ranks.size} rows, one for each destination"
                    raise wrong(ShapeError, "arrays", f"an array of shape {each.shape}", expected)
            return sources, ranks, descriptions(sources)

        sources, ranks, read = self._prepare("comm_relocate_rows", prepare)
        call = functools.partial(_library.core().output, "syncyte_comm_relocate_rows", self.handle)
        given = ranks.size, _arrays.pointer(ranks), len(sources), read, None
        rows = call(*given, None)
        results = self._prepare(
            "comm_relocate_rows", lambda: [_arrays.empty_like(each, (rows, *each.shape[1:])) for each in sources]
        )
        targets = [as_buffer(each, "results", writable=True) for each in results]
        call(*given, descriptions(targets))
        for each in targets:
            each.mark_written()
        return results if several else results[0]

    def neighbor_alltoall(self, array: Array, out: Array | None = None) -> Array:
        """Exchanges a block with each neighbour on a grid. Collective over a Cartesian communicator (Comm.cartesian).

        Element type and number of elements must be equal on all ranks. Not differentiable: see syncyte.torch.

        Parameters
        ----------
        array : array
            (2 * ndim, ...), contiguous: per dimension a block for the neighbour below, then for the neighbour above.
        out : array, optional
            Like array; None: a new array. Blocks of missing neighbours are not written; in a new array they are 0.

        Returns
        -------
        array
            out.
        """
        return self._run_collective("neighbor_alltoall", self._neighbors, array, out)

    def _neighbors(self, name: str, array: Any, out: Any) -> CollectiveCall:
        source = as_buffer(array, "array", recorded_by=name)
        if out is None:
            out = _arrays.empty_like(source, source.shape)
            out[...] = 0  # before it is described, which waits for a device
        return call_into(out, source, source.shape, source.reference)

    def _rows_to_send(self, array: Any, counts: Sequence[int]) -> tuple[Any, ...]:
        source = as_buffer(array, "array", recorded_by="alltoall_along")
        rows = as_counts(counts, "send_counts")
        parts = as_counts(list(rows), "send_counts", row_of(source, "array")[2])
        return source, rows, source.reference, len(parts), parts

    def _rows_to_receive(
        self, name: str, source: Buffer, arguments: Sequence[Any], counts: Sequence[int], out: Any
    ) -> CollectiveCall:
        _, shape, elements = row_of(source, "array")
        rows = as_counts(counts, "recv_counts")
        parts = as_counts(list(rows), "recv_counts", elements)
        return call_into(out, source, (whole_extent(rows), *shape), *arguments, len(parts), parts)
