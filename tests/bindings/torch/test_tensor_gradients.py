# SPDX-License-Identifier: BSD-3-Clause
"""Every way to read a tensor that requires gradients either records the gradient or raises an error."""

import numpy as np
import pytest
import torch

import syncyte
import syncyte.torch
from backends import INDUCTOR

SHAPE = (7, 3)
WHOLE = torch.arange(21, dtype=torch.float64).reshape(SHAPE)


@pytest.fixture
def world():
    return syncyte.COMM_WORLD


def recording(world, dtype=torch.float64):
    tensor = syncyte.WholeTensor(SHAPE, dtype)
    tensor.local[:] = WHOLE[tensor.rows().start : tensor.rows().stop]
    tensor.sync()
    return tensor.requires_grad_()


KEYS = {
    "number": 3,
    "negative number": -1,
    "all": slice(None),
    "slice": slice(2, 6),
    "steps": slice(0, 7, 3),
    "nothing": slice(5, 2),
    "ellipsis": (Ellipsis, -1),
    "new dimension": (None, 2),
    "element": (4, 1),
    "box": (slice(1, 5), slice(0, 3, 2)),
    "list": [6, 0, -7],
    "range": range(1, 4),
    "numpy": np.array([[5, 0], [-1, 0]]),
    "torch": torch.tensor([0, 3, 3]),
    "torch number": torch.tensor(3),
    "mask": WHOLE[:, 0] > 8,
    "numpy mask": np.arange(7) % 2 == 0,
    "mask of elements": WHOLE % 4 == 1,
    "rows and more": (torch.tensor([6, 0, -7]), slice(1, None)),
    "pairs": (torch.tensor([6, 0, 0]), torch.tensor([-1, 2, 2])),
    "columns": (slice(None), [2, 0]),
    "steps and columns": (slice(0, 7, 3), torch.tensor([2, 0, 2])),
    "row and columns": (5, np.array([2, 1])),
    "mask of columns": (slice(1, None), WHOLE[0] != 1),
    "numpy pairs": (np.array([6, 0]), np.array([-1, 2])),
}


def check_gradient(world, tensor, read, oracle):
    """Checks the values read, and runs backward of a weighted sum of them: for the whole tensor, and for the oracle."""
    weight = torch.linspace(1, 2, oracle.numel(), dtype=torch.float64).reshape(oracle.shape)
    assert isinstance(read, torch.Tensor)
    assert torch.equal(read, oracle)
    (read * weight).sum().backward()
    tensor.sync_grad()
    (oracle * weight).sum().backward()


@pytest.mark.parametrize("dtype", [torch.float64, np.float64], ids=["torch", "numpy"])
@pytest.mark.parametrize("name", KEYS)
def test_reads_by_key(world, name, dtype):
    tensor, single = recording(world, dtype), WHOLE.clone().requires_grad_()
    key = KEYS[name]
    check_gradient(world, tensor, tensor[key], single[list(key) if isinstance(key, range) else key])
    rows = tensor.rows()
    assert torch.allclose(tensor.local.grad, world.size * single.grad[rows.start : rows.stop])


def test_negative_steps(world):
    for key in ((slice(None, None, -2), slice(2, 0, -1)), (slice(1, 6), slice(None, None, -1))):
        tensor, single = recording(world), WHOLE.clone().requires_grad_()
        numbers = torch.from_numpy(np.arange(21).reshape(SHAPE)[key].copy())
        check_gradient(world, tensor, tensor[key], single.flatten()[numbers])
        rows = tensor.rows()
        assert torch.allclose(tensor.local.grad, world.size * single.grad[rows.start : rows.stop])


@pytest.mark.parametrize("index", [[0, 5, 5], 4, np.array([[1, 6]]), torch.tensor([2, 2], dtype=torch.int32)], ids=str)
@pytest.mark.parametrize("collective", [False, True])
def test_gather_of_any_index(world, index, collective):
    tensor, single = recording(world), WHOLE.clone().requires_grad_()
    check_gradient(world, tensor, tensor.gather(index, collective=collective), single[torch.as_tensor(index).long()])
    rows = tensor.rows()
    assert torch.allclose(tensor.local.grad, world.size * single.grad[rows.start : rows.stop])


def test_labels_may_differ(world):
    tensor = syncyte.WholeTensor(SHAPE, torch.float64, label=f"of rank {world.rank}").requires_grad_()
    tensor.gather([0], collective=True).sum().backward()
    tensor.sync_grad()
    if 0 in tensor.rows():
        assert tensor.local.grad[0].tolist() == [world.size] * 3


def test_boxes(world):
    tensor, single = recording(world), WHOLE.clone().requires_grad_()
    check_gradient(world, tensor, tensor.get_box((2, 1), (4, 2)), single[2:6, 1:])
    rows = tensor.rows()
    assert torch.allclose(tensor.local.grad, world.size * single.grad[rows.start : rows.stop])


def test_what_cannot_record_says_so(world):
    tensor = recording(world)
    for read in (
        lambda: tensor.gather([0], out=np.empty((1, 3))),
        lambda: tensor.gather(torch.tensor([0]), out=torch.empty(1, 3, dtype=torch.float64)),
        lambda: tensor.gather(torch.tensor([0]), out=torch.empty(1, 3, dtype=torch.float64), collective=True),
        lambda: tensor.get_box((0, 0), out=np.empty((1, 3))),
    ):
        with pytest.raises(syncyte.ArgumentError, match="out.*no_grad"):
            read()
    with torch.no_grad():
        out = np.empty((1, 3))
        assert tensor.gather([6], out=out) is out
        assert out.tolist() == WHOLE[6:].tolist()
        assert isinstance(tensor[np.array([0])], np.ndarray)
        assert not tensor[0].requires_grad
    world.barrier()


@pytest.mark.parametrize("check", ["off", "on"])
def test_a_wrong_index_of_a_collective_gather_is_everybodys_error(world, check):
    tensor = syncyte.WholeTensor((7, 3), comm=world.dup(check=check)).requires_grad_()
    last = world.size - 1
    with pytest.raises(TypeError, match="index" if world.rank == last else f"failed on rank {last}"):
        tensor.gather(["six"] if world.rank == last else [6], collective=True)
    assert tensor.gather([6], collective=True).shape == (1, 3)


def check_compiled_key(world, name, backend):
    torch._dynamo.reset()
    tensor, single, key = recording(world), WHOLE.clone().requires_grad_(), KEYS[name]
    if name == "torch":
        key = torch.tensor([0, -1, 3, 3])
    read = torch.compile(lambda key: tensor[key] * 2, fullgraph=True, backend=backend)
    check_gradient(world, tensor, read(key), single[key] * 2)
    rows = tensor.rows()
    assert torch.allclose(tensor.local.grad, world.size * single.grad[rows.start : rows.stop])
    with torch.no_grad():
        assert torch.equal(read(key), WHOLE[key] * 2)
    world.barrier()


MORE_KEYS = [
    pytest.param(name, marks=pytest.mark.thorough)
    for name in ("slice", "list", "torch", "torch number", "pairs", "columns")
]


@pytest.mark.parametrize("name", ["number", "rows and more", *MORE_KEYS])
def test_keys_within_torch_compile(world, name):
    check_compiled_key(world, name, "eager")


@pytest.mark.parametrize("backend", ["aot_eager", INDUCTOR])
def test_a_tensor_as_key_within_torch_compile(world, backend):
    check_compiled_key(world, "torch", backend)


def test_wrong_numbers_within_torch_compile(world):
    torch._dynamo.reset()
    tensor = recording(world)
    read = torch.compile(lambda index: tensor[index], fullgraph=True, backend="eager")
    for wrong in (7, -8):
        with pytest.raises(IndexError):
            read(torch.tensor([0, wrong]))
    world.barrier()


def test_a_training_step_by_key(world):
    """A defect that a user reported: a training loop ran without an error, but learned nothing."""
    tensor = syncyte.WholeTensor((4, 2), torch.float32).requires_grad_()
    tensor[torch.tensor([0, 3])].sum().backward()
    tensor.sync_grad()
    expected = [[float(world.size)] * 2 if row in (0, 3) else [0.0] * 2 for row in tensor.rows()]
    assert tensor.local.grad.tolist() == expected


def test_rank_and_size_within_torch_compile(world):
    torch._dynamo.reset()
    syncyte.COMM_SELF.barrier()  # starts Syncyte before the compiled code
    for comm in (world.dup(), world.split(0), world, syncyte.COMM_SELF):
        mean = torch.compile(
            lambda x: (syncyte.torch.allreduce(x, comm) / comm.size, comm.rank), fullgraph=True, backend="eager"
        )
        result, rank = mean(torch.ones(2))
        assert result.tolist() == [1.0, 1.0]
        assert rank == comm.rank


def test_allreduce_names_what_is_no_communicator(world):
    from mpi4py import MPI

    for wrong in (MPI.COMM_WORLD, 0, "world"):
        with pytest.raises(syncyte.DtypeError, match="comm is a .*; expected a syncyte.Comm") as caught:
            syncyte.torch.allreduce(torch.ones(1), wrong)
        assert ("from_mpi4py" in str(caught.value)) == (wrong is MPI.COMM_WORLD)


WRITES = {
    "a row": lambda tensor, x: tensor.__setitem__(0, x[0]),
    "a slice": lambda tensor, x: tensor.__setitem__(slice(0, 2), x),
    "rows": lambda tensor, x: tensor.__setitem__([0, 1], x),
    "scatter_": lambda tensor, x: tensor.scatter_([0, 1], x),
    "scatter_add_": lambda tensor, x: tensor.scatter_add_([0, 1], x),
    "put_box": lambda tensor, x: tensor.put_box((0, 0), x),
    "Window.put": lambda tensor, x: window_of(tensor).put(0, 0, x),
    "Window.accumulate": lambda tensor, x: window_of(tensor).accumulate(0, 0, x),
}


def window_of(tensor):
    return syncyte.Window(2 * 3 * 8, comm=tensor.comm)


@pytest.mark.parametrize("name", WRITES)
def test_writes_refuse_what_requires_gradients(world, name):
    write, tensor = WRITES[name], syncyte.WholeTensor(SHAPE, torch.float64)
    for x in (
        torch.ones(2, 3, dtype=torch.float64, requires_grad=True),
        torch.ones(2, 3).double().requires_grad_() * 2,
    ):
        with pytest.raises(syncyte.ArgumentError, match=r"(source|values) requires grad.*lost.*detach\(\).*no_grad"):
            write(tensor, x)
    tensor.sync()
    assert not tensor.local.any()
    tensor.sync()
    for _ in range(2):
        with torch.no_grad():
            write(tensor, x)
        write(tensor, x.detach())
    tensor.sync()


def test_a_whole_tensor_that_records_gradients_is_not_assigned_in_silence(world):
    source, target = recording(world), syncyte.WholeTensor(SHAPE, torch.float64)
    with pytest.raises(syncyte.ArgumentError, match="records gradients.*no_grad"):
        target[:] = source
    with torch.no_grad():
        target[:] = source
    assert torch.equal(target[:], WHOLE)
    world.barrier()


def test_requires_grad_of_false_is_checked_on_this_rank_alone(world):
    """requires_grad_(False) is not collective: a rank with an error does not wait for the others."""
    tensor = syncyte.WholeTensor(SHAPE, torch.float64)
    local = tensor.local
    memory = local.data
    if world.rank == 0:
        local.data = torch.zeros_like(memory)
        with pytest.raises(ValueError, match="memory was replaced"):
            tensor.requires_grad_(False)
        local.data = memory
    else:
        tensor.requires_grad_(False)
    assert world.allreduce(1) == world.size
    tensor.sync()
