# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints: named tensors in one HDF5 file that h5py reads, saved and loaded by any number of ranks.

A save is atomic: the old file stays until the new one is complete. A load reads only what a rank needs and verifies its
checksums. libsyncyte_hdf5 is loaded at the first use, invisible to h5py, which may bring another HDF5.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import functools
import itertools
import json
import math
import os
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _arrays, _dtensors, _library, _xdmf, dtypes
from . import _declarations as c
from ._buffers import NUMPY, TORCH, Buffer, as_buffer, descriptions
from ._checks import as_int64, as_text, check_kind, wrong
from ._parts import Part, Parts
from ._progress import progress
from ._types import Result
from .bundle import Bundle
from .comm import COMM_SELF, COMM_WORLD, Comm, comm_or_world, even_counts
from .errors import (
    ArgumentError,
    DtypeError,
    Error,
    FileFormatError,
    MismatchError,
    MissingFileError,
    NotFoundError,
    UnsupportedError,
)
from .layout import Layout
from .tensor import WholeTensor

__all__ = ["Checkpoint", "Entry", "load", "open", "save", "write_xdmf"]

Path = str | os.PathLike[str]
Sharded = bool | Collection[str]


class Entry(NamedTuple):
    """A key of a checkpoint."""

    shape: tuple[int, ...]  #: global extents
    dtype: c.DType  #: element type
    sharded: bool  #: whether it was saved from rows of several ranks

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return math.prod(self.shape) * dtypes.itemsize(self.dtype)


def _path(path: Path) -> bytes:
    try:
        found = os.fsencode(path)
    except TypeError:
        raise wrong(DtypeError, "path", repr(path), "a string or a path") from None
    if not found or b"\0" in found:
        raise wrong(ArgumentError, "path", repr(path), "the name of a file")
    return found


def _key(key: Any) -> bytes:
    return as_text(key, "a key", "1 to 1023 bytes without a zero").encode()


def _check_sharded(sharded: Sharded, keys: Collection[str]) -> None:
    if isinstance(sharded, bool):
        return
    if isinstance(sharded, str):
        raise wrong(DtypeError, "sharded", f"the string {sharded!r}", "True, False, or a collection of keys")
    unknown = sorted(set(sharded) - set(keys))
    if unknown:
        raise ArgumentError(f"sharded names keys that do not exist: {', '.join(map(repr, unknown))}")


def _is_sharded(key: str, sharded: Sharded) -> bool:
    return sharded if isinstance(sharded, bool) else key in sharded


class _Array(NamedTuple):
    """An array to save or load."""

    given: Buffer  #: the caller's
    used: Buffer  #: a contiguous copy of a tensor in channels_last, otherwise `given`

    @property
    def nbytes(self) -> int:
        return self.used.size * dtypes.itemsize(self.used.dtype)

    def take(self) -> None:
        """After a load: moves what was read into the caller's array."""
        if self.used is not self.given and isinstance(self.given.array, np.ndarray):
            np.copyto(self.given.array, self.used.array)
        elif self.used is not self.given:
            self.given.array.data.copy_(self.used.array)
        self.given.mark_written()


def _array_of(value: Any, name: str, writable: bool, element: c.DType | None) -> _Array:
    if dtypes.is_torch_tensor(value):
        word = str(value.dtype).removeprefix("torch.")
        if word.startswith("float8") and word.upper() not in c.DType.__members__:
            bits = f"its bits, .view(torch.uint8), and .view({value.dtype}) of what is loaded"
            raise wrong(DtypeError, name, f"of {value.dtype}", bits)
        if value.device.type == "cpu" and not value.is_contiguous() and _is_channels_last(value):
            given = as_buffer(value, name, writable=writable, contiguous=False)
            return _Array(given, as_buffer(value.detach().contiguous(), name, writable=writable))
    given = as_buffer(value, name, writable=writable, expected=element)
    return _Array(given, given)


def _is_channels_last(tensor: Any) -> bool:
    """Whether a torch tensor is dense, with the channels (dimension 1) innermost."""
    torch = dtypes.import_torch()
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    return tensor.dim() in formats and tensor.is_contiguous(memory_format=formats[tensor.dim()])


# Two types that other modules of this package put into a mapping in place of arrays.


class Known(NamedTuple):
    """An array of which the caller knows what it is: no search for parts, which takes 0.1 s."""

    array: Any
    is_rows: bool  #: this rank's rows; otherwise an array that all ranks have


class Boxes(NamedTuple):
    """What this rank has of a larger array."""

    element: c.DType
    shape: tuple[int, ...]  #: of the larger one
    boxes: Sequence[tuple[tuple[int, ...], Any]]  #: first point there, and a contiguous array with elements


class _Part(NamedTuple):
    """A key of which ranks have boxes, but not some of its rows."""

    key: str
    element: c.DType
    shape: tuple[int, ...]  #: of the whole array
    boxes: list[tuple[tuple[int, ...], _Array]]  #: of this rank: first point there, and the array


class _Given:
    """What a save or load moves. Raises an error for what cannot be moved."""

    def __init__(self, mapping: Mapping[str, Any], sharded: Sharded, writable: bool, comm: Comm):
        check_kind(mapping, Mapping, "mapping", "a mapping from keys to arrays")
        _check_sharded(sharded, mapping)
        self._comm, self._writable, self._mapping = comm, writable, mapping
        self.entries = (c.CheckpointEntry * max(len(mapping), 1))()  #: the C library's
        self.length = 0  #: of the entries
        self.arrays: list[_Array] = []  #: all, those of parts too
        self.parts: list[_Part] = []
        self._taken: list[tuple[int, int]] = []  # memory of boxes, from the first to behind the last byte, in order
        self.numbers: list[tuple[Any, int]] = []  #: copies of DTensors without axes, and a rank that has each
        for key, value in mapping.items():
            _key(key)
            if isinstance(value, Known):
                self._add_entry(key, _array_of(value.array, _name(key), writable, None), value.is_rows)
            elif isinstance(value, Boxes):
                boxes = [(first, _array_of(box, _name(key), writable, value.element)) for first, box in value.boxes]
                self._add_part(_Part(key, value.element, value.shape, boxes))
            elif _dtensors.is_dtensor(value):
                self._add_dtensor(key, value)
            elif isinstance(value, WholeTensor):
                value._check_in_place()
                self._add_tensor(key, value)
            else:
                self._add_array(key, value, _is_sharded(key, sharded))

    @functools.cached_property
    def _known(self) -> Parts:
        return Parts(self._mapping)

    def _add_tensor(self, key: str, value: WholeTensor) -> None:
        own, call = value.comm, self._comm
        if (own.rank, own.size) != (call.rank, call.size):
            given = f"a whole tensor of {own.size} ranks, of which this one is rank {own.rank}"
            raise wrong(ArgumentError, _name(key), given, f"one of the call's {call.size}, here rank {call.rank}")
        if value.layout is not None:
            return self._add_blocks(key, value, value.layout)
        rows = value.local_array if value._device is None else value.local.detach()
        self._add_entry(key, _array_of(rows, _name(key), self._writable, value.dtype), True)

    def _add_blocks(self, key: str, value: WholeTensor, layout: Layout) -> None:
        """A tensor that is cut by a layout: this rank's block is a part, if its points are a box."""
        name, expected = _name(key), "a bundle of the layout's arrays, or relocate() to rows before"
        if value.ndim != layout.ndim:
            raise wrong(UnsupportedError, name, "a whole tensor with slots", expected)
        mine, is_cut_finely = [], layout._count_pieces() > self._comm.size  # there may be millions of pieces
        if not is_cut_finely:
            mine = [each for each in layout.pieces((0,) * layout.ndim, layout.shape) if each.rank == self._comm.rank]
        if is_cut_finely or len(mine) > 1:
            raise wrong(UnsupportedError, name, "a whole tensor of which a rank has several boxes", expected)
        boxes = [(each.first, _array_of(value.local_array, name, self._writable, value.dtype)) for each in mine]
        self._add_part(_Part(key, value.dtype, value.shape, boxes))

    def _add_array(self, key: str, value: Any, is_named: bool) -> None:
        array = _array_of(value, _name(key), self._writable, None)
        is_rows = _are_rows(self._known, key, array.given, is_named, self._comm, self._writable)
        if isinstance(is_rows, Part):
            first = tuple(is_rows.first if axis == is_rows.axis else 0 for axis in range(len(is_rows.shape)))
            boxes = [(first, array)] if array.nbytes else []
            self._add_part(_Part(key, array.used.dtype, is_rows.shape, boxes))
        else:
            self._add_entry(key, array, is_rows)

    def _add_dtensor(self, key: str, value: Any) -> None:
        name = _name(key)
        _dtensors.check(value, self._comm.rank, self._comm.size, name)
        local = _dtensors.local_of(value)
        if value.dim() == 0:
            if not self._writable:  # rank 0, whose number is saved, may have no part
                self.numbers.append((local := local.clone(), _dtensors.first_rank(value)))
            return self._add_entry(key, _array_of(local, name, self._writable, None), False)
        box, boxes = _dtensors.own_box(value), []
        if box is not None:
            given = as_buffer(local, name, writable=self._writable, contiguous=False)
            dense = given if local.is_contiguous() else as_buffer(local.contiguous(), name, writable=self._writable)
            boxes = [(box[0], _Array(given, dense))]
        self._add_part(_Part(key, dtypes.from_torch(value.dtype), tuple(value.shape), boxes))

    def _add_entry(self, key: str, array: _Array, is_rows: bool) -> None:
        entry = self.entries[self.length]
        entry.struct_size, entry.key = ctypes.sizeof(c.CheckpointEntry), _key(key)
        entry.kind = int(c.EntryKind.SHARDED if is_rows else c.EntryKind.REPLICATED)
        entry.data = ctypes.pointer(array.used.description)
        self.length += 1
        self.arrays.append(array)

    def _take(self, array: _Array) -> bool:
        """Notes an array's memory; False if some of it is an earlier one's."""
        begin = array.used.description.data or 0
        end, place = begin + array.nbytes, bisect.bisect_left(self._taken, (begin, begin))
        if (place > 0 and self._taken[place - 1][1] > begin) or (
            place < len(self._taken) and self._taken[place][0] < end
        ):
            return False
        self._taken.insert(place, (begin, end))
        return True

    def _add_part(self, part: _Part) -> None:
        """A box in the memory of an earlier one, as tied weights have, gets a copy: a bundle takes memory once."""
        for place, (first, array) in enumerate(part.boxes):
            if not self._take(array):
                held = array.used.array
                copy = held.copy() if isinstance(held, np.ndarray) else held.clone()
                part.boxes[place] = first, _Array(array.given, as_buffer(copy, _name(part.key), writable=True))
        self.arrays += [array for _, array in part.boxes]
        self.parts.append(part)


def _name(key: str) -> str:
    return f"mapping[{key!r}]"


def _are_rows(parts: Parts, key: str, buffer: Buffer, is_named: bool, comm: Comm, is_load: bool) -> bool | Part:
    """Whether an array is this rank's rows: the caller says so, or it is known to be a part of such rows.

    Returns the part if it is this rank's along another axis. Raises ArgumentError for any other part that would be
    taken for the whole.
    """
    nbytes = buffer.size * dtypes.itemsize(buffer.dtype)
    of_key = parts.of_key(key, buffer.shape)
    of_array = parts.of_array(buffer.array, buffer.description.data or 0, nbytes)
    part, is_all = (of_key, True) if of_key else of_array or (None, True)
    if part is None or (is_named and part.axis == 0):
        return is_named
    if is_all and (part.rank, part.ranks) == (comm.rank, comm.size) and not (is_named and part.axis > 0):
        return True if part.axis == 0 else part
    if is_load and (not is_all or comm.size == 1):
        return is_named  # the load compares the shape with the file's, in which a whole tensor has another
    given = f"{'a part' if is_all else 'a view of a part'} of a larger tensor, {part}"
    rows = f"rows of all {comm.size} ranks of the call"
    if is_load:
        expected = f"a whole one, as syncyte.nn.relocate_state_dict() takes, or {rows}"
    else:
        alone = "a clone()" + (", or its key in sharded=" if part.axis == 0 else "")
        expected = f"a whole one, as syncyte.nn.collect_state_dict() returns, {rows}, or to save it as it is, {alone}"
    raise wrong(ArgumentError, _name(key), given, expected)


def _agree_on_parts(comm: Comm, operation: str, keys: list[str]) -> None:
    """Raises MismatchError on all ranks if they differ in which keys are parts, and names the first one."""
    fact, text = "hash of the keys of parts", "\0".join(keys).encode()
    try:
        comm.agree(None, operation, **{fact: zlib.crc32(text)})
        return
    except MismatchError as error:
        if fact not in str(error):  # another rank is in another operation
            raise
    length = comm.bcast(np.array([len(text)], dtype=np.int64))[0]
    received = np.frombuffer(text, dtype=np.uint8).copy() if comm.rank == 0 else np.empty(length, np.uint8)
    of_rank_0 = [key for key in comm.bcast(received).tobytes().decode().split("\0") if key]
    pairs = itertools.zip_longest(keys, of_rank_0, fillvalue="none")
    found = next(((own, first) for own, first in pairs if own != first), None)
    own_error = None
    if found is not None:
        expected = f"{found[1]!r}, as on rank 0: the same keys in the same order, DTensors or parts on all ranks"
        own_error = wrong(MismatchError, "a key whose array is a part", repr(found[0]), expected)
    comm.agree(own_error, operation)


def _fields(comm: Comm, operation: str, bundle: Bundle | None, parts: list[_Part]) -> Bundle | None:
    """A bundle of the caller's fields and of the parts, if there are parts. Collective."""
    _agree_on_parts(comm, operation, [each.key for each in parts])
    if not parts:
        return bundle
    made = Bundle(comm)
    for field, buffers in enumerate(bundle._arrays.values() if bundle is not None else ()):
        assert bundle is not None
        name, cut, element = _library.core().output("syncyte_bundle_field", bundle.handle, field)
        made._add(name, Layout._of(comm, cut), element, buffers, descriptions(buffers))
    for key, element, shape, boxes in parts:
        buffers = [array.used for _, array in boxes]
        layout = Layout.blocks(comm, shape, [(first, array.used.shape) for first, array in boxes])
        described = descriptions(buffers)
        for each in described:
            each.read_only = 0  # a save reads constant arrays too, which no other operation of a bundle does
        made._add(key.encode(), layout, element, buffers, described)
    return made


def _with_library(comm: Comm, operation: str, prepare: Callable[[], Result]) -> Result:
    """Loads the library and checks the arguments; if that fails on one rank, all ranks get the error."""

    def check() -> Result:
        _library.hdf5()
        return prepare()

    return comm._prepare(operation, check, always=True)


def save(
    path: Path,
    mapping: Mapping[str, Any] | None = None,
    comm: Comm = COMM_WORLD,
    *,
    sharded: Sharded = (),
    bundle: Bundle | None = None,
    attributes: Mapping[str, Any] | None = None,
    step: int = 0,
    block_bytes: int = 0,
) -> None:
    """Saves arrays into one file, atomically: on any error the old file is untouched. Collective.

    The new file keeps the permissions of the one it replaces. A symbolic link is kept; its target is replaced.
    Temporary files that killed jobs left behind for this path are removed.

    Parameters
    ----------
    path : path
        Path of the file, equal on all ranks, on a file system that all ranks see.
    mapping : mapping of str to array, optional
        Keys to contiguous numpy arrays, torch tensors in host memory (contiguous, or in channels_last, of which a
        contiguous copy is made), or whole tensors; the same keys in the same order on all ranks.
    comm : Comm
        The ranks that save.
    sharded : bool or collection of str
        True, or the keys whose arrays are this rank's rows, in rank order. Whole tensors always are (sync() them
        before), those by a layout too, if each rank has one box at most. Parts of syncyte.nn's layers along any axis,
        of whole tensors (`local`), and DTensors are saved as what they are parts of. Other arrays are replicated, and
        rank 0's are saved.
    bundle : Bundle, optional
        Fields to save beside the mapping: the whole array of each under its name, without ghosts. Its communicator
        saves; `comm` is ignored. Each rank collects 16 MiB at a time, and writes them.
    attributes : mapping of str, optional
        Scalars, strings, and lists and mappings of them, numpy's scalars and small arrays included: what JSON can hold.
        Equal on all ranks; open() gives it back, and h5py as a text.
    step : int
        A number to store in the file.
    block_bytes : int
        Bytes per checksum; 0: 4 MiB.

    Raises
    ------
    StorageError, ArgumentError, ShapeError, MismatchError
        On all ranks: the file cannot be written; an argument is wrong; an array is known to be a view of a part of a
        larger one, or a part that other ranks than the call's have (collect it by syncyte.nn.collect_state_dict(); to
        save it as it is, save a clone(), or name it in `sharded`); ranks differ.
    """
    comm = _comm_of(bundle, comm)

    def prepare() -> tuple[bytes, _Given, Any]:
        options = _library.new_struct(c.CheckpointOptions, step=step, block_bytes=block_bytes)
        if attributes is not None:
            options.attributes = _text_of(attributes)
        if bundle is not None:
            bundle._checked_buffers(writable=False)
        return _path(path), _Given({} if mapping is None else mapping, sharded, False, comm), options

    name, given, options = _with_library(comm, "checkpoint_save", prepare)
    for number, root in given.numbers:
        comm.bcast(number, root)
    fields = _fields(comm, "checkpoint_save", bundle, given.parts)
    with _shown("saving", path, given.arrays, comm, "wchar"):
        if fields is None:
            _library.hdf5().syncyte_checkpoint_save(comm.handle, name, given.length, given.entries, options)
        else:
            _library.hdf5().syncyte_checkpoint_save_bundle(
                comm.handle, name, fields.handle, given.length, given.entries, options
            )


def _plain(value: Any, name: str) -> Any:
    """The value in types that JSON has and gives back."""
    if isinstance(value, Mapping):
        wrong_keys = [key for key in value if not isinstance(key, str)]
        if wrong_keys:
            raise wrong(ArgumentError, f"a key of {name}", repr(wrong_keys[0]), "a string")
        return {_plain(key, f"a key of {name}"): _plain(each, f"{name}[{key!r}]") for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each, f"{name}[{number}]") for number, each in enumerate(value)]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str) and _is_unicode(value):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if dtypes.is_torch_tensor(value) and value.device.type != "meta":
        return _plain(value.tolist(), name)
    is_numpy = isinstance(value, (np.generic, np.ndarray)) and not isinstance(value, (np.ma.MaskedArray, float, str))
    if is_numpy and value.dtype.kind in "biufU" and value.dtype != np.longdouble:
        return _plain(value.tolist(), name)
    raise wrong(ArgumentError, name, _shown_value(value), "what JSON can hold")


def _is_unicode(text: str) -> bool:
    return not any(0xD800 <= ord(letter) <= 0xDFFF for letter in text)


def _shown_value(value: Any) -> str:
    return repr(value) if isinstance(value, (str, float, complex, set, bytes)) else f"a {type(value).__name__}"


def _text_of(attributes: Any) -> bytes:
    check_kind(attributes, Mapping, "attributes", "a mapping from names to values")
    try:
        return json.dumps(_plain(attributes, "attributes")).encode()
    except (RecursionError, ValueError) as error:
        if isinstance(error, Error):
            raise
        raise ArgumentError(f"attributes cannot be written as JSON: {error}") from None


def _comm_of(bundle: Bundle | None, comm: Comm) -> Comm:
    if bundle is None:
        return comm_or_world(comm)
    check_kind(bundle, Bundle, "bundle", "a syncyte.Bundle")
    return bundle.comm


def load(
    path: Path,
    into: Mapping[str, Any] | None = None,
    comm: Comm = COMM_WORLD,
    *,
    sharded: Sharded = (),
    bundle: Bundle | None = None,
    exchange: bool = False,
    keys: Collection[str] | None = None,
    torch: bool | None = None,
) -> Mapping[str, Any]:
    """Loads arrays from a file, which any number of ranks may have saved. Collective.

    Parameters
    ----------
    path : path
        Path of the file, equal on all ranks.
    into : mapping of str to array, optional
        Arrays to fill, by key, as for save(); the lengths of sharded arrays, in rank order, partition the rows. None:
        makes new arrays: replicated ones whole on every rank, sharded ones in equal parts, the remainder on the first
        ranks.
    comm : Comm
        The ranks that load.
    sharded : bool or collection of str
        As of save().
    bundle : Bundle, optional
        Fields to load beside `into`, on any number of ranks and into any layouts; ghosts are not written. Its
        communicator loads; `comm` is ignored.
    exchange : bool
        Whether to fill the ghosts of the bundle afterwards, as its exchange() does.
    keys : collection of str, optional
        Keys for which to make new arrays; None: all.
    torch : bool, optional
        Whether new arrays are torch tensors; None: if torch is imported.

    Returns
    -------
    mapping of str to array
        into, or a dict of the new arrays.

    Raises
    ------
    MissingFileError, NotFoundError
        No such file (a FileNotFoundError); no such key (a KeyError).
    FileFormatError, ChecksumError, VersionError, StorageError
        The file cannot be read.
    DtypeError, ShapeError
        Arrays do not fit.
    ArgumentError
        On all ranks: an argument is wrong; an array is known to be a part of a larger one that is not this rank's rows
        (load the whole, and use syncyte.nn.relocate_state_dict()).
    """
    comm = _comm_of(bundle, comm)

    def check() -> None:
        if exchange and bundle is None:
            raise wrong(ArgumentError, "exchange", exchange, "False without a bundle")

    comm._prepare("checkpoint_load", check, always=True)
    if into is None and bundle is not None:
        into = {}
    if into is None:
        return _load_new(path, comm, sharded, keys, dtypes.loaded_torch() is not None if torch is None else torch)
    arrays: Mapping[str, Any] = into

    def prepare() -> tuple[bytes, _Given, list[Buffer]]:
        if keys is not None:
            raise ArgumentError("into and keys are both given; expected one of them")
        return (
            _path(path),
            _Given(arrays, sharded, True, comm),
            [] if bundle is None else bundle._checked_buffers(True),
        )

    name, given, written = _with_library(comm, "checkpoint_load", prepare)
    if bundle is not None:
        comm.agree(operation="checkpoint_load", exchange=int(bool(exchange)))
    fields = _fields(comm, "checkpoint_load", bundle, given.parts)
    try:
        with _shown("loading", path, given.arrays, comm, "rchar"):
            if fields is None:
                _library.hdf5().syncyte_checkpoint_load(comm.handle, name, given.length, given.entries, None)
            else:
                _library.hdf5().syncyte_checkpoint_load_bundle(
                    comm.handle, name, fields.handle, given.length, given.entries, None
                )
                for buffer in written:
                    buffer.mark_written()
    except NotFoundError as error:
        raise (error if os.path.exists(path) else _missing(error)) from None  # no such key, or no file
    for array in given.arrays:
        array.take()
    if bundle is not None and exchange:
        bundle.exchange()
    return arrays


def _shown(
    title: str, path: Path, arrays: Sequence[_Array], comm: Comm, counter: str
) -> contextlib.AbstractContextManager[None]:
    """Shows the progress of this rank's part of a save or load."""
    return progress(comm.rank, f"{title} {os.fspath(path)!s}", sum(array.nbytes for array in arrays), counter)


def _missing(error: NotFoundError) -> MissingFileError:
    """Converts the error of a missing file, with its fields."""
    result = MissingFileError(str(error))
    result.fields = error.fields
    return result


def _load_new(path: Path, comm: Comm, sharded: Sharded, keys: Collection[str] | None, torch: bool) -> dict[str, Any]:
    with open(path, comm) as checkpoint:

        def read() -> dict[str, Any]:
            wanted = list(checkpoint) if keys is None else list(keys)
            _check_sharded(sharded, wanted)
            entries = {key: checkpoint.describe(key) for key in wanted}
            rows = {key: _rows_of(entries[key], comm) for key in wanted if _is_sharded(key, sharded)}
            nbytes = sum(entry.nbytes for entry in entries.values())
            with progress(comm.rank, f"loading {os.fspath(path)!s}", nbytes, "rchar"):
                return {key: checkpoint.read(key, rows.get(key), torch=torch) for key in wanted}

        result = comm._prepare("checkpoint_load", read, always=True)
        comm.agree(None, "checkpoint_load")
        return result


def _known_first(target: Buffer, entry: Entry) -> int:
    """Returns the first row to read into an array: the first row of the part that it is known to hold, otherwise 0.

    Raises ArgumentError if the array is a part, but not of the file's tensor.
    """
    nbytes = target.size * dtypes.itemsize(target.dtype)
    parts = Parts({}, is_thorough=False)
    part, is_all = parts.of_array(target.array, target.description.data or 0, nbytes) or (None, True)
    if part is None or entry.shape == target.shape:
        return 0
    if is_all and part.axis == 0 and entry.shape == part.shape:
        return part.first
    given = f"{'a part' if is_all else 'a view of a part'} of a larger tensor, {part}"
    raise wrong(ArgumentError, "out", given, f"rows=, or all of a part along axis 0 of a tensor of shape {entry.shape}")


def _rows_of(entry: Entry, comm: Comm) -> range:
    """Returns this rank's rows of an equal partition, with the remainder on the first ranks."""
    if not entry.shape:
        raise ArgumentError("a key without dimensions cannot be sharded")
    counts = even_counts(entry.shape[0], comm.size)
    first = sum(counts[: comm.rank])
    return range(first, first + counts[comm.rank])


def open(path: Path, comm: Comm = COMM_WORLD) -> Checkpoint:
    """Opens a checkpoint: rank 0 reads and verifies the metadata for all ranks. Collective. Use it with ``with``.

    Parameters
    ----------
    path : path
        Path of the file, equal on all ranks.
    comm : Comm
        The ranks that open it.

    Returns
    -------
    Checkpoint
        The open checkpoint.

    Raises
    ------
    MissingFileError, FileFormatError, ChecksumError, VersionError, StorageError
        No such file (a FileNotFoundError); not a checkpoint, or truncated; damaged metadata; a newer format; the file
        cannot be read. Each names the file.
    """
    comm = comm_or_world(comm)
    name = _with_library(comm, "checkpoint_open", lambda: _path(path))
    try:
        handle = _library.hdf5().output("syncyte_checkpoint_open", comm.handle, name, None)
    except NotFoundError as error:
        raise _missing(error) from None
    return Checkpoint(ctypes.c_void_p(handle), os.fspath(path))


def write_xdmf(path: Path, *, spacing: float | Sequence[float] = 1.0, origin: float | Sequence[float] = 0.0) -> str:
    """Writes an XDMF file beside a checkpoint, with which ParaView and VisIt show its fields. One rank calls it.

    A field of 1 to 3 axes lies on a regular grid. Arrays with one point more than others along each axis are at the
    nodes of their cells. Arrays of other types or with more axes are left out.

    Parameters
    ----------
    path : path
        Path of the checkpoint.
    spacing, origin : float or sequence of float
        Extent of a cell along each axis, in the order of the arrays' axes, and the first cell's lower corner; one
        number stands for all axes.

    Returns
    -------
    str
        The path of the XDMF file: that of the checkpoint, and ``.xdmf``.

    Raises
    ------
    MissingFileError, FileFormatError, ChecksumError, VersionError, StorageError
        As open().
    ArgumentError, ShapeError
        Wrong numbers.
    """
    with open(path, COMM_SELF) as file:
        entries = {key: (entry.shape, entry.dtype) for key, entry in file.items()}
        return _xdmf.write(os.fsdecode(path), file.step, entries, spacing, origin)


class Checkpoint(Mapping[str, Entry]):
    """An open checkpoint: a mapping from keys, in alphabetical order, to their entries. All methods are local."""

    def __init__(self, handle: ctypes.c_void_p, path: str):
        """Takes over an open file; for use within this module.

        Parameters
        ----------
        handle : ctypes.c_void_p
            The C handle.
        path : str
            Path for messages.
        """
        self._handle: ctypes.c_void_p | None = handle
        self.path = path

    def _open(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise ArgumentError(f"the checkpoint {self.path!r} is closed")
        return self._handle

    def close(self) -> None:
        """Closes the file; further calls do nothing."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            _library.hdf5().syncyte_checkpoint_close(handle)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        handle = self.__dict__.get("_handle")
        if handle is not None:
            _library.hdf5().unchecked("syncyte_checkpoint_close")(handle)

    def _count(self) -> tuple[int, int]:
        return _library.hdf5().output("syncyte_checkpoint_count", self._open())

    @property
    def step(self) -> int:
        """The number that was saved with it."""
        return self._count()[1]

    @property
    def attributes(self) -> dict[str, Any]:
        """The attributes that were saved with it."""
        text = _library.hdf5().output("syncyte_checkpoint_attributes", self._open())
        try:
            found = json.loads(text) if text else {}
        except (RecursionError, ValueError) as error:
            raise FileFormatError(f"the attributes of {self.path!r} are no JSON: {error}") from None
        if not isinstance(found, dict):
            raise FileFormatError(f"the attributes of {self.path!r} are no mapping")
        return found

    @property
    def bytes_read(self) -> int:
        """Bytes of tensor data that this rank has read from the file, including bytes read only for verification."""
        return _library.hdf5().output("syncyte_checkpoint_bytes_read", self._open())

    def __len__(self) -> int:
        return self._count()[0]

    def __iter__(self) -> Iterator[str]:
        for number in range(len(self)):
            yield _library.hdf5().output("syncyte_checkpoint_key", self._open(), number).decode()

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str) or not key or "\0" in key:
            return False
        try:
            self.describe(key)
        except (NotFoundError, UnicodeEncodeError):
            return False
        return True

    def describe(self, key: str) -> Entry:
        """Returns shape, element type and kind of a key.

        Parameters
        ----------
        key : str
            A key.

        Returns
        -------
        Entry
            Its entry.

        Raises
        ------
        NotFoundError
            No such key (a KeyError); names the key and the file.
        """
        found, kind = _library.hdf5().output("syncyte_checkpoint_describe", self._open(), _key(key))
        return Entry(tuple(found.shape[: found.ndim]), c.DType(found.dtype), kind == c.EntryKind.SHARDED)

    __getitem__ = describe

    def read(
        self, key: str, rows: range | Sequence[int] | None = None, *, out: Any = None, torch: bool | None = None
    ) -> Any:
        """Reads rows of a key and verifies their checksums.

        Parameters
        ----------
        key : str
            A key.
        rows : range or pair of int, optional
            A range, or (first, last + 1). None: all. With `out`: the rows that it is known to hold, as a parameter of a
            parallel layer does; otherwise as many rows as it has, from row 0 on.
        out : array, optional
            A contiguous array to fill; None: a new one.
        torch : bool, optional
            Whether a new one is a torch tensor; None: if torch is imported.

        Returns
        -------
        array
            out.

        Raises
        ------
        NotFoundError, OutOfRangeError, DtypeError, ShapeError
            No such key (a KeyError); no such rows; `out` does not fit.
        ArgumentError
            No rows are given, and `out` is known to be a part, but not of the key's rows.
        ChecksumError
            The data is damaged; names file, key and block.
        FileFormatError, StorageError
            The file is truncated, or cannot be read.
        """
        entry = self.describe(key)
        first, last = _first_last(rows)
        if out is None:
            use_torch = dtypes.loaded_torch() is not None if torch is None else torch
            shape = entry.shape if rows is None else (last - first, *entry.shape[1:])
            out = _arrays.empty(TORCH if use_torch else NUMPY, entry.dtype, shape)
        target = as_buffer(out, "out", writable=True, expected=entry.dtype)
        if rows is None:
            first = _known_first(target, entry)
        if rows is not None and target.shape[:1] != (last - first,):
            raise ArgumentError(f"out has shape {target.shape}, but the requested rows are {first} to {last}")
        _library.hdf5().syncyte_checkpoint_read(self._open(), _key(key), first, target.reference)
        target.mark_written()
        return out

    def __repr__(self) -> str:
        state = "closed" if self._handle is None else f"{len(self)} keys"
        return f"<syncyte.Checkpoint {self.path!r}, {state}>"


def _first_last(rows: range | Sequence[int] | None) -> tuple[int, int]:
    if rows is None:
        return 0, 0
    if isinstance(rows, range):
        if rows.step != 1:
            raise wrong(ArgumentError, "rows", rows, "a step of 1")
        rows = rows.start, rows.stop
    if len(rows) != 2:
        raise wrong(ArgumentError, "rows", repr(rows), "a range or (first, last + 1)")
    first, last = (as_int64(number, "rows") for number in rows)
    if first < 0 or last < first:
        raise wrong(ArgumentError, "rows", f"{first} to {last}", "0 <= first <= last")
    return first, last
