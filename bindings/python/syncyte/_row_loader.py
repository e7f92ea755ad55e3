# SPDX-License-Identifier: BSD-3-Clause
"""Gathers rows of a whole tensor ahead of time, in threads."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from ._checks import as_index, at_least, check_kind, wrong
from ._torch_refusals import check_tensor
from .errors import DtypeError, UnsupportedError
from .tensor import WholeTensor

_children: list[bool] = []  # not empty in a forked child
os.register_at_fork(after_in_child=lambda: _children.append(True))


def _refuse_child() -> None:
    if _children:
        raise UnsupportedError(
            "RowLoader: this is a forked child, in which its threads do not run; expected a process that has called "
            "syncyte.init(). Load rows there by gather()"
        )


class RowLoader:
    """Iterates over batches of rows of a whole tensor, which threads gather ahead of their use.

    Each item of ``index_batches`` is an index, a torch.Tensor of int32 or int64 on the CPU, and gives the rows
    ``tensor[index]``; or it is a tuple or list whose first element is the index, and gives a tuple with the rows in its
    place. Items are read in the thread, and results come in the order of the items. The items may come from a
    torch.utils.data.DataLoader of index numbers::

        for rows, labels in RowLoader(table, DataLoader(samples, batch_size=256)):
            ...

    A batch has what the rows contained when it was gathered: rows that change meanwhile may be old ones, by up to
    ``depth`` batches. No gradients are recorded. Result tensors are new ones, whose memory is recycled when the last
    reference to a large one goes, so that a loop needs memory for about depth + 2 batches.

    Local: ranks may load different numbers of batches. Threads run between iter() and the end of the iteration, its
    error, close() or the drop of the iterator, whichever is first. Rows of other nodes need UCX, or an MPI with
    MPI_THREAD_MULTIPLE.

    An error, of an item or its gather, is raised in place of that batch, and says its number; the iteration then ends.

    Parameters
    ----------
    tensor : WholeTensor
        The tensor.
    index_batches : iterable
        See above. If it can be iterated again, so can the loader.
    depth : int
        Number of batches that are gathered ahead, 1 or more.
    threads : int
        Number of threads, 1 or more. Several gather several batches at once.

    Raises
    ------
    DtypeError, ArgumentError
        Wrong arguments.
    UnsupportedError
        In a forked child; iterating it there raises the same. The tensor is in device memory.
    """

    def __init__(self, tensor: WholeTensor, index_batches: Iterable[Any], depth: int = 2, *, threads: int = 1):
        check_kind(tensor, WholeTensor, "tensor", "a syncyte.WholeTensor")
        check_kind(index_batches, Iterable, "index_batches", "an iterable of indices")
        if isinstance(index_batches, (str, bytes)):
            raise wrong(DtypeError, "index_batches", repr(index_batches), "an iterable of indices")
        self.depth = at_least(1, as_index(depth, "depth"), "depth")
        self.threads = at_least(1, as_index(threads, "threads"), "threads")
        _refuse_child()
        if tensor.device.type != "cpu":
            raise wrong(UnsupportedError, "tensor", f"on {tensor.device}", "one in host memory")
        self.tensor, self.index_batches = tensor, index_batches

    def __iter__(self) -> RowIterator:
        """Begins to gather. Local."""
        _refuse_child()
        return RowIterator(_Work(self.tensor, iter(self.index_batches), self.depth), self.threads)

    def __len__(self) -> int:
        """Returns the number of batches, if ``index_batches`` has a length."""
        return len(self.index_batches)  # type: ignore[arg-type]


class RowIterator(Iterator[Any]):
    """One iteration of a RowLoader, and its threads."""

    def __init__(self, work: _Work, threads: int):
        self._work = work
        for number in range(threads):
            # Daemon threads, because the interpreter joins others before anything could stop them.
            thread = threading.Thread(target=work.run, name=f"syncyte.RowLoader-{number}", daemon=True)
            work.threads.append(thread)
            thread.start()
        self._finalizer = weakref.finalize(self, work.close)  # runs at the interpreter's exit, too

    def __next__(self) -> Any:
        """Returns the next batch; waits until it is gathered."""
        _refuse_child()
        try:
            return self._work.take()
        except BaseException as error:
            if not isinstance(error, KeyboardInterrupt):
                self.close()
            raise

    def close(self) -> None:
        """Ends the iteration: waits until the threads have ended, which finish the batch that they gather. Local."""
        self._finalizer()


class _Work:
    """State that the threads and the iterator share; it does not refer to the iterator."""

    def __init__(self, tensor: WholeTensor, items: Iterator[Any], depth: int):
        self.threads: list[threading.Thread] = []
        self._tensor, self._items, self._depth = tensor, items, depth
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._results: dict[int, Any] = {}  # by number of the batch
        self._taken = 0  # batches that the iterator has returned
        self._is_closed = False
        self._reading = threading.Lock()  # of a thread that reads an item
        self._read = 0  # items that have been read
        self._end: int | None = None  # number of batches, once it is known

    def run(self) -> None:
        """Gathers batches until there are no more; of one thread."""
        while (item := self._next_item()) is not None:
            number, value = item
            try:
                result = value if isinstance(value, _Failure) else self._gathered(value)
            except BaseException as error:  # the iterator raises it
                result = _Failure(error)
            with self._changed:
                self._results[number] = result
                self._changed.notify_all()

    def _next_item(self) -> tuple[int, Any] | None:
        """Waits until another batch may be gathered. Returns its number and item; None: there are no more."""
        with self._reading:
            number = self._read
            with self._changed:
                while not self._is_over() and number - self._taken >= self._depth:
                    self._changed.wait()
                if self._is_over():
                    return None
            value: Any
            try:
                value = next(self._items)
            except StopIteration:
                self._set_end(number)
                return None
            except BaseException as error:
                self._set_end(number + 1)
                value = _Failure(error)
            self._read += 1
            return number, value

    def _is_over(self) -> bool:
        return self._is_closed or self._end is not None

    def _set_end(self, end: int) -> None:
        with self._changed:
            self._end = end
            self._changed.notify_all()

    @torch.no_grad()
    def _gathered(self, item: Any) -> Any:
        has_more = isinstance(item, (tuple, list)) and len(item) > 0
        index = item[0] if has_more else item
        check_tensor(index, "the index")
        rows = self._tensor.gather(index.contiguous())
        return (rows, *item[1:]) if has_more else rows

    def take(self) -> Any:
        with self._changed:
            while not self._is_closed and self._taken not in self._results and self._taken != self._end:
                self._changed.wait()
            if self._is_closed or self._taken == self._end:
                raise StopIteration
            number, result = self._taken, self._results.pop(self._taken)
            self._taken += 1
            self._changed.notify_all()
        if isinstance(result, _Failure):
            raise result.of_batch(number)
        return result

    def close(self) -> None:
        if os.getpid() != self._process:
            return  # a forked child: the parent's threads may have held the lock at the fork
        with self._changed:
            self._is_closed = True
            self._results.clear()
            self._changed.notify_all()
        for thread in self.threads:
            if thread is not threading.current_thread():
                thread.join()


class _Failure:
    """An error of a batch."""

    def __init__(self, error: BaseException):
        self._error = error

    def of_batch(self, number: int) -> BaseException:
        """The error; its text, or a note of it, says the batch's number."""
        error, place = self._error, f"RowLoader: batch {number}"
        if error.args and isinstance(error.args[0], str):
            error.args = (f"{place}: {error.args[0]}", *error.args[1:])
        else:
            error.add_note(place)
        return error
