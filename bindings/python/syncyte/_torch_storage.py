# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed.checkpoint in one HDF5 file of Syncyte: what its save() writes with, and its load() reads with."""

from __future__ import annotations

import contextlib
import io
import math
import os
import pickle
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed import checkpoint as dcp
from torch.distributed.checkpoint.metadata import (
    BytesStorageMetadata,
    ChunkStorageMetadata,
    Metadata,
    TensorProperties,
    TensorStorageMetadata,
)
from torch.distributed.checkpoint.planner import (
    LoadItemType,
    LoadPlan,
    LoadPlanner,
    SavePlan,
    SavePlanner,
    WriteItem,
    WriteItemType,
)
from torch.distributed.constants import default_pg_timeout
from torch.futures import Future

from . import _library, checkpoint, dtypes
from ._checks import wrong
from ._parts import Parts
from ._types import Result
from .checkpoint import Boxes, Checkpoint, Known
from .comm import COMM_SELF, Comm
from .errors import ArgumentError, BusyError, DtypeError, MismatchError, UnsupportedError

_ATTRIBUTE = "torch.distributed.checkpoint"  # of the file: what torch needs beside arrays
_LONGEST_KEY = 1023  # bytes
_SLAB_BYTES = 1 << 26  # of the rows that are read at once for a part of their columns, or one longer row

Path = str | os.PathLike[str]
Box = tuple[tuple[int, ...], tuple[int, ...]]  # first point, extents


class _Piece(NamedTuple):
    """What a rank saves of a key."""

    key: str
    dtype: str  #: torch's name; empty for an object that is no tensor
    shape: tuple[int, ...]  #: of the whole tensor
    planned: str  #: torch's name of the element type before the planner may convert it
    box: Box
    path: tuple[str | int, ...] | None  #: of the key in nested mappings and lists
    value: bytes | None  #: of a tensor without dimensions


class _Key(NamedTuple):
    """A key to save, equal on all ranks."""

    dtype: str
    shape: tuple[int, ...]
    planned: str
    is_rows: bool  #: whether each rank has some rows, in rank order
    path: tuple[str | int, ...] | None
    value: bytes | None


def _together(comm: Comm, prepare: Callable[[], Result]) -> Result:
    """Returns what a function returns; if it fails on one rank, all ranks get the error. Collective."""
    error, result = None, None
    try:
        result = prepare()
    except Exception as caught:
        error = caught
    comm.agree(error, "checkpoint_save")
    return result  # type: ignore[return-value]


@contextlib.contextmanager
def _limited_waits() -> Iterator[None]:
    """Ends this thread's waits after torch's usual timeout, half an hour."""
    limit = _library.core().syncyte_wait_limit_set
    limit(default_pg_timeout.total_seconds())
    try:
        yield
    finally:
        limit(0.0)


def _gathered(comm: Comm, mine: list[_Piece]) -> list[list[_Piece]]:
    """The pieces of each rank, on rank 0; nothing elsewhere. Collective."""
    packed = np.frombuffer(pickle.dumps(mine), np.uint8)
    counts = comm.counts(packed.size)
    whole = comm.gather_along(packed, counts=counts)
    if whole is None:
        return []
    return [pickle.loads(part.tobytes()) for part in np.split(whole, np.cumsum(counts)[:-1])]


def _sent_by_rank_0(comm: Comm, keys: dict[str, _Key]) -> dict[str, _Key]:
    packed = np.frombuffer(pickle.dumps(keys), np.uint8).copy()
    size = int(comm.bcast(np.array([packed.size]))[0])
    return pickle.loads(comm.bcast(packed if comm.rank == 0 else np.empty(size, np.uint8)).tobytes())


def _are_rows(shape: tuple[int, ...], boxes: list[tuple[int, Box]]) -> bool:
    """Whether ranks have some rows each, in rank order. `boxes`: of each rank, in rank order."""
    if 0 in shape:
        return True
    end, last = 0, -1
    for rank, (first, extents) in boxes:
        if rank == last or first != (end,) + (0,) * (len(shape) - 1) or extents[1:] != shape[1:]:
            return False
        end, last = end + extents[0], rank
    return end == shape[0]


def _require_all(key: str, shape: tuple[int, ...], boxes: list[tuple[int, Box]]) -> None:
    found, whole = sum(math.prod(extents) for _, (_, extents) in boxes), math.prod(shape)
    if found < whole:
        raise wrong(
            ArgumentError, f"the parts of {key!r} on all ranks", f"{found} elements", f"{whole}, all of its own"
        )


def _merged(pieces: list[list[_Piece]]) -> dict[str, _Key]:
    """The keys of all ranks' pieces, in alphabetical order. Raises MismatchError if ranks differ."""
    first: dict[str, tuple[int, _Piece]] = {}
    boxes: dict[str, list[tuple[int, Box]]] = {}
    for rank, each in enumerate(pieces):
        for piece in each:
            if not piece.key or "\0" in piece.key or len(piece.key.encode(errors="replace")) > _LONGEST_KEY:
                given = f"of {len(piece.key)} characters, {piece.key[:60]!r}"
                raise wrong(ArgumentError, "a key", given, f"1 to {_LONGEST_KEY} bytes without a zero")
            origin, known = first.setdefault(piece.key, (rank, piece))
            if (piece.dtype, piece.shape) != (known.dtype, known.shape):
                given = f"{piece.dtype or 'an object'} of shape {list(piece.shape)} on rank {rank}"
                expected = f"{known.dtype or 'an object'} of shape {list(known.shape)}, as on rank {origin}"
                raise wrong(MismatchError, f"the key {piece.key!r}", given, expected)
            if 0 not in piece.box[1]:
                boxes.setdefault(piece.key, []).append((rank, piece.box))
    keys = {}
    for key, (_, piece) in sorted(first.items()):
        is_rows = not piece.dtype or (bool(piece.shape) and _are_rows(piece.shape, boxes.get(key, [])))
        if not is_rows:
            _require_all(key, piece.shape, boxes.get(key, []))
        keys[key] = _Key(piece.dtype, piece.shape, piece.planned, is_rows, piece.path, piece.value)
    return keys


def _name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _has_dtype(dtype: torch.dtype) -> bool:
    return _name_of(dtype).upper() in dtypes.DType.__members__


def _stored(tensor: torch.Tensor, key: str) -> torch.Tensor:
    """A contiguous tensor of an element type that files have: that of bytes for types of a byte, such as float8."""
    name, is_byte = f"the key {key!r}", tensor.element_size() == 1 and not tensor.is_quantized
    if tensor.layout is not torch.strided:
        raise wrong(DtypeError, name, f"a tensor of layout {tensor.layout}", "a dense one")
    if tensor.device.type not in ("cpu", "cuda"):
        raise wrong(DtypeError, name, f"a tensor on {tensor.device}", "one on cpu or cuda")
    if not _has_dtype(tensor.dtype) and not is_byte:
        raise wrong(DtypeError, name, f"of {tensor.dtype}", "an element type of Syncyte, or of one byte")
    plain = tensor.detach().resolve_conj().resolve_neg().contiguous()
    return plain if _has_dtype(plain.dtype) else plain.view(torch.uint8)


def _bytes_of(tensor: torch.Tensor) -> bytes:
    return tensor.cpu().reshape(1).view(torch.uint8).numpy().tobytes()


def _tensor_of(data: bytes, dtype: torch.dtype) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=dtype)


def _resolved(plan: SavePlan, planner: SavePlanner) -> list[tuple[_Piece, torch.Tensor]]:
    """The data of a plan's items, with objects as bytes."""
    paths = plan.planner_data if isinstance(plan.planner_data, Mapping) else {}
    parts = Parts({})
    return [_resolved_item(item, planner, paths.get(item.index.fqn), parts) for item in plan.items]


def _require_whole(tensor: torch.Tensor, key: str, parts: Parts) -> None:
    """Raises ArgumentError for a tensor that is known to be this rank's part of a larger one."""
    if tensor.device.type == "cpu" and tensor.layout is torch.strided:
        found = parts.of_array(tensor, tensor.data_ptr(), tensor.nbytes)
        if found is not None:
            expected = "what syncyte.distributed.state_dict() or optimizer_state_dict() returns, or a clone()"
            raise wrong(ArgumentError, f"the key {key!r}", f"a part of a larger tensor, {found[0]}", expected)


def _resolved_item(item: WriteItem, planner: SavePlanner, path: Any, parts: Parts) -> tuple[_Piece, torch.Tensor]:
    key, data = item.index.fqn, planner.resolve_data(item)
    known = tuple(path) if isinstance(path, tuple) and all(isinstance(each, str | int) for each in path) else None
    if item.type is WriteItemType.BYTE_IO:
        assert isinstance(data, io.BytesIO)
        array = _tensor_of(data.getvalue(), torch.uint8)
        return _Piece(key, "", (), "", ((0,), (array.numel(),)), known, None), array
    assert isinstance(data, torch.Tensor) and item.tensor_data is not None
    chunk, shape = item.tensor_data.chunk, tuple(item.tensor_data.size)
    if item.type is WriteItemType.TENSOR:
        _require_whole(data, key, parts)
    stored, box = _stored(data, key), (tuple(chunk.offsets), tuple(chunk.sizes))
    if tuple(stored.shape) != box[1]:
        raise wrong(
            ArgumentError, f"the data of {key!r}", f"of shape {list(stored.shape)}", f"{list(box[1])}, as planned"
        )
    planned, value = _name_of(item.tensor_data.properties.dtype), None if shape else _bytes_of(stored)
    return _Piece(key, _name_of(data.dtype), shape, planned, box, known, value), stored


def _stored_dtype(name: str) -> dtypes.DType:
    return dtypes.DType.__members__.get(name.upper(), dtypes.DType.UINT8)


def _array_to_save(entry: _Key, mine: list[tuple[_Piece, torch.Tensor]], is_first: bool) -> Any:
    """What checkpoint.save() takes for a key: this rank's rows or boxes, or a number."""
    dtype = _stored_dtype(entry.dtype if entry.dtype else "uint8")
    if entry.value is not None:
        return Known(_tensor_of(entry.value, dtypes.torch_dtype(dtype)).reshape(()), is_rows=False)
    with_elements = [(piece.box[0], data) for piece, data in mine if data.numel()]
    if not entry.is_rows:
        return Boxes(dtype, entry.shape, with_elements)
    if with_elements:
        return Known(with_elements[0][1], is_rows=True)
    rows = entry.shape[:1] if is_first and 0 in entry.shape else (0,)
    return Known(torch.empty((*rows, *entry.shape[1:]), dtype=dtypes.torch_dtype(dtype)), is_rows=True)


def _attributes(keys: dict[str, _Key]) -> dict[str, Any]:
    named = {key: each.dtype for key, each in keys.items() if each.dtype and not _has_dtype(getattr(torch, each.dtype))}
    return {
        _ATTRIBUTE: {
            "paths": {key: each.path for key, each in keys.items() if each.path is not None},
            "objects": [key for key, each in keys.items() if not each.dtype],
            "dtypes": named,
        }
    }


class _Named:
    """A file that torch calls a checkpoint_id."""

    def __init__(self, path: Path | None = None):
        """Local.

        Parameters
        ----------
        path : path, optional
            Path of the file; None: save() or load() gets it as checkpoint_id.
        """
        self.checkpoint_id: Path | None = None
        self.reset(path)

    def reset(self, checkpoint_id: Path | None = None) -> None:
        """Takes the path of the next save or load, if it is given one."""
        if checkpoint_id is not None:
            self.checkpoint_id = os.fspath(checkpoint_id)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Path) -> bool:
        """Whether this may be the path of a file."""
        return isinstance(checkpoint_id, str | os.PathLike)

    def _path(self) -> Path:
        if self.checkpoint_id is None:
            raise ArgumentError("there is no path; expected one here, or checkpoint_id=")
        return self.checkpoint_id


class StorageWriter(_Named, dcp.StorageWriter):
    """Lets torch.distributed.checkpoint.save() and async_save() write one HDF5 file, as checkpoint.save() does.

    Each tensor is a dataset, however it is cut; so is a number with its own element type. Other objects are bytes that
    torch.save() has made. All ranks of the process group save; async_save() does it in a thread.
    """

    def __init__(self, path: Path | None = None, *, process_group: dist.ProcessGroup | Comm | None = None):
        """Makes a communicator of the group's ranks. Collective over them.

        Parameters
        ----------
        path : path, optional
            Path of the file, equal on all ranks; None: save() gets it as checkpoint_id.
        process_group : torch.distributed.ProcessGroup or Comm, optional
            The group that save() gets, or a communicator of its ranks: COMM_SELF for ``save(no_dist=True)``. None: all
            ranks, or this one if torch.distributed is not initialized.
        """
        super().__init__(path)
        if process_group is None and not dist.is_initialized():
            process_group = COMM_SELF
        self._comm = process_group.dup() if isinstance(process_group, Comm) else Comm.from_group(process_group)
        self._thread: threading.Thread | None = None  # that saves
        self._planned: dict[str, tuple[str, tuple[int, ...]]] = {}  # types and shapes of this rank's tensors

    def __getstate__(self) -> Any:
        raise UnsupportedError(
            "a StorageWriter of Syncyte cannot be copied or sent to another process, which has no MPI; expected "
            "async_checkpointer_type=AsyncCheckpointerType.THREAD"
        )

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Called by torch at the begin of a save. Raises BusyError while another thread's save is not complete."""
        other, self_ = self._thread, threading.current_thread()
        if other is not None and other is not self_ and other.is_alive():
            raise BusyError("this StorageWriter is in another save; expected to wait for it, or a writer for each")
        self._path()
        self._thread = self_

    def prepare_local_plan(self, plan: SavePlan) -> SavePlan:
        """Called by torch, before it leaves out what another rank saves too."""
        tensors = [(item.index.fqn, item.tensor_data) for item in plan.items if item.tensor_data is not None]
        self._planned = {key: (_name_of(data.properties.dtype), tuple(data.size)) for key, data in tensors}
        return plan

    def prepare_global_plan(self, plans: list[SavePlan]) -> list[SavePlan]:
        """Called by torch, on one rank."""
        if len(plans) != self._comm.size:
            raise wrong(
                ArgumentError, "the number of ranks that save", len(plans),
                f"{self._comm.size}, as many as the StorageWriter's process_group has, which is COMM_SELF for "
                "no_dist=True, and use_collectives=True",
            )  # fmt: skip
        return plans

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> Future[list[Any]]:
        """Called by torch: writes the whole file, and puts it in the place of an older one."""
        try:
            self._write(plan, planner)
        finally:
            self._thread = None
        done = Future()  # type: ignore[var-annotated]
        done.set_result([])
        return done

    def _write(self, plan: SavePlan, planner: SavePlanner) -> None:
        comm = self._comm
        with _limited_waits():  # a rank whose planner has failed does not come
            resolved = _together(comm, lambda: _resolved(plan, planner))
        pieces = _gathered(comm, [piece for piece, _ in resolved])
        keys = _sent_by_rank_0(comm, _together(comm, lambda: _merged(pieces)))
        _together(comm, lambda: self._check_planned(keys))
        mine: dict[str, list[tuple[_Piece, torch.Tensor]]] = {}
        for piece, data in resolved:
            mine.setdefault(piece.key, []).append((piece, data))
        arrays = {key: _array_to_save(each, mine.get(key, []), comm.rank == 0) for key, each in keys.items()}
        checkpoint.save(self._path(), arrays, comm, attributes=_attributes(keys))

    def _check_planned(self, keys: dict[str, _Key]) -> None:
        """Raises MismatchError if this rank has a tensor that another rank saves, of another type or shape."""
        for key, (dtype, shape) in self._planned.items():
            saved = keys.get(key)
            if saved is not None and (dtype, shape) != (saved.planned, saved.shape):
                given, expected = f"{dtype} of shape {list(shape)}", f"{saved.planned} of shape {list(saved.shape)}"
                raise wrong(MismatchError, f"the key {key!r}", given, f"{expected}, as on another rank")

    def finish(self, metadata: Metadata, results: list[list[Any]]) -> None:
        """Called by torch, on one rank; the file is complete."""


class _Contents:
    """An open file, as torch knows it."""

    def __init__(self, file: Checkpoint):
        self._file = file
        known = file.attributes.get(_ATTRIBUTE)
        known = known if isinstance(known, dict) else {}
        self.objects = set(known.get("objects", ()))
        self.paths: dict[str, Any] = known.get("paths", {})
        self._dtypes: dict[str, str] = known.get("dtypes", {})

    def _dtype(self, key: str) -> torch.dtype:
        name = self._dtypes.get(key)
        return getattr(torch, name) if name else dtypes.torch_dtype(self._file.describe(key).dtype)

    def metadata_of(self, key: str) -> TensorStorageMetadata:
        shape = torch.Size(self._file.describe(key).shape)
        chunk = ChunkStorageMetadata(torch.Size([0] * len(shape)), shape)
        return TensorStorageMetadata(TensorProperties(dtype=self._dtype(key)), shape, [chunk])

    def read(self, key: str, first: tuple[int, ...], target: torch.Tensor) -> None:
        """Fills a tensor with the box of its shape that begins at `first`."""
        shape, element, _ = self._file.describe(key)
        dtype = self._dtype(key)
        if not shape:
            target.copy_(self._file.read(key, torch=True).view(dtype))
            return
        is_plain = target.is_contiguous() and target.device.type == "cpu" and not (target.is_conj() or target.is_neg())
        if is_plain and tuple(target.shape[1:]) == shape[1:] and target.dtype == dtype and _has_dtype(dtype):
            self._file.read(key, range(first[0], first[0] + len(target)), out=target)
            return
        most = max(1, _SLAB_BYTES // max(math.prod(shape[1:]) * dtypes.itemsize(element), 1))
        columns = tuple(slice(start, start + count) for start, count in zip(first[1:], target.shape[1:], strict=True))
        for row in range(0, len(target), most):
            part = target[row : row + most]
            rows = range(first[0] + row, first[0] + row + len(part))
            part.copy_(self._file.read(key, rows, torch=True).view(dtype)[(slice(None), *columns)])


class StorageReader(_Named, dcp.StorageReader):
    """Lets torch.distributed.checkpoint.load() read a file of StorageWriter or of checkpoint.save().

    Any number of ranks reads it, into tensors that are cut in any way. A rank reads and verifies the rows of its parts,
    whole rows also for parts of some columns.
    """

    def read_metadata(self) -> Metadata:
        """Called by torch."""
        with checkpoint.open(self._path(), COMM_SELF) as file:
            known = _Contents(file)
            found = {key: BytesStorageMetadata() if key in known.objects else known.metadata_of(key) for key in file}
        return Metadata(found, planner_data={key: tuple(known.paths.get(key, (key,))) for key in found})

    def set_up_storage_reader(self, metadata: Metadata, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        """Called by torch at the begin of a load."""

    def prepare_local_plan(self, plan: LoadPlan) -> LoadPlan:
        """Called by torch."""
        return plan

    def prepare_global_plan(self, plans: list[LoadPlan]) -> list[LoadPlan]:
        """Called by torch, on one rank."""
        return plans

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> Future[None]:
        """Called by torch: reads this rank's parts."""
        with checkpoint.open(self._path(), COMM_SELF) as file:
            known = _Contents(file)
            for item in plan.items:
                key = item.storage_index.fqn
                if item.type is LoadItemType.BYTE_IO:
                    planner.load_bytes(item, io.BytesIO(file.read(key, torch=False).tobytes()))
                    continue
                target = planner.resolve_tensor(item)
                known.read(key, tuple(item.storage_offsets), target.detach())
                planner.commit_tensor(item, target)
        done = Future()  # type: ignore[var-annotated]
        done.set_result(None)
        return done
