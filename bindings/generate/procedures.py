"""Emits one method: its dummies, its locals and the call of the C function."""

from __future__ import annotations

import re

from comments import AnnotationError
from emit_fortran import Types, interface, wrapped
from kinds import WELL, Code, Converter, adoption, c_kind
from methods import Method
from model import Names, Parameter

_LAST = ["integer, intent(out), optional :: stat", "character(len=*), intent(inout), optional :: errmsg"]


class Procedure:
    def __init__(self, method: Method, names: Names):
        if method.function not in names.functions:
            raise AnnotationError(f"method {method.name}: no function {method.function}")
        self.method, self.names, self.function = method, names, names.functions[method.function]
        converter = Converter(method, self.function, names)
        self.codes: dict[str, Code] = {}  # by the C function's parameter
        for dummy in method.dummies:
            code = converter.code(dummy)  # which may say that the dummy is no parameter
            self.codes[dummy.parameter] = code
        self.self_intent = "inout" if "inout" in method.words else "in"
        self.output = ""  # of a function
        arguments = [(parameter.name, self._argument(parameter)) for parameter in self.function.parameters]
        first_gap = next((i for i, (_, value) in enumerate(arguments) if not value), len(arguments))
        self.arguments = [f"{name}={value}" if i > first_gap else value
                          for i, (name, value) in enumerate(arguments) if value]  # fmt: skip

    def _argument(self, parameter: Parameter) -> str:
        """Argument of the C function; "" for none."""
        name, ctype, method = parameter.name, parameter.type, self.method
        if name in method.arguments:
            return method.arguments[name]
        if name in self.codes and self.codes[name].argument:
            return self.codes[name].argument
        counted = [self.codes[other.name] for other in self.function.parameters
                   if other.array == name and other.name in self.codes]  # fmt: skip
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
        self.codes[f"{name} "] = Code("", name, [f"{kind} :: {name}"], prepare=list(prepare))
        return name

    def _self(self, parameter: Parameter) -> str:
        if parameter.type.pointers:
            self.self_intent = "inout"
        if parameter.type.pointers == 0 or parameter.direction == "in,out":
            return "self%handle"
        self.codes["self "] = Code("", "made", *adoption("self", parameter.type.name))
        return "made"

    def _structure(self, parameter: Parameter) -> str:
        """Options, or a structure of outputs, if a member of it is used."""
        name, kind = parameter.name, f"type({parameter.type.name})"
        if any(each.startswith(f"{name}%") for each in self.codes):
            return f"{name}_c"
        used = [self.method.value, *self._all("prepare")]
        return self._local(kind, name) if any(re.search(rf"\b{name}%", line) for line in used) else ""

    def _all(self, part: str) -> list[str]:
        return [line for code in self.codes.values() for line in getattr(code, part)]

    def _statements(self) -> list[str]:
        """Statements before finish()."""
        own, collect = self.method.own, self._all("collect")
        described = self._all("describe")
        before = [line for i, line in enumerate(described) if "_describe(" not in line or line not in described[:i]]
        before += [*self._all("prepare"), *own["<"]]
        call = f"status = {self.function.name}({', '.join(self.arguments)})"
        inside = ["status = local", *collect, f"if (status == SYNCYTE_SUCCESS) {call}"] if collect else [call]
        if any(re.search(r"\blocal = ", line) for line in before):
            before[:1] = ["local = SYNCYTE_SUCCESS", before[0]]
            if before[1].startswith(WELL):
                before[:2] = [before[1].removeprefix(WELL)]
            inside = ["if (local /= SYNCYTE_SUCCESS) then", f"  status = {self._refusal()}", "else",
                      *(f"  {line}" for line in inside), "end if"]  # fmt: skip
        return [*before, *inside, *self._all("after"), *own[">"], *self._result()]

    def _refusal(self) -> str:
        scope, operation = self.method.scope, self.function.name.removeprefix("syncyte_")
        handle = "comm%handle" if "comm" in self.codes else "self%handle"
        handle = "c_null_ptr" if scope == "local" else handle
        return f'fortran_refuse(FORTRAN_{scope.upper()}, {handle}, local, "{operation}"//c_null_char)'

    def _result(self) -> list[str]:
        """The value of a function."""
        method = self.method
        if not method.result:
            return []
        kind = "".join(f", {name}" for name in re.findall(r"\((\w+)\)", method.result))
        if not method.value:
            return [f"answer = int({self.output}{kind})"]
        return [f"answer = {method.on_error}",
                f"if (status == SYNCYTE_SUCCESS) answer = int({method.value}{kind})"]  # fmt: skip

    def text(self, name: str, element: str = "") -> list[str]:
        """The whole procedure; `element` is the type of a pointer's elements."""
        method, statements = self.method, self._statements()
        what = "function" if method.result else "subroutine"
        owner = [] if "free" in method.words else [f"class({method.owner}), intent({self.self_intent}) :: self"]
        dummies = ["self"] * len(owner) + [dummy.name for dummy in method.dummies] + ["stat", "errmsg"]
        declarations = [*owner, *(self.codes[dummy.parameter].declaration for dummy in method.dummies), *_LAST]
        declarations += [f"{method.result} :: answer"] * bool(method.result)
        declarations += dict.fromkeys([*self._all("locals"), *method.own["="]])
        numbers = [each for each in ("status", "local", "ignored") if re.search(rf"\b{each}\b", " ".join(statements))]
        declarations.append(f"integer(c_int32_t) :: {', '.join(numbers)}")
        head = f"{what} {name}({', '.join(dummies)}){' result(answer)' if method.result else ''}"
        lines = [*method.comment, *wrapped(head, 2)]
        lines += [part for line in declarations for part in wrapped(line.replace("ELEMENT", element), 4)]
        if element:
            lines += ["", *interface(self.function, Types(self.names), element)]
        lines.append("")
        lines += [part for line in [*statements, "call finish(status, stat, errmsg)"] for part in wrapped(line, 4)]
        return [*lines, f"  end {what} {name}"]
