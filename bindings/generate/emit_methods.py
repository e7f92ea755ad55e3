# SPDX-License-Identifier: BSD-3-Clause
"""Emits the Fortran modules that users see from the descriptions in bindings/fortran/methods."""

from __future__ import annotations

import re
from dataclasses import replace

from comments import AnnotationError
from emit_fortran import comment, fold_statement
from methods import Dummy, Method, Module
from model import Function, Names
from procedures import Procedure

ELEMENTS = {"real4": "real(c_float)", "real8": "real(c_double)", "complex4": "complex(c_float_complex)",
            "complex8": "complex(c_double_complex)", "integer1": "integer(c_int8_t)", "integer2": "integer(c_int16_t)",
            "integer4": "integer(c_int32_t)", "integer8": "integer(c_int64_t)",
            "logical1": "logical(c_bool)"}  # fmt: skip


def _bindings(body: list[Method | str], owner: str) -> list[str]:
    """Declarations of a type's methods: those described for it, and procedures called TYPE_NAME(self, ...)."""
    lines = []
    for method in body:
        if isinstance(method, str):
            written = re.search(rf"\b(?:subroutine|function) ({owner.split('_')[-1]}_(\w+))\(self", method)
            lines += [f"    procedure :: {written[2]} => {written[1]}"] if written else []
        elif method.owner != owner:
            continue
        elif method.scope == "view":
            kinds = ", ".join(f"{method.procedure}_{kind}" for kind in ELEMENTS)
            lines += ["  " + line for line in method.comment]
            lines += fold_statement(f"generic :: {method.name} => {kinds}", 4)
            lines += fold_statement(f"procedure, private :: {kinds}", 4)
        elif "hidden" not in method.words and "free" not in method.words:
            lines.append(f"    procedure :: {method.name} => {method.procedure}")
    return lines


def _null(method: Method) -> list[str]:
    """Whether a handle is null."""
    name = method.procedure
    return [*method.comment, f"  pure logical function {name}(self)", f"    class({method.owner}), intent(in) :: self",
            "", f"    {name} = .not. c_associated(self%handle)", f"  end function {name}"]  # fmt: skip


def _procedures(method: Method, names: Names) -> list[str]:
    if method.scope == "null":
        return _null(method)
    if method.scope != "view":
        return Procedure(method, names).text(method.procedure)
    each = [Procedure(method, names).text(f"{method.procedure}_{kind}", ELEMENTS[kind]) for kind in ELEMENTS]
    return "\n\n".join("\n".join(lines) for lines in each).splitlines()


_STARTED_SCOPES = {"error_everywhere": "error_in_request"}  # where the started form has another one
_WHO_STARTS = {"error_in_request": "Collective; does not wait.", "error_here": "Local.",
               "error_at_neighbours": "All ranks call it; does not wait."}  # fmt: skip


def _starting(method: Method, names: Names) -> Method:
    """The started form of a method: its C function is that of the method's, which takes a request too.

    Members of a structure, which C fills at the end, are left out. Extents must be given: a start cannot collect them.
    """
    found = [each for each in names.functions.values() if each.starts == method.function]
    if not found or method.result:
        why = "a function has no started form" if method.result else f"{method.function} is not {{started}}"
        raise AnnotationError(f"method {method.name}: {why}")
    function: Function = found[0]
    kept = {each.name: each.kept for each in function.parameters if each.kept}
    rules = [f"{dummy.name} {kept[dummy.parameter]}" for dummy in method.dummies if dummy.parameter in kept]
    until = f"{' and '.join(rules)} until the request has ended" if rules else "its arguments may be re-used on return"
    extents = {each.name for each in function.parameters if each.along}
    collected = [dummy for dummy in method.dummies if dummy.is_optional and dummy.parameter in extents]
    given = f" {' and '.join(dummy.name for dummy in collected)} must be given." * bool(collected)
    dummies = [dummy for dummy in method.dummies if "%" not in dummy.parameter and dummy not in collected]
    place = next((i for i, dummy in enumerate(dummies) if dummy.is_optional), len(dummies))
    request = Dummy("request", function.parameters[-1].name, is_optional=False)
    required = [*(replace(dummy, is_optional=False) for dummy in collected), request]
    scope = _STARTED_SCOPES.get(method.scope, method.scope)
    text = f"Starts {method.name}; {until}.{given} {_WHO_STARTS[scope]}"
    return replace(method, comment=comment(text, 2, "!>"), scope=scope,
                   words=[word for word in method.words if word != "started"], name=f"i{method.name}",
                   dummies=[*dummies[:place], *required, *dummies[place:]], function=function.name)  # fmt: skip


def _with_started(module: Module, names: Names) -> Module:
    """The module with the started forms of the methods that have the word `started`."""
    body = [
        form
        for each in module.body
        for form in (
            [each, "", _starting(each, names)] if isinstance(each, Method) and "started" in each.words else [each]
        )
    ]
    return replace(module, body=body)


def _module(module: Module, names: Names) -> str:
    lines = [f"! Generated from methods/{module.name}.methods by bindings/generate; do not edit."]
    for line in module.head:
        if line.startswith("  end type "):
            bindings = _bindings(module.body, line.split()[-1])
            lines += ["  contains", *bindings] if bindings else []
        lines.append(line)
        if line.startswith("module "):
            lines += ["  use, intrinsic :: iso_c_binding", "  use syncyte_c", "  use syncyte_errors",
                      "  use syncyte_fortran_c", "  use syncyte_spans"]  # fmt: skip
    end = max(i for i, line in enumerate(lines) if line.startswith("  use ")) + 1
    lines[end:end] = ["  implicit none", "  private"]
    lines.append("contains")
    for each in module.body:
        lines += _procedures(each, names) if isinstance(each, Method) else [each]
    return "\n".join([*lines, ""]).replace("\n\n\n", "\n\n")


def emit(modules: list[Module], names: Names) -> dict[str, str]:
    """Text of every module, by its file's name."""
    texts = [_module(_with_started(module, names), names) for module in modules]
    return {re.search(r"^module (\w+)$", text, re.M)[1] + ".f90": text for text in texts}
