# SPDX-License-Identifier: BSD-3-Clause
"""XDMF: a description, beside a checkpoint, of its fields as arrays on regular grids, for ParaView and VisIt.

The format: https://www.xdmf.org/index.php/XDMF_Model_and_Format
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

from ._checks import wrong
from ._declarations import DType
from .errors import ArgumentError, ShapeError

Shape = tuple[int, ...]
_MOST_AXES = 3
_TYPES = {
    DType.INT8: ("Char", 1),
    DType.UINT8: ("UChar", 1),
    DType.BOOL: ("UChar", 1),
    DType.INT16: ("Short", 2),
    DType.INT32: ("Int", 4),
    DType.INT64: ("Int", 8),
    DType.FLOAT32: ("Float", 4),
    DType.FLOAT64: ("Float", 8),
}  # of XDMF: name and bytes


def _per_axis(value: Any, name: str) -> list[float]:
    """A number for each axis of a grid, the last ones for the last axes; one stands for all."""
    try:
        numbers = [float(each) for each in value] if hasattr(value, "__iter__") else [float(value)] * _MOST_AXES
    except (TypeError, ValueError):
        raise wrong(ArgumentError, name, repr(value), "a number, or one for each axis") from None
    if not 1 <= len(numbers) <= _MOST_AXES:
        raise wrong(ShapeError, f"length of {name}", len(numbers), f"1 to {_MOST_AXES}, one for each axis")
    return numbers


def _grids(shapes: Mapping[str, Shape]) -> dict[Shape, list[tuple[str, str]]]:
    """The grids by their cells, each with its fields and where their values lie."""
    known = set(shapes.values())
    result: dict[Shape, list[tuple[str, str]]] = {}
    for key, shape in shapes.items():
        cells = tuple(extent - 1 for extent in shape)
        is_nodes = cells in known
        result.setdefault(cells if is_nodes else shape, []).append((key, "Node" if is_nodes else "Cell"))
    return result


def _dataset(key: str) -> str:
    """The name of a key's dataset in the file (docs/checkpoints.md)."""
    return "%2E" if key == "." else key.replace("%", "%25").replace("/", "%2F")


def _text(numbers: Sequence[Any]) -> str:
    return " ".join(map(str, numbers))


def _add_grid(
    parent: ElementTree.Element, cells: Shape, spacing: Sequence[float], origin: Sequence[float]
) -> ElementTree.Element:
    """A grid of three axes, slowest first; those that the fields lack have one layer of nodes."""
    if min(len(spacing), len(origin)) < len(cells):
        expected = f"{len(cells)} numbers, one for each axis of the fields"
        raise wrong(ShapeError, "spacing and origin", f"{len(spacing)} and {len(origin)} numbers", expected)
    grid = ElementTree.SubElement(parent, "Grid", Name=f"cells {_text(cells)}", GridType="Uniform")
    missing = _MOST_AXES - len(cells)
    corners = _text([1] * missing + [extent + 1 for extent in cells])
    ElementTree.SubElement(grid, "Topology", TopologyType="3DCoRectMesh", Dimensions=corners)
    geometry = ElementTree.SubElement(grid, "Geometry", GeometryType="ORIGIN_DXDYDZ")
    for numbers, filling in ((origin, 0.0), (spacing, 1.0)):
        item = ElementTree.SubElement(
            geometry, "DataItem", Format="XML", Dimensions=str(_MOST_AXES), NumberType="Float"
        )
        item.text = _text([filling] * missing + list(numbers)[-len(cells) :])
    return grid


def write(path: str, step: int, entries: Mapping[str, tuple[Shape, DType]], spacing: Any, origin: Any) -> str:
    """Writes path.xdmf about the keys and their arrays; returns its path."""
    widths, first = _per_axis(spacing, "spacing"), _per_axis(origin, "origin")
    shown = {
        key: shape for key, (shape, dtype) in entries.items() if 1 <= len(shape) <= _MOST_AXES and dtype in _TYPES
        and all(shape)
    }  # fmt: skip
    root = ElementTree.Element("Xdmf", Version="3.0")
    domain = ElementTree.SubElement(root, "Domain")
    all_grids = ElementTree.SubElement(domain, "Grid", Name="fields", GridType="Collection", CollectionType="Spatial")
    ElementTree.SubElement(all_grids, "Time", Value=str(step))
    for cells, fields in _grids(shown).items():
        grid = _add_grid(all_grids, cells, widths, first)
        for key, center in fields:
            kind, size = _TYPES[entries[key][1]]
            attribute = ElementTree.SubElement(grid, "Attribute", Name=key, AttributeType="Scalar", Center=center)
            extents = _text(shown[key])
            item = ElementTree.SubElement(
                attribute, "DataItem", Format="HDF", Dimensions=extents, NumberType=kind, Precision=str(size)
            )
            item.text = f"{os.path.basename(path)}:/{_dataset(key)}"
    ElementTree.indent(root)
    target = f"{path}.xdmf"
    ElementTree.ElementTree(root).write(target, encoding="utf-8", xml_declaration=True)
    return target
