# SPDX-License-Identifier: BSD-3-Clause
"""Emits one Fortran module per C header, and syncyte_c, which makes the core's modules one."""

from __future__ import annotations

import textwrap

from model import CType, Function, Header, Names, Parameter, Struct

_KINDS = {
    "int8_t": "integer(c_int8_t)",
    "uint8_t": "integer(c_int8_t)",
    "int32_t": "integer(c_int32_t)",
    "int64_t": "integer(c_int64_t)",
    "size_t": "integer(c_size_t)",
    "double": "real(c_double)",
}
_BYTES = {"int8_t": 1, "uint8_t": 1, "int32_t": 4}  # everything else takes 8
# Outputs too: C writes none after an error, and a compiler may drop what was stored before a call with intent(out).
_INTENTS = {"in": "intent(in)", "out": "intent(inout)", "in,out": "intent(inout)"}
_WIDTH = 116


def comment(text: str, indent: int, mark: str = "!") -> list[str]:
    pad = " " * indent
    return [f"{pad}{mark} {line}" for line in textwrap.wrap(text, _WIDTH - indent - len(mark) - 1)]


def fold_statement(line: str, indent: int) -> list[str]:
    """A statement, continued where it is long; its comment then goes before it."""
    pad = " " * (indent + len(line) - len(line.lstrip()))
    if len(" " * indent + line) <= _WIDTH + 14 and "!!" in line:
        return [" " * indent + line]
    code, _, text = line.strip().partition("  !! ")
    parts = textwrap.wrap(code, _WIDTH - len(pad) - 4, break_long_words=False, break_on_hyphens=False)
    return comment(text, len(pad)) + [pad + part for part in " &\n    ".join(parts).splitlines()]


class Types:
    def __init__(self, names: Names):
        self.names = names

    def base(self, ctype: CType) -> str:
        """Type of a value, of an element or of a structure."""
        if ctype.name in self.names.handles or ctype.name == "void" or ctype.pointers > 1:
            return "type(c_ptr)"
        if ctype.name in self.names.structs:
            return f"type({ctype.name})"
        return _KINDS["int32_t"] if ctype.name in self.names.enums else _KINDS[ctype.name]

    def layout(self, ctype: CType) -> tuple[int, int]:
        """Size and alignment of a member, in bytes, where pointers and size_t take 8."""
        if ctype.name in self.names.structs and ctype.pointers == 0:
            return self.size(self.names.structs[ctype.name]), 8
        one = 4 if ctype.name in self.names.enums else _BYTES.get(ctype.name, 8)
        one = 8 if ctype.pointers else one
        return one * (ctype.length or 1), one

    def size(self, struct: Struct) -> int:
        offset = widest = 0
        for member in struct.members:
            size, alignment = self.layout(member.type)
            offset = -(-offset // alignment) * alignment + size
            widest = max(widest, alignment)
        return -(-offset // widest) * widest

    def member(self, ctype: CType) -> str:
        """Type of a structure's member or of a function's result."""
        if ctype.pointers or ctype.name in self.names.handles:
            return "type(c_ptr)"
        return self.base(ctype)

    def argument(self, parameter: Parameter, element: str = "") -> str:
        """Declaration of a dummy argument; `element` is the type of a pointer's elements."""
        ctype = parameter.type
        optional = ", optional" if parameter.optional else ""
        if parameter.pointer:
            return f"{element}, pointer, intent(inout) :: {parameter.name}(..)"
        if ctype.name == "CFI_cdesc_t":
            intent = "in" if ctype.const else "inout"
            return f"type(*), dimension(..), intent({intent}), target, asynchronous{optional} :: {parameter.name}"
        if parameter.callback:
            return f"type(c_funptr), value :: {parameter.name}"
        if parameter.string:
            head, shape = "character(kind=c_char), intent(in)", "(*)"
        elif ctype.pointers == 0:
            return f"{self.base(ctype)}, value :: {parameter.name}"
        elif ctype.name == "void" and ctype.pointers == 1:
            return f"type(c_ptr), value :: {parameter.name}"
        else:
            intent = "intent(in)" if ctype.const and ctype.pointers == 1 else _INTENTS[parameter.direction]
            intent = "intent(inout), target, asynchronous" if parameter.kept and ctype.name == "int64_t" else intent
            head, shape = f"{self.base(ctype)}, {intent}", "(*)" if parameter.array is not None else ""
        return f"{head}{optional} :: {parameter.name}{shape}"


def _struct(struct: Struct, types: Types) -> list[str]:
    lines = ["", *comment(struct.brief, 2, "!>"), f"  type, bind(C) :: {struct.name}"]
    for member in struct.members:
        kind = types.member(member.type)
        lines += comment(member.text, 4)
        if member.name == "struct_size":
            value = f" = {types.size(struct)}_c_size_t"
        elif kind == "type(c_ptr)":
            value = " = c_null_ptr"
        elif kind.startswith("type("):
            value = ""
        else:
            suffix = kind[kind.index("(") + 1 : -1]
            value = f" = {0 if member.default is None else member.default}_{suffix}"
        shape = f"({member.type.length})" if member.type.length is not None else ""
        lines.append(f"    {kind} :: {member.name}{shape}{value}")
    return [*lines, f"  end type {struct.name}"]


def interface(function: Function, types: Types, element: str) -> list[str]:
    """An interface block of its own, where a pointer's type is not always the same."""
    return ["    interface", *("  " + line for line in _function(function, types, element)[1:]), "    end interface"]


def _function(function: Function, types: Types, element: str = "") -> list[str]:
    lines = ["", *comment(function.brief, 4, "!>")]
    for parameter in function.parameters:
        lines += comment(f"{parameter.name} [{parameter.direction}]: {parameter.text}", 4)
    if function.result:
        lines += comment(f"Returns: {function.result}", 4)
    names = ", ".join(parameter.name for parameter in function.parameters)
    lines += fold_statement(f'function {function.name}({names}) bind(C, name="{function.name}") result(answer)', 4)
    lines.append("      import")
    lines += [f"      {types.argument(parameter, element)}" for parameter in function.parameters]
    return [*lines, f"      {types.member(function.returns)} :: answer", f"    end function {function.name}"]


def _module_name(header: str) -> str:
    return "syncyte_c" if header == "syncyte" else f"syncyte_{header}_c"


# A name that the module syncyte has too: only the header's own module has C's, so that a program may use syncyte and
# syncyte_c.
_OWN = {"comm": ("syncyte_finalize",)}


def _uses(headers: list[str]) -> tuple[list[str], list[str]]:
    """Statements that use the headers' modules, and those that follow `public`."""
    hidden = [f"c_{name}" for header in headers for name in _OWN.get(header, ())]
    uses = [f"  use {_module_name(each)}" + "".join(f", c_{name} => {name}" for name in _OWN.get(each, ()))
            for each in headers]  # fmt: skip
    return uses, [f"  private :: {', '.join(hidden)}"] if hidden else []


def _module(header: Header, types: Types, folder: str) -> str:
    name = _module_name(header.name)
    uses, hidden = _uses([other for other in header.included if other != "export"])
    lines = [
        f"! Generated from {folder}/{header.name}.h by bindings/generate; do not edit.",
        *comment(header.brief, 0, "!>"),
        f"module {name}",
        "  use, intrinsic :: iso_c_binding",
        *uses,
        "  implicit none",
        "  public",
        *hidden,
    ]
    for constant in header.constants:
        lines += ["", *comment(constant.text, 2, "!>")]
        lines.append(f"  integer(c_int32_t), parameter :: {constant.name} = {constant.value}_c_int32_t")
    for enum in header.enums:
        lines += ["", *comment(enum.brief, 2, "!>")]
        for value in enum.values:
            lines += comment(value.text, 2)
            lines.append(f"  integer(c_int32_t), parameter :: {value.name} = {value.value}_c_int32_t")
    for struct in header.structs:
        lines += _struct(struct, types)
    lines += ["", "  interface"]
    for function in header.functions:
        if not any(parameter.pointer for parameter in function.parameters):
            lines += _function(function, types)
    return "\n".join([*lines, "  end interface", f"end module {name}", ""])


def _umbrella(core: list[Header]) -> str:
    lines = ["! Generated by bindings/generate; do not edit.",
             "!> The core's C interface. C's syncyte_finalize is in syncyte_comm_c alone, because the module syncyte",
             "!> has a subroutine of this name.",
             "module syncyte_c"]  # fmt: skip
    uses, hidden = _uses([header.name for header in core])
    return "\n".join([*lines, *uses, "  implicit none", "  public", *hidden, "end module syncyte_c", ""])


def _constants(headers: list[Header]) -> str:
    """A module of the numbers alone, for modules that users see."""
    lines = ["! Generated by bindings/generate; do not edit.", "!> The core's numbers.", "module syncyte_constants"]
    for header in headers:
        values = [*header.constants, *(value for enum in header.enums for value in enum.values)]
        if values:
            shown = ", ".join(value.name for value in values)
            lines += fold_statement(f"use {_module_name(header.name)}, only: {shown}", 2)
    return "\n".join([*lines, "  implicit none", "  public", "end module syncyte_constants", ""])


def include(names: Names) -> str:
    """The element types for Fortran 77, in lines of fixed and of free form."""
    lines = ["! Generated by bindings/generate; do not edit. Element types, for subroutines of Fortran 77."]
    for value in names.enums["syncyte_dtype_t"].values:
        lines += [f"      INTEGER {value.name}", f"      PARAMETER ({value.name}={value.value})"]
    return "\n".join([*lines, ""])


def emit(core: list[Header], hdf5: list[Header], helpers: list[Header], names: Names) -> dict[str, str]:
    """Text of every file, by its name."""
    types, files = Types(names), {}
    for header in [*core, *hdf5, *helpers]:
        folder = "helpers" if header in helpers else "syncyte"
        files[f"{_module_name(header.name)}.f90"] = _module(header, types, folder)
    files["syncyte_c.f90"] = _umbrella(core)
    files["syncyte_constants.f90"] = _constants(core)
    return files
