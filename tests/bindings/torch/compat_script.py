# SPDX-License-Identifier: BSD-3-Clause
"""An unchanged script for mpi4torch, WholeMemory, TorchShard and AdaPM, to be run by `python -m syncyte.compat`: a ring
whose gradient goes the other way round, a table over all ranks, a layer in parts, and parameters under keys."""

import sys

import mpi4torch
import torch
from mpi4torch import *  # noqa: F403

assert sys.argv[1:] == ["more"]
assert COMM_WORLD is mpi4torch.COMM_WORLD  # noqa: F405
comm = mpi4torch.COMM_WORLD
following, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size

x = torch.full((2,), 1.0 + comm.rank, dtype=torch.double).requires_grad_()
buffer = mpi4torch.JoinDummies(torch.empty_like(x), [x])
sent = comm.Isend(x, following, 0)
received = comm.Recv(mpi4torch.JoinDummies(buffer, [sent.dummy]), before, 0)
y = mpi4torch.JoinDummies(x + received, [comm.Wait(mpi4torch.JoinDummiesHandle(sent, [received]))])
assert (y == 2.0 + comm.rank + before).all()
assert comm.size > 1
comm.Allreduce(y, mpi4torch.MPI_SUM).sum().backward()
assert (x.grad == 2.0 * comm.size).all(), x.grad

# WholeMemory
from wholememory.torch import wholememory_pytorch as wm  # noqa: E402

wm.init_lib()
wm.mp_init(comm.rank, comm.size)
table = wm.create_tensor([comm.size, 4], [], torch.float32, True, [])
table[comm.rank] = comm.rank
wm.barrier([])
found = torch.ops.wholememory.gather(torch.tensor([comm.size - 1, 0]), table, torch.float64)
assert found[:, 1].tolist() == [comm.size - 1, 0]
wm.barrier([])
del table
wm.finalize_lib()

# TorchShard
import torchshard as ts  # noqa: E402
import torchshard.nn.functional  # noqa: E402

assert torchshard.nn is ts.nn
assert torchshard.nn.functional is ts.nn.functional
ts.distributed.init_process_group(group_size=comm.size)
layer = ts.nn.ParallelLinear(4, 2 * comm.size, dim=-1)
output = layer(torch.ones(3, 4))
assert output.shape == (3, 2)
assert ts.get_parallel_dim(output) == -1
assert ts.distributed.gather(output).shape == (3, 2 * comm.size)
assert ts.collect_state_dict(layer)["weight"].shape == (2 * comm.size, 4)
ts.distributed.destroy_process_group()

# AdaPM's
import adapm  # noqa: E402

adapm.setup(10, 1)
server = adapm.Server(2)
worker = adapm.Worker(0, server)
worker.push(torch.tensor([comm.rank, 9]), torch.ones(4), True)
worker.barrier()
values = torch.empty(2)
worker.pull(torch.tensor([9]), values)
assert values.tolist() == [comm.size, comm.size]
worker.finalize()
server.shutdown()
