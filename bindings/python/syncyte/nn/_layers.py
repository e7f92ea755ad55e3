"""Layers whose parameters are cut over ranks: linear layer, embedding, cross entropy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import torch

from .. import dtypes
from .._checks import as_index, wrong
from .._layouts import Layout, as_layer_dim, counts_of, set_layout
from ..comm import COMM_WORLD, Comm, comm_or_world
from ..errors import ArgumentError, DtypeError, UnsupportedError
from ..torch import bcast
from . import functional

__all__ = ["ParallelCrossEntropy", "ParallelEmbedding", "ParallelLinear"]


def _take_part(module: torch.nn.Module, name: str, dense: torch.nn.Parameter, layout: Layout | None) -> None:
    """Registers this rank's part of a dense layer's parameter in the module; without a layout the parameter itself."""
    part = dense if layout is None else torch.nn.Parameter(layout.part_of(dense), dense.requires_grad)
    module.register_parameter(name, part)
    set_layout(module, name, layout)


def _check_device(device: Any) -> None:
    if device is not None and torch.device(device).type == "cuda" and not torch.cuda.is_available():
        raise wrong(UnsupportedError, "device", repr(device), "'cpu': there is no CUDA device here")


def _check_extents(**extents: Any) -> None:
    for name, number in extents.items():
        if as_index(number, name) < 0:
            raise wrong(ArgumentError, name, number, "0 or more")


def _as_dense(dense: Any, kind: type[torch.nn.Module]) -> Any:
    if not isinstance(dense, kind):
        raise wrong(DtypeError, "dense", f"a {type(dense).__name__}", f"a torch.nn.{kind.__name__}")
    if dense._parameters.get("weight") is None:
        given = "computed from other parameters (weight_norm, parametrize)"
        raise wrong(ArgumentError, "dense.weight", given, "a parameter")
    return dense


def _calls_it(module: torch.nn.Module, input: Any) -> None:
    """Forward hook that does nothing.

    torch.nn.TransformerEncoderLayer in eval() calls layers that have a hook. For others it reads the weights itself,
    and would use a part as the whole.
    """


class _ParallelLayer(torch.nn.Module):
    def _be_called(self) -> None:
        self.register_forward_pre_hook(_calls_it)

    def cuda(self, device: Any = None) -> Self:
        """Moves the layer to a CUDA device. Raises UnsupportedError if there is none.

        Parameters and result are as of torch.nn.Module.cuda().
        """
        _check_device("cuda")
        return super().cuda(device)


class ParallelLinear(_ParallelLayer):
    """torch.nn.Linear with a weight that is cut over ranks.

    dim=1 (or -1) cuts the columns of the matrix (inputs, outputs): the result is this rank's part of the outputs. dim=0
    cuts the rows: the input may be whole or this rank's part, the result is whole, and every rank has the whole bias.
    dim=None: torch.nn.Linear. weight is stored as in torch, (outputs, inputs): [out/P, in] for dim=1, [out, in/P] for
    dim=0.

    Constructing it is collective, unless dim is None. Each rank makes a whole torch.nn.Linear with its own random
    numbers and keeps its part; a whole bias is rank 0's. So set the same seed on all ranks.

    Parameters
    ----------
    in_features, out_features : int
        Features of the whole layer.
    bias : bool
        Whether it has a bias.
    dim : int, optional
        Dimension that is cut, see above.
    comm : Comm
        The ranks.
    input_is_parallel : bool, optional
        dim=0: whether inputs are this rank's part; None: decided by their last extent.
    uneven : bool
        If the number of ranks does not divide the extent: whether parts may differ by one, the first ones longer.
    device, dtype
        As for torch.nn.Linear.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError, MismatchError
        On all ranks, when constructed: a wrong dim; an extent that the number of ranks does not divide; ranks differ.
        When called: see functional.linear().
    """

    weight: torch.nn.Parameter
    bias: torch.nn.Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        dim: int | None = None,
        comm: Comm = COMM_WORLD,
        input_is_parallel: bool | None = None,
        uneven: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()

        def make() -> torch.nn.Linear:
            _check_extents(in_features=in_features, out_features=out_features)
            _check_device(device)
            return torch.nn.Linear(in_features, out_features, bias, device=device, dtype=dtype)

        self._describe(dim, comm, input_is_parallel, uneven)
        self._take(self._agree(make))
        if self.dim == 0 and self.bias is not None:
            with torch.no_grad():
                self.bias.copy_(bcast(self.bias.detach(), 0, self.comm))

    @classmethod
    def from_dense(
        cls,
        dense: torch.nn.Linear,
        *,
        dim: int | None,
        comm: Comm = COMM_WORLD,
        input_is_parallel: bool | None = None,
        uneven: bool = False,
    ) -> Self:
        """Makes a parallel layer of a torch.nn.Linear that all ranks have. Collective.

        Parameters
        ----------
        dense : torch.nn.Linear
            The dense layer, equal on all ranks; it is not changed.
        dim, comm, input_is_parallel, uneven
            As of the constructor.

        Returns
        -------
        ParallelLinear
            The parallel layer, with copies of this rank's parts.

        Raises
        ------
        ArgumentError, ShapeError, DtypeError, MismatchError
            On all ranks, as the constructor; also if the weight is computed from other parameters.
        """
        layer = cls.__new__(cls)
        torch.nn.Module.__init__(layer)
        layer._describe(dim, comm, input_is_parallel, uneven)
        layer._take(layer._agree(lambda: _as_dense(dense, torch.nn.Linear)))
        layer.train(dense.training)
        return layer

    def _describe(self, dim: Any, comm: Comm, input_is_parallel: bool | None, uneven: bool) -> None:
        self.dim, self.comm = dim, comm_or_world(comm)
        self.input_is_parallel, self.uneven = input_is_parallel, uneven
        self.counts: tuple[int, ...] = ()  # of the ranks' parts

    def _agree(self, make: Callable[[], torch.nn.Linear]) -> torch.nn.Linear:
        """Makes the dense layer; the ranks agree on its arguments."""

        def check() -> tuple[torch.nn.Linear, dict[str, int]]:
            along, dense = as_layer_dim(self.dim), make()
            self.in_features, self.out_features = dense.in_features, dense.out_features
            if along is None:
                return dense, {}
            features = {"in_features": self.in_features, "out_features": self.out_features}
            cut = ("in_features", "out_features")[along]
            self.counts = counts_of(features[cut], self.comm, self.uneven, cut)
            terms = {"bias": dense.bias is not None, "uneven": bool(self.uneven)}
            return dense, {**features, "dim": along, "dtype": int(dtypes.from_torch(dense.weight.dtype)), **terms}

        if self.dim is None:
            return check()[0]
        dense, facts = self.comm._prepare("ParallelLinear", check, lifecycle=True)
        self.comm.agree(None, "ParallelLinear", **facts)
        return dense

    def _take(self, dense: torch.nn.Linear) -> None:
        along = as_layer_dim(self.dim)
        cut = None if along is None else Layout(self.comm, 1 - along, self.counts)
        _take_part(self, "weight", dense.get_parameter("weight"), cut)
        if dense.bias is None:
            self.register_parameter("bias", None)
        else:
            _take_part(self, "bias", dense.get_parameter("bias"), cut if along == 1 else None)
        if along is not None:
            self._be_called()

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Computes the output. Collective, unless dim is None.

        Parameters, result and errors are as of functional.linear().
        """
        return functional.linear(
            input,
            self.weight,
            self.bias,
            dim=self.dim,
            comm=self.comm,
            counts=self.counts,
            input_is_parallel=self.input_is_parallel,
        )

    def extra_repr(self) -> str:
        bias = self.bias is not None
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={bias}, dim={self.dim}"


class ParallelEmbedding(_ParallelLayer):
    """torch.nn.Embedding with a table that is cut over ranks. The result is whole on every rank.

    dim=0 cuts the rows, [num_embeddings/P, embedding_dim] each; dim=1 (or -1) the columns; None: torch.nn.Embedding.
    Constructing it is collective, unless dim is None; values as for ParallelLinear.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Extents of the whole table.
    padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        As for torch.nn.Embedding; padding_idx counts in the whole table. max_norm: not with dim=1.
    dim : int, optional
        Dimension that is cut, see above.
    comm : Comm
        The ranks.
    uneven : bool
        If the number of ranks does not divide the extent: whether parts may differ by one, the first ones longer.
    device, dtype
        As for torch.nn.Embedding.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError, MismatchError
        On all ranks, when constructed: a wrong dim or padding_idx; an extent that the number of ranks does not divide;
        ranks differ. When called: see functional.embedding().
    """

    weight: torch.nn.Parameter

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        *,
        dim: int | None = None,
        comm: Comm = COMM_WORLD,
        uneven: bool = False,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        self.max_norm, self.norm_type = max_norm, norm_type
        self.scale_grad_by_freq, self.sparse = scale_grad_by_freq, sparse

        def describe() -> None:
            _check_extents(num_embeddings=num_embeddings, embedding_dim=embedding_dim)
            _check_device(device)

        self._take(self._agree(dim, comm, uneven, describe, lambda: self._new_table(device, dtype)))

    def _new_table(self, device: Any, dtype: torch.dtype | None) -> torch.nn.Embedding:
        sizes = (self.num_embeddings, self.embedding_dim, self.padding_idx)
        return torch.nn.Embedding(*sizes, device=device, dtype=dtype)

    @classmethod
    def from_dense(
        cls, dense: torch.nn.Embedding, *, dim: int | None, comm: Comm = COMM_WORLD, uneven: bool = False
    ) -> Self:
        """Makes a parallel layer of a torch.nn.Embedding that all ranks have. Collective.

        Parameters
        ----------
        dense : torch.nn.Embedding
            The dense layer, equal on all ranks; it is not changed.
        dim, comm, uneven
            As of the constructor.

        Returns
        -------
        ParallelEmbedding
            The parallel layer, with a copy of this rank's part.

        Raises
        ------
        ArgumentError, ShapeError, DtypeError, MismatchError
            On all ranks, as the constructor; also if the weight is computed from other parameters.
        """
        layer = cls.__new__(cls)
        torch.nn.Module.__init__(layer)

        def describe() -> None:
            _as_dense(dense, torch.nn.Embedding)
            for name in ("num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type"):
                setattr(layer, name, getattr(dense, name))
            layer.scale_grad_by_freq, layer.sparse = dense.scale_grad_by_freq, dense.sparse

        layer._take(layer._agree(dim, comm, uneven, describe, lambda: dense))
        layer.train(dense.training)
        return layer

    def _agree(
        self,
        dim: int | None,
        comm: Comm,
        uneven: bool,
        describe: Callable[[], None],
        make: Callable[[], torch.nn.Embedding],
    ) -> torch.nn.Embedding:
        """Makes the dense table; the ranks agree on its arguments, which `describe` sets or checks."""
        self.dim, self.comm, self.uneven = dim, comm_or_world(comm), uneven
        self.counts: tuple[int, ...] = ()  # of the ranks' parts

        def check() -> tuple[torch.nn.Embedding, dict[str, int]]:
            along = as_layer_dim(dim)
            describe()
            padding, rows = self.padding_idx, self.num_embeddings
            if padding is not None:
                if not -rows <= as_index(padding, "padding_idx") < rows:
                    raise wrong(ArgumentError, "padding_idx", padding, f"{-rows} to {rows - 1}")
                self.padding_idx = padding % rows
            if along is None:
                return make(), {}
            if along == 1 and self.max_norm is not None:
                raise wrong(ArgumentError, "max_norm", self.max_norm, "None if columns are cut")
            extents = {"num_embeddings": rows, "embedding_dim": self.embedding_dim}
            cut = ("num_embeddings", "embedding_dim")[along]
            self.counts = counts_of(extents[cut], self.comm, uneven, cut)
            dense = make()
            terms = {"padding_idx": -1 if self.padding_idx is None else self.padding_idx, "uneven": bool(uneven)}
            terms |= {"sparse": bool(self.sparse), "scale_grad_by_freq": bool(self.scale_grad_by_freq)}
            return dense, {**extents, "dim": along, "dtype": int(dtypes.from_torch(dense.weight.dtype)), **terms}

        if dim is None:
            return check()[0]
        dense, facts = self.comm._prepare("ParallelEmbedding", check, lifecycle=True)
        self.comm.agree(None, "ParallelEmbedding", **facts)
        return dense

    def _take(self, dense: torch.nn.Embedding) -> None:
        along = as_layer_dim(self.dim)
        cut = None if along is None else Layout(self.comm, along, self.counts)
        _take_part(self, "weight", dense.get_parameter("weight"), cut)
        if along is not None:
            self._be_called()

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Looks up rows. Collective, unless dim is None.

        Parameters, result and errors are as of functional.embedding().
        """
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
            dim=self.dim,
            comm=self.comm,
            counts=self.counts,
        )

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}, dim={self.dim}"


class ParallelCrossEntropy(torch.nn.Module):
    """torch.nn.CrossEntropyLoss of logits whose classes are cut over ranks.

    A ParallelLinear with dim=1 gives such logits. Every rank gets the whole loss.

    Parameters
    ----------
    weight : torch.Tensor, optional
        One number for each class.
    ignore_index : int
        Target that is ignored.
    reduction : str
        "mean", "sum" or "none".
    comm : Comm
        The ranks.
    num_classes : int, optional
        Number of classes of all ranks together; parts differ by at most one, the first ones longer. None: all ranks
        have equally many classes.

    Raises
    ------
    ArgumentError, DtypeError
        On this rank, when constructed: a wrong num_classes. When called: see functional.cross_entropy().
    """

    weight: torch.Tensor | None

    def __init__(
        self,
        weight: torch.Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        *,
        comm: Comm = COMM_WORLD,
        num_classes: int | None = None,
    ) -> None:
        super().__init__()
        self.register_buffer("weight", weight)
        self.ignore_index, self.reduction, self.comm = ignore_index, reduction, comm_or_world(comm)
        if num_classes is not None and as_index(num_classes, "num_classes") < 0:
            raise wrong(ArgumentError, "num_classes", num_classes, "0 or more")
        self.num_classes = num_classes

    def forward(self, input: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Computes the loss. Collective.

        Parameters, result and errors are as of functional.cross_entropy().
        """
        classes = self.num_classes
        counts = None if classes is None else counts_of(classes, self.comm, True, "num_classes")
        return functional.cross_entropy(
            input, target, self.weight, self.ignore_index, self.reduction, comm=self.comm, counts=counts
        )

    def extra_repr(self) -> str:
        return f"ignore_index={self.ignore_index}, reduction={self.reduction!r}"
