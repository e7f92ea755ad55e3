"""Emits C functions that follow from their declarations.

A collective's calls the function of src/collectives with the same name and arguments, without options and lengths of
arrays; that which retains, releases or destroys a handle calls its table.
"""

from __future__ import annotations

import textwrap

from model import Function, Header, Names, Parameter

_COLLECTIVES = """// Generated from syncyte/collectives.h and syncyte/nonblocking.h by bindings/generate; do not edit.
// clang-format off
#include "collectives/collectives.hpp"

#include "collective_calls.hpp"
#include "comm_table.hpp"
#include "guard.hpp"
#include "syncyte/collectives.h"
#include "syncyte/nonblocking.h"

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {
"""

_HANDLES = """// Generated from syncyte/*.h by bindings/generate; do not edit.
#include "guard.hpp"
#include "handle_tables.hpp"

using namespace syncyte::capi;

extern "C" {
"""


_SPACE = "\N{NO-BREAK SPACE}"  # where a line must not be broken


def _declared(parameter: Parameter) -> str:
    const = "const " if parameter.type.const else ""
    return f"{const}{parameter.type.name}{'*' * parameter.type.pointers} {parameter.name}".replace(" ", _SPACE)


def _arguments(function: Function) -> list[str]:
    """Arguments of the core's function, without the communicator and the options."""
    arguments = []
    lengths = {parameter.array for parameter in function.parameters if parameter.type.const}
    for parameter in function.parameters:
        if parameter.type.const and parameter.array is not None:
            arguments.append(f"{{{parameter.name},{_SPACE}{parameter.array}}}")
        elif parameter.name not in ("comm", "options", "request", *lengths):
            arguments.append(parameter.name)
    return arguments


def _traced(function: Function) -> list[str]:
    """Statements that record the bytes of this rank's part and the root."""
    buffers = [parameter for parameter in function.parameters if parameter.type.name == "syncyte_buffer_t"]
    names = [parameter.name for parameter in buffers]
    statements = []
    if buffers:
        given = f"{names[0]} != nullptr ? {names[0]} : {names[1]}" if buffers[0].optional else names[0]
        statements.append(f"trace_buffer({given});")
    if any(parameter.name == "root" for parameter in function.parameters):
        statements.append("trace_peer(root);")
    return statements


def _wrapped(text: str, indent: int) -> str:
    lines = textwrap.wrap(text, 120 - indent, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines).replace(_SPACE, " "), " " * indent)


def _function(function: Function) -> str:
    operation = function.name.removeprefix("syncyte_")
    called = f"collectives::{operation.removeprefix('comm_')}"
    is_start = function.parameters[-1].name == "request"
    if is_start:
        opening = (f'return start_request("{operation}", comm, options, request, '
                   "[&](const auto& group, const auto& more) {")  # fmt: skip
        call = f"return {called}({', '.join(['group', *_arguments(function), 'more'])});"
    else:
        opening = f'return started<forks_too>("{operation}", [&] {{'
        call = f"{called}({', '.join(['*find_comm(comm)', *_arguments(function), 'extras(options)'])});"
    signature = f"{function.returns.name} {function.name}({', '.join(map(_declared, function.parameters))}){_SPACE}{{"
    body = [_wrapped(statement, 4) for statement in [*_traced(function), call]]
    return "\n".join(["", _wrapped(signature, 0), _wrapped(opening, 2), *body, "  });", "}", ""])


def collectives(headers: list[Header]) -> str:
    """The text of collectives.cpp."""
    functions = [function for header in headers if header.name in ("collectives", "nonblocking")
                 for function in header.functions
                 if any(parameter.name == "options" for parameter in function.parameters)]  # fmt: skip
    return _COLLECTIVES + "".join(map(_function, functions)) + "}\n"


def _reference(function: Function) -> str:
    """A function that retains, releases or destroys a handle."""
    handle = function.parameters[0]
    table, action = function.name.removeprefix("syncyte_").rsplit("_", 1)
    return f"""
syncyte_status_t {function.name}({handle.type.name}{"*" * handle.type.pointers} {handle.name}) {{
  return guarded("{table}_{action}", [&] {{ tables::{table}().{action}({handle.name}, "{handle.name}"); }});
}}
"""


def handles(headers: list[Header], names: Names) -> str:
    """The text of handles.cpp. A request has functions of its own: it is destroyed while others wait for it."""
    functions = [function for header in headers for function in header.functions
                 if function.name.endswith(("_retain", "_release", "_destroy"))
                 and function.parameters[0].type.name in names.handles - {"syncyte_request_t"}]  # fmt: skip
    return _HANDLES + "".join(map(_reference, functions)) + "}\n"
