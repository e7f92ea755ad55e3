"""The raw files that load_embedding_to_tensor_from_file_prefix reads."""

from __future__ import annotations

import glob
import os
import re
from typing import NamedTuple

import numpy as np
import torch

from syncyte._checks import wrong
from syncyte.errors import DtypeError, MissingFileError, StorageError

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
