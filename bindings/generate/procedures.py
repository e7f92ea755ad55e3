# SPDX-License-Identifier: BSD-3-Clause
"""Emits one method: its dummies, its locals and the call of the C function."""

from __future__ import annotations

import re

from argument_conversion import Check, Code, Converter, adopt, c_kind
from comments import AnnotationError
from emit_fortran import Types, fold_statement, interface
from methods import Method
from model import Names, Parameter

_LAST = ["integer, intent(out), optional :: stat", "character(len=*), intent(inout), optional :: errmsg"]


class Procedure:
    def __init__(self, method: Method, names: Names):
        if method.function not in names.functions:
            raise AnnotationError(f"method {method.name}: no function {method.function}")
        self.method, self.names, self.function = method, names, names.functions[method.function]
        converter = Converter(method, self.function, names)
        self.codes = [converter.code(dummy) for dummy in method.dummies]
        self.of_parameter = {dummy.parameter: code for dummy, code in zip(method.dummies, self.codes, strict=True)
                             if not code.is_option}  # fmt: skip
        self.self_intent = "inout" if "inout" in method.words else "in"
        self.output = ""  # of a function
        arguments = [(parameter.name, self._argument(parameter)) for parameter in self.function.parameters]
        first_gap = next((i for i, (_, value) in enumerate(arguments) if not value), len(arguments))
        self.arguments = [f"{name}={value}" if i > first_gap else value
                          for i, (name, value) in enumerate(arguments) if value]  # fmt: skip
        self.is_checked = (any(isinstance(each, Check) for each in [*self._all("describe"), *self._all("prepare")])
                           or any("local = " in line for line in method.own["<"]))  # fmt: skip

    def _argument(self, parameter: Parameter) -> str:
        """Argument of the C function; "" for none."""
        name, ctype, method = parameter.name, parameter.type, self.method
        if name in method.arguments:
            return method.arguments[name]
        if name in self.of_parameter and self.of_parameter[name].argument:
            return self.of_parameter[name].argument
        counted = [self.of_parameter[other.name] for other in self.function.parameters
                   if other.array == name and other.name in self.of_parameter]  # fmt: skip
        if counted:
            return f"size({counted[0].argument}, kind={c_kind(ctype)})"
        if ctype.name in self.names.handles:
            return self._self(parameter)
        if ctype.name in self.names.structs:
            return self._structure(parameter)
        if parameter.direction != "in" and method.result and not method.value:
            self.output = f"{name}_c"
            return self._local(f"integer({c_kind(ctype)})", self.output, f"{self.output} = {method.on_error}")
        if not parameter.optional:
            raise AnnotationError(f"method {method.name}: nothing is given for {name} of {self.function.name}")
        return ""

    def _local(self, kind: str, name: str, *prepare: str) -> str:
        self.codes.append(Code("", name, [f"{kind} :: {name}"], prepare=list(prepare)))
        return name

    def _self(self, parameter: Parameter) -> str:
        if parameter.type.pointers:
            self.self_intent = "inout"
        if parameter.type.pointers == 0 or parameter.direction == "in,out":
            return "self%handle"
        self.codes.append(adopt("self", parameter.type.name))
        return "made"

    def _structure(self, parameter: Parameter) -> str:
        """Options, or a structure of outputs, if a member of it is used."""
        name, kind = parameter.name, f"type({parameter.type.name})"
        if any(each.startswith(f"{name}%") for each in self.of_parameter):
            return f"{name}_c"
        is_used = any(code.is_option for code in self.codes) if name == "options" else f"{name}%" in self.method.value
        return self._local(kind, name) if is_used else ""

    def _all(self, part: str) -> list:
        return [line for code in self.codes for line in getattr(code, part)]

    def _preparation(self) -> list[str]:
        """Statements that check and prepare the C function's arguments."""
        statements = self._all("describe") + self._all("prepare")
        if any(code.needs_tensor for code in self.codes):
            statements.insert(0, Check("syncyte_tensor_describe(self%handle, global)"))
        lines = [each.text() if isinstance(each, Check) else each for each in statements] + self.method.own["<"]
        if statements and isinstance(statements[0], Check) and not statements[0].condition:
            lines[0] = statements[0].text(is_first=True)
        elif self.is_checked:
            lines.insert(0, "local = SYNCYTE_SUCCESS")
        return lines

    def _statements(self) -> list[str]:
        """Statements before finish()."""
        own, collect = self.method.own, self._all("collect")
        call = f"status = {self.function.name}({', '.join(self.arguments)})"
        inside = ["status = local", *collect, f"if (status == SYNCYTE_SUCCESS) {call}"] if collect else [call]
        if self.is_checked:
            inside = ["if (local /= SYNCYTE_SUCCESS) then", f"  status = {self._refusal()}", "else",
                      *(f"  {line}" for line in inside), "end if"]  # fmt: skip
        return [*self._preparation(), *inside, *self._all("after"), *own[">"], *self._result()]

    def _refusal(self) -> str:
        scope = self.method.scope.replace("view", "error_here")
        operation = self.function.name.removeprefix("syncyte_").removeprefix("fortran_")
        handle = "comm%handle" if "comm" in self.of_parameter else "self%handle"
        handle = "c_null_ptr" if scope == "error_here" else handle
        return f'fortran_refuse(FORTRAN_{scope.upper()}, {handle}, local, "{operation}"//c_null_char)'

    def _result(self) -> list[str]:
        """The value of a function."""
        method = self.method
        if not method.result:
            return []
        kind = "".join(f", {name}" for name in re.findall(r"\((\w+)\)", method.result))
        if not method.value:
            is_flag = method.result == "logical"
            return [f"answer = {self.output} /= 0" if is_flag else f"answer = int({self.output}{kind})"]
        return [f"answer = {method.on_error}",
                f"if (status == SYNCYTE_SUCCESS) answer = int({method.value}{kind})"]  # fmt: skip

    def text(self, name: str, element: str = "") -> list[str]:
        """The whole procedure; `element` is the type of a pointer's elements."""
        method, statements = self.method, self._statements()
        what = "function" if method.result else "subroutine"
        owner = [] if "free" in method.words else [f"class({method.owner}), intent({self.self_intent}) :: self"]
        dummies = ["self"] * len(owner) + [dummy.name for dummy in method.dummies] + ["stat", "errmsg"]
        declarations = [*owner, *(code.declaration for code in self.codes if code.declaration), *_LAST]
        declarations += [f"{method.result} :: answer"] * bool(method.result)
        declarations += dict.fromkeys([*self._all("locals"), *method.variables])
        numbers = ["status"] + ["local"] * self.is_checked + ["ignored"] * any(code.has_ignored for code in self.codes)
        declarations.append(f"integer(c_int32_t) :: {', '.join(numbers)}")
        head = f"{what} {name}({', '.join(dummies)}){' result(answer)' if method.result else ''}"
        lines = [*method.comment, *fold_statement(head, 2)]
        lines += [part for line in declarations for part in fold_statement(line.replace("ELEMENT", element), 4)]
        if element:
            lines += ["", *interface(self.function, Types(self.names), element)]
        lines.append("")
        arrays = re.findall(r"dimension\(\.\.\).*:: (\w+)", "\n".join(code.declaration for code in self.codes))
        statements[:0] = [f"call syncyte_set_span({array})" for array in arrays]
        statements.append("call finish(status, stat, errmsg)")
        lines += [part for line in statements for part in fold_statement(line, 4)]
        return [*lines, f"  end {what} {name}"]
