# SPDX-License-Identifier: BSD-3-Clause
"""Communicators: ordered groups of ranks, and collectives on numpy arrays and torch tensors.

All ranks of the communicator must call a *collective* method, in the same order. The ranks agree before data moves: if
one rank's arguments are wrong, or ranks disagree, all ranks get the same error, also if Python detects it. Arrays are
used in place and never converted; they must be contiguous, except for methods along an axis.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _declarations as c
from . import _library, _preemption, dtypes, runtime
from ._along import AxisMethods, even_counts
from ._checks import as_int32, as_numbers, integers, wrong
from ._collectives import CHECK_LEVELS
from ._messages import MessageMethods
from .errors import ArgumentError, DtypeError, Error, HandleError

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["COMM_SELF", "COMM_WORLD", "Cart", "Comm", "Op", "Topology", "even_counts"]

Op = c.Op
_CHECKS: dict[str | None, int] = {None: -1, **{name: level for level, name in enumerate(CHECK_LEVELS)}}
_REFUSED_CHECK_LEVEL = 99  # no check level has this number


class Topology(NamedTuple):
    """Topology of a communicator: its ranks on nodes. Ranks that share memory form a node."""

    nodes: int  #: number of nodes
    node: int  #: number of this rank's node, in order of the nodes' lowest ranks
    node_size: int  #: number of ranks on this rank's node
    node_rank: int  #: number of this rank on its node


def _comm_options(name: str | None, check: str | None) -> Any:
    if not isinstance(check, str | None) or check not in _CHECKS:
        raise wrong(ArgumentError, "check", repr(check), "None (as the parent), 'off', 'on' or 'full'")
    return _library.new_struct(c.CommOptions, name=_library.name_bytes(name), check=_CHECKS[check])


class Shift(NamedTuple):
    """Neighbours along a dimension of a grid; PROC_NULL beyond an edge."""

    source: int  #: rank that sends to this rank
    dest: int  #: rank that receives from this rank


def _made(kind: type[Comm], function: str, name: str | None, *arguments: Any) -> Any:
    """Makes a communicator by a C function; None on a rank that has no part in it."""
    handle = _library.core().output(f"syncyte_{function}", *arguments)
    return None if handle is None else kind(handle, name or "")


@contextlib.contextmanager
def _refused_together(function: str, *arguments: Any) -> Iterator[None]:
    """If a check fails, lets the C function fail on all ranks (_library.call_refused), then raises the error here."""
    try:
        yield
    except Error:
        refused = _library.new_struct(c.CommOptions, check=_REFUSED_CHECK_LEVEL)
        _library.call_refused(f"syncyte_{function}", *arguments, refused, ctypes.c_void_p())
        raise


# Live communicators of this process by their identifiers, which pickles contain. The process id is part of the key,
# because a forked child inherits objects but is not a rank of them.
_live: weakref.WeakValueDictionary[tuple[int, int, int], Comm] = weakref.WeakValueDictionary()


def _find_live(identity: int, size: int, kind: str) -> Comm:
    """Returns the communicator of a pickle, made here or on another rank; of several objects, one of class `kind`.

    Raises HandleError if this process has none.
    """
    mine = [comm for (known, process, _), comm in list(_live.items())
            if known == identity and process == os.getpid() and comm.__dict__.get("_handle") is not None]  # fmt: skip
    if not mine:
        raise HandleError(
            f"the pickled {kind} {identity:016x} of {size} ranks is not a live communicator of this process: it was "
            f"freed or dropped, or this process is not one of its ranks, or it was pickled in another job"
        )
    return next((comm for comm in mine if type(comm).__name__ == kind), mine[0])


class Comm(AxisMethods, MessageMethods):
    """A communicator. Make one from COMM_WORLD by split(), node() and so on, or from mpi4py or Fortran.

    Copies (copy, deepcopy) are the same communicator. Two Comm objects of one communicator are equal. Unpickling
    returns the live communicator, on any of its ranks; it raises HandleError if the communicator was freed, the process
    is not one of its ranks, or is in another job.

    Raises
    ------
    DtypeError
        Every collective, on all ranks: an array, number or element type of a wrong kind.
    ShapeError
        Every collective, on all ranks: shape, strides or counts do not fit.
    ArgumentError
        Every collective, on all ranks: a value that is not allowed; a tensor whose gradient would be lost.
    MismatchError
        Every collective, on all ranks: ranks differ.
    UnsupportedError
        Every collective, on all ranks: an op that is not defined for the element type.
    HandleError, BusyError
        On this rank alone: the communicator was freed; another thread is in a collective of it.
    """

    kind = "comm"

    def __init__(self, handle: int | None, name: str = ""):
        """Takes over one reference of a C handle; for use by this package and packages on top of it.

        Parameters
        ----------
        handle : int, optional
            The C handle.
        name : str
            Name for messages.
        """
        self._name = name
        if handle is not None:
            self._own(handle)

    def _own(self, handle: int) -> None:
        super()._own(handle)
        _ = self.rank, self.size
        _live[self._identity(), os.getpid(), id(self)] = self

    def _retained(self) -> Comm:
        """Another reference: free() of the caller's object leaves it."""
        _library.core().syncyte_comm_retain(self.handle)
        return Comm(self.handle, self._name)

    def _identity(self) -> int:
        return _library.core().output("syncyte_comm_id", self.handle)

    # Making communicators.

    @classmethod
    def from_fortran(cls, fortran_handle: int, *, name: str | None = None, check: str | None = None) -> Comm:
        """Makes a communicator from a Fortran handle. Collective over its ranks; starts Syncyte.

        The result is a duplicate, a Cart if MPI's communicator is Cartesian (MPI_Cart_create); other topologies are not
        kept.

        Parameters
        ----------
        fortran_handle : int
            The integer of MPI_Comm_c2f (mpi4py's py2f(), comm%MPI_VAL).
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm
            The duplicate.

        Raises
        ------
        ArgumentError
            On this rank alone: a null communicator or an inter-communicator. On all ranks: a wrong name or check on any
            rank.
        """
        runtime.init()
        number = as_int32(fortran_handle, "fortran_handle")
        with _refused_together("comm_from_fortran", number):
            options = _comm_options(name, check)
        made = _library.core().output("syncyte_comm_from_fortran", number, options)
        kind = Cart if _library.core().output("syncyte_cart_ndim", made) else Comm
        return kind(made, name or "")

    @classmethod
    def from_mpi4py(cls, comm: MPI.Comm, *, name: str | None = None, check: str | None = None) -> Comm:
        """Makes a communicator from mpi4py's. Collective over its ranks; starts Syncyte.

        The result is a duplicate, a Cart if mpi4py's is a Cartcomm; the caller keeps mpi4py's.

        Parameters
        ----------
        comm : mpi4py.MPI.Comm
            An intra-communicator.
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm
            The duplicate.

        Raises
        ------
        ArgumentError, DtypeError
            As of from_fortran(); on this rank alone: not an mpi4py communicator.
        LibraryError
            mpi4py uses another MPI library than libsyncyte.
        """
        if not hasattr(comm, "py2f"):
            raise wrong(DtypeError, "comm", f"a {type(comm).__name__}", "an mpi4py communicator")
        runtime.require_same_mpi()  # mpi4py may have been imported after the start
        return cls.from_fortran(comm.py2f(), name=name, check=check)

    @classmethod
    def from_group(cls, group: Any = None, *, name: str | None = None) -> Comm:
        """Makes a communicator of a torch.distributed group's ranks, in their order. Collective over them.

        syncyte.distributed.pg_of() makes a group of a communicator's ranks.

        Parameters
        ----------
        group : torch.distributed.ProcessGroup, optional
            A group of any backend; None: the default one.
        name : str, optional
            Name for messages.

        Returns
        -------
        Comm
            The communicator, whose collectives are independent of the group's.

        Raises
        ------
        ArgumentError, DtypeError
            On this rank alone: torch.distributed is not initialized; not a group of this rank. On all ranks: the
            group's ranks are not of one MPI job.
        """
        dist = dtypes.import_torch().distributed
        if not dist.is_initialized():
            raise ArgumentError("torch.distributed is not initialized; expected init_process_group before")
        if group is not None and group == dist.GroupMember.NON_GROUP_MEMBER:
            raise ArgumentError("group: this rank is not in it; expected a group of this rank")
        if group is not None and not isinstance(group, dist.ProcessGroup):
            raise wrong(DtypeError, "group", f"a {type(group).__name__}", "a torch.distributed.ProcessGroup")
        ranks: list[int] = [-1] * dist.get_world_size(group)
        dist.all_gather_object(ranks, COMM_WORLD.rank, group)
        if len(set(ranks)) < len(ranks):
            expected = "ranks of one MPI job: start the script by mpirun or srun"
            raise wrong(ArgumentError, "group", f"one of the MPI ranks {ranks}", expected)
        return _group_root(tuple(ranks)).dup(name=name)

    def _derived(
        self, function: str, name: str | None, check: str | None, convert: Callable[[], tuple[Any, ...]] = tuple,
        kind: type[Comm] | None = None,
    ) -> Any:  # fmt: skip
        """Makes a communicator of this one by a C function; convert() checks the arguments before name and check."""
        arguments = self._prepare(function, lambda: (*convert(), _comm_options(name, check)), always=True)
        return _made(kind or Comm, function, name, self.handle, *arguments)

    def dup(self, *, name: str | None = None, check: str | None = None) -> Comm:
        """Duplicates the communicator; the duplicate has its own order of collectives. Collective.

        Parameters
        ----------
        name : str, optional
            Name for messages; ranks may differ.
        check : {"off", "on", "full"}, optional
            Check level; None: as of this communicator.

        Returns
        -------
        Comm
            The duplicate.
        """
        return self._derived("comm_dup", name, check, kind=Cart if isinstance(self, Cart) else Comm)

    def split(
        self, color: int | None, key: int = 0, *, name: str | None = None, check: str | None = None
    ) -> Comm | None:
        """Splits the communicator: ranks of the same color form a new one, in order of key, then rank. Collective.

        Parameters
        ----------
        color : int, optional
            0 or more; None: this rank takes no part.
        key : int
            Order of this rank within its color.
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm or None
            The communicator of this rank's color; None if color is None.
        """
        return self._derived(
            "comm_split", name, check,
            lambda: (-1 if color is None else as_int32(color, "color"), as_int32(key, "key")),
        )  # fmt: skip

    def split_program(self, program: str | None = None, *, name: str | None = None, check: str | None = None) -> Comm:
        """Splits the communicator by program, for jobs of several programs in one mpirun. Collective.

        Parameters
        ----------
        program : str, optional
            Name of this rank's program; None: the executable's file name.
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm
            The ranks that pass the same program name.
        """
        return self._derived("comm_split_program", name, check, lambda: (_library.name_bytes(program),))

    def split_node(self, *, name: str | None = None, check: str | None = None) -> Comm:
        """Makes a communicator of the ranks that share memory with this one. Collective.

        Parameters
        ----------
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm
            The ranks of this node.
        """
        return self._derived("comm_split_node", name, check)

    def split_leaders(self, *, name: str | None = None, check: str | None = None) -> Comm | None:
        """Makes a communicator of the first rank of each node, in the order of the nodes. Collective.

        Parameters
        ----------
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm or None
            The communicator; None on the other ranks.
        """
        return self._derived("comm_split_leaders", name, check)

    def create_group(
        self, ranks: Sequence[int], tag: int = 0, *, name: str | None = None, check: str | None = None
    ) -> Comm:
        """Makes a communicator of some ranks, in the order of the list. Collective; only these ranks call it.

        It is freed at finalize.

        Parameters
        ----------
        ranks : sequence of int
            Ranks of this communicator, each once, including the calling one; the same list on all of them.
        tag : int
            0 to 1023; threads that make groups at the same time use different tags.
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm
            The communicator of these ranks.

        Raises
        ------
        ArgumentError
            On all ranks of the list: a rank is out of range or listed twice; a wrong name or check on any rank. On this
            rank alone: the list does not contain it; a wrong tag.
        MismatchError
            Ranks that list each other have passed different lists; also for every later group on these ranks.
        """
        numbers, number = as_numbers(ranks, "ranks"), as_int32(tag, "tag")
        array = (ctypes.c_int32 * max(len(numbers), 1))(*(rank if -(2**31) <= rank < 2**31 else -1 for rank in numbers))
        members = self.handle, len(numbers), array, number
        with _refused_together("comm_create_group", *members):
            options = _comm_options(name, check)
            for place, rank in enumerate(numbers):
                as_int32(rank, f"ranks[{place}]")
        return _made(Comm, "comm_create_group", name, *members, options)

    def cartesian(
        self,
        dims: Sequence[int],
        periods: bool | Sequence[bool] = False,
        *,
        name: str | None = None,
        check: str | None = None,
    ) -> Cart | None:
        """Makes a Cartesian communicator of the first ranks, row-major. Collective; dims and periods must be equal.

        Parameters
        ----------
        dims : sequence of int
            Ranks along each dimension; 0: chosen, so that the grid holds all ranks.
        periods : bool or sequence of bool
            Whether each dimension is periodic, or one value for all.
        name, check : str, optional
            As of dup().

        Returns
        -------
        Cart or None
            The Cartesian communicator; None on ranks beyond the grid.
        """
        return self._derived("cart_create", name, check, lambda: _extents_and_flags(dims, periods), Cart)

    def preempted(self) -> bool:
        """Returns whether any rank has got the signal that SYNCYTE_PREEMPTION names. Collective.

        Ask after each step, save a checkpoint, and end all ranks by ``sys.exit(os.EX_TEMPFAIL)``: docs/slurm.md. Once
        true, it stays true. Ranks in C and Fortran take part by an allreduce of one int64, 0 or 1, with op MAX.

        Returns
        -------
        bool
            The same on all ranks; False if the variable is unset, or the script handles the signal itself.
        """
        return bool(self.allreduce(int(_preemption.signalled), "max"))

    # Properties.

    @property
    def topology(self) -> Topology:
        """Topology: the communicator's ranks on nodes. Local."""
        found = _library.core().output("syncyte_comm_topology", self.handle)
        return Topology(found.nodes, found.node, found.node_size, found.node_rank)

    def to_fortran(self) -> int:
        """Returns the MPI communicator as a Fortran handle (mpi4py: MPI.Comm.f2py). Local.

        Syncyte owns it: use it only while this object lives, and do not free it.

        Returns
        -------
        int
            The Fortran handle.
        """
        return _library.core().output("syncyte_comm_to_fortran", self.handle)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comm):
            return NotImplemented
        mine, others = self.__dict__.get("_handle"), other.__dict__.get("_handle")
        return self is other or (mine is not None and mine == others)

    def __hash__(self) -> int:
        return hash(self.handle)

    def __reduce__(self) -> Any:
        return _find_live, (self._identity(), self.size, type(self).__name__)

    def __copy__(self) -> Comm:
        return self

    def __repr__(self) -> str:
        return f"<syncyte.{self._title()}: {self._state()}>"

    def _title(self) -> str:
        return f"{type(self).__name__} {self._name!r}" if self._name else type(self).__name__

    def _state(self) -> str:
        return "freed" if self._is_freed else f"rank {self.rank} of {self.size}"


class Cart(Comm):
    """A communicator whose ranks lie on a grid, in row-major order. Made by syncyte.Comm.cartesian().

    Row-major: the last coordinate changes fastest. Coordinates count from 0.
    """

    @property
    def ndim(self) -> int:
        """Number of dimensions. Local."""
        return _library.core().output("syncyte_cart_ndim", self.handle)

    @property
    def dims(self) -> tuple[int, ...]:
        """Ranks along each dimension. Local."""
        return self._grid()[0]

    @property
    def periods(self) -> tuple[bool, ...]:
        """Whether each dimension is periodic. Local."""
        return tuple(bool(flag) for flag in self._grid()[1])

    def _grid(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        ndim = self.ndim
        dims, periods = (ctypes.c_int32 * ndim)(), (ctypes.c_int32 * ndim)()
        _library.core().syncyte_cart_grid(self.handle, ndim, dims, periods)
        return tuple(dims), tuple(periods)

    @property
    def coords(self) -> tuple[int, ...]:
        """Coordinates of this rank. Local."""
        return self.coords_of(self.rank)

    def coords_of(self, rank: int) -> tuple[int, ...]:
        """Returns the coordinates of a rank. Local.

        Parameters
        ----------
        rank : int
            A rank of this communicator.

        Returns
        -------
        tuple of int
            One number for each dimension.
        """
        ndim = self.ndim
        place = (ctypes.c_int32 * ndim)()
        _library.core().syncyte_cart_coords(self.handle, as_int32(rank, "rank"), ndim, place)
        return tuple(place)

    def rank_at(self, coords: Sequence[int]) -> int:
        """Returns the rank at some coordinates. Local.

        Parameters
        ----------
        coords : sequence of int
            One number for each dimension; they wrap round in periodic dimensions.

        Returns
        -------
        int
            A rank; PROC_NULL beyond an edge.
        """
        place = integers(ctypes.c_int32, as_numbers(coords, "coords"), "coords")
        return _library.core().output("syncyte_cart_rank_at", self.handle, len(place), place)

    def shift(self, dimension: int, displacement: int = 1) -> Shift:
        """Returns this rank's neighbours in a shift, in which all ranks send `displacement` places up. Local.

        Parameters
        ----------
        dimension : int
            Dimension of the grid.
        displacement : int
            Number of places; negative: down.

        Returns
        -------
        Shift
            Source and destination; PROC_NULL beyond an edge.
        """
        along, places = as_int32(dimension, "dimension"), as_int32(displacement, "displacement")
        return Shift(*_library.core().output("syncyte_cart_shift", self.handle, along, places))

    def _state(self) -> str:
        try:
            return f"{super()._state()}, at {self.coords} of dims {self.dims}, periods {self.periods}"
        except Error:  # freed, or Syncyte has ended
            return super()._state()


def _extents_and_flags(dims: Sequence[int], periods: bool | Sequence[bool]) -> tuple[int, Any, int, Any]:
    """Converts a new grid's arguments for the C library: number of dimensions, extents, number of periods, periods."""
    places = integers(ctypes.c_int32, as_numbers(dims, "dims", "integers, one per dimension"), "dims")
    if not isinstance(periods, (bool, list, tuple, np.ndarray)):
        raise wrong(DtypeError, "periods", repr(periods), "True or False, or a sequence of them, one per dimension")
    flags = [periods] * len(places) if isinstance(periods, bool) else [bool(flag) for flag in periods]
    return len(places), places, len(flags), (ctypes.c_int32 * len(flags))(*flags)


class _RootComm(Comm):
    """COMM_WORLD or COMM_SELF; the first use starts Syncyte and makes the handle."""

    _lock = threading.Lock()

    def __init__(self, function: str, name: str):
        super().__init__(None, name)
        self._function = function

    @property
    def handle(self) -> int:
        """The C handle. The first use starts Syncyte, which is collective over all ranks."""
        handle = self.__dict__.get("_handle")
        return handle if handle is not None else self._start()

    def _start(self) -> int:
        with self._lock:
            if self._is_freed:
                runtime.init()
                self._own(_library.core().output(self._function))
        return super().handle

    def free(self) -> None:
        """Does nothing: this communicator lives until finalize."""

    def __reduce__(self) -> Any:
        return self._name  # pickled by name, because every process has its own

    def _title(self) -> str:
        return self._name

    def _state(self) -> str:
        return "not started" if self._is_freed else super()._state()


#: All ranks. The first use starts Syncyte (and MPI, unless it is initialized), which is collective over all ranks.
COMM_WORLD: Comm = _RootComm("syncyte_comm_world", "COMM_WORLD")
#: This rank alone. The first use starts Syncyte, which is collective over all ranks.
COMM_SELF: Comm = _RootComm("syncyte_comm_self", "COMM_SELF")


@functools.cache
def _group_root(ranks: tuple[int, ...]) -> Comm:
    """A communicator of some of the job's ranks, of which others are duplicates: MPI frees none made from a group."""
    return COMM_WORLD if ranks == tuple(range(COMM_WORLD.size)) else COMM_WORLD.create_group(ranks)


def no_part(name: str) -> ArgumentError:
    """Returns the error for an argument that is None in place of a communicator.

    Only this rank gets it: it cannot notify the ranks of a communicator in which it has no part.
    """
    return ArgumentError(
        f"{name} is None: this rank has no part in that communicator (split() without a color, a rank beyond the grid "
        "of cartesian()); expected a syncyte.Comm, COMM_WORLD for all ranks"
    )


def comm_or_world(comm: Comm) -> Comm:
    """Checks a `comm` argument.

    Raises ArgumentError for None, which split() returns on a rank without a part, and DtypeError for anything else that
    is not a Comm.
    """
    if isinstance(comm, Comm):
        return comm
    if comm is None:
        raise no_part("comm")
    hint = " (make one with Comm.from_mpi4py)" if hasattr(comm, "py2f") else ""
    raise wrong(DtypeError, "comm", f"a {type(comm).__name__}", f"a syncyte.Comm{hint}")
