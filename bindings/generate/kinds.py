"""How a dummy argument of a Fortran method becomes an argument of a C function."""

from __future__ import annotations

from dataclasses import dataclass, field

from methods import Dummy, Method
from model import Function, Names, Parameter, Struct

OBJECTS = {"syncyte_comm_t": "syncyte_comm", "syncyte_tensor_t": "syncyte_tensor", "syncyte_halo_t": "syncyte_halo",
           "syncyte_window_t": "syncyte_window", "syncyte_request_t": "syncyte_request",
           "syncyte_checkpoint_t": "syncyte_checkpoint_file"}  # fmt: skip
_NUMBERS = {"int32_t": "integer", "int64_t": "integer(c_int64_t)", "size_t": "integer(c_int64_t)",
            "double": "real(c_double)"}  # fmt: skip
_ANY = "type(*), dimension(..)"
_WELL = "if (local == SYNCYTE_SUCCESS) "


@dataclass
class Code:
    """What a dummy argument adds to its method."""

    declaration: str
    argument: str
    locals: list[str] = field(default_factory=list)
    describe: list[str] = field(default_factory=list)  # first: arrays, which others refer to
    prepare: list[str] = field(default_factory=list)
    collect: list[str] = field(default_factory=list)  # where all is well, before the call
    after: list[str] = field(default_factory=list)


class Converter:
    """Code for the dummies of one method."""

    def __init__(self, method: Method, function: Function, names: Names, structs: dict[str, Struct]):
        self.method, self.function, self.names, self.structs = method, function, names, structs
        self.parameters = {parameter.name: parameter for parameter in function.parameters}

    def code(self, dummy: Dummy) -> Code:
        if dummy.own:
            return Code(dummy.own, "")
        options = self.parameters.get("options")
        if options and (dummy.parameter not in self.parameters or dummy.word("option") is not None):
            members = {member.name: member.type for member in self.structs[options.type.name].members}
            if dummy.name in members:
                dummy.parameter = f"options.{dummy.name}"
                return self._option(dummy, members[dummy.name])
        if "%" in dummy.parameter:
            return self._member(dummy)
        parameter = self.parameters[dummy.parameter]
        for word in ("rows", "element", "scalar", "place", "dim", "mpi"):
            if dummy.word(word) is not None:
                return getattr(self, f"_{word}")(dummy, parameter)
        return self._by_type(dummy, parameter)

    def _by_type(self, dummy: Dummy, parameter: Parameter) -> Code:
        ctype = parameter.type
        if ctype.name == "CFI_cdesc_t":
            intent = "in" if ctype.const else "inout"
            return Code(self._declare(dummy, f"{_ANY}, intent({intent}), target"), dummy.name)
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

    @staticmethod
    def _if_present(dummy: Dummy, statement: str) -> str:
        if not dummy.is_optional:
            return statement
        if statement.startswith("if ("):
            return f"if (present({dummy.name}) .and. {statement[4:]}"
        return f"if (present({dummy.name})) {statement}"

    def _handle(self, dummy: Dummy, pointers: int) -> Code:
        parameter = self.parameters[dummy.parameter]
        kind = OBJECTS[parameter.type.name]
        if pointers == 0 or kind == "syncyte_request":
            intent = "inout" if pointers else "in"
            return Code(self._declare(dummy, f"type({kind}), intent({intent})"), f"{dummy.name}%handle")
        return Code(self._declare(dummy, f"type({kind}), intent(inout)"), "made", *adoption(dummy.name, kind))

    def _array(self, dummy: Dummy, parameter: Parameter) -> Code:
        """An array, described by a buffer; null where it is absent or not wanted."""
        name, buffer, given = dummy.name, f"{dummy.name}_buffer", f"{dummy.name}_given"
        is_in, is_dense = parameter.direction == "in", dummy.word("dense") is not None
        is_kept = dummy.word("kept") is not None or self.method.scope == "start"
        stored = "global%dtype" if dummy.word("stored") is not None else "0_c_int32_t"
        describe = (f'{_WELL}local = fortran_buffer({name}, "{name}"//c_null_char, {int(is_dense)}_c_int32_t, '
                    f"{stored}, {buffer})")  # fmt: skip
        code = Code(self._declare(dummy, f"{_ANY}, intent({'in' if is_in else 'inout'}), target"
                                  + (", asynchronous" if is_kept else "")), buffer,
                    [f"type(syncyte_buffer_t), target :: {buffer}"], [describe])  # fmt: skip
        if dummy.word("stored") is not None:
            code.locals.append("type(syncyte_buffer_t) :: global")
            code.describe.insert(0, f"{_WELL}local = syncyte_tensor_describe(self%handle, global)")
        wanted = [dummy.word("if") or ""] * (dummy.word("if") is not None) + [f"present({name})"] * dummy.is_optional
        if wanted:
            code.argument = given
            code.locals.append(f"type(syncyte_buffer_t), pointer :: {given}")
            code.describe = [describe, f"{given} => {buffer}"]
            for condition in reversed(wanted):
                code.describe = [f"if ({condition}) then", *(f"  {line}" for line in code.describe), "end if"]
            code.describe.insert(0, f"nullify ({given})")
        if is_dense:
            written = "0_c_int32_t" if is_in else "merge(1_c_int32_t, 0_c_int32_t, status == SYNCYTE_SUCCESS)"
            code.after = [self._if_present(dummy, f"ignored = fortran_release({name}, {written}, {buffer})")]
        return code

    def _scalar(self, dummy: Dummy, parameter: Parameter) -> Code:
        """One element, of the type of another one, passed by its address."""
        name, buffer, like = dummy.name, f"{dummy.name}_buffer", dummy.word("scalar") or dummy.name
        intent = "inout" if dummy.word("out") is not None else "in"
        return Code(self._declare(dummy, f"{_ANY}, intent({intent}), target"), f"{buffer}%data",
                    [f"type(syncyte_buffer_t), target :: {buffer}"],
                    [f'{_WELL}local = fortran_alike({name}, {like}, "{name}"//c_null_char)',
                     f'{_WELL}local = fortran_buffer({name}, "{name}"//c_null_char, 0_c_int32_t, 0_c_int32_t, '
                     f"{buffer})"])  # fmt: skip

    def _read(self, dummy: Dummy, kind: str, call: str) -> Code:
        """A number or structure that a helper makes of something with any type and rank."""
        made = f"{dummy.name}_c"
        return Code(self._declare(dummy, f"{_ANY}, intent(in), target"), made, [f"{kind} :: {made}"],
                    prepare=[self._if_present(dummy, f"{_WELL}local = {call}, {made})")])  # fmt: skip

    def _rows(self, dummy: Dummy, _: Parameter) -> Code:
        code = self._read(dummy, "type(syncyte_buffer_t)", f"fortran_rows({dummy.name}, global%shape(1)")
        code.after = [f"ignored = syncyte_memory_release({dummy.name}_c%data)"]
        return code

    def _element(self, dummy: Dummy, _: Parameter) -> Code:
        return self._read(dummy, "integer(c_int64_t)", f"fortran_element(self%handle, {dummy.name}")

    def _place(self, dummy: Dummy, _: Parameter) -> Code:
        return self._read(dummy, "integer(c_size_t)", f"fortran_place({dummy.name}, {dummy.word('place')}_buffer")

    def _mpi(self, dummy: Dummy, _: Parameter) -> Code:
        return self._read(dummy, "integer(c_int32_t)", f'fortran_handle({dummy.name}, "{dummy.name}"//c_null_char')

    def _dim(self, dummy: Dummy, _: Parameter) -> Code:
        name, array = dummy.name, dummy.word("dim")
        return Code(self._declare(dummy, "integer, intent(in)"), f"{name}_axis",
                    [f"integer(c_int32_t) :: {name}_c, {name}_axis"],
                    prepare=[f"{name}_c = {array}_buffer%ndim",
                             self._if_present(dummy, f"{name}_c = int({name}, c_int32_t)"),
                             f'{_WELL}local = fortran_axis({name}_c, {array}_buffer, "{name}"//c_null_char, '
                             f'"{array}"//c_null_char, {name}_axis)'])  # fmt: skip

    def _integers(self, dummy: Dummy, parameter: Parameter) -> Code:
        """Integers of any kind, as many as the array has."""
        name, made, is_in = dummy.name, f"{dummy.name}_c", parameter.direction == "in"
        is_reversed = int(dummy.word("reversed") is not None)
        read = [f"allocate ({made}(fortran_count({name})))",
                f'{_WELL}local = fortran_integers({name}, "{name}"//c_null_char, {is_reversed}_c_int32_t, '
                f"{made})"]  # fmt: skip
        code = Code(self._declare(dummy, f"{_ANY}, intent({'in' if is_in else 'inout'}), target"), made,
                    [f"integer(c_int64_t), allocatable :: {made}(:)"], prepare=read)  # fmt: skip
        if dummy.is_optional:
            code.prepare = [f"if (present({name})) then", *(f"  {line}" for line in code.prepare), "end if"]
            part, dim = (dummy.word("lengths") or "").split(", ")
            code.collect = [f"if (status == SYNCYTE_SUCCESS .and. .not. present({name})) &",
                            f"  status = collected(self%handle, {part}_buffer, {dim}_axis, {made})"]  # fmt: skip
        if not is_in:
            code.after = [f'if (status == SYNCYTE_SUCCESS) status = fortran_set_integers({name}, "{name}"'
                          f"//c_null_char, {made})"]  # fmt: skip
        return code

    def _text(self, dummy: Dummy) -> Code:
        made = f"{dummy.name}_c"
        return Code(self._declare(dummy, "character(len=*), intent(in)"), made,
                    [f"character(kind=c_char, len=:), allocatable, target :: {made}"],
                    prepare=[f"call to_c({dummy.name}, {made})"])  # fmt: skip

    def _option(self, dummy: Dummy, ctype) -> Code:
        """A member of the options."""
        if ctype.name == "char":
            code = self._text(dummy)
            code.prepare.append(f"if (allocated({code.argument})) options%{dummy.name} = c_loc({code.argument})")
        elif ctype.name == "int32_t":
            code = Code(self._declare(dummy, "integer, intent(in)"), "",
                        prepare=[self._if_present(dummy, f"options%{dummy.name} = int({dummy.name}, c_int32_t)")])
        else:
            code = self._any(dummy, ctype.name)
            code.prepare.append(self._if_present(dummy, f"options%{dummy.name} = {dummy.name}_c"))
        return code

    def _any(self, dummy: Dummy, c_name: str) -> Code:
        """An integer of any kind."""
        reader = "fortran_size" if c_name == "size_t" else "fortran_integer"
        return self._read(dummy, f"integer(c_{c_name})", f'{reader}({dummy.name}, "{dummy.name}"//c_null_char')

    def _member(self, dummy: Dummy) -> Code:
        """An output that is a member of a structure."""
        name, member = dummy.parameter.split("%")
        struct = self.structs[self.parameters[name].type.name]
        return Code(self._declare(dummy, "integer, intent(out)"), "", [f"type({struct.name}) :: {name}_c"],
                    after=[self._if_present(dummy, f"{dummy.name} = int({name}_c%{member})")])  # fmt: skip

    def _number(self, dummy: Dummy, parameter: Parameter) -> Code:
        name, made, ctype = dummy.name, f"{dummy.name}_c", parameter.type
        is_flag, is_out = dummy.word("flag") is not None, parameter.direction != "in"
        if ctype.name == "int64_t" and is_out and dummy.word("any") is not None:
            code = self._any(dummy, "int64_t")
            code.declaration = self._declare(dummy, f"{_ANY}, intent(inout), target")
            code.prepare = []
            code.after = [f"if (status == SYNCYTE_SUCCESS) status = fortran_set_integer({name}, "
                          f'"{name}"//c_null_char, {made})']  # fmt: skip
            return code
        if ctype.name in ("int64_t", "size_t") and not is_out:
            return self._any(dummy, ctype.name)
        is_code = ctype.name in self.names.enums and not is_flag
        kind = "logical" if is_flag else "integer(c_int32_t)" if is_code else _NUMBERS.get(ctype.name, "integer")
        if is_out and dummy.word("integer") is not None:
            kind = "integer"
        c_type = "real(c_double)" if ctype.name == "double" else (
            f"integer(c_{ctype.name})" if ctype.name in ("int64_t", "size_t") else "integer(c_int32_t)")  # fmt: skip
        to_c = f"merge(1_c_int32_t, 0_c_int32_t, {name})" if is_flag else (
            name if kind == c_type else f"int({name}, c_int32_t)")  # fmt: skip
        declaration = self._declare(dummy, f"{kind}, intent({'out' if is_out else 'in'})")
        if not is_out and not dummy.is_optional:
            return Code(declaration, to_c)
        code = Code(declaration, made, [f"{c_type} :: {made}"], prepare=[f"{made} = {dummy.default or 0}"])
        if is_out:
            to_fortran = f"{made} /= 0" if is_flag else made if kind == c_type else f"int({made})"
            code.after = [self._if_present(dummy, f"{name} = {to_fortran}")]
        else:
            code.prepare.append(self._if_present(dummy, f"{made} = {to_c}"))
        return code


def adoption(name: str, kind: str) -> tuple[list[str], list[str], list[str], list[str], list[str]]:
    """The fields of Code behind argument: a new handle takes the place of the one that `name` holds."""
    destroy = "syncyte_checkpoint_close" if kind == "syncyte_checkpoint_file" else f"{kind}_destroy"
    after = ["if (status == SYNCYTE_SUCCESS) then",
             f"  if (c_associated({name}%handle)) ignored = {destroy}({name}%handle)",
             f"  {name}%handle = made", "end if"]  # fmt: skip
    return ["type(c_ptr) :: made"], [], ["made = c_null_ptr"], [], after
