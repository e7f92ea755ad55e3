# SPDX-License-Identifier: BSD-3-Clause
"""Saves numpy arrays by calls of the C interface, without the Python package."""

import ctypes
import os

import numpy as np

DTYPES = {
    "float16": 1,
    "bfloat16": 2,
    "float32": 3,
    "float64": 4,
    "complex64": 5,
    "complex128": 6,
    "int8": 7,
    "int16": 8,
    "int32": 9,
    "int64": 10,
    "uint8": 11,
    "bool": 12,
    "uint16": 13,
    "uint32": 14,
    "uint64": 15,
}


class Buffer(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("shape", ctypes.c_int64 * 8),
        ("strides", ctypes.c_int64 * 8),
        ("memory", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("read_only", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    ]


class Entry(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("key", ctypes.c_char_p),
        ("data", ctypes.POINTER(Buffer)),
        ("kind", ctypes.c_int32),
    ]


class Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("block_bytes", ctypes.c_int64),
        ("step", ctypes.c_int64),
        ("attributes", ctypes.c_char_p),
    ]


class Checkpoints:
    """The two libraries, loaded with RTLD_LOCAL, and the communicator of all ranks."""

    def __init__(self):
        self.core = ctypes.CDLL(os.environ["SYNCYTE_LIBRARY"], mode=os.RTLD_LOCAL)
        self.hdf5 = ctypes.CDLL(os.environ["SYNCYTE_HDF5_LIBRARY"], mode=os.RTLD_LOCAL)
        self.core.syncyte_last_error.restype = ctypes.c_char_p
        abi = ctypes.c_int32()
        self.check(self.hdf5.syncyte_hdf5_version(None, None, None, ctypes.byref(abi)))
        self.check(self.core.syncyte_init_abi(None, abi))
        self.comm = ctypes.c_void_p()
        self.check(self.core.syncyte_comm_world(ctypes.byref(self.comm)))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.core.syncyte_last_error().decode())

    def entry(self, key, array, sharded=False, dtype=None):
        """An entry for `array`, which must be dense; pass bfloat16 as uint16 with dtype="bfloat16"."""
        buffer = Buffer(ctypes.sizeof(Buffer))
        shape = (ctypes.c_int64 * 8)(*array.shape)
        number = DTYPES[dtype or array.dtype.name]
        self.check(
            self.core.syncyte_buffer_set(
                array.ctypes.data_as(ctypes.c_void_p), number, array.ndim, shape, ctypes.byref(buffer)
            )
        )
        entry = Entry(ctypes.sizeof(Entry), key.encode(), ctypes.pointer(buffer), int(sharded))
        entry.array = array  # which owns the memory
        return entry

    def finalize(self):
        self.check(self.core.syncyte_finalize())

    def save(self, path, entries, step=0, block_bytes=0, attributes=None):
        options = Options(ctypes.sizeof(Options), block_bytes, step, attributes)
        array = (Entry * len(entries))(*entries)
        self.check(
            self.hdf5.syncyte_checkpoint_save(
                self.comm, str(path).encode(), ctypes.c_int64(len(entries)), array, ctypes.byref(options)
            )
        )

    def load(self, path, entries):
        array = (Entry * len(entries))(*entries)
        self.check(
            self.hdf5.syncyte_checkpoint_load(self.comm, str(path).encode(), ctypes.c_int64(len(entries)), array, None)
        )


def values(dtype, count):
    """An array of numbers that dtype represents exactly."""
    numbers = np.arange(count) % 100
    if dtype.startswith("complex"):
        return (numbers - 1j * numbers).astype(dtype)
    return (numbers % 2 == 0) if dtype == "bool" else numbers.astype(dtype)
