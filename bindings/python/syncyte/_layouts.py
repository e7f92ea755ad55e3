"""Which parameters and buffers of a model are parts of larger tensors.

Known by their layers, not by the tensors: an attribute of a tensor is gone in its copies, views and detached aliases.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

from ._along import even_counts
from ._checks import as_index, as_numbers, wrong
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError, DtypeError, ShapeError

_LAYOUTS = "_syncyte_layouts"  # a module's attribute: from names of its parameters and buffers to their layouts


class Layout(NamedTuple):
    """Every rank of a communicator has a part of a tensor along one of its dimensions."""

    comm: Comm
    dim: int  #: counted from 0
    counts: tuple[int, ...]  #: of the ranks' parts along dim, in order of ranks

    @property
    def length(self) -> int:
        """Of this rank's part."""
        return self.counts[self.comm.rank]

    @property
    def first(self) -> int:
        """Where this rank's part begins."""
        return sum(self.counts[: self.comm.rank])

    def with_extent(self, shape: Sequence[int], extent: int) -> tuple[int, ...]:
        return (*shape[: self.dim], extent, *shape[self.dim + 1 :])

    def whole_shape(self, part: torch.Tensor) -> tuple[int, ...]:
        return self.with_extent(part.shape, sum(self.counts))

    def part_of(self, whole: torch.Tensor) -> torch.Tensor:
        """This rank's part, in memory of its own."""
        return whole.detach().narrow(self.dim, self.first, self.length).clone(memory_format=torch.contiguous_format)


def as_layer_dim(dim: object) -> int | None:
    """A layer's dim with -1 as 1: of the matrix (inputs, outputs)."""
    if dim is None:
        return None
    number = as_index(dim, "dim")
    if number not in (-1, 0, 1):
        raise wrong(ArgumentError, "dim", number, "0 (rows), 1 or -1 (columns), or None")
    return abs(number)


def counts_of(extent: int, comm: Comm, uneven: bool, name: str) -> tuple[int, ...]:
    """Equal counts of all ranks' parts, or with `uneven` counts that differ by one at most, the first ones longer."""
    if extent % comm.size != 0 and not uneven:
        expected = f"a multiple of the number of ranks, {comm.size}, or uneven=True"
        raise wrong(ShapeError, name, extent, expected)
    return tuple(even_counts(extent, comm.size))


def compare_checksums(operation: str, comm: Comm, tensors: Mapping[str, torch.Tensor]) -> None:
    """Raises MismatchError on all ranks where tensors that must be the same on all of them are not. Collective."""
    names, most = list(tensors), 32  # facts of one agreement
    for first in range(0, len(names), most):
        facts = {f"checksum of {name}": _checksum(tensors[name]) for name in names[first : first + most]}
        comm.agree(None, operation, **facts)


def _checksum(tensor: torch.Tensor) -> int:
    flat = tensor.detach().cpu().resolve_conj().contiguous().reshape(-1)
    return zlib.crc32(flat.view(torch.uint8).numpy().data) if flat.numel() else 0


def set_layout(module: torch.nn.Module, name: str, layout: Layout | None) -> None:
    if layout is not None:
        module.__dict__.setdefault(_LAYOUTS, {})[name] = layout


def mark_sharded(
    module: torch.nn.Module,
    name: str,
    dim: int,
    comm: Comm = COMM_WORLD,
    *,
    counts: Sequence[int] | None = None,
) -> None:
    """Says that a parameter or buffer of a layer of one's own is this rank's part of a larger tensor. Local.

    collect_state_dict() and relocate_state_dict() then know it; all ranks say the same. Copies of the module know it
    too.

    Parameters
    ----------
    module : torch.nn.Module
        The layer that has it.
    name : str
        Of the parameter or buffer, in that layer.
    dim : int
        Along which it is cut.
    comm : Comm
        Its ranks have a part each.
    counts : sequence of int, optional
        Of the parts along dim, one for each rank; None: all are as long as this rank's.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError
        On this rank: no such parameter or buffer; a dim that it does not have; counts that do not fit.
    """
    group = comm_or_world(comm)
    if not isinstance(module, torch.nn.Module):
        raise wrong(DtypeError, "module", f"a {type(module).__name__}", "a torch.nn.Module")
    tensor = {**module._parameters, **module._buffers}.get(name)
    if tensor is None:
        raise wrong(ArgumentError, "name", repr(name), f"a parameter or buffer of the {type(module).__name__}")
    number = as_index(dim, "dim")
    if not -tensor.dim() <= number < tensor.dim():
        raise wrong(ArgumentError, "dim", number, f"{-tensor.dim()} to {tensor.dim() - 1}")
    number %= tensor.dim()
    known = [tensor.size(number)] * group.size if counts is None else as_numbers(counts, "counts")
    if len(known) != group.size:
        raise wrong(ShapeError, "counts", known, f"{group.size} numbers, one for each rank")
    if known[group.rank] != tensor.size(number):
        expected = f"{tensor.size(number)}, as {name} has along dimension {number}"
        raise wrong(ShapeError, "counts", known[group.rank], expected, axis=group.rank)
    set_layout(module, name, Layout(group, number, tuple(known)))


def marks_of(model: torch.nn.Module) -> list[Layout]:
    """All layouts that a model's layers know, in order."""
    return [layout for module in model.modules() for layout in module.__dict__.get(_LAYOUTS, {}).values()]


def layouts_of(model: torch.nn.Module) -> dict[int, Layout]:
    """The layouts of a model's parameters and buffers, by the tensors' identity.

    A tied parameter is known by all its names. Raises ArgumentError where two layers give it different ones, or where
    it is none any longer.
    """
    found: dict[int, tuple[Layout, str]] = {}
    for prefix, module in model.named_modules():
        for name, layout in module.__dict__.get(_LAYOUTS, {}).items():
            tensor = getattr(module, name, None)
            if tensor is None:
                continue
            called = f"{prefix}.{name}" if prefix else name
            if name not in module._parameters and name not in module._buffers:
                given = "computed from other parameters (torch.nn.utils.parametrize)"
                raise wrong(ArgumentError, called, given, "a parameter or buffer, of which each rank has a part")
            known, first = found.setdefault(id(tensor), (layout, called))
            if known != layout:
                expected = f"dim {known.dim}, counts {list(known.counts)}, as it has as {first}"
                given = f"cut along dim {layout.dim} into counts {list(layout.counts)}"
                raise wrong(ArgumentError, called, given, expected)
    return {tensor: layout for tensor, (layout, _) in found.items()}
