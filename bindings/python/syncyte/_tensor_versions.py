# SPDX-License-Identifier: BSD-3-Clause
"""Versions of a field: what ranks publish from their blocks, and others take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _arrays, _library
from ._buffers import as_buffer, descriptions
from ._checks import as_int64, as_seconds
from ._devices import is_on_device, on_host, pinned_like
from ._tensor_access import TensorAccess
from .errors import ShapeError
from .layout import block_buffers

_ANY_STEP = -(2**63)


class VersionMethods(TensorAccess):
    """The part of WholeTensor for tensors by a layout that have slots. All methods are local."""

    def publish(self, arrays: Any, step: int) -> None:
        """Publishes this rank's part of the next version, which is complete when all ranks with points have. Local.

        It does not wait for ranks that take versions, and for those that publish only if it is slots - 1 versions ahead
        of them (with one slot, 1): all must publish equally often.

        Parameters
        ----------
        arrays : array, sequence of arrays, or None
            The array of this rank's block with its ghosts, one for each of its blocks, or None if it has no block; not
            in the tensor's memory. CUDA tensors are copied through pinned memory.
        step : int
            Number of the version, equal on all ranks, and more than that of the last one.

        Raises
        ------
        ShapeError, DtypeError, ArgumentError
            Other shapes, element types or numbers of arrays; a step that is not more than the last one.
        UnsupportedError
            The tensor has no slots.
        """
        number = as_int64(step, "step")
        core = _library.core()
        layout = self._layout
        count = 0 if layout is None else len(layout.blocks_of(self._comm.rank))
        several = isinstance(arrays, (list, tuple))
        arrays = [on_host(each) for each in arrays] if several else on_host(arrays)
        buffers = block_buffers(arrays, count, "arrays", False) if layout is not None else []
        core.syncyte_tensor_publish(self.handle, count, descriptions(buffers), number)

    def take(
        self,
        lower: Sequence[int] | None = None,
        extent: Sequence[int] | None = None,
        out: Any = None,
        *,
        at_least: int | None = None,
        timeout: float | None = None,
    ) -> tuple[Any, int]:
        """Reads a box of the newest complete version, after waiting for one that is new enough. Local. Ctrl-C works.

        All elements are of one version. The wait is mostly asleep.

        Parameters
        ----------
        lower : sequence of int, optional
            First element of the box in the field; None: its first one.
        extent : sequence of int, optional
            The box's shape; None: up to the field's end, or out's shape.
        out : array, optional
            As many dimensions as the field, any strides, not in the tensor's memory; None: a new array. Undefined after
            an error. A CUDA tensor is filled through pinned memory.
        at_least : int, optional
            Lowest step that is taken; None: any.
        timeout : float, optional
            Seconds; None: no limit.

        Returns
        -------
        array
            out, or the new array.
        int
            The step of the version.

        Raises
        ------
        WaitTimeoutError
            After timeout seconds (a TimeoutError).
        PeerDiedError
            A rank of the job has died, or the first rank that publishes has come to finalize() without the version.
        OutOfRangeError, ShapeError, DtypeError
            As of get_box().
        UnsupportedError
            The tensor has no slots.
        """
        shape = self._shape[1:]
        first = [0] * len(shape) if lower is None else list(lower)
        oldest = _ANY_STEP if at_least is None else as_int64(at_least, "at_least")
        limit = -1.0 if timeout is None else as_seconds(timeout, "timeout")
        if out is None:
            if extent is None:
                extent = [max(whole - low, 0) for whole, low in zip(shape, first, strict=False)]
            target = _arrays.new_buffer(self._array_kind, self._dtype, tuple(extent))
        else:
            target = as_buffer(out, "out", writable=True, contiguous=False, expected=self._dtype)
            if is_on_device(out):
                target = as_buffer(pinned_like(out), "out", writable=True, expected=self._dtype)
        if len(first) != len(shape) or len(target.shape) != len(shape):
            found = f"a box of {len(target.shape)} dimensions at {tuple(first)}"
            raise ShapeError(f"{found}; expected {len(shape)}, as the field has")
        corner = self._check_inside([0, *first], (1, *target.shape))
        step = _library.core().output(
            "syncyte_tensor_take", self.handle, len(first), (type(corner)._type_ * len(first))(*corner[1:]), oldest,
            limit, target.reference,
        )  # fmt: skip
        if is_on_device(out):
            return out.copy_(target.array), step
        if out is not None:
            target.mark_written()
        return target.array, step
