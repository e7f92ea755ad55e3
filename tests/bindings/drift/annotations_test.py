# SPDX-License-Identifier: BSD-3-Clause
"""The generator of declarations with good and bad annotations. Usage: annotations_test.py CC"""

import re
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bindings" / "generate"))

import emit_capi  # noqa: E402
import emit_core  # noqa: E402
import emit_cxx  # noqa: E402
import emit_fortran  # noqa: E402
import emit_methods  # noqa: E402
import emit_python  # noqa: E402
import emit_torch  # noqa: E402
import started  # noqa: E402
from comments import AnnotationError  # noqa: E402
from methods import read_module  # noqa: E402
from model import Enum, Names  # noqa: E402
from parse import check, parse_headers  # noqa: E402
from schemas import read_operators  # noqa: E402

COMPILER = "cc"
HEADER = """
#include <stddef.h>
#include <stdint.h>
typedef int32_t syncyte_status_t;
/** A thing. */
typedef struct syncyte_thing_s* syncyte_thing_t;
/** A tensor. */
typedef struct syncyte_tensor_s* syncyte_tensor_t;
/** A request. */
typedef struct syncyte_request_s* syncyte_request_t;
/** An array. */
typedef struct syncyte_buffer_t {{
  size_t struct_size; /**< sizeof(syncyte_buffer_t) */
}} syncyte_buffer_t;
/** Options. */
typedef struct syncyte_thing_options_t {{
  size_t struct_size; /**< sizeof(syncyte_thing_options_t) */
  int64_t rows;       /**< {{default(-1)}} rows */
}} syncyte_thing_options_t;
/**
 * @brief {brief}Does it.
{comment}
 */
syncyte_status_t syncyte_thing_do({declaration});
"""


ENUM = """
/** A size. */
typedef int32_t syncyte_size_t;
/** Sizes. */
enum syncyte_size_values {{
  {values}
}};
"""
METHODS = """!> Things.
module syncyte_things

  !> A thing.
  type, public :: syncyte_thing
    type(c_ptr) :: handle = c_null_ptr
  end type syncyte_thing

contains

!> Does it. Local.
{method}

  !> As it is written.
  subroutine own()
  end subroutine own
end module syncyte_things
"""
ARRAY = "syncyte_thing_t thing, const syncyte_buffer_t* {0}"
PARAMETERS = (
    " * @param[in] thing a thing\n * @param[in] number how many\n"
    " * @param[in] rows {array(rows_length), optional} which\n * @param[in] rows_length how many"
)
DECLARATION = "syncyte_thing_t thing, int32_t number, const int64_t* rows, int64_t rows_length"


def methods(method: str, parameters: str = PARAMETERS, declaration: str = DECLARATION, brief: str = "") -> str:
    """The module with one method of a thing."""
    _, names = parse(parameters, declaration, brief)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "things.methods"
        path.write_text(METHODS.format(method=method))
        return emit_methods.emit([read_module(path)], names)["syncyte_things.f90"]


def parse(comment: str, declaration: str, brief: str = "", more: str = ""):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "syncyte" / "thing.h"
        path.parent.mkdir()
        path.write_text(HEADER.format(comment=comment, declaration=declaration, brief=brief) + more)
        headers = parse_headers(COMPILER, Path(folder), ["thing"], [])
    names = Names(headers)
    names.enums["syncyte_status_t"] = Enum("syncyte_status_t", (), "")
    check(headers, names)
    return headers, names


class Annotations(unittest.TestCase):
    def rejects(self, comment: str, declaration: str, message: str):
        with self.assertRaisesRegex(AnnotationError, message):
            parse(comment, declaration)

    def test_reads_directions_and_keywords(self):
        headers, _ = parse(
            " * @param[in] count how many\n * @param[in] rows {array(count), optional} which\n"
            " * @param[in] name {string} a name\n * @param[out] thing the thing\n * @return nothing else",
            "int32_t count, const int64_t* rows, const char* name, syncyte_thing_t* thing",
        )
        function = headers[0].functions[0]
        self.assertEqual([p.direction for p in function.parameters], ["in", "in", "in", "out"])
        self.assertEqual((function.parameters[1].array, function.parameters[1].optional), ("count", True))
        self.assertEqual(function.parameters[1].text, "which")
        self.assertTrue(function.parameters[2].string)
        self.assertEqual((function.brief, function.result), ("Does it.", "nothing else"))

    def test_reads_annotations_of_functions(self):
        headers, _ = parse("", "void", "{forked_child, lookup} ")
        function = headers[0].functions[0]
        self.assertTrue(function.forked_child)
        self.assertTrue(function.lookup)
        self.assertEqual(function.brief, "Does it.")

    def test_rejects_an_unknown_annotation_of_a_function(self):
        with self.assertRaisesRegex(AnnotationError, "unknown annotation 'optional'"):
            parse("", "void", "{optional} ")

    def test_rejects_a_contiguous_number(self):
        self.rejects(" * @param[in] count {contiguous} how many", "int32_t count", "only a buffer can be {contiguous}")

    def test_emits_both_languages(self):
        headers, names = parse(
            " * @param[in] rows {array(2), optional} which\n * @param[out] thing the thing",
            "const int64_t* rows, syncyte_thing_t* thing",
        )
        fortran = emit_fortran.emit(headers, [], [], names)["syncyte_thing_c.f90"]
        self.assertIn("integer(c_int64_t), intent(in), optional :: rows(*)", fortran)
        self.assertIn("type(c_ptr), intent(inout) :: thing", fortran)
        self.assertIn("struct_size = 16_c_size_t", fortran)
        self.assertIn("rows = -1_c_int64_t", fortran)
        scope = {}
        exec(compile(emit_python.emit(headers, [], names), "declarations", "exec"), scope)
        self.assertEqual(len(scope["CORE"]["syncyte_thing_do"].argtypes), 2)
        self.assertEqual(scope["ThingOptions"]._defaults_, {"rows": -1})

    def test_rejects_a_parameter_without_annotation(self):
        self.rejects("", "int32_t count", "count has no @param")

    def test_rejects_an_annotation_without_parameter(self):
        self.rejects(" * @param[in] count how many\n * @param[in] other text", "int32_t count", "do not match")

    def test_rejects_a_missing_direction(self):
        self.rejects(" * @param count how many", "int32_t count", "count how many")

    def test_rejects_an_unknown_keyword(self):
        self.rejects(" * @param[in] count {maybe} how many", "int32_t count", "unknown annotation 'maybe'")

    def test_rejects_an_output_that_is_no_pointer(self):
        self.rejects(" * @param[out] count how many", "int32_t count", "an output is a pointer")

    def test_rejects_an_array_without_length(self):
        self.rejects(" * @param[in] rows which", "const int64_t* rows", "annotated {array")

    def test_rejects_a_length_that_is_no_parameter(self):
        self.rejects(" * @param[in] rows {array(n)} which", "const int64_t* rows", "names no parameter")

    def test_rejects_references_to_nothing(self):
        tensor = " * @param[in] tensor a tensor\n"
        for comment, declaration, message in [
            (" * @param[in] row {index(tensor)} which", "int64_t row", r"index\(tensor\) names no tensor"),
            (f"{tensor} * @param[in] row {{index(tensor)}} which", "syncyte_tensor_t tensor, int32_t row", "int64_t"),
            (" * @param[in] place {offset(source)} which", "int64_t place", r"offset\(source\) names no array"),
            (" * @param[in] comm {mpi_handle} which", "int64_t comm", "only an int32_t"),
        ]:
            with self.subTest(comment):
                self.rejects(comment, declaration, message)

    def test_rejects_an_unmarked_string(self):
        self.rejects(" * @param[in] name which", "const char* name", "annotated {string}")

    def test_names_the_line_of_the_comment(self):
        line = 1 + HEADER.format(comment="", declaration="", brief="").splitlines().index(" * @brief Does it.")
        where = f"thing.h:{line - 1}: syncyte_thing_do"
        for comment, declaration in [
            (" * @param[in] count {maybe} how many", "int32_t count"),
            (" * @param[in] count {contiguous} how many", "int32_t count"),
            ("", "int32_t count"),
        ]:
            with self.subTest(comment):
                self.rejects(comment, declaration, f"^{where}: parameter count")

    def test_rejects_extents_along_nothing(self):
        array = " * @param[in] counts {{array(2), along({})}} extents"
        for axis, declaration, message in [
            ("axis", "const int64_t* counts", r"thing.h:\d+: .*along\(axis\) names no axis"),
            ("dim", "const int64_t* counts, int32_t dim", "of int64_t, can be {along"),
        ]:
            further = " * @param[in] dim which" if axis == "dim" else ""
            declaration = declaration.replace("int64_t", "int32_t") if axis == "dim" else declaration
            with self.subTest(axis):
                self.rejects(f"{array.format(axis)}\n{further}", declaration, message)


class Functions(unittest.TestCase):
    """The C functions."""

    @staticmethod
    def emitted(comment: str, declaration: str, brief: str = "") -> str:
        return emit_capi.emit(*parse(comment, declaration, brief))

    def test_traces_what_is_annotated_whatever_its_name(self):
        for name in ("output", "rows"):
            with self.subTest(name):
                thing = " * @param[in] thing a thing\n"
                text = self.emitted(f"{thing} * @param[in] {name} {{traced}} which", ARRAY.format(name))
                self.assertIn(f"    trace_buffer({name});\n    object->do({name});\n", text)
                text = self.emitted(f"{thing} * @param[in] {name} which", ARRAY.format(name))
                self.assertNotIn("trace_buffer", text)

    def test_traces_the_first_array_that_is_not_null(self):
        text = self.emitted(
            " * @param[in] thing a thing\n * @param[in] from {optional, traced} one\n * @param[in] to {traced} where\n"
            " * @param[in] home {traced} a rank",
            "syncyte_thing_t thing, const syncyte_buffer_t* from, const syncyte_buffer_t* to, int32_t home",
        )
        self.assertIn("    trace_peer(home);\n    trace_buffer(from != nullptr ? from : to);\n", text)

    def test_leaves_out_functions_that_are_written_by_hand(self):
        thing = (" * @param[in] thing a thing", "syncyte_thing_t thing")
        self.assertIn("syncyte_thing_do(", self.emitted(*thing))
        self.assertNotIn("syncyte_thing_do(", self.emitted(*thing, "{by_hand} "))
        with self.assertRaisesRegex(AnnotationError, "always written by hand"):
            self.emitted("", "void", "{by_hand} ")

    def test_calls_a_function_of_the_core_where_that_is_annotated(self):
        thing = (" * @param[in] thing a thing\n * @param[in] row a row", "syncyte_thing_t thing, int64_t row")
        self.assertIn("    object->do(row);\n", self.emitted(*thing))
        self.assertIn("    thing::do(*object, row);\n", self.emitted(*thing, "{free_function} "))
        for other in ("by_hand", "started"):
            with self.subTest(other), self.assertRaisesRegex(AnnotationError, "is a {free_function}"):
                self.emitted(*thing, f"{{free_function, {other}}} ")

    def test_rejects_a_trace_that_nobody_writes(self):
        for brief, kind in [("{by_hand} ", "int32_t"), ("", "int64_t")]:
            with self.subTest(kind), self.assertRaisesRegex(AnnotationError, "can be {traced}"):
                parse(" * @param[in] home {traced} a rank", f"{kind} home", brief)


class CxxMethods(unittest.TestCase):
    """The C++ methods."""

    COMMENT = " * @param[in] thing a thing\n * @param[in] array what"
    DECLARATION = "syncyte_thing_t thing, const syncyte_buffer_t* array"

    def emitted(self, brief: str = "", classes: tuple[str, ...] = ("thing",)) -> str:
        headers, _ = parse(self.COMMENT, self.DECLARATION, brief)
        with unittest.mock.patch.object(emit_cxx, "_CLASSES", {"thing": classes}):
            return emit_cxx.methods(headers)

    def test_leaves_out_what_is_written_by_hand(self):
        for brief, has_blocking, has_started in [
            ("{started} ", True, True),
            ("{started, cxx_by_hand} ", False, False),
            ("{started, cxx_by_hand(blocking)} ", False, True),
            ("{started, cxx_by_hand(started)} ", True, False),
        ]:
            with self.subTest(brief):
                text = self.emitted(brief)
                self.assertEqual(("void do(" in text, "request ido(" in text), (has_blocking, has_started))

    def test_rejects_an_annotation_that_changes_nothing(self):
        for brief in ("{cxx_by_hand(started)} ", "{started, cxx_by_hand(both)} "):
            with self.subTest(brief), self.assertRaisesRegex(AnnotationError, r"thing.h:\d+: .*names the blocking or"):
                self.emitted(brief)
        with self.assertRaisesRegex(AnnotationError, r"thing.h:\d+: .*no method follows"):
            self.emitted("{cxx_by_hand} ", classes=())

    def test_is_not_both_generated_and_written_by_hand(self):
        headers = sorted((ROOT / "include" / "syncyte").glob("*.hpp"))
        called = set(re.findall(r"\bsyncyte_\w+(?=[(,])", "".join(path.read_text() for path in headers)))
        generated = (ROOT / "include" / "syncyte" / "generated" / "methods.hpp").read_text()
        references = set(re.findall(r"syncyte_\w+_(?:retain|destroy)", generated))
        self.assertEqual(called & set(re.findall(r"\bsyncyte_\w+(?=[(,])", generated)) - references, set())


class TorchOperators(unittest.TestCase):
    """Torch's operators: their table and C++'s functions."""

    SCHEMAS = """
# A comment.
kind plain = device(direct), batch(once)
type Ranks = int, handle(communicator)
type Sum = int, reduction
type Way = int, hidden
type Nothing = Tensor, hidden(at::empty({0}))
type Edge = int, axis
type Extents = int[], shape
/// Adds numbers,
/// and more.
plain, fails_alone, batch(each) add.more(Nothing nothing, Ranks ranks, Sum sum=1,
    Way way=7) -> Tensor
plain, internal cut(Tensor(a!) input, *, Edge along, Edge across=0, Extents? sizes=None) -> (Tensor a, str b)
"""

    def emitted(self, schemas: str) -> tuple[str, str]:
        operators = read_operators(schemas)
        return emit_torch.functions(operators, {}), emit_torch.table(operators)

    def rejects(self, old: str, new: str, message: str):
        self.assertIn(old, self.SCHEMAS)
        with self.subTest(new), self.assertRaisesRegex(AnnotationError, f"^{re.escape(message)}"):
            self.emitted(self.SCHEMAS.replace(old, new))

    def test_passes_arguments_as_their_types_say(self):
        text, _ = self.emitted(self.SCHEMAS)
        self.assertIn("/// Adds numbers, and more.\ninline at::Tensor add(const communicator& ranks, "
                      "op how = op::sum) {\n", text)  # fmt: skip
        self.assertIn('("syncyte::add", "more");\n', text)
        self.assertIn("found.call(at::empty({0}), detail::schema_number(ranks), detail::raw(how), 7);", text)
        self.assertNotIn("cut", text)

    def test_has_the_schemas_of_torch_and_the_words_of_kinds_in_the_table(self):
        _, text = self.emitted(self.SCHEMAS)
        self.assertIn('{.schema = "add.more(Tensor nothing, int ranks, int sum=1, int way=7) -> Tensor",\n       '
                      '.device = device_use::direct, .batch = "each", .fails_alone = true},\n', text)  # fmt: skip
        self.assertIn('"cut(Tensor(a!) input, *, int along, int across=0, int[]? sizes=None) -> (Tensor a, str b)",'
                      '\n       .device = device_use::direct, .batch = "once", .axes = "12", .shapes = "3"},\n',
                      text)  # fmt: skip

    def test_takes_the_comment_of_the_python_function_where_it_has_none(self):
        schemas = self.SCHEMAS.replace("/// Adds numbers,\n/// and more.\n", "")
        text = emit_torch.functions(read_operators(schemas), {"add": ("Adds ``x`` as :func:`sum` does.", "x")})
        self.assertIn("/// Adds `nothing` as sum() does.\n", text)
        with self.assertRaisesRegex(AnnotationError, "^operators.schemas:10: add has neither a comment nor a function"):
            self.emitted(schemas)

    def test_rejects_what_it_cannot_read(self):
        for old, new, message in [
            ("# A comment.", "A comment.", "operators.schemas:2: cannot read 'A comment.'"),
            ("direct)", "nowhere)", "operators.schemas:3: 'device(nowhere)': expected no_kernel, through_host, direct"),
            ("fails_alone", "fails_alone(1)", "operators.schemas:12: 'fails_alone(1)': expected no value"),
            ("fails_alone", "fails", "operators.schemas:12: 'fails' is none of the words is_effectful"),
            ("handle(communicator)", "handle", "operators.schemas:4: cannot read 'type Ranks = int, handle'"),
            ("plain, fails", "simple, fails", "operators.schemas:12: kind simple is not described"),
            ("Ranks ranks", "Rank ranks", "operators.schemas:12: cannot read the argument 'Rank ranks'"),
            ("Ranks ranks", "ranks", "operators.schemas:12: cannot read the argument 'ranks'"),
            ("/// and more.", "", "operators.schemas:11: expected an operator behind its comment, not ''"),
        ]:
            self.rejects(old, new, message)

    def test_rejects_what_does_not_fit(self):
        for old, new, message in [
            ("Way way=7", "Way way", "operators.schemas:12: 'Way way', of torch's type int, cannot be hidden"),
            ("sum=1", "sum=2", "operators.schemas:12: 'Sum sum=2', of torch's type int, cannot be reduction"),
            (
                "Ranks = int",
                "Ranks = bool",
                "operators.schemas:12: 'Ranks ranks', of torch's type bool, cannot be handle",
            ),
            ("type Sum", "type Ranks = int, axis\ntype Sum", "operators.schemas:5: type Ranks is described twice"),
            ("type Sum", "kind plain\ntype Sum", "operators.schemas:5: kind plain is described twice"),
            ("type Sum", "type Other = int, axis\ntype Sum", "operators.schemas:5: no operator has a Other"),
            ("plain, internal", "plain", "operators.schemas:14: C++ has no type for the result (Tensor a, str b)"),
            ("Way way=7", "Way way=7, str name", "operators.schemas:12: C++ has no type for 'str name'"),
            ("*, Edge", f"{'int i, ' * 9}Edge", "operators.schemas:14: an argument behind the tenth is axis"),
        ]:
            self.rejects(old, new, message)


class Started(unittest.TestCase):
    """The started form of a function."""

    COMMENT = (
        " * @param[in] thing a thing\n * @param[in] index {index(tensor), traced} which\n"
        " * @param[in] tensor a tensor\n * @param[in] source {kept_if_started} what\n"
        " * @param[in] scale {optional} a factor\n * @param[out] old {optional, kept_if_started} what was there\n"
        " * @return SYNCYTE_ERR_INDEX.\n * @started It is late."
    )
    DECLARATION = (
        "syncyte_thing_t thing, const syncyte_buffer_t* index, syncyte_tensor_t tensor, "
        "const syncyte_buffer_t* source, const void* scale, int64_t* old"
    )

    def test_has_the_parameters_of_the_function_and_a_request(self):
        headers, _ = parse(self.COMMENT, self.DECLARATION, "{started, forked_child} ")
        blocking, form = headers[0].functions
        self.assertEqual(form.name, "syncyte_thing_ido")
        self.assertEqual(
            [(each.name, each.type, each.direction) for each in form.parameters[:-1]],
            [(each.name, each.type, each.direction) for each in blocking.parameters],
        )
        self.assertEqual([each.name for each in form.parameters if each.kept], ["source", "old"])
        self.assertEqual((form.parameters[-1].type.name, form.parameters[-1].type.pointers), ("syncyte_request_t", 1))
        self.assertFalse(form.forked_child)

    def test_is_declared_with_what_its_caller_must_know(self):
        headers, _ = parse(self.COMMENT, self.DECLARATION, "{started} ")
        text = started.emit(headers)["thing.h"]
        for line in [
            "@brief Starts syncyte_thing_do(), as the head of syncyte/thing.h says. It is late.",
            "@param[in] index which; may be re-used on return",
            "@param[in] tensor a tensor; it may be destroyed before the request has ended",
            "@param[in] source what; must stay unchanged until the request has ended",
            "@param[in] scale a factor; may be null; may be re-used on return",
            "@param[out] old what was there; may be null; may not be read until the request has ended",
            "@return as thing_do, for errors that this rank finds; test and wait return the others.",
        ]:
            self.assertIn(f" * {line}\n", text)
        self.assertRegex(text, r"SYNCYTE_EXPORT syncyte_status_t syncyte_thing_ido\(syncyte_thing_t thing,[^;]*t\);")
        self.assertEqual(started.emit(parse(PARAMETERS, DECLARATION)[0]), {})

    def test_keeps_memory_by_the_rule_that_is_annotated(self):
        comment = self.COMMENT.replace("{kept_if_started}", "{kept_if_started(may grow, but not shrink)}")
        headers, _ = parse(comment, self.DECLARATION, "{started} ")
        self.assertIn(" * @param[in] source what; may grow, but not shrink until the request has ended\n",
                      started.emit(headers)["thing.h"])  # fmt: skip

    def test_is_implemented_as_the_function(self):
        text = Functions.emitted(self.COMMENT, self.DECLARATION, "{started} ")
        self.assertIn("static_cast<int64_t>(object->do(index, tensor, source, scale));", text)
        self.assertIn(
            '    trace_buffer(index);\n    out(request, "request");\n'
            '    give_request(object->ido(index, tensor, source, scale, old), "thing_ido", request);\n',
            text,
        )
        by_hand = Functions.emitted(self.COMMENT.replace(", traced", ""), self.DECLARATION, "{started, by_hand} ")
        self.assertNotIn("do(", by_hand)

    def test_is_the_class_of_an_operation_where_the_namespace_has_classes(self):
        with unittest.mock.patch.object(emit_capi, "_NAMESPACES_OF_CLASSES", {"thing"}):
            text = Functions.emitted(self.COMMENT, self.DECLARATION, "{started} ")
        self.assertIn("    access::run<thing::do>(*object, index, tensor, source, scale, old);\n", text)
        self.assertIn("access::start<thing::do>(object, index, tensor, source, scale, old)", text)

    def test_is_a_fortran_method_where_the_description_says_so(self):
        comment = (" * @param[in] thing a thing\n * @param[in] rows {kept_if_started} which\n"
                   " * @param[in] number how many")  # fmt: skip
        declaration = "syncyte_thing_t thing, const syncyte_buffer_t* rows, int32_t number"
        method = "error_here, started act(rows, number?) : thing_do"
        text = methods(method, comment, declaration, "{started} ")
        self.assertIn("    procedure :: iact => thing_iact\n", text)
        self.assertIn("  !> Starts act; rows must stay unchanged until the request has ended. Local.\n", text)
        self.assertIn("  subroutine thing_iact(self, rows, request, number, stat, errmsg)\n", text)
        self.assertIn("syncyte_thing_ido(self%handle, rows_buffer, number_c, request%handle)", text)
        self.assertNotIn("iact", methods(method.replace(", started", ""), comment, declaration, "{started} "))
        with self.assertRaisesRegex(AnnotationError, "syncyte_thing_do is not {started}"):
            methods(method, comment.replace("{kept_if_started} ", ""), declaration)

    def test_gets_errors_and_extents_as_a_start_can(self):
        comment = (" * @param[in] thing a thing\n * @param[in] part {kept_if_started} which\n * @param[in] axis which\n"
                   " * @param[in] sizes {array(sizes_length), along(axis)} extents\n"
                   " * @param[in] sizes_length how many\n * @param[out] options {optional} what was done")  # fmt: skip
        declaration = ("syncyte_thing_t thing, const syncyte_buffer_t* part, int32_t axis, const int64_t* sizes, "
                       "int64_t sizes_length, syncyte_thing_options_t* options")  # fmt: skip
        method = "{}, started act(part, dim=axis?, sizes?, rows=options%rows?) : thing_do\n  dim(part) :: dim"
        for scope, comm, ends in [
            ("error_everywhere", "IN_REQUEST", "Collective; does not wait."),
            ("error_at_neighbours", "AT_NEIGHBOURS", "All ranks call it; does not wait."),
            ("error_here", "HERE", "Local."),
        ]:
            with self.subTest(scope):
                text = methods(method.format(scope), comment, declaration, "{started} ")
                form = text[text.index("  !> Starts act;") : text.index("  end subroutine thing_iact")]
                self.assertIn(f"sizes must be given. {ends}", form.replace("\n  !>", ""))
                self.assertIn("thing_iact(self, part, sizes, request, dim, stat, errmsg)", form)
                self.assertIn(f"fortran_refuse(FORTRAN_ERROR_{comm}, ", form)
                self.assertNotIn("collect_counts", form)

    def test_rejects_what_has_no_started_form(self):
        for brief, comment, declaration, message in [
            ("{started} ", "", "void", "only a function of a handle"),
            ("{started} ", " * @param[in] count how many", "int32_t count", "only a function of a handle"),
            ("{started, lookup} ", " * @param[in] thing a thing", "syncyte_thing_t thing", "no {lookup}"),
            ("", " * @param[in] thing a thing\n * @started late", "syncyte_thing_t thing", "@started describes"),
            ("", " * @param[in] old {kept_if_started} which", "const syncyte_buffer_t* old", "be {kept_if_started}"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(AnnotationError, message):
                parse(comment, declaration, brief)

    def test_rejects_a_second_declaration(self):
        with self.assertRaisesRegex(AnnotationError, "syncyte_thing_ido is declared twice"):
            parse(" * @param[in] thing a thing", "syncyte_thing_t thing", "{started} ",
                  "/**\n * @brief It.\n */\nsyncyte_status_t syncyte_thing_ido(void);\n")  # fmt: skip


class Enums(unittest.TestCase):
    @staticmethod
    def known(*values: str) -> str:
        """The structs of an enum with these enumerators."""
        return emit_core.emit(parse("", "void", more=ENUM.format(values="\n  ".join(values)))[0])

    def test_lists_few_values_and_ranges_of_many(self):
        text = self.known("SYNCYTE_SIZE_S = 1,", "SYNCYTE_SIZE_XL = 2")
        self.assertIn('text = "SYNCYTE_SIZE_S (1) or SYNCYTE_SIZE_XL (2)";', text)
        text = self.known("SYNCYTE_SIZE_S = 1,", "SYNCYTE_SIZE_M = 4,", "SYNCYTE_SIZE_L = 5")
        self.assertIn('text = "SYNCYTE_SIZE_S (1), M (4) or L (5)";', text)
        self.assertIn("return value == 1 || (value >= 4 && value <= 5);", text)
        self.assertIn('case 4: return "SYNCYTE_SIZE_M";', text)
        numbers = {"A": 1, "B": 2, "C": 3, "D": 8, "E": 9}
        text = self.known(*(f"SYNCYTE_SIZE_{name} = {number}," for name, number in numbers.items()))
        self.assertIn('text = "SYNCYTE_SIZE_A (1) to SYNCYTE_SIZE_C (3) or SYNCYTE_SIZE_D (8) to SYNCYTE_SIZE_E (9)";',
                      text)  # fmt: skip

    def test_leaves_out_values_that_are_annotated(self):
        text = self.known("SYNCYTE_SIZE_S = 1,", "SYNCYTE_SIZE_NONE = 2, /**< {not(garment)} no size */")
        garment = text[text.index("struct garment {") :]
        self.assertIn('text = "SYNCYTE_SIZE_S (1)";', garment)
        self.assertIn("return value == 1;", garment)

    def test_rejects_an_unknown_annotation_of_a_value(self):
        with self.assertRaisesRegex(AnnotationError, "SYNCYTE_SIZE_S has an unknown annotation 'maybe'"):
            self.known("SYNCYTE_SIZE_S = 1 /**< {maybe} small */")


class Methods(unittest.TestCase):
    def test_emits_a_method(self):
        text = methods("error_here act(rows, number?) : thing_do\n  default 7 :: number  !! how often")
        self.assertIn("    procedure :: act => thing_act\n", text)
        self.assertIn("  subroutine thing_act(self, rows, number, stat, errmsg)\n", text)
        self.assertIn("integer, intent(in), optional :: number  !! how often\n", text)
        self.assertIn("    number_c = 7\n    if (present(number)) number_c = int(number, c_int32_t)\n", text)
        self.assertIn('local = fortran_integers(rows, "rows"//c_null_char, 0_c_int32_t, rows_c)', text)
        self.assertIn("syncyte_thing_do(self%handle, number_c, rows_c, size(rows_c, kind=c_int64_t))", text)
        self.assertIn("  !> As it is written.\n  subroutine own()\n", text)
        self.assertTrue(all(len(line) <= 132 for line in text.splitlines()))

    def test_takes_expressions_and_statements_of_its_own(self):
        text = methods("error_here act() : thing_do(number=many, rows=list, rows_length=0_c_int64_t)\n"
                       "  variable integer(c_int32_t) :: many\n  < many = 3\n  > call own()")  # fmt: skip
        call = "status = syncyte_thing_do(self%handle, many, list, 0_c_int64_t)"
        self.assertIn(f"    many = 3\n    {call}\n    call own()", text)

    def test_counts_from_1_what_is_annotated_whatever_its_name(self):
        places = ("syncyte_thing_t thing, syncyte_tensor_t tensor, const syncyte_buffer_t* array, int64_t {0}, "
                  "int64_t {1}")  # fmt: skip
        for names in [("element", "offset"), ("cell", "start")]:
            text = methods(
                "error_here act(array, tensor, {}, {}) : thing_do".format(*names),
                " * @param[in] thing a thing\n * @param[in] tensor a tensor\n * @param[in] array which\n"
                " * @param[in] {} {{index(tensor)}} where\n * @param[in] {} {{offset(array)}} where".format(*names),
                places.format(*names),
            )
            self.assertIn(f"local = fortran_element(tensor%handle, {names[0]}, {names[0]}_c)", text)
            self.assertIn(f"local = fortran_place({names[1]}, array_buffer, {names[1]}_c)", text)

    def test_passes_a_number_without_annotation(self):
        text = methods("error_here act(offset) : thing_do", " * @param[in] thing a thing\n * @param[in] offset where",
                       "syncyte_thing_t thing, int64_t offset")  # fmt: skip
        self.assertIn('local = fortran_integer(offset, "offset"//c_null_char, offset_c)', text)

    def test_collects_extents_along_the_axis_that_is_annotated(self):
        comment = ("{} * @param[in] thing a thing\n * @param[in] part an array\n * @param[in] edge which\n"
                   " * @param[in] sizes {{array(sizes_length){}}} extents\n"
                   " * @param[in] sizes_length how many")  # fmt: skip
        declaration = ("syncyte_thing_t thing, const syncyte_buffer_t* part, int32_t edge, const int64_t* sizes, "
                       "int64_t sizes_length")  # fmt: skip
        method = "error_here act(part, dim=edge, sizes?) : thing_do\n  dim(part) :: dim"
        text = methods(method, comment.format("", ", along(edge)"), declaration)
        self.assertIn("collect_counts(self%handle, part_buffer, dim_axis, sizes_c)", text)
        with self.assertRaisesRegex(AnnotationError, r"method act: sizes is optional; expected {along\(AXIS\)}"):
            methods(method, comment.format("", ""), declaration)

    def test_rejects_what_the_header_does_not_have(self):
        for method, message in [
            ("error_here act() : thing_undo", "no function syncyte_thing_undo"),
            ("error_here act(rows) : thing_do", "nothing is given for number"),
            ("error_here act(rows, number) : thing_do\n  :: count  !! how many", "no dummy argument count"),
            ("error_here act(a b) : thing_do", "no dummy argument"),
        ]:
            with self.subTest(method), self.assertRaisesRegex(AnnotationError, message):
                methods(method)


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else COMPILER
    unittest.main(verbosity=2)
