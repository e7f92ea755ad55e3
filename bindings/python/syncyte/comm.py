"""Communicators: ordered groups of ranks, and collectives on numpy arrays and torch tensors.

A *collective* method must be called by all ranks of the communicator in the same order. It agrees before it moves data:
if one rank's arguments are wrong, or ranks disagree, all ranks get the same error, also where Python finds the mistake.
Arrays are used in place and never converted; they must be contiguous, but where a method works along an axis.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _declarations as c
from . import _library, _live_comms, runtime
from ._along import even_counts
from ._checks import as_int32, as_numbers
from ._grid import Grid, extents_and_flags
from ._messages import Messages
from ._nonblocking import Nonblocking
from .errors import ArgumentError, DtypeError, Error

if TYPE_CHECKING:
    from mpi4py import MPI

__all__ = ["COMM_SELF", "COMM_WORLD", "Cart", "Comm", "Op", "Topology", "even_counts"]

Op = c.Op
_CHECKS = {None: -1, "off": 0, "on": 1, "full": 2}
_NO_CHECK = 99  # none of them


class Topology(NamedTuple):
    """How the ranks of a communicator lie on nodes; ranks that share memory form a node."""

    nodes: int  #: number of nodes
    node: int  #: this rank's node, in order of lowest ranks
    node_size: int  #: ranks on this rank's node
    node_rank: int  #: this rank's place among them


def _comm_options(name: str | None, check: str | None) -> Any:
    if not isinstance(check, str | None) or check not in _CHECKS:
        raise ArgumentError(f"check is {check!r}; expected None (as the parent), 'off', 'on' or 'full'")
    return ctypes.byref(_library.options(c.CommOptions, name=_library.name_bytes(name), check=_CHECKS[check]))


def _refuse_together(fortran_handle: int) -> None:
    """Takes part in the making of a communicator with options that the C library refuses on all ranks.

    Before the communicator is there, nothing else can tell the other ranks that this one has found a mistake.
    """
    refused = _library.options(c.CommOptions, check=_NO_CHECK)
    out = ctypes.c_void_p()
    function = _library.core().unchecked("syncyte_comm_from_fortran")
    function(fortran_handle, ctypes.byref(refused), ctypes.byref(out))


class Comm(Nonblocking, Messages):
    """A communicator. Make one from COMM_WORLD by split(), node() and so on, or from mpi4py or Fortran.

    Copies (copy, deepcopy) are the same communicator. Two Comm objects of one communicator are equal. A pickle resolves
    to the live communicator, on each of its ranks to that rank's; where there is none (it is gone, the process is none
    of its ranks, another job) it raises HandleError.

    Raises
    ------
    DtypeError
        Every collective, on all ranks: an array, number or element type of a wrong kind.
    ShapeError
        Every collective, on all ranks: shape, strides, counts that do not fit.
    ArgumentError
        Every collective, on all ranks: a value that is not allowed; a tensor whose gradient would be lost.
    MismatchError
        Every collective, on all ranks: ranks that differ.
    UnsupportedError
        Every collective, on all ranks: an op that the element type does not have.
    HandleError, BusyError
        On this rank alone: the communicator was freed; another thread is in a collective of it.
    """

    kind = "comm"

    def __init__(self, handle: int | None, name: str = ""):
        """For this package and those on top of it: takes over one reference of a C handle.

        Parameters
        ----------
        handle : int, optional
            The C handle.
        name : str
            For messages.
        """
        self._rank: int | None = None
        self._size: int | None = None
        self._name = name
        if handle is not None:
            self._own(handle)

    def _own(self, handle: int) -> None:
        super()._own(handle)
        _ = self.rank, self.size  # read now: torch.compile cannot trace the calls, and takes them as constants
        _live_comms.add(self._identity(), self)

    def _identity(self) -> int:
        number = ctypes.c_int64()
        _library.core().syncyte_comm_id(self.handle, ctypes.byref(number))
        return number.value

    # Making communicators.

    @classmethod
    def from_fortran(cls, fortran_handle: int, *, name: str | None = None, check: str | None = None) -> Comm:
        """Makes a communicator from a Fortran handle. Collective over its ranks; starts Syncyte.

        The communicator behind the handle is duplicated.

        Parameters
        ----------
        fortran_handle : int
            The integer of MPI_Comm_c2f (mpi4py's py2f(), comm%MPI_VAL).
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm

        Raises
        ------
        ArgumentError
            On this rank alone for a null or inter-communicator; on all ranks for a wrong name or check of one.
        """
        runtime.init()
        number = as_int32(fortran_handle, "fortran_handle")
        try:
            options = _comm_options(name, check)
        except Error:
            _refuse_together(number)
            raise
        return Comm._made(lambda out: _library.core().syncyte_comm_from_fortran(number, options, out), name)

    @classmethod
    def from_mpi4py(cls, comm: MPI.Comm, *, name: str | None = None, check: str | None = None) -> Comm:
        """Makes a communicator from mpi4py's. Collective over its ranks; starts Syncyte.

        mpi4py's is duplicated and stays the caller's.

        Parameters
        ----------
        comm : mpi4py.MPI.Comm
            An intra-communicator.
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm

        Raises
        ------
        ArgumentError, DtypeError
            As of from_fortran(); on this rank alone for anything that is no communicator of mpi4py's.
        """
        if not hasattr(comm, "py2f"):
            raise DtypeError(f"comm is a {type(comm).__name__}; expected an mpi4py communicator")
        return cls.from_fortran(comm.py2f(), name=name, check=check)

    @staticmethod
    def _made_or_none(make: Callable[[Any], object], name: str | None) -> Comm | None:
        handle = ctypes.c_void_p()
        make(ctypes.byref(handle))
        return None if handle.value is None else Comm(handle.value, name or "")

    @staticmethod
    def _made(make: Callable[[Any], object], name: str | None) -> Comm:
        made = Comm._made_or_none(make, name)
        assert made is not None
        return made

    def dup(self, *, name: str | None = None, check: str | None = None) -> Comm:
        """The same ranks, with an order of collectives of its own. Collective.

        Parameters
        ----------
        name : str, optional
            For messages.
        check : {"off", "on", "full"}, optional
            What is compared before data moves; None: as here.

        Returns
        -------
        Comm
        """
        options = self._prepare("comm_dup", lambda: _comm_options(name, check), lifecycle=True)
        return self._made(lambda out: _library.core().syncyte_comm_dup(self.handle, options, out), name)

    def split(
        self, color: int | None, key: int = 0, *, name: str | None = None, check: str | None = None
    ) -> Comm | None:
        """Ranks of one color form a communicator, in order of key, then rank. Collective.

        Parameters
        ----------
        color : int, optional
            0 or more; None: this rank takes no part.
        key : int
            The order of a color's ranks.
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm or None
            None where color is None.
        """
        number, order, options = self._prepare(
            "comm_split",
            lambda: (
                -1 if color is None else as_int32(color, "color"),
                as_int32(key, "key"),
                _comm_options(name, check),
            ),
            lifecycle=True,
        )
        return self._made_or_none(
            lambda out: _library.core().syncyte_comm_split(self.handle, number, order, options, out), name
        )

    def split_program(self, program: str | None = None, *, name: str | None = None, check: str | None = None) -> Comm:
        """The ranks that give the same program's name, for jobs of several programs in one mpirun. Collective.

        Parameters
        ----------
        program : str, optional
            The name; None: the executable's file name.
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm
        """
        given, options = self._prepare(
            "comm_split_program",
            lambda: (_library.name_bytes(program), _comm_options(name, check)),
            lifecycle=True,
        )
        return self._made(
            lambda out: _library.core().syncyte_comm_split_program(self.handle, given, options, out), name
        )

    def node(self, *, name: str | None = None, check: str | None = None) -> Comm:
        """The ranks that share memory with this one. Collective.

        Parameters
        ----------
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm
        """
        options = self._prepare("comm_node", lambda: _comm_options(name, check), lifecycle=True)
        return self._made(lambda out: _library.core().syncyte_comm_node(self.handle, options, out), name)

    def leaders(self, *, name: str | None = None, check: str | None = None) -> Comm | None:
        """The first rank of each node, in the order of the nodes. Collective.

        Parameters
        ----------
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm or None
            None on the other ranks.
        """
        options = self._prepare("comm_leaders", lambda: _comm_options(name, check), lifecycle=True)
        return self._made_or_none(lambda out: _library.core().syncyte_comm_leaders(self.handle, options, out), name)

    def group(
        self, ranks: Sequence[int], tag: int = 0, *, name: str | None = None, check: str | None = None
    ) -> Comm:
        """A communicator of some ranks, in the order of the list. Collective over these ranks, which alone call.

        It is freed at finalize.

        Parameters
        ----------
        ranks : sequence of int
            Ranks of this communicator, each once, the calling one among them; the same list on all of them.
        tag : int
            0 to 1023; groups that threads make at once have different tags.
        name, check : str, optional
            As of dup().

        Returns
        -------
        Comm

        Raises
        ------
        ArgumentError
            On all ranks of the list for a rank that is out of range or named twice, or a wrong name or check of one; on
            this rank alone for a list without it, or a wrong tag.
        MismatchError
            Where ranks that name each other were called with different lists, and for every later group there.
        """
        numbers, number = as_numbers(ranks, "ranks"), as_int32(tag, "tag")
        array = (ctypes.c_int32 * max(len(numbers), 1))(*(rank if -(2**31) <= rank < 2**31 else -1 for rank in numbers))
        try:
            options = _comm_options(name, check)
            for place, rank in enumerate(numbers):
                as_int32(rank, f"ranks[{place}]")
        except Error:
            refused = ctypes.byref(_library.options(c.CommOptions, check=_NO_CHECK))
            function = _library.core().unchecked("syncyte_comm_group")
            function(self.handle, array, len(numbers), number, refused, ctypes.byref(ctypes.c_void_p()))
            raise
        return self._made(
            lambda out: _library.core().syncyte_comm_group(self.handle, array, len(numbers), number, options, out), name
        )

    def cartesian(
        self,
        dims: Sequence[int],
        periods: bool | Sequence[bool] = False,
        *,
        name: str | None = None,
        check: str | None = None,
    ) -> Cart | None:
        """Puts the first ranks on a grid, in their order, row-major. Collective; dims and periods must be equal.

        Parameters
        ----------
        dims : sequence of int
            Places along each dimension; 0: chosen, so that all ranks have a place.
        periods : bool or sequence of bool
            Whether each dimension is periodic, or one value for all.
        name, check : str, optional
            As of dup().

        Returns
        -------
        Cart or None
            None on ranks beyond the grid.
        """
        ndim, extents, flags, options = self._prepare(
            "cart_create", lambda: (*extents_and_flags(dims, periods), _comm_options(name, check)), lifecycle=True
        )
        handle = ctypes.c_void_p()
        _library.core().syncyte_cart_create(self.handle, ndim, extents, flags, options, ctypes.byref(handle))
        return None if handle.value is None else Cart(handle.value, name or "")

    # What it is.

    @property
    def topology(self) -> Topology:
        """How the ranks lie on nodes. Local."""
        found = _library.options(c.Topology)
        _library.core().syncyte_comm_topology(self.handle, ctypes.byref(found))
        return Topology(found.nodes, found.node, found.node_size, found.node_rank)

    def to_fortran(self) -> int:
        """The MPI communicator behind it, as a Fortran handle (mpi4py: MPI.Comm.f2py). Local.

        It stays Syncyte's: use it only while this object lives, and never free it.

        Returns
        -------
        int
        """
        number = ctypes.c_int32()
        _library.core().syncyte_comm_to_fortran(self.handle, ctypes.byref(number))
        return number.value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comm):
            return NotImplemented
        mine, others = self.__dict__.get("_handle"), other.__dict__.get("_handle")
        return self is other or (mine is not None and mine == others)

    def __hash__(self) -> int:
        return hash(self.handle)

    def __reduce__(self) -> Any:
        return _live_comms.find, (self._identity(), self.size, type(self).__name__)

    def __copy__(self) -> Comm:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Comm:
        return self

    def __repr__(self) -> str:
        return f"<syncyte.{self._title()}: {self._state()}>"

    def _title(self) -> str:
        return f"{type(self).__name__} {self._name!r}" if self._name else type(self).__name__

    def _state(self) -> str:
        return "freed" if self._is_freed else f"rank {self.rank} of {self.size}"


class Cart(Grid, Comm):
    """Ranks on a grid, in row-major order: the last coordinate changes fastest. Made by syncyte.Comm.cartesian().

    It is a communicator in every respect. Coordinates count from 0.
    """

    def _state(self) -> str:
        return f"{super()._state()}{self._place()}"


class _RootComm(Comm):
    """COMM_WORLD or COMM_SELF: its handle is made, and Syncyte started, at the first use."""

    _lock = threading.Lock()

    def __init__(self, function: str, name: str):
        super().__init__(None, name)
        self._function = function

    @property
    def handle(self) -> int:
        """The C handle; starts Syncyte at the first use, which is collective over all ranks."""
        handle = self.__dict__.get("_handle")
        return handle if handle is not None else self._start()

    def _start(self) -> int:
        with self._lock:
            if self._is_freed:
                runtime.init()
                handle = ctypes.c_void_p()
                getattr(_library.core(), self._function)(ctypes.byref(handle))
                assert handle.value is not None
                self._own(handle.value)
        return super().handle

    def free(self) -> None:
        """Does nothing: this communicator lives until finalize."""

    def __reduce__(self) -> Any:
        return self._name  # pickled by name: every process has its own

    def _title(self) -> str:
        return self._name

    def _state(self) -> str:
        return "not started" if self._is_freed else super()._state()


#: All ranks. The first use starts Syncyte (and MPI, if nobody has), which is collective over all ranks.
COMM_WORLD: Comm = _RootComm("syncyte_comm_world", "COMM_WORLD")
#: This rank alone. The first use starts Syncyte, which is collective over all ranks.
COMM_SELF: Comm = _RootComm("syncyte_comm_self", "COMM_SELF")


def no_part(name: str) -> ArgumentError:
    """The error for an argument that is None in place of a communicator.

    It is local, as a rank that does not take part in a communicator cannot tell those that do.
    """
    return ArgumentError(
        f"{name} is None: this rank has no part in that communicator (split() without a color, a place beyond the grid "
        "of cartesian()); expected a syncyte.Comm, COMM_WORLD for all ranks"
    )


def comm_or_world(comm: Comm) -> Comm:
    """`comm`, which is COMM_WORLD by default.

    Raises ArgumentError for None, which is what this rank gets of a communicator that it has no part in, and DtypeError
    for anything else that is not a Comm.
    """
    if isinstance(comm, Comm):
        return comm
    if comm is None:
        raise no_part("comm")
    hint = " (make one with Comm.from_mpi4py)" if hasattr(comm, "py2f") else ""
    raise DtypeError(f"comm is a {type(comm).__name__}; expected a syncyte.Comm{hint}")
