# SPDX-License-Identifier: BSD-3-Clause
"""Layers whose parameters are cut over ranks: linear layer, embedding, cross entropy. Clipping of their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Self

import torch

from .. import dtypes
from .._checks import as_index, at_least, check_kind, wrong
from .._declarations import Op
from .._layouts import Layout, as_layer_dim, counts_of, layouts_of, set_layout, table_extents
from ..comm import COMM_WORLD, Comm, comm_or_world
from ..errors import ArgumentError, UnsupportedError
from ..torch import bcast
from . import functional


def _check_device(device: Any) -> None:
    if device is not None and torch.device(device).type == "cuda" and not torch.cuda.is_available():
        raise wrong(UnsupportedError, "device", repr(device), "'cpu': there is no CUDA device here")


def _as_dense(dense: Any, kind: type[torch.nn.Module]) -> Any:
    check_kind(dense, kind, "dense", f"a torch.nn.{kind.__name__}")
    if dense._parameters.get("weight") is None:
        given = "computed from other parameters (weight_norm, parametrize)"
        raise wrong(ArgumentError, "dense.weight", given, "a parameter")
    return dense


def _do_nothing(module: torch.nn.Module, input: Any) -> None:
    """Forward hook that does nothing.

    torch.nn.TransformerEncoderLayer in eval() calls layers that have a hook. It reads the weights of other layers
    itself, and would use a part as the whole.
    """


class _ParallelLayer(torch.nn.Module):
    """Base of the layers that are made of a dense one."""

    _dense: ClassVar[type[torch.nn.Module]]
    _extents: ClassVar[tuple[str, str]]  # names of the extents of dimensions 0 and 1
    _options: ClassVar[tuple[str, ...]] = ()  # names of the dense layer's other attributes

    @staticmethod
    def _stored_dims(dim: int | None) -> dict[str, int | None]:
        """Returns the dimension of each stored parameter that is cut; None: the parameter is whole."""
        return {"weight": dim}

    def _become(self, make: Callable[[], Any], dim: int | None, comm: Comm, uneven: bool) -> None:
        """Makes the dense layer, on which the ranks agree, and takes its attributes and this rank's parts."""
        self.dim, self.comm, self.uneven = dim, comm_or_world(comm), uneven
        self.counts: tuple[int, ...] = ()  # of the ranks' parts

        def check() -> tuple[Any, dict[str, int]]:
            along, dense = as_layer_dim(dim), make()
            for name in (*self._extents, *self._options):
                setattr(self, name, getattr(dense, name))
            if along is None:
                return dense, {}
            extents = {name: getattr(dense, name) for name in self._extents}
            cut = self._extents[along]
            self.counts = counts_of(extents[cut], self.comm, uneven, cut)
            facts = {"dim": along, "dtype": int(dtypes.from_torch(dense.weight.dtype)), "uneven": bool(uneven)}
            return dense, {**extents, **facts, **self._facts(dense, along)}

        if dim is None:
            dense, _ = check()
        else:
            operation = f"Parallel{self._dense.__name__}"
            dense, facts = self.comm._prepare(operation, check, always=True)
            self.comm.agree(None, operation, **facts)
            self._register_hook()
        self._take(dense)

    def _facts(self, dense: Any, along: int) -> dict[str, int]:
        """Checks the dense layer's options; returns the options that must be equal on all ranks."""
        raise NotImplementedError

    def _take(self, dense: torch.nn.Module) -> None:
        """Takes this rank's parts of the dense layer's parameters."""
        for name, dim in self._stored_dims(as_layer_dim(self.dim)).items():
            part = dense._parameters[name]
            if part is not None and dim is not None:
                layout = Layout(self.comm, dim, self.counts)
                part = torch.nn.Parameter(layout.part_of(part), part.requires_grad)
                set_layout(self, name, layout)
            self.register_parameter(name, part)

    @classmethod
    def _from_dense(cls, dense: torch.nn.Module, dim: int | None, comm: Comm, uneven: bool) -> Self:
        layer = cls.__new__(cls)
        torch.nn.Module.__init__(layer)
        layer._become(lambda: _as_dense(dense, cls._dense), dim, comm, uneven)
        layer.train(dense.training)
        return layer

    def _register_hook(self) -> None:
        self.register_forward_pre_hook(_do_nothing)

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

    _dense, _extents = torch.nn.Linear, ("in_features", "out_features")
    in_features: int
    out_features: int
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
            at_least(0, as_index(in_features, "in_features"), "in_features")
            at_least(0, as_index(out_features, "out_features"), "out_features")
            _check_device(device)
            return torch.nn.Linear(in_features, out_features, bias, device=device, dtype=dtype)

        self.input_is_parallel = input_is_parallel
        self._become(make, dim, comm, uneven)
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
        layer = cls._from_dense(dense, dim, comm, uneven)
        layer.input_is_parallel = input_is_parallel
        return layer

    @staticmethod
    def _stored_dims(dim: int | None) -> dict[str, int | None]:
        """Returns the dimension of each stored parameter that is cut; the bias is whole if rows are cut."""
        return {"weight": None if dim is None else 1 - dim, "bias": 0 if dim == 1 else None}

    def _facts(self, dense: torch.nn.Linear, along: int) -> dict[str, int]:
        return {"bias": dense.bias is not None}

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


def new_embedding(num_embeddings: int, embedding_dim: int, padding_idx: int | None, *options: Any, **more: Any) -> Any:
    """Makes a torch.nn.Embedding; checks its extents and padding_idx."""
    table_extents(num_embeddings, embedding_dim, padding_idx)
    return torch.nn.Embedding(num_embeddings, embedding_dim, padding_idx, *options, **more)


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

    _dense, _extents = torch.nn.Embedding, ("num_embeddings", "embedding_dim")
    _options = ("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    sparse: bool
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
        given = (num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)

        def make() -> torch.nn.Embedding:
            _check_device(device)
            return new_embedding(*given, device=device, dtype=dtype)

        self._become(make, dim, comm, uneven)

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
        return cls._from_dense(dense, dim, comm, uneven)

    def _facts(self, dense: torch.nn.Embedding, along: int) -> dict[str, int]:
        if along == 1 and self.max_norm is not None:
            raise wrong(ArgumentError, "max_norm", self.max_norm, "None if columns are cut")
        padding = -1 if self.padding_idx is None else self.padding_idx
        return {"padding_idx": padding, "sparse": self.sparse, "scale_grad_by_freq": self.scale_grad_by_freq}

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Looks up rows. Collective, unless dim is None.

        Parameters, result and errors are as of functional.embedding().
        """
        options = [getattr(self, name) for name in self._options]
        return functional.embedding(input, self.weight, *options, dim=self.dim, comm=self.comm, counts=self.counts)

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
        if num_classes is not None:
            at_least(0, as_index(num_classes, "num_classes"), "num_classes")
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


def clip_grad_norm_(
    model: torch.nn.Module, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> torch.Tensor:
    """Clips the norm of all gradients of a model with parallel layers, as torch.nn.utils.clip_grad_norm_. Collective.

    All ranks of the layers call it. The norm of the whole gradient is used, equal on all ranks. torch's own function
    would use only this rank's parts, and whole parameters would diverge between ranks.

    Parameters
    ----------
    model : torch.nn.Module
        A model whose parallel layers all have the same communicator.
    max_norm : float
        Gradients are scaled down, in place, if their norm is larger.
    norm_type : float
        p of the p-norm; inf: the largest element.
    error_if_nonfinite : bool
        Whether a norm that is infinite or NaN raises RuntimeError, on all ranks.

    Returns
    -------
    torch.Tensor
        The norm before clipping.

    Raises
    ------
    ArgumentError, ValueError, TypeError
        On all ranks: layers of several communicators; a wrong norm_type or max_norm.
    """
    layouts = layouts_of(model)
    comms = list(dict.fromkeys(layout.comm for layout in layouts.values()))
    if not comms:
        return torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm, norm_type, error_if_nonfinite)
    if len(comms) > 1:
        raise wrong(ArgumentError, "model", f"of layers of {len(comms)} communicators", "one communicator")
    comm = comms[0]
    power, most = comm._prepare("clip_grad_norm_", lambda: _as_power_and_most(norm_type, max_norm))
    gradients = [(p.grad.detach(), id(p) in layouts) for p in model.parameters() if p.grad is not None]
    # Rank 0 counts the gradients of replicated parameters.
    counted = [gradient for gradient, is_part in gradients if is_part or comm.rank == 0]
    norm = norm_of_all(counted, power, comm)
    if error_if_nonfinite and not norm.isfinite():
        raise RuntimeError(
            f"the norm of the gradients is {norm.item()}; expected a finite one, or error_if_nonfinite=False"
        )
    scale = (most / (norm + 1e-6)).clamp(max=1.0)
    for gradient, _ in gradients:
        gradient.mul_(scale.to(gradient.dtype))
    return norm


def _as_power_and_most(norm_type: float, max_norm: float) -> tuple[float, float]:
    power, most = float(norm_type), float(max_norm)
    if not power > 0:
        raise wrong(ArgumentError, "norm_type", norm_type, "more than 0, or inf")
    if not most >= 0:
        raise wrong(ArgumentError, "max_norm", max_norm, "0 or more")
    return power, most


def norm_of_all(gradients: Iterable[torch.Tensor], power: float, comm: Comm) -> torch.Tensor:
    """Returns the norm of all ranks' gradients together, in float64. Collective."""
    parts = [torch.linalg.vector_norm(each.double(), power) for each in gradients]
    norms = torch.tensor(parts or [0.0], dtype=torch.float64, device="cpu")
    if power == float("inf"):
        return torch.ops.syncyte.allreduce(norms.max(), comm.handle, int(Op.MAX))
    return torch.ops.syncyte.allreduce((norms**power).sum(), comm.handle).pow(1 / power)
