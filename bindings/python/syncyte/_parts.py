"""Parts of larger tensors: which memory holds one, and which keys of a state dictionary do.

A checkpoint and load_state_dict() must not take a rank's part for the whole. Layers write the ranges of their parts
into the metadata of their state dictionaries. For dictionaries that a program has rebuilt without it, this module
remembers, weakly, the memory of the parts. It does not import torch by itself.
"""

from __future__ import annotations

import bisect
import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

RANGES = "syncyte_parts"  # key of a module's metadata in state_dict()._metadata: maps names of tensors to ranges

_memory: dict[int, _Memory] = {}  # by first address
_empty: dict[int, tuple[weakref.ref[Any], Part]] = {}  # by id: arrays without elements have no memory
#: Functions that remember further parts before a search.
refreshers: list[Callable[[], None]] = []


class Part(NamedTuple):
    """The range of a whole tensor that a rank holds."""

    axis: int
    first: int
    end: int  #: last index + 1
    shape: tuple[int, ...]  #: of the whole tensor
    rank: int
    ranks: int  #: number of ranks that have parts

    @classmethod
    def from_metadata(cls, value: Mapping[str, Any]) -> Part:
        return cls(**{**value, "shape": tuple(value["shape"])})

    def to_metadata(self) -> dict[str, Any]:
        """Of types that torch.load(weights_only=True) accepts."""
        return {**self._asdict(), "shape": list(self.shape)}

    @property
    def is_whole(self) -> bool:
        return self.ranks == 1

    @property
    def own_shape(self) -> tuple[int, ...]:
        return (*self.shape[: self.axis], self.end - self.first, *self.shape[self.axis + 1 :])

    def has_range_of(self, other: Part) -> bool:
        return self[:4] == other[:4]

    def __str__(self) -> str:
        return (f"[{self.first}:{self.end}] along axis {self.axis} of shape {list(self.shape)} "
                f"(rank {self.rank} of {self.ranks})")  # fmt: skip


class _Memory(NamedTuple):
    end: int  #: last address + 1
    part: Part
    owners: list[Callable[[], bool]]  #: whether what keeps the memory still exists

    @property
    def exists(self) -> bool:
        return any(exists() for exists in self.owners)


def remember(array: Any, part: Part) -> None:
    """Remembers that a contiguous numpy array or torch tensor in host memory holds a part, as long as it exists."""
    if part.is_whole:
        return
    if not array.nbytes:
        _empty[id(array)] = weakref.ref(array), part
        return
    address = array.ctypes.data if isinstance(array, np.ndarray) else array.data_ptr()
    known = _memory.get(address)
    owners = [] if known is None or known.part != part else [exists for exists in known.owners if exists()]
    _memory[address] = _Memory(address + array.nbytes, part, [*owners, _existence_of(array)])


def part_at(address: int, nbytes: int) -> Part | None:
    """Returns the part that the memory holds, if it is exactly that of a part."""
    known = _memory.get(address)
    return known.part if known is not None and known.end == address + nbytes and known.exists else None


def _existence_of(array: Any) -> Callable[[], bool]:
    if isinstance(array, np.ndarray):
        reference = weakref.ref(array)
        return lambda: reference() is not None
    from torch.multiprocessing.reductions import StorageWeakRef

    storage = StorageWeakRef(array.untyped_storage())  # views of the tensor keep it too
    return lambda: not storage.expired()


class Parts:
    """The parts that are known now: by a mapping's metadata, and by memory."""

    def __init__(self, mapping: Mapping[str, Any]):
        for refresh in refreshers:
            refresh()
        for address in [address for address, memory in _memory.items() if not memory.exists]:
            del _memory[address]
        for number in [number for number, (array, _) in _empty.items() if array() is None]:
            del _empty[number]
        self._begins = sorted(_memory)
        metadata = getattr(mapping, "_metadata", None)
        self._metadata: Mapping[str, Any] = metadata if isinstance(metadata, Mapping) else {}

    def of_key(self, key: str, shape: tuple[int, ...]) -> Part | None:
        """Returns the part that the metadata says a key has; None if it says nothing, or if the shape is another."""
        module, _, name = key.rpartition(".")
        found = self._metadata.get(module, {}).get(RANGES, {}).get(name)
        part = None if found is None else Part.from_metadata(found)
        return None if part is None or part.is_whole or part.own_shape != shape else part

    def of_array(self, array: Any, address: int, nbytes: int) -> tuple[Part, bool] | None:
        """Returns the part in whose memory an array lies, and whether it is all of it."""
        if id(array) in _empty:
            return _empty[id(array)][1], True
        place = bisect.bisect_right(self._begins, address) - 1
        if not nbytes or place < 0:
            return None
        begin, memory = self._begins[place], _memory[self._begins[place]]
        if address + nbytes > memory.end:
            return None
        return memory.part, begin == address and memory.end == address + nbytes
