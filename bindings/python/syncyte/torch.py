"""Differentiable operations on torch tensors: ``torch.ops.syncyte.*`` with their documentation.

Importing this module imports torch and loads libsyncyte_torch; it does not initialise MPI.

Communicators and whole tensors travel through torch's schemas as integers that are never used twice in a process, so that
a graph compiled with one that was freed since raises an error.
"""

from __future__ import annotations

import functools
import typing

import torch

from . import _library

if typing.TYPE_CHECKING:
    from .comm import Comm

__all__ = ["allreduce"]

# Operations whose order among each other matters, and which must run even if nobody uses their results: a rank whose
# compiler dropped one would leave the others waiting.
_EFFECTFUL = ("allreduce", "gather", "gather_backward", "gather_collective", "gather_adjoint")


def _register_effects() -> None:
    from torch._higher_order_ops import effects

    # The enumeration moved and lost its underscore's company between torch 2.6 and 2.15; its name did not.
    try:
        ordered = effects._EffectType.ORDERED
    except AttributeError:
        from torch._library.effects import EffectType

        ordered = EffectType.ORDERED
    for name in _EFFECTFUL:
        effects._register_effectful_op(getattr(torch.ops.syncyte, name).default, ordered)


@functools.cache
def load() -> None:
    """Loads libsyncyte_torch and registers its operations with torch.compile. Local; further calls do nothing."""
    torch.ops.load_library(_library.find("syncyte_torch"))
    _register_effects()


def allreduce(tensor: torch.Tensor, comm: "Comm | None" = None) -> torch.Tensor:
    """Sum of ``tensor`` over the ranks of ``comm``, the same on all of them; a new contiguous tensor.

    Collective: all ranks give equal shapes and dtypes, otherwise all raise ValueError. Differentiable, any number of times:
    the adjoint of the sum over ranks is the sum over ranks. float16 and bfloat16 are summed in float32 and rounded once.

    tensor: any shape, any dtype of Syncyte, any strides, on the CPU.
    comm: COMM_WORLD by default.
    """
    if comm is None:
        from .comm import COMM_WORLD as comm
    return torch.ops.syncyte.allreduce(tensor, comm.handle)


load()
