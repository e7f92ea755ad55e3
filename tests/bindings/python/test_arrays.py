# SPDX-License-Identifier: BSD-3-Clause
"""Element types, exceptions and arrays as arguments, tested without ranks."""

import array

import numpy as np
import pytest
import torch

import syncyte
from syncyte import _arrays, _buffers, dtypes, errors
from syncyte._declarations import DType, Status


def test_a_class_for_every_status():
    natural = {
        Status.ERR_ARGUMENT: ValueError,
        Status.ERR_INDEX: IndexError,
        Status.ERR_TYPE: TypeError,
        Status.ERR_SHAPE: ValueError,
        Status.ERR_MEMORY: MemoryError,
        Status.ERR_UNSUPPORTED: NotImplementedError,
        Status.ERR_IO: OSError,
        Status.ERR_NOT_FOUND: KeyError,
        Status.ERR_TIMEOUT: TimeoutError,
    }
    classes = set()
    for status in Status:
        if status != Status.SUCCESS:
            error = errors.from_status(status, "what, which, why")
            assert isinstance(error, natural.get(status, Exception))
            assert isinstance(error, syncyte.Error)
            assert error.status == status
            assert str(error) == "what, which, why"
            assert errors.status_of(error) == status
            classes.add(type(error))
    assert len(classes) == len(Status) - 1
    assert errors.from_status(4711, "?").status == 4711


def test_missing_file_is_both():
    error = syncyte.MissingFileError("no such file: a")
    assert isinstance(error, KeyError)
    assert isinstance(error, FileNotFoundError)
    assert str(error) == "no such file: a"


@pytest.mark.parametrize("dtype", list(DType))
def test_dtypes_there_and_back(dtype):
    name = dtype.name.lower()
    assert dtypes.as_dtype(dtype) == dtypes.as_dtype(name) == dtype
    assert dtypes.as_dtype(getattr(torch, name)) == dtype
    assert dtypes.torch_dtype(dtype) == getattr(torch, name)
    assert dtypes.numpy_dtype(dtype).itemsize == dtypes.itemsize(dtype) == getattr(torch, name).itemsize
    if dtype != DType.BFLOAT16:
        assert dtypes.as_dtype(dtypes.numpy_dtype(dtype)) == dtype


@pytest.mark.parametrize(
    "wrong",
    ["float128", "f33", object, "S2", torch.quint8, torch.complex32, torch.float8_e5m2, 3, None, ">f4", "M8[s]"],
)
def test_unknown_dtypes(wrong):
    if wrong is None:
        pytest.skip("numpy takes None for float64")
    with pytest.raises(TypeError) as caught:
        dtypes.as_dtype(wrong)
    assert isinstance(caught.value, syncyte.DtypeError)


def test_numpy_names_and_types():
    assert dtypes.as_dtype(float) == DType.FLOAT64
    assert dtypes.as_dtype("f4") == dtypes.as_dtype(np.float32) == DType.FLOAT32
    assert dtypes.as_dtype(bool) == DType.BOOL


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
@pytest.mark.parametrize("array_kind", [_buffers.NUMPY, _buffers.TORCH])
def test_descriptions(shape, array_kind):
    value = _arrays.empty(array_kind, DType.FLOAT32, shape)
    buffer = _buffers.as_buffer(value, "value", writable=True)
    description = buffer.description
    assert buffer.array_kind == array_kind
    assert buffer.array is value
    assert tuple(description.shape[: description.ndim]) == shape
    if value.size if array_kind == _buffers.NUMPY else value.numel():
        pointer = value.ctypes.data if array_kind == _buffers.NUMPY else value.data_ptr()
        assert description.data == pointer
        assert list(description.strides[: description.ndim]) == [
            4 * int(np.prod(shape[number + 1 :])) for number in range(len(shape))
        ]


def test_strided_arrays_where_they_may_be():
    value = np.arange(12.0).reshape(3, 4)
    buffer = _buffers.as_buffer(value.T[1:], "value", contiguous=False)
    assert list(buffer.description.strides[:2]) == [8, 32]
    assert buffer.shape == (3, 3)
    tensor = torch.arange(12.0).reshape(3, 4)
    buffer = _buffers.as_buffer(tensor[:, ::2], "value", contiguous=False)
    assert list(buffer.description.strides[:2]) == [16, 8]
    with pytest.raises(syncyte.ShapeError, match="value is not contiguous.*ascontiguousarray"):
        _buffers.as_buffer(value.T, "value")


def test_exporters_share_memory():
    numbers = array.array("d", [1, 2, 3])
    buffer = _buffers.as_buffer(numbers, "value", writable=True)
    buffer.array[0] = 7
    assert numbers[0] == 7

    class Exporter:
        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **options):
            return self.tensor.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    tensor = torch.arange(4)
    assert _buffers.as_buffer(Exporter(tensor), "value").description.data == tensor.data_ptr()
    with pytest.raises(syncyte.ArgumentError, match="read-only"):
        _buffers.as_buffer(b"bytes", "value", writable=True)
    for wrong in ([1, 2], 3.0, np.float64(3)):
        assert _buffers.as_buffer(wrong, "value").dtype in (DType.INT64, DType.FLOAT64)
        with pytest.raises(syncyte.Error, match="value is"):
            _buffers.as_buffer(wrong, "value", writable=True)


def test_bits_of_bfloat16():
    bits = np.zeros(3, np.uint16)
    assert _buffers.as_buffer(bits, "value", expected=DType.BFLOAT16).dtype == DType.BFLOAT16
    assert _buffers.as_buffer(bits, "value").dtype == DType.UINT16
    assert _buffers.as_buffer(bits, "value", expected=DType.UINT16).dtype == DType.UINT16
    with pytest.raises(syncyte.DtypeError, match="value is of float32; expected bfloat16"):
        _buffers.as_buffer(torch.ones(2), "value", expected=DType.BFLOAT16)


@pytest.mark.parametrize("world", [_buffers.NUMPY, _buffers.TORCH])
@pytest.mark.parametrize("dtype", list(DType))
def test_pool_arrays_live_as_long_as_their_slices(world, dtype):
    before = syncyte.memory.stats().in_use
    value = _arrays.recycled(world, dtype, (1 << 10, 100))
    assert syncyte.memory.stats().in_use > before
    part = value[3:5, 7]
    part[...] = 1
    del value
    assert syncyte.memory.stats().in_use > before
    assert bool((part == 1).all())
    del part
    assert syncyte.memory.stats().in_use == before


def test_pool_arrays_are_plain_tensors():
    value = _arrays.recycled(_buffers.TORCH, DType.FLOAT32, (1 << 10, 100))
    assert value.is_leaf
    assert not value._is_view()
    assert value.data_ptr() % 64 == 0
    with torch.no_grad():
        other = _arrays.recycled(_buffers.TORCH, DType.FLOAT32, (1 << 10, 100))
    other.requires_grad_()
    (other * 2).sum().backward()
    assert bool((other.grad == 2).all())


def test_pool_refuses():
    with pytest.raises(syncyte.ShapeError):
        syncyte.memory.empty((3, -1), "int8")
    with pytest.raises(MemoryError):
        syncyte.memory.empty((1 << 60,), "int8")
    assert syncyte.memory.empty((0, 3), "int8").shape == (0, 3)
    syncyte.memory.trim()
    assert syncyte.memory.stats().cached == 0
