# SPDX-License-Identifier: BSD-3-Clause
"""Whole tensors: one array over the memory of all ranks, partitioned by rows, which every rank reads and writes.

On a node these are loads and stores. All ranks see writes before ``sync()`` after it; a rank that reads a counter
(load, wait, fetch_add) sees writes before the release that wrote the counter (store, fetch_add, compare_swap). Between
nodes they are requests to a thread of the owner; without UCX they are one-sided MPI.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _indexing, dtypes
from ._buffers import NUMPY, TORCH, refuse_masked, refuse_to_lose_gradients
from ._tensor_methods import TensorMethods
from ._tensor_optimizer import OptimizerMethods
from ._tensor_started import StartedMethods
from ._tensor_versions import VersionMethods
from .errors import ArgumentError, DtypeError, ShapeError, UnsupportedError

if TYPE_CHECKING:
    import torch

__all__ = ["WholeTensor"]


class WholeTensor(TensorMethods, StartedMethods, OptimizerMethods, VersionMethods):
    """One N-dimensional tensor over the memory of all ranks, in rows (the first dimension).

    ``t[key]`` returns a copy, read from the ranks that own the rows; ``t[key] = values`` writes. Integers (negative
    ones count from the end), slices, masks, arrays of integers, None and ``...`` work as in torch; steps may be
    negative, as in numpy. For an array after a slice (``t[:, columns]``) the range from its smallest to its largest
    number is read. Further arrays must directly follow an array in the first dimension. The result is a torch tensor if
    the key contains one, a numpy array if the key contains one; otherwise its kind follows the element type
    (torch.float32: torch; numpy.float32: numpy; a name: torch if torch is imported). After requires_grad_() every read
    is differentiable and a torch tensor, except within torch.no_grad().

    Dropped tensors are freed at collective points (creation, sync, Comm.collect), in any order on any rank.
    """

    # Conversions to an array return all rows or raise an error; they never return only this rank's rows.

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Returns a copy of all rows, for numpy.asarray and numpy's functions (for bfloat16 uint16). Local."""
        if copy is False:
            raise ValueError("copy is False, but the rows lie on several ranks; expected True or None, or local_array")
        found = self._read_box(NUMPY, (0,) * self.ndim, self._shape)
        if self._device is not None:
            torch = dtypes.import_torch()
            found = (found.view(torch.uint16) if self._dtype in dtypes.NUMPY_LACKS else found).cpu().numpy()
        return found if dtype is None else found.astype(dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        """Exports a view of the rows of a tensor of one rank, for numpy.from_dlpack, torch.as_tensor and others. Local.

        Raises UnsupportedError for several ranks: local and node are views, t[:] is a copy of all rows.
        """
        return self._exporter().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Device of the rows. Local. Raises as __dlpack__."""
        return self._exporter().__dlpack_device__()

    def _exporter(self) -> Any:
        if self._comm.size > 1:
            raise UnsupportedError(
                f"a WholeTensor of {self._comm.size} ranks is not one array: use t.local (this rank's rows) or t.node "
                f"(this node's), which are views, or t[:], a copy of all rows"
            )
        if self._layout is not None:
            raise UnsupportedError(
                f"{self._called()} is cut by a layout, whose array may have another order: use t.local, a view of it, "
                f"or t[:], a copy of all elements"
            )
        is_tensor = self._dtype in dtypes.NUMPY_LACKS or self._device is not None
        return self.local.detach() if is_tensor else self.local_array

    # Reading and writing by index.

    def __getitem__(self, key: Any) -> np.ndarray | torch.Tensor | Any:
        parsed = _indexing.parse(key, self._shape)
        if self._records_gradients():
            return self._read_recorded(parsed)
        array_kind = _indexing.array_kind_of(key) or self._array_kind
        if isinstance(parsed, _indexing.Box):
            return _indexing.select(self._read_box(array_kind, parsed.lower, parsed.extent), parsed.local)
        return _indexing.apply(parsed, self._read_rows(array_kind, parsed.index))

    def _read_recorded(self, parsed: _indexing.Box | _indexing.Rows) -> Any:
        # Gather whole rows; torch differentiates the rest of the key.
        if isinstance(parsed, _indexing.Box):
            rows, inside = _indexing.rows_of_box(parsed)
            index = dtypes.import_torch().arange(rows.start, rows.stop, device=self.device)
            return _indexing.select(self._gather_recorded(index)[inside], parsed.local)
        index = _indexing.as_torch(parsed.index).to(self.device)
        return _indexing.apply(parsed._replace(index=index), self._gather_recorded(index))

    def __setitem__(self, key: Any, values: Any) -> None:
        parsed = _indexing.parse(key, self._shape)
        if isinstance(parsed, _indexing.Box):
            shape = _indexing.assigned_shape(parsed)
            box = self._broadcast(values, shape).reshape(parsed.extent)
            if self._device is not None:
                self._write_device_box(parsed.lower, parsed.extent, box)
            else:
                self.put_box(parsed.lower, box)
            return
        _indexing.check_assignable(parsed)
        rows = self._broadcast(values, (*parsed.index.shape, *self._shape[1:]))
        if self._device is not None:
            index = dtypes.import_torch().as_tensor(parsed.index, device=self._device)
            self.scatter_(index, rows.contiguous())
            return
        self.scatter_(parsed.index, rows.contiguous() if dtypes.is_torch_tensor(rows) else np.ascontiguousarray(rows))

    def _broadcast(self, values: Any, shape: tuple[int, ...]) -> Any:
        """Converts values to an array of this tensor's element type and of `shape`, by a copy where that is needed."""
        refuse_to_lose_gradients(values, "values")
        refuse_masked(values, "values")
        if isinstance(values, WholeTensor):
            if values._records_gradients():
                raise ArgumentError(
                    "values is a whole tensor that records gradients, which would be lost: call within torch.no_grad()"
                )
            kind = TORCH if values.dtype in dtypes.NUMPY_LACKS else values._array_kind  # numpy has only the bits
            values = values._read_box(kind, (0,) * values.ndim, values.shape)
        if values is None:
            raise DtypeError("values is None; expected numbers")
        try:
            if self._device is not None and self._are_bits(values):
                values = dtypes.import_torch().from_numpy(np.array(values)).view(dtypes.torch_dtype(self._dtype))
            lacks = self._dtype in dtypes.NUMPY_LACKS or self._device is not None
            if dtypes.is_torch_tensor(values) or (lacks and not self._are_bits(values)):
                tensor = self._converted(values)
                return tensor if tensor.shape == shape else tensor.expand(shape).contiguous()
            array = np.asarray(values, dtypes.numpy_dtype(self._dtype))
            return array if array.shape == shape else np.ascontiguousarray(np.broadcast_to(array, shape))
        except OverflowError as error:
            raise ArgumentError(f"a value does not fit {self._dtype.name.lower()}: {error}") from error
        except (ValueError, RuntimeError) as error:
            raise ShapeError(f"the values cannot be broadcast to shape {shape}: {error}") from error
        except TypeError as error:
            raise DtypeError(f"the values cannot be converted to {self._dtype.name.lower()}: {error}") from error

    def _are_bits(self, values: Any) -> bool:
        """Whether values have the type in which numpy has this tensor's elements: uint16 are the bits of bfloat16."""
        is_numpy = isinstance(values, (np.ndarray, np.generic))
        return is_numpy and values.dtype.newbyteorder("=") == dtypes.numpy_dtype(self._dtype)

    def _converted(self, values: Any) -> torch.Tensor:
        """Converts numbers to a torch tensor of this tensor's element type."""
        torch_module = dtypes.import_torch()
        if isinstance(values, np.ndarray):  # torch has no negative strides, nor other orders of bytes
            values = torch_module.from_numpy(np.array(values, values.dtype.newbyteorder("=")))
        tensor = torch_module.as_tensor(values, dtype=dtypes.torch_dtype(self._dtype), device=self.device).detach()
        if tensor.layout != torch_module.strided:
            raise TypeError(f"a tensor of layout {tensor.layout} has no strides")
        return tensor.resolve_conj().resolve_neg()

    def __len__(self) -> int:
        return self._shape[0]

    def __repr__(self) -> str:
        state = ", freed" if self._is_freed else ""
        name = f" {self._name!r}" if self._name else ""
        return f"<syncyte.WholeTensor{name} of shape {self._shape}, {self._dtype.name.lower()}{state}>"
