# SPDX-License-Identifier: BSD-3-Clause
"""The interface of mpi4torch 0.1.3 on Syncyte: ``import syncyte.compat.mpi4torch as mpi4torch``.

Differences from mpi4torch:

- Gradients are correct at any number of ranks, and incoming gradients are never overwritten.
- A receive into a view writes only the view's elements; autograd detects that it overwrites a saved tensor.
- Wrong arguments, and ranks that disagree, raise an exception with a message on every rank.
- MPI_MAX, MPI_MIN and MPI_PROD have gradients in Allreduce and Reduce_.
- All dtypes of Syncyte are supported.
- The first use of COMM_WORLD initializes MPI; the import does not.

As in mpi4torch, Bcast_ and Reduce_ accept leaves that require gradients.
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
from syncyte._torch_refusals import check_tensor, raise_on_all

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
    """Syncyte's number of an op (SYNCYTE_OP_...); -1, which the collective refuses on all ranks, if it has none."""
    numbers = [4, 3, 1, 2, 5, 7, 6, 8, 11, 9, -1, -1]
    return numbers[op] if 0 <= op < len(numbers) else -1


@_script
class WaitHandle:
    """Handle of a non-blocking message, made by Isend and Irecv; pass it to Wait once."""

    def __init__(self, raw_handle: list[torch.Tensor]):
        # The ticket; the tensor, detached; a tensor whose number of elements tells the kind: 0 a send, 1 a receive, 2 a
        # receive from MPI_PROC_NULL.
        self._handle = raw_handle

    @property
    def dummy(self):
        """Tensor that represents the handle in the dummies of JoinDummies and JoinDummiesHandle."""
        return self._handle[0]


@_script
def JoinDummies(loopthrough: torch.Tensor, dummies: list[torch.Tensor]) -> torch.Tensor:
    """Makes a tensor depend on other tensors in the autograd graph, so that their backward operations run.

    Parameters
    ----------
    loopthrough : torch.Tensor
        The tensor.
    dummies : list of torch.Tensor
        The tensors that it is to depend on; their gradients are zeros.

    Returns
    -------
    torch.Tensor
        ``loopthrough`` with these dependencies; ``loopthrough`` itself if no dummy requires gradients.
    """
    return torch.ops.syncyte.join_dummies(loopthrough, dummies)


@_script
def JoinDummiesHandle(handle: WaitHandle, dummies: list[torch.Tensor]) -> WaitHandle:
    """Makes a handle depend on tensors in the autograd graph, as JoinDummies does for a tensor.

    Parameters
    ----------
    handle : WaitHandle
        A handle of Isend or Irecv.
    dummies : list of torch.Tensor
        The tensors that it is to depend on; their gradients are zeros.

    Returns
    -------
    WaitHandle
        The handle to pass to Wait.
    """
    raw = handle._handle
    return WaitHandle([torch.ops.syncyte.join_dummies(raw[0], dummies), raw[1], raw[2]])


@_script
class MPI_Communicator:
    """mpi4torch's communicator. It holds the integer handle of torch.ops.syncyte, so that TorchScript accepts it.

    Methods whose name ends in an underscore work in place. Collectives raise MismatchError if ranks disagree, and the
    error of a wrong argument, on all ranks.
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
        """Reduces the ranks' tensors element by element, on all ranks. Collective.

        Parameters
        ----------
        tensor : torch.Tensor
            This rank's tensor.
        op : int
            MPI_SUM, MPI_MAX and so on.

        Returns
        -------
        torch.Tensor
            The result, on all ranks.
        """
        return torch.ops.syncyte.allreduce(tensor, self._comm, _operation(op))

    def Bcast_(self, tensor: torch.Tensor, root: int) -> torch.Tensor:
        """Sends the root's tensor to all ranks, in place. Collective.

        Parameters
        ----------
        tensor : torch.Tensor
            The values on root; overwritten on the other ranks.
        root : int
            Rank that sends its values.

        Returns
        -------
        torch.Tensor
            ``tensor``.
        """
        return torch.ops.syncyte.overwrite(tensor, torch.ops.syncyte.bcast(tensor, self._comm, root))

    def Reduce_(self, tensor: torch.Tensor, op: int, root: int) -> torch.Tensor:
        """Reduces the ranks' tensors element by element to root, in place. Collective.

        Parameters
        ----------
        tensor : torch.Tensor
            This rank's values; overwritten by the result on root, by zeros on the other ranks.
        op : int
            MPI_SUM, MPI_MAX and so on.
        root : int
            Rank that gets the result.

        Returns
        -------
        torch.Tensor
            ``tensor``.
        """
        # The backward pass of all ops but the sum needs the values that are overwritten here.
        given = tensor.clone() if tensor.requires_grad and op != 2 else tensor
        return torch.ops.syncyte.overwrite(tensor, torch.ops.syncyte.reduce(given, self._comm, root, _operation(op)))

    def Gather(self, tensor: torch.Tensor, gatheraxis: int, root: int) -> torch.Tensor:
        """Joins the ranks' tensors along an axis, on root. Collective.

        Parameters
        ----------
        tensor : torch.Tensor
            This rank's part; extents along the axis may differ.
        gatheraxis : int
            The axis.
        root : int
            Rank that gets the whole tensor.

        Returns
        -------
        torch.Tensor
            The whole tensor on root; on other ranks its extent along the axis is 0.
        """
        return torch.ops.syncyte.gather_along(tensor, self._comm, gatheraxis, root)

    def Allgather(self, tensor: torch.Tensor, gatheraxis: int) -> torch.Tensor:
        """Joins the ranks' tensors along an axis, on all ranks. Collective.

        Parameters
        ----------
        tensor : torch.Tensor
            This rank's part; extents along the axis may differ.
        gatheraxis : int
            The axis.

        Returns
        -------
        torch.Tensor
            The whole tensor.
        """
        return torch.ops.syncyte.allgather_along(tensor, self._comm, gatheraxis)

    def Scatter(self, tensor: torch.Tensor, scatteraxis: int, numelem: int, root: int) -> torch.Tensor:
        """Cuts the root's tensor along an axis, a part for every rank. Collective.

        Parameters
        ----------
        tensor : torch.Tensor
            The whole tensor on root; ignored on other ranks.
        scatteraxis : int
            The axis.
        numelem : int
            Extent of this rank's part along the axis.
        root : int
            Rank that has the whole tensor.

        Returns
        -------
        torch.Tensor
            This rank's part.
        """
        return torch.ops.syncyte.scatter_along(tensor, self._comm, scatteraxis, root, numelem)

    def Alltoall(self, tensor: torch.Tensor, gatheraxis: int, scatteraxis: int, numelem: int) -> torch.Tensor:
        """Scatters every rank's tensor along one axis, and gathers along another. Collective.

        Parameters
        ----------
        tensor : torch.Tensor
            This rank's part along gatheraxis.
        gatheraxis : int
            Axis along which the parts are joined.
        scatteraxis : int
            Axis along which the result is cut.
        numelem : int
            Extent of this rank's part along scatteraxis.

        Returns
        -------
        torch.Tensor
            This rank's part along scatteraxis.
        """
        return torch.ops.syncyte.alltoall_along(tensor, self._comm, gatheraxis, scatteraxis, numelem)

    def Isend(self, tensor: torch.Tensor, dest: int, tag: int) -> WaitHandle:
        """Starts to send a tensor. Local.

        Parameters
        ----------
        tensor : torch.Tensor
            Values to send.
        dest : int
            Rank of the receiver.
        tag : int
            Tag of the message.

        Returns
        -------
        WaitHandle
            Handle for Wait.
        """
        return WaitHandle(
            [torch.ops.syncyte.isend(tensor, self._comm, dest, tag), tensor.detach(), torch.empty([0], device="cpu")]
        )

    def Irecv(self, tensor: torch.Tensor, source: int, tag: int) -> WaitHandle:
        """Starts to receive into a tensor. Local.

        Parameters
        ----------
        tensor : torch.Tensor
            Overwritten by the message.
        source : int
            Rank of the sender.
        tag : int
            Tag of the message.

        Returns
        -------
        WaitHandle
            Handle for Wait.
        """
        kind = torch.empty([2 if source == -2 else 1], device="cpu")  # -2: MPI_PROC_NULL, the tensor is unchanged
        return WaitHandle([torch.ops.syncyte.irecv(tensor, self._comm, source, tag), tensor.detach(), kind])

    def Wait(self, waithandle: WaitHandle) -> torch.Tensor:
        """Waits for a message. Local.

        Parameters
        ----------
        waithandle : WaitHandle
            Handle of Isend or Irecv.

        Returns
        -------
        torch.Tensor
            The tensor that was sent or received into, as a new node of the autograd graph; it shares the memory.
        """
        ticket, memory, kind = waithandle._handle
        value = torch.ops.syncyte.wait_message(
            ticket,
            self._comm,
            memory.size(),
            memory.dtype,
            kind.numel() >= 1,
            gradients=syncyte._torch_operators.AS_SENDER_IF_POSSIBLE,
        )[0]
        if kind.numel() == 1:
            return torch.ops.syncyte.overwrite(memory, value)
        return torch.ops.syncyte.join_dummies(memory, [value])

    def Send(self, tensor: torch.Tensor, dest: int, tag: int) -> torch.Tensor:
        """Sends a tensor, and waits. Local.

        Parameters
        ----------
        tensor : torch.Tensor
            Values to send.
        dest : int
            Rank of the receiver.
        tag : int
            Tag of the message.

        Returns
        -------
        torch.Tensor
            Result of Wait.
        """
        return self.Wait(self.Isend(tensor, dest, tag))

    def Recv(self, tensor: torch.Tensor, source: int, tag: int) -> torch.Tensor:
        """Receives into a tensor, and waits. Local.

        Parameters
        ----------
        tensor : torch.Tensor
            Overwritten by the message.
        source : int
            Rank of the sender.
        tag : int
            Tag of the message.

        Returns
        -------
        torch.Tensor
            Result of Wait.
        """
        return self.Wait(self.Irecv(tensor, source, tag))


def _telling(method: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Wraps a collective for calls from Python: if torch refuses an argument's type, all ranks get the error."""

    @functools.wraps(method)
    def call(self: MPI_Communicator, tensor: torch.Tensor, *arguments: Any, **named: Any) -> torch.Tensor:
        try:
            check_tensor(tensor)  # torch's schemas accept None
            return method(self, tensor, *arguments, **named)
        except Exception as error:
            raise_on_all(error, tensor, _alive[self._comm], method.__name__)
            raise

    return call


for _name in ("Allreduce", "Bcast_", "Reduce_", "Gather", "Allgather", "Scatter", "Alltoall"):
    setattr(MPI_Communicator, _name, _telling(getattr(MPI_Communicator, _name)))  # TorchScript has compiled its own

# Communicators by handle. An MPI_Communicator, which holds only the handle, keeps its entry alive.
_alive: weakref.WeakValueDictionary[int, _comm.Comm] = weakref.WeakValueDictionary()


def _wrapped(comm: _comm.Comm) -> MPI_Communicator:
    _alive[comm.handle] = comm
    wrapper = MPI_Communicator(comm.handle)
    weakref.finalize(wrapper, _hold, comm).atexit = False
    return wrapper


def _hold(_: _comm.Comm) -> None:
    """Does nothing: the finalizer keeps its argument alive."""


# A handle is not valid in another process: a communicator is pickled as Syncyte's own is.
copyreg.pickle(MPI_Communicator, lambda wrapper: (_wrapped, (_alive[wrapper._comm],)))


def comm_from_mpi4py(comm: MPI.Comm) -> MPI_Communicator:
    """Makes a communicator of a duplicate of an mpi4py communicator.

    The first call for a communicator is collective over it, unlike mpi4torch's; further calls return the same result.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
        The communicator; it must not be freed while the result is used.

    Returns
    -------
    MPI_Communicator
        The communicator.

    Raises
    ------
    DtypeError, ArgumentError
        `comm` is not an mpi4py communicator; or it is null or an inter-communicator.
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
    """Stops passing memory of CUDA tensors to MPI, even if MPI is CUDA-aware."""
    syncyte.torch.use_cuda_aware_mpi(False)


def __getattr__(name: str) -> Any:
    if name != "COMM_WORLD":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    world = globals()["COMM_WORLD"] = _wrapped(_comm.COMM_WORLD)
    return world
