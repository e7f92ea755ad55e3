"""Emits the enums of the C++ interface, and its methods that only call a C function with the same arguments.

A class of methods is the base of a class that users see. It has those functions of a handle that no hand-written header
of include/syncyte calls. A reduction and the direction of a scan are the last parameters, with a default. A function
that works in place without its input has a second method, without that parameter.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from emit_capi import together, wrapped
from model import Function, Header, Names

_ENUMS = {"syncyte_status_t": "status", "syncyte_dtype_t": "dtype", "syncyte_op_t": "op", "syncyte_scan_t": "scan_from",
          "syncyte_memory_t": "memory_kind", "syncyte_log_level_t": "log_level", "syncyte_lock_t": "lock_kind",
          "syncyte_compare_t": "compare"}  # fmt: skip
_PREFIX = re.compile("SYNCYTE_(ERR_|OP_|SCAN_FROM_|MEMORY_|LOG_|LOCK_|COMPARE_)?")
_VALUES = {"BOOL": "boolean", "LAND": "logical_and", "LOR": "logical_or", "LXOR": "logical_xor", "BAND": "bit_and",
           "BOR": "bit_or", "BXOR": "bit_xor", "EQ": "equal", "NE": "not_equal", "GE": "at_least",
           "LE": "at_most"}  # fmt: skip
_DEFAULTS = {"syncyte_op_t": "sum", "syncyte_scan_t": "first"}
_CLASSES = {"comm": ["collectives", "nonblocking", "messages"], "reducer": ["reducer"], "tensor": ["tensor"],
            "window": ["window"]}  # fmt: skip
_HEAD = ["// Generated from syncyte/*.h by bindings/generate; do not edit.", "// clang-format off", "#pragma once", ""]


def _comment(text: str, indent: int) -> list[str]:
    return [f"{' ' * indent}/// {line}" for line in textwrap.wrap(text, 116 - indent)]


def enums(names: Names) -> str:
    """The text of enums.hpp."""
    lines = [*_HEAD, "#include <cstdint>", "", '#include "syncyte.h"', "", "namespace syncyte {"]
    for c_name, name in _ENUMS.items():
        lines += ["", *_comment(names.enums[c_name].brief, 0), f"enum class {name} : std::int32_t {{"]
        for value in names.enums[c_name].values:
            word = _PREFIX.sub("", value.name, count=1)
            comment = f"  ///< {value.text}" if value.text else ""
            lines.append(f"  {_VALUES.get(word, word.lower())} = {value.name},{comment}")
        lines.append("};")
    return "\n".join([*lines, "", "}  // namespace syncyte", ""])


def _method(function: Function, is_in_place: bool) -> list[str]:
    result, call, arguments = "void", "check({}({}));", ["get()"]
    parameters, with_defaults, notes = list[str](), list[str](), list[str]()
    arrays = {parameter.array: parameter.name for parameter in function.parameters if parameter.array}
    for parameter in function.parameters[1:]:
        kind, declared, argument = parameter.type.name, "", ""
        name = {"buffer": "values", "op": "how"}.get(parameter.name, parameter.name)
        if name == "request":
            result, call = "request", "return started({}, {});"
        elif name == "options" or (is_in_place and parameter.optional):
            argument = "nullptr"
        elif kind == "syncyte_buffer_t":
            declared, argument = f"const {'const_' * (parameter.direction == 'in')}buffer& {name}", f"{name}.get()"
        elif parameter.array:
            declared, argument = f"std::span<const std::{kind}> {name}", f"{name}.data()"
        elif name in arrays:
            argument = f"std::ssize({arrays[name]})"
        elif kind in _DEFAULTS:
            declared, argument = f"{_ENUMS[kind]} {name} = {_ENUMS[kind]}::{_DEFAULTS[kind]}", f"raw({name})"
        elif parameter.type.pointers:
            result, call = f"std::{kind}", f"return output<std::{kind}>({{}}, {{}});"
        else:
            default = f" = {parameter.default}" if parameter.default else ""
            declared, argument = f"std::{kind} {name}{default}", name
        if declared:
            (with_defaults if kind in _DEFAULTS else parameters).append(together(declared))
            notes += _comment(f"@param {name} {parameter.text}", 2)
        arguments += [argument] if argument else []
    brief = function.brief.replace(", options->fact", "") + " In place." * is_in_place
    signature = f"{function.name.split('_', 2)[2]}({', '.join([*parameters, *with_defaults])})"
    return ["", *_comment(brief, 2), *notes, wrapped(f"{result} {signature}{together(' const {')}", 2),
            wrapped(call.format(function.name, ", ".join(arguments)), 4), "  }"]  # fmt: skip


def methods(headers: list[Header], sources: Path) -> str:
    """The text of methods.hpp: functions that no header of the folder `sources` calls."""
    written = set(re.findall(r"\bsyncyte_\w+", "".join(path.read_text() for path in sources.glob("*.hpp"))))
    lines = [*_HEAD, '#include "syncyte/base.hpp"', "", "namespace syncyte::detail {"]
    for handle, names in _CLASSES.items():
        reference = f"reference<syncyte_{handle}_t, syncyte_{handle}_retain, syncyte_{handle}_destroy>"
        lines += ["", f"class {handle}_methods : public {reference} {{", " public:", "  using reference::reference;"]
        for function in (function for header in headers if header.name in names for function in header.functions):
            if function.name in written or function.name.endswith(("_retain", "_release", "_destroy", "_ifail")):
                continue
            if any("in place" in parameter.text for parameter in function.parameters):
                lines += _method(function, is_in_place=True)
            lines += _method(function, is_in_place=False)
        lines.append("};")
    return "\n".join([*lines, "", "}  // namespace syncyte::detail", ""])
