# SPDX-License-Identifier: BSD-3-Clause
"""WholeMemory's init_lib(), and tensors in host memory, do not start CUDA's driver: a process of their own, because a
driver that has started stays so."""

import ctypes

import torch

from syncyte import COMM_WORLD
from syncyte.compat import wholememory_pytorch as wm

NOT_INITIALIZED = 3  # CUDA_ERROR_NOT_INITIALIZED


def driver_answers() -> int:
    """The driver's result of a question that starts nothing."""
    return ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(ctypes.c_int()))


wm.init_lib()
assert driver_answers() == NOT_INITIALIZED
wm.mp_init(COMM_WORLD.rank, COMM_WORLD.size)
table = wm.create_tensor([4, 2], [], torch.float32, True, [])
assert table.is_cpu
wm.barrier([])
assert driver_answers() == NOT_INITIALIZED
on_device = wm.create_tensor([4, 2], [], torch.float32, False, [])
assert on_device.is_cuda
assert driver_answers() == 0
del table, on_device
wm.finalize_lib()
