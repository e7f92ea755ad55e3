# SPDX-License-Identifier: BSD-3-Clause
"""Behaviour of TorchShard in syncyte.compat.torchshard, and defects of TorchShard that it does not have.

test_parallel_layers.py and test_model_state.py test the layers of syncyte.nn on which it is built."""

import copy
import importlib
import inspect
import sys

import numpy
import pytest
import torch
from mpi4py import MPI

import syncyte
from dense import assert_same, random
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
        "ParallelEmbedding": [
            "num_embeddings",
            "embedding_dim",
            "padding_idx",
            "max_norm",
            "norm_type",
            "scale_grad_by_freq",
            "sparse",
            "_weight",
            "dim",
        ],
        "ParallelCrossEntropyLoss": ["weight", "size_average", "ignore_index", "reduce", "reduction"],
        "ParallelCrossEntropy": ["weight", "size_average", "ignore_index", "reduce", "reduction"],
        "RegisterParallelDim": ["dim"],
        "ParallelLinear.convert_parallel_linear": ["module", "dim"],
        "ParallelEmbedding.convert_parallel_embedding": ["module", "dim"],
    },
    "nn.functional": {
        "parallel_linear": ["input", "weight", "bias", "dim"],
        "parallel_cross_entropy": ["input", "target", "weight", "size_average", "ignore_index", "reduce", "reduction"],
        "parallel_embedding": [
            "input",
            "weight",
            "padding_idx",
            "max_norm",
            "norm_type",
            "scale_grad_by_freq",
            "sparse",
            "num_embeddings",
            "dim",
        ],
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
        positional = [
            each.name for each in inspect.signature(function).parameters.values() if each.kind is not each.KEYWORD_ONLY
        ]
        assert positional == parameters, name


def test_install_makes_every_name_the_same_module():
    before = dict(sys.modules)
    try:
        compat.install()
        for name in ("", ".distributed", ".nn", ".nn.functional", ".nn.init", "._tags", "._state"):
            assert importlib.import_module(f"torchshard{name}") is importlib.import_module(
                f"syncyte.compat.torchshard{name}"
            )
        assert sys.modules["torchshard"].nn is sys.modules["torchshard.nn"]
    finally:
        for name in set(sys.modules) - set(before):
            if name.startswith("torchshard"):
                del sys.modules[name]


def test_attributes_have_their_names():
    x = torch.ones(2)
    assert ts.get_parallel_dim(x) is None
    ts.register_parallel_dim(x, -1)
    assert x.parallel_dim == -1
    assert getattr(x, ts._PARALLEL_ATTR) == getattr(x, ts._PARALLEL_DIM) == -1
    ts.register_parallel_dim(x, parallel_dim=0)
    ts.register_parallel_attribute(y := torch.ones(2), 1, 1)
    assert x.parallel_dim == 0
    assert getattr(y, ts._ORDER_TYPE) == y.order_type == 1
    for function, wrong in (
        (ts.register_parallel_dim, (x, 2)),
        (ts.set_attribute, (x, 0, 2)),
        (ts.register_parallel_dim, (3, 0)),
    ):
        with pytest.raises((ValueError, TypeError), match="expected"):
            function(*wrong)
    tagged = ts.nn.RegisterParallelDim(-1)([torch.ones(1), torch.ones(2)])
    assert [ts.get_parallel_dim(each) for each in tagged] == [-1, -1]


def test_slices_are_views_unless_copies_are_asked_for():
    x = torch.arange(12.0).view(2, 6)
    parts = ts.slice(x, 3)
    assert isinstance(parts, tuple)
    assert torch.equal(torch.cat(parts, 1), x)
    assert parts[1].data_ptr() == x[:, 2:].data_ptr()
    assert ts.slice(x, 3, contiguous=True)[1].is_contiguous()
    assert len(ts.slice(x, 2, dim=0)) == 2
    for wrong, error in (
        ((x, 4), "is 6; expected a multiple of num_partitions, 4"),
        ((x, 0), "num_partitions is 0"),
        ((x, 2, 2), "dim is 2; expected -2 to 1"),
    ):
        with pytest.raises((ValueError, IndexError), match=error):
            ts.slice(*wrong)


def test_contiguous_slices_of_columns_have_memory_of_their_own():
    x = torch.zeros(2, 6)
    for each in ts.slice(x, 3, contiguous=True):
        each += 1
    assert not x.any()
    for each in ts.slice(x, 3):
        each += 1
    assert x.eq(1).all()


# Operations.


def test_operations_and_their_gradients():
    x = random(3, 2 * SIZE).requires_grad_()
    part = ts.distributed.scatter(x)
    assert_same(part, x[:, 2 * RANK : 2 * RANK + 2])
    whole = ts.distributed.gather(part)
    assert_same(whole, x)
    (whole * random(3, 2 * SIZE, seed=6)).sum().backward()
    assert_same(x.grad, random(3, 2 * SIZE, seed=6))
    assert ts.get_parallel_dim(part) == -1
    assert ts.get_parallel_dim(whole) is None
    x.grad = None
    before = x.detach().clone()
    (RANK * ts.distributed.copy(x)).sum().backward()  # TorchShard's copy corrupted the heap
    assert_same(x.grad, torch.full_like(x, SIZE * (SIZE - 1) / 2))
    assert torch.equal(x, before)
    y = (RANK * x).detach().requires_grad_()
    total = ts.distributed.reduce(y)
    total.sum().backward()
    assert_same(total, x * (SIZE * (SIZE - 1) / 2))
    assert_same(y.grad, torch.ones_like(y))


def test_a_sum_is_in_place_where_no_gradient_is_recorded():
    x = torch.full((2,), 1.0 + RANK)
    assert ts.distributed.reduce(x) is x
    assert x.tolist() == [SIZE * (SIZE + 1) / 2] * 2
    with torch.no_grad():
        leaf = torch.ones(2, requires_grad=True)
        assert ts.distributed.reduce(leaf) is leaf
        assert leaf.tolist() == [SIZE] * 2
    y = torch.ones(2, requires_grad=True)
    assert ts.distributed.reduce(y) is not y
    assert y.tolist() == [1, 1]


ADJOINTS = {  # the operation, its adjoint, and whether its input is a whole tensor, equal on all ranks
    "copy": (ts.distributed.copy, ts.distributed.reduce, True),
    "reduce": (ts.distributed.reduce, ts.distributed.copy, False),
    "scatter": (ts.distributed.scatter, ts.distributed.gather, True),
    "gather": (ts.distributed.gather, ts.distributed.scatter, False),
}


def product(x: torch.Tensor, y: torch.Tensor, whole: bool) -> float:
    """Scalar product: a whole tensor counts once; parts and summands of all ranks are added up."""
    own = (x.detach() * y).sum().item()
    return own if whole else WORLD.allreduce(own)


@pytest.mark.parametrize("name", ADJOINTS)
def test_either_operation_of_a_pair_is_the_others_adjoint(name):
    operation, adjoint, whole = ADJOINTS[name]
    x = random(3, 4 * SIZE, seed=5 if whole else 5 + RANK).requires_grad_()
    result = operation(x)
    y = random(*result.shape, seed=50 + RANK if whole else 50)
    result.backward(y)
    assert product(result, y, not whole) == pytest.approx(product(x, x.grad, whole), rel=1e-12)
    assert_same(x.grad, adjoint(y.clone()))


def test_results_are_tagged_only_where_they_are_parts():
    x = torch.ones(SIZE, SIZE, SIZE)
    assert [ts.get_parallel_dim(ts.distributed.scatter(x, dim)) for dim in (0, 1, -1, 2)] == [0, 1, -1, None]
    ts.register_parallel_dim(x, -1)
    assert ts.get_parallel_dim(ts.distributed.gather(x)) is None
    assert ts.get_parallel_dim(ts.distributed.reduce(x)) is None


# Layers.

STORED = {None: None, 1: 0, -1: 0, 0: 1}  # the dimension along which a linear map's weight is cut


def part(tensor, dim):
    return tensor if dim is None else tensor.chunk(SIZE, dim)[RANK]


@pytest.mark.parametrize(
    "dim, weight, bias",
    [
        (None, [15 * SIZE, 10 * SIZE], [15 * SIZE]),
        (1, [15, 10 * SIZE], [15]),
        (-1, [15, 10 * SIZE], [15]),
        (0, [15 * SIZE, 10], [15 * SIZE]),
    ],
)
def test_a_linear_maps_parts_have_torchs_layout(dim, weight, bias):
    layer = ts.nn.ParallelLinear(10 * SIZE, 15 * SIZE, dim=dim)
    assert [list(layer.weight.shape), list(layer.bias.shape)] == [weight, bias]
    assert ts.nn.ParallelLinear(10 * SIZE, 15 * SIZE, bias=False, dim=dim).bias is None


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


def test_rows_know_a_detached_part():
    down = ts.nn.ParallelLinear(4 * SIZE, 3, dim=0)
    whole = torch.randn(2, 4 * SIZE, generator=torch.Generator().manual_seed(1))
    detached = ts.distributed.scatter(whole).detach()
    assert ts.get_parallel_dim(detached) is None
    assert torch.equal(down(detached), down(whole))


@pytest.mark.parametrize(
    "dim, shape", [(None, [4 * SIZE, 2 * SIZE]), (0, [4, 2 * SIZE]), (1, [4 * SIZE, 2]), (-1, [4 * SIZE, 2])]
)
def test_an_embeddings_parts_have_torchs_layout(dim, shape):
    assert list(ts.nn.ParallelEmbedding(4 * SIZE, 2 * SIZE, dim=dim).weight.shape) == shape


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("padding", [0, 4 * SIZE - 1, -1, -4 * SIZE])
def test_the_row_of_padding_has_no_gradient_wherever_it_is(dim, padding):
    torch.manual_seed(4)
    layer = ts.nn.ParallelEmbedding(4 * SIZE, SIZE, padding_idx=padding, dim=dim)
    layer(torch.arange(4 * SIZE)).sum().backward()
    expected = torch.ones(4 * SIZE, SIZE)
    expected[padding] = 0
    assert torch.equal(layer.weight.grad, part(expected, abs(dim)))
    assert not ts.collect_state_dict(layer)["weight"][padding].any()


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
    assert ts.get_parallel_dim(layer.weight) == dim
    assert layer.weight.order_type == 1
    with pytest.raises(ValueError, match="_weight is of shape"):
        ts.nn.ParallelEmbedding(4 * SIZE, 3 * SIZE, _weight=table, dim=dim)
    if dim == 0:
        with pytest.raises(ValueError, match=f"num_embeddings is {SIZE}; expected {4 * SIZE}"):
            F.parallel_embedding(index, layer.weight, num_embeddings=SIZE, dim=0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"reduction": "none"},
        {"reduction": "sum"},
        {"ignore_index": 2},
        {"size_average": False},
        {"reduce": False},
        {"weight": 1},
    ],
)
def test_cross_entropy_equals_torchs(options):
    if "weight" in options:
        options = {"weight": random(3 * SIZE).abs()}
    logits, target = random(6, 3 * SIZE), torch.arange(6) % (3 * SIZE)
    mine, whole = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    criterion = ts.nn.ParallelCrossEntropyLoss(**options)
    loss, expected = (
        criterion(ts.distributed.scatter(mine), target),
        torch.nn.CrossEntropyLoss(**options)(whole, target),
    )
    assert_same(loss, expected)
    loss.sum().backward()
    expected.sum().backward()
    assert_same(mine.grad, whole.grad)
    assert_same(criterion(logits, target), expected)  # without the attribute the loss is torch's


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("ignored", [-100, 1, 255])
def test_cross_entropy_with_weight_and_ignored_targets_equals_torchs(ignored, reduction):
    """TorchShard's loss ignored the weights, failed for ignored targets, and added a dimension for "none"."""
    options = {"weight": random(3 * SIZE).abs(), "ignore_index": ignored, "reduction": reduction}
    logits, target = random(6, 3 * SIZE), torch.tensor([0, 1, ignored, 3 * SIZE - 1, ignored, 2])
    mine, whole = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    loss = F.parallel_cross_entropy(ts.distributed.scatter(mine), target, **options)
    expected = torch.nn.functional.cross_entropy(whole, target, **options)
    assert loss.shape == expected.shape == ((6,) if reduction == "none" else ())
    assert_same(loss, expected)
    loss.sum().backward()
    expected.sum().backward()
    assert_same(mine.grad, whole.grad)


@pytest.mark.filterwarnings("ignore:size_average and reduce args will be deprecated")
@pytest.mark.parametrize("size_average", [None, False, True])
@pytest.mark.parametrize("reduce", [None, False, True])
def test_cross_entropy_knows_what_reduction_was_called_before(size_average, reduce):
    logits, target = random(6, 3 * SIZE), torch.arange(6) % (3 * SIZE)
    options = {"size_average": size_average, "reduce": reduce}
    expected = torch.nn.functional.cross_entropy(logits, target, **options)
    assert_same(F.parallel_cross_entropy(ts.distributed.scatter(logits), target, **options), expected)
    assert_same(ts.nn.ParallelCrossEntropy(**options)(ts.distributed.scatter(logits), target), expected)


def test_a_classifier_with_its_loss_equals_the_dense_one():
    torch.manual_seed(2)
    head = ts.nn.ParallelLinear(5, 3 * SIZE, dim=-1).double()
    torch.manual_seed(2)
    dense = torch.nn.Linear(5, 3 * SIZE).double()
    x, y = random(4, 5).requires_grad_(), random(4, 5).requires_grad_()
    target = torch.tensor([0, 3 * SIZE - 1, 2, 1])
    loss, expected = ts.nn.ParallelCrossEntropy()(head(x), target), torch.nn.CrossEntropyLoss()(dense(y), target)
    loss.backward()
    expected.backward()
    assert_same(loss, expected)
    assert_same(x.grad, y.grad)
    assert_same(head.weight.grad, part(dense.weight.grad, 0))


@pytest.mark.parametrize("dim", [None, 0, 1, -1])
def test_parts_of_what_an_initializer_gives_the_first_rank(dim):
    layer = ts.nn.ParallelLinear(2 * SIZE, 3 * SIZE, dim=dim)
    torch.manual_seed(RANK)
    ts.nn.init.shard_init_helper_(torch.nn.init.normal_, layer.weight.data, std=2.0)  # .data has no such attribute
    ts.nn.init.shard_init_helper_(torch.nn.init.uniform_, layer.bias)
    torch.manual_seed(0)
    weight, bias = torch.nn.init.normal_(torch.empty(3 * SIZE, 2 * SIZE), std=2.0), torch.empty(3 * SIZE).uniform_()
    assert torch.equal(layer.weight, part(weight, STORED[dim]))
    assert torch.equal(layer.bias, part(bias, 0 if STORED[dim] == 0 else None))
    local = ts.nn.init.shard_init_helper_(torch.nn.init.constant_, torch.empty(3), val=RANK)
    assert local.tolist() == [RANK] * 3


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_parts_of_what_an_initializer_gives_for_a_table(dim):
    layer = ts.nn.ParallelEmbedding(2 * SIZE, 3 * SIZE, dim=dim)
    torch.manual_seed(RANK)
    assert ts.nn.init.shard_init_helper_(torch.nn.init.xavier_uniform_, layer.weight, gain=2.0) is layer.weight
    torch.manual_seed(0)
    expected = torch.nn.init.xavier_uniform_(torch.empty(2 * SIZE, 3 * SIZE), gain=2.0)  # fans of the whole
    assert torch.equal(layer.weight, part(expected, abs(dim)))


# State.


class Nested(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Sequential(
            torch.nn.Linear(2, 2 * SIZE), torch.nn.Sequential(torch.nn.Linear(2 * SIZE, 2))
        )
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
    assert plain.inner[0].weight.shape == (2 * SIZE, 2)
    assert ts.register_ddp_parameters_to_ignore(plain) == []
    alone = ts.nn.ParallelLinear.convert_parallel_linear(torch.nn.Linear(2, SIZE), 1)
    assert isinstance(alone, ts.nn.ParallelLinear)


@pytest.mark.parametrize("change", [lambda model: model, copy.deepcopy])
def test_whole_state_and_back(change):
    model, whole = change(converted_first(1)), nested().state_dict()
    assert ts.get_parallel_dim(model.inner[0].weight) == 1  # also for a copy
    collected = ts.collect_state_dict(model, model.state_dict(), prefix="model.")
    assert_state(collected, {f"model.{key}": value for key, value in whole.items()})
    assert_state(
        ts.collect_state_dict(model, {f"module.{key}": value for key, value in model.state_dict().items()}),
        {f"module.{key}": value for key, value in whole.items()},
    )
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
    assert collected["table.weight"].shape == (2 * SIZE, 3)
    assert collected["head.weight"] is collected["table.weight"]
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
    assert collected["mean"].tolist() == ranks
    assert collected["kernel"][2].tolist() == ranks
    assert_state(ts.relocate_state_dict(model, collected), model.state_dict())
    assert ts.register_ddp_parameters_to_ignore(model) == ["kernel", "mean"]


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


def test_only_parallel_layers_are_hidden_from_distributed_data_parallel():
    layers = {
        "dense": torch.nn.Linear(SIZE, SIZE),
        "whole": ts.nn.ParallelLinear(SIZE, SIZE),
        "rows": ts.nn.ParallelLinear(SIZE, SIZE, dim=0),
        "table": ts.nn.ParallelEmbedding(SIZE, SIZE, dim=-1),
    }
    model = torch.nn.ModuleDict(layers)
    names = ["rows.weight", "rows.bias", "table.weight"]
    assert ts.register_ddp_parameters_to_ignore(model) == model._ddp_params_and_buffers_to_ignore == names


def test_a_second_conversion_lists_the_layers_of_both():
    model = torch.nn.Sequential(torch.nn.Embedding(SIZE, SIZE), torch.nn.Linear(SIZE, SIZE), torch.nn.LayerNorm(SIZE))
    ts.nn.ParallelLinear.convert_parallel_linear(model, 1)
    assert model._ddp_params_and_buffers_to_ignore == ["1.weight", "1.bias"]
    ts.nn.ParallelEmbedding.convert_parallel_embedding(model, 0)
    assert model._ddp_params_and_buffers_to_ignore == ["0.weight", "1.weight", "1.bias"]


def test_conversion_of_embeddings_reaches_every_depth():
    model = torch.nn.Sequential(torch.nn.ModuleDict({"a": torch.nn.ModuleList([torch.nn.Embedding(2 * SIZE, 3, 1)])}))
    expected = copy.deepcopy(model.state_dict())
    ts.nn.ParallelEmbedding.convert_parallel_embedding(model, 0)
    layer = model[0]["a"][0]
    assert type(layer) is ts.nn.ParallelEmbedding
    assert layer.weight.shape == (2, 3)
    assert layer.padding_idx == 1
    assert_state(ts.collect_state_dict(model), expected)


def test_a_wrapped_models_state_is_collected_and_relocated():
    """DistributedDataParallel prefixes a model's names with "module."; the state may have the prefix or not."""
    wrapper = torch.nn.Module()
    wrapper.module = converted_first(1)
    whole = nested().state_dict()
    with_prefix = {f"module.{key}": value for key, value in whole.items()}
    assert_state(ts.collect_state_dict(wrapper), with_prefix)
    assert_state(ts.collect_state_dict(wrapper, wrapper.module.state_dict()), whole)
    assert_state(ts.relocate_state_dict(wrapper, with_prefix), wrapper.state_dict())
    assert_state(ts.relocate_state_dict(wrapper, whole), wrapper.module.state_dict())
    assert_state(ts.relocate_state_dict(wrapper.module, with_prefix), wrapper.state_dict())


def test_a_deep_copy_is_a_model_of_its_own():
    model = converted_first(1)
    copied = copy.deepcopy(model)
    assert_state(ts.collect_state_dict(copied), ts.collect_state_dict(model))
    with torch.no_grad():
        for parameter in copied.parameters():
            parameter.zero_()
    assert_state(ts.collect_state_dict(model), nested().state_dict())
    assert not any(value.any() for value in ts.collect_state_dict(copied).values())
    names = ts.register_ddp_parameters_to_ignore(model)
    assert ts.register_ddp_parameters_to_ignore(copied) == names != []


def test_only_one_rank_has_to_have_the_memory_for_the_whole():
    """TorchShard's function gives the state to all ranks. syncyte.nn's accepts TorchShard's layers, and a root."""
    model = converted_first(1)
    collected = syncyte.nn.collect_state_dict(model, root=0)
    if RANK == 0:
        assert_state(collected, nested().state_dict())
    else:
        assert collected == {}


def test_state_without_the_prefix_is_left_out():
    layer = ts.nn.ParallelLinear(2, 2 * SIZE, dim=1)
    whole = ts.collect_state_dict(layer, layer.state_dict(keep_vars=True), prefix="a.")
    others = {"b.weight": torch.ones(1), "weight": torch.ones(2)}
    relocated = ts.relocate_state_dict(layer, {**whole, **others}, prefix="a.")
    assert_state(relocated, layer.state_dict())
    with pytest.raises(ValueError, match="without the key 'b.weight'"):
        ts.relocate_state_dict(layer, whole, prefix="b.")


# Groups.


def test_a_group_smaller_than_the_world():
    if SIZE % 2 != 0:
        return
    ts.distributed.destroy_process_group()
    assert not ts.distributed.is_initialized()
    ts.distributed.init_process_group(group_size=2)
    assert (ts.distributed.get_rank(), ts.distributed.get_group_size()) == (RANK % 2, 2)
    assert ts.distributed.get_world_size() == SIZE
    assert ts.distributed.get_group().size == 2
    layer = ts.nn.ParallelLinear(3, 4, dim=1)
    assert layer.weight.shape == (2, 3)
    assert ts.collect_state_dict(layer)["weight"].shape == (4, 3)
    assert ts.distributed.gather(torch.tensor([RANK])).tolist() == [RANK // 2 * 2, RANK // 2 * 2 + 1]


@pytest.mark.parametrize("group_size", [size for size in range(1, SIZE + 1) if SIZE % size == 0])
def test_each_group_has_a_model_of_its_own(group_size):
    """TorchShard used ranks of the world as ranks of the group."""
    ts.distributed.destroy_process_group()
    ts.distributed.init_process_group(group_size)
    group, own = divmod(RANK, group_size)
    assert (ts.distributed.get_rank(), ts.distributed.get_group_size()) == (own, group_size)
    torch.manual_seed(group)
    layer = ts.nn.ParallelLinear(2 * group_size, 3, dim=0).double()
    torch.manual_seed(group)
    dense = torch.nn.Linear(2 * group_size, 3).double()
    x, y = [random(4, 2 * group_size, seed=group).requires_grad_() for _ in range(2)]
    result, expected = layer(x), dense(y)
    assert_same(result, expected)
    result.square().sum().backward()
    expected.square().sum().backward()
    assert_same(x.grad, y.grad)
    assert_same(layer.weight.grad, dense.weight.grad.chunk(group_size, 1)[own])
    assert_state(ts.collect_state_dict(layer), dense.state_dict())
    assert_state(ts.relocate_state_dict(layer, dense.state_dict()), layer.state_dict())
    torch.manual_seed(RANK)
    ts.nn.init.shard_init_helper_(torch.nn.init.normal_, layer.bias)
    torch.manual_seed(group * group_size)
    assert torch.equal(layer.bias, torch.empty(3, dtype=torch.float64).normal_())


def test_all_ranks_are_the_group_by_default():
    ts.distributed.destroy_process_group()
    ts.distributed.init_process_group()
    assert ts.distributed.get_group_size() == SIZE
    assert ts.distributed.get_group() == syncyte.COMM_WORLD
    ts.distributed.destroy_process_group()
    ts.distributed.init_process_group(group_size=10 * SIZE)
    assert ts.distributed.get_group_size() == SIZE


def test_what_comes_before_init_process_group_says_so():
    ts.distributed.destroy_process_group()
    for function in (
        ts.distributed.get_rank,
        ts.distributed.get_group,
        lambda: ts.nn.ParallelLinear(2, 2, dim=1),
        lambda: ts.distributed.scatter(torch.ones(SIZE)),
    ):
        with pytest.raises(RuntimeError, match="call torchshard.distributed.init_process_group"):
            function()
    ts.nn.ParallelLinear(2, 2)(torch.ones(1, 2))  # a dense layer needs no group


def test_groups_that_cannot_be_are_errors_of_all_ranks():
    last = RANK == SIZE - 1
    with pytest.raises(RuntimeError, match="initialized already"):
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
    for wrong in (
        lambda: ts.nn.ParallelLinear(2, SIZE + 1, dim=1),
        lambda: ts.nn.ParallelEmbedding(SIZE + 1, 2, dim=0),
        lambda: ts.distributed.scatter(torch.ones(SIZE + 1)),
        lambda: ts.nn.ParallelLinear.convert_parallel_linear(torch.nn.Linear(SIZE + 1, 2), 0),
    ):
        with pytest.raises(ValueError, match=f"is {SIZE + 1}; expected a multiple of the number of ranks, {SIZE}"):
            wrong()
    with pytest.raises(ValueError, match="dim is 3; expected 0 .rows., 1 or -1 .columns., or None"):
        ts.nn.ParallelLinear(SIZE, SIZE, dim=3 if RANK == 0 else 1)


MISTAKES = {  # calls that are wrong if `bad`, which is so on the last rank
    "a linear map's dim": (ValueError, lambda bad: ts.nn.ParallelLinear(SIZE, SIZE, dim=2 if bad else 0)),
    "a table's dim": (ValueError, lambda bad: ts.nn.ParallelEmbedding(SIZE, SIZE, dim=-2 if bad else 0)),
    "a conversion's dim": (
        ValueError,
        lambda bad: ts.nn.ParallelLinear.convert_parallel_linear(torch.nn.Linear(SIZE, SIZE), 5 if bad else 1),
    ),
    "a function's dim": (
        ValueError,
        lambda bad: F.parallel_linear(torch.ones(1, SIZE), torch.ones(SIZE, 1), None, 3 if bad else 0),
    ),
    "a table's whole length": (
        ValueError,
        lambda bad: F.parallel_embedding(torch.tensor([0]), torch.ones(2, 2), num_embeddings=2 * SIZE + bad, dim=0),
    ),
    "an index": (
        IndexError,
        lambda bad: F.parallel_embedding(torch.tensor([2 * SIZE - 1 + bad]), torch.ones(2, 2), dim=0),
    ),
    "a width": (ValueError, lambda bad: F.parallel_linear(torch.ones(1, 2 + bad), torch.ones(1, 2), None, 1)),
    "scatter's dim": (IndexError, lambda bad: ts.distributed.scatter(torch.ones(SIZE, SIZE), 2 if bad else 0)),
    "gather's dim": (IndexError, lambda bad: ts.distributed.gather(torch.ones(SIZE, SIZE), -3 if bad else 0)),
    "what to copy": (TypeError, lambda bad: ts.distributed.copy(3 if bad else torch.ones(2))),
    "what to sum": (TypeError, lambda bad: ts.distributed.reduce(None if bad else torch.ones(2))),
    "a class": (
        IndexError,
        lambda bad: F.parallel_cross_entropy(
            ts.distributed.scatter(torch.ones(1, SIZE)), torch.tensor([SIZE - 1 + bad])
        ),
    ),
    "a reduction": (
        ValueError,
        lambda bad: F.parallel_cross_entropy(
            ts.distributed.scatter(torch.ones(1, SIZE)), torch.tensor([0]), reduction="average" if bad else "mean"
        ),
    ),
    "the weights' number": (
        ValueError,
        lambda bad: F.parallel_cross_entropy(
            ts.distributed.scatter(torch.ones(1, SIZE)), torch.tensor([0]), torch.ones(SIZE + bad)
        ),
    ),
    "a key to relocate": (
        ValueError,
        lambda bad: ts.relocate_state_dict(
            ts.nn.ParallelLinear(1, SIZE, False, dim=1), {"wait" if bad else "weight": torch.ones(SIZE, 1)}
        ),
    ),
    "a key to collect": (
        ValueError,
        lambda bad: ts.collect_state_dict(
            ts.nn.ParallelLinear(1, SIZE, False, dim=1), {"wait" if bad else "weight": torch.ones(1, 1)}
        ),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_one_ranks_mistake_is_every_ranks_error(name):
    expected, call = MISTAKES[name]
    call(False)
    with pytest.raises(expected):  # other ranks may raise the built-in class
        call(RANK == SIZE - 1)
    assert ts.distributed.reduce(torch.ones(1)).item() == SIZE  # the group still works


def test_a_rank_that_is_initialized_already_is_every_ranks_error():
    if RANK != SIZE - 1:
        ts.distributed.destroy_process_group()
    with pytest.raises(RuntimeError, match="initialized already"):
        ts.distributed.init_process_group()
    assert ts.distributed.is_initialized() == (RANK == SIZE - 1)


def test_all_names_of_a_tied_parameter_are_hidden_from_distributed_data_parallel():
    table = ts.nn.ParallelEmbedding(2 * SIZE, 3, dim=0)
    head = ts.nn.ParallelLinear(3, 2 * SIZE, bias=False, dim=1)
    head.weight = table.weight
    names = ts.register_ddp_parameters_to_ignore(torch.nn.ModuleDict({"table": table, "head": head}))
    assert names == ["table.weight", "head.weight"]


def test_an_assigned_parameter_is_hidden_from_distributed_data_parallel():
    layer = ts.nn.ParallelLinear(3, 2 * SIZE, dim=1)
    layer.weight = torch.nn.Parameter(torch.zeros(2, 3))
    assert ts.register_ddp_parameters_to_ignore(layer) == ["weight", "bias"]
    assert ts.register_ddp_parameters_to_ignore(Own()) == ["kernel", "mean"]


def test_layers_keep_their_group():
    layer, criterion = ts.nn.ParallelLinear(3, 2 * SIZE, dim=1), ts.nn.ParallelCrossEntropyLoss()
    x, target = torch.ones(1, 3, requires_grad=True), torch.tensor([0])
    criterion(layer(x), target).backward()
    expected, x.grad = x.grad, None
    ts.distributed.destroy_process_group()
    criterion(layer(x), target).backward()
    torch.testing.assert_close(x.grad, expected)
    x.grad = None
    ts.distributed.init_process_group(1)
    criterion(layer(x), target).backward()
    torch.testing.assert_close(x.grad, expected)


def test_an_init_method_that_fails_on_one_rank_is_every_ranks_error():
    layer = ts.nn.ParallelLinear(SIZE, SIZE, dim=0)

    def fill(tensor: torch.Tensor) -> None:
        if RANK == SIZE - 1:
            raise ValueError("no numbers left")

    with pytest.raises(ValueError, match="no numbers left"):
        ts.nn.init.shard_init_helper_(fill, layer.weight)
    ts.nn.init.shard_init_helper_(torch.nn.init.ones_, layer.weight)


def test_a_dim_may_be_any_integer():
    layer = ts.nn.ParallelLinear(SIZE, SIZE, dim=numpy.int64(0))
    assert ts.get_parallel_dim(layer.weight) == 0
    assert layer(torch.ones(1, SIZE)).shape == (1, SIZE)
