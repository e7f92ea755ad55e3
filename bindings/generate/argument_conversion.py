# SPDX-License-Identifier: BSD-3-Clause
"""How a dummy argument of a Fortran method becomes an argument of a C function."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from comments import AnnotationError
from methods import Dummy, Method
from model import CType, Function, Member, Names, Parameter

_NUMBERS = {"int32_t": "integer", "int64_t": "integer(c_int64_t)", "double": "real(c_double)"}


@dataclass(frozen=True)
class Check:
    """A call whose status says whether this rank's arguments are right; made if none has been wrong so far."""

    call: str
    condition: str = ""
    indent: str = ""

    def text(self, is_first: bool = False) -> str:
        conditions = [self.condition] * bool(self.condition) + ["local == SYNCYTE_SUCCESS"] * (not is_first)
        return self.indent + (f"if ({' .and. '.join(conditions)}) " if conditions else "") + f"local = {self.call}"


@dataclass
class Code:
    """Code that a dummy argument adds to its method."""

    declaration: str
    argument: str
    locals: list[str] = field(default_factory=list)
    describe: list[str | Check] = field(default_factory=list)  # first: arrays, to which other dummies refer
    prepare: list[str | Check] = field(default_factory=list)
    collect: list[str] = field(default_factory=list)  # before the call, if no argument is wrong
    after: list[str] = field(default_factory=list)
    is_option: bool = False  # sets a member of the options
    needs_tensor: bool = False  # the tensor's description, in `global`
    has_ignored: bool = False  # `after` stores a status in `ignored`


class Converter:
    """Code for the dummies of one method."""

    def __init__(self, method: Method, function: Function, names: Names):
        self.method, self.names = method, names
        self.parameters = {parameter.name: parameter for parameter in function.parameters}
        types = [parameter.type.name for parameter in function.parameters]
        self.is_collective = "syncyte_collective_options_t" in types and "syncyte_request_t" not in types

    def code(self, dummy: Dummy) -> Code:
        if dummy.own:
            return Code(dummy.own, "")
        if self.method.scope == "view" and dummy.name == "pointer":
            return Code("ELEMENT, pointer, intent(inout) :: pointer(..)", "pointer")
        options = self.parameters.get("options")
        if options and (dummy.parameter not in self.parameters or dummy.word("option") is not None):
            for member in self.names.structs[options.type.name].members:
                if member.name == dummy.name:
                    return self._option(dummy, member)
        if "%" in dummy.parameter:
            return self._member(dummy)
        parameter = self.parameters[dummy.parameter]
        for word in ("scalar", "dim"):
            if dummy.word(word) is not None:
                return getattr(self, f"_{word}")(dummy, parameter)
        if parameter.index:
            return self._index(dummy, parameter)
        if parameter.offset:
            text = dummy.text or "any integer: where, from 1, in elements"
            call = f"fortran_place({dummy.name}, {self._dummy_of(parameter.offset)}_buffer"
            return self._read(replace(dummy, text=text), "integer(c_int64_t)", call)
        if parameter.mpi_handle:
            return self._read(dummy, "integer(c_int32_t)", f'fortran_handle({dummy.name}, "{dummy.name}"//c_null_char')
        return self._by_type(dummy, parameter)

    def _text_of(self, parameter: Parameter) -> str:
        """A comment for a dummy argument that has none of its own."""
        ctype = parameter.type
        if ctype.name in self.names.enums:
            return f"{self.names.enums[ctype.name].values[0].name}, ..."
        if ctype.name == "int64_t" and parameter.direction == "in":
            return f"any integer{'s' if parameter.array else ''}: {parameter.text}"
        if ctype.name == "int64_t" and not parameter.array:
            return "any integer: " * (not parameter.kept) + _without_null(parameter.text)
        if ctype.name == "syncyte_request_t":
            return "one that has ended, or is new"
        if ctype.name == "syncyte_buffer_t":
            return "integers of any kind and rank" if parameter.integers else _without_null(parameter.text)
        return _without_null(parameter.text) if ctype.pointers == 0 and ctype.name not in self.names.handles else ""

    def _by_type(self, dummy: Dummy, parameter: Parameter) -> Code:
        ctype = parameter.type
        text = dummy.text or self._text_of(parameter)
        absent = f"; absent: {parameter.default}" if dummy.is_optional and parameter.default and not dummy.text else ""
        dummy = replace(dummy, text=text + absent)
        if ctype.name == "CFI_cdesc_t":
            return Code(self._descriptor(dummy, is_in=ctype.const), dummy.name)
        if ctype.name in self.names.handles:
            return self._handle(dummy, ctype.pointers)
        if ctype.name == "syncyte_buffer_t":
            return self._array(dummy, parameter)
        if parameter.array is not None:
            return self._integers(dummy, parameter)
        if parameter.string:
            return self._text(dummy)
        return self._number(dummy, parameter)

    @staticmethod
    def _declare(dummy: Dummy, type_and_intent: str) -> str:
        text = f"  !! {dummy.text}" if dummy.text else ""
        return f"{type_and_intent}{', optional' if dummy.is_optional else ''} :: {dummy.name}{text}"

    def _descriptor(self, dummy: Dummy, is_in: bool = True, further: str = "") -> str:
        return self._declare(dummy, f"type(*), dimension(..), intent({'in' if is_in else 'inout'}), target{further}")

    @staticmethod
    def _describe(name: str, helper: str = "fortran_buffer", *further: str) -> Check:
        arguments = [name, f'"{name}"//c_null_char', *further, f"{name}_buffer"]
        return Check(f"{helper}({', '.join(arguments)})")

    @staticmethod
    def _if_present(dummy: Dummy, statement: str) -> str:
        return f"if (present({dummy.name})) {statement}" if dummy.is_optional else statement

    @staticmethod
    def _check(dummy: Dummy, call: str) -> Check:
        return Check(call, f"present({dummy.name})" if dummy.is_optional else "")

    def _handle(self, dummy: Dummy, pointers: int) -> Code:
        parameter = self.parameters[dummy.parameter]
        kind = parameter.type.name.removesuffix("_t")
        if pointers == 0 or kind == "syncyte_request":
            intent = "inout" if pointers else "in"
            return Code(self._declare(dummy, f"type({kind}), intent({intent})"), f"{dummy.name}%handle")
        declaration = self._declare(dummy, f"type({kind}), intent(inout)")
        return replace(adopt(dummy.name, parameter.type.name), declaration=declaration)

    def _array(self, dummy: Dummy, parameter: Parameter) -> Code:
        """An array, described by a buffer; null where it is absent or not wanted."""
        name, buffer, given = dummy.name, f"{dummy.name}_buffer", f"{dummy.name}_given"
        is_in = parameter.direction == "in"
        is_dense = self.is_collective and parameter.contiguous
        if is_dense:
            dummy = replace(dummy, text=re.sub(r"contiguous[,;]? ?", "", dummy.text))
        helper = ["fortran_dense_buffer" if is_dense else "fortran_buffer"]
        helper = ["fortran_buffer_as", "global%dtype"] if parameter.tensor_dtype else helper
        helper = ["fortran_integers_buffer"] if parameter.integers else helper
        is_copied = is_dense or parameter.integers
        code = Code(self._descriptor(dummy, is_in, ", asynchronous" if parameter.kept else ""), buffer,
                    [f"type(syncyte_buffer_t), target :: {buffer}"], [self._describe(name, *helper)],
                    needs_tensor=parameter.tensor_dtype, has_ignored=is_copied)  # fmt: skip
        if is_in:
            code.describe.append(f"{buffer}%read_only = 1_c_int32_t")
        if parameter.tensor_dtype:
            code.locals.append("type(syncyte_buffer_t) :: global")
        wanted = [dummy.word("if") or ""] * (dummy.word("if") is not None) + [f"present({name})"] * dummy.is_optional
        if wanted:
            code.argument = given
            code.locals.append(f"type(syncyte_buffer_t), pointer :: {given}")
            code.describe.append(f"{given} => {buffer}")
            for condition in reversed(wanted):
                code.describe = _block(condition, code.describe)
            code.describe.insert(0, f"nullify ({given})")
        if is_copied:
            written = "0_c_int32_t" if is_in else "merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS)"
            code.after = [self._if_present(dummy, f"ignored = fortran_release({name}, {written}, {buffer})")]
        return code

    def _scalar(self, dummy: Dummy, parameter: Parameter) -> Code:
        """One element, of the type of another one, passed by its address."""
        name, like = dummy.name, dummy.word("scalar") or dummy.name
        alike = Check(f'fortran_alike({name}, {like}, "{name}"//c_null_char)')
        further = ", asynchronous" if parameter.kept else ""
        return Code(self._descriptor(dummy, dummy.word("out") is None, further), f"{name}_buffer%data",
                    [f"type(syncyte_buffer_t), target :: {name}_buffer"], [alike, self._describe(name)])  # fmt: skip

    def _read(self, dummy: Dummy, kind: str, call: str) -> Code:
        """A number or structure that a helper makes of something with any type and rank."""
        made = f"{dummy.name}_c"
        return Code(self._descriptor(dummy), made, [f"{kind} :: {made}"],
                    prepare=[self._check(dummy, f"{call}, {made})")])  # fmt: skip

    def _dummy_of(self, parameter: str) -> str:
        """The dummy argument of a parameter, by default the object."""
        return next((dummy.name for dummy in self.method.dummies if dummy.parameter == parameter), "self")

    def _index(self, dummy: Dummy, parameter: Parameter) -> Code:
        """Numbers of rows, or that of an element, with any type and rank."""
        name = dummy.name
        if parameter.type.name == "syncyte_buffer_t":
            dummy = replace(dummy, text=dummy.text or "integer(4) or (8), from 1, any rank")
            code = self._read(dummy, "type(syncyte_buffer_t)", f"fortran_rows({name}, global%shape(1)")
            code.after, code.has_ignored = [f"ignored = syncyte_memory_free({name}_c%data)"], True
            return code
        text = dummy.text or "any integer: number from 1 in array element order, or subscripts"
        call = f"fortran_element({self._dummy_of(parameter.index)}%handle, {name}"
        return self._read(replace(dummy, text=text), "integer(c_int64_t)", call)

    def _dim(self, dummy: Dummy, _: Parameter) -> Code:
        name, array = dummy.name, dummy.word("dim")
        return Code(self._declare(dummy, "integer, intent(in)"), f"{name}_axis",
                    [f"integer(c_int32_t) :: {name}_c, {name}_axis"],
                    prepare=[f"{name}_c = {array}_buffer%ndim",
                             self._if_present(dummy, f"{name}_c = int({name}, c_int32_t)"),
                             Check(f'fortran_axis({name}_c, {array}_buffer, "{name}"//c_null_char, '
                                   f'"{array}"//c_null_char, {name}_axis)')])  # fmt: skip

    def _integers(self, dummy: Dummy, parameter: Parameter) -> Code:
        """Integers of any kind, as many as the array has."""
        name, made, is_in = dummy.name, f"{dummy.name}_c", parameter.direction == "in"
        is_reversed = int(dummy.word("reversed") is not None)
        read = Check(f'fortran_integers({name}, "{name}"//c_null_char, {is_reversed}_c_int32_t, {made})')
        code = Code(self._descriptor(dummy, is_in), made, [f"integer(c_int64_t), allocatable :: {made}(:)"],
                    prepare=[f"allocate ({made}(fortran_count({name})))", read])  # fmt: skip
        if dummy.is_optional:
            code.prepare = _block(f"present({name})", code.prepare)
            dim = next((other for other in self.method.dummies if other.parameter == parameter.along), None)
            if dim is None or dim.word("dim") is None:
                raise AnnotationError(f"method {self.method.name}: {name} is optional; expected {{along(AXIS)}} in C, "
                                      "and a dummy of that axis with the word dim")  # fmt: skip
            code.collect = [
                f"if (status == SYNCYTE_SUCCESS .and. .not. present({name})) &",
                f"  status = collect_counts(self%handle, {dim.word('dim')}_buffer, {dim.name}_axis, {made})",
            ]
        if not is_in:
            code.after = [self._write("fortran_set_integers", name)]
        return code

    @staticmethod
    def _write(writer: str, name: str, value: str = "") -> str:
        call = f'{writer}({name}, "{name}"//c_null_char, {value or f"{name}_c"})'
        return f"if (status == SYNCYTE_SUCCESS) status = {call}"

    def _text(self, dummy: Dummy) -> Code:
        made = f"{dummy.name}_c"
        return Code(self._declare(dummy, "character(len=*), intent(in)"), made,
                    [f"character(kind=c_char, len=:), allocatable, target :: {made}"],
                    prepare=[f"call to_c({dummy.name}, {made})"])  # fmt: skip

    def _option(self, dummy: Dummy, member: Member) -> Code:
        """A member of the options."""
        name, kind = dummy.name, member.type.name
        dummy = replace(dummy, text=dummy.text or _without_null(member.text))
        if kind == "char":
            code = replace(self._text(dummy), is_option=True)
            code.prepare.append(f"if (allocated({name}_c)) options%{name} = c_loc({name}_c)")
            return code
        plain = {"int32_t": ("integer", f"int({name}, c_int32_t)"), "double": ("real(c_double)", name)}
        fortran_type, value = plain.get("int32_t" if kind in self.names.enums else kind, ("", f"{name}_c"))
        if dummy.word("logical") is not None:
            fortran_type, value = "logical", f"merge(1_c_int32_t, 0_c_int32_t, {name})"
        code = Code(self._declare(dummy, f"{fortran_type}, intent(in)"), "") if fortran_type else self._any(dummy, kind)
        if member.type.length:
            call = f'fortran_some_integers({name}, "{name}"//c_null_char, {member.type.length}_c_int64_t'
            code = self._read(dummy, f"integer(c_{kind}), dimension({member.type.length})", call)
        code.is_option = True
        code.prepare.append(self._if_present(dummy, f"options%{name} = {value}"))
        return code

    def _any(self, dummy: Dummy, c_name: str) -> Code:
        """An integer of any kind."""
        return self._read(dummy, f"integer(c_{c_name})", f'fortran_integer({dummy.name}, "{dummy.name}"//c_null_char')

    def _member(self, dummy: Dummy) -> Code:
        """An output that is a member of a structure."""
        name, member = dummy.parameter.split("%")
        struct = self.names.structs[self.parameters[name].type.name]
        made = [f"type({struct.name}) :: {name}_c"]
        found = next(each for each in struct.members if each.name == member)
        if found.type.name == "int64_t":
            dummy = replace(dummy, text=f"any integer: {found.text}")
            return Code(self._descriptor(dummy, is_in=False), "", made,
                        after=[self._write("fortran_set_integer", dummy.name, f"{name}_c%{member}")])  # fmt: skip
        return Code(self._declare(dummy, "integer, intent(out)"), "", made,
                    after=[self._if_present(dummy, f"{dummy.name} = int({name}_c%{member})")])  # fmt: skip

    def _number(self, dummy: Dummy, parameter: Parameter) -> Code:
        name, made, ctype = dummy.name, f"{dummy.name}_c", parameter.type
        is_flag, is_out = dummy.word("logical") is not None, parameter.direction != "in"
        if parameter.kept:  # C writes it after the call, so that there can be no conversion
            declaration = f"integer({c_kind(ctype)}), intent(inout), target, asynchronous"
            return Code(self._declare(dummy, declaration), name)
        if ctype.name == "int64_t" and is_out:
            return Code(self._descriptor(dummy, is_in=False), made, [f"integer(c_int64_t) :: {made}"],
                        after=[self._write("fortran_set_integer", name)])  # fmt: skip
        if ctype.name == "int64_t" and not is_out:
            code = self._any(dummy, ctype.name)
            if dummy.is_optional and (value := dummy.word("default") or parameter.default):
                code.prepare.insert(0, f"{made} = {value}")
            return code
        kind = "integer(c_int32_t)" if ctype.name in self.names.enums else _NUMBERS[ctype.name]
        kind = "logical" if is_flag else kind
        c_type = f"{'real' if ctype.name == 'double' else 'integer'}({c_kind(ctype)})"
        to_c = f"merge(1_c_int32_t, 0_c_int32_t, {name})" if is_flag else (
            name if kind == c_type else f"int({name}, c_int32_t)")  # fmt: skip
        declaration = self._declare(dummy, f"{kind}, intent({'out' if is_out else 'in'})")
        if not is_out and not dummy.is_optional:
            return Code(declaration, to_c)
        default = dummy.word("default") or parameter.default or 0
        code = Code(declaration, made, [f"{c_type} :: {made}"], prepare=[f"{made} = {default}"])
        if is_out:
            to_fortran = f"{made} /= 0" if is_flag else made if kind == c_type else f"int({made})"
            code.after = [self._if_present(dummy, f"{name} = {to_fortran}")]
        else:
            code.prepare.append(self._if_present(dummy, f"{made} = {to_c}"))
        return code


def _without_null(text: str) -> str:
    return re.sub(r"\bnull\b", "absent", text)


def c_kind(ctype: CType) -> str:
    return f"c_{ctype.name}" if ctype.name in ("int64_t", "double") else "c_int32_t"


def _block(condition: str, statements: list[str | Check]) -> list[str | Check]:
    inside = [replace(each, indent=f"  {each.indent}") if isinstance(each, Check) else f"  {each}"
              for each in statements]  # fmt: skip
    return [f"if ({condition}) then", *inside, "end if"]


def adopt(name: str, handle: str) -> Code:
    """The C function's new handle takes the place of the one that `name` holds."""
    destroy = handle.removesuffix("_t") + ("_close" if handle == "syncyte_checkpoint_t" else "_destroy")
    after = ["if (status == SYNCYTE_SUCCESS) then",
             f"  if (c_associated({name}%handle)) ignored = {destroy}({name}%handle)",
             f"  {name}%handle = made", "end if"]  # fmt: skip
    return Code("", "made", ["type(c_ptr) :: made"], prepare=["made = c_null_ptr"], after=after, has_ignored=True)
