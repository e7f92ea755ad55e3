# SPDX-License-Identifier: BSD-3-Clause
"""State dicts of models with parallel layers or tagged parameters, and what DistributedDataParallel ignores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from syncyte._layouts import Layout, layouts_of
from syncyte.nn import _state

from . import distributed
from ._tags import get_parallel_dim, stored_dim


def _layouts(model: torch.nn.Module) -> dict[int, Layout]:
    """Layouts of the parameters and buffers of parallel layers, and of tagged ones, by id."""
    found = layouts_of(model)
    tensors = [*model.parameters(), *model.buffers()]
    for tensor in tensors:
        dim = stored_dim(tensor)
        if id(tensor) not in found and dim is not None:
            comm = distributed._comm()
            found[id(tensor)] = Layout(comm, dim, (tensor.size(dim),) * comm.size)
    return found


def collect_state_dict(
    model: torch.nn.Module, state_dict: Mapping[str, Any] | None = None, prefix: str = ""
) -> dict[str, Any]:
    """Collects a model's whole tensors, on all ranks. Collective.

    Parameters, result and errors are as of syncyte.nn.collect_state_dict().
    """
    return _state.collect(model, state_dict, prefix, None, _layouts)


def relocate_state_dict(model: torch.nn.Module, state_dict: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Cuts whole tensors into this rank's parts. Collective.

    Parameters, result and errors are as of syncyte.nn.relocate_state_dict().
    """
    return _state.relocate(model, state_dict, prefix, _layouts)


def register_ddp_parameters_to_ignore(module: torch.nn.Module) -> list[str]:
    """Makes DistributedDataParallel(module) ignore parameters and buffers that are cut. Local.

    Parameters
    ----------
    module : torch.nn.Module
        A module with parallel layers or tagged tensors.

    Returns
    -------
    list of str
        Names of the ignored parameters and buffers; tied ones by all their names.
    """
    known = layouts_of(module)
    tensors = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    names = [name for name, tensor in tensors if id(tensor) in known or get_parallel_dim(tensor) is not None]
    module.__dict__["_ddp_params_and_buffers_to_ignore"] = names  # DistributedDataParallel reads this attribute
    return names
