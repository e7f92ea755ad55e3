# SPDX-License-Identifier: BSD-3-Clause
"""Accesses of whole tensors: their checks and arguments, which the blocking and the started form share."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _arrays, dtypes
from ._buffers import NOT_RECORDED, TORCH, Buffer, as_buffer, index_buffer
from ._checks import as_index, as_int64, as_numbers, as_op, wrong
from ._elements import as_element
from ._handles import Access
from ._indexing import as_torch
from ._tensor_memory import TensorMemory
from ._types import Reduction, WindowReduction
from .errors import ArgumentError, OutOfRangeError, ShapeError, UnsupportedError


def row_numbers(index: Any, device: Any = None) -> Buffer:
    """Describes row numbers; lists and numbers for a tensor on a CUDA device come there."""
    if device is not None and not isinstance(index, np.ndarray) and not dtypes.is_torch_tensor(index):
        index = as_torch(index_buffer(index, "index", narrow=True).array).to(device)
    return index_buffer(index, "index", narrow=True, queued=device is not None)


def _narrowed(array: Any, lower: Sequence[int], extent: Sequence[int]) -> Any:
    """Returns a view of a box of a torch tensor."""
    for axis, (first, count) in enumerate(zip(lower, extent, strict=True)):
        array = array.narrow(axis, first, count)
    return array


def refuse_extent_and_out(extent: Any, out: Any) -> None:
    if (extent is None) == (out is None):
        raise ArgumentError("extent and out: expected exactly one of them")


class TensorAccess(TensorMemory):
    """The part of WholeTensor that prepares accesses. All methods are local."""

    def _records_gradients(self) -> bool:
        """Whether reads go through torch: gradients are recorded, or torch.compile traces them."""
        local = self._cache.get(("local", TORCH))
        if local is not None and local.requires_grad and dtypes.import_torch().is_grad_enabled():
            return True
        return dtypes.is_compiling()

    # Rows.

    def _rows_to_read(self, index: Any, out: Any) -> Access:
        wanted = row_numbers(index, self._device)
        if out is None:
            is_array = wanted.array_kind == TORCH or isinstance(index, np.ndarray)
            return self._new_rows(wanted.array_kind if is_array else self._array_kind, wanted)
        target = as_buffer(out, "out", writable=True, expected=self._dtype, queued=self._device is not None)
        self._check_rows(wanted, target, "out")
        return Access((wanted, target), (wanted.reference, target.reference), out, target)

    def _new_rows(self, array_kind: str, wanted: Buffer) -> Access:
        shape = (*wanted.shape, *self._shape[1:])
        if self._device is None:
            target = _arrays.new_buffer(array_kind, self._dtype, shape)
        else:
            target = as_buffer(self.local.detach().new_empty(shape), "out", writable=True, queued=True)
        return Access((wanted, target), (wanted.reference, target.reference), target.array)

    def _read_rows(self, array_kind: str, index: Any) -> Any:
        """Returns a new array of rows."""
        if self._device is not None:
            index = dtypes.import_torch().as_tensor(index, device=self._device)
        return self._run("gather", self._new_rows(array_kind, row_numbers(index, self._device)))

    def _rows_to_write(self, index: Any, source: Any, name: str = "source") -> Access:
        wanted, values = row_numbers(index, self._device), self._source(source, name, contiguous=True)
        self._check_rows(wanted, values, name)
        return Access((wanted, values), (wanted.reference, values.reference), self)

    def _rows_and_signal(
        self, index: Any, source: Any, counters: Any, element: int | Sequence[int], value: int, op: WindowReduction
    ) -> Access:
        access = self._rows_to_write(index, source)
        if not isinstance(counters, TensorAccess):
            raise wrong(ArgumentError, "counters", repr(counters), "a WholeTensor")
        number, how = counters._element(element), int(as_op(op, of_window=True))
        signal = counters.handle, number, as_int64(value, "value"), how
        return Access(access.arrays, (*access.arguments, *signal), self)

    def _source(self, source: Any, name: str, contiguous: bool) -> Buffer:
        return as_buffer(
            source, name, contiguous=contiguous, expected=self._dtype, recorded_by=NOT_RECORDED,
            queued=self._device is not None
        )  # fmt: skip

    def _check_rows(self, index: Buffer, rows: Buffer, name: str) -> None:
        expected = (*index.shape, *self._shape[1:])
        if rows.shape != expected:
            raise ShapeError(f"{name} has shape {rows.shape}; expected {expected}, index's shape and a row's")

    # Boxes.

    def _box_to_read(self, lower: Sequence[int], extent: Sequence[int] | None, out: Any) -> Access:
        refuse_extent_and_out(extent, out)
        if out is None:
            shape = self._box_shape(extent)
            return self._new_box(self._array_kind, self._check_inside(lower, shape), shape)
        target = as_buffer(out, "out", writable=True, contiguous=False, expected=self._dtype)
        first = self._check_inside(lower, target.shape)
        return Access((target,), (len(first), first, target.reference), out, target)

    def _new_box(self, array_kind: str, first: Any, extent: Sequence[int]) -> Access:
        target = _arrays.new_buffer(array_kind, self._dtype, extent)
        return Access((target,), (len(first), first, target.reference), target.array)

    def _read_box(self, array_kind: str, lower: Sequence[int], extent: Sequence[int]) -> Any:
        """Returns a new array of a box that is known to lie inside."""
        if self._device is not None:
            return self._read_device_box(lower, extent)
        return self._run("get_box", self._new_box(array_kind, (ctypes.c_int64 * len(lower))(*lower), extent))

    def _node_box(self, lower: Sequence[int], extent: Sequence[int]) -> Any:
        """Returns a view of a box of a tensor in device memory; None unless this node has all of its rows."""
        node, begin = self._view("node", TORCH).detach(), self.node_first_row
        if begin is None or not begin <= lower[0] <= lower[0] + extent[0] <= begin + node.shape[0]:
            return None
        return _narrowed(node, (lower[0] - begin, *lower[1:]), extent)

    def _rows_of_box(self, lower: Sequence[int], extent: Sequence[int]) -> Any:
        return dtypes.import_torch().arange(lower[0], lower[0] + extent[0], device=self.device)

    def _read_device_box(self, lower: Sequence[int], extent: Sequence[int]) -> Any:
        box = self._node_box(lower, extent)
        if box is not None:
            return box.clone()
        return _narrowed(self._read_rows(TORCH, self._rows_of_box(lower, extent)), (0, *lower[1:]), extent).clone()

    def _write_device_box(self, lower: Sequence[int], extent: Sequence[int], values: Any) -> None:
        box = self._node_box(lower, extent)
        if box is not None:
            box.copy_(values)
        elif tuple(extent[1:]) == self._shape[1:]:
            rows = values.to(self.device).contiguous()
            self._run("scatter", self._rows_to_write(self._rows_of_box(lower, extent), rows))
        else:
            raise UnsupportedError(
                f"{self._called()} is in device memory, and rows of the box are on other nodes; expected whole rows"
            )

    def _box_of(self, lower: Sequence[int], source: Any) -> tuple[Buffer, tuple[Any, ...]]:
        values = self._source(source, "source", contiguous=False)
        first = self._check_inside(lower, values.shape)
        return values, (len(first), first, values.reference)

    def _box_to_write(self, lower: Sequence[int], source: Any) -> Access:
        values, box = self._box_of(lower, source)
        return Access((values,), box, self)

    def _box_to_combine(self, lower: Sequence[int], source: Any, alpha: complex | None, op: Reduction) -> Access:
        values, box = self._box_of(lower, source)
        factor = None
        if alpha is not None:
            element = as_element(alpha, self._dtype, "alpha")
            factor = ctypes.create_string_buffer(element.tobytes(), element.nbytes)
        return Access((values,), (*box, factor, int(as_op(op))), self)

    def _box_shape(self, extent: Any) -> tuple[int, ...]:
        shape, ndim = tuple(as_numbers(extent, "extent")), len(self._shape)
        if len(shape) != ndim or any(number < 0 for number in shape):
            raise wrong(ShapeError, "extent", shape, f"{ndim} numbers of 0 or more")
        return shape

    def _check_inside(self, lower: Sequence[int], extent: Sequence[int]) -> Any:
        numbers, ndim = as_numbers(lower, "lower"), len(self._shape)
        if len(numbers) != ndim or len(extent) != ndim:
            found = f"a box of {len(extent)} dimensions at {tuple(numbers)}"
            raise ShapeError(f"{found}; expected {ndim}, as the tensor has")
        if any(
            first < 0 or first + count > most for first, count, most in zip(numbers, extent, self._shape, strict=True)
        ):
            raise OutOfRangeError(
                f"the box at {tuple(numbers)} of extent {tuple(extent)} is outside the tensor of shape {self._shape}"
            )
        return (ctypes.c_int64 * ndim)(*numbers)

    # Elements.

    def _to_add(self, element: int | Sequence[int], operand: int) -> tuple[int, int]:
        addend = as_int64(operand, "operand")
        return self._element(element), addend

    def _to_swap(self, element: int | Sequence[int], expected: int, desired: int) -> tuple[int, int, int]:
        values = as_int64(expected, "expected"), as_int64(desired, "desired")
        return self._element(element), *values

    def _element(self, element: int | Sequence[int]) -> int:
        if not isinstance(element, (tuple, list)):
            return as_int64(element, "element")
        if len(element) != len(self._shape):
            expected = f"{len(self._shape)} numbers, or one in row-major order"
            raise wrong(ShapeError, "element", tuple(element), expected)
        number = 0
        for part, extent in zip(element, self._shape, strict=True):
            index = as_index(part, "element")
            if not -extent <= index < extent:
                raise OutOfRangeError(f"element {tuple(element)} is outside the tensor of shape {self._shape}")
            number = number * extent + index % extent
        return number
