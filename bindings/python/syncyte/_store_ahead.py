# SPDX-License-Identifier: BSD-3-Clause
"""Pulls of distinct keys, and loaders whose values are pulled ahead."""

from __future__ import annotations

import contextlib
import ctypes
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from . import _arrays
from . import _declarations as c
from ._buffers import Buffer
from ._checks import as_index, at_least, check_kind, wrong
from .errors import ArgumentError, DtypeError, Error

_MOST_STEPS = c.STORE_MAX_PREFETCHES - 1  # one more is prefetched before the oldest is taken


class UniqueValues(NamedTuple):
    """Distinct keys of a list, in the order of their first appearance, and their values."""

    values: Any  #: of the distinct keys: of shape (number of keys, length), flat if lengths differ
    inverse: Any  #: of the list's shape: values[inverse] are the values of the list; int64
    keys: Any  #: int64


class UniqueRoom:
    """Arrays of a pull of distinct keys, with room for the whole list."""

    def __init__(self, store: Any, keys: Buffer):
        self._store, length, kind, count = store, store.length, keys.array_kind, keys.size
        shape = [int(store.lengths(keys.array).sum())] if length is None else [count, length]
        self._values = _arrays.new_buffer(kind, c.DType.FLOAT32, shape)
        self._distinct = _arrays.new_buffer(kind, c.DType.INT64, [count])
        self._inverse = _arrays.new_buffer(kind, c.DType.INT64, keys.shape)
        self._count = ctypes.c_int64()
        self.arrays = keys, self._distinct, self._inverse, self._values
        self.arguments = *(each.reference for each in self.arrays), self._count

    def finish(self) -> UniqueValues:
        """The result. Arrays of fewer keys than the list has are copied: views would keep the room."""
        count, values = self._count.value, self._values.array
        if count == self._distinct.size:
            return UniqueValues(values, self._inverse.array, self._distinct.array)
        keys = _compact(self._distinct.array[:count])
        rows = count if self._store.length is not None else int(self._store.lengths(keys).sum())
        return UniqueValues(_compact(values[:rows]), self._inverse.array, keys)


def _compact(array: Any) -> Any:
    return array.copy() if isinstance(array, np.ndarray) else array.clone()


class PullAhead:
    """Batches of a loader with the values of their keys, which are prefetched; made by StoreWorker.ahead()."""

    def __init__(
        self, worker: Any, batches: Iterable[Any], keys: Callable[[Any], Any] | None, steps: int, unique: bool
    ):
        check_kind(batches, Iterable, "batches", "an iterable of batches")
        if isinstance(batches, (str, bytes)):
            raise wrong(DtypeError, "batches", repr(batches), "an iterable of batches")
        if keys is not None and not callable(keys):
            raise wrong(DtypeError, "keys", repr(keys), "a function that returns a batch's keys, or None")
        self.steps = at_least(1, as_index(steps, "steps"), "steps")
        if self.steps > _MOST_STEPS:
            raise wrong(ArgumentError, "steps", steps, f"at most {_MOST_STEPS}")
        self.worker, self.batches = worker, batches
        self._keys = keys if keys is not None else lambda batch: batch
        self._pull = worker.pull_unique if unique else worker.pull

    def __len__(self) -> int:
        """Returns the number of batches, if ``batches`` has a length."""
        return len(self.batches)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Begins to read batches."""
        waiting: deque[Any] = deque()
        read = self._prefetched()
        try:
            for item in read:
                waiting.append(item)
                if len(waiting) > self.steps:
                    yield self._taken(waiting)
            while waiting:
                yield self._taken(waiting)
        finally:
            read.close()
            if waiting:
                self._drop()

    def _prefetched(self) -> Generator[Any, None, None]:
        """Reads batches and prefetches their keys. The last item may be an error."""
        try:
            for batch in self.batches:
                keys = self._keys(batch)
                self.worker.prefetch(keys)
                yield batch, keys
        except Exception as error:
            yield error

    def _taken(self, waiting: deque[Any]) -> tuple[Any, Any]:
        item = waiting.popleft()
        if isinstance(item, Exception):
            raise item
        batch, keys = item
        return batch, self._pull(keys)

    def _drop(self) -> None:
        """Drops prefetches after a break or an error: a later pull of these keys must not find them.

        A garbage collector may close the generator after the end of the worker or of Syncyte.
        """
        if not self.worker._is_freed:
            with contextlib.suppress(Error):
                self.worker.drop_prefetches()
