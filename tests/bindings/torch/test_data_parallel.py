"""syncyte.torch.DataParallel: the gradients of one process that sees all ranks' data."""

import pytest
import torch
from mpi4py import MPI

from syncyte.torch import DataParallel

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank


def network(seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(7, 11), torch.nn.Tanh(), torch.nn.Linear(11, 5), torch.nn.Tanh(),
                               torch.nn.Linear(5, 3)).double()


def data(rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(100 + rank)
    return tuple(torch.randn(4, size, dtype=torch.float64, generator=generator) for size in (7, 3))


def loss_of(model: torch.nn.Module, rank: int) -> torch.Tensor:
    x, y = data(rank)
    return ((model(x) - y) ** 2).sum()


def mean_gradients(model: torch.nn.Module) -> list[torch.Tensor]:
    gradients = torch.autograd.grad(sum(loss_of(model, rank) for rank in range(SIZE)) / SIZE, list(model.parameters()))
    return list(gradients)


@pytest.fixture(params=[1, 300, 1 << 20], ids=["a bucket each", "several buckets", "one bucket"])
def model(request):
    made = network(RANK)  # not equal before
    made.averager = DataParallel(made, bucket_bytes=request.param)
    return made


def close(model: torch.nn.Module, expected: list[torch.Tensor]) -> None:
    for parameter, gradient in zip(model.parameters(), expected, strict=True):
        torch.testing.assert_close(parameter.grad, gradient)


def test_parameters_are_rank_0s(model):
    for parameter, other in zip(model.parameters(), network(0).parameters(), strict=True):
        assert torch.equal(parameter, other)


@pytest.mark.parametrize("set_to_none", [True, False])
def test_gradients_are_means(model, set_to_none):
    expected = mean_gradients(network(0))
    for _ in range(3):
        model.zero_grad(set_to_none=set_to_none)
        loss_of(model, RANK).backward()
        close(model, expected)


def test_training_keeps_ranks_equal_and_learns(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    reference = network(0)
    for _ in range(5):
        optimizer.zero_grad()
        loss_of(model, RANK).backward()
        optimizer.step()
        with torch.no_grad():
            for parameter, gradient in zip(reference.parameters(), mean_gradients_of(reference), strict=True):
                parameter -= 0.01 * gradient
    for parameter, other in zip(model.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(parameter, other)


def mean_gradients_of(model: torch.nn.Module) -> list[torch.Tensor]:
    with torch.enable_grad():
        return mean_gradients(model)


def test_unreached_parameters_count_as_zero(model):
    model.zero_grad()
    if RANK == 0:
        loss_of(model, 0).backward()
    else:
        (model[4](torch.ones(1, 5, dtype=torch.float64)) * 0).sum().backward()
    one = network(0)
    loss_of(one, 0).backward()
    close(model, [parameter.grad / SIZE for parameter in one.parameters()])


def test_no_sync_sums_locally_first(model):
    expected = [2 * gradient for gradient in mean_gradients(network(0))]
    model.zero_grad()
    with model.averager.no_sync():
        loss_of(model, RANK).backward()
    loss_of(model, RANK).backward()
    close(model, expected)


def test_removed_averages_nothing(model):
    model.averager.remove()
    loss_of(model, RANK).backward()
    one = network(0)
    loss_of(one, RANK).backward()
    close(model, [parameter.grad for parameter in one.parameters()])


def test_wrong_bucket_size():
    with pytest.raises(ValueError, match="bucket_bytes is 0"):
        DataParallel(network(0), bucket_bytes=0)
