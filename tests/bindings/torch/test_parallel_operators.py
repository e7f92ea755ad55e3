# SPDX-License-Identifier: BSD-3-Clause
"""syncyte.nn.functional: copy and reduce, scatter and gather are pairs of adjoints. Every rank has a copy of a whole
tensor, so a scalar product counts the tensor once; it counts the parts of all ranks."""

import pytest
import torch
from mpi4py import MPI

import syncyte
from syncyte.nn import functional
from traces import traced_operations

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
UNEVEN = [2 * rank for rank in range(SIZE)] if SIZE > 1 else [3]  # the first rank has none
ALL = sum(UNEVEN)

# By name: the operation, its input's shape, and whether input and result are whole.
OPERATIONS = {
    "copy": (lambda x: functional.copy(x), (3, 2), True, False),
    "reduce": (lambda x: functional.reduce(x), (3, 2), False, True),
    "scatter": (lambda x: functional.scatter(x), (2, 3 * SIZE), True, False),
    "scatter the rest": (lambda x: functional.scatter(x, 0, uneven=True), (SIZE + 1, 2), True, False),
    "scatter counts": (lambda x: functional.scatter(x, 1, counts=UNEVEN), (2, ALL, 3), True, False),
    "gather": (lambda x: functional.gather(x, -2), (2, 3), False, True),
    "gather the rest": (lambda x: functional.gather(x, 0, uneven=True), (RANK + 1, 2), False, True),
    "gather counts": (lambda x: functional.gather(x, 1, counts=UNEVEN), (2, UNEVEN[RANK], 3), False, True),
    "parts along another dimension": (
        lambda x: torch.ops.syncyte.relocate(
            x,
            syncyte.COMM_WORLD.handle,
            from_dim=1,
            from_counts=[2] * SIZE,
            to_dim=0,
            to_counts=syncyte.even_counts(4, SIZE),
        ),
        (4, 2),
        False,
        False,
    ),
}


@pytest.fixture(params=OPERATIONS)
def operation(request):
    return OPERATIONS[request.param]


# Compiled by default; the others are thorough: the operators differ in shapes only.
COMPILED = ("copy", "gather", "scatter counts")


@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.thorough] * (name not in COMPILED))
                        for name in OPERATIONS if name != "gather the rest"])  # fmt: skip
def traceable(request):
    return OPERATIONS[request.param]


def numbers(shape, whole: bool, seed: int) -> torch.Tensor:
    """Random whole numbers, whose sums are exact; for a whole tensor the same on all ranks."""
    generator = torch.Generator().manual_seed(seed if whole else seed + 100 * (1 + RANK))
    return torch.randint(-9, 10, tuple(shape), generator=generator).double()


def pairing(a: torch.Tensor, b: torch.Tensor, whole: bool) -> float:
    product = float((a.detach() * b).sum())
    return product if whole else WORLD.allreduce(product)


def test_the_adjoint_identity_holds(operation):
    function, shape, whole_input, whole_result = operation
    x = numbers(shape, whole_input, 1).requires_grad_()
    ax = function(x)
    y = numbers(ax.shape, whole_result, 2)
    (adjoint,) = torch.autograd.grad(ax, x, y)
    left = pairing(ax, y, whole_result)
    assert left == pairing(x, adjoint, whole_input)
    assert left != 0
    if whole_input:
        assert all(torch.equal(adjoint, other) for other in WORLD.allgather(adjoint))
    if whole_result:
        assert all(torch.equal(ax, other) for other in WORLD.allgather(ax.detach()))


def test_the_adjoints_derivative_is_the_operation(operation):
    function, shape, whole_input, whole_result = operation
    x = numbers(shape, whole_input, 1).requires_grad_()
    ax = function(x)
    y = numbers(ax.shape, whole_result, 2).requires_grad_()
    (adjoint,) = torch.autograd.grad(ax, x, y, create_graph=True)
    z = numbers(shape, whole_input, 3)
    (again,) = torch.autograd.grad(adjoint, y, z)
    assert torch.equal(again, function(z))


def test_tangents_go_the_same_way(operation):
    function, shape, whole_input, _ = operation
    x, tangent = numbers(shape, whole_input, 1), numbers(shape, whole_input, 4)
    result, mapped = torch.func.jvp(function, (x,), (tangent,))
    assert torch.equal(result, function(x))
    assert torch.equal(mapped, function(tangent))


def test_compiled_they_are_the_same(traceable, compiled):
    function, shape, whole_input, whole_result = traceable

    def step(t):
        return function(t * 2).sin()

    x = numbers(shape, whole_input, 1).requires_grad_()
    expected = step(x)
    y = numbers(expected.shape, whole_result, 2)
    (gradient,) = torch.autograd.grad(expected, x, y)
    result = compiled(step)(x)
    assert torch.allclose(result, expected)
    assert torch.allclose(torch.autograd.grad(result, x, y)[0], gradient)


def test_results_are_what_they_are_called(comm):
    x = numbers((2, 3 * SIZE), True, 1)
    part = functional.scatter(x)
    assert torch.equal(part, x[:, 3 * RANK : 3 * RANK + 3])
    assert part.is_contiguous()
    assert torch.equal(functional.gather(part), x)
    assert torch.equal(functional.reduce(torch.full((2,), RANK + 1.0)), torch.full((2,), SIZE * (SIZE + 1) / 2))
    assert functional.copy(x) is not None
    assert torch.equal(functional.copy(x), x)
    part.zero_()  # separate memory
    assert x.any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.complex64, torch.int64, torch.bool])
def test_any_element_type_is_cut_and_joined(dtype):
    x = torch.arange(2 * SIZE).to(dtype)
    assert torch.equal(functional.gather(functional.scatter(x, 0), 0), x)


def test_transposed_and_empty_tensors():
    x = numbers((3 * SIZE, 2), True, 1)
    assert torch.equal(functional.gather(functional.scatter(x.t())), x.t())
    nothing = torch.empty(SIZE, 0, requires_grad=True)
    functional.gather(functional.scatter(nothing, 0), 0).sum().backward()
    assert nothing.grad.shape == (SIZE, 0)


def test_ranks_of_one_communicator(comm):
    pair = comm.split(RANK // 2)
    x = numbers((2 * pair.size,), True, 1)
    assert torch.equal(functional.gather(functional.scatter(x, 0, pair), 0, pair), x)
    assert functional.reduce(torch.ones(1), pair).item() == pair.size


def test_nothing_is_sent_forward_by_copy_and_backward_by_reduce():
    x = torch.ones(2, requires_grad=True)
    with traced_operations() as seen:
        y = functional.copy(x)
    assert "comm_allreduce" not in seen
    with traced_operations() as seen:
        y.sum().backward()
    assert seen.count("comm_allreduce") == 1
    y = functional.reduce(x)
    with traced_operations() as seen:
        y.sum().backward()
    assert not seen


WRONG = {
    "no tensor": (TypeError, "expected a torch.Tensor", lambda x: 3),
    "another shape": (ValueError, "", lambda x: x[:1]),
    "a sparse one": (NotImplementedError, "is of layout Sparse", lambda x: x.detach().to_sparse()),
    "no gradient": (ValueError, "needs-gradient is", lambda x: x.detach()),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("function", ["copy", "reduce", "scatter", "gather"])
def test_one_ranks_mistake_is_every_ranks_error(comm, name, function):
    error, text, change = WRONG[name]
    if SIZE == 1 and error is ValueError:
        return  # there is no other rank
    given = torch.ones(2, SIZE, requires_grad=True)
    given = change(given) if RANK == SIZE - 1 else given
    with pytest.raises(error, match=text):
        getattr(functional, function)(given)
    assert functional.reduce(torch.ones(1)).item() == SIZE  # the next operation works


def test_dims_and_lengths_that_do_not_fit_are_errors(comm):
    x = torch.ones(2, SIZE)
    for function in (functional.scatter, functional.gather):
        with pytest.raises(IndexError, match="dim is 2; expected -2 to 1"):
            function(x, 2)
        with pytest.raises(TypeError, match="dim is 'a'; expected an integer"):
            function(x, "a")
        with pytest.raises(ValueError, match=rf"counts is .*; expected {SIZE} numbers, one for each rank"):
            function(x, 0, counts=[1] * (SIZE + 1))
        with pytest.raises(IndexError, match="expected a tensor with dimensions"):
            function(torch.tensor(1.0), 0)
    with pytest.raises(ValueError, match=f"adds up to {2 * SIZE}; expected {SIZE}"):
        functional.scatter(x, 1, counts=[2] * SIZE)
    if SIZE > 1:
        with pytest.raises(ValueError, match=rf"is {SIZE + 1}; expected a multiple of the number of ranks, {SIZE}, or"):
            functional.scatter(torch.ones(SIZE + 1), 0)
    with pytest.raises(ValueError, match="comm is None"):
        functional.copy(x, None)
