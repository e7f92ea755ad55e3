# SPDX-License-Identifier: BSD-3-Clause
"""collect_state_dict, relocate_state_dict, convert and mark_sharded of syncyte.nn: tied, nested, copied and wrapped
models with buffers, on the ranks of a communicator; files that other numbers of ranks load."""

import copy
import re
import warnings

import pytest
import torch
from mpi4py import MPI

import syncyte
from syncyte import nn
from syncyte._layouts import counts_of

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank


class Block(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(width)  # buffers, one of them a number
        self.up = torch.nn.Linear(width, 2 * width)
        self.down = torch.nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Model(torch.nn.Module):
    """Nested, with a tied table."""

    def __init__(self, ranks: int = SIZE, width: int = 2) -> None:
        super().__init__()
        width *= ranks
        self.table = torch.nn.Embedding(3 * ranks, width)
        self.blocks = torch.nn.ModuleList([Block(width) for _ in range(2)])
        self.head = torch.nn.Linear(width, 3 * ranks, bias=False)
        self.head.weight = self.table.weight
        self.register_buffer("scale", torch.arange(width, dtype=torch.float64))
        self.double()

    def forward(self, index: torch.Tensor) -> torch.Tensor:
        x = self.table(index) * self.scale
        for block in self.blocks:
            x = block(x)
        return self.head(x)


PLAN = {"table": 0, "blocks.*.up": 1, "blocks.*.down": 0, "head": -1}
CUT = [f"blocks.{i}.{name}" for i in range(2) for name in ("up.weight", "up.bias", "down.weight")]
CUT += ["table.weight", "head.weight"]


def dense_model() -> Model:
    torch.manual_seed(4)
    return Model()


def parallel_model(comm: syncyte.Comm = syncyte.COMM_WORLD) -> Model:
    torch.manual_seed(4)
    return nn.convert(Model(comm.size), PLAN, comm=comm)


def assert_equal(found, expected) -> None:
    assert list(found) == list(expected)
    for key in expected:
        assert torch.equal(found[key], expected[key]), key


# From dense layers.


def test_a_converted_model_computes_what_the_dense_one_does(comm):
    dense, parallel = dense_model(), parallel_model()
    index = torch.arange(7) % (3 * SIZE)
    target = (index + 1) % (3 * SIZE)  # not the tied row, for which the loss would be inexact
    expected = torch.nn.functional.cross_entropy(dense(index), target)
    loss = nn.ParallelCrossEntropy()(parallel(index), target)
    torch.testing.assert_close(loss, expected, rtol=1e-12, atol=0)
    expected.backward()
    loss.backward()
    gradients = {name: parameter.grad for name, parameter in dense.named_parameters()}
    own = nn.relocate_state_dict(parallel, dense.state_dict() | gradients)
    for name, parameter in parallel.named_parameters():
        torch.testing.assert_close(parameter.grad, own[name], rtol=1e-11, atol=1e-13)


def test_tied_parameters_stay_tied(comm):
    model = parallel_model()
    assert model.head.weight is model.table.weight
    collected = nn.collect_state_dict(model)
    assert collected["head.weight"] is collected["table.weight"]


def test_parameters_keep_what_they_were(comm):
    model = dense_model().eval()
    model.blocks[0].up.weight.requires_grad_(False)
    nn.convert(model, {"blocks.0.up": 1})
    assert not model.blocks[0].up.weight.requires_grad
    assert model.blocks[0].up.bias.requires_grad
    assert not model.blocks[0].up.training
    assert type(model.blocks[1].up) is torch.nn.Linear
    layer = torch.nn.Linear(SIZE, SIZE)
    assert isinstance(nn.convert(layer, {"": 1}), nn.ParallelLinear)
    assert nn.convert(model, {"blocks.1.*": None}) is model
    assert type(model.blocks[1].up) is torch.nn.Linear


def test_an_encoder_layer_calls_its_layers_in_evaluation_too(comm):
    """torch's fast path would use a part in place of the whole weight."""
    torch.manual_seed(5)
    dense = torch.nn.TransformerEncoderLayer(4, 2, 2 * SIZE, batch_first=True, dtype=torch.float64).eval()
    model = nn.convert(copy.deepcopy(dense), {"linear1": 1, "linear2": 0})
    x = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        torch.testing.assert_close(model(x), dense(x), rtol=1e-12, atol=1e-12)


def encoder_layer() -> torch.nn.TransformerEncoderLayer:
    torch.manual_seed(5)
    return torch.nn.TransformerEncoderLayer(4, 2, 2 * SIZE, batch_first=True, dtype=torch.float64).eval()


def test_an_encoder_layer_calls_layers_that_were_put_there_by_hand(comm):
    dense, model = encoder_layer(), encoder_layer()
    model.linear1 = nn.ParallelLinear.from_dense(model.linear1, dim=1)
    model.linear2 = nn.ParallelLinear.from_dense(model.linear2, dim=0)
    x = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        torch.testing.assert_close(copy.deepcopy(model).eval()(x), dense(x), rtol=1e-12, atol=1e-12)


def test_an_encoder_takes_a_padding_mask_in_evaluation(comm):
    dense = torch.nn.TransformerEncoder(encoder_layer(), 2).eval()
    model = nn.convert(copy.deepcopy(dense), {"layers.*.linear1": 1, "layers.*.linear2": 0})
    x = torch.randn(2, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    padding = torch.tensor([[False, False, False], [False, False, True]])
    with torch.no_grad():
        found, expected = (each(x, src_key_padding_mask=padding) for each in (model, dense))
    torch.testing.assert_close(found[~padding], expected[~padding], rtol=1e-12, atol=1e-12)


def test_hooks_stay(comm):
    layer = torch.nn.Linear(SIZE, SIZE)
    seen = []
    layer.register_forward_hook(lambda module, given, result: seen.append(type(module)))
    layer.register_forward_pre_hook(lambda module, given: seen.append("before"))
    nn.convert(layer, {"": 0})(torch.ones(1, SIZE))
    assert seen == ["before", nn.ParallelLinear]


WRONG_PLANS = {
    "plan.*'blocks'.* is a ModuleList; expected a Linear or an Embedding": {"blocks": 1},
    "plan is of 'nothing', which matches no layer": {"blocks.0.up": 1, "nothing": 0},
    "dim is 3; expected 0": {"blocks.0.up": 3},
    r"head.weight is whole; expected in the plan as well, because it is tied to table.weight": {"table": 0},
    "head.weight is cut along dimension 1; expected cut along dimension 0": {"table": 0, "head": 0},
    "plan is 5; expected a mapping": 5,
}


@pytest.mark.parametrize("text", WRONG_PLANS)
def test_a_wrong_plan_of_one_rank_changes_nothing_anywhere(comm, text):
    model = dense_model()
    plan = WRONG_PLANS[text] if RANK == SIZE - 1 else PLAN
    with pytest.raises((ValueError, TypeError), match=text):
        nn.convert(model, plan)
    assert all(type(module) is not nn.ParallelLinear for module in model.modules())
    assert_equal(model.state_dict(), dense_model().state_dict())


def tied_biases() -> torch.nn.Sequential:
    model = torch.nn.Sequential(torch.nn.Linear(SIZE, SIZE), torch.nn.Linear(SIZE, SIZE), torch.nn.LayerNorm(SIZE))
    model[1].bias = model[2].bias = model[0].bias
    return model


def with_old_weight_norm() -> torch.nn.Sequential:
    model = torch.nn.Sequential(torch.nn.Linear(SIZE, SIZE), torch.nn.Linear(SIZE, SIZE))
    model[1] = torch.nn.utils.weight_norm(model[1])
    return model


IMPOSSIBLE = {
    "1.bias is whole; expected cut along dimension 0, as 0.bias": (tied_biases, {"0": 1, "1": 0}),
    "2.bias is whole; expected in the plan as well, because it is tied to 0.bias": (tied_biases, {"[01]": 1}),
    "max_norm is 1.0; expected None if columns are cut": (
        lambda: torch.nn.Sequential(torch.nn.Linear(SIZE, SIZE), torch.nn.Embedding(3, SIZE, max_norm=1.0)),
        {"*": 1},
    ),
    "dense.weight is computed from other parameters": (with_old_weight_norm, {"*": 1}),
}


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("text", IMPOSSIBLE)
def test_layers_that_cannot_be_cut_change_nothing(comm, text):
    make, plan = IMPOSSIBLE[text]
    model = make()
    with pytest.raises((ValueError, TypeError), match=text):
        nn.convert(model, plan)
    assert not any(isinstance(each, (nn.ParallelLinear, nn.ParallelEmbedding)) for each in model)


def test_models_that_differ_change_nothing(comm):
    if SIZE == 1:
        return
    last = RANK == SIZE - 1
    for second in (torch.nn.Linear(SIZE, 3, bias=not last), torch.nn.Linear(SIZE, 3 + last)):
        model = torch.nn.Sequential(torch.nn.Linear(SIZE, SIZE), second)
        with pytest.raises(ValueError, match="checksum of the plan"):
            nn.convert(model, {"*": 0})
        assert type(model[0]) is torch.nn.Linear


def test_plans_that_differ_are_an_error(comm):
    if SIZE > 1:
        with pytest.raises(ValueError, match="checksum of the plan|layers is"):
            nn.convert(dense_model(), {"blocks.0.up": 1 if RANK == 0 else -1, "blocks.0.down": 0 if RANK == 0 else 1})
        with pytest.raises(ValueError, match="expected a multiple of the number of ranks"):
            nn.convert(torch.nn.Linear(SIZE + 1, SIZE), {"": 0})


# Collecting.


@pytest.mark.parametrize("change", ["", "copied", "copied twice", "moved", "after a step"])
def test_collected_state_is_the_dense_models(comm, change):
    model = parallel_model()
    if change.startswith("copied"):
        model = copy.deepcopy(model)
    if change == "copied twice":
        model = copy.deepcopy(model)
    if change == "moved":
        model = model.to("cpu").double().requires_grad_(False).eval()
    if change == "after a step":
        torch.optim.SGD(model.parameters(), lr=0.1).step()
    assert_equal(nn.collect_state_dict(model), dense_model().state_dict())


def test_collected_state_is_roots_alone_where_there_is_one(comm):
    collected = nn.collect_state_dict(parallel_model(), root=SIZE - 1, prefix="model.")
    if RANK == SIZE - 1:
        assert_equal(collected, {f"model.{key}": value for key, value in dense_model().state_dict().items()})
    else:
        assert collected == {}


def test_collected_tensors_are_new_and_need_no_gradient(comm):
    model = parallel_model()
    collected = nn.collect_state_dict(model, model.state_dict(keep_vars=True))
    for key in CUT:
        assert not collected[key].requires_grad
        collected[key].zero_()
    assert_equal(nn.collect_state_dict(model), dense_model().state_dict())


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "module._orig_mod."])
def test_names_that_wrappers_prepend_do_not_matter(comm, prefix):
    model, expected = parallel_model(), dense_model().state_dict()
    wrapped = {prefix + key: value for key, value in model.state_dict().items()}
    assert_equal(nn.collect_state_dict(model, wrapped), {prefix + key: expected[key] for key in expected})
    outer = torch.nn.Module()
    outer.module = model
    assert_equal(nn.collect_state_dict(outer, model.state_dict()), expected)
    relocated = nn.relocate_state_dict(model, {prefix + key: expected[key] for key in expected})
    assert_equal(relocated, wrapped)


def test_a_compiled_model_is_known(comm):
    model = torch.compile(parallel_model(), backend="eager")
    collected = nn.collect_state_dict(model)
    assert_equal({key.removeprefix("_orig_mod."): collected[key] for key in collected}, dense_model().state_dict())


def test_a_model_without_parallel_layers_is_left_as_it_is():
    model = dense_model()
    assert_equal(nn.collect_state_dict(model), model.state_dict())
    assert_equal(nn.relocate_state_dict(model, model.state_dict()), model.state_dict())


# Relocating.


def test_relocated_state_is_this_ranks(comm):
    model = parallel_model()
    expected = {key: value.clone() for key, value in model.state_dict().items()}
    whole = dense_model().state_dict()
    relocated = nn.relocate_state_dict(
        model, {f"model.{key}": value for key, value in whole.items()} | {"step": 3}, "model."
    )
    assert_equal(relocated, expected)
    for parameter in model.parameters():
        parameter.data.zero_()
    assert model.load_state_dict(relocated) == ([], [])
    assert_equal(model.state_dict(), expected)
    relocated["blocks.0.up.weight"].zero_()  # separate memory
    assert torch.equal(whole["blocks.0.up.weight"], dense_model().state_dict()["blocks.0.up.weight"])


def test_keys_that_the_model_does_not_have_stay(comm):
    model = parallel_model()
    relocated = nn.relocate_state_dict(model, dense_model().state_dict() | {"more": torch.ones(3), "step": 3})
    assert relocated["more"].sum() == 3
    assert relocated["step"] == 3


def test_uneven_parts_are_collected_and_relocated(comm):
    torch.manual_seed(4)
    dense = torch.nn.Sequential(torch.nn.Linear(SIZE + 2, 2 * SIZE + 1), torch.nn.Linear(2 * SIZE + 1, 3))
    expected = copy.deepcopy(dense.state_dict())
    model = nn.convert(dense, {"0": 1, "1": 0}, uneven=True)
    assert model[0].weight.size(0) == syncyte.even_counts(2 * SIZE + 1, SIZE)[RANK]
    assert_equal(nn.collect_state_dict(model), expected)
    assert_equal(nn.relocate_state_dict(model, expected), model.state_dict())


class Cut(torch.nn.Module):
    """A user's own layer."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((3, rows), float(RANK)))
        self.register_buffer("mean", torch.full((rows,), 10.0 + RANK))
        self.register_buffer("count", torch.zeros(()))
        counts = list(range(SIZE))
        nn.mark_sharded(self, "weight", -1, counts=counts)
        nn.mark_sharded(self, "mean", 0, counts=counts)


def test_parameters_and_buffers_of_ones_own_layers_are_marked(comm):
    model = copy.deepcopy(torch.nn.Sequential(Cut(RANK), torch.nn.ReLU()))
    rows = [rank for rank in range(SIZE) for _ in range(rank)]
    collected = nn.collect_state_dict(model)
    assert collected["0.mean"].tolist() == [10.0 + rank for rank in rows]
    assert collected["0.count"] == 0
    assert torch.equal(collected["0.weight"], torch.tensor(rows, dtype=torch.float32).expand(3, -1))
    assert_equal(nn.relocate_state_dict(model, collected), model.state_dict())
    for arguments, error, text in (
        (("nothing", 0), ValueError, "name is 'nothing'; expected a parameter or buffer of the Cut"),
        (("weight", 2), ValueError, "dim is 2; expected -2 to 1"),
        (("count", 0), ValueError, "dim is 0"),
    ):
        with pytest.raises(error, match=text):
            nn.mark_sharded(model[0], *arguments)
    with pytest.raises(ValueError, match=rf"counts\[{RANK}\] is {RANK + 1}; expected {RANK}"):
        nn.mark_sharded(model[0], "mean", 0, counts=range(1, SIZE + 1))


def test_state_of_layers_that_disagree_about_a_tied_parameter_is_an_error(comm):
    model = torch.nn.Sequential(nn.ParallelLinear(SIZE, SIZE, dim=1), nn.ParallelLinear(SIZE, SIZE, dim=0))
    model[1].weight = model[0].weight
    with pytest.raises(ValueError, match="1.weight is cut along dim 1 .*expected dim 0, .* as it has as 0.weight"):
        nn.collect_state_dict(model)


def test_one_ranks_model_that_disagrees_is_every_ranks_error(comm):
    model = torch.nn.Sequential(nn.ParallelLinear(SIZE, SIZE, dim=1), nn.ParallelLinear(SIZE, SIZE, dim=0))
    if RANK == SIZE - 1:
        model[1].weight = model[0].weight
    with pytest.raises(ValueError, match="1.weight is cut along dim 1"):
        nn.collect_state_dict(model)


@pytest.mark.parametrize("rows", [SIZE, SIZE - 1])
def test_values_of_tied_keys_are_collected_once_whatever_memory_they_have(comm, rows):
    """Rank 0's state has the tied tensor, the others' have clones, maybe empty ones: all ranks gather equally often."""
    first = nn.ParallelLinear(2, rows, False, dim=1, uneven=True)
    model = torch.nn.Sequential(first, nn.ParallelLinear(2, rows, False, dim=1, uneven=True))
    model[1].weight = first.weight
    state = model.state_dict()
    if RANK != 0:
        state = {key: value.clone() for key, value in state.items()}
    whole = nn.collect_state_dict(model, state)
    assert whole["0.weight"] is whole["1.weight"]
    assert whole["0.weight"].shape == (rows, 2)
    if RANK == 0 and first.weight.numel() > 0:
        state = dict(state) | {"1.weight": state["1.weight"] + 1}
    if rows > 0:
        with pytest.raises(ValueError, match="'1.weight'.* is another value; expected that of '0.weight'"):
            nn.collect_state_dict(model, state)


def test_a_parameter_that_is_computed_from_others_is_an_error(comm):
    model = torch.nn.utils.parametrizations.weight_norm(nn.ParallelLinear(SIZE, SIZE, dim=0))
    with pytest.raises(ValueError, match="weight is computed from other parameters"):
        nn.collect_state_dict(model)


# Wrong input.


def change_last(state: dict, change) -> dict:
    return change(state) if RANK == SIZE - 1 else state


def without(key: str):
    return lambda state: {name: value for name, value in state.items() if name != key}


@pytest.mark.parametrize("key", ["blocks.0.up.weight", "blocks.1.down.weight"])
def test_a_key_that_one_rank_lacks_is_every_ranks_error(comm, key):
    model, whole = parallel_model(), dense_model().state_dict()
    text = re.escape(f"state_dict is without the key '{key}'")
    with pytest.raises(ValueError, match=text):
        nn.collect_state_dict(model, change_last(model.state_dict(), without(key)))
    with pytest.raises(ValueError, match=text):
        nn.relocate_state_dict(model, change_last(whole, without(key)))
    assert_equal(nn.collect_state_dict(model), whole)


def test_what_is_whole_already_is_not_collected_and_a_part_not_relocated_again(comm):
    model, whole = parallel_model(), dense_model().state_dict()
    if SIZE == 1:
        return  # a part is the whole
    with pytest.raises(ValueError, match=r"state_dict\['table.weight'\] is of shape .*, this rank's part"):
        nn.collect_state_dict(model, change_last(model.state_dict(), lambda _: whole))
    with pytest.raises(ValueError, match=r"state_dict\['table.weight'\] is of shape .*, the whole"):
        nn.relocate_state_dict(model, nn.relocate_state_dict(model, whole))


def test_other_mistakes_of_one_rank(comm):
    model, whole = parallel_model(), dense_model().state_dict()
    cases = {
        "is of shape .*; expected": lambda s: s | {"blocks.0.up.weight": torch.ones(3, 1)},
        "layout torch.sparse_coo; expected torch.strided": lambda s: (
            s | {"blocks.0.up.weight": s["blocks.0.up.weight"].to_sparse()}
        ),
        "state_dict is with the key 3; expected names": lambda s: s | {3: torch.ones(1)},
        "is a int; expected a tensor": lambda s: s | {"blocks.0.up.weight": 3},
        "state_dict is a list; expected a mapping": lambda s: list(s),
    }
    for text, change in cases.items():
        with pytest.raises((ValueError, TypeError), match=text):
            nn.relocate_state_dict(model, change_last(whole, change))
        with pytest.raises((ValueError, TypeError), match=text):
            nn.collect_state_dict(model, change_last(model.state_dict(), change))
    with pytest.raises(ValueError, match="state_dict is with the key 'more'; expected keys of the model"):
        nn.collect_state_dict(model, change_last(model.state_dict(), lambda s: s | {"more": torch.ones(2)}))
    with pytest.raises(ValueError, match=f"root is {SIZE}; expected None or 0 to {SIZE - 1}"):
        nn.collect_state_dict(model, root=SIZE if RANK == SIZE - 1 else 0)
    with pytest.raises(TypeError, match="model is a int; expected a torch.nn.Module"):
        nn.collect_state_dict(3)
    if SIZE > 1:
        with pytest.raises(ValueError, match="the ranks of .* disagree"):
            nn.relocate_state_dict(model, change_last(whole, lambda s: s | {"more": torch.ones(2)}))
        with pytest.raises(ValueError, match="root is"):
            nn.collect_state_dict(model, root=RANK % 2)
    assert_equal(nn.collect_state_dict(model), whole)


def test_lengths_follow_one_rule(comm):
    assert list(counts_of(2 * SIZE, comm, False, "x")) == [2] * SIZE
    assert list(counts_of(SIZE + 1, comm, True, "x")) == [2] + [1] * (SIZE - 1)


# Files.


def test_a_file_of_two_ranks_is_loaded_by_others(comm, tmp_path):
    """Two ranks save (one, if there is only one); all ranks load together, and each rank loads alone."""
    pytest.importorskip("h5py")
    path = WORLD.bcast(str(tmp_path / "model.h5"))
    pair = comm.split(0 if RANK < 2 else None)
    torch.manual_seed(9)
    dense = torch.nn.Sequential(torch.nn.Embedding(12, 6), torch.nn.Linear(6, 30), torch.nn.Linear(30, 6))
    expected = copy.deepcopy(dense.state_dict())
    plan = {"0": 0, "1": 1, "2": 0}
    if pair is not None:
        model = nn.convert(copy.deepcopy(dense), plan, comm=pair)
        syncyte.checkpoint.save(path, nn.collect_state_dict(model), pair)
    comm.barrier()
    for ranks in (comm, syncyte.COMM_SELF):
        model = nn.convert(copy.deepcopy(dense), plan, comm=ranks, uneven=True)
        for parameter in model.parameters():
            parameter.data.zero_()
        model.load_state_dict(nn.relocate_state_dict(model, syncyte.checkpoint.load(path, comm=ranks)))
        assert_equal(nn.collect_state_dict(model), expected)


# A part is never taken for the whole, nor for another rank's part.


def shared(tmp_path, name: str = "model.h5") -> str:
    return WORLD.bcast(str(tmp_path / name))


def row_model(uneven: bool = False) -> torch.nn.Module:
    """Of parts along the first axis: an embedding by rows, a linear layer by outputs."""
    torch.manual_seed(4)
    rows = 2 * SIZE + (1 if uneven else 0)
    layers = torch.nn.Sequential(torch.nn.Embedding(rows, 3), torch.nn.Linear(3, rows))
    return nn.convert(layers.double(), {"0": 0, "1": 1}, uneven=uneven)


REBUILT = {
    "state_dict": lambda model: model.state_dict(),
    "a comprehension": lambda model: {"model." + key: value for key, value in model.state_dict().items()},
    "named_parameters": lambda model: dict(model.named_parameters()),
    ".data": lambda model: {key: value.data for key, value in model.named_parameters()},
    "numpy": lambda model: {key: value.numpy() for key, value in model.state_dict().items()},
    "a copy of the dictionary": lambda model: copy.deepcopy(model.state_dict()),
    "a copy of the model": lambda model: copy.deepcopy(model).state_dict(),
    "another type": lambda model: dict(model.float().named_parameters()),
}


@pytest.mark.parametrize("how", REBUILT)
def test_parts_along_the_first_axis_are_saved_as_rows(comm, tmp_path, how):
    model = row_model(uneven=how == "a copy of the dictionary")
    whole = nn.collect_state_dict(model)
    with torch.no_grad():
        state = REBUILT[how](model)
        syncyte.checkpoint.save(shared(tmp_path), state)
        found = syncyte.checkpoint.load(shared(tmp_path))
        for key, value in whole.items():
            prefix = "model." if how == "a comprehension" else ""
            assert torch.equal(found[prefix + key].double(), value.float().double()), key
        for value in state.values():
            value[:] = 0
        syncyte.checkpoint.load(shared(tmp_path), state)
    loaded = {key.removeprefix("model."): torch.as_tensor(value) for key, value in state.items()}
    for key, value in nn.collect_state_dict(model, loaded).items():
        assert torch.equal(value.double(), whole[key].float().double()), key


def test_empty_parts_are_rows_too(comm, tmp_path):
    torch.manual_seed(6)
    layer, path = nn.ParallelLinear(3, 1, dim=1, uneven=True), shared(tmp_path)
    whole = nn.collect_state_dict(layer)
    syncyte.checkpoint.save(path, layer.state_dict())
    assert_equal(dict(sorted(syncyte.checkpoint.load(path).items())), dict(sorted(whole.items())))
    syncyte.checkpoint.load(path, layer.state_dict())
    assert_equal(nn.collect_state_dict(layer), whole)
    syncyte.checkpoint.save(path, dict(layer.state_dict()))
    assert syncyte.checkpoint.load(path)["weight"].shape == (1, 3)
    syncyte.checkpoint.save(path, {"weight": layer.weight.detach(), "bias": layer.bias.detach().numpy()})
    assert syncyte.checkpoint.load(path)["weight"].shape == (1, 3)


def test_parts_along_any_axis_are_saved_and_loaded_in_place(comm, tmp_path):
    """By some ranks, and by fewer of them; from dictionaries that are built anew too; beside a bundle."""
    model, path = parallel_model(), shared(tmp_path)
    whole = nn.collect_state_dict(model)
    cells = syncyte.Layout.mesh(syncyte.COMM_WORLD, (SIZE,), axes=[None])
    fields = syncyte.Bundle(syncyte.COMM_WORLD)
    fields.add("field", cells, torch.arange(float(SIZE)))
    cells.free()  # the bundle has its own reference
    for change in (lambda state: state, dict, copy.deepcopy):
        syncyte.checkpoint.save(path, change(model.state_dict()), bundle=fields, attributes={"step": 1})
        found = dict(syncyte.checkpoint.load(path))
        assert torch.equal(found.pop("field"), torch.arange(float(SIZE)))
        assert_equal(dict(sorted(found.items())), dict(sorted(whole.items())))
    for size in range(1, SIZE + 1):
        part = syncyte.COMM_WORLD.split(0 if RANK < size else None)
        if part is not None and SIZE % size == 0:
            torch.manual_seed(5)  # equal on all ranks
            other = nn.convert(Model(SIZE), PLAN, comm=part)
            with torch.no_grad():
                for value in other.state_dict().values():
                    value.zero_()
            syncyte.checkpoint.load(path, other.state_dict(), part)
            assert_equal(nn.collect_state_dict(other), whole)
        comm.barrier()


def test_other_parts_are_refused_on_all_ranks(comm, tmp_path):
    if SIZE == 1:
        return  # a part is the whole
    model, path = parallel_model(), shared(tmp_path)
    name = "blocks.0.down.weight"
    expected = rf"mapping\['{name}'\] is a part of a larger tensor, .*collect_state_dict"
    with pytest.raises(syncyte.ArgumentError, match=expected):  # named, but its rows are not rows of the whole
        syncyte.checkpoint.save(path, {name: model.state_dict()[name]}, sharded=True)
    own = model.state_dict()[name]
    with pytest.raises(syncyte.MismatchError, match=rf"a part is '{name}'; expected 'none', as on rank 0"):
        syncyte.checkpoint.save(path, {name: own.clone() if RANK == 0 else own})
    rows = row_model().state_dict()["0.weight"]
    with pytest.raises(syncyte.ArgumentError, match=r"mapping\['rows'\] is a view of a part"):
        syncyte.checkpoint.save(path, {"rows": rows[:1]})
    if RANK == 0:  # one rank alone, as torch.save is called
        with pytest.raises(syncyte.ArgumentError, match=r"rows of all 1 ranks"):
            syncyte.checkpoint.save(path, {"rows": rows}, syncyte.COMM_SELF)
    comm.barrier()
    syncyte.checkpoint.save(path, {"rows": rows.clone(), "bias": model.blocks[0].down.bias.detach()})
    assert syncyte.checkpoint.load(path)["rows"].shape == rows.shape


def test_an_optimizers_state_of_a_part_is_a_part(comm, tmp_path):
    model, path = row_model(), shared(tmp_path)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.arange(2 * SIZE)).square().sum().backward()
    optimizer.step()
    state = optimizer.state_dict()["state"]
    flat = {f"{number}.{name}": value for number, each in state.items() for name, value in each.items()}
    parameter = next(iter(model.parameters()))
    syncyte.checkpoint.save(path, flat | {"gradient": parameter.grad})
    found = syncyte.checkpoint.load(path)
    assert found["0.step"].dim() == 0
    gradient = parameter.grad.clone()
    parameter.grad.zero_()
    with syncyte.checkpoint.open(path) as checkpoint:
        checkpoint.read("gradient", out=parameter.grad)
    assert torch.equal(parameter.grad, gradient)
    assert gradient.any()
    for key, value in zip(model.state_dict(), range(3), strict=True):
        whole = nn.collect_state_dict(model, model.state_dict() | {key: state[value]["exp_avg"]})[key]
        assert torch.equal(found[f"{value}.exp_avg"], whole)
    copied = copy.deepcopy(model)
    fresh = torch.optim.Adagrad(copied.parameters())  # has made no step
    first = next(iter(fresh.state.values()))
    syncyte.checkpoint.save(path, {"weight": fresh.param_groups[0]["params"][0].detach(), "sum": first["sum"]})
    assert [value.shape for value in syncyte.checkpoint.load(path).values()] == [found["0.exp_avg"].shape] * 2
    table = syncyte.WholeTensor((2 * SIZE, 2), torch.float64)
    table.requires_grad_()
    table[[0, 1]].sum().backward()
    table.sync_grad()
    syncyte.checkpoint.save(path, {"gradient": table.local.grad})
    with syncyte.checkpoint.open(path) as checkpoint:
        assert checkpoint["gradient"].shape == (2 * SIZE, 2)
        if SIZE > 1:
            with pytest.raises(syncyte.ArgumentError, match="out is a view of a part of.*expected rows="):
                checkpoint.read("gradient", out=table.local.detach()[1:])
    optimizer = torch.optim.Adagrad([table.local], lr=0.1)
    table.local.grad = torch.full((2, 2), float(RANK), dtype=torch.float64)
    optimizer.step()
    syncyte.checkpoint.save(path, {"sum": optimizer.state[table.local]["sum"]})
    assert syncyte.checkpoint.load(path)["sum"][:, 0].tolist() == [float(i // 2) ** 2 for i in range(2 * SIZE)]
    if SIZE > 1:
        other = parallel_model()
        optimizer = torch.optim.SGD(other.parameters(), lr=0.1, momentum=0.5)
        other(torch.arange(4)).sum().backward()
        optimizer.step()
        momenta = {str(number): each["momentum_buffer"] for number, each in optimizer.state_dict()["state"].items()}
        syncyte.checkpoint.save(path, momenta)
        names = [name for name, _ in other.named_parameters()]
        saved = {names[int(number)]: value for number, value in syncyte.checkpoint.load(path).items()}
        given = other.state_dict() | {names[int(key)]: value for key, value in momenta.items()}
        expected = nn.collect_state_dict(other, given | {"head.weight": given["table.weight"]})
        assert all(torch.equal(value, expected[key]) for key, value in saved.items())


def test_a_state_that_rank_0_saved_is_no_other_ranks(comm, tmp_path):
    model, path = parallel_model(), shared(tmp_path, "model.pt")
    whole = nn.collect_state_dict(model)
    if RANK == 0:
        torch.save(model.state_dict(), path)
    comm.barrier()
    if RANK == 0:
        assert str(model.load_state_dict(torch.load(path))) == "<All keys matched successfully>"
    else:
        text = rf"blocks.0.up.weight holds \[0:4\] along axis 0 of shape .* \(rank 0 of {SIZE}\); this rank's part is "
        with pytest.raises(RuntimeError, match=text + rf"\[{4 * RANK}:"):
            copy.deepcopy(model).load_state_dict(torch.load(path))
    own = str(tmp_path / f"{RANK}.pt")
    torch.save(model.state_dict(), own)
    fresh = parallel_model()
    fresh.load_state_dict(torch.load(own))
    fresh.load_state_dict(nn.relocate_state_dict(fresh, nn.collect_state_dict(model)))
    assert_equal(nn.collect_state_dict(fresh), whole)


def test_a_part_without_a_range_is_loaded_with_a_warning(comm):
    """One for each call."""
    model = parallel_model()
    state = dict(model.state_dict())
    for _ in range(2 if SIZE > 1 else 0):
        with pytest.warns(UserWarning, match=r"table.weight has the shape of this rank's part") as seen:
            model.load_state_dict(state)
        assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.load_state_dict(model.state_dict())
        whole = {key: value.clone() for key, value in nn.collect_state_dict(model).items()}
        model.load_state_dict(nn.relocate_state_dict(model, whole))
