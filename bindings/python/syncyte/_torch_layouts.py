# SPDX-License-Identifier: BSD-3-Clause
"""Differentiable relocation of tensors from one layout to another."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch.autograd import forward_ad

from . import _declarations as c
from . import _dtensors, _library, dtypes
from ._buffers import as_buffer
from ._checks import as_numbers, check_kind, wrong
from ._torch_refusals import check_movable, check_tensor, never_compiled
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError, DtypeError, MismatchError, UnsupportedError
from .layout import BUFFER_BYTES, Layout, relocate_buffers, relocate_options

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import DTensor, Placement

__all__ = ["layout_of", "layout_relocate", "placements_of"]

_OPERATION = "layout_relocate"
_relocations: dict[int, int] = {}  # on each communicator, by its number


def layout_of(tensor: DTensor, comm: Comm = COMM_WORLD) -> Layout:
    """Returns the layout of a DTensor, as also FSDP2 and tensor parallelism make them. Collective.

    A rank's block is ``tensor.to_local()``: ``layout_relocate(layout_of(x), x.to_local(), other)`` moves it to another
    cut, and the way back fills one.

    Parameters
    ----------
    tensor : torch.distributed.tensor.DTensor
        Cut and replicated in any way, of one or more axes, over all ranks of its process group or some of them.
    comm : Comm
        The ranks of torch.distributed's default group, in the same order.

    Returns
    -------
    Layout
        With a block for each rank whose local tensor has elements.

    Raises
    ------
    DtypeError, ArgumentError
        On all ranks: not a DTensor; a communicator of other ranks.
    UnsupportedError
        On all ranks: a partial placement, or a scalar.
    """
    group = comm_or_world(comm)

    def prepare() -> tuple[list[int], list[Any]]:
        if not _dtensors.is_dtensor(tensor):
            raise wrong(DtypeError, "tensor", f"a {type(tensor).__name__}", "a torch.distributed.tensor.DTensor")
        if tensor.dim() == 0:
            raise UnsupportedError("tensor has no axes, and so no layout")
        _dtensors.check(tensor, group.rank, group.size, "tensor")
        box = _dtensors.own_box(tensor)
        return list(tensor.shape), [] if box is None else [box]

    return Layout.blocks(group, *group._prepare("layout_create_blocks", prepare, always=True))


def placements_of(layout: Layout, mesh: DeviceMesh) -> tuple[Placement, ...]:
    """Returns the placements of a DTensor whose local tensors are the blocks of a layout. Local.

    ``DTensor.from_local(block, mesh, placements_of(layout, mesh), shape=layout.shape, stride=...)`` makes it. A layout
    of DTensors is `Layout.mesh` with ``ceil=True``, without ghosts.

    Parameters
    ----------
    layout : Layout
        Over as many ranks as torch.distributed has, in the same order.
    mesh : torch.distributed.device_mesh.DeviceMesh
        The mesh of the DTensor.

    Returns
    -------
    tuple of torch.distributed.tensor.Placement
        One for each dimension of the mesh.

    Raises
    ------
    DtypeError, UnsupportedError
        Not a DeviceMesh; blocks that no placements give.
    """
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import Replicate, Shard

    check_kind(layout, Layout, "layout", "a syncyte.Layout")
    check_kind(mesh, DeviceMesh, "mesh", "a torch.distributed.device_mesh.DeviceMesh")
    if layout._info().listed:
        raise UnsupportedError(f"{layout!r} is of listed points, which no placements give")
    blocks = {rank: layout.blocks_of(rank) for rank in range(layout.comm.size)}
    whole, ranks = layout.shape, mesh.mesh
    for axes in itertools.product((*range(len(whole)), None), repeat=ranks.dim()):
        if all(_dtensors.is_block(blocks[rank], whole, ranks, axes, rank) for rank in blocks):
            return tuple(Replicate() if axis is None else Shard(axis) for axis in axes)
    raise UnsupportedError(f"no placements on a mesh of shape {tuple(ranks.shape)} give the blocks of {layout!r}")


class _Relocation(NamedTuple):
    """A relocation or its adjoint."""

    before: Layout
    after: Layout
    element: c.DType
    first: tuple[int, ...] | None  #: of a box
    buffer_bytes: int
    forward: int  #: the number of the relocation, or of the one whose gradients are moved
    is_adjoint: bool = False

    @property
    def has_gradient(self) -> bool:
        element = dtypes.torch_dtype(self.element)
        return bool(element.is_floating_point or element.is_complex)

    def blocks(self) -> list[Any]:
        """The blocks of this rank that it writes."""
        written = self.before if self.is_adjoint else self.after
        return written.blocks_of(written.comm.rank)

    def run(self, tensors: Sequence[torch.Tensor], device: torch.device) -> list[torch.Tensor]:
        host = [each.detach().resolve_conj().resolve_neg().to("cpu") for each in tensors]
        written = [
            torch.zeros(block.shape, dtype=dtypes.torch_dtype(self.element), device="cpu") for block in self.blocks()
        ]
        facts = (c.Fact * 1)(_library.new_struct(c.Fact, name=b"number of the forward", value=self.forward))
        collective = _library.new_struct(c.CollectiveOptions, fact_count=1)
        collective.facts = facts
        options = relocate_options(self.before.ndim, self.first, self.buffer_bytes)
        options.collective = ctypes.pointer(collective)
        sources = [as_buffer(each, "tensors", writable=False, contiguous=False) for each in host]
        targets = [as_buffer(each, "results", writable=True) for each in written]
        relocate_buffers(self.before, self.after, self.element, sources, targets, options, self.is_adjoint)
        return [each.to(device) for each in written]

    def nothing(self, device: torch.device) -> torch.Tensor:
        """What a rank without a block gets: it runs backward() too."""
        return torch.zeros((0,) * self.after.ndim, dtype=dtypes.torch_dtype(self.element), device=device)


class _Moved(torch.autograd.Function):
    """A relocation, whose derivatives are itself and its adjoint.

    `anchor`, an empty tensor, requires a gradient if gradients are recorded: a rank's own tensors may not require one,
    or it may have none.
    """

    @staticmethod
    def forward(
        relocation: _Relocation, device: torch.device, anchor: torch.Tensor, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        return tuple(relocation.run(tensors, device)) or (relocation.nothing(device),)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        ctx.relocation, ctx.device = inputs[:2]
        ctx.devices = [each.device for each in inputs[3:]]
        if not ctx.relocation.has_gradient:
            ctx.mark_non_differentiable(*output)
        ctx.save_for_forward(*inputs[3:])

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        relocation = ctx.relocation
        given = gradients if relocation.blocks() else ()
        adjoint = relocation._replace(is_adjoint=not relocation.is_adjoint)
        moved = _moved(adjoint, given, ctx.devices[0] if ctx.devices else ctx.device, backward=True)
        return None, None, None, *(each.to(at) for each, at in zip(moved, ctx.devices, strict=False))

    @staticmethod
    def vmap(*_: Any) -> None:
        raise UnsupportedError(f"torch.vmap does not take {_OPERATION}: call it once for each element")

    @staticmethod
    def jvp(ctx: Any, _relocation: None, _device: None, _anchor: None, *tangents: torch.Tensor | None) -> Any:
        given = [
            torch.zeros_like(at) if tangent is None else tangent
            for tangent, at in zip(tangents, ctx.saved_tensors, strict=True)
        ]
        return tuple(_moved(ctx.relocation, given, ctx.device))


def _moved(
    relocation: _Relocation,
    tensors: Sequence[torch.Tensor],
    device: torch.device,
    mixed_grad: bool = False,
    backward: bool = False,
) -> list[torch.Tensor]:
    is_recorded = _agree(relocation, tensors, mixed_grad, backward)
    if relocation.forward == 0:
        relocation = relocation._replace(forward=_next_number(relocation.before.comm))
    return list(_Moved.apply(relocation, device, torch.empty(0, requires_grad=is_recorded, device="cpu"), *tensors))


def _agree(relocation: _Relocation, tensors: Sequence[torch.Tensor], mixed_grad: bool, backward: bool) -> bool:
    """Whether gradients are recorded, equal on all ranks. A rank without a tensor does as the others."""
    comm = relocation.before.comm
    comm.agree(operation=_OPERATION + "_adjoint" * relocation.is_adjoint, mixed_grad=int(mixed_grad))
    may_record = torch.is_grad_enabled() and relocation.has_gradient
    wants = mixed_grad or any(each.requires_grad for each in tensors)
    has_vote = bool(tensors) or mixed_grad or not may_record
    own = int(may_record and wants) if has_vote else -1
    has_tangents = int(any(forward_ad.unpack_dual(each).tangent is not None for each in tensors))
    all_ranks = comm.allgather(np.array([[own, has_tangents, len(tensors)]], dtype=np.int64))
    records, tangents, counts = all_ranks.T
    is_recorded = bool((records == 1).any())
    if is_recorded and (records == 0).any() and not backward:
        _differ("needs-gradient", records, "expected the same on all ranks, or mixed_grad=True on all of them")
    lacks = int((counts == 0).argmax()) if (counts == 0).any() else None
    if lacks is not None and (tangents.any() or (is_recorded and backward)):
        what = "forward mode needs" if tangents.any() else "second derivatives need"
        raise UnsupportedError(f"{_OPERATION}: {what} a tensor on each rank; rank {lacks} has none")
    if tangents.min() != tangents.max():
        _differ("has-tangent", tangents, "expected the same on all ranks: a tangent of zeros where there is none")
    return is_recorded


def _next_number(comm: Comm) -> int:
    """Equal on all ranks, which have agreed on each relocation before."""
    of_comm = comm._identity()
    _relocations[of_comm] = _relocations.get(of_comm, 0) + 1
    return _relocations[of_comm]


def _differ(what: str, values: Any, expected: str) -> None:
    yes, no = int((values == 1).argmax()), int((values == 0).argmax())
    raise MismatchError(f"{_OPERATION}: {what} is 1 on rank {yes} and 0 on rank {no}; {expected}")


@never_compiled("relocation has no operator of torch")
def layout_relocate(
    before: Layout,
    tensors: Any,
    after: Layout,
    *,
    first: Sequence[int] | None = None,
    dtype: torch.dtype | None = None,
    buffer_bytes: int = BUFFER_BYTES,
    mixed_grad: bool = False,
) -> torch.Tensor | list[torch.Tensor]:
    """Returns new tensors with the elements of `tensors`, moved from one layout to another. Collective.

    As :meth:`syncyte.Layout.relocate`; what the results have beside the points that are moved, as ghosts, is 0.
    Differentiable, any number of times, backward, and forward if each rank has a tensor: the adjoint is
    :meth:`syncyte.Layout.relocate_adjoint`, which adds up the gradients of all copies of a point at the place that was
    read. All ranks run backward(), also those without a block. Gradients are recorded on all ranks with a tensor or on
    none; ranks without one record them if the others do. In torch.compile it breaks the graph.

    Parameters
    ----------
    before : Layout
        The layout of the tensors.
    tensors : torch.Tensor, sequence of torch.Tensor, or None
        This rank's tensor, one for each of its blocks, or None or an empty tensor if it has no block; ghosts included,
        on any device.
    after : Layout
        The layout to move to, of the same communicator, and of the same shape without `first`.
    first : sequence of int, optional
        If one array is a box of the other one: its first point there.
    dtype : torch.dtype, optional
        Needed on a rank without a tensor; equal on all ranks.
    buffer_bytes : int
        Memory for messages on each rank; equal on all ranks.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    torch.Tensor or list of torch.Tensor
        The tensor of this rank's block in `after`, on the device of the first tensor; a list if it has several blocks.
        A rank without a block gets an empty tensor, of which it runs backward().

    Raises
    ------
    MismatchError
        On all ranks: ranks differ in an argument, or in recording gradients.
    ArgumentError, ShapeError, DtypeError
        On all ranks: other tensors than `before` has.
    UnsupportedError
        On all ranks: a sparse, quantised, nested or meta tensor; within torch.vmap, make_fx or torch.export; second
        derivatives and forward mode where a rank has no block.
    """
    check_kind(before, Layout, "before", "a syncyte.Layout")

    def prepare() -> tuple[_Relocation, list[torch.Tensor]]:
        check_kind(after, Layout, "after", "a syncyte.Layout")
        given = list(tensors) if isinstance(tensors, (list, tuple)) else [] if tensors is None else [tensors]
        wanted = len(before.blocks_of(before.comm.rank))
        if wanted == 0 and all(isinstance(each, torch.Tensor) and each.numel() == 0 for each in given):
            given = []
        if len(given) != wanted:
            expected = f"{wanted}, one for each block of this rank"
            raise wrong(ArgumentError, "tensors", f"{len(given)} tensors", expected)
        for tensor in given:
            check_tensor(tensor, "tensors")
            check_movable(tensor, "tensors", _OPERATION)
        if not given and dtype is None:
            raise wrong(ArgumentError, "dtype", None, "an element type, because this rank has no tensor")
        element = dtypes.as_dtype(given[0].dtype if dtype is None else dtype)
        point = None if first is None else tuple(as_numbers(first, "first"))
        relocate_options(before.ndim, point, buffer_bytes)  # which may refuse them
        return _Relocation(before._retained(), after._retained(), element, point, buffer_bytes, 0), given

    relocation, given = before.comm._prepare(_OPERATION, prepare)
    device = given[0].device if given else torch.device("cpu")
    results = _moved(relocation, given, device, mixed_grad)
    return results if len(results) > 1 else results[0]
