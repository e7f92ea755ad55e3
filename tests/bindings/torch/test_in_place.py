# SPDX-License-Identifier: BSD-3-Clause
"""bcast_ and reduce_ follow torch's rules of in-place operations on all ranks."""

import pytest
import torch
from mpi4py import MPI

from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from syncyte.torch import allreduce, bcast, bcast_, reduce, reduce_

SIZE, RANK = MPI.COMM_WORLD.size, MPI.COMM_WORLD.rank
CASES = {
    "bcast": (lambda x: bcast_(x, SIZE - 1), lambda x: bcast(x, SIZE - 1)),
    "reduce": (reduce_, reduce),
    "max": (lambda x: reduce_(x, SIZE - 1, op="max"), lambda x: reduce(x, SIZE - 1, op="max")),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


def values(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(RANK))


def test_the_tensor_itself_is_written_and_returned(case):
    in_place, functional = case
    x = values(2, 3)
    expected, version, address = functional(x), x._version, x.data_ptr()
    assert in_place(x) is x
    assert torch.equal(x, expected)
    assert x._version > version
    assert x.data_ptr() == address


def test_views_and_strides_touch_nothing_beside_them(case):
    in_place, functional = case
    whole = values(4, 6)
    before, part = whole.clone(), whole.t()[1:6:2, 1:3]
    expected = functional(part)
    in_place(part)
    assert torch.equal(part, expected)
    part.copy_(before.t()[1:6:2, 1:3])
    assert torch.equal(whole, before)


def test_gradients(case):
    in_place, _ = case
    x = values(2, 2)
    distributed_gradcheck(lambda t: in_place(t * t).sin(), [x])
    distributed_gradgradcheck(lambda t: in_place(t * t).sin(), [x])


def test_gradients_of_a_view_and_what_lies_beside_it(case):
    def function(t):
        whole = t * 2
        case[0](whole[:, 1])
        return whole**2

    distributed_gradcheck(function, [values(3, 2)])


@pytest.mark.parametrize("which", ["a leaf", "a view of a leaf"])
def test_a_leaf_is_refused_on_all_ranks(case, which):
    """A leaf on one rank is an error on every rank, before anything is sent."""
    leaf = values(3).requires_grad_()
    odd = RANK == SIZE - 1
    x = (leaf if which == "a leaf" else leaf[:]) if odd else leaf * 1
    with pytest.raises(RuntimeError, match=f"{which} Variable that requires grad"):
        case[0](x)
    assert torch.equal(leaf, values(3))
    assert leaf._version == 0
    with torch.no_grad():
        case[0](leaf)  # as in torch
    assert allreduce(torch.ones(1)).item() == SIZE


def test_overlapping_elements_are_refused_on_all_ranks(case):
    x = torch.ones(1).expand(3) if RANK == 0 else torch.ones(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        case[0](x)


def test_a_stale_saved_tensor_is_noticed(case):
    """Defect 3 of mpi4torch: the square saves x, whose new values would give a wrong gradient."""
    leaf = values(3).requires_grad_()
    x = leaf * 1
    square = x**2
    case[0](x)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        square.sum().backward()


@pytest.mark.parametrize("odd", [0, SIZE - 1])
def test_a_stale_result_of_a_maximum_is_everybodys_error(odd):
    """Only one rank has changed a tensor that its backward pass needs."""
    x = values(3).requires_grad_()
    result = allreduce(x * 1, op="max")
    if RANK == odd:
        with torch.no_grad():
            result.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()
    assert allreduce(torch.ones(1)).item() == SIZE


def test_a_wrong_root_on_one_rank_is_everybodys_error(case):
    with pytest.raises(ValueError, match="root is -1"):
        bcast_(values(3), -1 if RANK == 0 else 0)


def test_compiled(case, compiled):
    in_place, functional = case
    leaf = values(2, 3).requires_grad_()

    def function(t):
        x = t * 2
        in_place(x)
        return x.sin()

    result = compiled(function)(leaf)
    expected = functional(leaf * 2).sin()
    cotangent = values(2, 3)
    gradients = [torch.autograd.grad(y, leaf, cotangent)[0] for y in (result, expected)]
    assert torch.allclose(result, expected)
    assert torch.allclose(*gradients)


def test_a_compiled_functions_input_is_written(case, compiled):
    in_place, functional = case
    x = values(2, 3)
    expected = functional(x)

    def function(t):
        in_place(t)

    compiled(function)(x)
    assert torch.equal(x, expected)


def test_schemas_return_nothing():
    for operation in (torch.ops.syncyte.bcast_.default, torch.ops.syncyte.reduce_.default):
        assert operation._schema.returns == []
        assert operation._schema.arguments[0].alias_info.is_write


def test_opcheck(comm):
    for x in (values(2, 3), values(2, 3).t()[::2]):
        torch.library.opcheck(torch.ops.syncyte.bcast_.default, (x, comm.handle, 0))
        torch.library.opcheck(torch.ops.syncyte.reduce_.default, (x, comm.handle, 0, 4))
