# SPDX-License-Identifier: BSD-3-Clause
"""Reductions of syncyte.torch other than the sum: values, adjoints with ties and zeros, double backward, and reductions
without derivative."""

import pytest
import torch
from mpi4py import MPI

from distributed_gradcheck import distributed_gradcheck, distributed_gradgradcheck
from syncyte.torch import allreduce, exscan, iallreduce, reduce, reduce_scatter_along, scan
from traces import traced_operations

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
TORCH_OPS = {
    "sum": lambda x: x.sum(0),
    "prod": lambda x: x.prod(0),
    "min": lambda x: x.amin(0),
    "max": lambda x: x.amax(0),
}

REDUCTIONS = {"allreduce": lambda x, op: allreduce(x, op=op), "reduce": lambda x, op: reduce(x, SIZE - 1, op=op)}


@pytest.fixture(params=REDUCTIONS)
def reduction(request):
    return REDUCTIONS[request.param]


def all_of(mine: torch.Tensor) -> torch.Tensor:
    return torch.stack(WORLD.allgather(mine.detach()))


def reference(x: torch.Tensor, cotangents: torch.Tensor, op: str) -> torch.Tensor:
    """Gradient of the sum over ranks of <y, cotangent of the rank>, computed by torch on the stacked x of all ranks."""
    everyone = all_of(x).requires_grad_()
    result = TORCH_OPS[op](everyone)
    (gradient,) = torch.autograd.grad(result, everyone, cotangents.sum(0))
    return gradient[RANK]


@pytest.mark.parametrize("op", TORCH_OPS)
@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32, torch.uint8]
)
def test_values(op, dtype):
    x = (torch.arange(6).reshape(2, 3) * (RANK + 1) % 4 + 1).to(dtype)
    everyone = all_of(x)
    expected = TORCH_OPS[op](everyone).to(dtype)
    assert torch.equal(allreduce(x.t(), op=op), expected.t())
    assert torch.equal(reduce(x, 0, op=op), expected if RANK == 0 else torch.zeros_like(x))
    assert torch.equal(scan(x, op=op), TORCH_OPS[op](everyone[: RANK + 1]).to(dtype))
    assert torch.equal(scan(x, op=op, reverse=True), TORCH_OPS[op](everyone[RANK:]).to(dtype))
    part = 3 if RANK == SIZE - 1 else 0
    assert torch.equal(reduce_scatter_along(x, part, 1, op=op), expected if part else expected[:, :0])
    if op == "prod" and RANK == 0:
        assert torch.equal(exscan(x, op=op), torch.ones_like(x))
    else:
        exscan(x, op=op)


def test_logic_of_bool_and_integers():
    bits = torch.tensor([RANK == 0, True, False])
    assert allreduce(bits, op="land").tolist() == [SIZE == 1, True, False]
    assert allreduce(bits, op="lor").tolist() == [True, True, False]
    numbers = torch.tensor([1 << RANK, 6], dtype=torch.int64)
    assert allreduce(numbers, op="bor").tolist() == [2**SIZE - 1, 6]
    assert allreduce(numbers, op="band").tolist() == [SIZE == 1, 6]
    assert allreduce(numbers, op="bxor").tolist() == [2**SIZE - 1, 6 * (SIZE % 2)]


@pytest.mark.parametrize("op", ["max", "min", "prod"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradcheck(reduction, generator, op, dtype):
    if dtype.is_complex and op != "prod":
        pytest.skip("complex numbers have no order")
    x = torch.randn(2, 2, dtype=dtype, generator=generator)
    distributed_gradcheck(lambda t: reduction(t * t, op).sin(), [x])
    distributed_gradgradcheck(lambda t: reduction(t * t, op).sin(), [x])


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("zeros", [1, 2, SIZE])
def test_product_with_zeros(reduction, generator, zeros, dtype):
    """Element 0 is zero on the first ranks, element 1 on no rank."""
    x = torch.randn(2, dtype=dtype, generator=generator)
    x[0] *= RANK >= zeros
    distributed_gradcheck(lambda t: reduction(t, "prod"), [x])
    distributed_gradgradcheck(lambda t: reduction(t, "prod"), [x])
    t = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(reduction(t, "prod"), t, torch.ones_like(t))
    others = torch.cat([all_of(x)[:RANK], all_of(x)[RANK + 1 :]]).prod(0)
    received = SIZE if reduction is REDUCTIONS["allreduce"] else 1  # each rank's cotangent is 1
    assert torch.allclose(gradient, others.conj() * received)


def test_first_order_and_double_backward_agree_on_the_product(generator):
    x = torch.randn(5, dtype=torch.complex128, generator=generator, requires_grad=True)
    cotangent = torch.randn(5, dtype=torch.complex128, generator=generator)
    (first,) = torch.autograd.grad(allreduce(x, op="prod"), x, cotangent)
    (second,) = torch.autograd.grad(allreduce(x, op="prod"), x, cotangent, create_graph=True)
    assert torch.allclose(first, second)
    assert second.requires_grad == (SIZE > 1)
    assert not first.requires_grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("op", ["max", "min"])
def test_ties_share_equally(reduction, op, dtype):
    """All ranks tie in element 0, the first and the last rank in element 1; no ranks tie in element 2."""
    sign = 1 if op == "max" else -1
    x = sign * torch.tensor([7, 5 if RANK in (0, SIZE - 1) else 1, RANK], dtype=dtype)
    t = x.clone().requires_grad_()
    cotangent = torch.tensor([1.0, 2.0, 4.0], dtype=dtype) * (RANK + 1)
    result = reduction(t, op)
    (gradient,) = torch.autograd.grad(result, t, cotangent)
    everyone = all_of(cotangent)
    if reduction is REDUCTIONS["reduce"]:
        everyone[:-1] = 0
    assert torch.allclose(gradient, reference(x, everyone, op), rtol=1e-2 if dtype.itemsize == 2 else 1e-6)


@pytest.mark.parametrize("op", ["max", "min"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("where", range(SIZE))
def test_nan_reaches_all_ranks(where, dtype, op):
    x = torch.tensor([float("nan") if RANK == where else 1.0, float(RANK)], dtype=dtype, requires_grad=True)
    y = allreduce(x, op=op)
    assert y[0].isnan()
    assert y[1] == (SIZE - 1 if op == "max" else 0)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert gradient[0].isnan()
    assert gradient[1] == (SIZE if RANK == (SIZE - 1 if op == "max" else 0) else 0)
    constant = x.detach()
    assert reduce(constant, SIZE - 1, op=op)[0].isnan() == (RANK == SIZE - 1)
    assert scan(constant, op=op)[0].isnan() == (RANK >= where)
    assert exscan(constant, op=op)[0].isnan() == (RANK > where)
    part = reduce_scatter_along(constant, 2 if RANK == 0 else 0, op=op)
    if RANK == 0:
        assert part[0].isnan()
        assert not part[1].isnan()


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int32, torch.int64])
def test_logical_exclusive_or(dtype):
    x = torch.tensor([0, 2, RANK, RANK == 0]).to(dtype)
    result = allreduce(x, op="lxor")
    nonzero = SIZE - 1
    assert result.dtype == dtype
    assert result.bool().tolist() == [False, SIZE % 2 == 1, nonzero % 2 == 1, True]
    assert scan(x, op="lxor")[1].bool() == ((RANK + 1) % 2 == 1)  # also right where the scan covers one rank only
    with pytest.raises(NotImplementedError, match="op is LXOR; expected .* defined for dtype float32"):
        allreduce(torch.ones(2), op="lxor")
    with pytest.raises(NotImplementedError, match="op lxor of allreduce has no adjoint"):
        allreduce(torch.ones(2, requires_grad=True), op="lxor")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: scan(x, op="max"),
        lambda x: exscan(x, op="prod"),
        lambda x: scan(x, op="min", reverse=True),
        lambda x: reduce_scatter_along(x, 3 if RANK == 0 else 0, op="prod"),
    ],
    ids=["scan", "exscan", "reverse", "scatter"],
)
def test_no_adjoint_is_everybodys_error_at_once(call):
    """The error is raised on all ranks although only the last rank would record gradients."""
    x = torch.ones(3, requires_grad=RANK == SIZE - 1)
    with pytest.raises(
        NotImplementedError, match="op (max|min|prod) of .* has no adjoint; detach the input or use sum"
    ):
        call(x)
    with torch.no_grad():
        call(x)
    assert not call(x.detach()).requires_grad


def test_no_order_of_complex_numbers():
    with pytest.raises(NotImplementedError, match="op is MAX; expected .* defined for dtype complex"):
        allreduce(torch.ones(2, dtype=torch.complex64, requires_grad=True), op="max")
    with pytest.raises(NotImplementedError, match="op is LOR; expected"):
        allreduce(torch.ones(2), op="lor")
    with pytest.raises(NotImplementedError, match="op lor of allreduce has no adjoint"):
        allreduce(torch.ones(2, requires_grad=True), op="lor")


def test_no_tangents():
    with pytest.raises(NotImplementedError, match="op max of allreduce has no forward-mode derivative"):
        torch.func.jvp(lambda x: allreduce(x, op="max"), (torch.ones(2),), (torch.ones(2),))
    assert allreduce(torch.ones(1)).item() == SIZE


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap():
    batch = torch.arange(6.0).view(2, 3) * (RANK + 1)
    assert torch.equal(torch.vmap(lambda x: allreduce(x, op="max"))(batch), torch.arange(6.0).view(2, 3) * SIZE)


def test_a_wrong_op_on_one_rank_is_everybodys_error():
    odd = RANK == SIZE - 1
    with pytest.raises(
        ValueError, match="op is 'maximum'; expected one of sum, prod, min, max, land, lor, band, bor, bxor, lxor$"
    ):
        allreduce(torch.ones(2), op="maximum" if odd else "max")
    with pytest.raises(ValueError, match="adjoint is 'both'; expected 'sum' or 'identity'"):
        allreduce(torch.ones(2), adjoint="both" if odd else "identity")
    with pytest.raises(ValueError, match="op is 10; expected"):
        reduce(torch.ones(2), op="replace" if odd else "sum")


@pytest.mark.skipif(SIZE == 1, reason="one rank agrees with itself")
def test_different_ops_and_adjoints():
    odd = RANK == 0
    with pytest.raises(ValueError, match="op is"):
        allreduce(torch.ones(2), op="max" if odd else "min")
    with pytest.raises(ValueError, match="identity as adjoint is"):
        allreduce(torch.ones(2), adjoint="identity" if odd else "sum")
    with pytest.raises(ValueError, match="op is"):
        reduce_scatter_along(torch.ones(2), 2 * odd, op="max" if odd else "min")


# The identity as adjoint, for programs in which all ranks compute the same loss L(y) from the same result y.


@pytest.mark.parametrize("op", ["sum", "max", "prod"])
def test_identity_adjoint(generator, op):
    """Equals torch's gradient of L on the stacked x of all ranks; with adjoint="sum" it is SIZE times as large."""
    x = torch.randn(4, dtype=torch.float64, generator=generator, requires_grad=True)
    everyone = all_of(x).requires_grad_()
    (expected,) = torch.autograd.grad((TORCH_OPS[op](everyone) ** 3).sum(), everyone)
    (gradient,) = torch.autograd.grad((allreduce(x, op=op, adjoint="identity") ** 3).sum(), x)
    assert torch.allclose(gradient, expected[RANK])
    (summed,) = torch.autograd.grad((allreduce(x, op=op) ** 3).sum(), x)
    assert torch.allclose(summed, SIZE * gradient)


@pytest.mark.parametrize("op", ["sum", "max", "prod"])
def test_double_backward_of_the_identity_adjoint(generator, op):
    """Gradient of the sum over ranks of <dL/dx_r, v_r>."""
    x, v = (torch.randn(4, dtype=torch.float64, generator=generator) for _ in range(2))
    everyone = all_of(x).requires_grad_()
    (first,) = torch.autograd.grad((TORCH_OPS[op](everyone) ** 3).sum(), everyone, create_graph=True)
    (expected,) = torch.autograd.grad((first * all_of(v)).sum(), everyone)
    x.requires_grad_()
    (mine,) = torch.autograd.grad((allreduce(x, op=op, adjoint="identity") ** 3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((mine * v).sum(), x)
    assert torch.allclose(second, expected[RANK])


def test_backward_of_the_identity_adjoint_sends_nothing():
    x = torch.ones(3, requires_grad=True)
    result = allreduce(x, adjoint="identity")
    with traced_operations() as seen:
        result.sum().backward()
    assert seen == []
    assert x.grad.tolist() == [1.0] * 3


@pytest.mark.parametrize(
    "op, name",
    [
        (MPI.SUM, "sum"),
        (MPI.MAX, "max"),
        (torch.distributed.ReduceOp.SUM, "sum"),
        (torch.distributed.ReduceOp.PRODUCT, "prod"),
    ],
)
def test_reductions_by_mpi4pys_and_torchs_names(op, name):
    x = torch.arange(3.0) + RANK
    assert torch.equal(allreduce(x, op=op), allreduce(x, op=name))
    assert torch.equal(scan(x, op=op), scan(x, op=name))
    assert torch.equal(iallreduce(x, op=op).wait(), allreduce(x, op=name))
    with pytest.raises(ValueError, match="op is .*; expected one of sum, prod"):
        allreduce(x, op=torch.distributed.ReduceOp.AVG)
