# SPDX-License-Identifier: BSD-3-Clause
"""State dictionaries of models with parallel layers: joins parts to whole tensors, and cuts whole tensors."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import torch

from .._checks import as_int32, check_kind, wrong
from .._layouts import Layout, layouts_of, marks_of
from .._parts import RANGES
from .._torch_collectives import gather_along
from ..comm import Comm
from ..errors import ArgumentError, DtypeError, ShapeError
from ._whole_embedding import WholeEmbedding
from .functional import gather

State = Mapping[str, Any]
Layouts = Callable[[torch.nn.Module], Mapping[int, Layout]]
_WRAPPERS = ("module.", "_orig_mod.")  # prefixes of DistributedDataParallel and torch.compile


class _Tensors(NamedTuple):
    """A model's tensors, and the layouts of the cut ones."""

    names: dict[str, torch.Tensor]
    layouts: dict[int, Layout]  #: by id of the tensor


class _Entry(NamedTuple):
    key: str
    value: Any
    tensor: torch.Tensor | None  # the model's tensor; tied keys have one tensor
    layout: Layout | None


def collect_state_dict(
    model: torch.nn.Module, state_dict: State | None = None, prefix: str = "", *, root: int | None = None
) -> dict[str, Any]:
    """Collects a state dictionary of whole tensors from the ranks' parts. Collective.

    All ranks of the model's parallel layers and WholeEmbeddings call it. The result for a model without such layers is
    its own state. Call sync() of a WholeEmbedding before.

    Parameters
    ----------
    model : torch.nn.Module
        A model with parallel layers (also layers that mark_sharded() has marked) or WholeEmbeddings, nested, wrapped,
        tied or copied in any way.
    state_dict : mapping, optional
        State of the model, or a part of it that has all keys whose tensors are cut; None: model.state_dict().
    prefix : str
        Prefix of the result's keys.
    root : int, optional
        Rank that gets the result; the others get an empty dictionary. None: all ranks get it.

    Returns
    -------
    dict
        The state, in order of keys. Tensors that were parts are new; tied ones remain one tensor. For a model without
        parallel layers, all ranks get it.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError, MismatchError
        On all ranks: keys that are missing, or that are not of the model; a tensor that is not a part (it is whole
        already); ranks differ; a wrong root.
    """
    return collect(model, state_dict, prefix, root, layouts_of)


def relocate_state_dict(model: torch.nn.Module, state_dict: State, prefix: str = "") -> dict[str, Any]:
    """Cuts a state dictionary of whole tensors into this rank's parts. Collective over the layers' ranks.

    All ranks have the whole tensors; only the agreement is sent.

    Parameters
    ----------
    model : torch.nn.Module
        As for collect_state_dict().
    state_dict : mapping
        Result of collect_state_dict(), or the state of the dense model. Keys that the model does not have are kept.
    prefix : str
        Prefix of its keys, which the result's keys do not have. Other keys are dropped.

    Returns
    -------
    dict
        The state for model.load_state_dict(). Parts are copies.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError, MismatchError
        On all ranks: a missing key; a tensor that is not whole (it is a part already), or of another shape; ranks
        differ.
    """
    return relocate(model, state_dict, prefix, layouts_of)


def collect(
    model: torch.nn.Module, state_dict: State | None, prefix: str, root: int | None, layouts: Layouts
) -> dict[str, Any]:
    """Implements collect_state_dict(); `layouts` finds the layouts of a model."""
    state = state_dict

    def check(tensors: _Tensors, comms: list[Comm]) -> list[_Entry]:
        nonlocal state
        if root is not None:
            _check_root(root, comms)
        if state is None:
            state = model.state_dict()
        entries = _own_entries(state, tensors)
        _check_tied(entries)
        return entries

    entries, comms = _agreed("collect_state_dict", model, layouts, check, root)
    result: dict[str, Any] = OrderedDict()
    whole: dict[int, torch.Tensor] = {}  # by id of the model's tensor, which is tied on all ranks or on none
    for entry in entries:
        value = entry.value
        if entry.layout is not None:
            if id(entry.tensor) not in whole:
                whole[id(entry.tensor)] = _gathered(value.detach(), entry.layout, root)
            value = whole[id(entry.tensor)]
        result[prefix + entry.key] = value
    if root is not None and comms and comms[0].rank != root:
        return OrderedDict()
    return _with_metadata(result, state, [])


def relocate(model: torch.nn.Module, state_dict: State, prefix: str, layouts: Layouts) -> dict[str, Any]:
    """Implements relocate_state_dict(); `layouts` finds the layouts of a model."""

    def check(tensors: _Tensors, comms: list[Comm]) -> list[_Entry]:
        entries = _entries(state_dict, prefix, tensors)
        for entry in entries:
            if entry.layout is not None:
                _check_shape(entry, sum(entry.layout.counts), "the whole")
        return entries

    result: dict[str, Any] = OrderedDict()
    entries = _agreed("relocate_state_dict", model, layouts, check)[0]
    for entry in entries:
        result[entry.key] = entry.value if entry.layout is None else entry.layout.part_of(entry.value)
    return _with_metadata(result, state_dict, entries)


def own_state(model: torch.nn.Module) -> tuple[dict[str, Any], dict[str, Layout]]:
    """A model's state_dict(), and the layouts of the keys that are parts. Collective over the ranks of its layouts."""
    state: dict[str, Any] = {}

    def check(tensors: _Tensors, _: list[Comm]) -> list[_Entry]:
        nonlocal state
        state = model.state_dict()
        return _own_entries(state, tensors)

    entries = _agreed("state_dict", model, layouts_of, check)[0]
    return state, {entry.key: entry.layout for entry in entries if entry.layout is not None}


def _own_entries(state: State, tensors: _Tensors) -> list[_Entry]:
    entries = _entries(state, "", tensors)
    for entry in entries:
        if entry.layout is not None:
            _check_shape(entry, entry.layout.length, "this rank's part")
        elif entry.tensor is None and isinstance(entry.value, torch.Tensor):
            raise wrong(ArgumentError, "state_dict", f"with the key {entry.key!r}", "keys of the model")
    return entries


def _check_tied(entries: list[_Entry]) -> None:
    """Checks that values of tied keys are equal, because only one of them is collected."""
    first: dict[int, _Entry] = {}
    for entry in entries:
        if entry.layout is None:
            continue
        other = first.setdefault(id(entry.tensor), entry)
        if other.value.data_ptr() != entry.value.data_ptr() and not torch.equal(other.value, entry.value):
            key, expected = f"state_dict[{entry.key!r}]", f"that of {other.key!r}, with which the model has it tied"
            raise wrong(ArgumentError, key, "another value", expected)


def _gathered(part: torch.Tensor, layout: Layout, root: int | None) -> torch.Tensor:
    if root is None:
        return gather(part, layout.dim, layout.comm, counts=layout.counts)
    return gather_along(part, layout.dim, root, counts=layout.counts, comm=layout.comm)


def _comms(layouts: Iterable[Layout]) -> list[Comm]:
    """Returns the layouts' communicators, each once, in order."""
    return list(dict.fromkeys(layout.comm for layout in layouts))


def _check_root(root: Any, comms: list[Comm]) -> None:
    if len(comms) > 1:
        raise wrong(ArgumentError, "root", root, "None, because the layers are of several communicators")
    number = as_int32(root, "root")
    if comms and not 0 <= number < comms[0].size:
        raise wrong(ArgumentError, "root", number, f"None or 0 to {comms[0].size - 1}")


def _tensors_of(model: torch.nn.Module, layouts: Layouts) -> _Tensors:
    """Finds parameters, buffers, and the rows and optimizer states of WholeEmbeddings."""
    names: dict[str, torch.Tensor] = dict(model.named_parameters(remove_duplicate=False))
    names |= dict(model.named_buffers(remove_duplicate=False))
    known = dict(layouts(model))
    tables: dict[int, dict[str, torch.Tensor]] = {}  # by id of the layer, which a model may have under several names
    for prefix, layer in model.named_modules(remove_duplicate=False):
        if isinstance(layer, WholeEmbedding):
            parts = tables.setdefault(id(layer), layer._state())
            known |= {id(part): _layout_of(layer) for name, part in parts.items() if name in layer._parts()}
            names |= {f"{prefix}.{name}" if prefix else name: part for name, part in parts.items()}
    return _Tensors(names, known)


def _layout_of(layer: WholeEmbedding) -> Layout:
    table = layer.table
    return Layout(table.comm, 0, tuple(len(table.rows(rank)) for rank in range(table.comm.size)))


def _entries(state_dict: Any, prefix: Any, known: _Tensors) -> list[_Entry]:
    """Returns the state's entries in order of keys, without the prefix. Raises ArgumentError if a layout has none."""
    check_kind(state_dict, Mapping, "state_dict", "a mapping from keys to tensors")
    if not isinstance(prefix, str):
        raise wrong(DtypeError, "prefix", repr(prefix), "a string")
    tensors, layouts = known
    names = {unwrapped(name): tensor for name, tensor in tensors.items()}
    entries = []
    for key, value in state_dict.items():
        if not isinstance(key, str):
            raise wrong(DtypeError, "state_dict", f"with the key {key!r}", "names")
        if key.startswith(prefix):
            key = key.removeprefix(prefix)
            tensor = tensors.get(key, names.get(unwrapped(key)))
            layout = None if tensor is None else layouts.get(id(tensor))
            entries.append(_Entry(key, value, tensor, layout))
    found = {id(entry.tensor) for entry in entries}
    for name, tensor in tensors.items():
        if id(tensor) in layouts and id(tensor) not in found:
            raise wrong(ArgumentError, "state_dict", f"without the key {prefix + name!r}", "all that the model has cut")
    return entries


def unwrapped(key: str) -> str:
    """Removes the prefixes of wrappers from a key."""
    while key.startswith(_WRAPPERS):
        key = key.partition(".")[2]
    return key.replace("._orig_mod.", ".")


def _check_shape(entry: _Entry, extent: int, called: str) -> None:
    value, tensor, layout = entry.value, entry.tensor, entry.layout
    assert tensor is not None and layout is not None
    check_kind(value, torch.Tensor, f"state_dict[{entry.key!r}]", "a tensor")
    if value.layout != torch.strided:
        raise wrong(DtypeError, f"state_dict[{entry.key!r}]", f"of layout {value.layout}", "torch.strided")
    expected = layout.with_extent(tensor.shape, extent)
    if tuple(value.shape) != expected:
        raise wrong(
            ShapeError, f"state_dict[{entry.key!r}]", f"of shape {list(value.shape)}", f"{list(expected)}, {called}"
        )


def _agreed(
    operation: str,
    model: Any,
    layouts: Layouts,
    check: Callable[[_Tensors, list[Comm]], list[_Entry]],
    root: int | None = None,
) -> tuple[list[_Entry], list[Comm]]:
    """Finds the layouts and checks the entries; all ranks of the layouts' communicators agree. Returns both."""
    check_kind(model, torch.nn.Module, "model", "a torch.nn.Module")
    error, entries, found = None, [], marks_of(model)
    found += [_layout_of(module) for module in model.modules() if isinstance(module, WholeEmbedding)]
    try:
        tensors = _tensors_of(model, layouts)
        found = list(tensors.layouts.values())
        entries = check(tensors, _comms(found))
    except Exception as caught:
        error = caught
    comms = _comms(found)
    described = [(entry.key, *_described(entry)) for entry in entries if isinstance(entry.value, torch.Tensor)]
    facts = {"tensors": len(described), "root": -1 if root is None else root}
    if error is None:
        facts["checksum of keys, shapes and layouts"] = zlib.crc32(repr(described).encode())
    for comm in comms:
        comm.agree(error, operation, **facts)
    if error is not None:
        raise error
    return entries, comms


def _described(entry: _Entry) -> tuple[Any, ...]:
    shape, layout = tuple(entry.value.shape), entry.layout
    if layout is None:
        return (shape, str(entry.value.dtype))
    return (layout.with_extent(shape, 0), str(entry.value.dtype), layout.dim, layout.counts)


def _with_metadata(result: dict[str, Any], source: Any, parts: list[_Entry]) -> dict[str, Any]:
    """Adds the source's metadata, which load_state_dict() reads: versions of modules, and the ranges of parts."""
    metadata: dict[str, dict[str, Any]] = {}
    for path, known in getattr(source, "_metadata", {}).items():
        metadata[path] = {name: value for name, value in known.items() if name != RANGES}
    for key, _, tensor, layout in parts:
        if layout is not None and tensor is not None:
            path, _, name = key.rpartition(".")
            ranges = metadata.setdefault(path, {}).setdefault(RANGES, {})
            ranges[name] = layout.part(tensor.shape).to_metadata()
    if metadata:
        result._metadata = metadata  # type: ignore[attr-defined]
    return result
