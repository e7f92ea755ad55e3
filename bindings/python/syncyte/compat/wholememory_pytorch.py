# SPDX-License-Identifier: BSD-3-Clause
"""The interface of WholeMemory's PyTorch module on Syncyte, on one node.

``from syncyte.compat import wholememory_pytorch as wm``; after ``syncyte.compat.install()``, and in a script that
``python -m syncyte.compat`` runs, also ``from wholememory.torch import wholememory_pytorch as wm``.

Differences from WholeMemory:

- Wrong arguments, and ranks that disagree, raise an exception with a message on every rank.
- Tensors may be dropped in any order.
- Every table is spread over all its ranks.
- Indices are checked, gathering from a slice uses the slice's rows, and integer tables can be gathered.
- Chunked tensors lie in device memory where there is a device, otherwise in host memory.

One thread of each rank may call these functions.
"""

from __future__ import annotations

import glob
import itertools
import os
import re
import weakref
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from syncyte import dtypes, runtime
from syncyte._arrays import gather_rows
from syncyte._checks import as_index, as_numbers, as_size, check_kind, wrong
from syncyte._declarations import MAX_NDIM
from syncyte._devices import as_cuda_device
from syncyte.comm import COMM_WORLD, Comm
from syncyte.errors import (
    ArgumentError,
    DtypeError,
    MissingFileError,
    NotInitializedError,
    ShapeError,
    StorageError,
    UnsupportedError,
)
from syncyte.memory import device_count
from syncyte.tensor import WholeTensor

__all__ = [
    "ChunkedTensor",
    "aggregate_size",
    "barrier",
    "create_chunked_tensor",
    "create_tensor",
    "finalize_lib",
    "get_sub_chunked_tensor",
    "get_tensor_view",
    "init_lib",
    "load_embedding_to_chunked_tensor_from_file_prefix",
    "load_embedding_to_tensor_from_file_prefix",
    "mp_init",
]

_MADE = "a tensor that create_tensor() has made, or a part of one"


class _Session:
    """State between mp_init and finalize_lib."""

    def __init__(self) -> None:
        self.is_open = False
        self.groups: dict[tuple[int, ...], Comm] = {}  # one communicator per list of ranks: MPI has only few
        self.parent: Comm = COMM_WORLD  # the communicator that groups are made of
        self.has_broken_group = False


_session = _Session()


def init_lib() -> None:
    """Initializes Syncyte, and MPI if it is not initialized. The first call is collective over all ranks."""
    runtime.init()


def mp_init(rank: int, size: int) -> None:
    """Begins the use of the module. Collective.

    Parameters
    ----------
    rank, size : int
        This process's rank and the number of ranks, which must be COMM_WORLD's.

    Raises
    ------
    ArgumentError
        Another rank or size; on all ranks.
    """

    def check() -> None:
        given, expected = (as_index(rank, "rank"), as_index(size, "size")), (COMM_WORLD.rank, COMM_WORLD.size)
        if given != expected:
            raise wrong(ArgumentError, "rank, size", given, f"COMM_WORLD's, {expected}")

    COMM_WORLD._prepare("mp_init", check, always=True)
    if COMM_WORLD.allreduce(_session.has_broken_group, "lor"):  # ranks' lists differed: the parent makes no more groups
        _session.parent, _session.has_broken_group = COMM_WORLD.dup(), False
    _session.is_open = True


def finalize_lib() -> None:
    """Frees memory that all ranks have dropped. Collective. Tensors that are still referenced stay valid."""
    _session.is_open = False
    _wait_for_device()
    for ranks in sorted(_session.groups):  # the same order on all ranks
        _session.groups[ranks].collect()
    COMM_WORLD.collect()
    _check_gathers()


def _comm_of(ranks: Sequence[int]) -> Comm:
    """Returns the communicator of a list of ranks (empty: all). These ranks make it once."""
    if not _session.is_open:
        raise NotInitializedError("call init_lib() and mp_init(rank, size) first")
    numbers = tuple(as_numbers(ranks, "ranks"))
    if numbers in ((), tuple(range(COMM_WORLD.size))):
        return COMM_WORLD
    if numbers not in _session.groups:
        try:
            name = f"ranks {', '.join(map(str, numbers))}"
            _session.groups[numbers] = _session.parent.create_group(numbers, name=name)
        except ArgumentError:
            raise
        except BaseException:
            _session.has_broken_group = True
            raise
    return _session.groups[numbers]


def barrier(ranks: Sequence[int]) -> None:
    """Returns when all of these ranks have called it. Collective over them.

    Afterwards every rank sees the others' writes to tensors: it waits for the work of this rank's current device first.

    Parameters
    ----------
    ranks : sequence of int
        Ranks of COMM_WORLD; empty: all.

    Raises
    ------
    NotInitializedError, ArgumentError
        mp_init() was not called; the list does not contain this rank.
    OutOfRangeError
        An earlier gather of this rank on its current device has skipped an index.
    """
    comm = _comm_of(ranks)
    _wait_for_device()
    comm.barrier()
    _check_gathers()


def _wait_for_device() -> None:
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _check_gathers() -> None:
    """Raises OutOfRangeError if a gather on the current device, which has been waited for, has skipped an index."""
    if torch.cuda.is_initialized():
        none = torch.empty(0, dtype=torch.int64, device="cuda")
        gather_rows(none, none)


def aggregate_size(local_size: int, ranks: Sequence[int]) -> tuple[int, int]:
    """Adds up the ranks' sizes. Collective over `ranks`.

    Parameters
    ----------
    local_size : int
        This rank's size, 0 or more.
    ranks : sequence of int
        Ranks of COMM_WORLD; empty: all.

    Returns
    -------
    total, offset : int
        The sum over all of these ranks, and the sum over the ranks before this one.

    Raises
    ------
    ArgumentError
        A negative size, or a sum beyond 2^63 - 1; on all of these ranks.
    """
    comm = _comm_of(ranks)
    own = comm._prepare("aggregate_size", lambda: as_size(local_size, "local_size"), always=True)
    sizes = comm.counts(own)
    if sum(sizes) >= 2**63:
        raise wrong(ArgumentError, "the sum of local_size over the ranks", sum(sizes), "at most 2^63 - 1")
    return sum(sizes), sum(sizes[: comm.rank])


# Tensors.


def _layout(sizes: Sequence[int], strides: Sequence[int], dtype: torch.dtype) -> tuple[list[int], list[int], int, int]:
    """Checks a tensor's layout; returns sizes, strides, number of rows, and elements of a row with its gap."""
    extents, distances = as_numbers(sizes, "sizes"), as_numbers(strides, "strides")
    if not isinstance(dtype, torch.dtype):
        raise wrong(DtypeError, "dtype", repr(dtype), "a torch.dtype")
    if len(extents) > MAX_NDIM:
        raise wrong(ShapeError, "sizes", f"{extents}, {len(extents)} numbers", f"at most {MAX_NDIM}")
    for axis, extent in enumerate(extents):
        if extent < 0:
            raise wrong(ShapeError, "sizes", extent, "0 or more", axis=axis)
    if distances and len(distances) != len(extents):
        raise wrong(ShapeError, "strides", distances, f"{len(extents)} numbers, as many as sizes has, or []")
    trailing = [1]  # products of the sizes after each dimension
    for extent in reversed(extents[1:]):
        trailing.append(trailing[-1] * max(extent, 1))
    dense = trailing[::-1][: len(extents)]
    for axis, (distance, least) in enumerate(zip(distances, dense, strict=False)):
        if distance < least:
            expected = f"{least} or more, the product of sizes[{axis + 1}:]"
            raise wrong(ShapeError, "strides", distance, expected, axis=axis)
    used = distances or dense
    rows, row_elements = (extents[0], used[0]) if extents else (1, 1)
    reach = 1 + sum((extent - 1) * distance for extent, distance in zip(extents, used, strict=True) if extent > 0)
    if 0 not in extents and reach > rows * row_elements:
        expected = f"at most sizes[0] * strides[0], {rows * row_elements}"
        raise wrong(ShapeError, "strides", f"{used}, which reach {reach} elements", expected)
    if max(rows, 1) * row_elements * dtype.itemsize >= 2**63:
        raise wrong(ShapeError, "sizes", f"{extents} with strides {used}", "at most 2^63 - 1 bytes")
    return extents, used, rows, row_elements


def _create(
    operation: str, sizes: Sequence[int], strides: Sequence[int], dtype: torch.dtype, ranks: Sequence[int],
    use_host_memory: bool = True,
) -> torch.Tensor:  # fmt: skip
    comm = _comm_of(ranks)

    def check() -> tuple[list[int], list[int], int, int]:
        nodes = comm.topology.nodes
        if nodes > 1:
            raise wrong(UnsupportedError, "ranks", f"on {nodes} nodes", "ranks of one node, which share memory")
        return _layout(sizes, strides, dtype)

    extents, distances, rows, row_elements = comm._prepare(operation, check, always=True)
    facts = {f"sizes[{axis}]": extent for axis, extent in enumerate(extents)}
    facts |= {f"strides[{axis}]": distance for axis, distance in enumerate(distances)}
    try:
        element, scale = dtypes.as_dtype(dtype), 1  # WholeTensor compares this dtype between ranks
    except DtypeError:  # a dtype that Syncyte does not have is stored as bytes
        element, scale = dtypes.DType.UINT8, dtype.itemsize
        facts["checksum of the dtype's name"] = zlib.crc32(str(dtype).encode())
    comm.agree(None, operation, dimensions=len(extents), **facts)
    device = None if use_host_memory else "cuda"
    table = WholeTensor((rows, row_elements * scale), element, comm=comm, device=device)
    if use_host_memory and torch.cuda.is_initialized() and device_count() > 0:  # 0 in a build without CUDA
        device = "cuda"
    node = comm._prepare(operation, lambda: _node_of(table, device), always=True)
    comm.agree(None, operation)
    return node.view(dtype).as_strided(extents, distances)


def _node_of(table: WholeTensor, device: Any) -> torch.Tensor:
    """All rows of a table as a tensor of a device; its storage knows the table."""
    node = table.node_on(device)
    table._forget_views()  # otherwise the table and its storage would refer to each other
    storage: Any = node.untyped_storage()
    storage.wholememory_table = table  # the storage object lives as long as its memory
    return node


def create_tensor(
    sizes: Sequence[int], strides: Sequence[int], dtype: torch.dtype, use_host_memory: bool, ranks: Sequence[int]
) -> torch.Tensor:
    """Makes a tensor of zeros that all of these ranks share; it is a plain tensor. Collective over them.

    Parameters
    ----------
    sizes : sequence of int
        Extents, 0 to 8 of them. The rows are spread evenly over the ranks' memory.
    strides : sequence of int
        Distances along each dimension, in elements: at least the product of the sizes after it; empty: no gaps. The
        tensor takes sizes[0] * strides[0] elements.
    dtype : torch.dtype
        Any dtype.
    use_host_memory : bool
        True: host memory; a tensor of the current CUDA device, whose kernels then use host memory, if this process has
        initialized CUDA (torch.cuda.is_initialized()), otherwise a CPU tensor. False: the memory of all ranks' devices;
        a tensor of the current CUDA device.
    ranks : sequence of int
        Ranks of COMM_WORLD, on one node; only these ranks call. Empty: all.

    Returns
    -------
    torch.Tensor
        The tensor. Its memory begins at a multiple of 64 bytes. The other ranks see a rank's writes after
        barrier(ranks).

    Raises
    ------
    ShapeError, DtypeError, ArgumentError, MismatchError, OutOfMemoryError, UnsupportedError
        On all of these ranks.
    """
    return _create("create_tensor", sizes, strides, dtype, ranks, use_host_memory)


def _table_of(tensor: torch.Tensor) -> WholeTensor:
    check_kind(tensor, torch.Tensor, "tensor", _MADE)
    table = getattr(tensor.untyped_storage(), "wholememory_table", None)
    if table is None:
        raise wrong(ArgumentError, "tensor", "in memory of its own", _MADE)
    return table


def get_tensor_view(tensor: torch.Tensor, device: Any) -> torch.Tensor:
    """Returns a view of a tensor, or of a part of one, on a device. Local.

    Parameters
    ----------
    tensor : torch.Tensor
        A tensor of create_tensor(), or a part of one.
    device : torch.device or str
        Any CUDA device of this process; for a tensor in host memory also "cpu".

    Returns
    -------
    torch.Tensor
        A tensor of the same memory.

    Raises
    ------
    DtypeError, ArgumentError
        create_tensor() has not made the tensor; there is no such device.
    UnsupportedError
        "cpu" for a tensor in device memory; the device cannot access the memory.
    """
    table = _table_of(tensor)
    wanted = as_cuda_device(device) or torch.device("cpu")
    if wanted == tensor.device:
        return tensor.detach()
    storage = _node_of(table, wanted).untyped_storage()
    place = tensor.storage_offset(), tensor.shape, tensor.stride()
    seen = torch.empty(0, dtype=tensor.dtype, device=wanted).set_(storage, *place)
    seen = seen.conj() if tensor.is_conj() else seen
    return torch._neg_view(seen) if tensor.is_neg() else seen


# Chunked tensors: WholeMemory's have several address ranges on a device. Here they have one.

_chunked: weakref.WeakValueDictionary[int, ChunkedTensor] = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


class ChunkedTensor:
    """A tensor for gather_chunked(), made by create_chunked_tensor() and get_sub_chunked_tensor()."""

    def __init__(self, other: ChunkedTensor | torch.Tensor):
        self._tensor: torch.Tensor = other._tensor if isinstance(other, ChunkedTensor) else other
        self._number = next(_numbers)
        _chunked[self._number] = self

    def get_ptr(self) -> int:
        """Returns the number to pass to torch.ops.wholememory.gather_chunked; valid while this object lives."""
        return self._number

    @property
    def shape(self) -> list[int]:
        """Global extents."""
        return list(self._tensor.shape)

    @property
    def stride(self) -> list[int]:
        """Distances along each dimension, in elements."""
        return list(self._tensor.stride())

    @property
    def dtype(self) -> torch.dtype:
        """Element type."""
        return self._tensor.dtype

    def __repr__(self) -> str:
        return f"ChunkedTensor(shape={self.shape}, stride={self.stride}, dtype={self.dtype})"


def create_chunked_tensor(
    sizes: Sequence[int], strides: Sequence[int], dtype: torch.dtype, ranks: Sequence[int]
) -> ChunkedTensor:
    """Makes a chunked tensor of zeros, in device memory if this machine has a device. Collective over `ranks`.

    Parameters are as of create_tensor().

    Returns
    -------
    ChunkedTensor
        A tensor for get_sub_chunked_tensor() and torch.ops.wholememory.gather_chunked.

    Raises
    ------
    ShapeError, DtypeError, ArgumentError, MismatchError, OutOfMemoryError, UnsupportedError
        On all of these ranks.
    """
    return ChunkedTensor(
        _create("create_chunked_tensor", sizes, strides, dtype, ranks, use_host_memory=device_count() == 0)
    )


def get_sub_chunked_tensor(tensor: ChunkedTensor, start: Sequence[int], count: Sequence[int]) -> ChunkedTensor:
    """Returns a box of a chunked tensor. Local.

    Parameters
    ----------
    tensor : ChunkedTensor
        A chunked tensor.
    start : sequence of int
        First index along each dimension; missing dimensions are taken whole.
    count : sequence of int
        Number of indices along each dimension of `start`; -1 or missing: all that follow.

    Returns
    -------
    ChunkedTensor
        The box, in the same memory.

    Raises
    ------
    ArgumentError
        A box outside the tensor.
    ShapeError
        Too many numbers.
    """
    check_kind(tensor, ChunkedTensor, "tensor", "a ChunkedTensor")
    part = tensor._tensor
    begins, counts = as_numbers(start, "start"), as_numbers(count, "count")
    if not len(counts) <= len(begins) <= part.dim():
        expected = f"at most {part.dim()} numbers, in count no more than in start"
        raise wrong(ShapeError, "start, count", (begins, counts), expected)
    for axis, begin in enumerate(begins):
        extent = part.size(axis)
        if not 0 <= begin <= extent:
            raise wrong(ArgumentError, "start", begin, f"0 to {extent}", axis=axis)
        length = counts[axis] if axis < len(counts) else -1
        if not -1 <= length <= extent - begin:
            raise wrong(ArgumentError, "count", length, f"0 to {extent - begin}, or -1 for all", axis=axis)
        part = part.narrow(axis, begin, extent - begin if length < 0 else length)
    return ChunkedTensor(part)


# torch.ops.wholememory.

_operators = torch.library.Library("wholememory", "DEF")
_operators.define("gather(Tensor index, Tensor param, ScalarType out_dtype) -> Tensor")
_operators.define("gather_chunked(Tensor index, int param, ScalarType out_dtype) -> Tensor")


def _gather(index: torch.Tensor, param: torch.Tensor, out_dtype: torch.dtype) -> torch.Tensor:
    if index.dim() != 1:
        raise wrong(ShapeError, "index", f"of {index.dim()} dimensions", "1")
    table, reach = param, 0
    if param.is_cuda and param.dim() > 1 and not param[:1].is_contiguous():
        reach = 1 + sum((size - 1) * step for size, step in zip(param.shape[1:], param.stride()[1:], strict=True))
        if reach <= param.stride(0):  # kernels read rows without gaps: gather these with what lies between
            table = param.as_strided((len(param), reach), (param.stride(0), 1))
    rows = gather_rows(table, index.contiguous(), dtype=out_dtype)
    if table is param:
        return rows
    return rows.as_strided((len(rows), *param.shape[1:]), (reach, *param.stride()[1:])).contiguous()


def _chunked_tensor(param: int) -> torch.Tensor:
    found = _chunked.get(param)
    if found is None:
        raise wrong(ArgumentError, "param", param, "get_ptr() of a live ChunkedTensor")
    return found._tensor


def _gather_chunked(index: torch.Tensor, param: int, out_dtype: torch.dtype) -> torch.Tensor:
    return _gather(index, _chunked_tensor(param), out_dtype)


def _gathered_meta(index: torch.Tensor, param: torch.Tensor, out_dtype: torch.dtype) -> torch.Tensor:
    return param.new_empty((index.size(0), *param.shape[1:]), dtype=out_dtype)


def _gathered_chunked_meta(index: torch.Tensor, param: int, out_dtype: torch.dtype) -> torch.Tensor:
    return index.new_empty((index.size(0), *_chunked_tensor(param).shape[1:]), dtype=out_dtype)


_operators.impl("gather", _gather, "CPU")
_operators.impl("gather_chunked", _gather_chunked, "CPU")
_operators.impl("gather", _gather, "CUDA")
_operators.impl("gather_chunked", _gather_chunked, "CUDA")
_operators.impl("gather", _gathered_meta, "Meta")
_operators.impl("gather_chunked", _gathered_chunked_meta, "Meta")


# Files.

_piece_bytes = 64 << 20  # bytes of a file that are read at once


class Part(NamedTuple):
    path: str
    first_row: int
    rows: int


def parts_of(prefix: str, rows: int, row_bytes: int) -> list[Part]:
    """Finds the files prefix_part_0_of_n to prefix_part_(n-1)_of_n, which hold the rows one after another."""
    if not isinstance(prefix, (str, os.PathLike)):
        raise wrong(DtypeError, "file_prefix", repr(prefix), "a path")
    prefix = os.fspath(prefix)
    pattern = re.compile(re.escape(prefix) + r"_part_\d+_of_(\d+)")
    found = [pattern.fullmatch(path) for path in glob.glob(glob.escape(prefix) + "_part_*_of_*")]
    numbers = sorted({int(match[1]) for match in found if match})
    if len(numbers) != 1:
        found_text = f"of files with different n: {numbers}" if numbers else "of no file"
        raise wrong(MissingFileError, f"{prefix}_part_i_of_n", found_text, "all i from 0 to n - 1 for one n")
    parts, first = [], 0
    for part in range(numbers[0]):
        path = f"{prefix}_part_{part}_of_{numbers[0]}"
        if not os.path.exists(path):
            raise wrong(MissingFileError, path, "missing", f"{numbers[0]} parts")
        size = os.path.getsize(path)
        if size % row_bytes != 0:
            raise wrong(StorageError, path, f"{size} bytes long", f"a multiple of a row's {row_bytes}")
        parts.append(Part(path, first, size // row_bytes))
        first += size // row_bytes
    if first != rows:
        name = f"the number of rows in {prefix}_part_*_of_{numbers[0]}"
        raise wrong(StorageError, name, first, f"table_size, {rows}")
    return parts


def read_rows(parts: list[Part], target: torch.Tensor, src_dtype: torch.dtype, first: int, end: int) -> None:
    """Reads rows first to end - 1 of the files into the same rows of target."""
    row_bytes = target.size(1) * src_dtype.itemsize
    at_once = max(1, _piece_bytes // row_bytes)
    for part in parts:
        begin, stop = max(first, part.first_row), min(end, part.first_row + part.rows)
        for row in range(begin, stop, at_once):
            count = min(at_once, stop - row)
            data = np.fromfile(part.path, np.uint8, count * row_bytes, offset=(row - part.first_row) * row_bytes)
            if data.size != count * row_bytes:
                raise StorageError(f"{part.path} became shorter while it was read")
            target[row : row + count].copy_(torch.from_numpy(data).view(src_dtype).view(count, target.size(1)))


def load_embedding_to_tensor_from_file_prefix(
    tensor: torch.Tensor,
    src_dtype: torch.dtype,
    emb_dtype: torch.dtype,
    table_size: int,
    embedding_dim: int,
    file_prefix: str,
) -> None:
    """Fills the first rows of a tensor from raw files. Collective over the tensor's ranks.

    Every rank reads its share; all ranks see all rows when it returns.

    Parameters
    ----------
    tensor : torch.Tensor
        A tensor of create_tensor(), or a part of one, with 2 dimensions and at least table_size rows of embedding_dim
        elements.
    src_dtype : torch.dtype
        Type of the files' elements, which are converted.
    emb_dtype : torch.dtype
        The tensor's dtype.
    table_size, embedding_dim : int
        Number of rows in all files together; elements of a row.
    file_prefix : str
        The files are file_prefix_part_0_of_n to file_prefix_part_(n-1)_of_n; they hold the rows without gaps.

    Raises
    ------
    MissingFileError, StorageError, ShapeError, DtypeError, MismatchError
        On all ranks of the tensor.
    ArgumentError
        create_tensor() has not made the tensor; on this rank alone.
    """
    comm = _table_of(tensor).comm
    operation = "load_embedding"

    def check() -> tuple[int, int, list[Part]]:
        rows, elements = as_index(table_size, "table_size"), as_index(embedding_dim, "embedding_dim")
        if tensor.dim() != 2 or not 0 <= rows <= tensor.size(0) or not 0 < elements <= tensor.size(1):
            least = f"2 dimensions, at least table_size ({rows}) rows of embedding_dim ({elements}) elements"
            raise wrong(ShapeError, "tensor", f"of shape {list(tensor.shape)}", least)
        for name, given in (("src_dtype", src_dtype), ("emb_dtype", emb_dtype)):
            if not isinstance(given, torch.dtype):
                raise wrong(DtypeError, name, repr(given), "a torch.dtype")
        if tensor.dtype != emb_dtype:
            raise wrong(DtypeError, "tensor", f"of {tensor.dtype}", f"emb_dtype, {emb_dtype}")
        return rows, elements, parts_of(file_prefix, rows, elements * src_dtype.itemsize)

    rows, elements, parts = comm._prepare(operation, check, always=True)
    comm.agree(operation=operation, table_size=rows, embedding_dim=elements, parts=len(parts))
    mine = range(rows * comm.rank // comm.size, rows * (comm.rank + 1) // comm.size)

    def read() -> None:
        with torch.no_grad():
            read_rows(parts, tensor[:, :elements], src_dtype, mine.start, mine.stop)
        _wait_for_device()

    comm._prepare(operation, read, always=True)
    comm.agree(operation=operation)


def load_embedding_to_chunked_tensor_from_file_prefix(
    tensor: ChunkedTensor,
    src_dtype: torch.dtype,
    emb_dtype: torch.dtype,
    table_size: int,
    embedding_dim: int,
    file_prefix: str,
) -> None:
    """Fills the first rows of a chunked tensor from raw files. Collective over the tensor's ranks.

    Parameters and errors are as of load_embedding_to_tensor_from_file_prefix().
    """
    check_kind(tensor, ChunkedTensor, "tensor", "a ChunkedTensor")
    load_embedding_to_tensor_from_file_prefix(
        tensor._tensor, src_dtype, emb_dtype, table_size, embedding_dim, file_prefix
    )
