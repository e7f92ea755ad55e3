# SPDX-License-Identifier: BSD-3-Clause
"""Declarations of the C headers as plain data: the parser makes them, the emitters read them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CType:
    """A C type: `name` with `pointers` stars; `const`: what the innermost pointer points to is const."""

    name: str
    pointers: int = 0
    const: bool = False
    length: int | None = None  # extent of an array member


@dataclass(frozen=True)
class Parameter:
    """A parameter with its annotation."""

    name: str
    type: CType
    direction: str = "in"  # in, out or in,out
    array: str | None = None  # how many elements, as the annotation says
    along: str = ""  # extents of parts along this axis
    default: str = ""  # value for a caller who gives none, in languages that have such arguments
    optional: bool = False
    string: bool = False
    callback: bool = False
    pointer: bool = False  # a Fortran pointer, of several types
    contiguous: bool = False  # an array that must be contiguous
    in_place: bool = False  # null: the contents of the array that gets the result
    flag: bool = False  # 1 or 0
    kept: str | bool = False  # memory that is used after the call has returned; a text: the rule for it
    kept_if_started: str | bool = False  # the started form keeps it; a text: with this rule
    tensor_dtype: bool = False  # an array of the tensor's dtype
    integers: bool = False  # an array of int64, which languages make from integers of other kinds
    index: str = ""  # numbers, from 0, of the rows of this tensor, or the number of one of its elements
    offset: str = ""  # bytes, from 0, of a place for this array
    mpi_handle: bool = False  # a communicator of MPI, as a Fortran program has it
    traced: bool = False  # the trace gets its bytes, or the rank as the peer
    text: str = ""

    @property
    def declaration(self) -> str:
        """The parameter in C."""
        return f"{'const ' * self.type.const}{self.type.name}{'*' * self.type.pointers} {self.name}"

    @property
    def is_options(self) -> bool:
        return self.type.name.endswith("_options_t")

    @property
    def is_request(self) -> bool:
        return self.type.name == "syncyte_request_t"


@dataclass(frozen=True)
class Function:
    """A function, or a typedef of a pointer to one."""

    name: str
    returns: CType
    parameters: tuple[Parameter, ...]
    brief: str
    result: str = ""  # text of @return
    forked_child: bool = False  # a forked child may call it
    lookup: bool = False  # neither traced nor counted
    by_hand: bool = False  # capi/src has its implementation
    free_function: bool = False  # its implementation calls a function of the core, not a method
    cxx_by_hand: str | bool = False  # include/syncyte has its C++ method, if any; a text: that of this form
    started: bool = False  # has a started form
    started_text: str = ""  # of @started: what the started form's comment says beside
    starts: str = ""  # the function of which it is the started form
    where: str = ""  # file and line of its comment, for errors


@dataclass(frozen=True)
class Member:
    name: str
    type: CType
    text: str
    default: int | float | None  # from {default(N)}; None where zero is right


@dataclass(frozen=True)
class Struct:
    name: str
    members: tuple[Member, ...]
    brief: str


@dataclass(frozen=True)
class Value:
    name: str
    value: int
    text: str
    apart: str = ""  # from {not(NAME)}: the enum's values without this one are called NAME


@dataclass(frozen=True)
class Enum:
    """An enum and the int32_t typedef that carries its values."""

    name: str  # of the typedef, for example syncyte_op_t
    values: tuple[Value, ...]
    brief: str


@dataclass
class Header:
    """One header: `name` is its file name without the suffix."""

    name: str
    brief: str
    included: list[str]  # names of the headers that it includes
    constants: list[Value] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    handles: list[tuple[str, str]] = field(default_factory=list)  # (name, brief)
    structs: list[Struct] = field(default_factory=list)
    callbacks: list[Function] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)


def short(name: str) -> str:
    """syncyte_window_options_t -> window_options."""
    return name.removeprefix("syncyte_").removesuffix("_t")


def camel(name: str) -> str:
    """syncyte_window_options_t -> WindowOptions."""
    return "".join(word.capitalize() for word in short(name).split("_"))


class Names:
    """Declarations of several headers, by their names."""

    def __init__(self, headers: list[Header]):
        self.handles = {name for header in headers for name, _ in header.handles}
        self.structs = {struct.name: struct for header in headers for struct in header.structs}
        self.enums = {enum.name: enum for header in headers for enum in header.enums}
        self.callbacks = {callback.name for header in headers for callback in header.callbacks}
        self.functions = {function.name: function for header in headers for function in header.functions}
