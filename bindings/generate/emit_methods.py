"""Emits the Fortran modules that users see from the descriptions in bindings/fortran/methods."""

from __future__ import annotations

import re
import textwrap

from comments import AnnotationError
from emit_fortran import Types, interface
from kinds import OBJECTS, Code, Converter, adoption
from methods import Method, Module
from model import Function, Header, Names, Struct

_WIDTH = 118
_LAST = ["integer, intent(out), optional :: stat", "character(len=*), intent(inout), optional :: errmsg"]
ELEMENTS = {"real4": "real(c_float)", "real8": "real(c_double)", "complex4": "complex(c_float_complex)",
            "complex8": "complex(c_double_complex)", "integer1": "integer(c_int8_t)", "integer2": "integer(c_int16_t)",
            "integer4": "integer(c_int32_t)", "integer8": "integer(c_int64_t)",
            "logical1": "logical(c_bool)"}  # fmt: skip


def _wrapped(line: str, indent: int) -> list[str]:
    """A statement, continued where it is long; its comment, on a line of its own, goes before it."""
    pad = " " * indent
    if len(pad + line) <= _WIDTH + 12 and "!!" in line:
        return [pad + line]
    code, _, comment = line.partition("  !!")
    above = [f"{pad}!{part}" for part in textwrap.wrap(comment, _WIDTH - indent)] if comment else []
    lead = len(code) - len(code.lstrip())
    parts = textwrap.wrap(code.strip(), _WIDTH - indent - lead - 6, break_long_words=False, break_on_hyphens=False)
    lines = [" " * (indent + lead) + "  " * (2 * (i > 0)) + part + (" &" if i < len(parts) - 1 else "")
             for i, part in enumerate(parts)]  # fmt: skip
    return above + lines


def _unique(lines: list[str]) -> list[str]:
    return list(dict.fromkeys(lines))


class _Emitter:
    """Text of one module."""

    def __init__(self, module: Module, functions: dict[str, Function], names: Names, structs: dict[str, Struct]):
        self.module, self.functions, self.names, self.structs = module, functions, names, structs
        self.prefix = module.type_name.split("_")[-1]

    def text(self, uses: list[str]) -> str:
        lines = [f"! Generated from methods/{self.module.name}.methods by bindings/generate; do not edit."]
        for line in self.module.head:
            if line == f"  end type {self.module.type_name}":
                lines += self._bindings(lines)
            lines.append(line)
            if line.startswith("module "):
                lines += ["  use, intrinsic :: iso_c_binding", *(f"  use {name}" for name in uses)]
        first = max(i for i, line in enumerate(lines) if line.startswith("  use ")) + 1
        lines[first:first] = ["  implicit none", "  private"]
        lines.append("contains")
        for each in self.module.body:
            lines += self._method(each) if isinstance(each, Method) else [each] if each or lines[-1] else []
        return "\n".join([*lines, ""])

    def _bindings(self, before: list[str]) -> list[str]:
        lines = [] if before[-1].strip() == "contains" or "  contains" in before[-4:] else ["  contains"]
        for method in self.module.methods:
            procedure = f"{self.prefix}_{method.name}"
            if method.scope == "view":
                kinds = ", ".join(f"{procedure}_{kind}" for kind in ELEMENTS)
                lines += ["  " + line for line in method.comment]
                lines += _wrapped(f"generic :: {method.name} => {kinds}", 4)
                lines += _wrapped(f"procedure, private :: {kinds}", 4)
            elif not method.is_hidden:
                lines.append(f"    procedure :: {method.name} => {procedure}")
        return lines

    def _method(self, method: Method) -> list[str]:
        if method.scope == "null":
            name = f"{self.prefix}_{method.name}"
            return [*method.comment, f"  pure logical function {name}(self)",
                    f"    class({self.module.type_name}), intent(in) :: self", "",
                    f"    {name} = .not. c_associated(self%handle)", f"  end function {name}"]  # fmt: skip
        if method.function not in self.functions:
            raise AnnotationError(f"method {method.name}: no function {method.function}")
        function = self.functions[method.function]
        if method.scope != "view":
            return _Procedure(self, method, function).text(f"{self.prefix}_{method.name}", None)
        lines = []
        for kind, element in ELEMENTS.items():
            lines += ["", *_Procedure(self, method, function).text(f"{self.prefix}_{method.name}_{kind}", element)]
        return lines


class _Procedure:
    """One method: dummies, locals, and the call."""

    def __init__(self, emitter: _Emitter, method: Method, function: Function):
        self.emitter, self.method, self.function = emitter, method, function
        converter = Converter(method, function, emitter.names, emitter.structs)
        self.codes: dict[str, Code] = {}
        for dummy in method.dummies:
            if method.scope == "view" and dummy.name == "pointer":
                code = Code("ELEMENT, pointer, intent(inout) :: pointer(..)", "pointer")
            else:
                code = converter.code(dummy)
            self.codes[dummy.parameter] = code
        self.self_intent = "in"
        self.output = ""  # of a function
        self.arguments = self._arguments()

    def _arguments(self) -> list[str]:
        """Of the C function, by keyword once one is left out."""
        found: list[str] = []
        left_out = False
        for parameter in self.function.parameters:
            value = self._argument(parameter)
            if value:
                found.append(f"{parameter.name}={value}" if left_out else value)
            left_out = left_out or not value
        return found

    def _argument(self, parameter) -> str:
        name, ctype, method = parameter.name, parameter.type, self.method
        if name in method.arguments:
            return method.arguments[name]
        if name in self.codes and self.codes[name].argument:
            return self.codes[name].argument
        counted = [other.name for other in self.function.parameters if other.array == name]
        if counted and counted[0] in self.codes:
            kind = "c_int32_t" if ctype.name == "int32_t" else "c_int64_t"
            return f"size({self.codes[counted[0]].argument}, kind={kind})"
        if ctype.name in self.emitter.names.handles:
            return self._self(parameter)
        if name == "options":
            return self._options(ctype.name)
        if ctype.name in self.emitter.names.structs and parameter.direction != "in":
            if any(each.startswith(f"{name}%") for each in self.codes):
                return f"{name}_c"
            if f"{name}%" not in method.value:
                return ""
            self.codes[f"{name} "] = Code("", name, [f"type({ctype.name}) :: {name}"])
            return name
        if parameter.direction != "in" and method.result and not method.value:
            self.output = f"{name}_c"
            kind = f"c_{ctype.name}" if ctype.name in ("int64_t", "size_t") else "c_int32_t"
            self.codes[f"{name} "] = Code("", self.output, [f"integer({kind}) :: {self.output}"],
                                          prepare=[f"{self.output} = {method.on_error}"])  # fmt: skip
            return self.output
        if not parameter.optional:
            raise AnnotationError(f"method {method.name}: nothing is given for {name} of {self.function.name}")
        return ""

    def _self(self, parameter) -> str:
        if parameter.type.pointers == 0:
            return "self%handle"
        self.self_intent = "inout"
        if parameter.direction == "in,out":
            return "self%handle"
        if parameter.type.name == "syncyte_request_t":
            return "self%handle"
        self.codes["self "] = Code("", "made", *adoption("self", OBJECTS[parameter.type.name]))
        return "made"

    def _options(self, struct: str) -> str:
        used = any("options%" in line for code in self.codes.values() for line in code.prepare)
        if used:
            self.codes["options "] = Code("", "options", [f"type({struct}) :: options"])
        return "options" if used else ""

    def _all(self, part: str) -> list[str]:
        return [line for code in self.codes.values() for line in getattr(code, part)]

    def _described(self) -> list[str]:
        lines = self._all("describe")
        return [line for i, line in enumerate(lines) if "tensor_describe(" not in line or line not in lines[:i]]

    def _body(self) -> tuple[list[str], bool]:
        """Statements before finish(), and whether the arguments can be wrong here."""
        own = self.method.own
        before = [*self._described(), *self._all("prepare"), *own["<"]]
        call = f"{self.function.name}({', '.join(self.arguments)})"
        collect = self._all("collect")
        inside = [*collect, f"{'if (status == SYNCYTE_SUCCESS) ' if collect else ''}status = {call}"]
        is_fallible = any(re.search(r"\blocal = ", line) for line in before)
        if is_fallible:
            scope = "FORTRAN_" + self.method.scope.upper()
            name = self.function.name.removeprefix("syncyte_")
            inside = ["status = local", *inside] if collect else inside
            inside = ["if (local /= SYNCYTE_SUCCESS) then",
                      f'  status = fortran_refuse({scope}, {self._comm()}, local, "{name}"//c_null_char)',
                      "else", *(f"  {line}" for line in inside), "end if"]  # fmt: skip
            well = "if (local == SYNCYTE_SUCCESS) "
            before = [before[0].removeprefix(well), *before[1:]] if before[0].startswith(well) else [
                "local = SYNCYTE_SUCCESS", *before]  # fmt: skip
        after = [*self._all("after"), *own[">"]]
        return [*before, *inside, *after], is_fallible

    def _comm(self) -> str:
        if self.method.scope == "local":
            return "c_null_ptr"
        return "comm%handle" if "comm" in self.codes else "self%handle"

    def _result(self) -> list[str]:
        method = self.method
        if not method.result:
            return []
        kind = re.findall(r"\((\w+)\)", method.result)
        to = (lambda text: f"int({text}, {kind[0]})") if kind else (lambda text: f"int({text})")
        if not method.value:
            return [f"answer = {to(self.output)}"]
        return [f"answer = {method.on_error}", f"if (status == SYNCYTE_SUCCESS) answer = {to(method.value)}"]

    def text(self, name: str, element: str | None) -> list[str]:
        method = self.method
        what = "function" if method.result else "subroutine"
        body, is_fallible = self._body()
        declarations = [f"class({self.emitter.module.type_name}), intent({self.self_intent}) :: self"]
        declarations += [self.codes[dummy.parameter].declaration for dummy in method.dummies]
        declarations += _LAST + ([f"{method.result} :: answer"] if method.result else [])
        statements = [*body, *self._result()]
        used = " ".join(statements)
        numbers = [each for each in ("status", "local", "ignored") if re.search(rf"\b{each}\b", used)]
        declarations += _unique([*self._all("locals"), *method.own["="]])
        declarations.append(f"integer(c_int32_t) :: {', '.join(numbers)}")
        head = f"{what} {name}({', '.join(['self', *(d.name for d in method.dummies), 'stat', 'errmsg'])})"
        lines = [*method.comment, *_wrapped(head + (" result(answer)" if method.result else ""), 2)]
        for line in declarations:
            lines += _wrapped(line.replace("ELEMENT", element or ""), 4)
        if element:
            lines += ["", *interface(self.function, self._types(), element)]
        lines.append("")
        for line in [*statements, "call finish(status, stat, errmsg)"]:
            lines += _wrapped(line, 4)
        return [*lines, f"  end {what} {name}"]

    def _types(self) -> Types:
        return Types(self.emitter.names, self.emitter.structs)


def emit(modules: list[Module], headers: list[Header], names: Names, uses: dict[str, list[str]]) -> dict[str, str]:
    """Text of every module, by its file's name; `uses` names the modules of the C interface that each uses."""
    functions = {function.name: function for header in headers for function in header.functions}
    structs = {struct.name: struct for header in headers for struct in header.structs}
    files = {}
    for module in modules:
        emitter = _Emitter(module, functions, names, structs)
        name = next(line.split()[1] for line in module.head if line.startswith("module "))
        files[f"{name}.f90"] = emitter.text(uses.get(module.name, []) + ["syncyte_c", "syncyte_errors", "syncyte_fortran_c"])
    return files
