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
from syncyte.cache import SharedCache
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


def test_table_optimizers_wait_for_the_streams_of_forwards():
    """backward() runs on the forward's stream, step() on another one; a forward on a second stream adds to the rows."""
    layer = WholeEmbedding(ROWS, WIDTH, optimizer=None, device="cuda")
    layer.table.local.zero_()
    layer.sync()
    optimizer = nn.TableOptimizer(layer, "sgd", 1.0, reduce="sum")
    kept = []
    for step in range(ROWS // 2):
        outputs = []
        for row in (step, ROWS - 1 - step):
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                index = torch.tensor([row], device="cuda")
                outputs.append(layer(index) * torch.full((1, WIDTH), 2.0, device="cuda"))
            torch.cuda.current_stream().wait_stream(stream)
        sum(each.sum() for each in outputs).backward()
        optimizer.step()
        optimizer.zero_grad()
        kept.append(outputs)
    assert torch.equal(layer.table[:].cpu(), torch.full((ROWS, WIDTH), -2.0 * SIZE))
    layer.sync()


def test_what_it_refuses():
    layer = WholeEmbedding(4, 2, device="cuda")
    with pytest.raises(ValueError, match="index: memory is the host's"):
        layer(torch.tensor([0]))
    with pytest.raises(IndexError, match="index 4 at position 1"):
        layer(torch.tensor([0, 4], device="cuda"))
        layer.sync()
    counts = WholeTensor((4, 2), "int64", device="cuda")
    with pytest.raises(errors.DtypeError, match="int64"):
        counts.set_optimizer("sgd", lr=0.1)
    with pytest.raises(errors.UnsupportedError, match="started form of tensor_apply_gradients"):
        layer.table.iapply_gradients(torch.tensor([0], device="cuda"), torch.zeros(1, 2, device="cuda"))
    layer.sync()


def train_together(layer: WholeEmbedding, optimizer: nn.TableOptimizer, steps: int, first: int = 0) -> None:
    """All ranks at once, in two micro-batches; rank 0 has none in step 1."""
    for step in range(first, first + steps):
        optimizer.zero_grad()
        for part in range(2):
            generator = torch.Generator().manual_seed(1000 * step + 10 * part + RANK)
            index = torch.randint(ROWS, (2, 0 if step == 1 and RANK == 0 else 4), generator=generator)
            weights = torch.randn(*index.shape, WIDTH, generator=generator)
            rows = layer(index.to(layer.table.device))
            rows.backward(weights.to(rows))
        optimizer.step()


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_table_optimizer_has_the_bits_of_one_in_host_memory(name, options, dtype):
    """Its state too, from which an optimizer in the other memory goes on."""
    layers = on_both(embeddings=start(dtype), padding_idx=2)
    optimizers = [nn.TableOptimizer(layer, name, **options) for layer in layers]
    for layer, optimizer in zip(layers, optimizers, strict=True):
        train_together(layer, optimizer, 3)
    assert same(*layers)
    states = [copy.deepcopy(optimizer.state_dict()) for optimizer in optimizers]
    host, device = (state["state"].get(0, {}) for state in states)
    assert host.keys() == device.keys()
    assert all(torch.equal(host[key], device[key].cpu()) for key in host)
    if "state" in device and device["state"].numel():
        assert device["state"].device.type == "cuda"
    for optimizer, state in zip(optimizers, states[::-1], strict=True):
        optimizer.load_state_dict(state)
    for layer, optimizer in zip(layers, optimizers, strict=True):
        train_together(layer, optimizer, 1, first=5)
    assert same(*layers)
    for layer in layers:
        layer.sync()


def test_a_table_optimizers_state_in_a_checkpoint(tmp_path_factory):
    path = MPI.COMM_WORLD.bcast(str(tmp_path_factory.mktemp("optimizer") / "state.h5"))
    layer = WholeEmbedding.from_pretrained(start(), device="cuda")
    optimizer = nn.TableOptimizer(layer, "adam")
    train_together(layer, optimizer, 2)
    own, rows = optimizer.state_dict()["state"][0], layer.table.rows()
    checkpoint.save(path, own)
    found = checkpoint.load(path)
    assert found["state"].shape == (ROWS, 2, WIDTH)
    assert torch.equal(torch.as_tensor(found["state"])[rows.start : rows.stop], own["state"].cpu())
    layer.sync()


@pytest.mark.parametrize("spoiled", [False, True])
def test_a_grad_scaler_and_clipping(spoiled):
    """An infinity of one rank skips the step of all."""
    layers = on_both(embeddings=torch.zeros(SIZE + 1, 2))
    for layer in layers:
        optimizer = nn.TableOptimizer(layer, lr=1.0, reduce="sum")
        scaler = torch.amp.GradScaler(layer.table.device.type, init_scale=1024.0)
        loss = layer(torch.tensor([SIZE, RANK], device=layer.table.device)).sum()
        if spoiled and RANK == SIZE - 1:
            loss = loss * torch.inf
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        if not spoiled:
            norm = optimizer.clip_grad_norm_(1.0)
            assert abs(float(norm) - (2.0 * SIZE**2 + 2.0 * SIZE) ** 0.5) < 1e-5
        scaler.step(optimizer)
        scaler.update()
        assert scaler.get_scale() == (512.0 if spoiled else 1024.0)
        assert bool(layer.table[:].any()) != spoiled
    assert same(*layers)
    for layer in layers:
        layer.sync()


def test_arrays_on_devices_are_wrapped_by_one_rank():
    array = torch.arange(6.0, device="cuda").view(3, 2)
    whole = WholeTensor.wrap(array, comm=syncyte.COMM_SELF)
    assert whole.device == array.device
    whole.scatter_(torch.tensor([1], device="cuda"), torch.full((1, 2), 7.0, device="cuda"))
    assert array[1].tolist() == [7.0, 7.0]
    assert whole.local.data_ptr() == array.data_ptr()
    if SIZE > 1:
        with pytest.raises(errors.UnsupportedError, match="local is in device memory"):
            WholeTensor.wrap(array)
    with pytest.raises(errors.UnsupportedError, match="row_locks"):
        WholeTensor.wrap(array, comm=syncyte.COMM_SELF, row_locks=True)
    if torch.cuda.device_count() > 1:
        other = (array.device.index + 1) % torch.cuda.device_count()
        with pytest.raises(errors.UnsupportedError, match="wrapped memory"):
            whole.node_on(f"cuda:{other}")


def test_memory_of_devices_is_listed():
    def listed() -> list[syncyte.memory.DeviceUse]:
        return [use for use in syncyte.memory.describe() if "listed" in use.holder]

    table = WholeTensor((1000 * SIZE, 1000), device="cuda", name="listed").set_optimizer("adagrad", lr=0.1)
    uses = listed()
    assert uses[0].holder == f'tensor "listed" (float32, [{1000 * SIZE}, 1000])'
    assert uses[0].bytes >= 2_000_000
    assert "optimizer of tensor" in uses[1].holder
    assert all(use.device.startswith("GPU-") for use in uses)
    table.free()
    syncyte.COMM_WORLD.collect()
    assert not listed()
    cache = SharedCache(2 << 20, 4 << 20, device="cuda")
    assert [use.bytes for use in syncyte.memory.describe() if "shared cache" in use.holder] == [6 << 20]
    cache.free()
    assert not any("shared cache" in use.holder for use in syncyte.memory.describe())


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
