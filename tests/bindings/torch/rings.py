# SPDX-License-Identifier: BSD-3-Clause
"""Messages round the ring of all ranks, and along it."""

import torch
from mpi4py import MPI

import syncyte
from syncyte.torch import irecv, isend, join_dummies, recv, send, sendrecv

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE


def ring(x: torch.Tensor) -> torch.Tensor:
    """The previous rank's tensor; without a gradient for the sender."""
    request = isend(x, NEXT)
    received = recv(torch.empty_like(x), PREVIOUS)
    request.wait()
    return received


def start_then_wait(x: torch.Tensor) -> torch.Tensor:
    """The previous rank's tensor, differentiable."""
    sent = isend(x, NEXT, 5)
    received = irecv(join_dummies(torch.empty_like(x), [sent]), PREVIOUS, 5)
    token = join_dummies(sent, [received]).wait()
    return join_dummies(received, [token]).wait()


def both_ways(x: torch.Tensor) -> torch.Tensor:
    """The previous rank's tensor minus 3 times the next rank's, differentiable."""
    right = sendrecv(x, NEXT, join_dummies(torch.empty_like(x), [x]), PREVIOUS, tag=1)
    left = sendrecv(x, PREVIOUS, join_dummies(torch.empty_like(x), [right]), NEXT, tag=1)
    return right - 3 * left


def receive_from_anybody(x: torch.Tensor) -> torch.Tensor:
    received = irecv(join_dummies(torch.empty_like(x), [x]), syncyte.ANY, syncyte.ANY)
    return join_dummies(received, [send(x, NEXT, 3)]).wait()


def chain(x: torch.Tensor) -> torch.Tensor:
    """A message from rank to rank; each rank adds its own tensor."""
    total = x
    if RANK > 0:
        total = x + 2 * recv(join_dummies(torch.empty_like(x), [x]), RANK - 1)
    if RANK < SIZE - 1:
        total = join_dummies(total, [send(total, RANK + 1)])
    return total
