# SPDX-License-Identifier: BSD-3-Clause
"""Conversion of a model's dense layers to parallel ones."""

from __future__ import annotations

import fnmatch
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from .._checks import check_kind, wrong
from .._layouts import as_layer_dim, compare_checksums, counts_of
from ..comm import COMM_WORLD, Comm, comm_or_world
from ..errors import ArgumentError, DtypeError
from ._layers import ParallelEmbedding, ParallelLinear

# Attributes of modules that hold hooks.
_HOOKS = (
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_backward_hooks",
    "_backward_pre_hooks",
    "_is_full_backward_hook",
)
_DENSE = {torch.nn.Linear: ParallelLinear, torch.nn.Embedding: ParallelEmbedding}


class Planned(NamedTuple):
    name: str
    dense: Any
    dim: int | None

    def description(self) -> tuple[Any, ...]:
        """Text that must be equal on all ranks."""
        parameters = self.dense.named_parameters(recurse=False)
        shapes = [(name, tuple(each.shape), str(each.dtype)) for name, each in parameters]
        return (self.name, type(self.dense).__name__, self.dim, shapes)


def convert(
    model: torch.nn.Module, plan: Mapping[str, int | None], *, comm: Comm = COMM_WORLD, uneven: bool = False
) -> torch.nn.Module:
    """Replaces torch.nn.Linear and Embedding layers of a model by parallel ones with the same values. Collective.

    It replaces layers at any depth. Tied parameters stay tied and modules keep their hooks. Make optimizers afterwards.

    Parameters
    ----------
    model : torch.nn.Module
        The model, equal on all ranks, including values; it is changed.
    plan : mapping from str to int
        Maps patterns of names in model.named_modules() (`*`, `?`, `[...]`) to the layer's dim; the first match counts.
    comm : Comm
        The ranks.
    uneven : bool
        See ParallelLinear.

    Returns
    -------
    torch.nn.Module
        model; or the new layer, if model itself is a layer and the plan names it "".

    Raises
    ------
    ArgumentError, ShapeError, DtypeError, MismatchError
        On all ranks, before anything is changed: a pattern matches no layer, or another kind of module; a wrong dim; an
        extent that the number of ranks does not divide; a parameter is tied to one that is not cut, or cut differently;
        plans differ.
    """
    return replace(model, lambda: _planned(model, plan), _DENSE, comm_or_world(comm), uneven)


def replace(
    model: torch.nn.Module,
    plan: Callable[[], list[Planned]],
    layers: Mapping[type, Any],
    group: Comm,
    uneven: bool = False,
) -> torch.nn.Module:
    """Implements convert(), with a function that makes the plan and a map from dense to parallel classes."""

    def check() -> list[Planned]:
        planned = plan()
        for layer in planned:
            if layer.dim is not None:
                name = layers[type(layer.dense)]._extents[layer.dim]
                counts_of(getattr(layer.dense, name), group, uneven, f"{layer.name}.{name}")
        _check_ties(model, planned, layers)
        return planned

    planned = group._prepare("convert", check, always=True)
    checksum = zlib.crc32(repr([layer.description() for layer in planned]).encode())
    group.agree(None, "convert", layers=len(planned), **{"checksum of the plan": checksum})
    if group.check == "full":
        compare_checksums("convert", group, {f"{layer.name}.weight": layer.dense.weight for layer in planned})
    options = {"comm": group, "uneven": uneven}
    parallels = [layers[type(each.dense)].from_dense(each.dense, dim=each.dim, **options) for each in planned]
    made: dict[int, torch.nn.Parameter] = {}  # by id of the dense layers' parameters
    for layer, parallel in zip(planned, parallels, strict=True):
        for name, parameter in layer.dense.named_parameters(recurse=False):
            setattr(parallel, name, made.setdefault(id(parameter), getattr(parallel, name)))
        for hooks in _HOOKS:
            setattr(parallel, hooks, getattr(layer.dense, hooks))
        parallel._register_hook()
        model = _replaced(model, layer.name, parallel)
    for module in model.modules() if planned else ():
        if isinstance(module, torch.nn.TransformerEncoder):
            module.use_nested_tensor = False  # parallel layers do not accept nested tensors
    return model


def _planned(model: Any, plan: Any) -> list[Planned]:
    check_kind(model, torch.nn.Module, "model", "a torch.nn.Module")
    if not isinstance(plan, Mapping):
        raise wrong(DtypeError, "plan", repr(plan), "a mapping from names of layers to dims")
    planned, used = [], set()
    for name, module in model.named_modules(remove_duplicate=False):
        pattern = next((each for each in plan if fnmatch.fnmatchcase(name, each)), None)
        if pattern is None or (type(module) not in _DENSE and name != pattern):
            continue  # a pattern may also match other modules
        if type(module) not in _DENSE:
            raise wrong(DtypeError, f"plan[{pattern!r}]", f"a {type(module).__name__}", "a Linear or an Embedding")
        used.add(pattern)
        dim = as_layer_dim(plan[pattern])
        if dim is not None:
            planned.append(Planned(name, module, dim))
    unused = [pattern for pattern in plan if pattern not in used]
    if unused:
        raise wrong(
            ArgumentError, "plan", f"of {unused[0]!r}, which matches no layer", "names of Linear or Embedding layers"
        )
    return planned


def _check_ties(model: torch.nn.Module, planned: list[Planned], layers: Mapping[type, Any]) -> None:
    cut: dict[int, tuple[str, int | None]] = {}
    for layer in planned:
        dims = layers[type(layer.dense)]._stored_dims(layer.dim)
        for own, along in dims.items():
            parameter, name = getattr(layer.dense, own), f"{layer.name}.{own}"
            if parameter is None:  # a bias that the layer does not have
                continue
            first, dim = cut.setdefault(id(parameter), (name, along))
            if dim != along:
                expected = f"{_way(dim)}, as {first}, with which it is tied"
                raise wrong(ArgumentError, name, _way(along), expected)
    names = {layer.name for layer in planned}
    for name, module in model.named_modules(remove_duplicate=False):
        for own, parameter in module.named_parameters(recurse=False):
            first, dim = cut.get(id(parameter), ("", None))
            if name not in names and dim is not None:
                raise wrong(
                    ArgumentError, f"{name}.{own}", "whole", f"in the plan as well, because it is tied to {first}"
                )


def _way(dim: int | None) -> str:
    return "whole" if dim is None else f"cut along dimension {dim}"


def _replaced(model: torch.nn.Module, name: str, layer: torch.nn.Module) -> torch.nn.Module:
    if not name:
        return layer
    parent, _, last = name.rpartition(".")
    setattr(model.get_submodule(parent), last, layer)
    return model
