"""The interface of AdaPM's PyTorch bindings on Syncyte, on one node.

``from syncyte.compat import adapm``; after ``syncyte.compat.install()``, and in a script that
``python -m syncyte.compat`` runs, also ``import adapm``. New programs use syncyte.Store.

Nodes are the ranks of the MPI job; DMLC_* in the environment means nothing. What differs: see docs/from-adapm.md.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from syncyte import dtypes
from syncyte._checks import as_int32, as_int64, wrong
from syncyte.comm import COMM_WORLD
from syncyte.errors import ArgumentError, DtypeError, HandleError, ShapeError
from syncyte.store import Store, StoreWorker

__all__ = ["Server", "Worker", "scheduler", "setup"]

_TECHNIQUES = ("", "all", "replication_only", "relocation_only")
_settings: tuple[int, int] | None = None  # keys, and workers of each rank


def setup(num_keys: int, num_threads: int, use_techniques: str = "", num_channels: int = -1) -> None:
    """Says how many keys the next Server has, and how many workers each rank has. Local.

    use_techniques and num_channels are checked; on one node nothing is relocated or replicated.
    """
    global _settings
    settings = _checked(num_keys, num_threads)
    if use_techniques not in _TECHNIQUES:
        raise wrong(
            ArgumentError, "use_techniques", repr(use_techniques), f"one of {', '.join(_TECHNIQUES[1:])}, or ''"
        )
    if as_int32(num_channels, "num_channels") < 1 and num_channels != -1:
        raise wrong(ArgumentError, "num_channels", num_channels, "1 or more, or -1")
    _settings = settings


def _checked(num_keys: int, num_threads: int) -> tuple[int, int]:
    keys, threads = as_int64(num_keys, "num_keys"), as_int32(num_threads, "num_threads")
    for name, number in (("num_keys", keys), ("num_threads", threads)):
        if number < 1:
            raise wrong(ArgumentError, name, number, "1 or more")
    return keys, threads


def scheduler(num_keys: int, num_threads: int) -> None:
    """Checks its arguments and returns: there is no scheduler. Local."""
    _checked(num_keys, num_threads)


class Server:
    """A rank's part of the store. Constructing it is collective over COMM_WORLD, after setup().

    value_lengths: a number, of all keys; or a tensor with one for each key, of any type of numbers.
    """

    def __init__(self, value_lengths: Any) -> None:
        def prepare() -> tuple[int, int]:
            if _settings is None:
                raise ArgumentError("there are no keys yet; call setup(num_keys, num_threads) before Server()")
            if getattr(value_lengths, "shape", ()) not in ((), (_settings[0],)):
                given, expected = f"of shape {list(value_lengths.shape)}", f"[{_settings[0]}], one for each key"
                raise wrong(ShapeError, "value_lengths", given, expected)
            return _settings

        keys, threads = COMM_WORLD._prepare("Server", prepare, lifecycle=True)
        self._warn_of_other_nodes()
        self._comm = COMM_WORLD.dup()  # for workers: the server, and the script itself, may meet at the same time
        self._store = Store(keys, value_lengths, comm=self._comm, workers=threads, name="AdaPM")
        self._workers: set[Worker] = set()
        self._is_open = True

    @staticmethod
    def _warn_of_other_nodes() -> None:
        """A script that starts its nodes by itself gives each a job of its own, where it is alone."""
        nodes = os.environ.get("DMLC_NUM_SERVER", "")
        if nodes.isdigit() and int(nodes) != COMM_WORLD.size:
            text = (
                f"DMLC_NUM_SERVER is {nodes}, but the nodes are the {COMM_WORLD.size} ranks of this job: start it with"
            )
            warnings.warn(f"{text} mpirun -n {nodes}, and call what runs a node on each rank", stacklevel=3)

    def enable_sampling_support(
        self, scheme: str, with_replacement: bool, distribution: str, min: int, max: int
    ) -> None:
        """As syncyte.Store.set_sampling(): keys of [min, max) as long as min. Local."""
        self._opened().set_sampling(scheme, distribution, min, max, with_replacement=with_replacement)

    def barrier(self) -> None:
        """All ranks meet. Collective, one thread of each rank."""
        self._opened()
        COMM_WORLD.barrier()

    def shutdown(self) -> None:
        """Ends the server and its workers. Collective; once more does nothing."""
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
        """This rank. Local."""
        return COMM_WORLD.rank

    def _opened(self) -> Store:
        if not self._is_open:
            raise HandleError("this Server was shut down")
        return self._store


def _waits(asynchronous: Any, options: dict[str, Any]) -> bool:
    """Whether an operation is complete on return. `async` is a word of Python's: it comes third, or in `**{...}`."""
    chosen = options.pop("async", asynchronous)
    if options:
        raise TypeError(f"unexpected argument {next(iter(options))!r}; expected keys, vals and async (asynchronous=)")
    return not chosen


def _plain(array: Any) -> Any:
    """AdaPM reads and writes a parameter's memory."""
    return array.detach() if dtypes.is_torch_tensor(array) else array


class _AnyShape(StoreWorker):
    """AdaPM counts values, whatever shape they have."""

    def _check_shape(self, name: str, shape: Sequence[int]) -> None:
        pass


class Worker:
    """One of a rank's worker threads; any thread may make it.

    Keys are int64 and values float32, torch or numpy, contiguous. Operations return a timestamp: -1, all was local and
    is done. Other threads run meanwhile.
    """

    def __init__(self, customer_id: int, server: Server) -> None:
        if not isinstance(server, Server):
            raise wrong(DtypeError, "server", f"a {type(server).__name__}", "a Server")
        self._worker: StoreWorker | None = _AnyShape(server._opened(), customer_id)
        self._server, self._store = server, server._store
        server._workers.add(self)

    def _open(self) -> StoreWorker:
        worker = self._worker
        if worker is None:
            raise HandleError(
                "this Worker was finalized" if self._server._is_open else "this Worker's Server was shut down"
            )
        return worker

    def _done(self, timestamp: int, waits: bool) -> int:
        if waits:
            self._open().wait(timestamp)
        return timestamp

    def pull(self, keys: Any, vals: Any, asynchronous: bool = False, **options: Any) -> int:
        """Reads the values of keys into vals. Local."""
        waits = _waits(asynchronous, options)
        return self._done(self._open().ipull(keys, _plain(vals)), waits)

    def push(self, keys: Any, vals: Any, asynchronous: bool = False, **options: Any) -> int:
        """Adds vals to the values of keys. Local."""
        waits = _waits(asynchronous, options)
        return self._done(self._open().ipush(keys, _plain(vals)), waits)

    def set(self, keys: Any, vals: Any, asynchronous: bool = False, **options: Any) -> int:
        """Replaces the values of keys by vals. Local."""
        waits = _waits(asynchronous, options)
        return self._done(self._open().iset(keys, _plain(vals)), waits)

    def localize(self, keys: Any, asynchronous: bool = False, **options: Any) -> int:
        """Checks and counts keys: on one node they are local. Local."""
        waits = _waits(asynchronous, options)
        return self._done(self._open().ilocalize(keys), waits)

    def wait(self, timestamp: int) -> None:
        """Until the operation is complete. Local."""
        self._open().wait(timestamp)

    def waitall(self) -> None:
        """Until all of this worker's operations are complete. Local."""
        self._open().wait_all()

    def intent(self, keys: Any, start: int, end: int = 0) -> int:
        """Records that keys are going to be used while the clock is in [start, end); 0: start + 1. Local.

        Returns -1.
        """
        self._open().intent(keys, start, end or None)
        return -1

    def advance_clock(self) -> None:
        """Adds 1 to the worker's clock. Local."""
        self._open().advance_clock()

    def current_clock(self) -> int:
        """The worker's clock. Local."""
        return self._open().clock

    def prepare_sample(self, K: int, start: int, end: int = 0) -> int:
        """Prepares a sample of K keys and returns its number. Local."""
        return self._open().prepare_sample(K, start, end or None)

    def pull_sample(self, id: int, keys: Any, vals: Any, asynchronous: bool = False, **options: Any) -> int:
        """Reads the sample's next keys, as many as there is room for, and their values. Local."""
        waits = _waits(asynchronous, options)
        return self._done(self._open().ipull_sample(id, keys, _plain(vals)), waits)

    def begin_setup(self) -> None:
        """Collective: every worker of every rank calls it."""
        self._open().begin_setup()

    def end_setup(self) -> None:
        """Collective: every worker of every rank calls it."""
        self._open().end_setup()

    def wait_sync(self) -> None:
        """Returns at once: on one node what was pushed is with the owners. Local."""
        self._open().wait_sync()

    def wait_replica_sync(self) -> None:
        """The former name of wait_sync()."""
        warnings.warn("wait_replica_sync() is called wait_sync() now", DeprecationWarning, stacklevel=2)
        self.wait_sync()

    def barrier(self) -> None:
        """Collective: every worker of every rank calls it."""
        self._open().barrier()

    def finalize(self) -> None:
        """Ends the worker, after all workers of all ranks have come here. Collective; once more does nothing.

        Nothing need have been waited for.
        """
        if self._worker is not None:
            self._worker.barrier()
            self._leave()

    def _leave(self) -> None:
        worker, self._worker = self._worker, None
        self._server._workers.discard(self)
        if worker is not None:
            worker.free()

    def get_key_size(self, key_id: int = 0) -> int:
        """Number of values under a key. Local."""
        self._open()
        return int(self._store.lengths([as_int64(key_id, "key_id")])[0])

    @property
    def num_keys(self) -> int:
        """Number of keys. Local."""
        self._open()
        return self._store.num_keys
