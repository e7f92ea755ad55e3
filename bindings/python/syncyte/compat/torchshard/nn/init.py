# SPDX-License-Identifier: BSD-3-Clause
"""torchshard.nn.init: initialization of parameters of parallel layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from syncyte._layouts import Layout
from syncyte.torch import bcast_

from .. import distributed
from .._tags import _PARALLEL_DIM, stored_dim, with_attributes

__all__ = ["shard_init_helper_"]


def shard_init_helper_(init_method: Callable[..., Any], tensor: torch.Tensor, **kwargs: Any) -> torch.Tensor:
    """Initializes the whole parameter by a torch.nn.init function, and stores this rank's part of it.

    Collective over the group for a tagged parameter (also if the tag is None) and its .data; local for others. Every
    rank draws random numbers; rank 0 of the group's are used.

    Parameters
    ----------
    init_method : callable
        A function of torch.nn.init.
    tensor : torch.Tensor
        A parameter of a parallel layer; overwritten.
    **kwargs
        Further arguments of init_method.

    Returns
    -------
    torch.Tensor
        `tensor`; for a tensor without tag, the result of init_method.
    """
    known = with_attributes(tensor)
    if not hasattr(known, _PARALLEL_DIM):
        return init_method(tensor, **kwargs)
    comm, dim = distributed._comm(), stored_dim(known)
    layout = None if dim is None else Layout(comm, dim, (tensor.size(dim),) * comm.size)
    shape = tensor.shape if layout is None else layout.whole_shape(tensor)
    with torch.no_grad():
        whole = torch.empty(shape, dtype=tensor.dtype, device=tensor.device)
        comm._prepare("shard_init_helper_", lambda: init_method(whole, **kwargs))
        bcast_(whole, 0, comm)
        tensor.copy_(whole if layout is None else layout.part_of(whole))
    return tensor
