# SPDX-License-Identifier: BSD-3-Clause
"""Layers of syncyte.nn against torch's: results and the gradients of every rank's part, in float64."""

import pytest
import torch
from mpi4py import MPI

import syncyte
from dense import assert_same, random
from syncyte import nn
from syncyte.nn import functional

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
DIMS = [None, 0, 1, -1]


def part(tensor: torch.Tensor, dim: int | None) -> torch.Tensor:
    """This rank's part, cut by the rule of the layers."""
    return tensor if dim is None else tensor.split(syncyte.even_counts(tensor.size(dim), SIZE), dim)[RANK]


def seeded(make, *arguments, **options):
    torch.manual_seed(3)
    return make(*arguments, dtype=torch.float64, **options)


def check_linear(inputs: int, outputs: int, dim: int | None, **options) -> None:
    layer = seeded(nn.ParallelLinear, inputs, outputs, dim=dim, **options)
    dense = seeded(torch.nn.Linear, inputs, outputs)
    weight_dim = {None: None, 0: 1, 1: 0, -1: 0}[dim]
    bias_dim, result_dim = (0, -1) if weight_dim == 0 else (None, None)
    assert_same(layer.weight, part(dense.weight, weight_dim))
    assert_same(layer.bias, part(dense.bias, bias_dim))
    x = random(2, 4, inputs)
    own, whole = x.clone().requires_grad_(), x.clone().requires_grad_()
    result, expected = layer(own), dense(whole)
    assert_same(result, part(expected, result_dim))
    cotangent = random(*expected.shape, seed=6)
    expected.backward(cotangent)
    result.backward(part(cotangent, result_dim))
    assert_same(own.grad, whole.grad)
    assert_same(layer.weight.grad, part(dense.weight.grad, weight_dim))
    assert_same(layer.bias.grad, part(dense.bias.grad, bias_dim))


@pytest.mark.parametrize("dim", DIMS)
def test_a_linear_map_equals_the_dense_one(comm, dim):
    check_linear(3 * SIZE, 2 * SIZE, dim)


@pytest.mark.parametrize("dim", DIMS)
def test_a_linear_map_of_uneven_parts_equals_the_dense_one(comm, dim):
    check_linear(2 * SIZE + 1, SIZE + 1, dim, uneven=True)
    if SIZE > 1:
        check_linear(SIZE - 1, SIZE - 1, dim, uneven=True)  # the last rank has none


def test_rows_take_a_part_or_the_whole(comm):
    layer = seeded(nn.ParallelLinear, 2 * SIZE, 3, dim=0)
    x = random(4, 2 * SIZE)
    assert_same(layer(part(x, -1)), layer(x))
    for given, width in ((True, 2), (False, 2 * SIZE)):
        layer.input_is_parallel = given
        assert_same(layer(part(x, -1) if given else x), functional.linear(x, layer.weight, layer.bias, dim=0))
        with pytest.raises(ValueError, match=f"input is of width {2 * SIZE + 1}; expected .*{width}"):
            layer(random(4, 2 * SIZE + 1))


def test_columns_then_rows_need_no_tags(comm):
    up, down = seeded(nn.ParallelLinear, 3, 4 * SIZE, dim=1), seeded(nn.ParallelLinear, 4 * SIZE, 3, dim=0)
    dense = seeded(torch.nn.Linear, 3, 4 * SIZE), seeded(torch.nn.Linear, 4 * SIZE, 3)
    x = random(5, 3)
    assert_same(down(torch.relu(up(x)).view(5, -1).clone()), dense[1](torch.relu(dense[0](x))))


def test_a_whole_bias_is_the_first_ranks_whatever_the_seeds(comm):
    torch.manual_seed(RANK)
    bias = nn.ParallelLinear(SIZE, 4, dim=0).bias.detach()
    assert all(torch.equal(bias, other) for other in WORLD.allgather(bias))
    assert nn.ParallelLinear(SIZE, 4, bias=False, dim=0).bias is None


def check_embedding(rows: int, width: int, dim: int | None, uneven: bool = False, **options) -> None:
    index = torch.tensor([[0, rows - 1, rows // 2, 0], [rows - 1, 0, 1 % rows, rows // 2]])
    layer = seeded(nn.ParallelEmbedding, rows, width, dim=dim, uneven=uneven, **options)
    dense = seeded(torch.nn.Embedding, rows, width, **options)
    stored = None if dim is None else abs(dim)
    assert_same(layer.weight, part(dense.weight, stored))
    result, expected = layer(index), dense(index)
    assert_same(result, expected)
    cotangent = random(*expected.shape, seed=7)
    result.backward(cotangent)
    expected.backward(cotangent)
    gradients = [each.weight.grad.to_dense() for each in (layer, dense)]
    assert_same(gradients[0], part(gradients[1], stored))
    assert_same(layer.weight, part(dense.weight, stored))  # max_norm changes it


@pytest.mark.parametrize("options", [{}, {"padding_idx": -1}, {"scale_grad_by_freq": True}, {"sparse": True}])
@pytest.mark.parametrize("dim", DIMS)
def test_an_embedding_equals_the_dense_one(comm, dim, options):
    check_embedding(3 * SIZE, 2 * SIZE, dim, **options)


@pytest.mark.parametrize("dim", DIMS)
def test_an_embedding_of_uneven_parts_equals_the_dense_one(comm, dim):
    check_embedding(2 * SIZE + 1, SIZE + 2, dim, uneven=True)
    check_embedding(max(SIZE - 1, 1), max(SIZE - 1, 1), dim, uneven=True)  # the last rank has none


def test_rows_are_renormalised_where_they_are(comm):
    check_embedding(3 * SIZE, 4, 0, max_norm=0.5)
    with pytest.raises(ValueError, match="max_norm is 0.5; expected None if columns are cut"):
        nn.ParallelEmbedding(SIZE, SIZE, max_norm=0.5, dim=1)


def check_cross_entropy(shape, counts=None, **options) -> None:
    """`shape` is the shape of the logits, with the classes first."""
    classes, *places = shape
    logits = random(*shape) if len(shape) == 1 else random(*shape).movedim(0, 1)
    axis = 0 if len(shape) == 1 else 1
    if len(shape) == 1:
        target = torch.tensor(classes - 1)
    else:
        target = torch.randint(classes, places, generator=torch.Generator().manual_seed(2))
        target.view(-1)[0] = options.get("ignore_index", -100)
    parts = [classes // SIZE] * SIZE if counts is None else counts
    own = logits.split(parts, axis)[RANK].clone().requires_grad_()
    whole = logits.clone().requires_grad_()
    result = functional.cross_entropy(own, target, counts=counts, **options)
    expected = torch.nn.functional.cross_entropy(whole, target, **options)
    assert_same(result, expected)
    cotangent = random(*expected.shape, seed=8)
    result.backward(cotangent)
    expected.backward(cotangent)
    assert_same(own.grad, whole.grad.split(parts, axis)[RANK])


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_equals_that_of_all_classes(comm, reduction, weighted):
    weight = random(3 * SIZE).abs() if weighted else None
    check_cross_entropy((3 * SIZE, 7), weight=weight, reduction=reduction)
    check_cross_entropy((3 * SIZE, 7), weight=weight, reduction=reduction, ignore_index=1)
    check_cross_entropy((3 * SIZE, 2, 3), weight=weight, reduction=reduction)
    check_cross_entropy((3 * SIZE,), weight=weight, reduction=reduction)


def test_cross_entropy_of_uneven_classes(comm):
    check_cross_entropy((SIZE + 2, 5), counts=syncyte.even_counts(SIZE + 2, SIZE))
    check_cross_entropy((3, 5), counts=[0] * (SIZE - 1) + [3])
    loss = nn.ParallelCrossEntropy(num_classes=SIZE + 2)
    logits, target = random(4, SIZE + 2), torch.arange(4) % (SIZE + 2)
    assert_same(loss(part(logits, 1), target), torch.nn.functional.cross_entropy(logits, target))


def test_cross_entropy_of_large_and_of_masked_logits_is_finite(comm):
    logits = 1000 * random(5, 2 * SIZE)
    logits[:, ::2] = -torch.inf
    logits[:, -1] = 900
    target = torch.full((5,), 2 * SIZE - 1)
    own = part(logits, 1).clone().requires_grad_()
    loss = functional.cross_entropy(own, target)
    assert_same(loss, torch.nn.functional.cross_entropy(logits, target))
    loss.backward()
    assert own.grad.isfinite().all()


def test_cross_entropy_of_half_precision_is_computed_in_float32(comm):
    logits = (20 * random(3, 4 * SIZE)).to(torch.bfloat16)
    loss = functional.cross_entropy(part(logits, 1), torch.tensor([0, 1, 2]))
    expected = torch.nn.functional.cross_entropy(logits.float(), torch.tensor([0, 1, 2]))
    assert loss.dtype == torch.bfloat16
    torch.testing.assert_close(loss, expected.to(torch.bfloat16))


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        options = {"dtype": torch.float64}
        self.table = nn.ParallelEmbedding(2 * SIZE, 4, dim=0, **options)
        self.up = nn.ParallelLinear(4, 2 * SIZE, dim=1, **options)
        self.down = nn.ParallelLinear(2 * SIZE, 4, dim=0, **options)
        self.head = nn.ParallelLinear(4, 3 * SIZE, dim=-1, **options)
        self.loss = nn.ParallelCrossEntropy()

    def forward(self, index: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return self.loss(self.head(self.down(torch.relu(self.up(self.table(index))))), target)


def test_a_model_is_compiled_in_one_graph(comm, compiled):
    torch.manual_seed(3)
    model = Model()
    index, target = torch.arange(6) % (2 * SIZE), torch.arange(6) % (3 * SIZE)
    expected = model(index, target)
    expected.backward()
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    loss = compiled(model)(index, target)
    loss.backward()
    assert_same(loss, expected)
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        assert_same(parameter.grad, gradient)


def test_steps_of_an_optimizer_keep_to_the_dense_model(comm):
    parallel = [seeded(nn.ParallelLinear, 4, 2 * SIZE, dim=1), seeded(nn.ParallelLinear, 2 * SIZE, 4, dim=0)]
    dense = [seeded(torch.nn.Linear, 4, 2 * SIZE), seeded(torch.nn.Linear, 2 * SIZE, 4)]
    models = [torch.nn.Sequential(each[0], torch.nn.Tanh(), each[1]) for each in (parallel, dense)]
    losses = []
    for model in models:
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        for step in range(5):
            optimizer.zero_grad()
            loss = (model(random(3, 4, seed=step)) - 1).square().mean()
            loss.backward()
            optimizer.step()
        losses.append(loss)
    torch.testing.assert_close(*losses, rtol=1e-10, atol=0)


def test_layers_of_one_groups_ranks(comm):
    group = comm.split(RANK % 2)
    torch.manual_seed(3)
    layer = nn.ParallelLinear(2 * group.size, 3, dim=0, comm=group)
    assert layer.weight.shape == (3, 2)
    torch.manual_seed(3)
    x = torch.ones(2, 2 * group.size)
    torch.testing.assert_close(layer(x), torch.nn.Linear(2 * group.size, 3)(x))


WRONG = {
    "in_features is": lambda: nn.ParallelLinear(SIZE + 1, 3, dim=0),
    "out_features is": lambda: nn.ParallelLinear(3, SIZE + 1, dim=1),
    "num_embeddings is": lambda: nn.ParallelEmbedding(SIZE + 1, 3, dim=0),
    "embedding_dim is": lambda: nn.ParallelEmbedding(3, SIZE + 1, dim=-1),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_the_ranks_do_not_divide_is_an_error_unless_uneven(comm, text):
    if SIZE > 1:
        with pytest.raises(
            ValueError, match=f"{text} {SIZE + 1}; expected a multiple of the number of ranks, {SIZE}, or"
        ):
            WRONG[text]()


def test_one_ranks_mistake_is_every_ranks_error(comm):
    last = RANK == SIZE - 1
    with pytest.raises(ValueError, match="dim is 2; expected 0 .rows., 1 or -1 .columns., or None"):
        nn.ParallelLinear(SIZE, SIZE, dim=2 if last else 1)
    with pytest.raises(ValueError, match=r"padding_idx is \d+; expected"):
        nn.ParallelEmbedding(SIZE, 2, padding_idx=SIZE if last else 0, dim=0)
    layer, table = nn.ParallelLinear(2 * SIZE, SIZE, dim=1), nn.ParallelEmbedding(2 * SIZE, 3, dim=0)
    with pytest.raises(ValueError, match=f"input is of width {2 * SIZE + 1}; expected {2 * SIZE}"):
        layer(torch.ones(2, 2 * SIZE + last))
    with pytest.raises(IndexError, match=f"input's element 1 is {2 * SIZE}; expected 0 to {2 * SIZE - 1}"):
        table(torch.tensor([0, 2 * SIZE if last else 0]))
    with pytest.raises(TypeError, match="input is of torch.float32; expected a tensor of torch.int64"):
        table(torch.ones(2) if last else torch.tensor([0, 1]))
    logits, target = torch.ones(3, 2), torch.tensor([0, 1, 0])
    with pytest.raises(IndexError, match=f"target's element 2 is {2 * SIZE}; expected 0 to {2 * SIZE - 1}"):
        functional.cross_entropy(logits, torch.tensor([0, 1, 2 * SIZE]) if last else target)
    with pytest.raises(TypeError, match="target is of torch.float32; expected classes as torch.int64"):
        functional.cross_entropy(logits, target.float() if last else target)
    with pytest.raises(ValueError, match=r"target is of shape \[2\]; expected \[3\], as input has"):
        functional.cross_entropy(logits, target[:2] if last else target)
    with pytest.raises(ValueError, match=rf"weight is of shape \[1\]; expected \[{2 * SIZE}\], one for each class"):
        functional.cross_entropy(logits, target, torch.ones(1 if last else 2 * SIZE))
    with pytest.raises(ValueError, match="reduction is 'max'; expected 'none', 'mean' or 'sum'"):
        functional.cross_entropy(logits, target, reduction="max" if last else "mean")
    assert functional.reduce(torch.ones(1)).item() == SIZE


def wrong_tensors() -> dict:
    """Mistakes of one rank by their messages; the other ranks make the right call."""
    x, weight, bias = torch.ones(2, 3 * SIZE), torch.ones(4, 3), torch.ones(4)
    rows, numbers = torch.ones(2, 3), torch.tensor([0, 1])
    logits, target = torch.ones(2, 2), torch.tensor([0, 1])

    def linear(weight=weight, bias=bias, dim=0):
        return lambda: functional.linear(x, weight, bias, dim=dim)

    def embedding(weight=rows, **options):
        return lambda: functional.embedding(numbers, weight, **{"dim": 0} | options)

    def loss(logits=logits, **options):
        return lambda: functional.cross_entropy(logits, target, **options)

    return {
        r"bias is of shape \[1\]; expected \[4\]": (linear(), linear(bias=bias[:1])),
        r"bias is of torch.float64; expected torch.float32, as input": (linear(), linear(bias=bias.double())),
        r"weight is of torch.float64; expected torch.float32, as input": (linear(), linear(weight=weight.double())),
        r"weight is of shape \[1, 4, 3\]; expected 2 dimensions, .outputs": (linear(), linear(weight=weight[None])),
        r"weight is a NoneType": (linear(), linear(weight=None)),
        rf"padding_idx is {2 * SIZE}; expected {-2 * SIZE} to": (embedding(), embedding(padding_idx=2 * SIZE)),
        r"padding_idx is 2; expected -2 to 1": (embedding(dim=1), embedding(dim=1, padding_idx=2)),
        r"weight is of shape \[3\]; expected 2 dimensions, .rows": (embedding(), embedding(weight=rows[0])),
        r"max_norm is 'x'; expected a number": (embedding(), embedding(max_norm="x")),
        r"input is of torch.int64; expected logits": (loss(), loss(logits.long())),
        r"weight is a str": (loss(), loss(weight="w")),
    }


@pytest.mark.parametrize("text", wrong_tensors())
def test_one_ranks_wrong_tensor_is_every_ranks_error(comm, text):
    right, mistaken = wrong_tensors()[text]
    with pytest.raises((ValueError, TypeError), match=text):
        (mistaken if RANK == SIZE - 1 else right)()
    right()


def test_a_layer_that_one_rank_cannot_make_is_every_ranks_error(comm):
    last = RANK == SIZE - 1
    for make in (nn.ParallelLinear, nn.ParallelEmbedding):
        with pytest.raises((TypeError, ValueError, RuntimeError), match="dtype|device"):
            make(SIZE, SIZE, dim=0, dtype="float" if last else None)
        if not torch.cuda.is_available():
            with pytest.raises(NotImplementedError, match="device is 'cuda'; expected 'cpu': there is no CUDA device"):
                make(SIZE, SIZE, dim=0, device="cuda" if last else None)
            with pytest.raises(NotImplementedError, match="there is no CUDA device"):
                make(SIZE, SIZE, dim=0).cuda()
        with pytest.raises(TypeError, match="dense is a int; expected a torch.nn"):
            make.from_dense(3, dim=0)
    assert functional.reduce(torch.ones(1)).item() == SIZE


def test_compiled_an_index_that_is_out_of_range_is_an_error(comm, compiled):
    table, loss = nn.ParallelEmbedding(2 * SIZE, 3, dim=0), nn.ParallelCrossEntropy()
    rows = compiled(lambda index: table(index))
    losses = compiled(lambda target: loss(torch.ones(2, 2), target))
    assert rows(torch.tensor([0, 1])).shape == (2, 3)
    assert losses(torch.tensor([0, 1])).shape == ()
    with pytest.raises((RuntimeError, IndexError), match="out of range"):
        rows(torch.tensor([0, 2 * SIZE]))
    with pytest.raises((RuntimeError, IndexError), match="out of range"):
        losses(torch.tensor([-1, 1]))


def test_ranks_that_differ_are_told(comm):
    if SIZE == 1:
        return
    last = int(RANK == SIZE - 1)
    logits, target = torch.ones(2, 2), torch.tensor([0, 1])
    with pytest.raises(ValueError, match="reduction"):
        functional.cross_entropy(logits, target, reduction="sum" if last else "mean")
    with pytest.raises(ValueError, match="ignore_index is"):
        functional.cross_entropy(logits, target, ignore_index=last)
    with pytest.raises(ValueError, match="dtype is"):
        nn.ParallelLinear(SIZE, SIZE, dim=0, dtype=torch.float64 if last else torch.float32)
    with pytest.raises(ValueError, match="padding_idx is"):
        nn.ParallelEmbedding(SIZE, 2, dim=0, padding_idx=last)
    with pytest.raises(ValueError, match="out_features is"):
        nn.ParallelLinear(SIZE, 3 + last, dim=0)
    with pytest.raises(ValueError, match="dim is"):
        nn.ParallelLinear(SIZE, SIZE, dim=last)
    layer = nn.ParallelLinear(SIZE, 3, dim=0)
    with pytest.raises(ValueError):
        layer(torch.ones(2 + last, SIZE))
    with pytest.raises(ValueError):
        layer(torch.ones(2, SIZE)[:, : SIZE if last else 1])  # whole on the last rank, a part on the others


def check_that_parts_of_other_lengths_are_refused(run):
    if SIZE == 1:
        return
    rows, loss = 2 if RANK == 0 else 1, nn.ParallelCrossEntropy()
    with pytest.raises(ValueError, match="parts of equal length, or counts .num_classes of|sum of counts is"):
        run(lambda x: loss(x, torch.tensor([0, 1])))(torch.ones(2, rows))
    with pytest.raises(ValueError, match="parts of equal length, or counts|sum of counts is"):
        run(lambda w: functional.embedding(torch.tensor([0, 1]), w, dim=0))(torch.ones(rows, 3))


def test_parts_that_differ_are_an_error_where_their_lengths_are_not_given():
    check_that_parts_of_other_lengths_are_refused(lambda f: f)


def test_compiled_functions_refuse_parts_that_differ_too():
    check_that_parts_of_other_lengths_are_refused(lambda f: torch.compile(f, fullgraph=True, backend="aot_eager"))


def test_the_loss_is_of_float32_within_autocast(comm):
    layer, loss = nn.ParallelLinear(3, 2 * SIZE, dim=1), nn.ParallelCrossEntropy()
    with torch.autocast("cpu", torch.bfloat16):
        logits = layer(torch.ones(2, 3))
        value = loss(logits, torch.tensor([0, 1]))
    assert logits.dtype == torch.bfloat16
    assert value.dtype == torch.float32
    value.backward()
    assert layer.weight.grad.dtype == torch.float32


@pytest.mark.parametrize("dim", DIMS)
def test_results_have_the_dense_layers_type_within_autocast(comm, dim):
    layer = nn.ParallelLinear(SIZE, SIZE, dim=dim)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(torch.ones(2, SIZE)).dtype == torch.bfloat16


def model_in_parts() -> torch.nn.Sequential:
    torch.manual_seed(3)
    dense = torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.Linear(4, 2 * SIZE), torch.nn.Linear(2 * SIZE, 3))
    return nn.convert(dense.double(), {"1": 1, "2": 0})


@pytest.mark.parametrize("power", [2.0, 1.0, 3, float("inf")])
@pytest.mark.parametrize("largest", [0.1, 1e6])
def test_the_norm_is_that_of_the_whole_gradient(comm, power, largest):
    models = [model_in_parts(), model_in_parts()]
    whole = nn.collect_state_dict(models[0])
    dense = torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.Linear(4, 2 * SIZE), torch.nn.Linear(2 * SIZE, 3))
    dense.double().load_state_dict(whole)
    for model in (models[0], dense):
        model(random(5, 4)).square().sum().backward()
    norm = nn.clip_grad_norm_(models[0], largest, power)
    assert_same(norm, torch.nn.utils.clip_grad_norm_(dense.parameters(), largest, power))
    gradients = {name: parameter.grad for name, parameter in dense.named_parameters()}
    for name, gradient in nn.relocate_state_dict(models[0], gradients).items():
        assert_same(models[0].get_parameter(name).grad, gradient)
    models[1][2].bias.grad = torch.full((3,), torch.nan, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="the norm of the gradients is nan"):
        nn.clip_grad_norm_(models[1], 1.0, error_if_nonfinite=True)
    assert nn.clip_grad_norm_(dense, 1e9) > 0  # also for a model that is not cut


def test_means_over_the_ranks_of_a_model_are_refused(comm):
    from syncyte.torch import DataParallel

    if SIZE > 1:
        with pytest.raises(ValueError, match="module has parameters that are cut over the ranks of"):
            DataParallel(model_in_parts())
    mine, others = comm.split(RANK % 2), comm.split(RANK // 2)  # the model is cut over `mine`
    torch.manual_seed(3)
    layer = nn.ParallelLinear(2 * mine.size, 4, dim=0, comm=mine)
    if SIZE % 2 == 0:
        averager = DataParallel(layer, comm=others)
        layer(torch.full((1, 2 * mine.size), float(RANK % 2))).sum().backward()
        assert torch.equal(layer.weight.grad, torch.full_like(layer.weight, 0.5))
        del averager


def test_full_checks_compare_what_must_be_the_same(comm):
    if SIZE == 1:
        return
    full = comm.dup(check="full")
    mine = torch.full((2, SIZE), float(RANK))
    for operation in (functional.copy, functional.scatter):
        with pytest.raises(ValueError, match="checksum of input is"):
            operation(mine, comm=full)
        operation(torch.ones(2, SIZE), comm=full)
    table = nn.ParallelEmbedding(2 * SIZE, 2, dim=0, comm=full)
    with pytest.raises(ValueError, match="checksum of input is"):
        table(torch.tensor([RANK]))
    with pytest.raises(ValueError, match="checksum of target is"):
        functional.cross_entropy(torch.ones(1, 2), torch.tensor([RANK]), comm=full)
    torch.manual_seed(RANK)
    with pytest.raises(ValueError, match="checksum of 0.weight is"):
        nn.convert(torch.nn.Sequential(torch.nn.Linear(2, SIZE)), {"0": 1}, comm=full)
