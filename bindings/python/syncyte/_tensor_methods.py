# SPDX-License-Identifier: BSD-3-Clause
"""Methods of whole tensors: owners, one-sided reads and writes, counters, gradients."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from . import _declarations as c
from . import _indexing, _library, dtypes
from ._arrays import pointer
from ._checks import as_int64, as_numbers, as_seconds, integers, wrong
from ._devices import alert_not_deterministic
from ._renamed import refuse_keywords
from ._tensor_access import TensorAccess, refuse_extent_and_out, row_numbers
from ._types import Array, Comparison, Reduction
from .errors import ArgumentError, DtypeError, ShapeError, WaitTimeoutError

if TYPE_CHECKING:
    import torch

_COMPARISONS = {"==": c.Compare.EQ, "!=": c.Compare.NE, ">=": c.Compare.GE, "<=": c.Compare.LE}


class TensorMethods(TensorAccess):
    """The part of WholeTensor with named methods that read and write any rank's rows, or gradients.

    WholeTensor itself has indexing, t[key], which calls the methods here. All methods here are local, except
    requires_grad_, sync_grad, zero_grad and gather(collective=True).
    """

    # Owners.

    @overload
    def owner(self, index: int) -> int: ...
    @overload
    def owner(self, index: torch.Tensor) -> torch.Tensor: ...
    @overload
    def owner(self, index: Any) -> np.ndarray: ...

    def owner(self, index: Any) -> Any:
        """Returns the ranks that own rows. Local.

        Parameters
        ----------
        index : int or array of int
            Row numbers: a number, a list, a numpy array or a torch tensor.

        Returns
        -------
        int or array of int32
            An int for an int, otherwise an array of index's shape and kind.

        Raises
        ------
        OutOfRangeError, DtypeError
            A row that does not exist; not integers.
        """
        is_torch = dtypes.is_torch_tensor(index)
        wanted = np.asarray(index.detach().cpu() if is_torch else row_numbers(index).array)
        if wanted.dtype.kind not in "iu":
            raise wrong(DtypeError, "index", repr(index), "integers")
        numbers = np.ascontiguousarray(wanted, np.int64)
        ranks = np.empty(wanted.shape, np.int32)  # not numbers.shape: ascontiguousarray adds a dimension to 0
        _library.core().syncyte_tensor_owner(self.handle, numbers.size, pointer(numbers), pointer(ranks))
        if is_torch:
            return dtypes.import_torch().from_numpy(ranks)
        return int(ranks) if isinstance(index, int) else ranks

    def locate_box(self, lower: Sequence[int], extent: Sequence[int]) -> list[tuple[int, range]]:
        """Returns the owners of the box [lower, lower + extent), each with its rows of the box. Local.

        Parameters
        ----------
        lower : sequence of int
            First element, one number for each dimension.
        extent : sequence of int
            The box's shape.

        Returns
        -------
        list of (int, range)
            Ranks in ascending order, with global row numbers; each rank owns all of the box's elements in its rows.

        Raises
        ------
        OutOfRangeError, ShapeError
            As of get_box().
        """
        shape = tuple(as_numbers(extent, "extent"))
        if any(number < 0 for number in shape):
            raise wrong(ShapeError, "extent", shape, "numbers of 0 or more")
        first, size = self._check_inside(lower, shape), integers(ctypes.c_int64, shape, "extent")
        ranks = np.empty(self._comm.size, np.int32)
        rows = np.empty((2, self._comm.size), np.int64)
        where = pointer(ranks), pointer(rows[0]), pointer(rows[1])
        count = _library.core().output(
            "syncyte_tensor_locate_box", self.handle, self.ndim, first, self.ndim, size, len(ranks), *where
        )
        found = zip(ranks[:count].tolist(), *rows[:, :count].tolist(), strict=True)
        return [(rank, range(begin, begin + length)) for rank, begin, length in found]

    # Rows.

    @overload
    def gather(self, index: Any, out: Array, *, collective: bool = False) -> Array: ...
    @overload
    def gather(self, index: torch.Tensor, out: None = None, *, collective: bool = False) -> torch.Tensor: ...
    @overload
    def gather(self, index: Any, out: None = None, *, collective: bool = False) -> np.ndarray | torch.Tensor | Any: ...

    def gather(self, index: Any, out: Any = None, *, collective: bool = False) -> Any:
        """Reads rows: result[i] = tensor[index[i]]. Local, unless `collective`.

        Rows may repeat; negative numbers are errors. After requires_grad_() the result is differentiable, and a torch
        tensor for every kind of index: backward adds the gradient one-sided to a companion tensor, and sync_grad() adds
        it to the owners' local.grad.

        Parameters
        ----------
        index : array of int32 or int64
            Any shape; a list or a number too. A strided array is copied.
        out : array, optional
            Contiguous, of the tensor's element type, of shape index.shape + a row's shape; None: a new array.
        collective : bool
            True: the differentiable pure function, which all ranks call equally often.

        Returns
        -------
        array
            out; or a new one, a torch tensor if index is one.

        Raises
        ------
        OutOfRangeError
            Names index and position; nothing is written. On a device of one node other rows are, and the error may come
            later: see the page on GPUs.
        DtypeError, ShapeError
            Other element types, strides or shapes.
        ArgumentError
            `out` is given while gradients are recorded: use torch.no_grad().
        """
        if collective:
            self._require_rows()
            numbers = self._comm._prepare("gather", lambda: _recorded_index(index, out, self._device), always=True)
            return self._gather_recorded(numbers, collective=True)
        if self._records_gradients():
            return self._gather_recorded(_recorded_index(index, out, self._device))
        return self._run("gather", self._rows_to_read(index, out))

    def _gather_recorded(self, index: Any, collective: bool = False) -> Any:
        return self._differentiable().gather(self, index, collective=collective)

    def scatter_(self, index: Any, source: Any) -> Self:
        """Writes rows: tensor[index[i]] = source[i]. Local. Other ranks see it after sync().

        If a row repeats, its last source stays; on devices any of them. A row that two ranks write at once is
        undefined.

        Parameters
        ----------
        index : array of int32 or int64
            As of gather().
        source : array
            Contiguous, of the tensor's element type, of shape index.shape + a row's shape. Not differentiable.

        Returns
        -------
        WholeTensor
            The tensor.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError
            As of gather().
        ArgumentError
            source requires grad: give source.detach(), or call within torch.no_grad().
        """
        return self._run("scatter", self._rows_to_write(index, source))

    def scatter_add_(self, index: Any, source: Any) -> Self:
        """Adds to rows: tensor[index[i]] += source[i]. Local.

        No add is lost when several ranks add at once. A row that repeats is added to several times. bool: logical or.

        Parameters
        ----------
        index, source
            As of scatter_().

        Returns
        -------
        WholeTensor
            The tensor.

        Raises
        ------
        PeerDiedError
            A process died while it added to one of the rows; an owner died, or is out of reach.
        UnsupportedError
            A row is reached by MPI RMA; floating-point numbers on devices under torch.use_deterministic_algorithms().
            Others as of scatter_().
        """
        if self._device is not None and (self.torch_dtype.is_floating_point or self.torch_dtype.is_complex):
            alert_not_deterministic("scatter_add_ on a device")
        return self._run("scatter_add", self._rows_to_write(index, source))

    def put_signal_(
        self, index: Any, source: Any, counters: TensorAccess, element: int | Sequence[int], value: int = 1,
        op: Literal["sum", "replace"] = "sum",
    ) -> Self:  # fmt: skip
        """Writes rows, and then adds value to a counter, or sets it. Local.

        A rank that sees the new value (counters.wait, counters.load) sees all the rows, whoever owns them.

        Parameters
        ----------
        index, source
            As of scatter_(); index may be empty.
        counters : WholeTensor
            A tensor of int32 or int64.
        element : int or sequence of int
            Its element, as of fetch_add().
        value : int
            Number to add, or to set.
        op : {"sum", "replace"}
            "sum": adds; "replace": sets.

        Returns
        -------
        WholeTensor
            The tensor.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError, ArgumentError
            As of scatter_() and fetch_add(); another op. Nothing is written.
        """
        return self._run("put_signal", self._rows_and_signal(index, source, counters, element, value, op))

    # Boxes.

    @overload
    def get_box(self, lower: Sequence[int], extent: None = None, *, out: Array) -> Array: ...
    @overload
    def get_box(self, lower: Sequence[int], extent: Sequence[int]) -> np.ndarray | torch.Tensor | Any: ...

    def get_box(self, lower: Sequence[int], extent: Sequence[int] | None = None, out: Any = None) -> Any:
        """Reads the box [lower, lower + extent). Local. Differentiable as gather is.

        Parameters
        ----------
        lower : sequence of int
            First element, one number for each dimension.
        extent : sequence of int, optional
            The box's shape; not with out.
        out : array, optional
            As many dimensions as the tensor, any strides; None: a new array.

        Returns
        -------
        array
            out.

        Raises
        ------
        OutOfRangeError
            A box that is not inside the tensor.
        DtypeError, ShapeError, ArgumentError
            As of gather().
        """
        if self._device is not None or not self._records_gradients():
            return self._run("get_box", self._box_to_read(lower, extent, out))
        refuse_extent_and_out(extent, out)
        if out is not None:
            raise _no_gradient_through_out()
        shape = self._box_shape(extent)
        rows, inside = _indexing.rows_of_box(_indexing.Box(tuple(self._check_inside(lower, shape)), shape, ()))
        return self._gather_recorded(dtypes.import_torch().arange(rows.start, rows.stop))[inside]

    def put_box(self, lower: Sequence[int], source: Any) -> None:
        """Writes the box [lower, lower + source.shape). Local. Other ranks see it after sync().

        Parameters
        ----------
        lower : sequence of int
            First element, one number for each dimension.
        source : array
            As many dimensions as the tensor, any strides. Not differentiable.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError
            As of get_box().
        ArgumentError
            source requires grad: give source.detach(), or call within torch.no_grad().
        """
        self._run("put_box", self._box_to_write(lower, source))

    def accumulate_box(
        self, lower: Sequence[int], source: Any, alpha: complex | None = None, op: Reduction = "sum"
    ) -> None:
        """Combines each element of the box [lower, lower + source.shape) with alpha * source. Local.

        Each element is combined atomically (each component of complex numbers), also with other ranks' accumulate_box
        and scatter_add_: no contribution is lost.

        Parameters
        ----------
        lower : sequence of int
            First element, one number for each dimension.
        source : array
            As many dimensions as the tensor, any strides. Not differentiable.
        alpha : number, optional
            Factor, in the tensor's element type; None: 1.
        op : str or Op
            "sum": the box += alpha * source. For other than complex numbers also "prod", "min" and "max"; for integers
            and bool also "land", "lor", "lxor", "band", "bor" and "bxor".

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError
            As of get_box(); DtypeError also for an alpha of another kind than the element type.
        ArgumentError
            Another op; source requires grad; an alpha that the element type does not hold.
        UnsupportedError
            An op that the element type lacks; rows that are reached by MPI RMA.
        PeerDiedError
            A process died while it added to one of the rows.
        """
        self._run("accumulate_box", self._box_to_combine(lower, source, alpha, op))

    # Locks of rows.

    @contextlib.contextmanager
    def lock(self, row: int) -> Iterator[Self]:
        """Context manager that holds a row's lock: ``with tensor.lock(row):``. Local; waits, mostly asleep.

        It excludes other holders only: operations on the row take no notice of it, so the holder may call all of them.
        On leaving, it completes this rank's writes, which the next holder sees. Not recursive: a second lock of the row
        waits for an unlock by another thread.

        Parameters
        ----------
        row : int
            A row of a tensor made with row_locks=True.

        Yields
        ------
        WholeTensor
            The tensor.

        Raises
        ------
        UnsupportedError
            The tensor was made without row_locks.
        OutOfRangeError
            A row that does not exist.
        PeerDiedError
            The holder or the row's owner died.
        """
        number = as_int64(row, "row")
        _library.core().syncyte_tensor_lock(self.handle, number)
        try:
            yield self
        finally:
            _library.core().syncyte_tensor_unlock(self.handle, number)

    # Visibility.

    def flush(self) -> None:
        """Completes this rank's writes at their owners. Local."""
        _library.core().syncyte_tensor_flush(self.handle)

    # Atomic counters and flags: elements of int32 and int64 tensors. All are local.

    def fetch_add(self, element: int | Sequence[int], operand: int = 1, **former: object) -> int:
        """Adds to one element; atomic, acquire and release. Local.

        Parameters
        ----------
        element : int or sequence of int
            Its number in row-major order, or one number for each dimension.
        operand : int
            Number to add.
        **former
            None; the error for a keyword's former name tells the present one.

        Returns
        -------
        int
            The old value.
        """
        refuse_keywords("fetch_add", former)
        return _library.core().output("syncyte_tensor_fetch_add", self.handle, *self._to_add(element, operand))

    def compare_swap(self, element: int | Sequence[int], expected: int, desired: int) -> int:
        """Writes desired to one element if it equals expected; atomic, acquire and release. Local.

        Parameters
        ----------
        element : int or sequence of int
            As of fetch_add().
        expected, desired : int
            Value to compare with, and value to write if they are equal.

        Returns
        -------
        int
            The old value.
        """
        arguments = self._to_swap(element, expected, desired)
        return _library.core().output("syncyte_tensor_compare_swap", self.handle, *arguments)

    def load(self, element: int | Sequence[int]) -> int:
        """Reads one element; acquire. Local.

        Parameters
        ----------
        element : int or sequence of int
            As of fetch_add().

        Returns
        -------
        int
            Its value.
        """
        return _library.core().output("syncyte_tensor_load", self.handle, self._element(element))

    def store(self, element: int | Sequence[int], value: int) -> None:
        """Writes one element; release: a rank that reads the new value sees earlier writes of this rank. Local.

        Parameters
        ----------
        element : int or sequence of int
            As of fetch_add().
        value : int
            Value to write.
        """
        _library.core().syncyte_tensor_store(self.handle, self._element(element), as_int64(value, "value"))

    def wait(self, element: int | Sequence[int], compare: Comparison, value: int, timeout: float | None = None) -> int:
        """Waits, mostly asleep, until a comparison of one element is true; acquire. Local. Ctrl-C works.

        Parameters
        ----------
        element : int or sequence of int
            As of fetch_add().
        compare : {"==", "!=", ">=", "<="}
            Comparison of the element with value.
        value : int
            Value to compare with.
        timeout : float, optional
            Seconds; None: no limit.

        Returns
        -------
        int
            The element.

        Raises
        ------
        WaitTimeoutError
            After timeout seconds (a TimeoutError).
        PeerDiedError
            A rank of the job died meanwhile, which may be the one that would change the element; or all other ranks
            have come to finalize().
        DtypeError
            An argument that is not a number.
        """
        if not isinstance(compare, str) or compare not in _COMPARISONS:
            raise wrong(ArgumentError, "compare", repr(compare), f"one of {', '.join(_COMPARISONS)}")
        limit = None if timeout is None else as_seconds(timeout, "timeout")
        number, wanted = self._element(element), as_int64(value, "value")
        try:
            return _library.core().output(
                "syncyte_tensor_wait", self.handle, number, int(_COMPARISONS[compare]), wanted,
                -1.0 if limit is None else limit,
            )  # fmt: skip
        except WaitTimeoutError:
            raise WaitTimeoutError(
                f"wait: element {number} of {self._called()} is {self.load(number)}; it was not {compare} "
                f"{value} within {limit} s"
            ) from None

    # Gradients.

    @staticmethod
    def _differentiable() -> Any:
        dtypes.import_torch()
        from . import _torch_gradients

        return _torch_gradients

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Makes reads differentiable. Collective: allocates the companion tensor.

        t[key], gather and get_box then record gradients with respect to local, and return torch tensors, except within
        torch.no_grad().

        Parameters
        ----------
        requires_grad : bool
            False: stops recording.

        Returns
        -------
        WholeTensor
            The tensor.

        Raises
        ------
        UnsupportedError
            Without PyTorch; the tensor is cut by a layout.
        """
        self._require_rows()
        self._differentiable().requires_grad_(self, requires_grad)
        return self

    def sync_grad(self) -> None:
        """Waits for all ranks' backward passes, and adds their gradients of this rank's rows to local.grad. Collective.

        Gradients of a skipped step are included, unless zero_grad() has dropped them.

        Raises
        ------
        UnsupportedError
            Before requires_grad_().
        """
        self._differentiable().sync_grad(self)

    def zero_grad(self) -> None:
        """Waits for all ranks' backward passes, drops their gradients, and sets local.grad to None. Collective.

        An optimizer's or a module's zero_grad() clears only local.grad: the companion tensor keeps gradients that
        sync_grad() has not added yet, and the next sync_grad() adds them. Call this one if a step is skipped between
        backward() and sync_grad().

        Raises
        ------
        UnsupportedError
            Before requires_grad_().
        """
        self._differentiable().zero_grad(self)


def _no_gradient_through_out() -> ArgumentError:
    return ArgumentError(
        "out: the tensor records gradients, which cannot flow through out; omit out, or read within torch.no_grad()"
    )


def _recorded_index(index: Any, out: Any, device: Any) -> Any:
    if out is not None:
        raise _no_gradient_through_out()
    return index if dtypes.is_torch_tensor(index) else _indexing.as_torch(row_numbers(index, device).array)
