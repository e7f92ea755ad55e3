# SPDX-License-Identifier: BSD-3-Clause
"""Emits bindings/python/syncyte/_declarations.py."""

from __future__ import annotations

import textwrap

from model import CType, Enum, Function, Header, Names, Parameter, Struct, Value, camel

_SCALARS = {
    "int8_t": "ctypes.c_int8",
    "uint8_t": "ctypes.c_uint8",
    "int32_t": "ctypes.c_int32",
    "int64_t": "ctypes.c_int64",
    "size_t": "ctypes.c_size_t",
    "double": "ctypes.c_double",
    "void": "None",
}
_CLASSES = {"syncyte_buffer_t": "BufferDescription", "syncyte_dtype_t": "DType"}
_PREAMBLE = '''"""Declarations of Syncyte's C interface for ctypes.

Generated from the C headers by bindings/generate; do not edit.

A parameter's comment states its direction, whether it may be None, and the number of elements of an array.
Handles are opaque values, passed as ctypes.c_void_p. A structure's `_defaults_` are the values its members have when
they are not zero; `struct_size` must be set to ctypes.sizeof of the structure.
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any, NamedTuple


class Function(NamedTuple):
    """Types of a C function, as ctypes names them."""

    restype: Any
    argtypes: list[Any]
'''


def class_name(name: str) -> str:
    return _CLASSES.get(name, camel(name))


class _Types:
    def __init__(self, names: Names):
        self.names = names

    def base(self, name: str) -> str:
        if name in self.names.handles:
            return "ctypes.c_void_p"
        if name in self.names.structs or name in self.names.callbacks:
            return class_name(name)
        return _SCALARS["int32_t"] if name in self.names.enums else _SCALARS[name]

    def __call__(self, ctype: CType) -> str:
        if ctype.length is not None:
            return f"{self.base(ctype.name)} * {ctype.length}"
        if ctype.pointers and ctype.name in ("char", "void"):
            text, left = ("ctypes.c_char_p" if ctype.name == "char" else "ctypes.c_void_p"), ctype.pointers - 1
        else:
            text, left = self.base(ctype.name), ctype.pointers
        for _ in range(left):
            text = f"ctypes.POINTER({text})"
        return text


def _comment(text: str, indent: int) -> str:
    return "".join(f"{' ' * indent}# {line}\n" for line in textwrap.wrap(text, 118 - indent))


def _docstring(text: str) -> str:
    lines = textwrap.wrap(text, 110)
    body = lines[0] if len(lines) == 1 else "\n    ".join(lines) + "\n    "
    return f'    """{body}"""\n'


def _values(values: tuple[Value, ...]) -> list[tuple[str, Value]]:
    """Names without SYNCYTE_ and without the word that all share."""
    words = [value.name.removeprefix("SYNCYTE_") for value in values]
    first = words[0].split("_")[0] + "_"
    cut = len(first) if all(word.startswith(first) for word in words) else 0
    return [(word[cut:], value) for word, value in zip(words, values, strict=True)]


def _enum(enum: Enum) -> str:
    values = "".join(f"    {name} = {value.value}{f'  # {value.text}' if value.text else ''}\n"
                     for name, value in _values(enum.values))  # fmt: skip
    return f"\n\nclass {class_name(enum.name)}(enum.IntEnum):\n{_docstring(enum.brief)}\n{values}"


def _struct(struct: Struct, types: _Types) -> str:
    defaults = {member.name: member.default for member in struct.members if member.default is not None}
    items = ", ".join(f'"{name}": {value}' for name, value in defaults.items())
    fields = "".join(f'        ("{member.name}", {types(member.type)}),  # {member.text}\n'
                     for member in struct.members)  # fmt: skip
    return (f"\n\nclass {class_name(struct.name)}(ctypes.Structure):\n{_docstring(struct.brief)}\n"
            f"    _defaults_: dict[str, Any] = {{{items}}}\n    _fields_ = [\n{fields}    ]\n")  # fmt: skip


def _callback(callback: Function, types: _Types) -> str:
    arguments = [types(callback.returns), *(types(parameter.type) for parameter in callback.parameters)]
    return f"\n{_comment(callback.brief, 0)}{class_name(callback.name)} = ctypes.CFUNCTYPE({', '.join(arguments)})\n"


def _parameter(parameter: Parameter, types: _Types) -> str:
    words = [parameter.direction, *(["optional"] if parameter.optional else [])]
    if parameter.array is not None:
        words.append(f"array of {parameter.array}")
    return f"            {types(parameter.type)},  # {parameter.name} ({', '.join(words)}): {parameter.text}\n"


def _function(function: Function, types: _Types) -> str:
    doc = function.brief + (f" Returns: {function.result}" if function.result else "")
    parameters = "".join(_parameter(parameter, types) for parameter in function.parameters)
    return (f'{_comment(doc, 4)}    "{function.name}": Function(\n        {types(function.returns)},\n'
            f"        [\n{parameters}        ],\n    ),\n")  # fmt: skip


def _table(name: str, headers: list[Header], types: _Types) -> str:
    functions = [function for header in headers for function in header.functions]
    return f"\n\n{name}: dict[str, Function] = {{\n" + "".join(_function(f, types) for f in functions) + "}\n"


def emit(core: list[Header], hdf5: list[Header], names: Names) -> str:
    """The text of the module."""
    types = _Types(names)
    everything = [*core, *hdf5]
    text = _PREAMBLE + "\n"
    for header in everything:
        for constant in header.constants:
            note = f"  # {constant.text}" if constant.text and len(constant.text) < 80 else ""
            text += f"\n{constant.name.removeprefix('SYNCYTE_')} = {constant.value}{note}"
    text += "\n"
    for header in everything:
        text += "".join(_enum(enum) for enum in header.enums)
    text += "\n\n# The same values by their names in C.\n"
    for header in everything:
        text += "".join(f"{value.name} = {value.value}\n" for enum in header.enums for value in enum.values)
    for header in everything:
        text += "".join(_struct(struct, types) for struct in header.structs)
    text += "\n"
    for header in everything:
        text += "".join(_callback(callback, types) for callback in header.callbacks)
    return text + _table("CORE", core, types) + _table("HDF5", hdf5, types)
