"""Methods of whole tensors that start an access and return a request."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Literal, Self, overload

import numpy as np

from . import _arrays, _library, dtypes
from ._buffers import Buffer, as_buffer
from ._checks import as_int64, as_op
from ._requests import Request, reap
from ._tensor_methods import TensorMethods, _bytes_of, _index_buffer
from ._types import Array, Reduction
from .errors import ArgumentError


class StartedMethods(TensorMethods):
    """The part of WholeTensor with started accesses, whose requests need no MPI.

    Rows of this node are read or written before the start returns; others follow without further calls. Accesses that
    are in flight at one time are not ordered with each other. flush() and sync() do not wait for them: wait for the
    request first. Between nodes without the fabric (by MPI RMA) the whole access happens in the start.
    """

    @overload
    def igather(self, index: Any, out: Array) -> Request[Array]: ...
    @overload
    def igather(self, index: Any, out: None = None) -> Request[Any]: ...

    def igather(self, index: Any, out: Any = None) -> Request[Any]:
        """Starts gather(). Local; does not wait for other ranks. Not differentiable.

        Parameters
        ----------
        index, out
            As of gather(). index may change after the start.

        Returns
        -------
        Request
            Its wait() returns the rows: out, or the new array.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError
            As of gather().
        ArgumentError
            The tensor records gradients: use gather(), or start within torch.no_grad().
        """
        self._refuse_recorded("gather")
        wanted = _index_buffer(index)
        result = out
        if out is None:
            is_array = dtypes.is_torch_tensor(index) or isinstance(index, np.ndarray)
            kind = wanted.array_kind if is_array else self._array_kind
            result = _arrays.empty(kind, self._dtype, (*wanted.shape, *self._shape[1:]))
        target = as_buffer(result, "out", writable=True, expected=self._dtype)
        self._check_rows(wanted, target, "out")
        return self._start_read("igather", (wanted, target), wanted.reference, target.reference)

    def iscatter_(self, index: Any, source: Any) -> Request[Self]:
        """Starts scatter_(). Local; does not wait for other ranks.

        Parameters
        ----------
        index, source
            As of scatter_(). source must not change until the end.

        Returns
        -------
        Request
            It ends when all rows are written; its wait() returns the tensor.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError, ArgumentError
            As of scatter_().
        """
        wanted, values = self._rows_to_write(index, source)
        return self._start_write("iscatter", (wanted, values), wanted.reference, values.reference)

    def iscatter_add_(self, index: Any, source: Any) -> Request[Self]:
        """Starts scatter_add_(). Local; does not wait for other ranks.

        Parameters
        ----------
        index, source
            As of scatter_(). source must not change until the end.

        Returns
        -------
        Request
            It ends when all rows are added; its wait() returns the tensor.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError, ArgumentError, UnsupportedError
            As of scatter_add_(). PeerDiedError is raised by wait() too.
        """
        wanted, values = self._rows_to_write(index, source)
        return self._start_write("iscatter_add", (wanted, values), wanted.reference, values.reference)

    def iput_signal_(
        self, index: Any, source: Any, counters: TensorMethods, element: int | Sequence[int], value: int = 1,
        op: Literal["sum", "replace"] = "sum",
    ) -> Request[Self]:  # fmt: skip
        """Starts put_signal_(). Local; does not wait for other ranks.

        The counter changes when all owners have the rows, without calls of the request.

        Parameters
        ----------
        index, source, counters, element, value, op
            As of put_signal_(). source must not change until the end.

        Returns
        -------
        Request
            It ends when the counter has changed; its wait() returns the tensor.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError, ArgumentError
            As of put_signal_(). PeerDiedError is raised by wait(); if an owner of rows died, the counter is unchanged.
        """
        wanted, values = self._rows_to_write(index, source)
        signal = self._signal(counters, element, value, op)
        return self._start_write("iput_signal", (wanted, values), wanted.reference, values.reference, *signal)

    def iapply_gradients(self, index: Any, gradients: Any) -> Request[Self]:
        """Starts apply_gradients(). Local.

        Repeated rows are summed in the start, and Adam counts a step there; if another node has the number of steps,
        the start waits for its answer.

        Parameters
        ----------
        index, gradients
            As of apply_gradients(). gradients must not change until the end.

        Returns
        -------
        Request
            It ends when all rows are updated; its wait() returns the tensor.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError, UnsupportedError
            As of apply_gradients(). PeerDiedError is raised by wait() too.
        """
        wanted, values = _index_buffer(index), self._source(gradients, True)
        self._check_rows(wanted, values, "gradients")
        return self._start_write("iapply_gradients", (wanted, values), wanted.reference, values.reference)

    def ifetch_add(self, element: int | Sequence[int], value: int = 1) -> Request[int]:
        """Starts fetch_add(). Local; does not wait for other ranks.

        Parameters
        ----------
        element, value
            As of fetch_add().

        Returns
        -------
        Request
            Its wait() returns the old value.
        """
        return self._start_change("ifetch_add", element, as_int64(value, "value"))

    def icompare_swap(self, element: int | Sequence[int], expected: int, desired: int) -> Request[int]:
        """Starts compare_swap(). Local; does not wait for other ranks.

        Parameters
        ----------
        element, expected, desired
            As of compare_swap().

        Returns
        -------
        Request
            Its wait() returns the old value.
        """
        values = as_int64(expected, "expected"), as_int64(desired, "desired")
        return self._start_change("icompare_swap", element, *values)

    def _start_change(self, operation: str, element: int | Sequence[int], *values: int) -> Request[int]:
        previous = ctypes.c_int64()
        return self._start(
            operation, (previous,), lambda: previous.value, self._element(element), *values, previous
        )

    @overload
    def iget_box(self, lower: Sequence[int], extent: None = None, *, out: Array) -> Request[Array]: ...
    @overload
    def iget_box(self, lower: Sequence[int], extent: Sequence[int]) -> Request[Any]: ...

    def iget_box(self, lower: Sequence[int], extent: Sequence[int] | None = None, out: Any = None) -> Request[Any]:
        """Starts get_box(). Local; does not wait for other ranks. Not differentiable.

        Parameters
        ----------
        lower, extent, out
            As of get_box().

        Returns
        -------
        Request
            Its wait() returns the box: out, or the new array.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError, ArgumentError
            As of get_box(); ArgumentError also if the tensor records gradients.
        """
        self._refuse_recorded("get_box")
        if (extent is None) == (out is None):
            raise ArgumentError("extent and out: expected exactly one of them")
        result = out
        if out is None:
            shape = self._box_shape(extent)
            self._check_inside(lower, shape)
            result = _arrays.empty(self._array_kind, self._dtype, shape)
        target = as_buffer(result, "out", writable=True, contiguous=False, expected=self._dtype)
        first = self._check_inside(lower, target.shape)
        return self._start_read("iget_box", (target,), len(first), first, target.reference)

    def iput_box(self, lower: Sequence[int], source: Any) -> Request[Self]:
        """Starts put_box(). Local; does not wait for other ranks.

        Parameters
        ----------
        lower, source
            As of put_box(). source may change after the start.

        Returns
        -------
        Request
            It ends when the box is written; its wait() returns the tensor.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError, ArgumentError
            As of put_box().
        """
        values = self._source(source, False)
        first = self._check_inside(lower, values.shape)
        return self._start_write("iput_box", (values,), len(first), first, values.reference)

    def iaccumulate_box(
        self, lower: Sequence[int], source: Any, op: Reduction = "sum", alpha: complex | None = None
    ) -> Request[Self]:
        """Starts accumulate_box(). Local; does not wait for other ranks.

        Parameters
        ----------
        lower, source, op, alpha
            As of accumulate_box(). source may change after the start.

        Returns
        -------
        Request
            It ends when all elements are combined; its wait() returns the tensor.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError, ArgumentError, UnsupportedError
            As of accumulate_box(). PeerDiedError is raised by wait() too.
        """
        values = self._source(source, False)
        first = self._check_inside(lower, values.shape)
        factor = None if alpha is None else _bytes_of(alpha, self._dtype)
        how = int(as_op(op))
        return self._start_write("iaccumulate_box", (values,), len(first), first, values.reference, how, factor)

    def _refuse_recorded(self, blocking: str) -> None:
        if self._records_gradients():
            raise ArgumentError(
                f"the tensor records gradients, which a started read does not: use {blocking}(), or start within "
                "torch.no_grad()"
            )

    def _start_read(self, name: str, arrays: tuple[Buffer, ...], *arguments: Any) -> Request[Any]:
        """Starts a read into the last array."""
        target = arrays[-1]

        def finish() -> Any:
            target.mark_written()
            return target.array

        return self._start(name, arrays, finish, *arguments)

    def _start_write(self, name: str, arrays: tuple[Buffer, ...], *arguments: Any) -> Request[Self]:
        return self._start(name, arrays, lambda: self, *arguments)

    def _start(self, name: str, arrays: tuple[Any, ...], finish: Any, *arguments: Any) -> Request[Any]:
        reap()
        handle = _library.core().output(f"syncyte_tensor_{name}", self.handle, *arguments)
        return Request(handle, arrays, f"tensor_{name}", finish)
