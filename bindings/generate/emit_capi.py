"""Emits C functions that follow from their declarations.

A collective runs or starts the class of src/collectives with the same name (without the i of a non-blocking one) and
arguments, without options and lengths of arrays. A function that retains, releases or
destroys a handle calls the handle's table. Any other function calls the method of the handle's object that has its
name: the method returns a single output and gets several by reference. A method whose output is a request returns the
started operation.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from model import Function, Header, Names, Parameter, short

_PREAMBLE = """// Generated from syncyte/*.h by bindings/generate; do not edit.
// clang-format off
#include "collective_calls.hpp"
#include "collectives/collectives.hpp"
#include "guard.hpp"
#include "halo/plan.hpp"
#include "handle_tables.hpp"
#include "kv/worker.hpp"
#include "reducer/bucket_reducer.hpp"
#include "requests.hpp"
#include "syncyte/collectives.h"
#include "syncyte/nonblocking.h"
#include "tensor/whole_tensor.hpp"
#include "window/window.hpp"

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {
"""

_SPACE = "\N{NO-BREAK SPACE}"


def unbreakable(text: str) -> str:
    """Text that fold_line() does not break."""
    return text.replace(" ", _SPACE)


def _declared(parameter: Parameter) -> str:
    const = "const " if parameter.type.const else ""
    return unbreakable(f"{const}{parameter.type.name}{'*' * parameter.type.pointers} {parameter.name}")


def _arguments(function: Function, array_type: str = "") -> list[str]:
    """Arguments of the core's function, without the communicator and the options."""
    arguments = []
    lengths = {parameter.array for parameter in function.parameters if parameter.type.const}
    for parameter in function.parameters:
        if parameter.type.const and parameter.array is not None:
            arguments.append(unbreakable(f"{array_type}{{{parameter.name}, {parameter.array}}}"))
        elif parameter.name not in ("comm", "options", "request", *lengths):
            arguments.append(parameter.name)
    return arguments


def _signature(function: Function) -> str:
    parameters = ", ".join(map(_declared, function.parameters))
    return fold_line(f"{function.returns.name} {function.name}({parameters}){unbreakable(' {')}", 0)


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


def fold_line(text: str, indent: int) -> str:
    lines = textwrap.wrap(text, 120 - indent, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines).replace(_SPACE, " "), " " * indent)


def _collective(function: Function) -> str:
    operation = function.name.removeprefix("syncyte_")
    name = operation.removeprefix("comm_")
    rest = ", ".join(_arguments(function, "collectives::given_counts"))
    if function.parameters[-1].name == "request":
        opening = (f'return start_request("{operation}", comm, options, request, '
                   "[&](const auto& group, const auto& more) {")  # fmt: skip
        call = f'return collectives::start<collectives::{name[1:]}>(group, "{operation}", more, {rest});'
    else:
        opening = f'return after_init<forks_too>("{operation}", [&] {{'
        call = f'collectives::run<collectives::{name}>(*find_comm(comm), "{operation}", facts_of(options), {rest});'
    body = [fold_line(statement, 4) for statement in [*_traced(function), call]]
    return "\n".join(["", _signature(function), fold_line(opening, 2), *body, "  });", "}", ""])


def _reference(function: Function) -> str:
    """A function that retains, releases or destroys a handle."""
    handle = function.parameters[0]
    table, action = function.name.removeprefix("syncyte_").rsplit("_", 1)
    return f"""
{_signature(function)}
  return guarded("{table}_{action}", [&] {{ tables::{table}().{action}({handle.name}, "{handle.name}"); }});
}}
"""


def _returned(outputs: list[Parameter], call: str) -> list[str]:
    """Statements that call a method and store what it returns."""
    if len(outputs) != 1:
        return [f"{call};"]
    output = outputs[0]
    is_comm = output.type.name == "syncyte_comm_t"
    value = f"handle_of({call})" if is_comm else f"static_cast<{output.type.name}>({call})"
    if not output.optional:
        return [f"*{output.name} = {value};"]
    return [f"const auto result = {value};", f"if ({output.name} != nullptr) *{output.name} = result;"]


def _method(function: Function) -> str:
    """A function that calls the method of a handle's object."""
    handle, *others = function.parameters
    table, operation = short(handle.type.name), short(function.name)
    init = "after_init<forks_too>" if function.forked_child else "after_init"
    opening = f'return {"lookup_after_init" if function.lookup else init}("{operation}", [&] {{'
    outputs = [parameter for parameter in others
               if parameter.direction == "out" and not parameter.array and not parameter.kept
               and parameter.type.name != "void" and not parameter.type.const]  # fmt: skip
    names = [output.name for output in outputs]
    arguments = [f"*{name}" if name in names else name for name in _arguments(function)
                 if name != handle.name and [name] != names]  # fmt: skip
    body = [f'const auto object = find_traced(tables::{table}(), {handle.name}, "{handle.name}");']
    body += [f"trace_peer({parameter.name});" for parameter in others
             if parameter.name == "rank" and parameter.direction == "in"]  # fmt: skip
    body += [f"trace_buffer({parameter.name});" for parameter in others
             if parameter.type.name == "syncyte_buffer_t"
             and parameter.name in ("output", "source", "values")]  # fmt: skip
    body += [f'out({output.name}, "{output.name}");' for output in outputs if not output.optional]
    call = f"object->{operation.removeprefix(f'{table}_')}({', '.join(arguments)})"
    starts = names == ["request"]
    body += [f'give_request({call}, "{operation}", request);'] if starts else _returned(outputs, call)
    statements = [fold_line(statement, 4) for statement in body]
    return "\n".join(["", _signature(function), fold_line(opening, 2), *statements, "  });", "}", ""])


def _text(header: Header, function: Function) -> str:
    has_options = any(parameter.name == "options" for parameter in function.parameters)
    if has_options and header.name in ("collectives", "nonblocking"):
        return _collective(function)
    return _reference(function) if function.name.endswith(("_retain", "_release", "_destroy")) else _method(function)


def emit(headers: list[Header], names: Names, sources: Path) -> str:
    """The text of functions.cpp: functions of handles that no file of the folder `sources` defines."""
    text = "".join(path.read_text() for path in sources.glob("*.cpp"))
    written = set(re.findall(r"^\w+ (syncyte_\w+)\(", text, re.M))
    functions = [(header, function) for header in headers for function in header.functions
                 if function.parameters and function.parameters[0].type.name in names.handles
                 and function.name not in written]  # fmt: skip
    return _PREAMBLE + "".join(_text(header, function) for header, function in functions) + "}\n"
