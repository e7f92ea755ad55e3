# SPDX-License-Identifier: BSD-3-Clause
"""The started form of a function that is annotated {started}: syncyte_tensor_igather() starts syncyte_tensor_gather().

It has the same parameters, and a request behind them. Its comment follows from that of the function; a paragraph
@started there says more. The head of the function's header describes what its started forms have in common.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace

from comments import AnnotationError
from emit_capi import fold_line, unbreakable
from model import CType, Function, Header, Parameter, short

_REQUEST = Parameter("request", CType("syncyte_request_t", 1), "out",
                     text="ends when the operation is complete, with its status")  # fmt: skip
_FILE = """/* Generated from syncyte/{name}.h by bindings/generate; do not edit. */
/* clang-format off */
/**
 * @file generated/{name}.h
 * @brief Started forms of functions of syncyte/{name}.h, which includes this file.
 */
#ifndef {guard}
#define {guard}

#include "syncyte/{name}.h"

#ifdef __cplusplus
extern "C" {{
#endif
DECLARATIONS

#ifdef __cplusplus
}}
#endif

#endif
"""
# Rules for memory that a started operation uses until its end, by the direction of the parameter.
_KEPT = {"in": "must stay unchanged", "out": "may not be read", "in,out": "may be neither read nor written"}


def _rule(parameter: Parameter) -> str:
    own = parameter.kept_if_started
    return own if isinstance(own, str) else _KEPT[parameter.direction]


def _started_name(function: str, handle: str) -> str:
    """syncyte_tensor_gather, syncyte_tensor_t -> syncyte_tensor_igather."""
    prefix = handle.removesuffix("t")
    return f"{prefix}i{function.removeprefix(prefix)}"


def _text(parameter: Parameter, handles: set[str]) -> str:
    text = parameter.text + "; may be null" * (parameter.optional and "null" not in parameter.text)
    if parameter.type.name in handles:
        return f"{text}; it may be destroyed before the request has ended"
    if parameter.kept_if_started:
        return f"{text}; {_rule(parameter)} until the request has ended"
    if parameter.type.pointers == 0:
        return text
    return f"{text}; {'may be re-used' if parameter.direction == 'in' else 'complete'} on return"


def started(function: Function, header: str, handles: set[str]) -> Function:
    """The declaration of the started form of a function of a header. `handles`: their types."""
    where = f"{function.where}: {function.name}"
    handle = function.parameters[0].type.name if function.parameters else ""
    if handle not in handles or function.lookup or not function.name.startswith(handle.removesuffix("t")):
        raise AnnotationError(f"{where}: only a function of a handle that is no {{lookup}} can be {{started}}")
    parameters = [
        replace(each, kept=each.kept_if_started and _rule(each), kept_if_started=False, text=_text(each, handles))
        for each in function.parameters
    ]
    return replace(
        function,
        name=_started_name(function.name, handle),
        parameters=(*parameters, _REQUEST),
        brief=f"Starts {function.name}(), as the head of syncyte/{header}.h says. {function.started_text}".strip(),
        result=f"as {short(function.name)}, for errors that this rank finds; test and wait return the others.",
        forked_child=False,
        cxx_by_hand=function.cxx_by_hand in (True, "started"),
        started=False,
        starts=function.name,
    )


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, 120, initial_indent=" * ", subsequent_indent=" * ", break_on_hyphens=False)


def _declaration(function: Function) -> list[str]:
    parameters = ", ".join(unbreakable(each.declaration) for each in function.parameters)
    signature = f"SYNCYTE_EXPORT {function.returns.name} {function.name}({parameters});"
    described = [f"@param[{each.direction}] {each.name} {each.text}" for each in function.parameters]
    comments = [f"@brief {function.brief}", *described, f"@return {function.result}"]
    return ["", "/**", *(line for text in comments for line in _paragraph(text)), " */", fold_line(signature, 0)]


def emit(headers: list[Header]) -> dict[str, str]:
    """Text of the C header of each header's started forms, by its name."""
    files = {}
    for header in headers:
        lines = [line for function in header.functions if function.starts for line in _declaration(function)]
        if lines:
            file = _FILE.format(name=header.name, guard=f"SYNCYTE_GENERATED_{header.name.upper()}_H")
            files[f"{header.name}.h"] = file.replace("DECLARATIONS", "\n".join(lines))
    return files
