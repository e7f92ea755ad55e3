# SPDX-License-Identifier: BSD-3-Clause
"""syncyte.nn.WholeEmbedding against torch.nn.Embedding with sparse gradients and torch's optimizers on one process."""

import copy

import pytest
import torch
from mpi4py import MPI

import syncyte
from syncyte import nn
from syncyte.nn import WholeEmbedding

WORLD = MPI.COMM_WORLD
ROWS, WIDTH = 12, 5
OPTIMIZERS = {
    "sgd": ({"lr": 0.5}, lambda p: torch.optim.SGD(p, lr=0.5)),
    "adagrad": ({"lr": 0.25}, lambda p: torch.optim.Adagrad(p, lr=0.25)),
    "adam": ({"lr": 0.1, "betas": (0.8, 0.95)}, lambda p: torch.optim.SparseAdam(p, lr=0.1, betas=(0.8, 0.95))),
}


def start(dtype=torch.float64) -> torch.Tensor:
    return torch.randn(ROWS, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).to(dtype)


def batch(step: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows, some of which repeat, and weights of a loss."""
    generator = torch.Generator().manual_seed(100 * step + rank)
    index = torch.randint(ROWS, (2, 4), generator=generator)
    return index, torch.randn(2, 4, WIDTH, dtype=torch.float64, generator=generator)


def loss_of(rows: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    return (rows.double().square() * weights + rows.double().sin()).sum()


def in_turn(comm, action) -> None:
    """Calls action(rank) on each rank, one after another."""
    for rank in range(comm.size):
        if rank == comm.rank:
            action(rank)
        comm.barrier()


def trained_by_torch(name, dtype=torch.float64, padding_idx=None, steps=4):
    """The same batches on one process, all ranks' in turn."""
    dense = torch.nn.Embedding.from_pretrained(start(dtype), freeze=False, sparse=True, padding_idx=padding_idx)
    optimizer = OPTIMIZERS[name][1](dense.parameters())
    for step in range(steps):
        for rank in range(WORLD.size):
            index, weights = batch(step, rank)
            optimizer.zero_grad()
            loss_of(dense(index), weights).backward()
            optimizer.step()
    return dense.weight.detach(), optimizer


def trained_by_us(comm, name, dtype=torch.float64, padding_idx=None, steps=4, compiled=False):
    options = OPTIMIZERS[name][0]
    layer = WholeEmbedding.from_pretrained(start(dtype), padding_idx, optimizer=name, comm=comm, **options)
    forward = torch.compile(layer, fullgraph=True, backend="aot_eager") if compiled else layer

    def train(step, rank):
        index, weights = batch(step, rank)
        loss_of(forward(index), weights).backward()

    for step in range(steps):
        in_turn(comm, lambda rank, step=step: train(step, rank))
    layer.sync()
    return layer


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_torch(comm, name, dtype):
    layer = trained_by_us(comm, name, dtype)
    expected, _ = trained_by_torch(name, dtype)
    tolerance = {"rtol": 1e-12, "atol": 1e-12} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 1e-5}
    torch.testing.assert_close(layer.table[:], expected, **tolerance)
    layer.sync()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_state_equals_torch(comm, name):
    layer = trained_by_us(comm, name)
    _, optimizer = trained_by_torch(name)
    state = next(iter(optimizer.state.values()), {})
    ours = layer.table.optimizer_state()
    if name == "sgd":
        assert ours is None
    elif name == "adagrad":
        torch.testing.assert_close(ours[:][:, 0], state["sum"])
    else:
        torch.testing.assert_close(ours[:][:, 0], state["exp_avg"])
        torch.testing.assert_close(ours[:][:, 1], state["exp_avg_sq"])
        assert layer.table.optimizer_steps().load(0) == state["step"] == 4 * comm.size
    layer.sync()


def test_momentum_of_rows_that_all_have_gradients(comm):
    """torch's momentum is that of the whole table, and equals ours where each row has a gradient in each step."""
    layer = WholeEmbedding.from_pretrained(start(), optimizer="sgd", lr=0.1, momentum=0.9, comm=comm)
    dense = torch.nn.Embedding.from_pretrained(start(), freeze=False)
    optimizer = torch.optim.SGD(dense.parameters(), lr=0.1, momentum=0.9)
    for _ in range(3):
        in_turn(comm, lambda rank: layer(torch.arange(ROWS)).sin().sum().backward())
        for _ in range(comm.size):
            optimizer.zero_grad()
            dense(torch.arange(ROWS)).sin().sum().backward()
            optimizer.step()
    layer.sync()
    torch.testing.assert_close(layer.table[:], dense.weight.detach(), rtol=1e-12, atol=1e-12)
    layer.sync()


@pytest.mark.parametrize("padding_idx", [2, -1])
def test_padding(comm, padding_idx):
    layer = trained_by_us(comm, "adam", padding_idx=padding_idx)
    expected, _ = trained_by_torch("adam", padding_idx=padding_idx)
    torch.testing.assert_close(layer.table[:], expected, rtol=1e-12, atol=1e-12)
    assert torch.equal(layer.table[padding_idx % ROWS], start()[padding_idx])
    layer.sync()


def test_compiled(comm):
    torch.compiler.reset()
    layer = trained_by_us(comm, "adagrad", steps=2, compiled=True)
    expected, _ = trained_by_torch("adagrad", steps=2)
    torch.testing.assert_close(layer.table[:], expected, rtol=1e-12, atol=1e-12)
    layer.sync()


def test_no_update_is_lost(comm):
    """All ranks train the same rows at once: sums of squares of ones are exact."""
    layer = WholeEmbedding.from_pretrained(torch.zeros(3, 2), optimizer="adagrad", lr=0.1, comm=comm)
    for _ in range(30):
        layer(torch.tensor([0, 1, 1])).sum().backward()
    layer.sync()
    assert layer.table.optimizer_state()[:][:, 0, 0].tolist() == [30.0 * comm.size, 120.0 * comm.size, 0.0]
    layer.sync()


def test_it_has_no_elements_and_no_gradient_for_other_optimizers(comm):
    layer = WholeEmbedding(ROWS, WIDTH, comm=comm)
    assert sum(parameter.numel() for parameter in layer.parameters()) == 0
    assert list(layer.buffers()) == []
    assert layer.double() is layer
    assert layer(torch.tensor([1])).dtype == torch.float32
    layer(torch.tensor([1])).sum().backward()
    assert layer.table.local.grad is None
    assert layer._anchor.grad is None
    assert "12, 5, optimizer=sgd" in repr(layer)
    layer.sync()


def test_own_updates_are_visible_at_once(comm):
    layer = WholeEmbedding.from_pretrained(torch.zeros(2 * comm.size, 2), optimizer="sgd", lr=1.0, comm=comm)
    row = torch.tensor([(2 * comm.rank + 2) % (2 * comm.size)])  # another rank's, if there is one
    for step in range(1, 4):
        layer(row).sum().backward()
        assert layer(row).tolist() == [[-float(step)] * 2]
    layer.set_learning_rate(10.0)
    layer(row).sum().backward()
    assert layer(row).tolist() == [[-13.0] * 2]
    layer.sync()


def test_without_optimizer(comm):
    layer = WholeEmbedding(ROWS, WIDTH, optimizer=None, comm=comm)
    rows = layer(torch.tensor([[0, 1]]))
    assert rows.shape == (1, 2, WIDTH)
    assert not rows.requires_grad
    with torch.no_grad():
        layer.set_optimizer("adam", 0.1)
        assert not layer(torch.tensor([0])).requires_grad
    assert layer(torch.tensor([0])).requires_grad
    layer.sync()


def test_values_at_first(comm):
    torch.manual_seed(comm.rank)  # only rank 0's matters
    layer = WholeEmbedding(600, 20, padding_idx=1, comm=comm)
    whole = layer.table[:]
    assert abs(float(whole.mean())) < 0.05
    assert abs(float(whole.std()) - 1) < 0.05
    assert not whole[1].any()
    assert len(torch.unique(whole, dim=0)) == 600
    torch.manual_seed(comm.rank)
    again = WholeEmbedding(600, 20, padding_idx=1, comm=comm)
    assert torch.equal(again.table[:], whole)
    again.sync()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_state_dict(comm, name):
    """A layer goes on from another one's state as if it had been that one."""
    first = trained_by_us(comm, name, steps=2)
    saved = copy.deepcopy(torch.nn.ModuleDict({"table": first}).state_dict())
    assert saved["table.weight"].shape == first.table.local.shape
    second = WholeEmbedding(ROWS, WIDTH, dtype=torch.float64, optimizer=name, comm=comm, **OPTIMIZERS[name][0])
    model = torch.nn.ModuleDict({"table": second})
    assert str(model.load_state_dict(saved)) == "<All keys matched successfully>"
    second.sync()
    for layer in (first, second):
        in_turn(comm, lambda rank, layer=layer: loss_of(layer(batch(9, rank)[0]), batch(9, rank)[1]).backward())
        layer.sync()
    assert torch.equal(first.table[:], second.table[:])
    first.sync()  # all have read before the next lines write
    with pytest.raises(RuntimeError, match=r"Missing key.*table\.weight"):
        model.load_state_dict({})
    with pytest.raises(RuntimeError, match=r"Unexpected key.*table\.bias"):
        model.load_state_dict({**saved, "table.bias": torch.zeros(1)})
    with pytest.raises(RuntimeError, match="size mismatch for table.weight"):
        model.load_state_dict({**saved, "table.weight": torch.zeros(99, 99)})
    first.sync()


def test_the_state_is_saved_and_loaded_as_rows(comm, tmp_path):
    """In a model, by its keys or by others; the whole state of any number of ranks."""
    path = WORLD.bcast(str(tmp_path / "table.h5"))
    model = torch.nn.ModuleDict({"table": trained_by_us(comm, "adam", steps=1), "head": torch.nn.Linear(WIDTH, 1)})
    whole = {"weight": model["table"].table[:], "optimizer_state": model["table"].table.optimizer_state()[:]}
    for state in (model.state_dict(), dict(model.state_dict()), nn.collect_state_dict(model)):
        syncyte.checkpoint.save(path, state)
        found = syncyte.checkpoint.load(path)
        assert set(found) == set(model.state_dict())
        for name, value in whole.items():
            assert torch.equal(found["table." + name], value)
        assert found["table.optimizer_steps"] == comm.size
    for value in whole.values():
        assert value.any()
    with torch.no_grad():
        model["table"].table.local.zero_()
    model.load_state_dict(nn.relocate_state_dict(model, found))
    model["table"].sync()
    assert torch.equal(model["table"].table[:], whole["weight"])
    collected = nn.collect_state_dict(model, root=comm.size - 1)
    assert list(collected) == (list(model.state_dict()) if comm.rank == comm.size - 1 else [])
    with pytest.raises(syncyte.ArgumentError, match="without the key 'table.weight'"):
        nn.relocate_state_dict(model, {key: value for key, value in found.items() if key != "table.weight"})
    dense = torch.nn.Embedding.from_pretrained(found["table.weight"])  # as any other tool reads it
    torch.testing.assert_close(dense(torch.tensor([3])), model["table"](torch.tensor([3])))
    model["table"].sync()


def test_another_ranks_state_is_refused(comm, tmp_path):
    path = WORLD.bcast(str(tmp_path / "table.pt"))
    layer = WholeEmbedding(2 * comm.size, 2, optimizer="adagrad", comm=comm)
    before = layer.table[:]
    if comm.rank == 0:
        torch.save(layer.state_dict(), path)
    comm.barrier()
    if comm.rank == 0:
        layer.load_state_dict(torch.load(path))
    else:
        with pytest.raises(RuntimeError, match=rf"weight holds \[0:2\].*this rank's part is \[{2 * comm.rank}:"):
            layer.load_state_dict(torch.load(path))
    layer.sync()
    assert torch.equal(layer.table[:], before)
    layer.sync()


def test_of_a_whole_tensor(comm):
    table = syncyte.WholeTensor((ROWS, WIDTH), torch.bfloat16, comm=comm)
    layer = WholeEmbedding.from_pretrained(table, optimizer="sgd", lr=1.0)
    assert layer.table is table
    layer(torch.tensor([3, 3])).sum().backward()
    layer.sync()
    assert table[3].tolist() == [-2.0 * comm.size] * WIDTH
    layer.sync()


def test_wrong_use(comm):
    with pytest.raises(ValueError, match="optimizer is 'adamw'"):
        WholeEmbedding(4, 2, optimizer="adamw", comm=comm)
    with pytest.raises(ValueError, match="padding_idx"):
        WholeEmbedding(4, 2, 4, comm=comm)
    with pytest.raises(TypeError, match="dtype"):
        WholeEmbedding(4, 2, dtype=torch.int32, comm=comm)
    with pytest.raises(ValueError, match="betas"):
        WholeEmbedding(4, 2, optimizer="adam", betas=0.9, comm=comm)
    with pytest.raises(ValueError, match="momentum"):
        WholeEmbedding(4, 2, momentum=1.0, comm=comm)
    with pytest.raises(ValueError, match="embeddings"):
        WholeEmbedding.from_pretrained(torch.zeros(4), comm=comm)
    layer = WholeEmbedding(4, 2, comm=comm)
    with pytest.raises(IndexError, match="index 4 at position 1"):
        layer(torch.tensor([0, 4]))
    with pytest.raises(TypeError, match="index"):
        layer([0, 1])
    table = syncyte.WholeTensor((4, 2), comm=comm)
    with pytest.raises(NotImplementedError, match="no optimizer"):
        table.apply_gradients([0], torch.ones(1, 2))
    with pytest.raises(NotImplementedError, match="no optimizer"):
        table.set_learning_rate(0.1)
    with pytest.raises(RuntimeError, match="differentiated again"):
        rows = layer(torch.tensor([0]))
        torch.autograd.backward(rows.square().sum(), create_graph=True)
    layer.sync()


def test_opcheck(comm):
    layer = WholeEmbedding(ROWS, WIDTH, lr=0.0, comm=comm)  # opcheck runs backward several times, and compares values
    index, handle = torch.tensor([0, 2, 2]), layer.table.handle
    for anchor in (layer._anchor, layer._anchor.detach()):
        torch.library.opcheck(torch.ops.syncyte.embedding.default, (anchor, handle, index, -1))
    torch.library.opcheck(torch.ops.syncyte.apply_gradients.default, (torch.randn(3, WIDTH), handle, index, 2))
    optimizer = nn.TableOptimizer(layer)
    torch.library.opcheck(torch.ops.syncyte.embedding.default, (layer._anchor, handle, index, -1, True))
    torch.library.opcheck(torch.ops.syncyte.keep_gradients.default, (torch.randn(3, WIDTH), handle, index, 2))
    optimizer.remove()
    layer.sync()


# Freezing.


@pytest.mark.parametrize("how", ["layer", "model", "parameters"])
def test_freezing(comm, how):
    """And thawing; with a TableOptimizer too."""
    layer = WholeEmbedding.from_pretrained(torch.zeros(4, 2), optimizer="sgd", lr=1.0, comm=comm)
    model = torch.nn.ModuleDict({"table": layer, "head": torch.nn.Linear(2, 1, bias=False)})
    torch.nn.init.ones_(model["head"].weight)

    def freeze(trains: bool) -> None:
        if how == "parameters":
            for parameter in model.parameters():
                parameter.requires_grad = trains
        else:
            (layer if how == "layer" else model).requires_grad_(trains)

    def train() -> list[float]:
        model["head"](layer(torch.tensor([1]))).sum().backward() if layer(torch.tensor([1])).requires_grad else None
        layer.sync()
        return layer.table[1].tolist()

    freeze(False)
    assert train() == [0.0, 0.0]
    model["head"].requires_grad_()
    model["head"](layer(torch.tensor([1]))).sum().backward()
    assert layer.table[1].tolist() == [0.0, 0.0]
    layer.sync()
    freeze(True)
    assert train() == [-float(comm.size)] * 2
    layer.sync()
    optimizer = nn.TableOptimizer(layer, lr=1.0)
    freeze(False)
    model["head"].requires_grad_()
    model["head"](layer(torch.tensor([1]))).sum().backward()
    assert optimizer.param_groups[0]["params"][0].grad is None
    optimizer.step()
    assert layer.table[1].tolist() == [-float(comm.size)] * 2
    layer.sync()


def test_no_optimizer_records_nothing(comm):
    layer = WholeEmbedding(4, 2, optimizer=None, comm=comm)
    torch.nn.ModuleList([layer]).requires_grad_()
    assert not layer(torch.tensor([0])).requires_grad


# TableOptimizer, against one process with all ranks' batches. Some ranks read some rows, and some read none.

DENSE = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.5),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.25),
    "adam": lambda p: torch.optim.SparseAdam(p, lr=0.1, betas=(0.8, 0.95)),
}
STEPS, MICRO = 4, 4


def micro_batch(step: int, part: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Rank 1 has no gradient in step 2."""
    index, weights = batch(10 * step + part, rank)
    return (index[:0], weights[:0]) if step == 2 and rank == 1 else (index, weights)


def mean_loss(rows: torch.Tensor, weights: torch.Tensor, reduce: str, ranks: int) -> torch.Tensor:
    """A sum over samples. With "mean" it is scaled so that the mean over ranks is the sum over all ranks' samples."""
    loss = loss_of(rows, weights) / MICRO
    return loss * ranks if reduce == "mean" else loss


def dense_training(name: str, dtype: torch.dtype, ranks: int, spoiled: int | None = None):
    """One process; the step `spoiled` is skipped. The learning rate halves after each two steps."""
    dense = torch.nn.Embedding.from_pretrained(start(dtype), freeze=False, sparse=True)
    optimizer = DENSE[name](dense.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    for step in range(STEPS):
        optimizer.zero_grad()
        for part in range(MICRO):
            for rank in range(ranks):
                index, weights = micro_batch(step, part, rank)
                (loss_of(dense(index), weights) / MICRO).backward()
        if step != spoiled:
            optimizer.step()
        scheduler.step()
    return dense.weight.detach(), optimizer.state.get(dense.weight, {})


def table_training(comm, name, dtype, reduce, spoiled=None, compiled=False):
    """Returns the layer, its optimizer and the GradScaler; with `spoiled` the last rank's gradient is infinite then."""
    layer = WholeEmbedding.from_pretrained(start(dtype), comm=comm)
    options = OPTIMIZERS[name][0]
    optimizer = nn.TableOptimizer(layer, name, **options, reduce=reduce)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    forward = torch.compile(layer, fullgraph=True, backend="aot_eager") if compiled else layer
    for step in range(STEPS):
        optimizer.zero_grad()
        for part in range(MICRO):
            index, weights = micro_batch(step, part, comm.rank)
            if index.numel() > 0 or part % 2:  # with an empty index, and without a backward pass at all
                loss = mean_loss(forward(index), weights, reduce, comm.size)
                if step == spoiled and comm.rank == comm.size - 1 and part == 1:
                    loss = loss * torch.inf
                scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
    return layer, optimizer, scaler


TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-4, torch.bfloat16: 0.1}


@pytest.mark.parametrize("reduce", ["mean", "sum"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", DENSE)
def test_a_step_is_that_of_one_process(comm, name, dtype, reduce):
    """With four micro-batches, a GradScaler and a scheduler; the state too."""
    layer, optimizer, scaler = table_training(comm, name, dtype, reduce)
    expected, state = dense_training(name, dtype, comm.size)
    bounds = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    torch.testing.assert_close(layer.table[:], expected, **bounds)
    assert scaler.get_scale() == 1024.0
    assert optimizer.param_groups[0]["lr"] == OPTIMIZERS[name][0]["lr"] / 4
    rows, own = layer.table.rows(), optimizer.state_dict()["state"].get(0, {})
    for slot, key in enumerate({"adagrad": ["sum"], "adam": ["exp_avg", "exp_avg_sq"]}.get(name, [])):
        torch.testing.assert_close(own["state"][:, slot], state[key][rows.start : rows.stop], **bounds)
    if name == "adam":
        assert own["step"].tolist() == [state["step"]] == [STEPS]
    layer.sync()


def test_sums_of_16_bit_gradients_are_rounded_once(comm):
    layer, _, _ = table_training(comm, "adagrad", torch.bfloat16, "mean")
    expected, _ = dense_training("adagrad", torch.float64, comm.size)
    torch.testing.assert_close(layer.table[:].double(), expected, rtol=0.02, atol=0.1)
    single = WholeEmbedding.from_pretrained(torch.zeros(1, 2, dtype=torch.bfloat16), comm=comm)
    optimizer = nn.TableOptimizer(single, lr=1.0, reduce="sum")
    (single(torch.tensor([0])) * (1.0 if comm.rank else 256.0)).sum().backward()  # 257 has no bfloat16
    optimizer.step()
    assert single.table[0].tolist() == [-float(torch.tensor(255.0 + comm.size).bfloat16())] * 2
    single.sync()
    optimizer.zero_grad()
    single.load_state_dict({"weight": torch.zeros_like(single.table.local)})
    single.sync()
    for _ in range(300):  # micro-batches: 256 + 1 is 256 in bfloat16
        single(torch.tensor([0])).sum().backward()
    optimizer.step()
    assert single.table[0].tolist() == [-float(torch.tensor(300.0 * comm.size).bfloat16())] * 2
    single.sync()


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_an_infinity_of_one_rank_skips_the_step_of_all(comm, name):
    """And all scales are halved: a rank whose scale differed would spoil averages of scaled gradients."""
    layer, optimizer, scaler = table_training(comm, name, torch.float64, "mean", spoiled=1)
    expected, _ = dense_training(name, torch.float64, comm.size, spoiled=1)
    torch.testing.assert_close(layer.table[:], expected, rtol=1e-12, atol=1e-12)
    assert scaler.get_scale() == 512.0
    if name == "adam":
        state = optimizer.state_dict()
        assert state["state"][0]["step"].tolist() == [STEPS - 1]
        state["state"][0]["step"] = torch.tensor([7])  # another tensor takes effect when it is loaded
        assert optimizer.state_dict()["state"][0]["step"].tolist() == [STEPS - 1]
        optimizer.load_state_dict(state)
        assert optimizer.state_dict()["state"][0]["step"].tolist() == [7]
    layer.sync()


def test_compiled_with_a_table_optimizer(comm):
    torch.compiler.reset()
    layer, _, _ = table_training(comm, "sgd", torch.float64, "sum", compiled=True)
    expected, _ = dense_training("sgd", torch.float64, comm.size)
    torch.testing.assert_close(layer.table[:], expected, rtol=1e-12, atol=1e-12)
    layer.sync()


def test_the_pages_loop_moves_as_far_as_one_process(comm):
    """A mean loss of each rank's samples, and the mean over ranks: one process's mean over all samples."""
    samples = 4 * comm.size
    index = torch.arange(samples)
    for reduce, moved in (("mean", 1 / samples), ("sum", 1 / 4)):
        layer = WholeEmbedding.from_pretrained(torch.zeros(samples, 1), comm=comm)
        optimizer = nn.TableOptimizer([layer], lr=1.0, reduce=reduce)
        layer(index[comm.rank * 4 :][:4]).mean().backward()
        optimizer.step()
        torch.testing.assert_close(layer.table[:], torch.full((samples, 1), -moved))
        layer.sync()


def test_clipping_of_tables_and_a_model(comm):
    """The norm is that of the gradient of all ranks: rows that several of them have count once."""
    layers = [WholeEmbedding.from_pretrained(torch.zeros(3, 2), comm=comm) for _ in range(2)]
    head = torch.nn.Parameter(torch.zeros(1))
    optimizer = nn.TableOptimizer(layers, lr=1.0, reduce="sum")
    for power, expected in ((2.0, (2 * comm.size**2 + 2 + 3.0**2) ** 0.5), (float("inf"), max(comm.size, 3.0))):
        optimizer.zero_grad()
        head.grad = torch.full((1,), 3.0)
        layers[0](torch.tensor([1])).sum().backward()  # of all ranks
        if comm.rank == comm.size - 1:
            layers[1](torch.tensor([2])).sum().backward()
        norm = optimizer.clip_grad_norm_(0.5, power, parameters=[head])
        assert abs(float(norm) - expected) < 1e-5
        assert abs(float(head.grad) - 3.0 * 0.5 / expected) < 1e-5
        before = layers[0].table[1]
        layers[0].sync()
        optimizer.step()
        torch.testing.assert_close(before - layers[0].table[1], torch.full((2,), comm.size * 0.5 / expected))
        layers[0].sync()
    assert optimizer.clip_grad_norm_(1e9) < 1e9  # nothing is scaled up


def test_a_table_optimizers_state(comm, tmp_path):
    """It goes on as if it had been another one; files have all rows; another rank's state is refused."""
    path = WORLD.bcast(str(tmp_path / "optimizer.h5"))
    first, trained, _ = table_training(comm, "adam", torch.float32, "mean")
    state = copy.deepcopy({"layer": first.state_dict(), "optimizer": trained.state_dict()})
    flat = trained.state_dict()["state"][0]
    syncyte.checkpoint.save(path, flat)
    assert syncyte.checkpoint.load(path)["state"].shape == (ROWS, 2, WIDTH)
    second = WholeEmbedding(ROWS, WIDTH, optimizer=None, comm=comm)
    optimizer = nn.TableOptimizer(second, "adam", **OPTIMIZERS["adam"][0])
    second.load_state_dict(state["layer"])
    second.sync()
    optimizer.load_state_dict(state["optimizer"])
    assert optimizer.param_groups[0]["lr"] == trained.param_groups[0]["lr"]
    for layer, own in ((first, trained), (second, optimizer)):
        own.zero_grad()
        loss_of(layer(batch(77, comm.rank)[0]), batch(77, comm.rank)[1]).backward()
        own.step()
    assert torch.equal(first.table[:], second.table[:])
    first.sync()
    if comm.size > 1:
        others = copy.deepcopy(state["optimizer"])
        others["parts"] = comm.allgatherv(torch.tensor([[own.start, own.stop] for own in [first.table.rows()]]))
        part = dict(state["optimizer"]["parts"][0])
        part["first"], part["end"] = others["parts"][(comm.rank + 1) % comm.size].tolist()
        with pytest.raises(syncyte.ArgumentError, match=r"state_dict of table 0 is of \[.*expected that of \["):
            optimizer.load_state_dict({**state["optimizer"], "parts": [part]})
    with pytest.raises(syncyte.ArgumentError, match="of shapes"):
        optimizer.load_state_dict({**state["optimizer"], "state": {}})
    second.sync()


def test_attaching_and_removing(comm):
    layer = WholeEmbedding.from_pretrained(torch.zeros(2, 2), optimizer="sgd", lr=1.0, comm=comm)
    older, newer = nn.TableOptimizer(layer, lr=1.0), nn.TableOptimizer(layer, lr=2.0, reduce="sum")
    layer(torch.tensor([0])).sum().backward()
    older.step()
    assert not layer.table[0].any()
    layer.sync()
    newer.step()
    assert layer.table[0].tolist() == [-2.0 * comm.size] * 2
    layer.sync()
    rows = layer(torch.tensor([1]))
    newer.remove()
    with pytest.raises(NotImplementedError, match="has been removed"):
        rows.sum().backward()
    layer(torch.tensor([1])).sum().backward()  # as before
    layer.sync()
    assert layer.table[1].tolist() == [-1.0 * comm.size] * 2
    layer.sync()


def test_wrong_use_of_a_table_optimizer(comm):
    layer, last = WholeEmbedding(4, 2, optimizer=None, comm=comm), comm.rank == comm.size - 1
    for wrong, text in (
        ({"optimizer": "adamw" if last else "sgd"}, "optimizer is 'adamw'"),
        ({"reduce": "max" if last else "sum"}, "reduce is 'max'; expected 'mean' or 'sum'"),
        ({"lr": -1.0 if last else 1.0}, "lr is -1"),
        ({"layers": [layer, layer]}, "one of them twice"),
        ({"layers": []}, "layers is empty"),
    ):
        with pytest.raises(ValueError, match=text):
            nn.TableOptimizer(**({"layers": layer} | wrong))
    with pytest.raises(TypeError, match="layers is a Linear; expected syncyte.nn.WholeEmbeddings"):
        nn.TableOptimizer([torch.nn.Linear(1, 1)])
    if comm.size > 1:
        with pytest.raises(syncyte.MismatchError):
            nn.TableOptimizer(layer, "adam" if last else "sgd")
        with pytest.raises(syncyte.ArgumentError, match="several communicators"):
            nn.TableOptimizer([layer, WholeEmbedding(4, 2, comm=syncyte.COMM_SELF)])
    half = WholeEmbedding(4, 2, optimizer=None, dtype=torch.float16, comm=comm)
    with pytest.raises(TypeError, match="table of layer 1 is float16; expected float32, float64 or bfloat16"):
        nn.TableOptimizer([layer, half])
    optimizer = nn.TableOptimizer(layer)
    for key in ("state", "param_groups"):
        state = {name: value for name, value in optimizer.state_dict().items() if name != key}
        with pytest.raises(syncyte.ArgumentError, match="state_dict is without 'state' or 'param_groups'"):
            optimizer.load_state_dict(state)
    with pytest.raises(NotImplementedError, match="has one group"):
        optimizer.add_param_group({"params": []})
    if last:
        optimizer.param_groups[0]["params"][0].grad = torch.zeros(4, 2)
    with pytest.raises(TypeError, match="gradient of layer 0 is torch.strided; expected torch.sparse_coo"):
        optimizer.step()
    layer.sync()


def test_ranks_of_a_table_optimizer_that_differ(comm):
    if comm.size == 1:
        return
    layers, last = [WholeEmbedding(4, 2, optimizer=None, comm=comm) for _ in range(2)], comm.rank == comm.size - 1
    with pytest.raises(syncyte.MismatchError, match="checksum of the tables"):
        nn.TableOptimizer(layers[::-1] if last else layers)
    for option, value, other in (("lr", 0.1, 0.2), ("eps", 1e-8, 1e-7), ("betas", (0.9, 0.9), (0.9, 0.8))):
        with pytest.raises(syncyte.MismatchError, match="checksum of lr, momentum, betas and eps"):
            nn.TableOptimizer(layers, "adam", **{option: other if last else value})
    optimizer = nn.TableOptimizer(layers)
    optimizer.param_groups[0]["lr"] *= 0.5 if last else 1.0
    with pytest.raises(syncyte.MismatchError, match="bits of lr"):
        optimizer.step()
    optimizer.param_groups[0]["lr"] = "fast" if last else 1.0
    with pytest.raises(TypeError, match="lr is 'fast'; expected a number"):
        optimizer.step()
    layers[0].sync()
