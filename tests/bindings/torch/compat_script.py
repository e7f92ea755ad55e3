"""A script for mpi4torch as it is, for `python -m syncyte.compat`: a ring, whose gradient goes the other way round."""

import mpi4torch
import torch

comm = mpi4torch.COMM_WORLD
following, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size

x = torch.full((2,), 1.0 + comm.rank, dtype=torch.double).requires_grad_()
buffer = mpi4torch.JoinDummies(torch.empty_like(x), [x])
sent = comm.Isend(x, following, 0)
received = comm.Recv(mpi4torch.JoinDummies(buffer, [sent.dummy]), before, 0)
y = mpi4torch.JoinDummies(x + received, [comm.Wait(mpi4torch.JoinDummiesHandle(sent, [received]))])
assert (y == 2.0 + comm.rank + before).all() and comm.size > 1
comm.Allreduce(y, mpi4torch.MPI_SUM).sum().backward()
assert (x.grad == 2.0 * comm.size).all(), x.grad
