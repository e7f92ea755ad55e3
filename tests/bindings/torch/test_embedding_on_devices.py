# SPDX-License-Identifier: BSD-3-Clause
"""WholeEmbedding with a table on devices, against one in host memory that gets the same batches; and torch's own
optimizers of this rank's rows."""

import copy

import pytest
import torch
from mpi4py import MPI

import syncyte
from device_under_test import needs_device
from syncyte import WholeTensor, checkpoint, errors, nn
from syncyte.nn import WholeEmbedding

RANK, SIZE = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size
ROWS, WIDTH = 12, 5
OPTIMIZERS = [
    ("sgd", {"lr": 0.5}),
    ("sgd", {"lr": 0.5, "momentum": 0.9}),
    ("adagrad", {"lr": 0.25, "eps": 1e-8}),
    ("adam", {"lr": 0.1, "betas": (0.8, 0.95)}),
]

pytestmark = needs_device


def start(dtype=torch.float32) -> torch.Tensor:
    return torch.randn(ROWS, WIDTH, generator=torch.Generator().manual_seed(3)).to(dtype)


def train(layer: WholeEmbedding, steps: int, first: int = 0) -> None:
    """Ranks train in turn. Rows repeat, and a step of rank 0 has none."""
    for step in range(first, first + steps):
        for rank in range(SIZE):
            if rank == RANK:
                generator = torch.Generator().manual_seed(100 * step + rank)
                index = torch.randint(ROWS, (2, 0 if step == 1 and rank == 0 else 4), generator=generator)
                weights = torch.randn(*index.shape, WIDTH, generator=generator)
                rows = layer(index.to(layer.table.device))
                assert rows.device == layer.table.device
                rows.backward(weights.to(rows))
            layer.sync()


def on_both(**options) -> list[WholeEmbedding]:
    return [WholeEmbedding.from_pretrained(device=device, **options) for device in ("cpu", "cuda")]


def same(host: WholeEmbedding, device: WholeEmbedding) -> bool:
    return torch.equal(host.table[:], device.table[:].cpu())


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_it_has_the_bits_of_a_table_in_host_memory(name, options, dtype):
    host, device = on_both(embeddings=start(dtype), optimizer=name, padding_idx=2, **options)
    assert device.table.device.type == "cuda"
    for layer in (host, device):
        train(layer, 3)
    assert same(host, device)
    state = device.table.optimizer_state()
    if state is not None:
        assert state.device.type == "cuda"
        assert torch.equal(host.table.optimizer_state()[:], state[:].cpu())
    if name == "adam":
        assert device.table.optimizer_steps().load(0) == 3 * SIZE
    host.sync()


def test_values_at_first_are_those_of_a_table_in_host_memory():
    torch.manual_seed(7)
    host = WholeEmbedding(600, 20, padding_idx=1)
    torch.manual_seed(7)
    device = WholeEmbedding(600, 20, padding_idx=1, device="cuda")
    assert same(host, device)
    host.sync()


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_state_dict(name, options):
    """A layer in host memory, and another one on devices, go on from the state of one on devices."""
    first = WholeEmbedding.from_pretrained(start(), optimizer=name, device="cuda", **options)
    train(first, 2)
    saved = copy.deepcopy(first.state_dict())
    assert saved["weight"].device.type == "cuda"
    others = [WholeEmbedding(ROWS, WIDTH, optimizer=name, device=where, **options) for where in ("cuda", "cpu")]
    for layer in others:
        layer.load_state_dict(saved)
        layer.sync()
    for layer in (first, *others):
        train(layer, 1, first=5)
    assert same(others[1], first)
    assert same(others[1], others[0])
    first.sync()


def test_a_checkpoint_has_the_rows_of_all_ranks(tmp_path_factory):
    path = MPI.COMM_WORLD.bcast(str(tmp_path_factory.mktemp("embedding") / "table.h5"))
    layer = WholeEmbedding.from_pretrained(start(), optimizer="adam", lr=0.1, device="cuda")
    train(layer, 1)
    checkpoint.save(path, layer.state_dict())
    found = checkpoint.load(path)
    assert torch.equal(torch.as_tensor(found["weight"]), layer.table[:].cpu())
    assert torch.equal(torch.as_tensor(found["optimizer_state"]), layer.table.optimizer_state()[:].cpu())
    whole = nn.collect_state_dict(layer)
    assert torch.equal(whole["weight"].cpu(), layer.table[:].cpu())
    layer.sync()


def test_freezing_and_learning_rates():
    layer = WholeEmbedding.from_pretrained(torch.zeros(4, 2), optimizer="sgd", lr=1.0, device="cuda")
    index = torch.tensor([1], device="cuda")
    layer.requires_grad_(False)
    assert not layer(index).requires_grad
    layer.requires_grad_()
    layer.set_learning_rate(2.0)
    layer(index).sum().backward()
    layer.sync()
    assert layer.table[1].tolist() == [-2.0 * SIZE] * 2
    assert layer.cuda() is layer
    layer.sync()


def test_updates_follow_the_stream():
    layer = WholeEmbedding.from_pretrained(torch.zeros(2 * SIZE, 2), optimizer="sgd", lr=1.0, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        rows = layer(torch.tensor([2 * RANK], device="cuda"))
        (rows * (torch.ones(1, 2, device="cuda") + RANK)).sum().backward()
        layer.sync()
        assert layer.table.node[::2, 0].tolist() == [-1.0 - rank for rank in range(SIZE)]
        layer.sync()


def test_what_it_refuses():
    layer = WholeEmbedding(4, 2, device="cuda")
    with pytest.raises(ValueError, match="index: memory is 0"):
        layer(torch.tensor([0]))
    with pytest.raises(errors.UnsupportedError, match="table of layer 0 is on cuda"):
        nn.TableOptimizer(layer)
    layer(torch.tensor([0, 4], device="cuda"))
    with pytest.raises(IndexError, match="index 4 at position 1"):
        layer.sync()
    counts = WholeTensor((4, 2), "int64", device="cuda")
    with pytest.raises(errors.DtypeError, match="int64"):
        counts.set_optimizer("sgd", lr=0.1)
    with pytest.raises(errors.UnsupportedError, match="started form of tensor_apply_gradients"):
        layer.table.iapply_gradients(torch.tensor([0], device="cuda"), torch.zeros(1, 2, device="cuda"))
    layer.sync()


@pytest.mark.parametrize("make", [torch.optim.SGD, torch.optim.Adagrad, torch.optim.Adam])
def test_torchs_optimizers_of_own_rows(make):
    """Each rank's rows are a parameter; gradients of all ranks' reads come by sync_grad()."""
    tables = [WholeTensor((ROWS, WIDTH), device=device) for device in ("cpu", "cuda")]
    for table in tables:
        own = table.rows()
        table.local.copy_(start()[own.start : own.stop])
        table.sync()
        table.requires_grad_()
        optimizer = make([table.local], lr=0.1)
        for step in range(3):
            index = torch.tensor([RANK, step, ROWS - 1], device=table.device)
            table.gather(index).square().sum().backward()
            table.sync_grad()
            optimizer.step()
            table.zero_grad()
    torch.testing.assert_close(tables[1][:].detach().cpu(), tables[0][:].detach())
    syncyte.COMM_WORLD.barrier()
