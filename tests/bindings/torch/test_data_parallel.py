# SPDX-License-Identifier: BSD-3-Clause
"""syncyte.torch.DataParallel gives the gradients of one process that has all ranks' data."""

import os
from typing import Any

import pytest
import torch
from mpi4py import MPI
from torch.utils.checkpoint import checkpoint

from means import close, loss_of, mean_gradients, network
from syncyte import _launcher, _torch_rendezvous
from syncyte.errors import MismatchError, UnsupportedError
from syncyte.torch import DataParallel

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank


@pytest.fixture(params=[1, 300, 1 << 20], ids=["a bucket each", "several buckets", "one bucket"])
def model(request):
    made = network(RANK)  # parameters that differ between ranks
    made.averager = DataParallel(made, bucket_bytes=request.param)
    return made


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


def test_a_rank_that_reaches_no_parameter(model):
    model.zero_grad()
    if RANK == 0:
        loss_of(model, 0).backward()
    else:
        model.averager.average()
    one = network(0)
    loss_of(one, 0).backward()
    close(model, [parameter.grad / SIZE for parameter in one.parameters()])


def test_after_a_backward_that_failed(model):
    class Failure(Exception):
        pass

    def fail(gradient):
        raise Failure

    expected = mean_gradients(network(0))
    hook = model[0].bias.register_hook(fail)  # the last or the one before the last gradient
    with pytest.raises(Failure):
        loss_of(model, RANK).backward()
    hook.remove()
    for _ in range(2):
        model.zero_grad()
        loss_of(model, RANK).backward()
        close(model, expected)


def test_a_failure_of_one_rank_is_told_to_the_others(model):
    if SIZE == 1:
        return

    def fail(gradient):
        raise ArithmeticError("mine")

    expected = mean_gradients(network(0))
    if RANK == 0:
        hook = model[0].bias.register_hook(fail)
        with pytest.raises(ArithmeticError):
            loss_of(model, RANK).backward()
        hook.remove()
    else:
        with pytest.raises(ValueError, match="rank 0 of world has given up round 1"):
            loss_of(model, RANK).backward()
    model.zero_grad()
    loss_of(model, RANK).backward()
    close(model, expected)


def test_a_sparse_gradient_of_one_rank_is_told_to_the_others():
    model = torch.nn.Embedding(5, 2, sparse=RANK == 0)
    averager = DataParallel(model)
    if RANK == 0:
        with pytest.raises(NotImplementedError, match="a gradient is torch.sparse_coo; expected a dense one"):
            model(torch.tensor([0])).sum().backward()
    else:
        with pytest.raises(ValueError, match="rank 0 of world has given up round 1"):
            model(torch.tensor([0])).sum().backward()
    model.sparse = False
    model.zero_grad()
    model(torch.tensor([0])).sum().backward()
    assert model.weight.grad.sum(1).tolist() == [2.0, 0.0, 0.0, 0.0, 0.0]
    averager.remove()


def test_nothing_in_giving_up_keeps_it_from_the_others(monkeypatch):
    model = network(0)
    averager = DataParallel(model)

    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(type(averager._buckets[0]), "move_gradients_out", fail)
    if RANK == 0:
        with pytest.raises(MemoryError):
            averager.give_up()
    elif SIZE > 1:
        with pytest.raises(ValueError, match="rank 0 of world has given up round 1"):
            loss_of(model, RANK).backward()
    monkeypatch.undo()
    expected = mean_gradients(network(0))
    model.zero_grad()
    loss_of(model, RANK).backward()
    close(model, expected)


def test_gradients_have_the_strides_of_their_parameters():
    model = torch.nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    averager = DataParallel(model)
    image = torch.arange(75.0).view(1, 3, 5, 5)
    (model(image * (RANK + 1))).sum().backward()
    (expected,) = torch.autograd.grad(model(image).sum() * (SIZE + 1) / 2, [model.weight])
    assert model.weight.grad.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(model.weight.grad, expected)
    averager.remove()


def test_ranks_with_other_strides_are_an_error_on_all():
    if SIZE == 1:
        return
    model = torch.nn.Conv2d(3, 4, 3)
    with pytest.raises(ValueError, match="shapes_and_dtypes"):
        DataParallel(model.to(memory_format=torch.channels_last) if RANK == 0 else model)


def test_a_parameter_that_is_frozen_later_gets_no_gradient(model):
    model[0].requires_grad_(False)
    for _ in range(2):
        model.zero_grad()
        loss_of(model, RANK).backward()
        assert model[0].weight.grad is None
        assert model[0].bias.grad is None
        whole = network(0)
        for parameter, gradient in list(zip(model.parameters(), mean_gradients(whole), strict=True))[2:]:
            torch.testing.assert_close(parameter.grad, gradient)


@pytest.mark.parametrize("set_to_none", [True, False])
@pytest.mark.parametrize("name", ["4.bias", "2.weight", "0.bias"], ids=["first", "middle", "last"])
def test_the_step_after_a_failure_of_one_rank_is_as_any_other(model, name, set_to_none):
    def fail(gradient):
        raise ArithmeticError("mine")

    expected = mean_gradients(network(0))
    loss_of(model, RANK).backward()  # gradients lie in the buckets
    model.zero_grad(set_to_none=set_to_none)
    if RANK == 0:
        hook = model.get_parameter(name).register_hook(fail)
        with pytest.raises(ArithmeticError):
            loss_of(model, RANK).backward()
        hook.remove()
        if name == "4.bias":  # no parameter had a gradient before
            model.averager.give_up()
    else:
        with pytest.raises(ValueError, match="rank 0 of world has given up round 2"):
            loss_of(model, RANK).backward()
    for _ in range(2):
        model.zero_grad(set_to_none=set_to_none)
        loss_of(model, RANK).backward()
        close(model, expected)


def test_average_after_a_failure(model):
    def fail(gradient):
        raise ArithmeticError("mine")

    expected = [gradient / SIZE for gradient in own_gradients(1)] if SIZE > 1 else None
    hook = model[0].bias.register_hook(fail)
    with pytest.raises(ArithmeticError):
        loss_of(model, RANK).backward()
    hook.remove()
    model.zero_grad(set_to_none=False)
    if RANK == 1:
        loss_of(model, 1).backward()
    else:
        model.averager.average()
    if expected:
        close(model, expected)


def own_gradients(rank: int) -> list[torch.Tensor]:
    model = network(0)
    return list(torch.autograd.grad(loss_of(model, rank), list(model.parameters())))


def test_tied_parameters_count_once():
    model = network(0)
    averager = DataParallel([*model.parameters(), *model.parameters()], bucket_bytes=1)
    expected = mean_gradients(network(0))
    loss_of(model, RANK).backward()
    close(model, expected)
    averager.remove()


def test_ranks_that_differ_are_an_error_on_all():
    if SIZE == 1:
        return
    with pytest.raises(ValueError, match="bucket_bytes is 0"):
        DataParallel(network(0), bucket_bytes=0 if RANK == SIZE - 1 else 100)
    with pytest.raises(ValueError, match="size of parameter 0"):
        DataParallel([torch.ones(2, 3 + (RANK == 0), requires_grad=True)])
    with pytest.raises(ValueError, match="shapes_and_dtypes"):
        DataParallel([torch.ones((2, 3) if RANK else (3, 2), requires_grad=True)])


def test_the_mean_of_halves_does_not_overflow():
    x = torch.zeros(2, dtype=torch.float16, requires_grad=True)
    averager = DataParallel([x])
    (x * 40000).sum().backward()
    assert x.grad.tolist() == [40000.0, 40000.0]
    averager.remove()


def test_all_ranks_have_the_same_bits():
    model = torch.nn.Linear(300, 301)
    averager = DataParallel(model)
    model(torch.randn(5, 300, generator=torch.Generator().manual_seed(RANK))).square().sum().backward()
    mine = model.weight.grad.numpy().tobytes()
    assert WORLD.bcast(mine, 0) == mine
    averager.remove()


def test_nothing_to_average():
    with pytest.raises(ValueError, match="no parameter requires a gradient"):
        DataParallel([torch.ones(2)])


def test_wrong_bucket_size():
    with pytest.raises(ValueError, match="bucket_bytes is 0"):
        DataParallel(network(0), bucket_bytes=0)


class Checkpointed(torch.nn.Module):
    """Layers whose activations are recomputed in backward."""

    def __init__(self, use_reentrant: bool, tied: bool = False):
        super().__init__()
        self.use_reentrant = use_reentrant
        layers = [torch.nn.Sequential(torch.nn.Linear(5, 5), torch.nn.Tanh()).double() for _ in range(3)]
        self.layers = torch.nn.ModuleList([*layers, layers[0]] if tied else layers)
        self.last = torch.nn.Linear(5, 1).double()

    def forward(self, x: torch.Tensor, is_checkpointed: bool = True) -> torch.Tensor:
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=self.use_reentrant) if is_checkpointed else layer(x)
        return self.last(x)

    def loss(self, rank: int = RANK, **more) -> torch.Tensor:
        x = torch.randn(4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(rank)).requires_grad_()
        return self(x, **more).pow(2).sum()


def checkpointed(use_reentrant: bool, bucket_bytes: int, **more) -> tuple[Checkpointed, list[torch.Tensor]]:
    """A model with an averager, and the expected mean gradients."""
    torch.manual_seed(3)
    made = Checkpointed(use_reentrant, **more)
    losses = sum(made.loss(rank, is_checkpointed=False) for rank in range(SIZE)) / SIZE
    expected = list(torch.autograd.grad(losses, list(made.parameters())))
    made.averager = DataParallel(made, bucket_bytes=bucket_bytes)
    return made, expected


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("bucket_bytes", [300, 1 << 20])
def test_checkpointed_activations(bucket_bytes, tied):
    model, expected = checkpointed(False, bucket_bytes, tied=tied)
    for _ in range(3):
        model.zero_grad()
        model.loss().backward()
        close(model, expected)


@pytest.mark.parametrize("who", [0, SIZE - 1, "all ranks"])
@pytest.mark.parametrize("bucket_bytes", [1, 300, 1 << 20])
def test_a_backward_within_a_backward_is_everybodys_error(bucket_bytes, who):
    model, expected = checkpointed(True, bucket_bytes)
    is_nested = who in (RANK, "all ranks")
    text = "within another one" if is_nested else f"rank {who} of world has given up round"
    for _ in range(2):
        model.zero_grad()
        with pytest.raises(UnsupportedError if is_nested else MismatchError, match=text):
            model.loss(is_checkpointed=is_nested).backward()
        model.zero_grad()
        model.loss(is_checkpointed=False).backward()
        close(model, expected)


@pytest.mark.parametrize("tied", [False, True])
def test_backward_within_backward_averaged_by_hand(tied):
    model, expected = checkpointed(True, 300, tied=tied)
    for _ in range(2):
        model.zero_grad()
        with model.averager.no_sync():
            model.loss().backward()
        model.averager.average()
        close(model, expected)


def test_frozen_parameters_and_buffers_are_made_equal():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 1))
    model[0].requires_grad_(False)
    with torch.no_grad():
        for tensor in (*model.parameters(), *model.buffers()):
            tensor.fill_(RANK + 1)
    DataParallel(model)
    assert all((tensor == 1).all() for tensor in (*model.parameters(), *model.buffers()))


def test_what_differs_is_named():
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1 if RANK < SIZE - 1 else 2))
    if SIZE == 1:
        DataParallel(model)
        return
    with pytest.raises(ValueError, match="size of parameter 2 is 3 on rank.*but 6 on rank"):
        DataParallel(model)


STOCK = """
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, size = int(os.environ["RANK"]), dist.get_world_size()
assert (rank, size) == (dist.get_rank(), int(os.environ["WORLD_SIZE"]))
assert int(os.environ["LOCAL_RANK"]) < size
torch.manual_seed(rank)
model = DistributedDataParallel(torch.nn.Linear(2, 1, bias=False))
with torch.no_grad():
    model.module.weight.fill_(1.0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
model(torch.full((1, 2), float(rank))).sum().backward()
optimizer.step()
weight = model.module.weight.detach().clone()
dist.destroy_process_group()
"""


def test_a_stock_program_of_torch_distributed_starts(monkeypatch):
    """It needs only what `python -m syncyte` sets from the launcher's variables, and its rendezvous."""
    for name, value in _launcher.torch_variables(os.environ).items():
        monkeypatch.setenv(name, value)
    _torch_rendezvous.install()
    program: dict[str, Any] = {}
    exec(STOCK, program)
    mean = (SIZE - 1) / 2  # of the ranks' gradients
    assert torch.allclose(program["weight"], torch.full((1, 2), 1 - 0.5 * mean))
