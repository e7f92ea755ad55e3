# SPDX-License-Identifier: BSD-3-Clause
"""Methods of whole tensors that start an access and return a request."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, overload

from ._handles import Access
from ._renamed import refuse_keywords
from ._requests import Request, start
from ._tensor_access import TensorAccess
from ._types import Array, Reduction
from .errors import ArgumentError


class StartedMethods(TensorAccess):
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
        return self._start("igather", self._rows_to_read(index, out))

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
        return self._start("iscatter", self._rows_to_write(index, source))

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
        return self._start("iscatter_add", self._rows_to_write(index, source))

    def iput_signal_(
        self, index: Any, source: Any, counters: TensorAccess, element: int | Sequence[int], value: int = 1,
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
        return self._start("iput_signal", self._rows_and_signal(index, source, counters, element, value, op))

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
        return self._start("iapply_gradients", self._rows_to_write(index, gradients, "gradients"))

    def ifetch_add(self, element: int | Sequence[int], operand: int = 1, **former: object) -> Request[int]:
        """Starts fetch_add(). Local; does not wait for other ranks.

        Parameters
        ----------
        element, operand, **former
            As of fetch_add().

        Returns
        -------
        Request
            Its wait() returns the old value.
        """
        refuse_keywords("ifetch_add", former)
        return self._start_change("ifetch_add", *self._to_add(element, operand))

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
        return self._start_change("icompare_swap", *self._to_swap(element, expected, desired))

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
        return self._start("iget_box", self._box_to_read(lower, extent, out))

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
        return self._start("iput_box", self._box_to_write(lower, source))

    def iaccumulate_box(
        self, lower: Sequence[int], source: Any, alpha: complex | None = None, op: Reduction = "sum"
    ) -> Request[Self]:
        """Starts accumulate_box(). Local; does not wait for other ranks.

        Parameters
        ----------
        lower, source, alpha, op
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
        return self._start("iaccumulate_box", self._box_to_combine(lower, source, alpha, op))

    def _refuse_recorded(self, blocking: str) -> None:
        if self._records_gradients():
            raise ArgumentError(
                f"the tensor records gradients, which a started read does not: use {blocking}(), or start within "
                "torch.no_grad()"
            )

    def _start(self, name: str, access: Access) -> Request[Any]:
        return self._request(name, access.arrays, access.finish, *access.arguments)

    def _start_change(self, name: str, *arguments: int) -> Request[int]:
        """Starts a change of an element; the request's result is its old value."""
        previous = ctypes.c_int64()
        return self._request(name, (previous,), lambda: previous.value, *arguments, previous)

    def _request(self, name: str, arrays: tuple[Any, ...], finish: Callable[[], Any], *arguments: Any) -> Request[Any]:
        return start(f"syncyte_tensor_{name}", self.handle, *arguments, arrays=arrays, finish=finish)
