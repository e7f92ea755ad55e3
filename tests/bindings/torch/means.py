# SPDX-License-Identifier: BSD-3-Clause
"""A network that the ranks train together, and the means of its gradients."""

import torch
from mpi4py import MPI

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank


def network(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(
        torch.nn.Linear(7, 11), torch.nn.Tanh(), torch.nn.Linear(11, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)
    ).double()


def data(rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(100 + rank)
    return tuple(torch.randn(4, size, dtype=torch.float64, generator=generator) for size in (7, 3))


def loss_of(model: torch.nn.Module, rank: int) -> torch.Tensor:
    x, y = data(rank)
    return ((model(x) - y) ** 2).sum()


def mean_gradients(model: torch.nn.Module) -> list[torch.Tensor]:
    gradients = torch.autograd.grad(sum(loss_of(model, rank) for rank in range(SIZE)) / SIZE, list(model.parameters()))
    return list(gradients)


def close(model: torch.nn.Module, expected: list[torch.Tensor]) -> None:
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)
