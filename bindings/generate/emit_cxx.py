# SPDX-License-Identifier: BSD-3-Clause
"""Emits the enums of the C++ interface, and its methods that only call a C function with the same arguments.

A class of methods is the base of a class that users see. It has the functions of a handle that are not {cxx_by_hand}.
A reduction and flags are the last parameters, with a default. A function that works in place without its input has a
second method, without that parameter.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from comments import AnnotationError
from emit_capi import fold_line, unbreakable
from model import Function, Header, Names, Parameter

_ENUMS = {"syncyte_status_t": "status", "syncyte_dtype_t": "dtype", "syncyte_op_t": "op",
          "syncyte_memory_t": "memory_kind", "syncyte_log_level_t": "log_level", "syncyte_lock_t": "lock_kind",
          "syncyte_compare_t": "compare", "syncyte_optimizer_t": "optimizer", "syncyte_store_homes_t": "store_homes",
          "syncyte_store_intents_t": "store_intents", "syncyte_store_scheme_t": "sampling_scheme",
          "syncyte_store_distribution_t": "sampling_distribution", "syncyte_truth_t": "truth"}  # fmt: skip
_PREFIX = re.compile(
    "SYNCYTE_(ERR_|OP_|MEMORY_|LOG_|LOCK_|COMPARE_|OPTIMIZER_|STORE_HOMES_|STORE_INTENTS_|STORE_|TRUTH_)?"
)
_VALUES = {"BOOL": "boolean", "LAND": "logical_and", "LOR": "logical_or", "LXOR": "logical_xor", "BAND": "bit_and",
           "BOR": "bit_or", "BXOR": "bit_xor", "EQ": "equal", "NE": "not_equal", "GE": "at_least",
           "LE": "at_most"}  # fmt: skip
_DEFAULTS = {"syncyte_op_t": ("how", "sum")}  # names of parameters, and values
_CLASSES = {"comm": ["collectives", "messages"], "reducer": ["reducer"], "tensor": ["tensor"],
            "window": ["window"], "store": ["store"], "store_worker": ["store"],
            "cache": ["cache"], "models": ["models"], "publication": ["models"],
            "model": ["models"]}  # fmt: skip
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


@dataclass
class _Argument:
    """One parameter of a C function in a C++ method."""

    passed: str  # to the C function
    declared: str = ""  # as a parameter of the method; "" if it is not one
    note: str = ""
    has_default: bool = False


def _is_result(parameter: Parameter) -> bool:
    is_input = parameter.type.name == "syncyte_buffer_t" or parameter.array or parameter.is_options
    return parameter.type.pointers > 0 and not is_input


def _text(parameter: Parameter, is_in_place: bool) -> str:
    """The parameter's text: only the method without the input works in place, in the array that gets the result."""
    if parameter.in_place or (is_in_place and parameter.direction == "in,out"):
        return "contiguous; " * parameter.contiguous + "this rank's elements" + ", then the result" * is_in_place
    return _with_cxx_names(parameter.text)


def _with_cxx_names(text: str) -> str:
    """syncyte_comm_scan() -> scan()."""
    prefixes = "|".join(sorted([*_CLASSES, "message"], key=len, reverse=True))
    return re.sub(rf"\bsyncyte_(?:(?:{prefixes})_)?(\w+\(\))", r"\1", text)


def _argument(parameter: Parameter, arrays: dict[str, str], is_in_place: bool) -> _Argument:
    """`arrays`: names of the arrays, by those of their lengths."""
    kind = parameter.type.name
    name, value = _DEFAULTS.get(kind, (parameter.name, ""))
    note = f"@param {name} {_text(parameter, is_in_place)}"
    if parameter.is_options or (is_in_place and parameter.in_place):
        return _Argument("nullptr")
    if kind == "syncyte_buffer_t":
        return _Argument(f"{name}.get()", f"const {'const_' * (parameter.direction == 'in')}buffer& {name}", note)
    if parameter.array:
        return _Argument(f"{name}.data()", f"std::span<const std::{kind}> {name}", note)
    if name in arrays:
        return _Argument(f"std::ssize({arrays[name]})")
    if value:
        declared = f"{_ENUMS[kind]} {name} = {_ENUMS[kind]}::{value}"
        return _Argument(f"raw({name})", declared, note, has_default=True)
    if parameter.flag:
        return _Argument(name, f"bool {name} = false", note, has_default=True)
    default = f" = {parameter.default}" if parameter.default else ""
    declared = kind if kind == "double" else f"std::{kind}"
    return _Argument(name, f"{declared} {name}{default}", note)


def _call(function: Function, arguments: list[_Argument]) -> tuple[str, str]:
    """Type of the method's result, and its statement."""
    passed, last = ", ".join(["get()", *(argument.passed for argument in arguments)]), function.parameters[-1]
    if not _is_result(last):
        return "void", f"check({function.name}({passed}));"
    if last.is_request:
        return "request", f"return started({function.name}, {passed});"
    return f"std::{last.type.name}", f"return fetch<std::{last.type.name}>({function.name}, {passed});"


def _method(function: Function, handle: str, is_in_place: bool) -> list[str]:
    arrays = {parameter.array: parameter.name for parameter in function.parameters if parameter.array}
    arguments = [_argument(parameter, arrays, is_in_place) for parameter in function.parameters[1:]
                 if not _is_result(parameter)]  # fmt: skip
    named = [argument for argument in arguments if argument.declared]
    declared = ", ".join(unbreakable(each.declared) for each in sorted(named, key=lambda each: each.has_default))
    result, statement = _call(function, arguments)
    name = function.name.removeprefix(f"syncyte_{handle}_")
    name = name.split("_", 2)[2] if name == function.name else name
    signature = f"{result} {name}({declared}){unbreakable(' const {')}"
    brief = _with_cxx_names(function.brief).replace(", options->fact", "") + " In place." * is_in_place
    notes = [line for each in named for line in _comment(each.note, 2)]
    return ["", *_comment(brief, 2), *notes, fold_line(signature, 2), fold_line(statement, 4), "  }"]


def methods(headers: list[Header]) -> str:
    """The text of methods.hpp."""
    by_hand = {function.name: function for header in headers for function in header.functions
               if function.cxx_by_hand in (True, "blocking")}  # fmt: skip
    lines = [*_HEAD, '#include "syncyte/base.hpp"', "", "namespace syncyte::detail {"]
    for handle, names in _CLASSES.items():
        reference = f"reference<syncyte_{handle}_t, syncyte_{handle}_retain, syncyte_{handle}_destroy>"
        lines += ["", f"class {handle}_methods : public {reference} {{", " public:", "  using reference::reference;"]
        for function in (function for header in headers if header.name in names for function in header.functions):
            if not function.parameters or function.parameters[0].type.name != f"syncyte_{handle}_t":
                continue
            if by_hand.pop(function.name, None) or function.name.endswith(("_retain", "_release", "_destroy")):
                continue
            if any(parameter.in_place for parameter in function.parameters):
                lines += _method(function, handle, is_in_place=True)
            lines += _method(function, handle, is_in_place=False)
        lines.append("};")
    for function in by_hand.values():
        raise AnnotationError(
            f"{function.where}: {function.name}: no method follows from it, so that it cannot be {{cxx_by_hand}}"
        )
    return "\n".join([*lines, "", "}  // namespace syncyte::detail", ""])
