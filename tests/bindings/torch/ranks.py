# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of tests in which ranks differ."""

import pytest
import torch
from mpi4py import MPI

from syncyte.torch import allreduce

SIZE = MPI.COMM_WORLD.size
several = pytest.mark.skipif(SIZE == 1, reason="one rank agrees with itself")


def works() -> bool:
    """True if the next collective works: all ranks are in step."""
    return allreduce(torch.ones(1)).item() == SIZE
