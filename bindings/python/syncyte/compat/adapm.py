# SPDX-License-Identifier: BSD-3-Clause
"""The interface of AdaPM's PyTorch bindings on Syncyte.

``from syncyte.compat import adapm``; after ``syncyte.compat.install()``, and in a script that
``python -m syncyte.compat`` runs, also ``import adapm``. New programs use syncyte.Store.

AdaPM's nodes are the ranks of the MPI job; DMLC_* in the environment is ignored. docs/from-adapm.md lists the
differences.
"""

from __future__ import annotations

import itertools
import os
import threading
import warnings
from collections.abc import Sequence
from typing import Any

from syncyte import dtypes
from syncyte._checks import as_int32, as_int64, at_least, check_kind, wrong
from syncyte._requests import Request
from syncyte.comm import COMM_WORLD
from syncyte.errors import ArgumentError, Error, HandleError, ShapeError
from syncyte.store import Store, StoreWorker

__all__ = ["Server", "Worker", "scheduler", "setup"]

_TECHNIQUES = {  # Store's names of what intents do
    "": "move-or-copy",
    "all": "move-or-copy",
    "replication_only": "copy",
    "relocation_only": "move",
}
_SCHEMES = {"naive": "prepared", "preloc": "intended", "pool": "shared", "local": "local"}  # Store's names
_settings: tuple[int, int, str] | None = None  # number of keys, number of workers per rank, what intents do


def setup(num_keys: int, num_threads: int, use_techniques: str = "", num_channels: int = -1) -> None:
    """Sets the sizes of the next Server. Local.

    Parameters
    ----------
    num_keys : int
        Number of keys, 1 or more.
    num_threads : int
        Number of workers of each rank, 1 or more.
    use_techniques : str
        "all", "replication_only", "relocation_only", or "", which is "all": what intents do with keys.
    num_channels : int
        1 or more, or -1. Checked only.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    """
    global _settings
    keys, threads = _checked(num_keys, num_threads)
    if use_techniques not in _TECHNIQUES:
        raise wrong(
            ArgumentError, "use_techniques", repr(use_techniques), f"one of {', '.join(list(_TECHNIQUES)[1:])}, or ''"
        )
    if as_int32(num_channels, "num_channels") < 1 and num_channels != -1:
        raise wrong(ArgumentError, "num_channels", num_channels, "1 or more, or -1")
    _settings = keys, threads, _TECHNIQUES[use_techniques]


def _checked(num_keys: int, num_threads: int) -> tuple[int, int]:
    keys = at_least(1, as_int64(num_keys, "num_keys"), "num_keys")
    return keys, at_least(1, as_int32(num_threads, "num_threads"), "num_threads")


def scheduler(num_keys: int, num_threads: int) -> None:
    """Checks its arguments and returns: there is no scheduler. Local.

    Parameters
    ----------
    num_keys, num_threads : int
        1 or more.

    Raises
    ------
    ArgumentError
        A value that is not allowed.
    """
    _checked(num_keys, num_threads)


class Server:
    """A rank's part of the store. Constructing it is collective over COMM_WORLD; call setup() before.

    Parameters
    ----------
    value_lengths : int or tensor
        Number of values of every key; or a tensor with one number for each key, of any numeric type.

    Raises
    ------
    ArgumentError, ShapeError
        setup() was not called; value_lengths has another shape. On all ranks.
    """

    def __init__(self, value_lengths: Any) -> None:
        def prepare() -> tuple[int, int, str]:
            if _settings is None:
                raise ArgumentError("there are no keys yet; call setup(num_keys, num_threads) before Server()")
            if getattr(value_lengths, "shape", ()) not in ((), (_settings[0],)):
                given, expected = f"of shape {list(value_lengths.shape)}", f"[{_settings[0]}], one for each key"
                raise wrong(ShapeError, "value_lengths", given, expected)
            return _settings

        keys, threads, intents = COMM_WORLD._prepare("Server", prepare, always=True)
        self._warn_of_other_nodes()
        self._comm = COMM_WORLD.dup()  # for workers: the script may use COMM_WORLD at the same time
        self._store = Store(keys, value_lengths, comm=self._comm, workers=threads, name="AdaPM", intents=intents)
        self._workers: set[Worker] = set()
        self._is_open = True

    @staticmethod
    def _warn_of_other_nodes() -> None:
        """Warns a script that starts its nodes by itself: each node is then a job of one rank."""
        nodes = os.environ.get("DMLC_NUM_SERVER", "")
        if nodes.isdigit() and int(nodes) != COMM_WORLD.size:
            text = (
                f"DMLC_NUM_SERVER is {nodes}, but the nodes are the {COMM_WORLD.size} ranks of this job: start it with"
            )
            warnings.warn(f"{text} mpirun -n {nodes}, and call the function of a node on each rank", stacklevel=3)

    def enable_sampling_support(
        self, scheme: str, with_replacement: bool, distribution: str, min: int, max: int
    ) -> None:
        """Sets the sampling options of this rank's workers. Local.

        Parameters
        ----------
        scheme : str
            "naive", "preloc", "pool" or "local": "prepared", "intended", "shared" and "local" of
            syncyte.Store.set_sampling().
        with_replacement : bool
            Whether keys may repeat in a sample.
        distribution : str
            "uniform" or "log-uniform".
        min, max : int
            Range of keys, [min, max). Only keys with as many values as key `min` are drawn.

        Raises
        ------
        ArgumentError
            A value that is not allowed.
        UnsupportedError
            A pool without replacement.
        """
        if scheme not in _SCHEMES:
            raise wrong(ArgumentError, "scheme", repr(scheme), f"one of {', '.join(_SCHEMES)}")
        self._opened().set_sampling(_SCHEMES[scheme], distribution, min, max, with_replacement=with_replacement)

    def barrier(self) -> None:
        """Returns when all ranks have called it. Collective, called by one thread of each rank."""
        self._opened()
        COMM_WORLD.barrier()

    def shutdown(self) -> None:
        """Ends the server and its workers. Collective; further calls do nothing."""
        if not self._is_open:
            return
        COMM_WORLD.barrier()
        self._is_open = False
        for worker in list(self._workers):
            worker._leave()
        self._store.free()
        self._comm.free()
        COMM_WORLD.collect()

    def my_rank(self) -> int:
        """Returns this rank. Local."""
        return COMM_WORLD.rank

    def _opened(self) -> Store:
        if not self._is_open:
            raise HandleError("this Server was shut down")
        return self._store


def _plain(array: Any) -> Any:
    """Detaches a tensor: AdaPM accepts parameters, and reads and writes their memory."""
    return array.detach() if dtypes.is_torch_tensor(array) else array


class _AnyShape(StoreWorker):
    """A worker that accepts values of any shape: AdaPM checks only their number."""

    def _check_shape(self, name: str, shape: Sequence[int]) -> None:
        pass


class _Timestamps:
    """A worker's operations in flight by timestamp: the number of operations that were in flight before.

    Operations that have ended without an error are forgotten as others start: memory is bounded by the operations in
    flight. Of the failed ones the last 1024 are kept. Other threads and signal handlers may add operations at any time.
    """

    _MOST_FAILED = 1024

    def __init__(self) -> None:
        self._requests: dict[int, Request[Any]] = {}
        self._failed: dict[int, Exception] = {}
        self._numbers = itertools.count()
        self._started = 0
        self._forget_at = 16
        self._waits = threading.RLock()  # a request is for one thread at a time

    def add(self, request: Request[Any]) -> int:
        """Returns the timestamp of an operation; -1: it has ended."""
        if request._started is None:
            return -1
        number = next(self._numbers)
        self._requests[number], self._started = request, number + 1
        if len(self._requests) > self._forget_at:
            self._forget_ended()
            self._forget_at = max(16, 2 * len(self._requests))
        return number

    def wait(self, timestamp: int) -> None:
        """Waits, and raises the operation's error the first time."""
        number = as_int64(timestamp, "timestamp")
        if not -1 <= number < self._started:
            raise wrong(ArgumentError, "timestamp", number, "-1, or another timestamp of an operation of this worker")
        with self._waits:
            request = self._requests.get(number)
            if request is None:
                error = self._failed.pop(number, None)
                if error is not None:
                    raise error
                return
            try:
                request.wait()
            finally:
                if request._started is None:  # not interrupted
                    self._requests.pop(number, None)

    def wait_all(self) -> None:
        """Waits for all; raises the first error, and drops the others."""
        errors = self._failed
        self._failed = {}
        for number in sorted(self._requests):
            try:
                self.wait(number)
            except Error as error:
                errors[number] = error
        if errors:
            raise errors[min(errors)]

    def leave(self) -> None:
        """Leaves the operations to later calls, and drops their errors."""
        requests, self._requests = self._requests, {}
        for request in requests.values():
            request.leave()

    def _forget_ended(self) -> None:
        if not self._waits.acquire(blocking=False):
            return  # another thread waits; the next start forgets them
        try:
            for number, request in list(self._requests.items()):
                try:
                    has_ended = request.test()
                except Error as error:
                    has_ended, self._failed[number] = True, error
                if has_ended:
                    self._requests.pop(number, None)
        finally:
            self._waits.release()
        while len(self._failed) > self._MOST_FAILED:
            self._failed.pop(min(self._failed), None)


class Worker:
    """A worker of a rank, usually one per thread; any thread may make it.

    Keys are int64 and values float32, contiguous, in torch or numpy arrays. Operations return a timestamp for wait();
    -1: the operation is complete, as it always is unless it is asynchronous and keys are on other nodes. The worker
    keeps the arrays of asynchronous operations alive. Operations release the GIL.

    Parameters
    ----------
    customer_id : int
        Number of the worker, 0 to num_threads - 1, unique among this rank's workers.
    server : Server
        This rank's server.

    Raises
    ------
    ArgumentError, DtypeError, HandleError
        The number is out of range or in use; `server` is not a Server, or was shut down.
    """

    def __init__(self, customer_id: int, server: Server) -> None:
        check_kind(server, Server, "server", "a Server")
        self._worker: StoreWorker | None = _AnyShape(server._opened(), customer_id)
        self._server, self._store = server, server._store
        self._timestamps = _Timestamps()
        self._is_in_setup = False
        server._workers.add(self)

    def _open(self) -> StoreWorker:
        worker = self._worker
        if worker is None:
            raise HandleError(
                "this Worker was finalized" if self._server._is_open else "this Worker's Server was shut down"
            )
        return worker

    def _run(self, operation: str, asynchronous: bool, options: dict[str, Any], *arguments: Any) -> int:
        """Runs an operation, or starts it if it is asynchronous. Returns its timestamp.

        `async` is a keyword of Python: callers pass it as the third argument, or as `**{"async": ...}`.
        """
        is_asynchronous = options.pop("async", asynchronous)
        if options:
            name = next(iter(options))
            raise TypeError(f"unexpected argument {name!r}; expected keys, vals and async (asynchronous=)")
        worker = self._open()
        if is_asynchronous:
            return self._timestamps.add(getattr(worker, f"i{operation}")(*arguments))
        getattr(worker, operation)(*arguments)
        return -1

    def pull(self, keys: Any, vals: Any, asynchronous: bool = False, **options: Any) -> int:
        """Reads the values of keys into vals. Local.

        Parameters
        ----------
        keys : array of int64
            Keys.
        vals : array of float32
            Written: the values, concatenated in the order of the keys.
        asynchronous, **options
            True: may return before the operation is complete; until wait(), do not use vals. Also accepted as `async`.

        Returns
        -------
        int
            Timestamp for wait().

        Raises
        ------
        OutOfRangeError, ShapeError, DtypeError
            A key that does not exist; another number of values; another type.
        PeerDiedError
            A process died while it wrote the values of a key; set() repairs it.
        """
        return self._run("pull", asynchronous, options, keys, _plain(vals))

    def push(self, keys: Any, vals: Any, asynchronous: bool = False, **options: Any) -> int:
        """Adds vals to the values of keys. Local.

        Parameters, result and errors are as of pull(), but vals is read.
        """
        return self._run("push", asynchronous, options, keys, _plain(vals))

    def set(self, keys: Any, vals: Any, asynchronous: bool = False, **options: Any) -> int:
        """Replaces the values of keys by vals. Local.

        Parameters, result and errors are as of pull(), but vals is read, and damaged keys are repaired.
        """
        return self._run("set", asynchronous, options, keys, _plain(vals))

    def localize(self, keys: Any, asynchronous: bool = False, **options: Any) -> int:
        """Moves keys to this node, until another node localizes them.

        Parameters, result and errors are as of pull(), without vals.
        """
        return self._run("localize", asynchronous, options, keys)

    def wait(self, timestamp: int) -> None:
        """Waits until an operation is complete; may be called again. Local.

        Parameters
        ----------
        timestamp : int
            Result of the operation.

        Raises
        ------
        ArgumentError
            A timestamp that no operation returned.
        PeerDiedError
            The operation failed, see pull(). Raised the first time only.
        """
        self._open()
        self._timestamps.wait(timestamp)

    def waitall(self) -> None:
        """Waits until all operations of this worker are complete; raises the first error. Local."""
        self._open()
        self._timestamps.wait_all()

    def intent(self, keys: Any, start: int, end: int = 0) -> int:
        """Signals that this worker will use keys while its clock is in [start, end). Local.

        They come to this node shortly before, or copies of them.

        Parameters
        ----------
        keys : array of int64
            Keys.
        start : int
            First clock, 0 or more.
        end : int
            End of the clocks; 0: start + 1.

        Returns
        -------
        int
            -1.

        Raises
        ------
        OutOfRangeError, ArgumentError
            A key that does not exist; a wrong range of clocks.
        """
        self._open().intent(keys, start, end or None)
        return -1

    def advance_clock(self) -> None:
        """Adds 1 to the worker's clock. Local."""
        self._open().advance_clock()

    def current_clock(self) -> int:
        """Returns the worker's clock. Local."""
        return self._open().clock

    def prepare_sample(self, K: int, start: int, end: int = 0) -> int:
        """Prepares a sample, to be pulled while the clock is in [start, end). Local.

        Parameters
        ----------
        K : int
            Number of keys.
        start : int
            First clock, 0 or more.
        end : int
            End of the clocks; 0: start + 1.

        Returns
        -------
        int
            Number of the sample, for pull_sample().

        Raises
        ------
        ArgumentError
            enable_sampling_support() was not called; more keys than there are, without replacement; a wrong range.
        """
        return self._open().prepare_sample(K, start, end or None)

    def pull_sample(self, id: int, keys: Any, vals: Any, asynchronous: bool = False, **options: Any) -> int:
        """Reads the sample's next keys, as many as `keys` has room for, and their values. Local.

        Parameters
        ----------
        id : int
            Number of the sample, from prepare_sample().
        keys : array of int64
            Written: the keys.
        vals : array of float32
            Written: their values, concatenated.
        asynchronous, **options
            As of pull().

        Returns
        -------
        int
            Timestamp for wait().

        Raises
        ------
        ArgumentError
            No such sample, or too few keys left.
        """
        return self._run("pull_sample", asynchronous, options, id, keys, _plain(vals))

    def begin_setup(self) -> None:
        """Begins the setup phase, in which values are set for the first time. Collective over all workers."""
        self._enter_setup(True)

    def end_setup(self) -> None:
        """Ends the setup phase; after it, all workers see all values that were set. Collective over all workers."""
        self._enter_setup(False)

    def _enter_setup(self, begins: bool) -> None:
        """Begins or ends the setup phase. Raises ArgumentError on all ranks that call it out of turn."""
        worker = self._open()
        worker.barrier()
        if self._is_in_setup == begins:
            raise ArgumentError(
                "the setup phase has begun already" if begins else "there is no setup phase; begin it first"
            )
        self._is_in_setup = begins

    def wait_sync(self) -> None:
        """Waits until this worker's writes are where the keys are, and intended keys are here or cannot come. Local."""
        self._open().flush()

    def wait_replica_sync(self) -> None:
        """Deprecated name of wait_sync()."""
        warnings.warn("wait_replica_sync() is called wait_sync() now", DeprecationWarning, stacklevel=2)
        self.wait_sync()

    def barrier(self) -> None:
        """Returns when all workers of all ranks have called it. Collective over all workers."""
        self._open().barrier()

    def finalize(self) -> None:
        """Ends the worker once all workers of all ranks have called it. Collective; further calls do nothing.

        Operations need not have been waited for: it waits for them, and drops their errors.
        """
        if self._worker is not None:
            self._worker.barrier()
            self._leave()

    def _leave(self) -> None:
        worker, self._worker = self._worker, None
        self._server._workers.discard(self)
        self._timestamps.leave()
        if worker is not None:
            worker.free()

    def get_key_size(self, key_id: int = 0) -> int:
        """Returns the number of values of a key. Local.

        Parameters
        ----------
        key_id : int
            A key.

        Returns
        -------
        int
            Its number of values.

        Raises
        ------
        OutOfRangeError
            The key does not exist.
        """
        self._open()
        return int(self._store.lengths([as_int64(key_id, "key_id")])[0])

    @property
    def num_keys(self) -> int:
        """Number of keys. Local."""
        self._open()
        return self._store.num_keys
