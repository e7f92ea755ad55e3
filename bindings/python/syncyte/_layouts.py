# SPDX-License-Identifier: BSD-3-Clause
"""Layouts: how the parameters and buffers of a model are partitioned among ranks.

Modules hold the layouts, not tensors: copies, views and detached aliases of a tensor lose its attributes.
"""

from __future__ import annotations

import gc
import warnings
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

from . import _parts
from ._along import even_counts
from ._checks import as_index, as_numbers, at_least, check_kind, wrong
from ._parts import RANGES, Part
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError, ShapeError

_modules: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()  # with layouts
_optimizers: weakref.WeakSet[torch.optim.Optimizer] = weakref.WeakSet()  # that have made a step, or were found
_warned_in: list[str] | None = None  # the error messages of the load_state_dict() in which check_range() has warned
_LAYOUTS = "_syncyte_layouts"  # a module's attribute: maps names of its parameters and buffers to layouts


class Layout(NamedTuple):
    """The partition of a tensor along one dimension among the ranks of a communicator."""

    comm: Comm
    dim: int  #: the dimension, counted from 0
    counts: tuple[int, ...]  #: counts of the parts along dim, in rank order

    @property
    def length(self) -> int:
        """Length of this rank's part."""
        return self.counts[self.comm.rank]

    @property
    def first(self) -> int:
        """First index of this rank's part."""
        return sum(self.counts[: self.comm.rank])

    def with_extent(self, shape: Sequence[int], extent: int) -> tuple[int, ...]:
        return (*shape[: self.dim], extent, *shape[self.dim + 1 :])

    def whole_shape(self, part: torch.Tensor) -> tuple[int, ...]:
        return self.with_extent(part.shape, sum(self.counts))

    def part(self, shape: Sequence[int]) -> Part:
        """Describes this rank's part, of a shape."""
        end, whole = self.first + self.length, self.with_extent(shape, sum(self.counts))
        return Part(self.dim, self.first, end, whole, self.comm.rank, self.comm.size)

    def part_of(self, whole: torch.Tensor) -> torch.Tensor:
        """Returns a copy of this rank's part."""
        return whole.detach().narrow(self.dim, self.first, self.length).clone(memory_format=torch.contiguous_format)


def as_layer_dim(dim: object) -> int | None:
    """Checks a layer's dim, a dimension of the matrix (inputs, outputs), and replaces -1 by 1."""
    if dim is None:
        return None
    number = as_index(dim, "dim")
    if number not in (-1, 0, 1):
        raise wrong(ArgumentError, "dim", number, "0 (rows), 1 or -1 (columns), or None")
    return abs(number)


def check_padding(padding_idx: object, rows: int) -> None:
    """Raises ArgumentError unless padding_idx is a row of a table, or None."""
    if padding_idx is not None and not -rows <= as_index(padding_idx, "padding_idx") < rows:
        raise wrong(ArgumentError, "padding_idx", padding_idx, f"{-rows} to {rows - 1}")


def table_extents(num_embeddings: object, embedding_dim: object, padding_idx: object) -> tuple[int, int]:
    """Checks the extents of an embedding's table, and its padding_idx."""
    rows = at_least(0, as_index(num_embeddings, "num_embeddings"), "num_embeddings")
    columns = at_least(0, as_index(embedding_dim, "embedding_dim"), "embedding_dim")
    check_padding(padding_idx, rows)
    return rows, columns


def counts_of(extent: int, comm: Comm, uneven: bool, name: str) -> tuple[int, ...]:
    """Returns equal counts of parts, or with `uneven` counts that differ by at most one, the first ones longer."""
    if extent % comm.size != 0 and not uneven:
        expected = f"a multiple of the number of ranks, {comm.size}, or uneven=True"
        raise wrong(ShapeError, name, extent, expected)
    return tuple(even_counts(extent, comm.size))


def part_lengths(counts: Sequence[int] | None, own: int, comm: Comm) -> list[int]:
    """Returns the lengths of the ranks' parts; without counts all are as long as this rank's."""
    if counts is None:
        return [own] * comm.size
    numbers = as_numbers(counts, "counts")
    if len(numbers) != comm.size:
        raise wrong(ShapeError, "counts", numbers, f"{comm.size} numbers, one for each rank")
    return numbers


def compare_checksums(operation: str, comm: Comm, tensors: Mapping[str, torch.Tensor]) -> None:
    """Raises MismatchError on all ranks if tensors that must be equal on all ranks differ. Collective."""
    names, most = list(tensors), 32  # most facts of an agreement
    for first in range(0, len(names), most):
        facts = {f"checksum of {name}": _checksum(tensors[name]) for name in names[first : first + most]}
        comm.agree(None, operation, **facts)


def _checksum(tensor: torch.Tensor) -> int:
    flat = tensor.detach().cpu().resolve_conj().contiguous().reshape(-1)
    return zlib.crc32(flat.view(torch.uint8).numpy().data) if flat.numel() else 0


def set_layout(module: torch.nn.Module, name: str, layout: Layout | None) -> None:
    if layout is None:
        return
    if _LAYOUTS not in module.__dict__:
        module.__dict__[_LAYOUTS] = {}
        module.register_state_dict_post_hook(_write_ranges)
        module.register_load_state_dict_pre_hook(_check_ranges)
    module.__dict__[_LAYOUTS][name] = layout
    _modules.add(module)


# Ranges of parts in state dictionaries. A range stands in the metadata of a module, state_dict()._metadata, which
# torch.save() keeps.


def write_range(metadata: dict[str, Any], name: str, value: torch.Tensor, part: Part) -> None:
    """Writes a tensor's range into its module's metadata, and remembers the tensor's memory."""
    metadata.setdefault(RANGES, {})[name] = part.to_metadata()
    remember(value, part)


def check_range(
    key: str, name: str, value: object, metadata: Mapping[str, Any], part: Part, error_msgs: list[str]
) -> bool:
    """Returns whether a value to load has the range of this rank's part; if not, adds an error to `error_msgs`.

    Warns of a value that has the part's shape but no range, once for each load_state_dict(), which has one list of
    error messages for all modules.
    """
    if not isinstance(value, torch.Tensor):
        return True
    known = metadata.get(RANGES, {}).get(name)
    if known is not None:
        found = Part.from_metadata(known)
        if not found.has_range_of(part):
            error_msgs.append(f"{key} holds {found}; this rank's part is {part}")
            return False
        return True
    global _warned_in
    if _warned_in is not error_msgs and tuple(value.shape) == part.own_shape != part.shape:
        _warned_in = error_msgs
        warnings.warn(
            f"{key} has the shape of this rank's part, {part}, but the state does not say which part it holds; it is "
            "taken for this one. Load what state_dict() or syncyte.nn.relocate_state_dict() has returned, with its "
            "_metadata",
            stacklevel=2,
        )
    return True


def _own_layouts(module: torch.nn.Module) -> Iterator[tuple[str, Layout, torch.Tensor]]:
    """Yields a module's own parts that are parameters or buffers."""
    tensors = {**module._parameters, **module._buffers}
    for name, layout in module.__dict__.get(_LAYOUTS, {}).items():
        tensor = tensors.get(name)
        if tensor is not None and tensor.dim() > layout.dim and tensor.size(layout.dim) == layout.length:
            yield name, layout, tensor


def _write_ranges(
    module: torch.nn.Module, state_dict: Mapping[str, Any], prefix: str, metadata: dict[str, Any]
) -> None:
    _modules.add(module)  # set_layout() has not seen a copy
    for name, layout, tensor in _own_layouts(module):
        value = state_dict.get(prefix + name)
        if isinstance(value, torch.Tensor):
            write_range(metadata, name, value, layout.part(tensor.shape))


def _check_ranges(
    module: torch.nn.Module, state_dict: Mapping[str, Any], prefix: str, metadata: Mapping[str, Any], strict: bool,
    missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
) -> None:  # fmt: skip
    for name, layout, tensor in _own_layouts(module):
        key = prefix + name
        check_range(key, name, state_dict.get(key), metadata, layout.part(tensor.shape), error_msgs)


# Memory of parts, by which checkpoints find them in dictionaries without metadata.


def remember(tensor: torch.Tensor, part: Part) -> None:
    """Remembers weakly that a tensor's memory holds a part."""
    if tensor.device.type == "cpu" and tensor.layout == torch.strided:
        _parts.remember(tensor, part)


def _find_all() -> None:
    """Finds modules that are copies, and optimizers that were loaded or have made no step: nothing registers them."""
    for each in gc.get_objects():
        kind = type(each)
        if issubclass(kind, torch.nn.Module) and _LAYOUTS in each.__dict__:
            _modules.add(each)
        elif issubclass(kind, torch.optim.Optimizer):
            _optimizers.add(each)


def _remember_all(is_thorough: bool) -> None:
    """Remembers the parameters that the modules have now, and the gradients and optimizers' state of parts.

    is_thorough: looks at all objects of the process, which takes 0.1 s.
    """
    if is_thorough:
        _find_all()
    for module in list(_modules):
        for _, layout, tensor in _own_layouts(module):
            for each in (tensor, tensor.grad):
                if each is not None and each.shape == tensor.shape:
                    remember(each, layout.part(tensor.shape))
    for optimizer in list(_optimizers):
        for parameter in [each for group in getattr(optimizer, "param_groups", ()) for each in group["params"]]:
            part = _parts.part_at(parameter.data_ptr(), parameter.nbytes) if _is_plain(parameter) else None
            if part is not None:
                for value in (parameter.grad, *optimizer.state.get(parameter, {}).values()):
                    _remember_like(value, part)


def _is_plain(parameter: torch.Tensor) -> bool:
    """Whether it has memory of its own here; DTensor and other subclasses have not."""
    is_own = type(parameter) in (torch.Tensor, torch.nn.Parameter)
    return is_own and parameter.device.type == "cpu" and parameter.layout == torch.strided


def _remember_like(value: Any, part: Part) -> None:
    """Remembers a gradient or a state that has an element, or a row, for each one of a part."""
    if not isinstance(value, torch.Tensor) or value.dim() != len(part.shape):
        return
    if value.size(part.axis) == part.end - part.first:
        whole = list(value.shape)
        whole[part.axis] = part.shape[part.axis]
        remember(value, part._replace(shape=tuple(whole)))


def _know_optimizer(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    if not torch.compiler.is_compiling():
        _optimizers.add(optimizer)


_parts.refreshers.append(_remember_all)
register_optimizer_step_post_hook(_know_optimizer)


def mark_sharded(
    module: torch.nn.Module, name: str, dim: int, comm: Comm = COMM_WORLD, *, counts: Sequence[int] | None = None
) -> None:
    """Marks a parameter or buffer of a user-defined layer as this rank's part of a larger tensor. Local.

    collect_state_dict() and relocate_state_dict() use the mark; all ranks must set the same. Copies of the module keep
    it.

    Parameters
    ----------
    module : torch.nn.Module
        The layer.
    name : str
        Name of the parameter or buffer in the layer.
    dim : int
        Dimension that is cut.
    comm : Comm
        The ranks; each has a part.
    counts : sequence of int, optional
        Lengths of the parts along dim, one for each rank; None: all are as long as this rank's.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError
        On this rank: no such parameter or buffer; no such dim; counts that do not fit.
    """
    group = comm_or_world(comm)
    check_kind(module, torch.nn.Module, "module", "a torch.nn.Module")
    tensor = {**module._parameters, **module._buffers}.get(name)
    if tensor is None:
        raise wrong(ArgumentError, "name", repr(name), f"a parameter or buffer of the {type(module).__name__}")
    number = as_index(dim, "dim")
    if not -tensor.dim() <= number < tensor.dim():
        raise wrong(ArgumentError, "dim", number, f"{-tensor.dim()} to {tensor.dim() - 1}")
    number %= tensor.dim()
    known = part_lengths(counts, tensor.size(number), group)
    if known[group.rank] != tensor.size(number):
        expected = f"{tensor.size(number)}, as {name} has along dimension {number}"
        raise wrong(ShapeError, "counts", known[group.rank], expected, axis=group.rank)
    set_layout(module, name, Layout(group, number, tuple(known)))


def marks_of(model: torch.nn.Module) -> list[Layout]:
    """Returns all layouts of a model's layers, in order."""
    return [layout for module in model.modules() for layout in module.__dict__.get(_LAYOUTS, {}).values()]


def layouts_of(model: torch.nn.Module) -> dict[int, Layout]:
    """Returns the layouts of a model's parameters and buffers, by the tensors' ids.

    A tied parameter may have a layout under each of its names. Raises ArgumentError if these differ, or if the name is
    no longer a parameter or buffer.
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
