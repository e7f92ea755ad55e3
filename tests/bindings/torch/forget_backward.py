# SPDX-License-Identifier: BSD-3-Clause
"""Rank 0 and others run a backward pass that the last rank never runs; the watchdog must end the job."""

import time

import torch
from mpi4py import MPI

import syncyte
from syncyte.torch import allreduce

MPI.COMM_WORLD.Barrier()  # so that the watchdog does not count the imports
x = torch.ones(3, requires_grad=True)
result = allreduce(x * 2)
if syncyte.COMM_WORLD.rank == syncyte.COMM_WORLD.size - 1:
    time.sleep(60)
result.sum().backward()
