# SPDX-License-Identifier: BSD-3-Clause
"""Parses the C headers with pycparser, joins them with their comments, and checks the annotations."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

from comments import AnnotationError, Comments
from model import CType, Enum, Function, Header, Member, Names, Parameter, Struct, Value
from started import started

_HERE = Path(__file__).resolve().parent
_TEXT = c_generator.CGenerator()
_KEPT = ("syncyte_buffer_t", "syncyte_message_status_t", "void", "int64_t")  # types whose memory a call may keep
_FORMS = ("blocking", "started")


def _preprocess(compiler: str, header: Path, includes: list[Path]) -> str:
    folders = [f"-I{folder}" for folder in [_HERE / "stubs", *includes]]
    command = [compiler, "-E", "-x", "c", "-nostdinc", "-D__attribute__(x)=", *folders, str(header)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def _ctype(node) -> CType:
    pointers, length = 0, None
    if isinstance(node, c_ast.ArrayDecl):
        length, node = int(node.dim.value), node.type
    while isinstance(node, c_ast.PtrDecl):
        pointers, node = pointers + 1, node.type
    if not isinstance(node, c_ast.TypeDecl) or not isinstance(node.type, c_ast.IdentifierType):
        raise AnnotationError(f"{node.coord}: a type that the generator does not know")
    return CType(" ".join(node.type.names), pointers, "const" in node.quals, length)


def _parameters(declaration: c_ast.FuncDecl) -> list[tuple[str, CType]]:
    declared = declaration.args.params if declaration.args else []
    found = [(parameter.name, _ctype(parameter.type)) for parameter in declared]
    return [] if found == [(None, CType("void"))] else found


class _Reader:
    """Sorts the declarations of one header into a Header."""

    def __init__(self, name: str, comments: Comments):
        self.header = Header(name, comments.file, comments.included, comments.constants)
        self.comments = comments
        self.integers: set[str] = set()  # typedefs of int32_t

    def read(self, node) -> None:
        if isinstance(node, c_ast.FuncDef):
            return  # an inline function: other languages call what it calls
        if isinstance(node, c_ast.Typedef):
            self._typedef(node)
        elif isinstance(node.type, c_ast.Enum):
            self._enum(node.type)
        elif isinstance(node.type, c_ast.FuncDecl):
            comment = self.comments.declaration(node.name)
            where, parameters = f"{comment.where}: {node.name}", []
            for name, ctype in _parameters(node.type):
                if name not in comment.parameters:
                    raise AnnotationError(f"{where}: parameter {name} has no @param")
                parameters.append(Parameter(name, ctype, **comment.parameters[name]))
            if [parameter.name for parameter in parameters] != list(comment.parameters):
                names = list(comment.parameters)
                raise AnnotationError(f"{where}: @param of {names} do not match the declaration")
            declared = (node.name, _ctype(node.type.type), tuple(parameters))
            texts = {"brief": comment.brief, "result": comment.result, "started_text": comment.started_text}
            self.header.functions.append(Function(*declared, **texts, **comment.keywords, where=comment.where))

    def _typedef(self, node) -> None:
        brief = self.comments.declaration(node.name).brief
        target = node.type
        if isinstance(target, c_ast.PtrDecl) and isinstance(target.type, c_ast.FuncDecl):
            parameters = tuple(Parameter(name, ctype) for name, ctype in _parameters(target.type))
            self.header.callbacks.append(Function(node.name, _ctype(target.type.type), parameters, brief))
        elif isinstance(target, c_ast.PtrDecl):
            self.header.handles.append((node.name, brief))
        elif isinstance(target.type, c_ast.Struct):
            members = tuple(self._member(node.name, member) for member in target.type.decls)
            self.header.structs.append(Struct(node.name, members, brief))
        else:
            self.integers.add(node.name)

    def _member(self, struct: str, node) -> Member:
        text, annotations = self.comments.member(struct, node.name, "member")
        number = annotations.get("default")
        default = None if number is None else float(number) if "." in number else int(number)
        return Member(node.name, _ctype(node.type), text, default)

    def _enumerator(self, enum: str, node) -> Value:
        text, annotations = self.comments.member(enum, node.name, "enumerator")
        return Value(node.name, int(_TEXT.visit(node.value), 0), text, annotations.get("not", ""))

    def _enum(self, node: c_ast.Enum) -> None:
        name = node.name.removesuffix("_values") + "_t"
        if name not in self.integers:
            raise AnnotationError(f"enum {node.name}: no typedef {name} before it")
        values = tuple(self._enumerator(node.name, item) for item in node.values.enumerators)
        self.header.enums.append(Enum(name, values, self.comments.declaration(node.name).brief))


def _is_handle(node) -> bool:
    return (isinstance(node, c_ast.Typedef) and isinstance(node.type, c_ast.PtrDecl)
            and not isinstance(node.type.type, c_ast.FuncDecl))  # fmt: skip


def _read(path: Path, text: str) -> Header:
    """The header `path`, of which `text` is what the preprocessor makes."""
    reader = _Reader(path.stem, Comments(path.name, path.read_text(encoding="utf-8")))
    nodes = c_parser.CParser().parse(text, str(path)).ext
    for node in nodes:
        if Path(node.coord.file).resolve() == path.resolve():
            reader.read(node)
    handles = {node.name for node in nodes if _is_handle(node)}
    declared, reader.header.functions = reader.header.functions, []
    for function in declared:
        reader.header.functions.append(function)
        if function.started:
            reader.header.functions.append(started(function, path.stem, handles))
    return reader.header


def parse_headers(
    compiler: str, library: Path, names: list[str], includes: list[Path], folder: str = "syncyte"
) -> list[Header]:
    """Headers FOLDER/NAME.h below `library`, in the order given."""
    with tempfile.TemporaryDirectory() as place:  # of empty files in place of those that the generator writes
        empty = Path(place) / "syncyte" / "generated"
        empty.mkdir(parents=True)
        for header in (header for include in [library, *includes] for header in include.glob("syncyte/*.h")):
            (empty / header.name).touch()
        paths = [library / folder / f"{name}.h" for name in names]
        return [_read(path, _preprocess(compiler, path, [Path(place), library, *includes])) for path in paths]


def _problem(parameter: Parameter, function: Function, names: Names) -> str | None:
    ctype = parameter.type
    opaque = ctype.name in names.structs or ctype.name in ("void", "CFI_cdesc_t")
    siblings = {other.name for other in function.parameters}
    if (ctype.name in names.callbacks) != parameter.callback:
        return "a function pointer is annotated {callback}, and nothing else is"
    if parameter.direction != "in" and ctype.pointers == 0:
        return "an output is a pointer"
    if ctype.name == "char" and ctype.pointers == 1 and not parameter.string:
        return "a const char* is annotated {string}"
    if ctype.const and ctype.pointers == 1 and not opaque and not parameter.string and parameter.array is None:
        return "a pointer to const numbers is annotated {array(N)}"
    if parameter.array is not None and parameter.array.isidentifier() and parameter.array not in siblings:
        return f"array({parameter.array}) names no parameter"
    is_of_buffers = parameter.contiguous or parameter.tensor_dtype or parameter.integers
    if is_of_buffers and ctype.name != "syncyte_buffer_t":
        return "only a buffer can be {contiguous}, {tensor_dtype} or {integers}"
    if parameter.integers and (parameter.direction != "in" or parameter.kept):
        return "only an input that is not {kept} can be {integers}"
    if parameter.kept and ctype.name not in _KEPT:
        return "only a buffer, a status, an element or an int64_t can be {kept}"
    if problem := _reference_problem(parameter, function):
        return problem
    if parameter.traced and (ctype.name not in ("syncyte_buffer_t", "int32_t") or function.by_hand):
        return "only a buffer or a rank of a function that is not {by_hand} can be {traced}"
    if parameter.kept_if_started and (not function.started or ctype.name not in _KEPT):
        return "only a buffer, a status, an element or an int64_t of a {started} function can be {kept_if_started}"
    if parameter.in_place and not parameter.optional:
        return "only an {optional} parameter can be {in_place}"
    if parameter.optional and ctype.pointers == 0 and not parameter.callback:
        return "only a pointer can be {optional}"
    return None


def _reference_problem(parameter: Parameter, function: Function) -> str | None:
    """What is wrong with an annotation that names another parameter."""
    types = {other.name: other.type.name for other in function.parameters}
    kind = parameter.type.name
    if parameter.index and types.get(parameter.index) != "syncyte_tensor_t":
        return f"index({parameter.index}) names no tensor"
    if parameter.index and (kind not in ("syncyte_buffer_t", "int64_t") or parameter.direction != "in"):
        return "only an input, a buffer or an int64_t, can be an {index(TENSOR)}"
    if parameter.offset and types.get(parameter.offset) not in ("syncyte_buffer_t", "void"):
        return f"offset({parameter.offset}) names no array or element"
    if parameter.offset and (kind != "int64_t" or parameter.direction != "in"):
        return "only an int64_t can be an {offset(ARRAY)}"
    if parameter.along and types.get(parameter.along) != "int32_t":
        return f"along({parameter.along}) names no axis"
    if parameter.along and (kind != "int64_t" or parameter.array is None or parameter.direction != "in"):
        return "only an input, an array of int64_t, can be {along(AXIS)}"
    if parameter.mpi_handle and kind != "int32_t":
        return "only an int32_t can be an {mpi_handle}"
    return None


def _function_problem(function: Function) -> str | None:
    if not function.brief:
        return "no @brief"
    if function.free_function and (function.by_hand or function.started):
        return "no function that is {by_hand} or {started} is a {free_function}"
    if function.started_text and not (function.started or function.starts):
        return "@started describes a {started} function"
    if isinstance(function.cxx_by_hand, str) and not (function.started and function.cxx_by_hand in _FORMS):
        return "cxx_by_hand(FORM) names the blocking or the started form of a {started} function"
    return None


def check(headers: list[Header], names: Names) -> None:
    """Raises AnnotationError for the first declaration whose annotations are missing or do not fit its C type."""
    for header in headers:
        for function in header.functions:
            if problem := _function_problem(function):
                raise AnnotationError(f"{function.where}: {function.name}: {problem}")
            if function is not names.functions[function.name]:
                raise AnnotationError(f"{function.where}: {function.name} is declared twice, or generated too")
            for parameter in function.parameters:
                problem = _problem(parameter, function, names)
                if problem:
                    raise AnnotationError(f"{function.where}: {function.name}: parameter {parameter.name}: {problem}")
        for struct in header.structs:
            for member in struct.members:
                if not member.text:
                    raise AnnotationError(f"{struct.name}: member {member.name} has no comment")
