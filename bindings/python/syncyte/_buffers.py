# SPDX-License-Identifier: BSD-3-Clause
"""Array arguments: describes numpy arrays, torch tensors and objects that export a buffer, for the C library."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from . import _declarations as c
from . import dtypes, errors
from ._checks import as_numbers, integers, wrong
from ._dtensors import is_dtensor
from ._foreign import is_in_place

NUMPY = "numpy"
TORCH = "torch"
NOT_RECORDED = ""  # value of recorded_by: no function of syncyte.torch records this operation's gradients

_DESCRIPTION_SIZE = ctypes.sizeof(c.BufferDescription)


class Buffer:
    """An array and its description for the C library. It keeps the array alive."""

    __slots__ = ("array", "array_kind", "description", "dtype", "reference", "shape")

    def __init__(self, array: Any, array_kind: str, dtype: c.DType, writable: bool = True):
        """Describes a numpy array or a torch tensor of this element type in host memory."""
        self.array = array
        self.array_kind = array_kind
        self.dtype = dtype
        self.shape = tuple(array.shape)
        ndim = len(self.shape)
        if ndim > c.MAX_NDIM:
            raise errors.ShapeError(f"the array has {ndim} dimensions; at most {c.MAX_NDIM} are possible")
        if array_kind == TORCH:
            size = array.element_size()
            address, strides = array.data_ptr(), [stride * size for stride in array.stride()]
        else:
            address, strides = array.ctypes.data, array.strides
        self.description = c.BufferDescription(_DESCRIPTION_SIZE, address, dtype, ndim)
        self.description.shape[:ndim] = self.shape
        self.description.strides[:ndim] = strides
        self.description.read_only = not writable
        self.reference = ctypes.byref(self.description)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def mark_written(self) -> None:
        """Tells autograd that a torch tensor has new contents."""
        if self.array_kind == TORCH and not self.array.is_inference():
            dtypes.import_torch().autograd.graph.increment_version(self.array)


def _check_strides(buffer: Buffer, name: str, writable: bool, contiguous: bool) -> None:
    array, shape = buffer.array, buffer.shape
    if not (contiguous or writable):
        return
    if contiguous and (array.flags.c_contiguous if buffer.array_kind == NUMPY else array.is_contiguous()):
        return
    strides = tuple(buffer.description.strides[: len(shape)])
    if contiguous:
        raise errors.ShapeError(
            f"{name} is not contiguous (shape {shape}, strides {strides} bytes of {buffer.dtype.name.lower()}); make "
            f"it so with torch.Tensor.contiguous() or numpy.ascontiguousarray()"
        )
    axes = [axis for axis, stride in enumerate(strides) if stride == 0 and shape[axis] > 1]
    if axes and 0 not in shape:
        raise errors.ShapeError(
            f"{name} would be written, but its elements along axis {axes[0]} share memory (shape {shape}, strides "
            f"{strides} bytes); give a copy"
        )


def refuse_masked(value: object, name: str) -> None:
    """Raises DtypeError if value is a numpy masked array: the library would ignore its mask."""
    if isinstance(value, np.ma.MaskedArray):
        raise errors.DtypeError(
            f"{name} is a masked array, whose mask would be lost; pass {name}.filled(value), such as 0 for a sum, or "
            f"{name}.data for all elements, and the mask as a separate array"
        )


def _refuse_gradients(name: str, writable: bool, recorded_by: str | None) -> None:
    """Raises ArgumentError for a tensor that requires grad, unless it is only read and has no gradient to lose."""
    instead = f"use syncyte.torch.{recorded_by}(), or " if recorded_by else ""
    if recorded_by is not None or writable:
        lost = "would be written in place" if writable else "its gradient would be lost"
        raise errors.ArgumentError(
            f"{name} requires grad, and {lost}: {instead}give {name}.detach(), or call within torch.no_grad()"
        )


def refuse_to_lose_gradients(value: object, name: str) -> None:
    """Raises ArgumentError if value is a torch tensor that requires grad: the operation records no gradients."""
    if dtypes.is_torch_tensor(value) and value.requires_grad:  # type: ignore[attr-defined]
        if dtypes.import_torch().is_grad_enabled():
            _refuse_gradients(name, False, NOT_RECORDED)


def _torch_of(value: object) -> ModuleType | None:
    """Returns the module torch if value is a torch tensor, otherwise None."""
    torch = None if isinstance(value, np.ndarray) else dtypes.loaded_torch()
    return torch if torch is not None and isinstance(value, torch.Tensor) else None


def _of_torch(
    torch: Any, tensor: Any, name: str, writable: bool, recorded_by: str | None, queued: bool = False
) -> Buffer:
    if is_dtensor(tensor):
        raise wrong(errors.DtypeError, name, "a DTensor", "a plain tensor, such as its to_local()")
    if tensor.layout != torch.strided or not (tensor.is_cpu or tensor.is_cuda):
        value = f"a {tensor.layout} tensor on {tensor.device}"
        raise wrong(errors.DtypeError, name, value, "a strided one on cpu or cuda")
    if tensor.is_conj() or tensor.is_neg():
        raise errors.DtypeError(
            f"{name} is a lazy conjugate or negative; resolve it with resolve_conj(), resolve_neg()"
        )
    if tensor.requires_grad and torch.is_grad_enabled():
        _refuse_gradients(name, writable, recorded_by)
    try:
        dtype = dtypes.from_torch(tensor.dtype)
    except errors.DtypeError as error:
        raise errors.DtypeError(f"{name}: {error}") from None
    buffer = Buffer(tensor, TORCH, dtype, writable)
    if tensor.is_cuda:
        buffer.description.memory = int(c.Memory.CUDA)
        buffer.description.device = tensor.device.index or 0
        if not queued:  # the library reads and writes at once
            torch.cuda.current_stream(tensor.device).synchronize()
    return buffer


def _as_array(value: Any, name: str, writable: bool) -> np.ndarray:
    if type(value) is np.ndarray:
        return value
    if isinstance(value, np.ndarray):
        refuse_masked(value, name)
        return value
    if hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)
        except BufferError as error:
            given = f"a {type(value).__name__} that numpy cannot take ({error})"
            raise wrong(errors.DtypeError, name, given, "one in host memory, or a torch tensor") from None
    if is_in_place(value):
        raise wrong(errors.ArgumentError, name, "MPI.IN_PLACE", "an array; reductions take MPI.IN_PLACE, with out=")
    if not hasattr(value, "__array_interface__") or isinstance(value, np.generic):
        try:
            value = memoryview(value)
        except TypeError:
            if writable or not isinstance(value, (np.generic, int, float, complex, list, tuple)):
                expected = "a numpy array, a torch tensor, or an object that exports DLPack or a buffer"
                raise wrong(errors.DtypeError, name, f"a {type(value).__name__}", expected) from None
    try:
        return np.asarray(value)
    except (ValueError, OverflowError) as error:
        raise errors.DtypeError(f"{name} cannot become an array: {error}") from error


def _of_numpy(array: np.ndarray, name: str, writable: bool, expected: c.DType | None) -> Buffer:
    if expected in dtypes.NUMPY_LACKS and array.dtype == dtypes.numpy_dtype(expected):
        dtype = expected
    else:
        try:
            dtype = dtypes.from_numpy(array.dtype)
        except errors.DtypeError as error:
            raise errors.DtypeError(f"{name}: {error}") from None
    if writable and not array.flags.writeable:
        raise errors.ArgumentError(f"{name} is read-only, but would be written")
    if not array.flags.aligned:
        raise errors.ShapeError(f"{name} is not aligned to its element size; copy it")
    return Buffer(array, NUMPY, dtype, writable)


def _check_dtype(buffer: Buffer, name: str, expected: c.DType) -> None:
    if buffer.dtype != expected:
        raise wrong(errors.DtypeError, name, f"of {buffer.dtype.name.lower()}", expected.name.lower())


def as_buffer(
    value: Any,
    name: str,
    *,
    writable: bool = False,
    contiguous: bool = True,
    expected: c.DType | None = None,
    recorded_by: str | None = None,
    queued: bool = False,
) -> Buffer:
    """Describes an array without copying it.

    value: a numpy array, a torch tensor, or an object with DLPack, __array_interface__ or the buffer protocol; for
    input also numbers and lists. name: for messages. expected: required element type; for bfloat16, numpy's uint16
    is then accepted. recorded_by: the function of syncyte.torch that records the gradients that this operation loses;
    NOT_RECORDED if no function records them; None if there is nothing to lose. queued: the operation is enqueued on the
    current stream of a CUDA tensor; otherwise what is enqueued there is waited for.

    Raises DtypeError (also for a masked array), ShapeError (not contiguous; not aligned; written although elements
    share memory), ArgumentError (read-only; a tensor that requires grad and would be written or lose its gradient).
    """
    torch = _torch_of(value)
    if torch is not None:
        buffer = _of_torch(torch, value, name, writable, recorded_by, queued)
    else:
        buffer = _of_numpy(_as_array(value, name, writable), name, writable, expected)
    _check_strides(buffer, name, writable, contiguous)
    if expected is not None:
        _check_dtype(buffer, name, expected)
    return buffer


def index_buffer(value: Any, name: str, *, narrow: bool, queued: bool = False) -> Buffer:
    """Describes row numbers or keys: an array of int32 or int64, a list or a number.

    Strided arrays are copied. Arrays of int32 are copied too, unless `narrow`: the C library then reads them. `queued`:
    as of as_buffer().
    """
    if isinstance(value, (list, tuple, range)) and not len(value):
        value = np.empty(0, np.int64)  # numpy would make an empty list a floating-point array
    torch = _torch_of(value)
    if torch is not None:
        wide = value.long() if not narrow and value.dtype == torch.int32 else value
        buffer = _of_torch(torch, wide.contiguous(), name, writable=False, recorded_by=None, queued=queued)
    else:
        array = _as_array(value, name, False)
        widens = not narrow and array.dtype == np.int32
        is_plain = array.flags.c_contiguous and not widens
        numbers = array if is_plain else np.array(array, np.int64 if widens else None, order="C")
        buffer = _of_numpy(numbers, name, writable=False, expected=None)
    if not narrow:
        _check_dtype(buffer, name, c.DType.INT64)
    return buffer


def _numbers_of(tensor: Any) -> Any:
    try:
        return tensor.cpu().numpy()
    except RuntimeError:  # within torch.func
        return tensor.tolist()


def int64_array(value: Any, name: str) -> np.ndarray:
    """Returns integers of any type, in a list, range or array, as a contiguous array of int64 of one dimension."""
    refuse_masked(value, name)
    if _torch_of(value) is not None:
        if value.is_floating_point() or value.is_complex():
            raise wrong(errors.DtypeError, name, f"of {value.dtype}", "integers")
        value = _numbers_of(value)
    array = np.asarray(value)
    if array.dtype.kind not in "iu" and isinstance(value, (list, tuple, range)):  # empty, too large, or wrong
        array = np.array(integers(ctypes.c_int64, as_numbers(value, name), name), np.int64)
    if array.dtype.kind not in "iu":
        raise wrong(errors.DtypeError, name, f"of {array.dtype}", "integers")
    if array.ndim != 1:
        raise wrong(errors.ShapeError, name, f"of shape {array.shape}", "integers, in one dimension")
    if array.size and array.max() > np.iinfo(np.int64).max:
        axis = int(array.argmax())
        raise wrong(errors.ArgumentError, name, int(array[axis]), "-2^63 to 2^63 - 1", axis=axis)
    return np.ascontiguousarray(array, np.int64)


def rank_array(value: Any, name: str) -> np.ndarray:
    """Returns rank numbers as a contiguous array of int32; any integers are taken, and C checks the ranks."""
    numbers = int64_array(value, name)
    narrow = numbers.astype(np.int32)
    if not np.array_equal(narrow, numbers):
        axis = int((narrow != numbers).argmax())
        raise wrong(errors.ArgumentError, name, int(numbers[axis]), "a rank, or PROC_NULL", axis=axis)
    return narrow


def descriptions(buffers: Sequence[Buffer]) -> Any:
    """Returns the descriptions of arrays as a C array, which may be empty."""
    return (c.BufferDescription * max(len(buffers), 1))(*(each.description for each in buffers))


def row_of(buffer: Buffer, name: str) -> tuple[int, tuple[int, ...], int]:
    """Returns number of rows, shape of a row, elements of a row."""
    if not buffer.shape:
        raise errors.ShapeError(f"{name} has no dimensions; expected rows along the first one")
    return buffer.shape[0], buffer.shape[1:], math.prod(buffer.shape[1:])
