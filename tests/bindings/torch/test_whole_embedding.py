"""syncyte.nn.WholeEmbedding against torch.nn.Embedding with sparse gradients and torch's optimizers on one process."""

import copy

import pytest
import torch
from mpi4py import MPI

import syncyte
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


def test_it_has_no_parameter_and_no_gradient(comm):
    layer = WholeEmbedding(ROWS, WIDTH, comm=comm)
    assert list(layer.parameters()) == [] and list(layer.buffers()) == []
    layer(torch.tensor([1])).sum().backward()
    assert layer.table.local.grad is None and layer._anchor.grad is None
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
    assert rows.shape == (1, 2, WIDTH) and not rows.requires_grad
    with torch.no_grad():
        layer.set_optimizer("adam", 0.1)
        assert not layer(torch.tensor([0])).requires_grad
    assert layer(torch.tensor([0])).requires_grad
    layer.sync()


def test_values_at_first(comm):
    torch.manual_seed(comm.rank)  # only rank 0's matters
    layer = WholeEmbedding(600, 20, padding_idx=1, comm=comm)
    whole = layer.table[:]
    assert abs(float(whole.mean())) < 0.05 and abs(float(whole.std()) - 1) < 0.05
    assert not whole[1].any() and len(torch.unique(whole, dim=0)) == 600
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
    layer.sync()
