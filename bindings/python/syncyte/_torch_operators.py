"""The operations of libsyncyte_torch, torch.ops.syncyte; importing this module loads them."""

from __future__ import annotations

import typing

import torch

from . import _library, _torch_vmap

torch.ops.load_library(_library.find("syncyte_torch"))
operators = torch.ops.syncyte  # finding the namespace anew costs microseconds


class Row(typing.NamedTuple):
    """An operator in the library's table."""

    packet: str
    overload: str
    is_effectful: bool
    batching: str  #: how torch.vmap runs it
    axes: list[int]  #: which arguments are axes
    shapes: list[int]  #: and which are shapes

    @property
    def operator(self) -> typing.Any:
        return getattr(getattr(operators, self.packet), self.overload)


def table() -> list[Row]:
    """All operators."""
    rows = (line.split(",") for line in operators.operator_table())
    return [Row(packet.removeprefix("syncyte::"), overload, bool(effectful), batching, [int(i) for i in axes.split()],
                [int(i) for i in shapes.split()])
            for packet, overload, effectful, batching, axes, shapes in rows]


def _register_effects(rows: list[Row]) -> None:
    """Compiled code keeps the order of operators that communicate, and runs them even if nobody uses their results.

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


_register_effects(table())
for _row in table():
    _torch_vmap.register(_row.operator, _row.batching, _row.axes, _row.shapes)
