"""The operations of libsyncyte_torch, torch.ops.syncyte; importing this module loads them."""

from __future__ import annotations

import torch

from . import _library, _torch_vmap

# Operations whose order among each other matters, and which must run even if nobody uses their results: a rank whose
# compiler dropped one would leave the others waiting.
_EFFECTFUL = ("allreduce.default", "bcast.default", "reduce.default", "scan.default", "exscan.default",
              "allgather_along.lengths", "gather_along.lengths", "scatter_along.lengths",
              "reduce_scatter_along.lengths", "alltoall_along.lengths", "gather.default",
              "gather_backward.default", "gather_collective.default", "gather_adjoint.default", "isend.default",
              "irecv.default", "isend_answer.default", "irecv_answer.default", "barrier.default",
              "wait_message.default", "start_collective.default", "wait_collective.default", "halo_exchange.default")


def _register_effects() -> None:
    from torch._higher_order_ops import effects

    # Private in all versions so far: torch 2.6 defines the enumeration in this module, 2.15 in another one.
    try:
        ordered = effects._EffectType.ORDERED
    except AttributeError:
        from torch._library.effects import EffectType

        ordered = EffectType.ORDERED
    for name in _EFFECTFUL:
        packet, overload = name.split(".")
        effects._register_effectful_op(getattr(getattr(torch.ops.syncyte, packet), overload), ordered)


torch.ops.load_library(_library.find("syncyte_torch"))
_register_effects()
_torch_vmap.register()
operators = torch.ops.syncyte  # finding the namespace anew costs microseconds
