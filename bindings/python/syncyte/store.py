"""The parameter store: a vector of float32 under each of many keys, which all ranks pull, push and set.

What is done to one key is done at once, and seen by all ranks in one order; a list of keys is gone through in its
order. So far all ranks of a store share one node's memory, where every operation is complete on return.
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from . import _arrays, _library, dtypes
from . import _declarations as c
from ._buffers import NOT_RECORDED, Buffer, as_buffer
from ._checks import as_index, as_int32, as_int64, wrong
from ._declarations import DType
from ._handles import Handle
from ._short_descriptions import give_back, take_descriptions, written
from ._types import Array
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError, DtypeError, ShapeError, UnsupportedError

if TYPE_CHECKING:
    import torch

__all__ = ["Store", "StoreWorker", "WorkerInfo"]

_NUMBERS = ctypes.POINTER(ctypes.c_int64)


class WorkerInfo(NamedTuple):
    """What a worker has done since it was made."""

    number: int
    clock: int
    pulled_keys: int  #: a key that repeats counts each time
    pushed_keys: int
    set_keys: int
    localized_keys: int
    intended_keys: int  #: by intent and prepare_sample
    active_intents: int  #: intended keys whose window has not ended
    prepared_samples: int  #: that have keys left


def _as_lengths(lengths: Any) -> np.ndarray:
    """int64, of one dimension; whole numbers of other types too."""
    if dtypes.is_torch_tensor(lengths):
        lengths = lengths.detach().cpu()
    given = np.atleast_1d(np.asarray(lengths))
    if given.dtype.kind not in "iuf":
        raise wrong(DtypeError, "lengths", repr(lengths), "integers")
    if given.ndim != 1:
        raise wrong(ShapeError, "lengths", f"of shape {given.shape}", "a number, or one for each key")
    if given.dtype.kind in "uf":
        bad = np.flatnonzero(~(np.abs(given) < 2.0**53) | (given != np.floor(given)))
        if bad.size:
            raise wrong(ArgumentError, "lengths", given[bad[0]], "a whole number", axis=int(bad[0]))
    return np.ascontiguousarray(given, np.int64)


def _as_keys(keys: Any) -> Buffer:
    if isinstance(keys, (list, tuple)) and not keys:
        keys = np.empty(0, np.int64)  # which numpy takes for floating-point numbers
    return as_buffer(keys, "keys", expected=DType.INT64)


def _choice(value: Any, known: type[enum.IntEnum], name: str) -> int:
    names = {each.name.lower().replace("_", "-"): each for each in known}
    if value not in names:
        raise wrong(ArgumentError, name, repr(value), f"one of {', '.join(names)}")
    return int(names[value])


class Store(Handle):
    """Parameters under the keys 0 to num_keys - 1, zeros at first. Constructing it is collective.

    Parameters
    ----------
    num_keys : int
        1 or more.
    lengths : int or array of int
        Number of values under every key, or under each. Floating-point arrays of whole numbers too.
    comm : Comm
        Its ranks, all of one node.
    workers : int
        How many of this process's threads use it; ranks may differ.
    dtype : element type
        float32.
    name : str, optional
        For messages.

    Raises
    ------
    ShapeError, ArgumentError, DtypeError, UnsupportedError, OutOfMemoryError, MismatchError
        On all ranks: wrong numbers; another dtype; ranks of several nodes; more memory than the node has; ranks that
        differ.
    """

    kind = "kv"

    def __init__(
        self,
        num_keys: int,
        lengths: Any,
        *,
        comm: Comm = COMM_WORLD,
        workers: int = 1,
        dtype: dtypes.DTypeLike = "float32",
        name: str | None = None,
    ) -> None:
        comm = comm_or_world(comm)

        def prepare() -> tuple[int, np.ndarray, DType, Any]:
            keys, threads = as_int64(num_keys, "num_keys"), as_int32(workers, "workers")
            chosen = _library.options(c.KvOptions, name=_library.name_bytes(name), workers=threads)
            for argument, number in (("num_keys", keys), ("workers", threads)):
                if number < 1:
                    raise wrong(ArgumentError, argument, number, "1 or more")
            return keys, _as_lengths(lengths), dtypes.as_dtype(dtype), chosen

        keys, numbers, element, options = comm._prepare("kv_create", prepare, lifecycle=True)
        handle = ctypes.c_void_p()
        _library.core().syncyte_kv_create(
            comm.handle, int(element), keys, numbers.size, numbers.ctypes.data_as(_NUMBERS), ctypes.byref(options),
            ctypes.byref(handle),
        )  # fmt: skip
        assert handle.value is not None
        self._own(handle.value)
        self._comm, self._num_keys, self._name = comm, keys, name
        self._live: dict[int, StoreWorker] = {}  # a worker that a thread has lost is waited for all the same
        self._length = int(numbers[0]) if numbers.size == 1 else None

    def __repr__(self) -> str:
        name = "" if self._name is None else f", name={self._name!r}"
        length = "of several lengths" if self._length is None else f"of {self._length} values"
        return f"Store({self._num_keys} keys {length}{name})"

    @property
    def comm(self) -> Comm:
        """Its communicator. Local."""
        return self._comm

    @property
    def num_keys(self) -> int:
        """Number of keys. Local."""
        return self._num_keys

    @property
    def length(self) -> int | None:
        """Number of values under every key; None where they differ. Local."""
        return self._length

    def lengths(self, keys: Any) -> np.ndarray:
        """Number of values under each of some keys. Local.

        Parameters
        ----------
        keys : array of int
            Any of 0 to num_keys - 1.

        Raises
        ------
        OutOfRangeError
            Names the key and its position.
        """
        return self._of_each("syncyte_kv_lengths", keys, np.int64)

    def owner(self, keys: Any) -> np.ndarray:
        """Ranks that own keys now. Local.

        Parameters and errors as of lengths().
        """
        return self._of_each("syncyte_kv_owner", keys, np.int32)

    def _of_each(self, function: str, keys: Any, dtype: type) -> np.ndarray:
        wanted = _as_keys(keys)
        if wanted.description.memory != c.Memory.HOST:
            raise wrong(UnsupportedError, "keys", "in device memory", "host memory")
        result: np.ndarray = np.empty(wanted.shape, dtype)
        pointer = ctypes.POINTER(np.ctypeslib.as_ctypes_type(dtype))
        given = ctypes.cast(wanted.description.data, _NUMBERS)
        getattr(_library.core(), function)(self.handle, wanted.size, given, result.ctypes.data_as(pointer))
        return result

    def worker(self, number: int = 0) -> StoreWorker:
        """One of this process's workers. Local; any thread may make it for any other.

        Parameters
        ----------
        number : int
            0 to workers - 1, of no other worker of this process.

        Raises
        ------
        ArgumentError
            A number that is out of range or taken.
        """
        return StoreWorker(self, number)

    def set_sampling(
        self,
        scheme: str,
        distribution: str,
        min_key: int,
        max_key: int,
        *,
        with_replacement: bool = True,
        pool_size: int = 250,
        reuse: int = 1,
        seed: int = 0,
    ) -> None:
        """Says how this process's workers sample keys from now on. Local.

        Only keys that have as many values as min_key are drawn.

        Parameters
        ----------
        scheme : str
            "naive": keys are drawn when they are prepared; "preloc": and an intent is recorded; "pool": from a pool of
            keys that the process's workers share; "local": drawn when they are pulled, from local keys.
        distribution : str
            "uniform" or "log-uniform".
        min_key, max_key : int
            The range, without max_key.
        with_replacement : bool
            Whether a key may be in a sample several times; always with a pool.
        pool_size, reuse : int
            Keys of the pool, and how often each is given.
        seed : int
            With the rank and the worker's number it says which keys are drawn.

        Raises
        ------
        ArgumentError, UnsupportedError
        """
        options = {
            "scheme": _choice(scheme, c.KvScheme, "scheme"),
            "distribution": _choice(distribution, c.KvDistribution, "distribution"),
            "with_replacement": int(bool(with_replacement)),
        }
        numbers = {"min_key": min_key, "max_key": max_key, "pool_size": pool_size, "reuse": reuse, "seed": seed}
        options |= {name: as_int64(number, name) for name, number in numbers.items()}
        _library.core().syncyte_kv_set_sampling(self.handle, ctypes.byref(_library.options(c.KvSampling, **options)))

    def sync(self) -> None:
        """What any rank wrote before is seen by all after. Collective, one thread of each rank.

        It also frees what all ranks have dropped.
        """
        _library.core().syncyte_kv_sync(self.handle)


class StoreWorker(Handle):
    """One of a process's users of a store, mostly a thread; made by Store.worker(). Every call lets other threads run.

    Keys are int64, contiguous, numpy or torch, any number of dimensions; they may repeat. Values are float32,
    contiguous, one key's after another's; of several dimensions the last one is a key's length, where all have one. All
    methods but the meetings are local. It lives until free(), also where nobody refers to it any longer.
    """

    kind = "kv_worker"

    def __init__(self, store: Store, number: int) -> None:
        handle = ctypes.c_void_p()
        core = _library.core()
        core.syncyte_kv_worker_create(store.handle, as_int32(number, "number"), ctypes.byref(handle))
        assert handle.value is not None
        self._own(handle.value)
        self._store, self._number = store, number
        store._live[number] = self

    @property
    def store(self) -> Store:
        """What it is a worker of."""
        return self._store

    def free(self) -> None:
        """Ends this worker: the others of this process meet without it. Local."""
        if self._store._live.get(self._number) is self:
            del self._store._live[self._number]
        super().free()

    def _new_room(self, keys: Any) -> Any:
        """An array for the values of keys, of their kind."""
        wanted, length = _as_keys(keys), self._store.length
        shape = [int(self._store.lengths(keys).sum())] if length is None else [*wanted.shape, length]
        return _arrays.empty(wanted.array_kind, DType.FLOAT32, shape)

    def _check_shape(self, name: str, shape: Sequence[int]) -> None:
        length = self._store.length
        if len(shape) > 1 and length is not None and shape[-1] != length:
            raise wrong(ShapeError, name, f"of shape {tuple(shape)}", f"one dimension, or a last one of {length}")

    def _begin(self, function: str, keys: Any, values: Any, name: str, is_written: bool) -> int:
        """Calls the library's function and returns the timestamp."""
        timestamp = ctypes.c_int64()
        call, short = getattr(_library.core(), function), take_descriptions(keys, values, is_written)
        if short is not None:
            self._check_shape(name, values.shape)
            call(self.handle, *short.references, ctypes.byref(timestamp))
            give_back(short)
            if is_written:
                written(values)
            return timestamp.value
        wanted = _as_keys(keys)
        recorded_by = None if is_written else NOT_RECORDED
        given = as_buffer(values, name, writable=is_written, expected=DType.FLOAT32, recorded_by=recorded_by)
        self._check_shape(name, given.shape)
        call(self.handle, wanted.reference, given.reference, ctypes.byref(timestamp))
        if is_written:
            given.written()
        return timestamp.value

    @overload
    def pull(self, keys: Any, out: Array) -> Array: ...
    @overload
    def pull(self, keys: torch.Tensor, out: None = None) -> torch.Tensor: ...
    @overload
    def pull(self, keys: Any, out: None = None) -> np.ndarray: ...

    def pull(self, keys: Any, out: Any = None) -> Any:
        """Reads the values of keys.

        Parameters
        ----------
        keys : array of int
            Any of 0 to num_keys - 1.
        out : array of float32, optional
            As many elements as the keys have values.

        Returns
        -------
        array
            out; or a new one of keys' kind, of shape keys.shape + (length,), flat where lengths differ.

        Raises
        ------
        OutOfRangeError
            Names the first key that is out of range, and its position; nothing was written.
        DtypeError, ShapeError, UnsupportedError
            Other element types, strides, numbers of values; device memory. Nothing was written.
        PeerDiedError
            A process died while it wrote a key's values; set() makes it whole.
        """
        room = self._new_room(keys) if out is None else out
        self.wait(self.ipull(keys, room))
        return room

    def push(self, keys: Any, values: Any) -> None:
        """Adds to the values of keys; of a key that repeats several times.

        Parameters
        ----------
        keys : array of int
            Any of 0 to num_keys - 1.
        values : array of float32
            As many elements as the keys have values.

        Raises
        ------
        ArgumentError
            values require grad, since none is recorded. Others as of pull().
        """
        self.wait(self.ipush(keys, values))

    def set(self, keys: Any, values: Any) -> None:
        """Replaces the values of keys; of a key that repeats the last ones stay.

        Parameters
        ----------
        keys, values
            As of push().

        Raises
        ------
        ArgumentError
            As of push(), but that it makes damaged keys whole.
        """
        self.wait(self.iset(keys, values))

    def ipull(self, keys: Any, out: Any) -> int:
        """Begins a pull.

        Parameters
        ----------
        keys : array of int
            Any of 0 to num_keys - 1.
        out : array of float32
            As of pull().

        Returns
        -------
        int
            Its timestamp, for wait(): -1 where it is complete.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError, UnsupportedError, PeerDiedError
            As of pull().
        """
        return self._begin("syncyte_kv_worker_pull", keys, out, "out", True)

    def ipush(self, keys: Any, values: Any) -> int:
        """Begins a push.

        Parameters, result and errors as of push() and ipull().
        """
        return self._begin("syncyte_kv_worker_push", keys, values, "values", False)

    def iset(self, keys: Any, values: Any) -> int:
        """Begins a set.

        Parameters, result and errors as of set() and ipull().
        """
        return self._begin("syncyte_kv_worker_set", keys, values, "values", False)

    def pull_if_local(self, keys: Any, out: Any = None) -> Array | None:
        """As pull(), if this rank reaches all keys without a message, as on one node it does.

        Parameters
        ----------
        keys, out
            As of pull().

        Returns
        -------
        array or None
            As of pull(); None where a key is not local, and nothing was written.
        """
        wanted, is_local = _as_keys(keys), ctypes.c_int32()
        given = self._new_room(keys) if out is None else out
        room = as_buffer(given, "out", writable=True, expected=DType.FLOAT32)
        self._check_shape("out", room.shape)
        _library.core().syncyte_kv_worker_pull_if_local(
            self.handle, wanted.reference, room.reference, ctypes.byref(is_local)
        )
        if not is_local.value:
            return None
        room.written()
        return given

    def localize(self, keys: Any) -> None:
        """Asks that this rank owns keys; on one node they are local, and are checked and counted.

        Parameters
        ----------
        keys : array of int
            As of pull(), with its errors.
        """
        self.wait(self.ilocalize(keys))

    def ilocalize(self, keys: Any) -> int:
        """Begins localize().

        Parameters and errors as of localize().

        Returns
        -------
        int
            As of ipull().
        """
        timestamp = ctypes.c_int64()
        wanted = _as_keys(keys)
        _library.core().syncyte_kv_worker_localize(self.handle, wanted.reference, ctypes.byref(timestamp))
        return timestamp.value

    def intent(self, keys: Any, start: int, end: int | None = None) -> None:
        """Says that this worker is going to use keys while its clock is in [start, end).

        On one node it is checked and recorded.

        Parameters
        ----------
        keys : array of int
            Any of 0 to num_keys - 1.
        start : int
            0 or more.
        end : int, optional
            More than start; None: start + 1.

        Raises
        ------
        ArgumentError
            start is negative, or end not more than start. Others as of pull().
        """
        wanted = _as_keys(keys)
        first, last = as_int64(start, "start"), _as_end(end)
        _library.core().syncyte_kv_worker_intent(self.handle, wanted.reference, first, last)

    @property
    def clock(self) -> int:
        """This worker's clock, 0 at first."""
        now = ctypes.c_int64()
        _library.core().syncyte_kv_worker_clock(self.handle, ctypes.byref(now))
        return now.value

    def advance_clock(self) -> int:
        """Adds 1 to the worker's clock, and returns what it is now."""
        now = ctypes.c_int64()
        _library.core().syncyte_kv_worker_advance_clock(self.handle, ctypes.byref(now))
        return now.value

    def prepare_sample(self, count: int, start: int | None = None, end: int | None = None) -> int:
        """Says that this worker is going to pull sampled keys while its clock is in [start, end).

        Parameters
        ----------
        count : int
            How many.
        start, end : int, optional
            None: from now on; start + 1.

        Returns
        -------
        int
            The sample's number, for pull_sample().

        Raises
        ------
        ArgumentError
            No Store.set_sampling() before; more keys than there are, without replacement; a wrong window.
        """
        sample = ctypes.c_int64()
        first = self.clock if start is None else as_int64(start, "start")
        _library.core().syncyte_kv_worker_prepare_sample(
            self.handle, as_int64(count, "count"), first, _as_end(end), ctypes.byref(sample)
        )
        return sample.value

    def pull_sample(self, sample: int, keys: Any, out: Any = None) -> tuple[Array, Array]:
        """Reads the next keys of a sample, and their values.

        Parameters
        ----------
        sample : int
            Its number.
        keys : int or array of int
            How many keys, or an array for them; at most as many as the sample has left.
        out : array of float32, optional
            For the values; needed where keys differ in length.

        Returns
        -------
        tuple of arrays
            Keys and values; new ones are numpy arrays, values of shape (number of keys, length).

        Raises
        ------
        ArgumentError
            No such sample of this worker, or not as many keys left. Others as of pull().
        """
        drawn, values = self._sample(keys, out)
        self.wait(self._pull_sample(sample, drawn, values))
        return drawn.array, values.array

    def ipull_sample(self, sample: int, keys: Any, out: Any) -> int:
        """Begins a pull_sample().

        Parameters
        ----------
        sample, keys, out
            As of pull_sample(), all given.

        Returns
        -------
        int
            As of ipull().
        """
        return self._pull_sample(sample, *self._sample(keys, out))

    def _sample(self, keys: Any, out: Any) -> tuple[Buffer, Buffer]:
        if hasattr(keys, "__index__") and not hasattr(keys, "shape"):
            if as_index(keys, "keys") < 0:
                raise wrong(ArgumentError, "keys", keys, "0 or more, or an array")
            keys = np.empty(keys, np.int64)
        drawn = as_buffer(keys, "keys", writable=True, expected=DType.INT64)
        if out is None:
            length = self._store.length
            if length is None:
                raise wrong(ArgumentError, "out", None, "an array, because keys differ in length")
            out = _arrays.empty(drawn.array_kind, DType.FLOAT32, [*drawn.shape, length])
        return drawn, as_buffer(out, "out", writable=True, expected=DType.FLOAT32)

    def _pull_sample(self, sample: int, keys: Buffer, values: Buffer) -> int:
        timestamp = ctypes.c_int64()
        _library.core().syncyte_kv_worker_pull_sample(
            self.handle, as_int64(sample, "sample"), keys.reference, values.reference, ctypes.byref(timestamp)
        )
        keys.written()
        values.written()
        return timestamp.value

    def finish_sample(self, sample: int) -> None:
        """Ends a sample of which no more keys are going to be pulled; one that has ended is fine.

        Parameters
        ----------
        sample : int
            Its number.
        """
        _library.core().syncyte_kv_worker_finish_sample(self.handle, as_int64(sample, "sample"))

    def wait(self, timestamp: int) -> None:
        """Waits until an operation of this worker's is complete; waiting twice, and for -1, is fine.

        Parameters
        ----------
        timestamp : int
            What the operation gave.

        Raises
        ------
        ArgumentError
            No operation gave this timestamp.
        """
        if timestamp != -1:
            _library.core().syncyte_kv_worker_wait(self.handle, as_int64(timestamp, "timestamp"))

    def wait_all(self) -> None:
        """Waits until all operations of this worker are complete."""
        _library.core().syncyte_kv_worker_wait_all(self.handle)

    def wait_sync(self) -> None:
        """Waits until what this process has written before is with the owners of the keys, as on one node it is."""
        _library.core().syncyte_kv_worker_wait_sync(self.handle)

    def barrier(self) -> None:
        """All workers of all ranks meet; what any of them wrote before is seen by all after. Collective.

        Each worker calls, those of one process in threads of their own. A worker that was freed is not waited for.

        Raises
        ------
        MismatchError
            On all workers of all ranks, where some meet in another method.
        """
        _library.core().syncyte_kv_worker_barrier(self.handle)

    def begin_setup(self) -> None:
        """Begins the phase in which values are set for the first time. Collective, as barrier().

        Raises
        ------
        ArgumentError
            Within the phase.
        """
        _library.core().syncyte_kv_worker_begin_setup(self.handle)

    def end_setup(self) -> None:
        """Ends the phase: what was set is there for all workers. Collective, as barrier().

        Raises
        ------
        ArgumentError
            Outside of the phase.
        """
        _library.core().syncyte_kv_worker_end_setup(self.handle)

    def info(self) -> WorkerInfo:
        """What this worker has done."""
        found = _library.options(c.KvWorkerInfo)
        _library.core().syncyte_kv_worker_describe(self.handle, ctypes.byref(found))
        return WorkerInfo(*(getattr(found, name) for name in WorkerInfo._fields))


def _as_end(end: int | None) -> int:
    if end is None:
        return 0
    number = as_int64(end, "end")
    if number == 0:
        raise wrong(ArgumentError, "end", 0, "more than start, or None")
    return number
