# SPDX-License-Identifier: BSD-3-Clause
"""Emits C functions that follow from their declarations.

A collective runs the class of src/collectives with the same name and arguments, without options and lengths of arrays;
its started form starts it. A function that retains, releases or destroys a handle calls the handle's table. A {started}
function of a tensor or a window, and the function that starts it, run or start the class of src/tensor or src/window
with its name. Any other function calls the method of the handle's object that has its name, or, if it is a
{free_function}, the core's function for the object: that returns a single output and gets several by reference. A
method whose output is a request returns the started operation. Functions that are {by_hand}, and those without a
handle, are in capi/src.
"""

from __future__ import annotations

import textwrap

from comments import AnnotationError
from model import Function, Header, Names, Parameter, short

_PREAMBLE = """// Generated from syncyte/*.h by bindings/generate; do not edit.
// clang-format off
#include "collective_calls.hpp"
#include "collectives/collectives.hpp"
#include "collectives/shared_layout.hpp"
#include "guard.hpp"
#include "halo/bundle.hpp"
#include "halo/grid_halo.hpp"
#include "handle_tables.hpp"
#include "kv/worker.hpp"
#include "reducer/bucket_reducer.hpp"
#include "requests.hpp"
#include "syncyte/collectives.h"
#include "access/started.hpp"
#include "tensor/apply_gradients.hpp"
#include "tensor/box_operations.hpp"
#include "tensor/counter_operations.hpp"
#include "tensor/row_locks.hpp"
#include "window/operations.hpp"

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {
"""

# Namespaces of src/ in which an operation with a blocking and a started form is a class, for access::run and
# access::start.
_NAMESPACES_OF_CLASSES = {"tensor", "window"}

_SPACE = "\N{NO-BREAK SPACE}"


def unbreakable(text: str) -> str:
    """Text that fold_line() does not break."""
    return text.replace(" ", _SPACE)


def _arguments(function: Function, array_type: str = "") -> list[str]:
    """Arguments of the core's function, without the handle and the options."""
    arguments = []
    lengths = {parameter.array for parameter in function.parameters if parameter.type.const}
    for parameter in function.parameters[1:]:
        if parameter.type.const and parameter.array is not None:
            arguments.append(unbreakable(f"{array_type}{{{parameter.name}, {parameter.array}}}"))
        elif parameter.name not in lengths and not parameter.is_options and not parameter.is_request:
            arguments.append(parameter.name)
    return arguments


def _signature(function: Function) -> str:
    parameters = ", ".join(unbreakable(parameter.declaration) for parameter in function.parameters)
    return fold_line(f"{function.returns.name} {function.name}({parameters}){unbreakable(' {')}", 0)


def _traced(function: Function) -> tuple[list[str], list[str]]:
    """Statements that record the bytes of a buffer, of the first one that is not null, and the peer."""
    names = {kind: [parameter.name for parameter in function.parameters
                    if parameter.traced and parameter.type.name == kind]
             for kind in ("syncyte_buffer_t", "int32_t")}  # fmt: skip
    *others, last = names["syncyte_buffer_t"] or [""]
    given = "".join(f"{name} != nullptr ? {name} : " for name in others) + last
    return [f"trace_buffer({given});"] * bool(given), [f"trace_peer({name});" for name in names["int32_t"]]


def fold_line(text: str, indent: int) -> str:
    lines = textwrap.wrap(text, 120 - indent, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return textwrap.indent("\n".join(lines).replace(_SPACE, " "), " " * indent)


def _collective(function: Function) -> str:
    operation = function.name.removeprefix("syncyte_")
    name = short(function.starts or function.name).removeprefix("comm_")
    rest = ", ".join(_arguments(function, "collectives::given_counts"))
    comm, last = function.parameters[0].name, function.parameters[-1]
    options = next(parameter.name for parameter in function.parameters if parameter.is_options)
    if last.is_request:
        opening = (f'return start_request("{operation}", {comm}, {options}, {last.name}, '
                   "[&](const auto& group, const auto& more) {")  # fmt: skip
        call = f'return collectives::start<collectives::{name}>(group, "{operation}", more, {rest});'
    else:
        opening = f'return after_init<forks_too>("{operation}", [&] {{'
        call = (f'collectives::run<collectives::{name}>(*find_comm({comm}), "{operation}", facts_of({options}), '
                f"{rest});")  # fmt: skip
    buffers, peers = _traced(function)
    body = [fold_line(statement, 4) for statement in [*buffers, *peers, call]]
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


def _wrapped(function: Function, needed: list[Parameter], call: list[str]) -> str:
    """A function that finds the handle's object, checks the output pointers that it needs, and calls."""
    handle = function.parameters[0]
    table, operation = short(handle.type.name), short(function.name)
    init = "after_init<forks_too>" if function.forked_child else "after_init"
    opening = f'return {"lookup_after_init" if function.lookup else init}("{operation}", [&] {{'
    buffers, peers = _traced(function)
    body = [f'const auto object = find_traced(tables::{table}(), {handle.name}, "{handle.name}");', *peers, *buffers]
    body += [f'out({output.name}, "{output.name}");' for output in needed if not output.optional]
    statements = [fold_line(statement, 4) for statement in [*body, *call]]
    return "\n".join(["", _signature(function), fold_line(opening, 2), *statements, "  });", "}", ""])


def _outputs(function: Function) -> list[Parameter]:
    return [parameter for parameter in function.parameters[1:]
            if parameter.direction == "out" and not parameter.array and not parameter.kept
            and parameter.type.name != "void" and not parameter.type.const]  # fmt: skip


def _started(function: Function, call: str) -> list[str]:
    """Statements that give the request of an operation that a call starts."""
    return [f'give_request({call}, "{short(function.name)}", {function.parameters[-1].name});']


def _operation(function: Function) -> str:
    """A function that runs or starts the class of an operation on a handle's object."""
    table = short(function.parameters[0].type.name)
    name = short(function.starts or function.name).removeprefix(f"{table}_")
    arguments = [name for name in _arguments(function, "base::array_argument<std::int64_t>") if name != "request"]
    if function.starts:
        call = _started(function, f"access::start<{table}::{name}>(object, {', '.join(arguments)})")
    else:
        call = [f"access::run<{table}::{name}>(*object, {', '.join(arguments)});"]
    return _wrapped(function, _outputs(function), call)


def _method(function: Function) -> str:
    """A function that calls the method of a handle's object, or a free function for the object."""
    table, outputs = short(function.parameters[0].type.name), _outputs(function)
    names = [output.name for output in outputs]
    arguments = [f"*{name}" if name in names else name for name in _arguments(function) if [name] != names]
    name = short(function.name).removeprefix(f"{table}_")
    if function.free_function:
        call = f"{table}::{name}({', '.join(['*object', *arguments])})"
    else:
        call = f"object->{name}({', '.join(arguments)})"
    starts = any(output.is_request for output in outputs)
    return _wrapped(function, outputs, _started(function, call) if starts else _returned(outputs, call))


def _text(function: Function) -> str:
    if any(parameter.type.name == "syncyte_collective_options_t" for parameter in function.parameters):
        return _collective(function)
    if function.name.endswith(("_retain", "_release", "_destroy")):
        return _reference(function)
    has_class = short(function.parameters[0].type.name) in _NAMESPACES_OF_CLASSES
    return _operation(function) if has_class and (function.started or function.starts) else _method(function)


def emit(headers: list[Header], names: Names) -> str:
    """The text of functions.cpp."""
    text = _PREAMBLE
    for function in (function for header in headers for function in header.functions):
        has_handle = bool(function.parameters) and function.parameters[0].type.name in names.handles
        if has_handle and not function.by_hand:
            text += _text(function)
        elif function.by_hand and not has_handle:
            raise AnnotationError(f"{function.name}: without a handle it is always written by hand")
    return text + "}\n"
