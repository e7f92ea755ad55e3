# SPDX-License-Identifier: BSD-3-Clause
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

from .dtypes import is_torch_tensor

RANGES = "syncyte_parts"  # key of a module's metadata in state_dict()._metadata: maps names of tensors to ranges

_memory: dict[int, _Memory] = {}  # by first address
_refused: dict[int, _Memory] = {}  # by first address; a range may contain ranges of _memory
# Parts without elements, which have no address, by their owners' numbers.
_empty: dict[int, tuple[Callable[[], bool], Part]] = {}
#: Functions that remember further parts before a search, and take whether it may last 0.1 s.
refreshers: list[Callable[[bool], None]] = []


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
        """Returns only types that torch.load(weights_only=True) accepts."""
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
    #: By number of the owner: whether it still exists, with its memory at the same address.
    owners: dict[int, Callable[[], bool]]
    is_refused: bool = False  #: rows of several ranks: not the part of one

    @property
    def exists(self) -> bool:
        return any(exists() for exists in self.owners.values())


def remember(array: Any, part: Part, *, holder: object = None, is_refused: bool = False) -> None:
    """Remembers that a contiguous numpy array or torch tensor in host memory holds a part, as long as it exists.

    holder: with a holder, only as long as this object exists too. is_refused: the array holds rows of several ranks.
    """
    if part.is_whole:
        return
    number, exists = _owner_of(array)
    if holder is not None:
        exists = _exist_both(weakref.ref(holder), exists)
    if not array.nbytes:
        _empty[number] = exists, part
        return
    if holder is not None:
        number = id(holder)  # an array may have several
    begin = _address(array)
    end, memories = begin + array.nbytes, _refused if is_refused else _memory
    known = memories.get(begin)
    owners = {}
    if known is not None and (known.part, known.end) == (part, end):
        owners = {each: alive for each, alive in known.owners.items() if alive()}
    memories[begin] = _Memory(end, part, {**owners, number: exists}, is_refused)


def part_at(address: int, nbytes: int) -> Part | None:
    """Returns the part whose memory this is exactly; None if there is none."""
    known = _memory.get(address)
    return known.part if known is not None and known.end == address + nbytes and known.exists else None


def _address(array: Any) -> int:
    return array.__array_interface__["data"][0] if isinstance(array, np.ndarray) else array.data_ptr()


def _owner_of(array: Any) -> tuple[int, Callable[[], bool]]:
    """Returns a number of the object that owns an array's memory, and whether it still has it at the same address."""
    owner = array
    while isinstance(owner, np.ndarray) and (isinstance(owner.base, np.ndarray) or is_torch_tensor(owner.base)):
        owner = owner.base  # numpy's views refer to the last one only
    if isinstance(owner, np.ndarray):
        reference, begin = weakref.ref(owner), _address(owner)
        return id(owner), lambda: (found := reference()) is not None and _address(found) == begin
    import torch
    from torch.multiprocessing.reductions import StorageWeakRef

    storage = owner.untyped_storage()  # views of the tensor keep it too
    weak, first = StorageWeakRef(storage), storage.data_ptr()

    def exists() -> bool:
        found = torch.UntypedStorage._new_with_weak_ptr(weak.cdata)
        return found is not None and found.data_ptr() == first  # share_memory_() and resize_() replace its memory

    return weak.cdata, exists  # no other storage gets the number while the weak reference exists


def _exist_both(holder: weakref.ref[Any], exists: Callable[[], bool]) -> Callable[[], bool]:
    return lambda: holder() is not None and exists()


class Parts:
    """The parts that are known now: by a mapping's metadata, and by memory."""

    def __init__(self, mapping: Mapping[str, Any], *, is_thorough: bool = True):
        for refresh in refreshers:
            refresh(is_thorough)
        for memories in (_memory, _refused):
            for address in [address for address, memory in memories.items() if not memory.exists]:
                del memories[address]
        for number in [number for number, (exists, _) in _empty.items() if not exists()]:
            del _empty[number]
        self._known = [(memories, sorted(memories)) for memories in (_memory, _refused)]
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
        if not nbytes:
            exists, part = _empty.get(_owner_of(array)[0], (None, None))
            return (part, True) if exists is not None and part is not None and exists() else None
        for memories, begins in self._known:
            place = bisect.bisect_right(begins, address) - 1
            if place < 0:
                continue
            begin, memory = begins[place], memories[begins[place]]
            if address + nbytes <= memory.end:
                is_all = begin == address and memory.end == address + nbytes and not memory.is_refused
                return memory.part, is_all
        return None
