"""Non-blocking collectives of a communicator: started by a method, completed by a Request."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from . import _library
from ._agreement import Result
from ._along import Along
from ._collective_call import CollectiveCall
from ._requests import Request, reap
from ._types import Array, Reduction
from .errors import status_of


class Nonblocking(Along):
    """Non-blocking collectives of syncyte.Comm.

    A start is collective but does not wait for other ranks: it raises this rank's own error at once, and the others get
    it from wait() or test(). All ranks start operations in the same order; they may wait in any order.
    """

    def _prepare_start(self, operation: str, prepare: Callable[[], Result]) -> Result:
        """Runs a start's local checks; if they fail, passes the error to the other ranks, without waiting."""
        try:
            return prepare()
        except Exception as error:
            self._refuse_start(operation, error)
            raise

    def _refuse_start(self, operation: str, error: Exception) -> None:
        """Replaces a start that this rank cannot make: the others get the error from wait() or test()."""
        lib, status = _library.core(), status_of(error)
        lib.syncyte_error_set(status, str(error).encode("utf-8", "replace"))
        lib.unchecked("syncyte_comm_ifail")(self.handle, status, operation.encode())

    def _start_collective(self, name: str, prepare: Callable[..., CollectiveCall], *given: Any) -> Request[Any]:
        """Starts a collective; prepare(name, *given) makes its local checks."""
        call = self._prepare_start(f"comm_{name}", lambda: prepare(name, *given))
        reap()
        handle = ctypes.c_void_p()
        getattr(_library.core(), f"syncyte_comm_{name}")(self.handle, *call.arguments, ctypes.byref(handle))
        return Request(handle, call.arrays, f"comm_{name}", call.finish)

    def ibcast(self, array: Array, root: int = 0) -> Request[Array]:
        """Starts bcast(). Collective.

        Parameters
        ----------
        array, root
            As of bcast().

        Returns
        -------
        Request
            Its result is `array`.
        """
        return self._start_collective("ibcast", self._broadcast, array, root)

    def iallreduce(self, array: Array, op: Reduction = "sum", out: Array | None = None) -> Request[Array]:
        """Starts allreduce() of an array. Collective.

        Parameters
        ----------
        array, op, out
            As of allreduce().

        Returns
        -------
        Request
            Its result is out.
        """
        return self._start_collective("iallreduce", self._reduction, array, op, out)

    def iallgather(
        self, array: Array, counts: Sequence[int], axis: int = 0, *, out: Array | None = None
    ) -> Request[Array]:
        """Starts allgather() along an axis. Collective.

        Parameters
        ----------
        array, axis, out
            As of allgather().
        counts : sequence of int
            The parts' extents; required, because a start cannot exchange them.

        Returns
        -------
        Request
            Its result is out.
        """
        return self._start_collective("iallgather_along", self._joining, array, axis, counts, out)

    def ireduce_scatter(
        self,
        array: Array,
        axis: int = 0,
        op: Reduction = "sum",
        *,
        counts: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Request[Array]:
        """Starts reduce_scatter(). Collective.

        Parameters
        ----------
        array, axis, op, counts, out
            As of reduce_scatter().

        Returns
        -------
        Request
            Its result is out.
        """
        return self._start_collective("ireduce_scatter_along", self._reducing, array, axis, op, counts, out)

    def ialltoall(
        self,
        array: Array,
        gather_axis: int,
        scatter_axis: int,
        gather_counts: Sequence[int],
        counts: Sequence[int] | None = None,
        *,
        out: Array | None = None,
    ) -> Request[Array]:
        """Starts alltoall(). Collective.

        Parameters
        ----------
        array, gather_axis, scatter_axis, counts, out
            As of alltoall().
        gather_counts : sequence of int
            Extents of the input's parts; required, because a start cannot exchange them.

        Returns
        -------
        Request
            Its result is out.
        """
        return self._start_collective(
            "ialltoall_along", self._transposing, array, gather_axis, scatter_axis, gather_counts, counts, out
        )
