# SPDX-License-Identifier: BSD-3-Clause
"""The operations of libsyncyte_torch, torch.ops.syncyte; importing this module loads them."""

from __future__ import annotations

import ctypes
import functools
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from . import _build_torch, _interrupts, _library, _torch_shapes, errors


def _other_torch(reason: object) -> errors.LibraryError:
    advice = (
        f"compile it by `{_build_torch.COMMAND}`"
        if _build_torch.can_build()
        else "use the torch that Syncyte was built for, or build Syncyte for this one (-DSYNCYTE_TORCH=ON)"
    )
    return errors.LibraryError(
        f"libsyncyte_torch is missing, or of another torch than this one ({torch.__version__}), for the Syncyte in "
        f"{os.path.dirname(__file__)}: {advice} ({reason})"
    )


def _load() -> ctypes.CDLL:
    """Loads the library into torch. Raises LibraryError, which says how to get one for this torch."""
    path = _library.find("syncyte_torch", _build_torch.folders(torch.__version__))
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        if path == os.path.abspath(os.environ.get("SYNCYTE_TORCH_LIBRARY", "")):
            raise _other_torch(f"SYNCYTE_TORCH_LIBRARY is {path!r}: {error}") from error
        raise _other_torch(error) from error
    _library.check_version(path, library, "syncyte_torch")
    if other := _other_version(library.syncyte_torch_built_for):
        raise _other_torch(f"{path} is of torch {other}")
    torch.ops.load_library(path)
    library.syncyte_torch_serve_from_cache.restype = ctypes.c_int64
    return library


def _other_version(built_for: Any) -> str:
    """Returns the version of torch of a library's function, if it is not this one's."""
    built_for.restype = ctypes.c_char_p
    found = built_for().decode()
    return "" if re.match(r"\d+\.\d+\.\d+", torch.__version__)[0] == found else found  # type: ignore[index]


_loaded = _load()
operators = torch.ops.syncyte  # finding the namespace anew costs microseconds
group_operators = torch.ops.syncyte_process_group  # of torch.distributed's backend (distributed.py)
#: Makes torch allocate CPU tensors in slices of threads, or by its own allocator again; returns ours, an address.
serve_from_cache: Callable[[bool], int] = _loaded.syncyte_torch_serve_from_cache


@functools.cache
def _load_device_library() -> ctypes.CDLL:
    path = _library.find("syncyte_torch_cuda", _build_torch.folders(torch.__version__))
    try:
        library = ctypes.CDLL(path)
        if other := _other_version(library.syncyte_torch_cuda_built_for):
            raise OSError(f"{path} is of torch {other}")
    except (OSError, AttributeError) as error:
        raise errors.UnsupportedError(
            f"tensors cannot lie in a shared cache on a device: libsyncyte_torch_cuda is missing, or of another torch "
            f"than this one ({torch.__version__}); a torch for the CPU has no part for it ({error})"
        ) from error
    return library


def serve_from_device_cache(serves: bool) -> None:
    """Makes torch allocate CUDA tensors in slices of streams, or by its own allocator again.

    Raises UnsupportedError if it cannot.
    """
    _load_device_library().syncyte_torch_cuda_serve_from_cache(serves)


# wait_message's argument `gradients` (gradient_rule in bindings/torch/src/messages/messages.hpp): a received tensor
# requires gradients if the sender records them. The default, 2, raises an error where the receiver cannot record them.
AS_SENDER_IF_POSSIBLE = 3

IF_MPI_IS_CUDA_AWARE = 2  # use_device_memory's third choice, besides False and True


class Row(NamedTuple):
    """An operator in the library's table."""

    packet: str
    overload: str
    is_effectful: bool
    batching: str  #: how torch.vmap runs it
    axes: list[int]  #: which arguments are axes
    shapes: list[int]  #: and which are shapes

    @property
    def operator(self) -> Any:
        return getattr(getattr(operators, self.packet), self.overload)


def table() -> list[Row]:
    """All operators."""
    rows = (line.split(",") for line in operators.operator_table())
    return [
        Row(packet, overload or "default", bool(effectful), batching, [*map(int, axes)], [*map(int, shapes)])
        for name, effectful, batching, axes, shapes in rows
        for packet, _, overload in [name.partition(".")]
    ]


def _register_effects(rows: list[Row]) -> None:
    """Compiled code keeps the order of operators that communicate, and runs them even if their results are not used.

    A rank whose compiler dropped one would leave the others waiting.
    """
    from torch._higher_order_ops import effects

    # Private in all versions so far: torch 2.6 defines the enumeration in this module, 2.15 in another one.
    try:
        ordered = effects._EffectType.ORDERED
    except AttributeError:
        from torch._library.effects import EffectType

        ordered = EffectType.ORDERED
    for row in rows:
        if row.is_effectful:
            effects._register_effectful_op(row.operator, ordered)


# Rules of torch.vmap.
#
# A collective runs once for the whole batch, whose dimension is moved to the front: ranks may have it in different
# places. Operations of whole tensors and halos run once for each element, in order. The rest raises
# NotImplementedError: a ticket stands for one operation.

Rule = Callable[..., tuple[Any, Any]]


def _shifted(axis: int, ndim: int) -> int:
    """Shifts an axis past the batch's new first dimension; an axis that is out of range stays out of range."""
    return axis + 1 if axis >= 0 else axis if axis >= -ndim else axis - 1


def _once(operator: Any, axes: Sequence[int], shapes: Sequence[int]) -> Rule:
    def rule(info: Any, in_dims: Sequence[int | None], tensor: torch.Tensor, *more: Any) -> tuple[torch.Tensor, int]:
        arguments = [tensor.movedim(in_dims[0], 0), *more]  # type: ignore[arg-type]
        given = [place for place in shapes if place < len(arguments) and arguments[place] is not None]
        ndim = len(arguments[given[0]]) if given else tensor.dim() - 1
        for place in axes:
            arguments[place] = _shifted(arguments[place], ndim)
        for place in given:
            arguments[place] = [info.batch_size, *arguments[place]]
        return operator(*arguments), 0

    return rule


def _in_place(operator: Any, *_: Any) -> Rule:
    def rule(info: Any, in_dims: Sequence[int | None], tensor: torch.Tensor, *more: Any) -> tuple[None, None]:
        operator(tensor.movedim(in_dims[0], 0), *more)  # type: ignore[arg-type]
        return None, None

    return rule


def _identity(operator: Any, *_: Any) -> Rule:
    def rule(info: Any, in_dims: Sequence[Any], tensor: torch.Tensor, *more: Any) -> tuple[torch.Tensor, int | None]:
        return operator(tensor, *more), in_dims[0]

    return rule


def _in_a_loop(operator: Any, *_: Any) -> Rule:
    def rule(info: Any, in_dims: Sequence[int | None], *arguments: Any) -> tuple[torch.Tensor, int]:
        def element(number: int) -> torch.Tensor:
            return operator(
                *(
                    argument if dim is None else argument.select(dim, number)
                    for argument, dim in zip(arguments, in_dims, strict=True)
                )
            )

        return torch.stack([element(number) for number in range(info.batch_size)]), 0

    return rule


def _refused(operator: Any, *_: Any) -> Rule:
    name = operator.name().removeprefix("syncyte::")

    def rule(*_: Any) -> tuple[Any, Any]:
        raise NotImplementedError(
            f"torch.vmap over syncyte::{name} is not possible: call it on the whole batch, outside of torch.vmap"
        )

    return rule


_RULES = {"once": _once, "in_place": _in_place, "each": _in_a_loop, "first_tensor": _identity, "refused": _refused}


# A wait in C++ that a signal has ended raises the exception of its handler (bindings/torch/src/tensors/buffers.cpp).
_interruptions = torch.library.Library("syncyte", "FRAGMENT")
_interruptions.impl("raise_interruption", _interrupts.raise_again, "CompositeImplicitAutograd")

_register_effects(table())
_torch_shapes.register()
for _row in table():
    if _row.batching in _RULES:
        torch.library.register_vmap(_row.operator, _RULES[_row.batching](_row.operator, _row.axes, _row.shapes))
