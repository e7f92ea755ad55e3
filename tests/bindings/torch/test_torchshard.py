"""What programs for TorchShard expect of syncyte.compat.torchshard, and what TorchShard does wrong. The layers' own
properties are those of syncyte.nn: test_parallel_layers.py, test_model_state.py."""

import copy
import importlib
import inspect
import sys

import pytest
import torch
from mpi4py import MPI

import syncyte
from syncyte import compat
from syncyte.compat import torchshard as ts

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
F = ts.nn.functional


@pytest.fixture(autouse=True)
def process_group():
    ts.distributed.init_process_group(group_size=SIZE)
    yield
    ts.distributed.destroy_process_group()


def assert_same(found, expected) -> None:
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-13)


def random(*shape: int, seed: int = 5) -> torch.Tensor:
    """The same on all ranks."""
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


# Names.

SIGNATURES = {
    "": {
        "slice": ["tensor", "num_partitions", "dim", "contiguous"],
        "collect_state_dict": ["model", "state_dict", "prefix"],
        "relocate_state_dict": ["model", "state_dict", "prefix"],
        "register_ddp_parameters_to_ignore": ["module"],
        "get_parallel_dim": ["tensor"],
        "register_parallel_dim": ["tensor", "value"],
        "register_parallel_attribute": ["param", "value", "order_type"],
        "set_attribute": ["tensor", "value", "order_type"],
    },
    "distributed": {
        "is_initialized": [],
        "init_process_group": ["group_size"],
        "destroy_process_group": [],
        "get_group": [],
        "get_rank": [],
        "get_world_size": [],
        "get_group_size": [],
        "copy": ["input"],
        "reduce": ["input"],
        "scatter": ["input", "dim"],
        "gather": ["input", "dim"],
    },
    "nn": {
        "ParallelLinear": ["in_features", "out_features", "bias", "dim"],
        "ParallelEmbedding": ["num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type",
                              "scale_grad_by_freq", "sparse", "_weight", "dim"],
        "ParallelCrossEntropyLoss": ["weight", "size_average", "ignore_index", "reduce", "reduction"],
        "ParallelCrossEntropy": ["weight", "size_average", "ignore_index", "reduce", "reduction"],
        "RegisterParallelDim": ["dim"],
        "ParallelLinear.convert_parallel_linear": ["module", "dim"],
        "ParallelEmbedding.convert_parallel_embedding": ["module", "dim"],
    },
    "nn.functional": {
        "parallel_linear": ["input", "weight", "bias", "dim"],
        "parallel_cross_entropy": ["input", "target", "weight", "size_average", "ignore_index", "reduce", "reduction"],
        "parallel_embedding": ["input", "weight", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq",
                               "sparse", "num_embeddings", "dim"],
    },
    "nn.init": {"shard_init_helper_": ["init_method", "tensor", "kwargs"]},
}


@pytest.mark.parametrize("module", SIGNATURES)
def test_every_name_is_there(module):
    found = importlib.import_module(f"syncyte.compat.torchshard.{module}".rstrip("."))
    for name, parameters in SIGNATURES[module].items():
        function = found
        for part in name.split("."):
            function = getattr(function, part)
        positional = [each.name for each in inspect.signature(function).parameters.values()
                      if each.kind is not each.KEYWORD_ONLY]
        assert positional == parameters, name


def test_install_makes_every_name_the_same_module():
    before = dict(sys.modules)
    try:
        compat.install()
        for name in ("", ".distributed", ".nn", ".nn.functional", ".nn.init"):
            assert importlib.import_module(f"torchshard{name}") is importlib.import_module(
                f"syncyte.compat.torchshard{name}")
        assert sys.modules["torchshard"].nn is sys.modules["torchshard.nn"]
    finally:
        for name in set(sys.modules) - set(before):
            if name.startswith("torchshard"):
                del sys.modules[name]


def test_attributes_have_their_names():
    x = torch.ones(2)
    assert ts.get_parallel_dim(x) is None
    ts.register_parallel_dim(x, -1)
    assert x.parallel_dim == -1 and getattr(x, ts._PARALLEL_ATTR) == getattr(x, ts._PARALLEL_DIM) == -1
    ts.register_parallel_dim(x, parallel_dim=0)
    ts.register_parallel_attribute(y := torch.ones(2), 1, 1)
    assert x.parallel_dim == 0 and getattr(y, ts._ORDER_TYPE) == y.order_type == 1
    for function, wrong in ((ts.register_parallel_dim, (x, 2)), (ts.set_attribute, (x, 0, 2)),
                            (ts.register_parallel_dim, (3, 0))):
        with pytest.raises((ValueError, TypeError), match="expected"):
            function(*wrong)
    tagged = ts.nn.RegisterParallelDim(-1)([torch.ones(1), torch.ones(2)])
    assert [ts.get_parallel_dim(each) for each in tagged] == [-1, -1]


def test_slices_are_views_unless_copies_are_asked_for():
    x = torch.arange(12.0).view(2, 6)
    parts = ts.slice(x, 3)
    assert isinstance(parts, tuple) and torch.equal(torch.cat(parts, 1), x) and parts[1].data_ptr() == x[:, 2:].data_ptr()
    assert ts.slice(x, 3, contiguous=True)[1].is_contiguous() and len(ts.slice(x, 2, dim=0)) == 2
    for wrong, error in (((x, 4), "is 6; expected a multiple of num_partitions, 4"), ((x, 0), "num_partitions is 0"),
                         ((x, 2, 2), "dim is 2; expected -2 to 1")):
        with pytest.raises((ValueError, IndexError), match=error):
            ts.slice(*wrong)


# Operations.


def test_operations_and_their_gradients():
    x = random(3, 2 * SIZE).requires_grad_()
    part = ts.distributed.scatter(x)
    assert_same(part, x[:, 2 * RANK : 2 * RANK + 2])
    whole = ts.distributed.gather(part)
    assert_same(whole, x)
    (whole * random(3, 2 * SIZE, seed=6)).sum().backward()
    assert_same(x.grad, random(3, 2 * SIZE, seed=6))
    assert ts.get_parallel_dim(part) == -1 and ts.get_parallel_dim(whole) is None
    x.grad = None
    before = x.detach().clone()
    (RANK * ts.distributed.copy(x)).sum().backward()  # TorchShard's corrupted the heap
    assert_same(x.grad, torch.full_like(x, SIZE * (SIZE - 1) / 2))
    assert torch.equal(x, before)
    y = (RANK * x).detach().requires_grad_()
    total = ts.distributed.reduce(y)
    total.sum().backward()
    assert_same(total, x * (SIZE * (SIZE - 1) / 2))
    assert_same(y.grad, torch.ones_like(y))


def test_a_sum_is_in_place_where_no_gradient_is_recorded():
    x = torch.full((2,), 1.0 + RANK)
    assert ts.distributed.reduce(x) is x and x.tolist() == [SIZE * (SIZE + 1) / 2] * 2
    with torch.no_grad():
        leaf = torch.ones(2, requires_grad=True)
        assert ts.distributed.reduce(leaf) is leaf and leaf.tolist() == [SIZE] * 2
    y = torch.ones(2, requires_grad=True)
    assert ts.distributed.reduce(y) is not y and y.tolist() == [1, 1]


# Layers.

STORED = {None: None, 1: 0, -1: 0, 0: 1}  # which dimension of a linear map's weight


def part(tensor, dim):
    return tensor if dim is None else tensor.chunk(SIZE, dim)[RANK]


@pytest.mark.parametrize("dim", STORED)
def test_a_linear_map_equals_the_dense_one(dim):
    torch.manual_seed(3)
    layer = ts.nn.ParallelLinear(2 * SIZE, 3 * SIZE, dim=dim).double()
    torch.manual_seed(3)
    dense = torch.nn.Linear(2 * SIZE, 3 * SIZE).double()
    columns = STORED[dim] == 0
    assert [ts.get_parallel_dim(each) for each in layer.parameters()] == [dim, dim]
    assert_same(layer.weight, part(dense.weight, STORED[dim]))
    x, y = random(4, 2 * SIZE).requires_grad_(), random(4, 2 * SIZE).requires_grad_()
    result, expected = layer(x), dense(y)
    assert ts.get_parallel_dim(result) == (-1 if columns else None)
    assert_same(result, part(expected, -1 if columns else None))
    cotangent = random(4, 3 * SIZE, seed=7)
    result.backward(part(cotangent, -1 if columns else None))
    expected.backward(cotangent)
    assert_same(x.grad, y.grad)
    assert_same(layer.weight.grad, part(dense.weight.grad, STORED[dim]))
    assert_same(layer.bias.grad, part(dense.bias.grad, 0 if columns else None))


@pytest.mark.parametrize("lost", [lambda x: x, torch.relu, lambda x: x.view(2, 2, -1).flatten(0, 1), lambda x: x * 1])
def test_rows_know_a_part_without_its_attribute(lost):
    up, down = ts.nn.ParallelLinear(3, 4 * SIZE, dim=1), ts.nn.ParallelLinear(4 * SIZE, 3, dim=0)
    weights = [ts.collect_state_dict(each) for each in (up, down)]
    x = torch.ones(4, 3)
    hidden = lost(torch.nn.functional.linear(x, weights[0]["weight"], weights[0]["bias"]))
    expected = torch.nn.functional.linear(hidden, weights[1]["weight"], weights[1]["bias"])
    torch.testing.assert_close(down(lost(up(x))), expected)


@pytest.mark.parametrize("dim", [None, 0, 1, -1])
def test_an_embedding_equals_the_dense_one(dim):
    table = random(4 * SIZE, 2 * SIZE)
    index = torch.tensor([0, 4 * SIZE - 1, SIZE, 0])
    # TorchShard refused a padding_idx beyond its first rank's rows
    layer = ts.nn.ParallelEmbedding(4 * SIZE, 2 * SIZE, padding_idx=4 * SIZE - 1, _weight=table.clone(), dim=dim)
    dense = torch.nn.Embedding(4 * SIZE, 2 * SIZE, padding_idx=4 * SIZE - 1, _weight=table.clone())
    assert_same(layer(index), dense(index))
    layer(index).sum().backward()
    dense(index).sum().backward()
    stored = None if dim is None else abs(dim)
    assert_same(layer.weight.grad, part(dense.weight.grad, stored))
    assert ts.get_parallel_dim(layer.weight) == dim and layer.weight.order_type == 1
    with pytest.raises(ValueError, match="_weight is of shape"):
        ts.nn.ParallelEmbedding(4 * SIZE, 3 * SIZE, _weight=table, dim=dim)
    if dim == 0:
        with pytest.raises(ValueError, match=f"num_embeddings is {SIZE}; expected {4 * SIZE}"):
            F.parallel_embedding(index, layer.weight, num_embeddings=SIZE, dim=0)


@pytest.mark.parametrize("options", [{}, {"reduction": "none"}, {"reduction": "sum"}, {"ignore_index": 2},
                                     {"size_average": False}, {"reduce": False}, {"weight": 1}])
def test_cross_entropy_equals_torchs(options):
    if "weight" in options:
        options = {"weight": random(3 * SIZE).abs()}
    logits, target = random(6, 3 * SIZE), torch.arange(6) % (3 * SIZE)
    mine, whole = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    criterion = ts.nn.ParallelCrossEntropyLoss(**options)
    loss, expected = criterion(ts.distributed.scatter(mine), target), torch.nn.CrossEntropyLoss(**options)(whole, target)
    assert_same(loss, expected)
    loss.sum().backward()
    expected.sum().backward()
    assert_same(mine.grad, whole.grad)
    assert_same(criterion(logits, target), expected)  # without the attribute it is torch's


@pytest.mark.parametrize("dim", [None, 0, 1, -1])
def test_parts_of_what_an_initialiser_gives_the_first_rank(dim):
    layer = ts.nn.ParallelLinear(2 * SIZE, 3 * SIZE, dim=dim)
    torch.manual_seed(RANK)
    ts.nn.init.shard_init_helper_(torch.nn.init.normal_, layer.weight, std=2.0)
    ts.nn.init.shard_init_helper_(torch.nn.init.uniform_, layer.bias)
    torch.manual_seed(0)
    weight, bias = torch.nn.init.normal_(torch.empty(3 * SIZE, 2 * SIZE), std=2.0), torch.empty(3 * SIZE).uniform_()
    assert torch.equal(layer.weight, part(weight, STORED[dim]))
    assert torch.equal(layer.bias, part(bias, 0 if STORED[dim] == 0 else None))
    local = ts.nn.init.shard_init_helper_(torch.nn.init.constant_, torch.empty(3), val=RANK)
    assert local.tolist() == [RANK] * 3


# State.


class Nested(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(2, 2 * SIZE), torch.nn.Sequential(torch.nn.Linear(2 * SIZE, 2)))
        self.table = torch.nn.Embedding(2 * SIZE, 3)


def nested() -> Nested:
    torch.manual_seed(8)
    return Nested()


def converted_first(dim: int) -> Nested:
    model = nested()
    model.inner[0] = ts.nn.ParallelLinear.convert_parallel_linear(model.inner[0], dim)
    return ts.nn.ParallelEmbedding.convert_parallel_embedding(model, 0)


def assert_state(found, expected) -> None:
    assert list(found) == list(expected)
    for key in expected:
        assert torch.equal(found[key], expected[key]), key


def test_conversion_reaches_every_depth():
    model = nested()
    model.inner[0], model.inner[1][0] = torch.nn.Linear(SIZE, 2 * SIZE), torch.nn.Linear(2 * SIZE, SIZE)
    assert ts.nn.ParallelLinear.convert_parallel_linear(model, dim=-1) is model
    assert type(model.inner[0]) is type(model.inner[1][0]) is ts.nn.ParallelLinear
    names = ["inner.0.weight", "inner.0.bias", "inner.1.0.weight", "inner.1.0.bias"]
    assert model._ddp_params_and_buffers_to_ignore == ts.register_ddp_parameters_to_ignore(model) == names
    plain = ts.nn.ParallelLinear.convert_parallel_linear(nested(), None)
    assert plain.inner[0].weight.shape == (2 * SIZE, 2) and ts.register_ddp_parameters_to_ignore(plain) == []
    alone = ts.nn.ParallelLinear.convert_parallel_linear(torch.nn.Linear(2, SIZE), 1)
    assert isinstance(alone, ts.nn.ParallelLinear)


@pytest.mark.parametrize("change", [lambda model: model, copy.deepcopy])
def test_whole_state_and_back(change):
    model, whole = change(converted_first(1)), nested().state_dict()
    assert ts.get_parallel_dim(model.inner[0].weight) == 1  # also of a copy
    collected = ts.collect_state_dict(model, model.state_dict(), prefix="model.")
    assert_state(collected, {f"model.{key}": value for key, value in whole.items()})
    assert_state(ts.collect_state_dict(model, {f"module.{key}": value for key, value in model.state_dict().items()}),
                 {f"module.{key}": value for key, value in whole.items()})
    relocated = ts.relocate_state_dict(model, collected, prefix="model.")
    assert_state(relocated, model.state_dict())
    if SIZE > 1:
        with pytest.raises(ValueError, match="the whole"):
            ts.relocate_state_dict(model, relocated)  # TorchShard cut it again


def test_tied_parameters_are_collected():
    model = ts.nn.ParallelEmbedding(2 * SIZE, 3, dim=0)
    head = ts.nn.ParallelLinear(3, 2 * SIZE, bias=False, dim=1)
    head.weight = model.weight
    both = torch.nn.ModuleDict({"table": model, "head": head})
    collected = ts.collect_state_dict(both)
    assert collected["table.weight"].shape == (2 * SIZE, 3) and collected["head.weight"] is collected["table.weight"]
    tied = nested()
    tied.inner = torch.nn.Linear(3, 2 * SIZE, bias=False)
    tied.inner.weight = tied.table.weight
    with pytest.raises(ValueError, match="table.weight is whole; expected in the plan as well"):
        ts.nn.ParallelLinear.convert_parallel_linear(tied, 1)


class Own(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kernel = torch.nn.Parameter(torch.full((3, 2), float(RANK)))
        self.register_buffer("mean", torch.full((2,), float(RANK)))
        ts.register_parallel_attribute(self.kernel, -1, 1)
        ts.register_parallel_attribute(self.mean, -1)


def test_parameters_and_buffers_with_attributes_are_collected():
    model = Own()
    collected = ts.collect_state_dict(model)
    ranks = [float(rank) for rank in range(SIZE) for _ in range(2)]
    assert collected["mean"].tolist() == ranks and collected["kernel"][2].tolist() == ranks
    assert_state(ts.relocate_state_dict(model, collected), model.state_dict())
    assert ts.register_ddp_parameters_to_ignore(model) == ["kernel"]


def test_state_goes_through_a_file(tmp_path):
    path = WORLD.bcast(str(tmp_path / "model.pt"))
    model = converted_first(1)
    collected = ts.collect_state_dict(model)
    if RANK == 0:
        torch.save({"state_dict": collected}, path)
    WORLD.barrier()
    for parameter in model.parameters():
        parameter.data.zero_()
    model.load_state_dict(ts.relocate_state_dict(model, torch.load(path)["state_dict"]))
    assert_state(ts.collect_state_dict(model), nested().state_dict())


# Groups.


def test_a_group_smaller_than_the_world():
    if SIZE % 2 != 0:
        return
    ts.distributed.destroy_process_group()
    assert not ts.distributed.is_initialized()
    ts.distributed.init_process_group(group_size=2)
    assert (ts.distributed.get_rank(), ts.distributed.get_group_size()) == (RANK % 2, 2)
    assert ts.distributed.get_world_size() == SIZE and ts.distributed.get_group().size == 2
    layer = ts.nn.ParallelLinear(3, 4, dim=1)
    assert layer.weight.shape == (2, 3)
    assert ts.collect_state_dict(layer)["weight"].shape == (4, 3)
    assert ts.distributed.gather(torch.tensor([RANK])).tolist() == [RANK // 2 * 2, RANK // 2 * 2 + 1]


def test_all_ranks_are_the_group_by_default():
    ts.distributed.destroy_process_group()
    ts.distributed.init_process_group()
    assert ts.distributed.get_group_size() == SIZE and ts.distributed.get_group() == syncyte.COMM_WORLD
    ts.distributed.destroy_process_group()
    ts.distributed.init_process_group(group_size=10 * SIZE)
    assert ts.distributed.get_group_size() == SIZE


def test_what_comes_before_init_process_group_says_so():
    ts.distributed.destroy_process_group()
    for function in (ts.distributed.get_rank, ts.distributed.get_group, lambda: ts.nn.ParallelLinear(2, 2, dim=1),
                     lambda: ts.distributed.scatter(torch.ones(SIZE))):
        with pytest.raises(RuntimeError, match="call torchshard.distributed.init_process_group"):
            function()
    ts.nn.ParallelLinear(2, 2)(torch.ones(1, 2))  # a dense layer needs none


def test_groups_that_cannot_be_are_errors_of_all_ranks():
    last = RANK == SIZE - 1
    with pytest.raises(RuntimeError, match="initialised already"):
        ts.distributed.init_process_group(SIZE)
    ts.distributed.destroy_process_group()
    with pytest.raises(ValueError, match=f"group_size is 0; expected a divisor of the number of ranks, {SIZE}"):
        ts.distributed.init_process_group(0 if last else SIZE)
    if SIZE == 3:
        with pytest.raises(ValueError, match="group_size is 2; expected a divisor of the number of ranks, 3"):
            ts.distributed.init_process_group(2)
        with pytest.raises(ValueError, match="group_size is"):
            ts.distributed.init_process_group(1 if last else 3)
    assert not ts.distributed.is_initialized()


def test_a_size_that_the_group_does_not_divide_is_an_error_of_all_ranks():
    if SIZE == 1:
        return
    for wrong in (lambda: ts.nn.ParallelLinear(2, SIZE + 1, dim=1), lambda: ts.nn.ParallelEmbedding(SIZE + 1, 2, dim=0),
                  lambda: ts.distributed.scatter(torch.ones(SIZE + 1)),
                  lambda: ts.nn.ParallelLinear.convert_parallel_linear(torch.nn.Linear(SIZE + 1, 2), 0)):
        with pytest.raises(ValueError, match=f"is {SIZE + 1}; expected a multiple of the number of ranks, {SIZE}"):
            wrong()
    with pytest.raises(ValueError, match="dim is 3; expected 0 .rows., 1 or -1 .columns., or None"):
        ts.nn.ParallelLinear(SIZE, SIZE, dim=3 if RANK == 0 else 1)
