# SPDX-License-Identifier: BSD-3-Clause
"""Operations on tensors that are whole on every rank, or cut along a dimension over the ranks.

A whole tensor counts as one variable: every rank has a copy, and all ranks compute the same loss from it. The
operations form pairs of adjoints: copy and reduce, scatter and gather. All are collective and differentiable any number
of times, backward and forward, also in torch.compile(fullgraph=True). Gradients are recorded on all ranks or on none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .._checks import as_index, wrong
from .._declarations import Op
from .._layouts import as_layer_dim, check_padding, compare_checksums, counts_of, part_lengths
from .._torch_collectives import _collective
from .._torch_operators import operators
from .._torch_refusals import check_tensor
from ..comm import COMM_WORLD, Comm, comm_or_world
from ..errors import ArgumentError, DtypeError, OutOfRangeError, ShapeError, UnsupportedError

__all__ = ["copy", "cross_entropy", "embedding", "gather", "linear", "reduce", "scatter"]

_REDUCTIONS = ("none", "mean", "sum")


def copy(tensor: torch.Tensor, comm: Comm = COMM_WORLD) -> torch.Tensor:
    """Returns `tensor` unchanged; its gradient is the sum of all ranks' cotangents. Collective.

    Use it for a whole tensor from which each rank computes a part of a result.

    Parameters
    ----------
    tensor : torch.Tensor
        A tensor that is equal on all ranks.
    comm : Comm
        The ranks.

    Returns
    -------
    torch.Tensor
        The same values, in the same memory.

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        On all ranks, as syncyte.torch.allreduce(): for example, shapes differ.
    """
    return _collective(operators.parallel_copy, "parallel_copy", comm, tensor)


def reduce(tensor: torch.Tensor, comm: Comm = COMM_WORLD) -> torch.Tensor:
    """Returns the sum of all ranks' tensors, on all ranks; its gradient is the result's cotangent. Collective.

    Parameters
    ----------
    tensor : torch.Tensor
        This rank's summand, of the same shape and type on all ranks.
    comm : Comm
        The ranks.

    Returns
    -------
    torch.Tensor
        The sum: syncyte.torch.allreduce(adjoint="identity").

    Raises
    ------
    TypeError, ValueError, NotImplementedError
        On all ranks, as syncyte.torch.allreduce(): for example, shapes differ.
    """
    return _collective(operators.allreduce, "comm_allreduce", comm, tensor, int(Op.SUM), identity_adjoint=True)


def _require_equal(extent: int, tensor: torch.Tensor, comm: Comm, advice: str) -> None:
    """Raises ValueError on all ranks unless all parts have the same length; works in compiled graphs."""
    if comm.size == 1:
        return
    try:
        gather(tensor.detach().new_empty(0, extent), -1, comm, counts=[extent] * comm.size)
    except ValueError as error:
        error.args = (f"{error}; expected parts of equal length, or {advice}",)
        raise


def _compare_if_full(operation: str, comm: Comm, **tensors: torch.Tensor | None) -> None:
    """With SYNCYTE_CHECK=full, raises MismatchError if tensors that must be equal on all ranks differ.

    It does nothing in compiled graphs.
    """
    if not torch.compiler.is_compiling() and comm.check == "full":
        compare_checksums(operation, comm, {name: each for name, each in tensors.items() if each is not None})


def _extent(tensor: Any, dim: Any) -> int:
    check_tensor(tensor)
    number = as_index(dim, "dim")
    if not -tensor.dim() <= number < tensor.dim():
        expected = f"{-tensor.dim()} to {tensor.dim() - 1}" if tensor.dim() else "a tensor with dimensions"
        raise wrong(OutOfRangeError, "dim", number, expected)
    return tensor.size(number)


def scatter(
    tensor: torch.Tensor,
    dim: int = -1,
    comm: Comm = COMM_WORLD,
    *,
    counts: Sequence[int] | None = None,
    uneven: bool = False,
) -> torch.Tensor:
    """Returns this rank's part of a whole tensor that every rank has. Collective.

    Only backward, which is gather(), sends data.

    Parameters
    ----------
    tensor : torch.Tensor
        The whole tensor, equal on all ranks.
    dim : int
        Dimension to cut.
    comm : Comm
        The ranks; each takes a part, in rank order.
    counts : sequence of int, optional
        Lengths of the parts along dim, one for each rank; None: they are equal.
    uneven : bool
        Without counts: whether parts may differ by one, the first ones longer.

    Returns
    -------
    torch.Tensor
        The part, a new contiguous tensor.

    Raises
    ------
    ShapeError, OutOfRangeError, DtypeError, ValueError, NotImplementedError
        On all ranks: an extent that the number of ranks does not divide; counts that do not fit; no such dim; not a
        tensor; shapes differ; a sparse tensor.
    """
    group = comm_or_world(comm)

    def check() -> Sequence[int]:
        extent = _extent(tensor, dim)
        if counts is None:
            return counts_of(extent, group, uneven, f"the extent of dimension {dim}")
        return part_lengths(counts, extent, group)

    parts = group._prepare("relocate", check)
    return _collective(operators.relocate, "relocate", group, tensor, to_dim=dim, to_counts=parts)


def gather(
    tensor: torch.Tensor,
    dim: int = -1,
    comm: Comm = COMM_WORLD,
    *,
    counts: Sequence[int] | None = None,
    uneven: bool = False,
) -> torch.Tensor:
    """Joins all ranks' parts along a dimension, on all ranks. Collective.

    Backward is scatter(), which sends no data.

    Parameters
    ----------
    tensor : torch.Tensor
        This rank's part; the other extents are equal on all ranks.
    dim : int
        Dimension along which the parts are joined, in rank order.
    comm : Comm
        The ranks.
    counts : sequence of int, optional
        Lengths of the parts along dim, one for each rank; None: all are as long as this rank's.
    uneven : bool
        Without counts: whether they may differ; they are then exchanged first. Not in torch.compile.

    Returns
    -------
    torch.Tensor
        The whole tensor.

    Raises
    ------
    OutOfRangeError, ShapeError, DtypeError, ValueError, NotImplementedError
        On all ranks: no such dim; counts that do not fit; not a tensor; ranks differ; a sparse tensor.
    """
    group = comm_or_world(comm)
    parts = group._prepare("comm_allgather_along", lambda: part_lengths(counts, _extent(tensor, dim), group))
    if uneven and counts is None:
        if torch.compiler.is_compiling():
            raise wrong(UnsupportedError, "uneven", True, "counts instead, inside torch.compile")
        parts = group.counts(parts[group.rank])
    return _collective(operators.relocate, "comm_allgather_along", group, tensor, from_dim=dim, from_counts=parts)


def _width(tensor: Any) -> int:
    check_tensor(tensor, "input")
    if tensor.dim() == 0:
        raise wrong(ShapeError, "input", "of 0 dimensions", "1 or more")
    return tensor.size(-1)


def linear(
    input: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    dim: int | None = None,
    comm: Comm = COMM_WORLD,
    counts: Sequence[int] | None = None,
    input_is_parallel: bool | None = None,
) -> torch.Tensor:
    """Computes input @ weight.T + bias with a weight that is cut over ranks. Collective, unless dim is None.

    Parameters
    ----------
    input : torch.Tensor
        (..., inputs). dim=0: or this rank's part of it along the last dimension.
    weight : torch.Tensor
        (outputs, inputs), as in torch.nn.Linear; dim=1: (this rank's outputs, inputs); dim=0: (outputs, this rank's
        inputs).
    bias : torch.Tensor, optional
        (outputs,); dim=1: this rank's part.
    dim : int, optional
        Dimension of the matrix (inputs, outputs) that is cut: 1 or -1, its columns; 0, its rows; None: none.
    comm : Comm
        The ranks.
    counts : sequence of int, optional
        dim=0: number of inputs of each rank; None: all have as many as this rank.
    input_is_parallel : bool, optional
        dim=0: whether input is a part; None: decided by its last extent.

    Returns
    -------
    torch.Tensor
        (..., outputs), whole on every rank; dim=1: this rank's part of it.

    Raises
    ------
    ShapeError, ArgumentError, DtypeError, ValueError
        On all ranks: an input of another width; a wrong dim; not a tensor; ranks differ.
    """
    if dim is None:
        return torch.nn.functional.linear(input, weight, bias)
    group = comm_or_world(comm)

    def check() -> tuple[int, bool, list[int]]:
        along, width = as_layer_dim(dim), _width(input)
        _check_matrix(input, weight, bias)
        own = weight.size(1)
        if along == 1:
            if width != own:
                raise wrong(ShapeError, "input", f"of width {width}", str(own))
            return 1, False, []
        parts = part_lengths(counts, own, group)
        inputs = sum(parts)
        is_part = width != inputs if input_is_parallel is None else input_is_parallel
        if width != (own if is_part else inputs):
            ways = {
                None: f"{inputs}, or this rank's part of it, {own}",
                True: f"this rank's part, {own}",
                False: inputs,
            }
            raise wrong(ShapeError, "input", f"of width {width}", str(ways[input_is_parallel]))
        return 0, is_part, parts

    along, is_part, parts = group._prepare("linear", check)
    if along == 1:
        return torch.nn.functional.linear(copy(input, group), weight, bias)
    part = input if is_part or group.size == 1 else scatter(input, -1, group, counts=parts)
    result = reduce(torch.nn.functional.linear(part, weight), group)
    return result if bias is None else result + bias.to(result.dtype)  # the dtypes differ within torch.autocast


def _check_matrix(input: torch.Tensor, weight: Any, bias: Any) -> None:
    _check_table(weight, "(outputs, inputs)")
    given = {"weight": weight}
    if bias is not None:
        check_tensor(bias, "bias")
        if tuple(bias.shape) != (weight.size(0),):
            raise wrong(
                ShapeError, "bias", f"of shape {list(bias.shape)}", f"[{weight.size(0)}], as weight has outputs"
            )
        given["bias"] = bias
    if torch.is_autocast_enabled(input.device.type):
        return
    for name, tensor in given.items():
        if tensor.dtype != input.dtype:
            raise wrong(DtypeError, name, f"of {tensor.dtype}", f"{input.dtype}, as input")


def _check_table(weight: Any, expected: str) -> None:
    check_tensor(weight, "weight")
    if weight.dim() != 2:
        raise wrong(ShapeError, "weight", f"of shape {list(weight.shape)}", f"2 dimensions, {expected}")


def embedding(
    input: torch.Tensor,
    weight: torch.Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
    *,
    dim: int | None = None,
    comm: Comm = COMM_WORLD,
    counts: Sequence[int] | None = None,
) -> torch.Tensor:
    """Looks up rows of a table that is cut over ranks. Collective, unless dim is None.

    Parameters
    ----------
    input : torch.Tensor
        Numbers of rows, int32 or int64, equal on all ranks.
    weight : torch.Tensor
        (rows, width); dim=0: (this rank's rows, width); dim=1: (rows, this rank's columns).
    padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        As for torch.nn.functional.embedding; padding_idx counts in the whole table. max_norm: not with dim=1.
    dim : int, optional
        Dimension of the table that is cut: 0, its rows; 1 or -1, its columns; None: none.
    comm : Comm
        The ranks.
    counts : sequence of int, optional
        Lengths of the ranks' parts along dim; None: all are as long as this rank's.

    Returns
    -------
    torch.Tensor
        The rows, whole on every rank.

    Raises
    ------
    OutOfRangeError, ArgumentError, DtypeError, ShapeError, UnsupportedError
        On all ranks: an index that is not in the table; a wrong dim; not integers; counts that do not fit.
    """
    options = (max_norm, norm_type, scale_grad_by_freq, sparse)
    if dim is None:
        return torch.nn.functional.embedding(input, weight, padding_idx, *options)
    group = comm_or_world(comm)

    def check() -> tuple[int, list[int]]:
        along = as_layer_dim(dim)
        assert along is not None
        if not isinstance(input, torch.Tensor) or input.dtype not in (torch.int32, torch.int64):
            given = f"a {type(input).__name__}" if not isinstance(input, torch.Tensor) else f"of {input.dtype}"
            raise wrong(DtypeError, "input", given, "a tensor of torch.int64 or torch.int32")
        _check_table(weight, "(rows, width)")
        if max_norm is not None:
            if not isinstance(max_norm, (int, float)):
                raise wrong(DtypeError, "max_norm", repr(max_norm), "a number, or None")
            if along == 1:
                raise wrong(UnsupportedError, "max_norm", max_norm, "None if columns are cut")
        parts = part_lengths(counts, weight.size(along), group)
        rows = sum(parts) if along == 0 else weight.size(0)
        check_padding(padding_idx, rows)
        _check_range(input, rows, "input")
        return along, parts

    along, parts = group._prepare("embedding", check)
    _compare_if_full("embedding", group, input=input)
    if along == 0 and counts is None:
        _require_equal(weight.size(0), weight, group, "counts")
    if along == 1:
        if weight.is_cuda and weight.size(1) == 0 and not sparse:  # torch 2.11: the embedding's gradient kernel fails
            columns = weight[input]
        else:
            columns = torch.nn.functional.embedding(input, weight, padding_idx, *options)
        return gather(columns, -1, group, counts=parts)
    first, rows = sum(parts[: group.rank]), parts[group.rank]
    padding = None if padding_idx is None else padding_idx % sum(parts) - first
    own_padding = padding if padding is not None and 0 <= padding < rows else None
    return reduce(_own_rows(input - first, weight, own_padding, options), group)


def _check_range(index: torch.Tensor, extent: int, name: str) -> None:
    """Raises OutOfRangeError for the first index that is not in the range.

    Compiled graphs cannot check when they are traced: they raise RuntimeError when they run.
    """
    if torch.compiler.is_compiling():
        torch._assert_async(((index >= 0) & (index < extent)).all(), f"{name} has an element that is out of range")
        return
    bad = ((index < 0) | (index >= extent)).flatten()
    if bad.any():
        place = int(bad.nonzero()[0])
        expected = f"0 to {extent - 1}" if extent else "no index, because there are 0 rows"
        raise wrong(OutOfRangeError, f"{name}'s element {place}", int(index.flatten()[place]), expected)


def _own_rows(
    local: torch.Tensor, weight: torch.Tensor, padding: int | None, options: tuple[float | None, float, bool, bool]
) -> torch.Tensor:
    """Looks up this rank's rows; the rows of other ranks are zeros."""
    rows, width = weight.shape
    own = (local >= 0) & (local < rows)
    if rows == 0:  # the result must depend on weight, because gradients are recorded on all ranks
        return weight.sum().expand(*local.shape, width)
    max_norm, _, by_frequency, sparse = options
    if by_frequency or sparse or max_norm is not None:  # these options count or change rows: pass only this rank's
        found = torch.nn.functional.embedding(local[own], weight, padding, *options)
        return weight.new_zeros(*local.shape, width).index_put((own,), found)
    found = torch.nn.functional.embedding(torch.where(own, local, 0), weight, padding)
    return torch.where(own.unsqueeze(-1), found, 0)


def cross_entropy(
    input: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    *,
    comm: Comm = COMM_WORLD,
    counts: Sequence[int] | None = None,
) -> torch.Tensor:
    """torch.nn.functional.cross_entropy of logits whose classes are cut over ranks. Collective.

    It makes two allreduces, of one and of two numbers per target.

    Parameters
    ----------
    input : torch.Tensor
        This rank's part of the logits, (classes,), (N, classes) or (N, classes, ...).
    target : torch.Tensor
        int64, (), (N,) or (N, ...): classes, equal on all ranks.
    weight : torch.Tensor, optional
        One number for each class of all ranks, equal on all ranks.
    ignore_index : int
        Target that is ignored.
    reduction : str
        "mean", "sum" or "none".
    comm : Comm
        The ranks.
    counts : sequence of int, optional
        Number of classes of each rank; None: all have as many as this rank, which is checked.

    Returns
    -------
    torch.Tensor
        The loss, of input's dtype; within torch.autocast float32, as torch's.

    Raises
    ------
    ShapeError, OutOfRangeError, ArgumentError, DtypeError
        On all ranks: shapes that do not fit; a target that is not a class; an unknown reduction; class probabilities as
        targets.
    """
    group = comm_or_world(comm)
    axis, parts = group._prepare(
        "cross_entropy", lambda: _check_classes(input, target, weight, ignore_index, reduction, group, counts)
    )
    if group.size > 1 and not torch.compiler.is_compiling():
        facts = {"reduction (none, mean, sum)": _REDUCTIONS.index(reduction), "ignore_index": ignore_index}
        group.agree(None, "cross_entropy", **facts)
    _compare_if_full("cross_entropy", group, target=target, weight=weight)
    if counts is None:
        _require_equal(input.size(axis), input, group, "counts (num_classes of ParallelCrossEntropy)")
    is_used = target != ignore_index
    classes = torch.where(is_used, target, 0)
    local = classes - sum(parts[: group.rank])
    logits = input.float() if input.element_size() < 4 else input
    exponentials, own = _own_classes(logits, local, axis, group)
    total, chosen = reduce(torch.stack([exponentials, own]), group).unbind()
    weights = is_used.to(logits.dtype) if weight is None else weight[classes] * is_used
    losses = torch.where(is_used, (total.log() - chosen) * weights, 0)
    if reduction == "mean":
        losses = losses.sum() / weights.sum()
    elif reduction == "sum":
        losses = losses.sum()
    return losses if torch.is_autocast_enabled(input.device.type) else losses.to(input.dtype)


def _check_classes(
    input: Any, target: Any, weight: Any, ignore_index: Any, reduction: Any, comm: Comm, counts: Sequence[int] | None
) -> tuple[int, list[int]]:
    """Checks the arguments of cross_entropy(); returns the dimension of the classes, and each rank's number of them."""
    _width(input)
    check_tensor(target, "target")
    if reduction not in _REDUCTIONS:
        raise wrong(ArgumentError, "reduction", repr(reduction), "'none', 'mean' or 'sum'")
    if not input.is_floating_point():
        raise wrong(DtypeError, "input", f"of {input.dtype}", "logits of a floating-point type")
    axis = 1 if input.dim() > 1 else 0
    expected = (*input.shape[:axis], *input.shape[axis + 1 :])
    if target.dtype != torch.int64:
        raise wrong(DtypeError, "target", f"of {target.dtype}", "classes as torch.int64")
    if target.shape != expected:
        raise wrong(ShapeError, "target", f"of shape {list(target.shape)}", f"{list(expected)}, as input has")
    parts = part_lengths(counts, input.size(axis), comm)
    if parts[comm.rank] != input.size(axis):
        raise wrong(ShapeError, "input", f"of {input.size(axis)} classes", f"counts[{comm.rank}], {parts[comm.rank]}")
    if weight is not None:
        check_tensor(weight, "weight")
        if tuple(weight.shape) != (sum(parts),):
            raise wrong(ShapeError, "weight", f"of shape {list(weight.shape)}", f"[{sum(parts)}], one for each class")
    number = as_index(ignore_index, "ignore_index")
    _check_range(torch.where(target == number, 0, target), sum(parts) or 1, "target")
    return axis, parts


def _own_classes(logits: torch.Tensor, local: torch.Tensor, axis: int, comm: Comm) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the sum of this rank's exponentials, and the logits of targets that are this rank's.

    Both are relative to the largest logit of all ranks, which keeps the exponentials finite.
    """
    extent = logits.size(axis)
    constant = logits.detach()
    largest = constant.amax(axis) if extent else constant.new_full(local.shape, -torch.inf)
    largest = operators.allreduce(largest, comm.handle, int(Op.MAX))
    shifted = logits - largest.unsqueeze(axis)
    exponentials = shifted.exp().sum(axis)
    if extent == 0:
        return exponentials, exponentials
    own = (local >= 0) & (local < extent)
    chosen = shifted.gather(axis, torch.where(own, local, 0).unsqueeze(axis)).squeeze(axis)
    return exponentials, torch.where(own, chosen, 0)
