"""The interface of mpi4torch 0.1.3 on Syncyte: ``import syncyte.compat.mpi4torch as mpi4torch``.

What differs: gradients are right at any number of ranks; an incoming gradient is never overwritten; receives write
nothing beside a view, and what they overwrite is noticed where autograd has saved it; wrong arguments and ranks that
disagree raise an exception with a text on every rank;
MPI_MAX, MPI_MIN and MPI_PROD have gradients in Allreduce and Reduce_; all dtypes of Syncyte; and MPI is initialised by
the first use of COMM_WORLD, not by the import. As with mpi4torch, Bcast_ and Reduce_ take leaves that require
gradients.
"""

from __future__ import annotations

import copyreg
import functools
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

import syncyte.torch  # registers torch.ops.syncyte
from syncyte import comm as _comm
from syncyte._torch_refusals import not_a_tensor, raise_on_all

if TYPE_CHECKING:
    from mpi4py import MPI

    COMM_WORLD: MPI_Communicator

__all__ = [
    "COMM_WORLD",
    "MPI_BAND",
    "MPI_BOR",
    "MPI_BXOR",
    "MPI_LAND",
    "MPI_LOR",
    "MPI_LXOR",
    "MPI_MAX",
    "MPI_MAXLOC",
    "MPI_MIN",
    "MPI_MINLOC",
    "MPI_PROD",
    "MPI_SUM",
    "JoinDummies",
    "JoinDummiesHandle",
    "MPI_Communicator",
    "WaitHandle",
    "comm_from_mpi4py",
    "deactivate_cuda_aware_mpi_support",
]

MPI_MAX: int = 0
MPI_MIN: int = 1
MPI_SUM: int = 2
MPI_PROD: int = 3
MPI_LAND: int = 4
MPI_BAND: int = 5
MPI_LOR: int = 6
MPI_BOR: int = 7
MPI_LXOR: int = 8
MPI_BXOR: int = 9
MPI_MINLOC: int = 10
MPI_MAXLOC: int = 11


def _script(entry: Any) -> Any:
    with warnings.catch_warnings():  # torch 2.15 calls TorchScript deprecated; programs for mpi4torch use it
        warnings.simplefilter("ignore", FutureWarning)
        return torch.jit.script(entry, _frames_up=1)


@_script
def _operation(op: int) -> int:
    """Syncyte's number (SYNCYTE_OP_...). What it has not stays what it refuses on all ranks."""
    numbers = [4, 3, 1, 2, 5, 7, 6, 8, 11, 9, -1, -1]
    return numbers[op] if 0 <= op < len(numbers) else -1


@_script
class WaitHandle:
    """What Isend and Irecv return, for Wait: once."""

    def __init__(self, raw_handle: list[torch.Tensor]):
        self._handle = raw_handle  # ticket; the tensor, without its history; elements: 0 of a send, 1 or 2 of a receive

    @property
    def dummy(self):
        """Stands for the handle among the dummies of JoinDummies and JoinDummiesHandle."""
        return self._handle[0]


@_script
def JoinDummies(loopthrough: torch.Tensor, dummies: list[torch.Tensor]) -> torch.Tensor:
    """``loopthrough``, which autograd takes to depend on the dummies too; they get zeros for gradients.

    Returns ``loopthrough`` itself if no dummy requires gradients.
    """
    return torch.ops.syncyte.join_dummies(loopthrough, dummies)


@_script
def JoinDummiesHandle(handle: WaitHandle, dummies: list[torch.Tensor]) -> WaitHandle:
    """As JoinDummies, for a handle."""
    raw = handle._handle
    return WaitHandle([torch.ops.syncyte.join_dummies(raw[0], dummies), raw[1], raw[2]])


@_script
class MPI_Communicator:
    """mpi4torch's communicator: a number that torch.ops.syncyte knows, so that TorchScript can hold it.

    Methods whose name ends in an underscore work in place.
    """

    def __init__(self, comm: int):
        self._comm = comm

    @property
    def rank(self) -> int:
        """This process's number, 0 to size - 1."""
        return torch.ops.syncyte.comm_rank(self._comm)

    @property
    def size(self) -> int:
        """Number of ranks."""
        return torch.ops.syncyte.comm_size(self._comm)

    def Allreduce(self, tensor: torch.Tensor, op: int) -> torch.Tensor:
        """All ranks' tensors reduced element by element, on all of them. Collective."""
        return torch.ops.syncyte.allreduce(tensor, self._comm, _operation(op))

    def Bcast_(self, tensor: torch.Tensor, root: int) -> torch.Tensor:
        """``root``'s tensor on all ranks, in place. Collective."""
        return torch.ops.syncyte.overwrite(tensor, torch.ops.syncyte.bcast(tensor, self._comm, root))

    def Reduce_(self, tensor: torch.Tensor, op: int, root: int) -> torch.Tensor:
        """All ranks' tensors reduced on ``root``, in place; zeros on the others. Collective."""
        # What backward of the others than the sum needs is overwritten here.
        given = tensor.clone() if tensor.requires_grad and op != 2 else tensor
        return torch.ops.syncyte.overwrite(tensor, torch.ops.syncyte.reduce(given, self._comm, root, _operation(op)))

    def Gather(self, tensor: torch.Tensor, gatheraxis: int, root: int) -> torch.Tensor:
        """All ranks' tensors one after another along an axis, on ``root``. Collective."""
        return torch.ops.syncyte.gather_along(tensor, self._comm, gatheraxis, root)

    def Allgather(self, tensor: torch.Tensor, gatheraxis: int) -> torch.Tensor:
        """All ranks' tensors one after another along an axis, on all of them. Collective."""
        return torch.ops.syncyte.allgather_along(tensor, self._comm, gatheraxis)

    def Scatter(self, tensor: torch.Tensor, scatteraxis: int, numelem: int, root: int) -> torch.Tensor:
        """This rank's part, ``numelem`` along an axis, of ``root``'s tensor. Collective."""
        return torch.ops.syncyte.scatter_along(tensor, self._comm, scatteraxis, numelem, root)

    def Alltoall(self, tensor: torch.Tensor, gatheraxis: int, scatteraxis: int, numelem: int) -> torch.Tensor:
        """Scatters every rank's tensor along one axis, and gathers along another. Collective."""
        return torch.ops.syncyte.alltoall_along(tensor, self._comm, gatheraxis, scatteraxis, numelem)

    def Isend(self, tensor: torch.Tensor, dest: int, tag: int) -> WaitHandle:
        """Starts to send; Wait() ends it."""
        return WaitHandle([torch.ops.syncyte.isend(tensor, self._comm, dest, tag), tensor.detach(), torch.empty([0])])

    def Irecv(self, tensor: torch.Tensor, source: int, tag: int) -> WaitHandle:
        """Starts to receive into the tensor; Wait() ends it."""
        kind = torch.empty([2 if source == -2 else 1])  # nobody sends: the tensor stays as it is
        return WaitHandle([torch.ops.syncyte.irecv(tensor, self._comm, source, tag), tensor.detach(), kind])

    def Wait(self, waithandle: WaitHandle) -> torch.Tensor:
        """The tensor that was sent, or received into: its memory, in a place of its own in the graph."""
        ticket, memory, kind = waithandle._handle
        # 3: with or without the sender's gradients
        value = torch.ops.syncyte.wait_message(ticket, self._comm, memory.size(), memory.dtype, kind.numel() >= 1, 0,
                                               3)[0]
        if kind.numel() == 1:
            return torch.ops.syncyte.overwrite(memory, value)
        return torch.ops.syncyte.join_dummies(memory, [value])

    def Send(self, tensor: torch.Tensor, dest: int, tag: int) -> torch.Tensor:
        """Sends, and waits until that is done."""
        return self.Wait(self.Isend(tensor, dest, tag))

    def Recv(self, tensor: torch.Tensor, source: int, tag: int) -> torch.Tensor:
        """Receives into the tensor, and waits until that is done."""
        return self.Wait(self.Irecv(tensor, source, tag))


def _telling(method: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A collective called from Python: arguments of wrong types, which torch refuses, are every rank's error."""

    @functools.wraps(method)
    def call(self: MPI_Communicator, tensor: torch.Tensor, *arguments: Any, **named: Any) -> torch.Tensor:
        try:
            if not isinstance(tensor, torch.Tensor):  # schemas take None
                raise not_a_tensor(tensor)
            return method(self, tensor, *arguments, **named)
        except Exception as error:
            raise_on_all(error, tensor, _alive[self._comm], method.__name__)
            raise

    return call


for _name in ("Allreduce", "Bcast_", "Reduce_", "Gather", "Allgather", "Scatter", "Alltoall"):
    setattr(MPI_Communicator, _name, _telling(getattr(MPI_Communicator, _name)))  # TorchScript has its own by now

# Communicators that an MPI_Communicator, which holds a number, stands for. They live as long as one of these does.
_alive: weakref.WeakValueDictionary[int, _comm.Comm] = weakref.WeakValueDictionary()


def _wrapped(comm: _comm.Comm) -> MPI_Communicator:
    _alive[comm.handle] = comm
    wrapper = MPI_Communicator(comm.handle)
    weakref.finalize(wrapper, _hold, comm).atexit = False
    return wrapper


def _hold(_: _comm.Comm) -> None:
    """Does nothing: a finalizer holds its arguments."""


def _from_comm(comm: _comm.Comm) -> MPI_Communicator:
    return _wrapped(comm)


# Numbers mean nothing in another process: a communicator is pickled as Syncyte's own is.
copyreg.pickle(MPI_Communicator, lambda wrapper: (_from_comm, (_alive[wrapper._comm],)))


def comm_from_mpi4py(comm: MPI.Comm) -> MPI_Communicator:
    """An mpi4py communicator, duplicated: at the first call, which is collective over it, other than mpi4torch's.

    Further calls with the same one return what the first did. It lives as long as `comm` is not freed, and as long as
    the result is referred to in Python.
    """
    if not hasattr(comm, "Get_attr"):
        return _wrapped(_comm.Comm.from_mpi4py(comm))  # raises
    if "_keyval" not in globals():
        globals()["_keyval"] = type(comm).Create_keyval()  # not copied to what is duplicated from comm
    known: Any = comm.Get_attr(globals()["_keyval"])
    if known is None:
        known = _wrapped(_comm.Comm.from_mpi4py(comm))
        comm.Set_attr(globals()["_keyval"], known)
    return known


def deactivate_cuda_aware_mpi_support() -> None:
    """From now on MPI is given no memory of CUDA tensors, also where it could take it."""
    syncyte.torch.use_cuda_aware_mpi(False)


def __getattr__(name: str) -> Any:
    if name != "COMM_WORLD":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    world = globals()["COMM_WORLD"] = _wrapped(_comm.COMM_WORLD)
    return world
