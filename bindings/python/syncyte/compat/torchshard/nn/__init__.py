# SPDX-License-Identifier: BSD-3-Clause
"""torchshard.nn: layers that are cut into equal parts over the group's ranks, with tags on parameters and results."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn._reduction import legacy_get_string

from syncyte import nn as parallel
from syncyte._checks import check_kind, wrong
from syncyte._layouts import as_layer_dim
from syncyte.comm import COMM_SELF, Comm
from syncyte.errors import ShapeError
from syncyte.nn._convert import Planned, replace
from syncyte.nn._layers import _ParallelLayer, new_embedding

from .. import distributed
from .._state import register_ddp_parameters_to_ignore
from .._tags import set_attribute
from . import functional, init

__all__ = [
    "ParallelCrossEntropy",
    "ParallelCrossEntropyLoss",
    "ParallelEmbedding",
    "ParallelLinear",
    "RegisterParallelDim",
    "functional",
    "init",
]


def _comm_of(dim: Any) -> Comm:
    """Communicator of a layer; a layer that is not cut (None) is each rank's own."""
    return COMM_SELF if dim is None else distributed._comm()


def _converted(module: torch.nn.Module, dense: type, layer: type, dim: int | None) -> torch.nn.Module:
    """Replaces all layers of the dense class, at any depth."""

    def plan() -> list[Planned]:
        check_kind(module, torch.nn.Module, "module", "a torch.nn.Module")
        along, layers = as_layer_dim(dim), module.named_modules(remove_duplicate=False)
        return [Planned(name, each, dim if along is None else along) for name, each in layers if type(each) is dense]

    converted = replace(module, plan, {dense: layer}, _comm_of(dim))
    register_ddp_parameters_to_ignore(converted)
    return converted


class _Tagged(_ParallelLayer):
    """Base of the layers that tag their parameters."""

    _order = 0  # of the stored weight: see set_attribute()

    def _take(self, dense: torch.nn.Module) -> None:
        super()._take(dense)
        self._tag()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._tag()  # copies of parameters have lost their tags

    def _tag(self) -> None:
        for parameter in self.parameters():
            set_attribute(parameter, self.dim, self._order)


class ParallelLinear(_Tagged, parallel.ParallelLinear):
    """syncyte.nn.ParallelLinear over the group, with tagged results and parameters.

    Parameters
    ----------
    in_features, out_features, bias
        As of torch.nn.Linear.
    dim : int, optional
        Dimension of the matrix (inputs, outputs) that is cut: 0, 1 or -1; None: a dense layer.
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dim: int | None = None) -> None:
        super().__init__(in_features, out_features, bias, dim=dim, comm=_comm_of(dim))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Computes the layer's output, see functional.parallel_linear().

        Parameters
        ----------
        input : torch.Tensor
            The input, or this rank's part of it.

        Returns
        -------
        torch.Tensor
            The output, tagged.
        """
        return functional.parallel_linear(input, self.weight, self.bias, self.dim, comm=self.comm)

    @classmethod
    def convert_parallel_linear(cls, module: torch.nn.Module, dim: int | None = None) -> torch.nn.Module:
        """Replaces all torch.nn.Linear of a module, at any depth, by parallel ones with the same values. Collective.

        DistributedDataParallel ignores the parameters of the new layers.

        Parameters
        ----------
        module : torch.nn.Module
            The module; equal on all ranks of the group.
        dim : int, optional
            As of the constructor.

        Returns
        -------
        torch.nn.Module
            The module; the new layer if `module` itself is a torch.nn.Linear.
        """
        return _converted(module, torch.nn.Linear, cls, dim)


class ParallelEmbedding(_Tagged, parallel.ParallelEmbedding):
    """syncyte.nn.ParallelEmbedding over the group, with tagged parameters.

    Parameters
    ----------
    num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, _weight
        As of torch.nn.Embedding, for the whole table.
    dim : int, optional
        Dimension of the table that is cut: 0, 1 or -1; None: a dense layer.
    """

    _order = 1

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: torch.Tensor | None = None,
        dim: int | None = None,
    ) -> None:
        torch.nn.Module.__init__(self)
        shape, options = [num_embeddings, embedding_dim], (max_norm, norm_type, scale_grad_by_freq, sparse)

        def make() -> torch.nn.Embedding:
            if _weight is not None and list(_weight.shape) != shape:
                expected = f"{shape}, [num_embeddings, embedding_dim]"
                raise wrong(ShapeError, "_weight", f"of shape {list(_weight.shape)}", expected)
            return new_embedding(num_embeddings, embedding_dim, padding_idx, *options, _weight=_weight)

        self._become(make, dim, _comm_of(dim), uneven=False)

    @classmethod
    def convert_parallel_embedding(cls, module: torch.nn.Module, dim: int | None = None) -> torch.nn.Module:
        """Replaces all torch.nn.Embedding of a module, at any depth, by parallel ones. Collective.

        Parameters and result are as of ParallelLinear.convert_parallel_linear().
        """
        return _converted(module, torch.nn.Embedding, cls, dim)


class ParallelCrossEntropyLoss(torch.nn.Module):
    """torch.nn.CrossEntropyLoss that also takes logits that are cut over the group's ranks (tagged -1).

    Parameters
    ----------
    weight, size_average, ignore_index, reduce, reduction
        As of torch.nn.CrossEntropyLoss.
    """

    weight: torch.Tensor | None

    def __init__(
        self,
        weight: torch.Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        if size_average is not None or reduce is not None:
            reduction = legacy_get_string(size_average, reduce)
        self.ignore_index, self.reduction = ignore_index, reduction
        self.comm = distributed._comm() if distributed.is_initialized() else None

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Computes the loss, see functional.parallel_cross_entropy().

        Parameters
        ----------
        input : torch.Tensor
            Logits, or this rank's part of them, tagged -1.
        target : torch.Tensor
            Classes.

        Returns
        -------
        torch.Tensor
            The loss.
        """
        return functional.parallel_cross_entropy(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction, comm=self.comm
        )


ParallelCrossEntropy = ParallelCrossEntropyLoss


class RegisterParallelDim(torch.nn.Module):
    """Layer that tags the tensor, or all tensors of a list or tuple, that it is called with.

    Parameters
    ----------
    dim : int, optional
        The tag, see register_parallel_dim().
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Any) -> Any:
        """Tags `x` and returns it. Local.

        Parameters
        ----------
        x : torch.Tensor, or list or tuple of torch.Tensor
            The tensors.

        Returns
        -------
        torch.Tensor, or list or tuple of torch.Tensor
            `x`.
        """
        for tensor in x if isinstance(x, (list, tuple)) else [x]:
            set_attribute(tensor, self.dim)
        return x

    def extra_repr(self) -> str:
        """Text for repr()."""
        return f"dim={self.dim}"
