# SPDX-License-Identifier: BSD-3-Clause
"""The parameter store: a vector of float32 under each of many keys, which all ranks pull, push and set.

Operations on one key are atomic, and all ranks see them in the same order. Each key has a home rank: keys of this
node's ranks are local, and are read and written in shared memory; others by requests to their home ranks. ipull(),
ipush() and iset() return a Request while these are in flight.
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from . import _arrays, _library, dtypes
from . import _declarations as c
from ._buffers import NOT_RECORDED, Buffer, as_buffer, index_buffer
from ._checks import as_int32, as_int64, as_size, at_least, wrong
from ._handles import Access, Handle
from ._renamed import refuse_keywords
from ._requests import Request, start
from ._store_ahead import PullAhead, UniqueRoom, UniqueValues
from ._store_operands import PooledOperands, take_operands
from ._types import Array
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError, DtypeError, ShapeError, UnsupportedError

if TYPE_CHECKING:
    import torch

__all__ = ["PullAhead", "Store", "StoreWorker", "UniqueValues", "WorkerInfo"]


class WorkerInfo(NamedTuple):
    """Counters of a worker since its creation."""

    number: int
    clock: int
    pulled_keys: int  #: a key that repeats counts each time, of pull_unique() once
    pushed_keys: int  #: likewise
    set_keys: int
    localized_keys: int
    intended_keys: int  #: by intent and prepare_sample
    active_intents: int  #: intended keys whose window has not ended
    prepared_samples: int  #: samples that have keys left
    remote_keys: int  #: of pulled, pushed and set keys, those that were asked for at their home ranks


def _as_lengths(lengths: Any) -> np.ndarray:
    """Converts lengths to one-dimensional int64; accepts whole numbers of other types."""
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
    return index_buffer(keys, "keys", narrow=False)


def _choice(value: Any, known: type[enum.IntEnum], name: str, prefix: str = "") -> int:
    names = {each.name.removeprefix(prefix).lower().replace("_", "-"): each for each in known}
    if not isinstance(value, str) or value not in names:
        raise wrong(ArgumentError, name, repr(value), f"one of {', '.join(names)}")
    return int(names[value])


class Store(Handle):
    """A parameter store for the keys 0 to num_keys - 1, zeroed. Constructing it is collective.

    Parameters
    ----------
    num_keys : int
        Number of keys, 1 or more.
    lengths : int or array of int
        Number of values of every key, or of each key. Floating-point arrays of whole numbers are accepted.
    dtype : element type
        float32.
    comm : Comm
        The store's ranks.
    workers : int
        Number of this process's workers; ranks may differ.
    name : str, optional
        Name, equal on all ranks; None is a name of its own.
    label : str, optional
        Name for messages instead of `name`; ranks may differ.
    homes : str
        Home ranks of the keys. "cyclic": key mod ranks, one of each node in turn; "hash": mixed, which spreads keys of
        any stride evenly, such as a power of two; "block": in order, as the rows of a tensor.
    foreign_bytes : int, optional
        Memory on this node for keys of other nodes (localize()), as its lowest rank gives it. None: a quarter of the
        node's values, at least 1 MiB, at most an eighth of the memory that is free.
    intents : str
        What intents do with a key. "move-or-copy": it moves to the one node that intends to use it; each of several
        gets a copy, which shows other nodes' pushes a little later. "move": it moves to the first node, and the others
        use it there, so that all operations on a key have one order in time. "copy": each node gets a copy.

    Raises
    ------
    ShapeError, ArgumentError, DtypeError, UnsupportedError, OutOfMemoryError, MismatchError
        On all ranks: wrong numbers; another dtype; several nodes without a fabric between them, or with more than 65534
        values for a key; too little memory; ranks differ.
    """

    kind = "store"

    def __init__(
        self,
        num_keys: int,
        lengths: Any,
        *,
        dtype: dtypes.DTypeLike = "float32",
        comm: Comm = COMM_WORLD,
        workers: int = 1,
        name: str | None = None,
        homes: str = "cyclic",
        label: str | None = None,
        foreign_bytes: int | None = None,
        intents: str = "move-or-copy",
    ) -> None:
        comm = comm_or_world(comm)

        def prepare() -> tuple[int, np.ndarray, c.DType, Any]:
            keys = at_least(1, as_int64(num_keys, "num_keys"), "num_keys")
            threads = at_least(1, as_int32(workers, "workers"), "workers")
            names = {"name": _library.name_bytes(name), "label": _library.name_bytes(label, "label")}
            placed = _choice(homes, c.StoreHomes, "homes", "HOMES_")
            room = (
                -1 if foreign_bytes is None else at_least(0, as_int64(foreign_bytes, "foreign_bytes"), "foreign_bytes")
            )
            places = {"homes": placed, "intents": _choice(intents, c.StoreIntents, "intents", "INTENTS_")}
            chosen = _library.new_struct(c.StoreOptions, workers=threads, foreign_bytes=room, **places, **names)
            return keys, _as_lengths(lengths), dtypes.as_dtype(dtype), chosen

        keys, numbers, element, options = comm._prepare("store_create", prepare, always=True)
        arguments = keys, numbers.size, _arrays.pointer(numbers), options
        self._own(_library.core().output("syncyte_store_create", comm.handle, int(element), *arguments))
        self._comm, self._num_keys, self._name = comm, keys, label or name
        self._live: dict[int, StoreWorker] = {}  # keeps workers alive until free(), because barriers wait for them
        self._length = int(numbers[0]) if numbers.size == 1 else None

    def __repr__(self) -> str:
        name = "" if self._name is None else f", name={self._name!r}"
        length = "of several lengths" if self._length is None else f"of {self._length} values"
        return f"Store({self._num_keys} keys {length}{name})"

    @property
    def comm(self) -> Comm:
        """The store's communicator. Local."""
        return self._comm

    @property
    def num_keys(self) -> int:
        """Number of keys. Local."""
        return self._num_keys

    @property
    def length(self) -> int | None:
        """Number of values of every key; None if keys differ. Local."""
        return self._length

    def lengths(self, keys: Any) -> np.ndarray:
        """Returns the number of values of each of some keys. Local.

        Parameters
        ----------
        keys : array of int
            Keys, 0 to num_keys - 1.

        Returns
        -------
        numpy.ndarray
            The numbers, int64.

        Raises
        ------
        OutOfRangeError
            A key that does not exist; names the key and its position.
        """
        return self._of_each("syncyte_store_lengths", keys, np.int64)

    def owner(self, keys: Any) -> np.ndarray:
        """Returns the home ranks of keys, which know where their values are. Local.

        Parameters and errors as of lengths().

        Returns
        -------
        numpy.ndarray
            Ranks, int32.
        """
        return self._of_each("syncyte_store_owner", keys, np.int32)

    def is_local(self, keys: Any) -> np.ndarray:
        """Tells which keys are local: their values are at this node now. Local.

        Parameters and errors as of lengths().

        Returns
        -------
        numpy.ndarray
            bool.
        """
        return self._of_each("syncyte_store_is_local", keys, np.int32) != 0

    def locate(self, keys: Any) -> np.ndarray:
        """Asks home ranks where the values of keys are now; no other rank has to call it.

        Parameters as of lengths().

        Returns
        -------
        numpy.ndarray
            For each key its home rank, or the lowest rank of the node that has localized it; int32.

        Raises
        ------
        PeerDiedError
            A home rank has died. Others as of lengths().
        """
        return self._of_each("syncyte_store_locate", keys, np.int32)

    def adopt_last(self, keys: Any) -> np.ndarray:
        """Gives keys their homes' last values, if they were lost with the node to which they had moved.

        These are the values that they had when they left their homes; adds and sets at that node are lost. Until then,
        or until a set, operations on such a key raise PeerDiedError. No other rank has to call it.

        Parameters and errors as of locate().

        Returns
        -------
        numpy.ndarray
            True for each key that was lost; others stay as they are. bool.
        """
        return self._of_each("syncyte_store_adopt_last", keys, np.int32) != 0

    def _of_each(self, function: str, keys: Any, dtype: type) -> np.ndarray:
        wanted = _as_keys(keys)
        if wanted.description.memory != c.Memory.HOST:
            raise wrong(UnsupportedError, "keys", "in device memory", "host memory")
        result: np.ndarray = np.empty(wanted.shape, dtype)
        given = ctypes.cast(wanted.description.data, ctypes.POINTER(ctypes.c_int64))
        getattr(_library.core(), function)(self.handle, wanted.size, given, _arrays.pointer(result))
        return result

    def worker(self, number: int = 0) -> StoreWorker:
        """Makes one of this process's workers. Local; any thread may use it.

        Parameters
        ----------
        number : int
            0 to workers - 1; no other worker of this process may have it.

        Returns
        -------
        StoreWorker
            The worker.

        Raises
        ------
        ArgumentError
            A number that is out of range or in use.
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
        shared_keys: int = 250,
        reuse: int = 1,
        seed: int = 0,
        **former: object,
    ) -> None:
        """Sets the sampling options of this process's workers. Local.

        Only keys that have as many values as min_key are drawn.

        Parameters
        ----------
        scheme : str
            "prepared": keys are drawn when the sample is prepared; "intended": as prepared, with an intent;
            "shared": as intended, from a set of keys that the process's workers share; "local": keys are drawn when
            they are pulled, and the next local key upwards is taken; the drawn key itself if 256 keys have none, or if
            the store has block homes.
        distribution : str
            "uniform" or "log-uniform".
        min_key, max_key : int
            The range [min_key, max_key).
        with_replacement : bool
            Whether a key may repeat in a sample; required with a shared set.
        shared_keys, reuse : int
            Number of keys in the shared set, and how often each is used.
        seed : int
            Seed; the rank and the worker's number are mixed in.
        **former
            None; the error for a keyword's former name tells the present one.

        Raises
        ------
        ArgumentError, UnsupportedError
            A value that is not allowed; a shared set without replacement.
        """
        refuse_keywords("set_sampling", former)
        options = {
            "scheme": _choice(scheme, c.StoreScheme, "scheme"),
            "distribution": _choice(distribution, c.StoreDistribution, "distribution"),
            "with_replacement": int(bool(with_replacement)),
        }
        numbers = {"min_key": min_key, "max_key": max_key, "shared_keys": shared_keys, "reuse": reuse, "seed": seed}
        options |= {name: as_int64(number, name) for name, number in numbers.items()}
        _library.core().syncyte_store_set_sampling(self.handle, _library.new_struct(c.StoreSampling, **options))

    def sync(self) -> None:
        """Synchronizes the store: after it, all ranks see all earlier writes. Collective, one thread of each rank.

        Writes by ipush() and iset() must have been waited for. It also frees objects that all ranks have dropped.
        """
        _library.core().syncyte_store_sync(self.handle)


class StoreWorker(Handle):
    """A worker: a user of a store within a process, usually one per thread; made by Store.worker().

    Keys are numpy or torch arrays of int64, of any number of dimensions; they may repeat. Strided keys, and int32, are
    copied. Values are float32, contiguous, concatenated in the order of the keys; if they have several dimensions, the
    last one is a key's number of values. All methods are local, except barrier(). Calls release the GIL. The worker
    lives until free(), even without references.

    At each home rank, operations of one worker take effect in the order of their starts, also those that ipull(),
    ipush(), iset() and ipull_sample() start: a pull sees all earlier writes of its worker. Until the wait() of their
    requests the values must not be used; keys may be changed at once.
    """

    kind = "store_worker"

    def __init__(self, store: Store, number: int) -> None:
        self._own(_library.core().output("syncyte_store_worker_create", store.handle, as_int32(number, "number")))
        self._store, self._number = store, number
        store._live[number] = self

    @property
    def store(self) -> Store:
        """The worker's store."""
        return self._store

    def free(self) -> None:
        """Ends this worker: barriers of this process no longer wait for it. Local.

        Operations in flight go on: wait for their requests.
        """
        if self._store._live.get(self._number) is self:
            del self._store._live[self._number]
        super().free()

    def _check_shape(self, name: str, shape: Sequence[int]) -> None:
        length = self._store.length
        if len(shape) > 1 and length is not None and shape[-1] != length:
            raise wrong(ShapeError, name, f"of shape {tuple(shape)}", f"one dimension, or a last one of {length}")

    def _start(self, name: str, operands: Access | PooledOperands) -> Request[Any]:
        """Starts an operation; its request's wait() returns the values that it has read."""
        request = self._request(name, operands.arguments, operands.arrays, operands.result)
        operands.finish()
        return request

    def _request(self, name: str, arguments: Sequence[Any], arrays: Any, result: Any) -> Request[Any]:
        """Calls a function that starts an operation. `arrays` live until its end."""
        function = f"syncyte_store_worker_{name}"
        return start(function, self.handle, *arguments, arrays=arrays, finish=lambda: result, operation=name)

    def _operands(self, keys: Any, values: Any, *, is_written: bool = False) -> Access | PooledOperands:
        """Describes keys and values for the C library. is_written: the operation writes the values."""
        name = "out" if is_written else "values"
        pooled = None if isinstance(keys, np.ndarray) else take_operands(keys, values, is_written)
        if pooled is not None:
            self._check_shape(name, values.shape)
            return pooled
        wanted, recorded_by = _as_keys(keys), None if is_written else NOT_RECORDED
        given = as_buffer(values, name, writable=is_written, expected=c.DType.FLOAT32, recorded_by=recorded_by)
        self._check_shape(name, given.shape)
        result, written = (values, given) if is_written else (None, None)
        return Access((wanted, given), (wanted.reference, given.reference), result, written)

    def _operands_to_pull(self, keys: Any, out: Any) -> Access | PooledOperands:
        """Describes keys and `out`, or a new array of their kind."""
        if out is not None:
            return self._operands(keys, out, is_written=True)
        wanted, length = _as_keys(keys), self._store.length
        shape = [int(self._store.lengths(wanted.array).sum())] if length is None else [*wanted.shape, length]
        room = _arrays.new_buffer(wanted.array_kind, c.DType.FLOAT32, shape)
        return Access((wanted, room), (wanted.reference, room.reference), room.array)

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
            Keys, 0 to num_keys - 1.
        out : array of float32, optional
            Array to fill, with as many elements as the keys have values.

        Returns
        -------
        array
            out; or a new one of keys' kind, of shape keys.shape + (length,), flat if lengths differ.

        Raises
        ------
        OutOfRangeError
            A key that does not exist; names the first one and its position. Nothing was written.
        DtypeError, ShapeError, UnsupportedError
            Other element types, strides or numbers of values; device memory. Nothing was written.
        PeerDiedError
            A process died while it wrote a key's values; set() repairs the key.
        """
        return self._run("pull", self._operands_to_pull(keys, out))

    def push(self, keys: Any, values: Any) -> None:
        """Adds to the values of keys; a key that repeats is added to several times.

        Parameters
        ----------
        keys : array of int
            Keys, 0 to num_keys - 1.
        values : array of float32
            Summands, as many as the keys have values.

        Raises
        ------
        ArgumentError
            `values` requires grad, but gradients are not recorded. Others as of pull().
        """
        self._run("push", self._operands(keys, values))

    def set(self, keys: Any, values: Any) -> None:
        """Replaces the values of keys; if a key repeats, its last values stay. Repairs damaged keys.

        Parameters
        ----------
        keys, values
            As of push().

        Raises
        ------
        ArgumentError
            As of push(). Others as of pull(), except PeerDiedError.
        """
        self._run("set", self._operands(keys, values))

    def ipull(self, keys: Any, out: Any = None) -> Request[Any]:
        """Starts a pull. Values of keys of this node are there on return.

        Parameters
        ----------
        keys : array of int
            As of pull().
        out : array of float32, optional
            As of pull().

        Returns
        -------
        Request
            Its wait() returns pull()'s result, and raises the operation's error. It has ended if all keys are of this
            node.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError, UnsupportedError
            As of pull().
        """
        return self._start("ipull", self._operands_to_pull(keys, out))

    def ipush(self, keys: Any, values: Any) -> Request[None]:
        """Starts a push.

        Parameters, result and errors as of push() and ipull().
        """
        return self._start("ipush", self._operands(keys, values))

    def iset(self, keys: Any, values: Any) -> Request[None]:
        """Starts a set.

        Parameters, result and errors as of set() and ipull().
        """
        return self._start("iset", self._operands(keys, values))

    def pull_if_local(self, keys: Any, out: Any = None) -> Array | None:
        """Reads the values of keys if all of them are local; on one node they always are.

        Parameters
        ----------
        keys, out
            As of pull().

        Returns
        -------
        array or None
            As of pull(); None if a key is not local, and nothing was written.
        """
        operands = self._operands_to_pull(keys, out)
        is_local = _library.core().output("syncyte_store_worker_pull_if_local", self.handle, *operands.arguments)
        return operands.finish() if is_local else None

    def pull_unique(self, keys: Any) -> UniqueValues:
        """Reads the values of each distinct key of a list once.

        Parameters
        ----------
        keys : array of int
            As of pull(). Distinct keys are in the order of their first appearance, not sorted.

        Returns
        -------
        UniqueValues
            values, inverse and keys, new arrays of keys' kind: values[inverse] are the values of the list, and
            keys[inverse] is the list.

        Raises
        ------
        OutOfRangeError, DtypeError, UnsupportedError, PeerDiedError
            As of pull().
        """
        return self._run("pull_unique", UniqueRoom(self._store, _as_keys(keys)))

    def push_unique(self, keys: Any, values: Any) -> None:
        """Adds to the values of keys; each distinct key is sent once.

        The values of a key that repeats are added to each other first, in the order of the list. So rounding may differ
        from that of push().

        Parameters and errors as of push().
        """
        self._run("push_unique", self._operands(keys, values))

    def ipull_unique(self, keys: Any) -> Request[UniqueValues]:
        """Starts a pull_unique().

        Parameters, result and errors as of pull_unique() and ipull().
        """
        room = UniqueRoom(self._store, _as_keys(keys))
        function = "syncyte_store_worker_ipull_unique"
        return start(
            function, self.handle, *room.arguments, arrays=room.arrays, finish=room.finish, operation="ipull_unique"
        )

    def ipush_unique(self, keys: Any, values: Any) -> Request[None]:
        """Starts a push_unique().

        Parameters, result and errors as of push_unique() and ipull().
        """
        return self._start("ipush_unique", self._operands(keys, values))

    def prefetch(self, keys: Any) -> None:
        """Starts a pull whose values wait for this worker's next pull of exactly this list of keys.

        That is a pull(), ipull(), pull_unique() or ipull_unique(), or a pull_if_local() if the values have come. It
        gets them with the worker's own pushes and sets up to then. They may miss writes of other workers after the
        prefetch: barrier() and Store.sync() drop the prefetches that began before. If all keys are local, as on one
        node, nothing is prefetched. A worker keeps 16 prefetches; a further one drops the oldest. If a prefetch was
        dropped or has failed, the pull reads the values as if there had been none.

        Parameters
        ----------
        keys : array of int
            As of pull(), with its errors; the array may be changed at once.
        """
        wanted = _as_keys(keys)
        _library.core().syncyte_store_worker_prefetch(self.handle, wanted.reference)

    def drop_prefetches(self) -> None:
        """Drops this worker's prefetches: its next pulls read the values."""
        _library.core().syncyte_store_worker_drop_prefetches(self.handle)

    def ahead(
        self, batches: Iterable[Any], keys: Callable[[Any], Any] | None = None, *, steps: int = 1, unique: bool = False
    ) -> PullAhead:
        """Iterates over batches and the values of their keys, which are prefetched while earlier batches are used.

        Each item is a batch and pull(keys(batch)). Pushes of this worker within the loop are in the values of all later
        batches; those of other workers may be missed for `steps` batches. The batches are read `steps` ahead, in this
        thread, so each must have memory of its own. An error of a batch is raised in its place, and ends the iteration.
        After a break or an error the worker's prefetches are dropped.

        Parameters
        ----------
        batches : iterable
            A list, a torch DataLoader, or another iterable. If it can be iterated again, so can the result.
        keys : callable, optional
            Returns a batch's keys; None: a batch is a list of keys.
        steps : int
            Number of batches that are prefetched ahead, 1 to 15.
        unique : bool
            Whether the values are those of pull_unique().

        Returns
        -------
        PullAhead
            An iterable of pairs.

        Raises
        ------
        DtypeError, ArgumentError
            Wrong arguments.
        """
        return PullAhead(self, batches, keys, steps, unique)

    def localize(self, keys: Any) -> None:
        """Moves the values of keys to this node, until another node localizes them or memory for other keys is needed.

        A key that cannot come stays where it is, and is used from there: its memory (`foreign_bytes` of the store) is
        used up, it is damaged, or a rank has died. On return each key is here or cannot come.

        Parameters
        ----------
        keys : array of int
            As of pull(), with its errors.
        """
        wanted = _as_keys(keys)
        _library.core().syncyte_store_worker_localize(self.handle, wanted.reference)

    def ilocalize(self, keys: Any) -> Request[None]:
        """Starts a localize.

        Parameters, result and errors as of localize() and ipull().
        """
        wanted = _as_keys(keys)
        return self._start("ilocalize", Access((wanted,), (wanted.reference,), None))

    def intent(self, keys: Any, start: int, end: int | None = None) -> None:
        """Signals that this worker will use keys while its clock is in [start, end).

        They come to this node shortly before, or copies of them if workers of other nodes intend to use them too (see
        the class's `intents`). A copy goes when no window of this node's workers needs it. Waits for nothing.

        Parameters
        ----------
        keys : array of int
            Keys, 0 to num_keys - 1.
        start : int
            0 or more.
        end : int, optional
            More than start; None: start + 1.

        Raises
        ------
        ArgumentError
            `start` is negative, or `end` is not more than `start`. Others as of pull().
        """
        wanted = _as_keys(keys)
        first, last = as_int64(start, "start"), _as_end(end)
        _library.core().syncyte_store_worker_intent(self.handle, wanted.reference, first, last)

    @property
    def clock(self) -> int:
        """This worker's clock, 0 at first."""
        return _library.core().output("syncyte_store_worker_clock", self.handle)

    def advance_clock(self) -> int:
        """Adds 1 to the worker's clock; returns its new value."""
        return _library.core().output("syncyte_store_worker_advance_clock", self.handle)

    def prepare_sample(self, count: int, start: int | None = None, end: int | None = None) -> int:
        """Prepares a sample: this worker will pull its keys while its clock is in [start, end).

        Parameters
        ----------
        count : int
            Number of keys.
        start, end : int, optional
            None: the current clock, and start + 1.

        Returns
        -------
        int
            The sample's number, for pull_sample().

        Raises
        ------
        ArgumentError
            Store.set_sampling() was not called; more keys than there are, without replacement; a wrong range of clocks.
        """
        number, first = as_int64(count, "count"), self.clock if start is None else as_int64(start, "start")
        return _library.core().output("syncyte_store_worker_prepare_sample", self.handle, number, first, _as_end(end))

    def pull_sample(self, sample: int, keys: Any, out: Any = None) -> tuple[Array, Array]:
        """Reads the next keys of a sample, and their values.

        Parameters
        ----------
        sample : int
            Its number.
        keys : int or array of int
            Number of keys, or an array to fill with them; at most as many as the sample has left.
        out : array of float32, optional
            Array to fill with the values; required if keys differ in length.

        Returns
        -------
        tuple of arrays
            Keys and values; new ones are numpy arrays, values of shape (number of keys, length).

        Raises
        ------
        ArgumentError
            No such sample of this worker, or too few keys left. Others as of pull().
        """
        drawn, values = self._sample(keys, out)
        arguments = as_int64(sample, "sample"), drawn.reference, values.reference
        _library.core().syncyte_store_worker_pull_sample(self.handle, *arguments)
        drawn.mark_written()
        values.mark_written()
        return drawn.array, values.array

    def ipull_sample(self, sample: int, keys: Any, out: Any = None) -> Request[tuple[Any, Any]]:
        """Starts a pull_sample(). The keys are there on return.

        Parameters
        ----------
        sample, keys, out
            As of pull_sample().

        Returns
        -------
        Request
            Its wait() returns keys and out; see ipull().
        """
        drawn, values = self._sample(keys, out)
        arguments = as_int64(sample, "sample"), drawn.reference, values.reference
        request = self._request("ipull_sample", arguments, (drawn.array, values.array), (drawn.array, values.array))
        drawn.mark_written()
        values.mark_written()
        return request

    def _sample(self, keys: Any, out: Any) -> tuple[Buffer, Buffer]:
        if hasattr(keys, "__index__") and not hasattr(keys, "shape"):
            keys = np.empty(as_size(keys, "keys"), np.int64)
        drawn = as_buffer(keys, "keys", writable=True, expected=c.DType.INT64)
        if out is None:
            length = self._store.length
            if length is None:
                raise wrong(ArgumentError, "out", None, "an array, because keys differ in length")
            out = _arrays.empty(drawn.array_kind, c.DType.FLOAT32, [*drawn.shape, length])
        return drawn, as_buffer(out, "out", writable=True, expected=c.DType.FLOAT32)

    def finish_sample(self, sample: int) -> None:
        """Ends a sample before all its keys were pulled; ignores one that has ended.

        Parameters
        ----------
        sample : int
            Its number.
        """
        _library.core().syncyte_store_worker_finish_sample(self.handle, as_int64(sample, "sample"))

    def flush(self) -> None:
        """Waits until all operations in flight have ended: writes are then where the keys are.

        Keys of intents for the present clock are here then, or cannot come. Errors of operations stay for their
        requests.
        """
        _library.core().syncyte_store_worker_flush(self.handle)

    def barrier(self) -> None:
        """Barrier of all workers of all ranks: after it, all workers see all earlier writes. Collective.

        It waits for the worker's operations in flight first, whose errors stay for their requests. Every worker calls
        it; workers of one process call it in different threads. Workers that were freed are not waited for.

        Raises
        ------
        MismatchError
            On all workers of all ranks: some call another collective method.
        """
        _library.core().syncyte_store_worker_barrier(self.handle)

    def info(self) -> WorkerInfo:
        """Returns the counters of this worker."""
        found = _library.core().output("syncyte_store_worker_describe", self.handle)
        return WorkerInfo(*(getattr(found, name) for name in WorkerInfo._fields))


def _as_end(end: int | None) -> int:
    if end is None:
        return 0
    number = as_int64(end, "end")
    if number == 0:
        raise wrong(ArgumentError, "end", 0, "more than start, or None")
    return number
