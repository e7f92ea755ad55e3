# SPDX-License-Identifier: BSD-3-Clause
"""Layouts: how an array is cut into the ranks' parts; relocation from one layout to another."""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _declarations as c
from . import _library, dtypes
from ._arrays import empty, empty_like, pointer
from ._buffers import NUMPY, TORCH, Buffer, as_buffer, descriptions, int64_array
from ._checks import as_int64, as_numbers, check_kind, integers, wrong
from ._handles import Handle
from .comm import Cart, Comm
from .errors import ArgumentError, ShapeError

__all__ = ["Layout"]

BUFFER_BYTES = 1 << 23


class Block(NamedTuple):
    """One rank's array of a layout."""

    first: tuple[int, ...]  #: the first point, ghosts not counted; cells dealt out in blocks are not consecutive
    shape: tuple[int, ...]  #: of the array, ghosts included


class Piece(NamedTuple):
    """Points of a box that one block has."""

    rank: int  #: the owner: the first rank of the block with the right copy
    block: int  #: number of the block among the rank's
    first: tuple[int, ...]  #: the first point
    shape: tuple[int, ...]  #: points along each axis
    place: tuple[int, ...]  #: index of the first point in the block's array, ghosts counted


def _flags(value: Any, name: str, ndim: int) -> list[int]:
    """A flag for each axis; one stands for all."""
    if not hasattr(value, "__iter__"):
        return [int(bool(value))] * ndim
    numbers = [int(bool(each)) for each in value]
    if len(numbers) != ndim:
        raise wrong(ShapeError, f"length of {name}", len(numbers), f"{ndim}, one for each axis")
    return numbers


def _cut_axes(axes: Any, dimensions: int, ndim: int) -> list[int]:
    """The axis that each dimension of a mesh cuts, -1 for none, as C has them; negative ones count from the end."""
    if axes is None:
        return list(range(dimensions))
    result = []
    for place, axis in enumerate(axes):
        number = -1 if axis is None else as_int64(axis, f"axes[{place}]")
        if axis is not None and not -ndim <= number < ndim:
            raise wrong(ArgumentError, f"axes[{place}]", number, f"None, or {-ndim} to {ndim - 1}")
        result.append(number if axis is None else number % ndim)
    return result


def _joined_lengths(lengths: Any) -> list[int]:
    """Lengths of the parts of all cut axes, one after the other."""
    given = list(lengths) if hasattr(lengths, "__iter__") else [lengths]
    if any(not hasattr(axis, "__iter__") for axis in given):
        raise wrong(ArgumentError, "lengths", repr(lengths), "a list of the parts' lengths for each axis that is cut")
    return [length for axis in given for length in axis]


def _joined_boxes(boxes: Any, ndim: int) -> list[list[int]]:
    """First cells, and counts, of all boxes."""
    sides: list[list[int]] = [[], []]
    if not hasattr(boxes, "__iter__"):
        raise wrong(ArgumentError, "boxes", repr(boxes), "a list of pairs (first, count), which may be empty")
    for box in boxes:
        pair = [tuple(side) if hasattr(side, "__iter__") else () for side in box] if hasattr(box, "__iter__") else []
        if [len(side) for side in pair] != [ndim, ndim]:
            expected = f"a pair (first, count), each of {ndim} integers"
            raise wrong(ArgumentError, "a box of boxes", repr(box), expected)
        for side, numbers in zip(sides, pair, strict=True):
            side.extend(numbers)
    return sides


def _truth(truth: Any) -> c.Truth:
    if not isinstance(truth, str) or truth.upper() not in c.Truth.__members__:
        raise wrong(ArgumentError, "truth", repr(truth), f"one of {', '.join(each.name.lower() for each in c.Truth)}")
    return c.Truth[truth.upper()]


def _lists(points: Any) -> list[np.ndarray]:
    """Lists of points: one, or several in a list or tuple, or None."""
    several = isinstance(points, (list, tuple)) and any(np.ndim(each) > 0 for each in points)
    given = [] if points is None else points if several else [points]
    return [int64_array(each, "points") for each in given]


def _options(ndim: int, ghosts: Any, shared: Any, periodic: Any, truth: str, **of_mesh: int) -> Any:
    """ghosts: a number, or for each axis a number or a pair (low, high)."""
    if ndim > c.MAX_NDIM:
        raise wrong(ShapeError, "number of axes", ndim, f"at most {c.MAX_NDIM}")
    if not hasattr(ghosts, "__index__") and not hasattr(ghosts, "__iter__"):
        raise wrong(ArgumentError, "ghosts", repr(ghosts), "a number, or for each axis a number or a pair (low, high)")
    widths = [ghosts] * ndim if hasattr(ghosts, "__index__") else list(ghosts)
    if len(widths) != ndim:
        raise wrong(ShapeError, "length of ghosts", len(widths), f"{ndim}, one for each axis")
    widths = [(each, each) if hasattr(each, "__index__") else tuple(each) for each in widths]
    if any(len(each) != 2 for each in widths):
        raise wrong(ShapeError, "ghosts", ghosts, "a number, or for each axis a number or a pair (low, high)")
    options = _library.new_struct(c.LayoutOptions, truth=_truth(truth), **of_mesh)
    for axis, (low, high) in enumerate(widths):
        options.ghosts_low[axis], options.ghosts_high[axis] = as_int64(low, "ghosts"), as_int64(high, "ghosts")
    options.shared[:ndim] = _flags(shared, "shared", ndim)
    options.periodic[:ndim] = _flags(periodic, "periodic", ndim)
    return options


def block_buffers(arrays: Any, wanted: int, name: str, writable: bool) -> list[Buffer]:
    """The arrays of this rank's blocks: one array, a sequence, or None."""
    several = isinstance(arrays, (list, tuple))
    given = list(arrays) if several else [] if arrays is None else [arrays]
    if len(given) != wanted:
        raise wrong(ArgumentError, name, f"{len(given)} arrays", f"{wanted}, one for each block of this rank")
    return [
        as_buffer(each, name, writable=writable, contiguous=False, recorded_by="" if not writable else None)
        for each in given
    ]


class Layout(Handle):
    """How an array is cut into the ranks' parts.

    The cells of a box are divided among blocks. A block is the array of one rank, or of several ranks with equal
    copies; a rank has any number of blocks. Layout.mesh() cuts by a mesh of ranks, Layout.blocks() takes the blocks
    that a code has chosen, and like() describes other arrays of the same grid: its nodes, its faces, with ghosts. Of an
    unstructured mesh each rank lists its points: Layout.indices().

    Along a *shared* axis arrays hold the points on the borders of the cells: one more than cells, or as many if the
    axis is periodic. Two neighbouring blocks store the point on their border; `truth` says which copy is right:
    "equal" (all are), "lower" or "upper" (that of the block with the lower or higher cells).
    """

    kind = "layout"
    _comm: Comm

    def __init__(self) -> None:
        raise TypeError("a layout is made by Layout.mesh(), Layout.blocks(), Layout.indices() or like()")

    @classmethod
    def _of(cls, comm: Comm, handle: int) -> Layout:
        made = cls.__new__(cls)
        made._own(handle)
        made._comm = comm
        return made

    def _retained(self) -> Layout:
        """Another reference, and another one to the communicator: free() of the caller's objects leaves them."""
        core = _library.core()
        core.syncyte_layout_retain(self.handle)
        return self._of(Comm(core.output("syncyte_layout_comm", self.handle)), self.handle)

    @classmethod
    def mesh(
        cls,
        comm: Comm,
        cells: Sequence[int],
        mesh: Sequence[int] | None = None,
        axes: Sequence[int | None] | None = None,
        *,
        lengths: Sequence[Sequence[int]] | None = None,
        weighted: bool = False,
        ceil: bool = False,
        block: int = 0,
        ghosts: Any = 0,
        shared: Any = False,
        periodic: Any = None,
        truth: str = "equal",
    ) -> Layout:
        """Cuts axes by the dimensions of a mesh of ranks. Collective; all arguments must be equal.

        Parameters
        ----------
        comm : Comm
            The first ranks are on the mesh in row-major order; those beyond it have no block.
        cells : sequence of int
            Cells of the whole array along each axis.
        mesh : sequence of int, optional
            Ranks along each dimension; None: the grid of a Cart, otherwise all ranks in one dimension.
        axes : sequence of int or None, optional
            The axis that each dimension of the mesh cuts; None for a dimension whose ranks have equal copies. Default:
            0, 1, ... If several cut one axis, the parts of the first one are cut further by the next.
        lengths : sequence of sequences of int, optional
            Cells of each part, for each cut axis in ascending order.
        weighted : bool
            Lengths are weights, integers from 0: axes are cut in proportion to them.
        ceil : bool
            Parts of ceil(cells / parts), as PyTorch's DTensor; otherwise the first parts have one cell more.
        block : int
            Deal cells out in blocks of this length; 0: each part has consecutive cells.
        ghosts : int, or sequence of int or pairs
            Ghosts at both ends of all axes, or of each axis: a number or (low, high).
        shared : bool or sequence of bool
            For all axes, or for each: whether arrays hold the borders of cells.
        periodic : bool or sequence of bool, optional
            Likewise: whether the axis is periodic. None: as the dimension of a Cart that cuts it, if mesh is None.
        truth : {"equal", "lower", "upper"}
            Which copy of a shared point is right.

        Returns
        -------
        Layout
            The layout, of cells or of their borders.
        """
        check_kind(comm, Comm, "comm", "a syncyte.Comm")

        def prepare() -> tuple[Any, ...]:
            extents = integers(ctypes.c_int64, as_numbers(cells, "cells", "extents"), "cells")
            own, of_own = (comm.dims, comm.periods) if isinstance(comm, Cart) else ((comm.size,), (False,))
            ranks = own if mesh is None else as_numbers(mesh, "mesh", "numbers of ranks")
            cut = _cut_axes(axes, len(ranks), len(extents))
            rings = periodic
            if rings is None:
                found = {axis for axis, is_ring in zip(cut, of_own, strict=False) if is_ring and mesh is None}
                rings = [axis in found for axis in range(len(extents))]
            parts = None if lengths is None else _joined_lengths(lengths)
            division = {"ceil": int(bool(ceil)), "block": block, "weighted": int(bool(weighted))}
            options = _options(len(extents), ghosts, shared, rings, truth, **division)
            flat = None if parts is None else integers(ctypes.c_int64, parts, "lengths")
            on = integers(ctypes.c_int32, ranks, "mesh"), integers(ctypes.c_int32, cut, "axes")
            return len(extents), extents, len(ranks), on[0], len(parts or ()), flat, len(cut), on[1], options

        arguments = comm._prepare("layout_create_mesh", prepare, always=True)
        return cls._of(comm, _library.core().output("syncyte_layout_create_mesh", comm.handle, *arguments))

    @classmethod
    def blocks(
        cls,
        comm: Comm,
        cells: Sequence[int],
        boxes: Sequence[tuple[Sequence[int], Sequence[int]]],
        *,
        ghosts: Any = 0,
        shared: Any = False,
        periodic: Any = False,
        truth: str = "equal",
    ) -> Layout:
        """Takes the blocks that the ranks have chosen; together they hold each cell once. Collective.

        Parameters
        ----------
        comm : Comm
            The communicator.
        cells : sequence of int
            Cells of the whole array along each axis; equal on all ranks, as are the arguments below.
        boxes : sequence of (first, count)
            This rank's blocks, which may be none: for each axis the first cell, and the number of cells. Equal blocks
            of several ranks are copies.
        ghosts : int, or sequence of int or pairs
            Ghosts at both ends of all axes, or of each axis: a number or (low, high).
        shared, periodic : bool or sequence of bool
            For all axes, or for each: whether arrays hold the borders of cells; whether the axis is periodic.
        truth : {"equal", "lower", "upper"}
            Which copy of a shared point is right.

        Returns
        -------
        Layout
            The layout, of cells or of their borders.
        """
        check_kind(comm, Comm, "comm", "a syncyte.Comm")

        def prepare() -> tuple[Any, ...]:
            extents = integers(ctypes.c_int64, as_numbers(cells, "cells", "extents"), "cells")
            sides = _joined_boxes(boxes, len(extents))
            firsts, counts = (integers(ctypes.c_int64, side or [0], "boxes") for side in sides)
            options = _options(len(extents), ghosts, shared, periodic, truth)
            return len(extents), extents, len(sides[0]), firsts, len(sides[1]), counts, options

        arguments = comm._prepare("layout_create_blocks", prepare, always=True)
        return cls._of(comm, _library.core().output("syncyte_layout_create_blocks", comm.handle, *arguments))

    @classmethod
    def indices(cls, comm: Comm, extents: Any, points: Any, *, ghosts: Any = 0, truth: str = "equal") -> Layout:
        """Takes the lists of the points that the ranks' arrays have along axis 0: an unstructured mesh. Collective.

        A point may be in several lists. Every rank keeps all lists, as runs of consecutive points.

        Parameters
        ----------
        comm : Comm
            The communicator.
        extents : int or sequence of int
            The number of all points, and extents of further axes, which are whole on each rank. Equal on all ranks.
        points : integers, sequence of these, or None
            The points of this rank's array, in its order: a list or array of integers from 0. A list or tuple of such
            lists for several arrays; None for no array.
        ghosts : int or sequence of int
            How many points at the end of the array, or of each of several, are ghosts, which a bundle fills.
        truth : {"equal", "lower", "upper"}
            Which copy of a point is right: all, the lowest rank's, the highest rank's. Equal on all ranks.

        Returns
        -------
        Layout
            The layout.
        """
        check_kind(comm, Comm, "comm", "a syncyte.Comm")

        def prepare() -> tuple[Any, ...]:
            numbers = [extents] if hasattr(extents, "__index__") else extents
            whole = integers(ctypes.c_int64, as_numbers(numbers, "extents", "extents"), "extents")
            lists = _lists(points)
            counts = integers(ctypes.c_int64, [each.size for each in lists], "points")
            of_each = "an integer, or one for each array"
            widths = [ghosts] * len(lists) if hasattr(ghosts, "__index__") else as_numbers(ghosts, "ghosts", of_each)
            joined = np.concatenate([np.empty(0, np.int64), *lists])
            of_arrays = len(counts), counts, len(widths), integers(ctypes.c_int64, widths, "ghosts")
            return len(whole), whole, *of_arrays, joined.size, pointer(joined), _truth(truth)

        arguments = comm._prepare("layout_create_indices", prepare, always=True)
        return cls._of(comm, _library.core().output("syncyte_layout_create_indices", comm.handle, *arguments))

    def like(self, *, ghosts: Any = 0, shared: Any = False, periodic: Any = False, truth: str = "equal") -> Layout:
        """Returns a layout of the same cells and blocks for arrays of other points; periodic axes stay so. Collective.

        Parameters
        ----------
        ghosts : int, or sequence of int or pairs
            Ghosts at both ends of all axes, or of each axis: a number or (low, high).
        shared, periodic : bool or sequence of bool
            For all axes, or for each: whether arrays hold the borders of cells; whether the axis is periodic.
        truth : {"equal", "lower", "upper"}
            Which copy of a shared point is right.

        Returns
        -------
        Layout
            The new layout.
        """
        options = self._comm._prepare(
            "layout_like", lambda: _options(self.ndim, ghosts, shared, periodic, truth), always=True
        )
        return self._of(self._comm, _library.core().output("syncyte_layout_like", self.handle, options))

    @property
    def comm(self) -> Comm:
        """The communicator."""
        return self._comm

    def _info(self, rank: int = 0, block: int = 0) -> Any:
        info = _library.new_struct(c.LayoutInfo)
        _library.core().syncyte_layout_describe(self.handle, rank, block, ctypes.byref(info))
        return info

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return int(self._info().ndim)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the whole array, without ghosts."""
        info = self._info()
        return tuple(info.extents[: info.ndim])

    def blocks_of(self, rank: int) -> list[Block]:
        """Returns the blocks of a rank. Local.

        Parameters
        ----------
        rank : int
            A rank of the communicator.

        Returns
        -------
        list of Block
            For each block its first point, and the shape of its array with ghosts.
        """
        ndim, count = self.ndim, self._info(rank).blocks
        infos = [self._info(rank, block) for block in range(count)]
        return [Block(tuple(info.first[:ndim]), tuple(info.shape[:ndim])) for info in infos]

    def pieces(self, first: Sequence[int], shape: Sequence[int] | None = None) -> list[Piece]:
        """Finds who has the points of a box, or one point. Local.

        The pieces hold each point once, at the block with the right copy. The time grows with the blocks that the box
        meets.

        Parameters
        ----------
        first : sequence of int
            The box's first point.
        shape : sequence of int, optional
            Points of the box along each axis; None: 1, the point itself.

        Returns
        -------
        list of Piece
            The pieces, block by block.

        Raises
        ------
        OutOfRangeError, ShapeError
            The box is not in the array; another number of axes.
        """
        lower = as_numbers(first, "first")
        extent = [1] * len(lower) if shape is None else as_numbers(shape, "shape")
        box = (len(lower), integers(ctypes.c_int64, lower, "first"),
               len(extent), integers(ctypes.c_int64, extent, "shape"))  # fmt: skip
        core = _library.core()
        count = core.output("syncyte_layout_pieces", self.handle, *box, 0, None)
        found = (c.LayoutPiece * count)()
        core.output("syncyte_layout_pieces", self.handle, *box, count, found)
        n = len(lower)
        return [
            Piece(each.rank, each.block, tuple(each.first[:n]), tuple(each.count[:n]), tuple(each.index[:n]))
            for each in found
        ]

    def _count_pieces(self) -> int:
        """Number of pieces of the whole array."""
        whole = integers(ctypes.c_int64, self.shape, "shape")
        first = (ctypes.c_int64 * len(whole))()
        box = len(whole), first, len(whole), whole
        return int(_library.core().output("syncyte_layout_pieces", self.handle, *box, 0, None))

    def name_axes(self, *names: str, units: Sequence[str] | None = None) -> Layout:
        """Names the axes, for people. Local; once.

        describe() has the names, and the datasets of the layout's fields in a checkpoint; so have layouts that like()
        makes afterwards.

        Parameters
        ----------
        names : str
            A name for each axis, without commas.
        units : sequence of str, optional
            The unit of the coordinates along each axis.

        Returns
        -------
        Layout
            This layout.

        Raises
        ------
        ArgumentError
            Another number of names or units than axes; the axes have names already.
        """
        for name in (*names, *(units or ())):
            if not isinstance(name, str) or "," in name or "\0" in name:
                raise wrong(ArgumentError, "a name or unit", repr(name), "a str without commas and zeros")
        texts = [", ".join(each).encode() for each in (names, units or ())]
        _library.core().syncyte_layout_name_axes(self.handle, *texts)
        return self

    def _axis_texts(self) -> list[tuple[str, ...]]:
        texts = [each.decode() for each in _library.core().output("syncyte_layout_axis_names", self.handle)]
        return [tuple(each.split(", ")) if each else () for each in texts]

    @property
    def axis_names(self) -> tuple[str, ...]:
        """Names of the axes; () if they have none."""
        return self._axis_texts()[0]

    @property
    def axis_units(self) -> tuple[str, ...]:
        """Units of the coordinates along the axes; () if they have none."""
        return self._axis_texts()[1]

    def describe(self) -> str:
        """Returns a line for each block: its rank, its first point and the shape of its array. Local."""
        return _library.core().output("syncyte_layout_text", self.handle).decode()

    def __repr__(self) -> str:
        return f"<syncyte.Layout{', freed' if self._is_freed else f' of arrays of shape {self.shape}'}>"

    def _buffers(self, arrays: Any, name: str, writable: bool) -> list[Buffer]:
        return block_buffers(arrays, self._info(self._comm.rank).blocks, name, writable)

    def relocate(
        self,
        arrays: Any,
        to: Layout,
        out: Any = None,
        *,
        first: Any = None,
        dtype: Any = None,
        buffer_bytes: int = BUFFER_BYTES,
    ) -> Any:
        """Moves an array from this layout to another one of the same shape and communicator. Collective.

        Each point gets the value of the right copy. Ghosts are neither read nor written. The array is whole nowhere,
        unless `to` says so: a layout with one block collects it.

        Parameters
        ----------
        arrays : array, sequence of arrays, or None
            This rank's array, one for each of its blocks, or None if it has no block; ghosts included, any strides.
        to : Layout
            The layout to move to.
        out : array or sequence of arrays, optional
            The arrays of this rank's blocks in `to`; default: new ones, whose ghosts are undefined.
        first : sequence of int, optional
            If one array is a box of the other one: its first point there. Only the box is moved, and what `to` has
            beside it stays as it is, or undefined in new arrays. Equal on all ranks.
        dtype : element type, optional
            Needed on a rank without a block in either layout; must be equal on all ranks.
        buffer_bytes : int
            Memory for messages on each rank; equal on all ranks.

        Returns
        -------
        array, list of arrays, or None
            The array of this rank's block in `to`; a list if it has several; None if it has none.
        """
        return self._relocate(arrays, to, out, first, dtype, buffer_bytes, is_adjoint=False)

    def slabs(
        self, arrays: Any, *, root: int = 0, nbytes: int = 16 << 20, dtype: Any = None
    ) -> Iterator[tuple[tuple[int, ...], Any]]:
        """Collects an array of this layout on one rank, slab by slab in row-major order. Collective at each step.

        Parameters
        ----------
        arrays : array, sequence of arrays, or None
            As of relocate(); they must stay as they are until the end of the loop.
        root : int
            The rank that gets the slabs.
        nbytes : int
            Most bytes of a slab, which has one element at least; equal on all ranks.
        dtype : element type, optional
            As of relocate().

        Yields
        ------
        tuple of (tuple of int, array)
            The slab's first point in the whole array, and the slab; None on ranks other than root.
        """

        def prepare() -> tuple[Any, int, int]:
            sources = self._buffers(arrays, "arrays", False)
            if not sources and dtype is None:
                raise wrong(ArgumentError, "dtype", None, "an element type, because this rank has no array")
            element = sources[0].dtype if dtype is None else dtypes.as_dtype(dtype)
            rank = as_int64(root, "root")
            if not 0 <= rank < self._comm.size:
                raise wrong(ArgumentError, "root", rank, f"0 to {self._comm.size - 1}")
            most = as_int64(nbytes, "nbytes")
            if most < 1:
                raise wrong(ArgumentError, "nbytes", most, "1 or more")
            return element, rank, most

        element, rank, most = self._comm._prepare("layout_relocate", prepare)
        self._comm.agree(None, "layout_relocate", root=rank, nbytes=most)
        yield from self._slabs(arrays, element, rank, most // dtypes.itemsize(element))

    def _slabs(self, arrays: Any, element: Any, root: int, most: int) -> Iterator[tuple[tuple[int, ...], Any]]:
        shape, is_root = self.shape, self._comm.rank == root
        axis = next((axis for axis in range(self.ndim) if math.prod(shape[axis + 1 :]) <= most), self.ndim - 1)
        length = max(most // max(math.prod(shape[axis + 1 :]), 1), 1)
        for outer in itertools.product(*map(range, shape[:axis])):
            for begin in range(0, shape[axis] if math.prod(shape) else 0, length):
                first = (*outer, begin, *(0,) * (self.ndim - axis - 1))
                extents = (*(1,) * axis, min(length, shape[axis] - begin), *shape[axis + 1 :])
                slab = Layout.blocks(self._comm, extents, [((0,) * self.ndim, extents)] if is_root else [])
                yield first, self.relocate(arrays, slab, first=first, dtype=element)
                slab.free()

    def relocate_adjoint(
        self,
        arrays: Any,
        to: Layout,
        out: Any = None,
        *,
        first: Any = None,
        dtype: Any = None,
        buffer_bytes: int = BUFFER_BYTES,
    ) -> Any:
        """Does the adjoint of relocate(): arrays of `to` go back to this layout. Collective.

        Each place becomes the sum of the places that relocate() fills from it, and 0 if there is none, as in ghosts and
        in copies that are not the right ones. Sums are the same from run to run.

        Parameters
        ----------
        arrays : array, sequence of arrays, or None
            This rank's array in `to`, one for each of its blocks, or None if it has no block; ghosts are not read.
        to : Layout
            The layout of the arrays.
        out : array or sequence of arrays, optional
            The arrays of this rank's blocks in this layout; default: new ones.
        first, dtype, buffer_bytes
            As of relocate().

        Returns
        -------
        array, list of arrays, or None
            The array of this rank's block in this layout; a list if it has several; None if it has none.
        """
        return self._relocate(arrays, to, out, first, dtype, buffer_bytes, is_adjoint=True)

    def _relocate(
        self, arrays: Any, to: Layout, out: Any, first: Any, dtype: Any, buffer_bytes: int, *, is_adjoint: bool
    ) -> Any:
        def prepare() -> tuple[Any, ...]:
            check_kind(to, Layout, "to", "a syncyte.Layout")
            read, written = (to, self) if is_adjoint else (self, to)
            sources = read._buffers(arrays, "arrays", False)
            blocks = written.blocks_of(written._comm.rank)
            if out is not None or not blocks:
                targets = written._buffers(out, "out", True)
            else:
                targets = []
                for block in blocks:
                    kind = TORCH if type(dtype).__module__ == "torch" else NUMPY
                    made = (empty_like(sources[0], block.shape) if sources
                            else empty(kind, dtypes.as_dtype(dtype), block.shape))  # fmt: skip
                    targets.append(as_buffer(made, "out", writable=True))
            if not sources and not targets and dtype is None:
                raise wrong(ArgumentError, "dtype", None, "an element type, because this rank has no array")
            element = (sources + targets)[0].dtype if dtype is None else dtypes.as_dtype(dtype)
            return sources, targets, element, relocate_options(self.ndim, first, buffer_bytes)

        operation = f"layout_relocate{'_adjoint' * is_adjoint}"
        sources, targets, element, options = self._comm._prepare(operation, prepare)
        relocate_buffers(self, to, element, sources, targets, options, is_adjoint)
        results = [buffer.array for buffer in targets]
        return None if not results else results[0] if len(results) == 1 else results


def relocate_options(ndim: int, first: Any, buffer_bytes: int) -> Any:
    """C's options of a relocation; `first` is None, or a box's first point in an array of `ndim` axes."""
    options = _library.new_struct(c.RelocateOptions, buffer_bytes=as_int64(buffer_bytes, "buffer_bytes"))
    if first is not None:
        point = as_numbers(first, "first")
        if len(point) != ndim:
            raise wrong(ShapeError, "length of first", len(point), f"{ndim}, one for each axis")
        options.first = integers(ctypes.c_int64, point, "first")
    return options


def relocate_buffers(
    before: Layout,
    after: Layout,
    element: Any,
    read: list[Buffer],
    written: list[Buffer],
    options: Any,
    is_adjoint: bool,
) -> None:
    """Calls syncyte_layout_relocate() or syncyte_layout_relocate_adjoint()."""
    sources, targets = ((len(each), descriptions(each)) for each in (read, written))
    core = _library.core()
    if is_adjoint:
        core.syncyte_layout_relocate_adjoint(
            before.handle, element, targets[0], after.handle, *sources, options, targets[1]
        )
    else:
        core.syncyte_layout_relocate(before.handle, element, *sources, after.handle, targets[0], options, targets[1])
    for buffer in written:
        buffer.mark_written()
