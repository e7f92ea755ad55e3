# SPDX-License-Identifier: BSD-3-Clause
"""Differentiable operations of bundles: copies of the caller's tensors take the place of the bundle's arrays."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.autograd import forward_ad

from . import _declarations as c
from . import _library, dtypes
from ._buffers import as_buffer, descriptions
from ._checks import as_int64, check_kind, integers, wrong
from ._torch_collectives import _given
from ._torch_refusals import check_movable, check_tensor, never_compiled
from .bundle import _REFUSED, Bundle
from .errors import ArgumentError

__all__ = ["bundle_exchange", "bundle_sum"]

_EXCHANGE, _ACCUMULATE, _SUM = range(3)  # as syncyte_bundle_transfer() numbers them
_TANGENTS = 2
_ADJOINTS = {_EXCHANGE: _ACCUMULATE, _ACCUMULATE: _EXCHANGE, _SUM: _SUM}

Fields = Mapping[str, "torch.Tensor | Sequence[torch.Tensor] | None"]
Results = dict[str, "torch.Tensor | list[torch.Tensor] | None"]


@contextlib.contextmanager
def _refused_on_failure(bundle: Bundle, operation: int) -> Iterator[None]:
    """Tells the neighbours of an exception, in place of the operation."""
    try:
        yield
    except Exception:
        _library.call_refused("syncyte_bundle_transfer", bundle.handle, operation, 0, *_REFUSED, None, 0, None)
        raise


class _Transfer(NamedTuple):
    """An operation of a bundle on some of its fields, and what neighbours compare."""

    bundle: Bundle
    operation: int
    depth: int
    names: tuple[str, ...]
    blocks: tuple[int, ...]  #: of this rank, of each of the fields
    gradients: int  #: 1: they are recorded; 2: there are tangents; their sum
    forward: int  #: the operation's number, or that of the operation whose gradients are moved

    def run(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Results on the inputs' devices; the inputs stay as they are."""
        with _refused_on_failure(self.bundle, self.operation):
            host = [each.detach().to("cpu", copy=True).contiguous() for each in tensors]
            buffers = [as_buffer(each, "fields", writable=True, contiguous=False) for each in host]
        facts = (c.Fact * 2)(
            _library.new_struct(c.Fact, name=b"gradients that are recorded", value=self.gradients),
            _library.new_struct(c.Fact, name=b"number of the forward", value=self.forward),
        )
        options = _library.new_struct(c.CollectiveOptions, fact_count=2)
        options.facts = facts
        flags = [int(name in self.names) for name in self.bundle.fields]
        mask = len(flags), integers(ctypes.c_int32, flags or [0], "fields")
        _library.core().syncyte_bundle_transfer(
            self.bundle.handle, self.operation, self.depth, *mask, options, len(buffers),
            descriptions(buffers),
        )  # fmt: skip
        return [result.to(given.device) for result, given in zip(host, tensors, strict=True)]

    def of(self, differentiable: Sequence[bool]) -> _Transfer:
        """The operation on the fields that can have gradients, which are the same on all ranks."""
        kept = [place for place, moved in enumerate(differentiable) if moved]
        names = tuple(self.names[place] for place in kept)
        return self._replace(names=names, blocks=tuple(self.blocks[place] for place in kept))


class _Moved(torch.autograd.Function):
    """A linear operation, whose derivatives are itself and its adjoint."""

    @staticmethod
    def forward(
        transfer: _Transfer, differentiable: Sequence[bool], *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        return tuple(transfer.run(tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        ctx.transfer, differentiable = inputs[:2]
        ctx.part = ctx.transfer.of(differentiable)
        ctx.moves = [
            is_one for is_one, count in zip(differentiable, ctx.transfer.blocks, strict=True) for _ in range(count)
        ]
        ctx.mark_non_differentiable(*_chosen(output, [not is_one for is_one in ctx.moves]))
        ctx.save_for_forward(*inputs[2:])

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        is_recorded = torch.is_grad_enabled() and any(each.requires_grad for each in _chosen(gradients, ctx.moves))
        adjoint = ctx.part._replace(operation=_ADJOINTS[ctx.part.operation], gradients=int(is_recorded))
        return None, None, *_moved(adjoint, gradients, ctx.moves)

    @staticmethod
    def jvp(ctx: Any, _transfer: None, _differentiable: None, *tangents: torch.Tensor | None) -> tuple[Any, ...]:
        given = [
            torch.zeros_like(at) if tangent is None else tangent
            for tangent, at in zip(tangents, ctx.saved_tensors, strict=True)
        ]
        return tuple(_moved(ctx.part._replace(gradients=_TANGENTS), given, ctx.moves))


def _chosen(values: Sequence[Any], which: Sequence[bool]) -> list[Any]:
    return [value for value, is_chosen in zip(values, which, strict=True) if is_chosen]


def _moved(
    transfer: _Transfer, tensors: Sequence[torch.Tensor], moves: Sequence[bool]
) -> Iterator[torch.Tensor | None]:
    """Moves those tensors that can have gradients; None in place of the others."""
    given = _chosen(tensors, moves)
    results = iter(_Moved.apply(transfer, [True] * len(transfer.names), *given) if given else transfer.run([]))
    return (next(results) if is_moved else None for is_moved in moves)


def _checked(bundle: Bundle, fields: Fields, mixed_grad: bool) -> tuple[list[torch.Tensor], list[bool], dict[str, int]]:
    """The tensors in the order of the bundle's fields, whether each field can have gradients, and its blocks here."""
    bundle._finish_dropped()
    check_kind(fields, Mapping, "fields", "a mapping of names to tensors")
    for name in fields:
        if name not in bundle.fields:
            raise wrong(ArgumentError, "fields", repr(name), f"names of fields: {', '.join(bundle.fields)}")
    tensors, differentiable, blocks = [], [], {}
    for name in (each for each in bundle.fields if each in fields):
        value = fields[name]
        several: list[Any] = list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]
        wanted = len(bundle._arrays[name])
        if len(several) != wanted:
            found, expected = f"{len(several)} tensors", f"{wanted}, one for each block of this rank"
            raise wrong(ArgumentError, f"fields[{name!r}]", found, expected)
        for tensor in several:
            check_tensor(tensor, f"fields[{name!r}]")
            check_movable(tensor, f"fields[{name!r}]", "an operation of a bundle")
        blocks[name] = len(several)
        element = dtypes.torch_dtype(c.DType(bundle._elements[name]))
        differentiable.append(element.is_floating_point or element.is_complex)
        tensors += [_given(each, mixed_grad and differentiable[-1]) for each in several]
    return tensors, differentiable, blocks


def _run(bundle: Bundle, operation: int, depth: Any, fields: Fields, mixed_grad: bool) -> Results:
    check_kind(bundle, Bundle, "bundle", "a syncyte.Bundle")
    with _refused_on_failure(bundle, operation):
        bundle._torch_operations += 1  # also of one that fails here: the neighbours count it
        tensors, differentiable, blocks = _checked(bundle, fields, mixed_grad)
        layers = as_int64(depth, "depth")
    is_recorded = torch.is_grad_enabled() and (mixed_grad or any(each.requires_grad for each in tensors))
    has_tangents = any(forward_ad.unpack_dual(each).tangent is not None for each in tensors)
    facts = int(is_recorded) + _TANGENTS * has_tangents, bundle._torch_operations
    transfer = _Transfer(bundle._retained(), operation, layers, tuple(blocks), tuple(blocks.values()), *facts)
    moved = iter(_Moved.apply(transfer, differentiable, *tensors) if tensors else transfer.run([]))
    results: Results = {}
    for name, count in blocks.items():
        own = [next(moved) for _ in range(count)]
        results[name] = own if isinstance(fields[name], (list, tuple)) else own[0] if own else None
    return results


@never_compiled("bundles have no operators of torch")
def bundle_exchange(bundle: Bundle, fields: Fields, *, depth: int = 0, mixed_grad: bool = False) -> Results:
    """Returns new tensors of a bundle's fields, with their ghosts, and copies of shared points, as after an exchange.

    All ranks of the bundle's communicator call it, with the same names; it waits for the neighbours only. The bundle's
    own arrays are neither read nor written. Differentiable, any number of times, backward and forward: the adjoint is
    :meth:`syncyte.Bundle.accumulate`. Gradients are recorded on all neighbours or on none, and backward runs on all of
    them, in the same order. In torch.compile it breaks the graph.

    Parameters
    ----------
    bundle : Bundle
        A bundle without an operation in flight.
    fields : mapping of str to tensor, sequence of tensors, or None
        For each field that takes part this rank's tensor, one for each of its blocks, or None without a block; shapes
        and element types as of the bundle's arrays, on any device.
    depth : int
        As of :meth:`syncyte.Bundle.exchange`.
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    dict
        For each of the fields, in the bundle's order, what was given for it.

    Raises
    ------
    MismatchError
        Neighbours differ in names, depth, operation, or in whether they record gradients.
    ArgumentError, ShapeError, DtypeError
        Other tensors than the bundle's fields have: here, and as an error of some class on the neighbours.
    UnsupportedError
        Likewise: a sparse, quantised, nested or meta tensor; within torch.vmap, make_fx or torch.export.
    """
    return _run(bundle, _EXCHANGE, depth, fields, mixed_grad)


@never_compiled("bundles have no operators of torch")
def bundle_sum(bundle: Bundle, fields: Fields, *, mixed_grad: bool = False) -> Results:
    """Returns new tensors of a bundle's fields, in which each shared point has the sum of its copies.

    It is its own adjoint; otherwise as bundle_exchange().

    Parameters
    ----------
    bundle : Bundle
        A bundle without an operation in flight.
    fields : mapping of str to tensor, sequence of tensors, or None
        As of bundle_exchange().
    mixed_grad : bool
        See :mod:`syncyte.torch`.

    Returns
    -------
    dict
        For each of the fields, in the bundle's order, what was given for it.

    Raises
    ------
    MismatchError, ArgumentError, ShapeError, DtypeError
        As of bundle_exchange().
    """
    return _run(bundle, _SUM, 0, fields, mixed_grad)
