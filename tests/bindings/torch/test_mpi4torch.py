# SPDX-License-Identifier: BSD-3-Clause
"""Behaviour of mpi4torch in syncyte.compat.mpi4torch, and defects of mpi4torch that it does not have."""

import copy
import gc
import os
import pathlib
import pickle
import runpy
import subprocess
import sys
import weakref

import pytest
import torch
from mpi4py import MPI

import syncyte.compat.mpi4torch as mpi4torch
from mpi_harness.job import without_launcher

WORLD = MPI.COMM_WORLD
SIZE, RANK = WORLD.size, WORLD.rank
NEXT, PREVIOUS = (RANK + 1) % SIZE, (RANK - 1) % SIZE


def numbers(*shape: int, grad: bool = False) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3 + RANK)
    return torch.rand(shape, dtype=torch.float64, generator=generator).requires_grad_(grad)


def test_rank_size_and_constants(world):
    assert (world.rank, world.size) == (RANK, SIZE)
    names = ["MAX", "MIN", "SUM", "PROD", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR", "MINLOC", "MAXLOC"]
    assert [getattr(mpi4torch, "MPI_" + name) for name in names] == list(range(12))


@pytest.mark.parametrize(
    "op, expected", [("MAX", SIZE - 1.0), ("MIN", 0.0), ("SUM", SIZE * (SIZE - 1) / 2), ("PROD", 0.0)]
)
def test_operations(world, op, expected):
    result = world.Allreduce(tensor=torch.full((2,), float(RANK)), op=getattr(mpi4torch, "MPI_" + op))
    assert result.tolist() == [expected] * 2


def test_logical_exclusive_or(world):
    x = torch.tensor([0, 2, RANK], dtype=torch.int32)
    assert world.Allreduce(x, mpi4torch.MPI_LXOR).bool().tolist() == [False, SIZE % 2 == 1, SIZE % 2 == 0]


@pytest.mark.parametrize("op", ["LXOR", "MINLOC", "MAXLOC"])
def test_operations_that_are_refused(world, op):
    with pytest.raises((ValueError, NotImplementedError)):
        world.Allreduce(torch.ones(2), getattr(mpi4torch, "MPI_" + op))


def test_allreduce_and_its_gradient_in_torchscript(world):
    @torch.jit.script
    def double_sum(comm: mpi4torch.MPI_Communicator, x):
        return comm.Allreduce(x, mpi4torch.MPI_SUM) * 2

    x = numbers(3, grad=True)
    double_sum(world, x).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, 2.0 * SIZE))


def test_messages_in_torchscript(world):
    @torch.jit.script
    def ring(comm: mpi4torch.MPI_Communicator, x, next: int, previous: int):
        request = comm.Isend(x, next, 0)
        got = comm.Recv(mpi4torch.JoinDummies(torch.empty_like(x), [request.dummy]), previous, 0)
        token = comm.Wait(mpi4torch.JoinDummiesHandle(request, [got]))
        return mpi4torch.JoinDummies(got, [token])

    x = numbers(4, grad=True)
    (ring(world, x, NEXT, PREVIOUS) * (RANK + 1)).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, NEXT + 1.0))


def test_bcast_and_reduce_take_leaves_and_work_in_place(world):
    x = numbers(3, grad=True)
    root = WORLD.bcast(x.detach().clone())
    result = world.Bcast_(x, 0)
    assert torch.equal(result, root)
    assert torch.equal(x.detach(), root)
    result.sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, SIZE if RANK == 0 else 0))
    y = torch.ones(3, dtype=torch.float64, requires_grad=True)
    result = world.Reduce_(y, mpi4torch.MPI_SUM, 0)
    assert torch.equal(y.detach(), torch.full((3,), SIZE if RANK == 0 else 0, dtype=torch.float64))
    result.sum().backward()
    assert torch.equal(y.grad, torch.ones_like(y))


@pytest.mark.parametrize("op", ["MAX", "MIN", "PROD"])
def test_gradients_of_other_reductions_in_place(world, op):
    x = torch.full((2,), 2.0 + RANK, dtype=torch.float64, requires_grad=True)
    world.Reduce_(x, getattr(mpi4torch, "MPI_" + op), 0).sum().backward()
    others = torch.tensor([2.0 + rank for rank in range(SIZE) if rank != RANK], dtype=torch.float64).prod().item()
    expected = {"MAX": float(RANK == SIZE - 1), "MIN": float(RANK == 0), "PROD": others}[op]
    assert x.grad.tolist() == [expected] * 2


def test_an_overwritten_tensor_is_not_used_again(world):
    x = 0.0 + numbers(3, grad=True)
    result = x + world.Reduce_(x, mpi4torch.MPI_SUM, 0)
    with pytest.raises(RuntimeError, match="overwritten in place"):
        result.sum().backward()


def test_an_overwritten_tensor_that_was_saved_is_noticed(world):
    x = 0.0 + numbers(3, grad=True)
    saved = x * x
    world.Bcast_(x, 0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()


def test_gather_scatter_of_unequal_lengths(world):
    x = numbers(2, RANK + 1, 3, grad=True)
    whole = world.Gather(x, -2, SIZE - 1)
    assert whole.shape == (2, SIZE * (SIZE + 1) // 2 if RANK == SIZE - 1 else 0, 3)
    back = world.Scatter(whole, 1, RANK + 1, SIZE - 1)
    assert torch.equal(back, x)
    (back * (RANK + 2)).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, RANK + 2.0))


def test_the_gradient_of_allgather_on_every_rank(world):
    x = numbers(2, 3, grad=True)
    weights = [
        torch.randn(2, 3 * SIZE, dtype=torch.float64, generator=torch.Generator().manual_seed(rank))
        for rank in range(SIZE)
    ]
    (world.Allgather(x, 1) * weights[RANK]).sum().backward()
    torch.testing.assert_close(x.grad, sum(weights)[:, 3 * RANK : 3 * RANK + 3])


def test_alltoall(world):
    x = numbers(2, RANK + 1, SIZE * (SIZE + 1) // 2, grad=True)
    y = world.Alltoall(x, gatheraxis=1, scatteraxis=2, numelem=RANK + 1)
    assert torch.equal(world.Alltoall(y, 2, 1, RANK + 1), x)
    (y * (RANK + 1)).sum().backward()
    assert torch.equal(x.grad[0, 0], torch.cat([torch.full((r + 1,), r + 1.0) for r in range(SIZE)]).double())


def test_join_dummies(world):
    x, dummy = numbers(2, grad=True), numbers(3, grad=True)
    assert mpi4torch.JoinDummies(x, [numbers(1)]) is x
    mpi4torch.JoinDummies(world.Allreduce(x, mpi4torch.MPI_SUM), [dummy]).sum().backward()
    assert torch.equal(dummy.grad, torch.zeros_like(dummy))
    assert torch.equal(x.grad, torch.full_like(x, SIZE))


def test_both_started(world):
    x = numbers(10000, grad=True)
    sent = world.Isend(x, NEXT, 0)
    received = world.Irecv(mpi4torch.JoinDummies(torch.empty_like(x), [sent.dummy]), PREVIOUS, 0)
    token = world.Wait(mpi4torch.JoinDummiesHandle(sent, [received.dummy]))
    result = world.Wait(mpi4torch.JoinDummiesHandle(received, [token]))
    (result * RANK).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, NEXT))


def test_a_receive_without_a_gradient_takes_what_is_sent_with(world):
    sent = world.Isend(numbers(3, grad=True), NEXT, 1)
    with torch.no_grad():
        assert not world.Recv(torch.empty(3, dtype=torch.float64), PREVIOUS, 1).requires_grad
    world.Wait(sent)


def test_waiting_twice(world):
    handle = world.Isend(torch.ones(2), NEXT, 4)
    world.Recv(torch.empty(2), PREVIOUS, 4)
    world.Wait(handle)
    with pytest.raises(RuntimeError, match="has been waited for already"):
        world.Wait(handle)


def test_copies_and_pickles_of_communicators(world):
    for copied in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
        assert (copied.rank, copied.size) == (RANK, SIZE)
        assert copied.Allreduce(torch.ones(1), mpi4torch.MPI_SUM).item() == SIZE


def test_from_mpi4py():
    part = WORLD.Split(RANK % 2)
    comm = mpi4torch.comm_from_mpi4py(part)
    assert comm.Allreduce(torch.tensor(float(RANK)), mpi4torch.MPI_SUM).item() == part.allreduce(RANK)
    part.Free()
    mpi4torch.deactivate_cuda_aware_mpi_support()


def test_an_mpi4py_communicator_is_duplicated_once():
    part = WORLD.Split(RANK % 2)
    first = mpi4torch.comm_from_mpi4py(part)
    assert {mpi4torch.comm_from_mpi4py(part)._comm for _ in range(10_000)} == {first._comm}
    other = part.Dup()
    assert mpi4torch.comm_from_mpi4py(other)._comm != first._comm
    ours = weakref.ref(mpi4torch._alive[first._comm])
    part.Free()
    other.Free()
    copied = copy.deepcopy(first)
    del first
    gc.collect()
    assert ours() is not None
    assert copied.Allreduce(torch.ones(1), mpi4torch.MPI_SUM).item() == copied.size
    del copied
    gc.collect()
    assert ours() is None


def test_join_dummies_leaks_nothing(world):
    def live() -> int:
        gc.collect()
        return sum(isinstance(thing, torch.Tensor) for thing in gc.get_objects())

    def step() -> None:
        x = numbers(3, grad=True)
        mpi4torch.JoinDummies(world.Allreduce(x, mpi4torch.MPI_SUM), [x * 2]).sum().backward()

    step()
    before = live()
    for _ in range(20):
        step()
    assert live() <= before


@pytest.mark.thorough  # torch_compat_script does the same with several ranks
@pytest.mark.skipif(RANK > 0, reason="starts a process of its own, on rank 0")
def test_a_script_that_imports_mpi4torch(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, torch, mpi4torch\nfrom mpi4torch import *\n"
        "print('sum', COMM_WORLD.Allreduce(torch.ones(2), mpi4torch.MPI_SUM).tolist(), sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "syncyte.compat", str(script), "more"],
        env=without_launcher({}),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "sum [1.0, 1.0] ['more']" in done.stdout, done.stderr


def fitted(world) -> torch.Tensor:
    """Fits a quadratic to points, of which every rank has a part, with the mean of the ranks' parameters."""
    x = 2 * torch.rand(1000, dtype=torch.float64, generator=torch.Generator().manual_seed(42))[RANK::SIZE]
    y = (3 * x - 2) * x + 0.5
    parameters = torch.arange(3, dtype=torch.float64).requires_grad_()
    optimizer = torch.optim.LBFGS([parameters], 1)

    def closure() -> torch.Tensor:
        mean = world.Allreduce(parameters, mpi4torch.MPI_SUM) / world.size
        loss = world.Allreduce(((mean[2] * x + mean[1]) * x + mean[0] - y).square().sum(), mpi4torch.MPI_SUM)
        optimizer.zero_grad()
        loss.backward()
        return loss

    optimizer.step(closure)
    return parameters.detach()


def test_a_regression_has_the_same_result_at_every_number_of_ranks(world):
    assert torch.allclose(fitted(world), torch.tensor([0.5, -2.0, 3.0], dtype=torch.float64), atol=1e-4)


FOLDER = os.environ.get("SYNCYTE_MPI4TORCH_TESTS", "")


@pytest.mark.skipif(not FOLDER, reason="SYNCYTE_MPI4TORCH_TESTS names no folder with mpi4torch's own tests")
@pytest.mark.parametrize(
    "path", sorted(pathlib.Path(FOLDER or "/nonexistent").glob("test_*.py")), ids=lambda path: path.stem
)
def test_mpi4torchs_own(path, monkeypatch):
    import importlib.util
    import unittest

    monkeypatch.setitem(sys.modules, "mpi4torch", mpi4torch)
    spec = importlib.util.spec_from_file_location("mpi4torch_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    outcome = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(module).run(outcome)
    failures: list[str] = [text for _, text in outcome.failures + outcome.errors]
    assert outcome.testsRun > 0
    assert not failures, "\n".join(failures)


def run_by_name(script: pathlib.Path, capfd) -> str:
    """Runs a script with `import mpi4torch` in this process. Returns its output on this rank."""
    runpy.run_path(str(script), run_name="__main__")
    return capfd.readouterr().out


@pytest.mark.skipif(not FOLDER, reason="SYNCYTE_MPI4TORCH_TESTS names no folder with mpi4torch's own tests")
def test_mpi4torchs_examples(monkeypatch, capfd):
    """mpi4torch's examples, beside its folder of tests. The expected numbers do not depend on the number of ranks."""
    monkeypatch.setitem(sys.modules, "mpi4torch", mpi4torch)
    examples = pathlib.Path(FOLDER).parent / "examples"
    result, gradient = run_by_name(examples / "isend-recv-wait.py", capfd).splitlines()
    assert result.startswith(f"tensor([{2 + RANK + PREVIOUS}.]")
    assert gradient == "tensor([2.])"
    printed = run_by_name(examples / "simple_linear_regression.py", capfd)
    assert ("Final parameters:  tensor([ 0.1000,  1.0000, -2.0000]" in printed) == (RANK == 0)
