# SPDX-License-Identifier: BSD-3-Clause
"""Torch modules whose tensors become views of a model's memory."""

from __future__ import annotations

import copy
import functools
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils._pytree import tree_leaves

from ._checks import check_kind, wrong
from .errors import ArgumentError

if TYPE_CHECKING:
    from ._model_memory import ModelMemory, TensorRecord


class Place(NamedTuple):
    """Where a module has a tensor."""

    owner: torch.nn.Module
    key: str
    tensor: torch.Tensor

    def put(self, tensor: torch.Tensor) -> None:
        # Modules that keep other lists of their parameters, as torch.nn.LSTM does, see the new one.
        if type(self.owner).__setattr__ is not torch.nn.Module.__setattr__:
            setattr(self.owner, self.key, tensor)
        elif self.key in self.owner._parameters:
            self.owner._parameters[self.key] = tensor  # type: ignore[assignment]
        else:
            self.owner._buffers[self.key] = tensor


def places(module: torch.nn.Module) -> dict[str, Place]:
    """A module's parameters and persistent buffers by name, in the order of their registration."""
    found: dict[str, Place] = {}
    for prefix, owner in module.named_modules(remove_duplicate=False):
        persistent = {key: value for key, value in owner._buffers.items()
                      if key not in owner._non_persistent_buffers_set}  # fmt: skip
        for key, tensor in {**owner._parameters, **persistent}.items():
            if tensor is None:
                continue
            name = f"{prefix}.{key}" if prefix else key
            if torch.nn.parameter.is_lazy(tensor):
                raise wrong(ArgumentError, "module", f"one whose {name!r} is not initialized", "one that has run once")
            found[name] = Place(owner, key, tensor)
    return found


def _shared(names: dict[str, Any]) -> dict[str, str]:
    """For each name the least name that shares its memory, from names and what identifies the memory."""
    least: dict[Any, str] = {}
    for name, memory in names.items():
        least[memory] = min(name, least.get(memory, name))
    return {name: least[memory] for name, memory in names.items()}


def _memory_of(targets: dict[str, Place], records: dict[str, TensorRecord]) -> dict[str, Any]:
    """For each tensor of a module what identifies its memory."""
    found: dict[str, Any] = {}
    without_memory: dict[int, tuple[str, int]] = {}
    for name, place in targets.items():
        tensor = place.tensor
        if records[name].bytes == 0:
            found[name] = name
        elif tensor.is_meta:  # torch unties tensors that it moves to "meta": they may share memory as the model's do
            found[name] = without_memory.setdefault(id(tensor), ("meta", records[name].same_as))
        elif isinstance(tensor, _Arriving):
            found[name] = id(tensor)
        else:
            found[name] = tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()
    return found


def _form(dtype: object, shape: Any) -> str:
    return f"{str(dtype).removeprefix('torch.')} {list(shape)}"


def _differences(targets: dict[str, Place], memory: ModelMemory) -> list[str]:
    """What a module has otherwise than a model, in sentences."""
    records, device, torch_dtypes = memory.records, torch.device(memory.device), memory.torch_dtypes
    found = [f"{name!r} is not in the model" for name in targets if name not in records]
    found += [f"{name!r} is not in the module" for name in records if name not in targets]
    for name in targets.keys() & records.keys():
        tensor, record = targets[name].tensor, records[name]
        dtype = torch_dtypes[record.dtype]
        if tensor.dtype is not dtype or tensor.shape != record.shape:
            have, wanted = _form(tensor.dtype, tensor.shape), _form(dtype, record.shape)
            found.append(f"{name!r} is {wanted} in the model and {have} in the module")
        if not (tensor.is_meta or tensor.device == device):
            found.append(f"{name!r} is on {device} in the model and on {tensor.device} in the module; move the module "
                         f"there or to 'meta', or bind(device={str(tensor.device)!r}) for a copy")  # fmt: skip
    if found:
        return sorted(found)
    model_memory = {name: each.same_as for name, each in records.items()}
    tensors = [place.tensor for place in targets.values()]
    begins = {id(each) if isinstance(each, _Arriving) else each.data_ptr() for each in tensors}
    if len(begins) == len(set(model_memory.values())) == len(targets):
        return []  # no tensors share memory
    module_memory = _memory_of(targets, records)
    in_module, in_model = _shared(module_memory), _shared(model_memory)
    for name in targets:
        if in_module[name] != in_model[name]:
            model, module = _other(name, in_model), _other(name, in_module)
            found.append(f"{name!r} shares memory with {model} in the model and with {module} in the module")
    return found


def _other(name: str, shared: dict[str, str]) -> str:
    others = [each for each, least in shared.items() if least == shared[name] and each != name]
    return " and ".join(map(repr, others)) or "no tensor"


def attach(module: Any, name: str, memory: ModelMemory, ready: int, wait: Callable[[int, None], None]) -> None:
    """Makes a module's tensors views of a model's memory. `ready` groups are there; `wait` waits for one."""
    check_kind(module, torch.nn.Module, "module", "a torch module")
    # A tensor that still waits for another model is replaced without waiting.
    with torch._C.DisableTorchFunctionSubclass():
        targets = places(module)
        if differences := _differences(targets, memory):
            raise ArgumentError(f"the module does not fit the model {name!r}: {'; '.join(differences)}")
        successors = _successors(targets, memory, ready)
        arriving: set[torch.nn.Module] = set()
        for (key, place), new in zip(targets.items(), successors, strict=True):
            if isinstance(new, _Arriving):
                record = memory.records[key]
                new._arrival = Arrival(wait, record.group, functools.partial(memory.tensor, record))
                _refuse_access(new, f"{key!r} of the model {name!r} is loading, and this use does not wait for it: "
                                    f"call wait() of the model first")  # fmt: skip
                arriving.add(place.owner)
        for place, new in zip(targets.values(), successors, strict=True):  # nothing fails from here on
            place.put(new)
    for owner in arriving:
        _drop_hook(owner)  # of another model
        owner.register_forward_pre_hook(_wait_before_forward)


def _successors(targets: dict[str, Place], memory: ModelMemory, ready: int) -> list[torch.Tensor]:
    """The new tensor of each place; a tensor that the module has twice has one."""
    made: dict[Any, torch.Tensor] = {}
    found = []
    for key, place in targets.items():
        old, record = place.tensor, memory.records[key]
        known = ("meta", record.same_as) if old.is_meta and record.bytes > 0 else id(old)
        if known not in made:
            made[known] = _successor(old, memory, record, record.group < ready)
        found.append(made[known])
    return found


def _successor(old: torch.Tensor, memory: ModelMemory, record: TensorRecord, is_ready: bool) -> torch.Tensor:
    is_there = is_ready or record.bytes == 0
    new: torch.Tensor = memory.tensor(record, is_there)
    if isinstance(old, torch.nn.Parameter):
        if old.requires_grad and not memory.is_read_only:
            new.requires_grad_()
        new.__class__ = torch.nn.Parameter if is_there else _ArrivingParameter
    elif not is_there:
        new.__class__ = _ArrivingBuffer
    return new


def _refuse_access(tensor: torch.Tensor, why: str) -> None:
    """Makes uses that torch does not show to the tensor a RuntimeError; SIGSEGV where torch has no such function."""
    if refuse := getattr(torch._C, "_set_storage_data_ptr_access_error_msg", None):
        refuse(tensor.untyped_storage()._cdata, why)


class Arrival(NamedTuple):
    """What a tensor waits for."""

    wait: Callable[[int, None], None]
    group: int
    contents: Callable[[], torch.Tensor]  #: once the group is ready


class _Arriving:
    """A tensor whose group may not be ready: every use waits for it. It then becomes an ordinary tensor."""

    _arrival: Arrival

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        for each in tree_leaves((args, kwargs)):
            if isinstance(each, _Arriving):
                _arrive(each)
        return function(*args, **(kwargs or {}))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        _arrive(self)
        return copy.deepcopy(self, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        _arrive(self)
        return self.__reduce_ex__(protocol)


class _ArrivingParameter(_Arriving, torch.nn.Parameter):
    pass


class _ArrivingBuffer(_Arriving, torch.Tensor):
    pass


def _arrival_of(tensor: Any) -> Arrival | None:
    """What a tensor waits for; None once it is ordinary, which other threads may make it at any time."""
    return None if tensor is None else tensor.__dict__.get("_arrival")


def _arrive(tensor: Any) -> None:
    if arrival := _arrival_of(tensor):
        arrival.wait(arrival.group, None)
        _make_ordinary(tensor)


_becoming_ordinary = threading.Lock()
os.register_at_fork(before=_becoming_ordinary.acquire, after_in_parent=_becoming_ordinary.release,
                    after_in_child=_becoming_ordinary.release)  # fmt: skip


def _make_ordinary(tensor: Any) -> None:
    """Gives a tensor its contents. Other threads that use it wait here until it has them."""
    with _becoming_ordinary, torch._C.DisableTorchFunctionSubclass():
        if arrival := _arrival_of(tensor):
            tensor.data = arrival.contents()
            tensor.__class__ = torch.nn.Parameter if isinstance(tensor, torch.nn.Parameter) else torch.Tensor
            del tensor.__dict__["_arrival"]


def _tensors(owner: torch.nn.Module) -> list[torch.Tensor | None]:
    return [*owner._parameters.values(), *owner._buffers.values()]


def _wait_before_forward(owner: torch.nn.Module, *_arguments: object) -> None:
    """Forward pre-hook of modules with tensors that wait; without state, so that modules can be copied and pickled."""
    for each in _tensors(owner):
        _arrive(each)
    _drop_hook(owner)


def _drop_hook(owner: torch.nn.Module) -> None:
    for key, hook in list(owner._forward_pre_hooks.items()):
        if hook is _wait_before_forward:
            owner._forward_pre_hooks.pop(key, None)


def settle(module: torch.nn.Module, wait: Callable[[int, None], None]) -> None:
    """Makes the tensors ordinary that wait with `wait`, all of which are there, and drops hooks without use."""
    for owner in list(module.modules()):
        for each in _tensors(owner):
            if (arrival := _arrival_of(each)) and arrival.wait == wait:
                _make_ordinary(each)
        if not any(map(_arrival_of, _tensors(owner))):
            _drop_hook(owner)
