"""What the generator of declarations makes of good and bad annotations. Usage: annotations_test.py CC"""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bindings" / "generate"))

import emit_fortran  # noqa: E402
import emit_python  # noqa: E402
from comments import AnnotationError  # noqa: E402
from model import Names  # noqa: E402
from parse import check, parse_headers  # noqa: E402

COMPILER = "cc"
HEADER = """
#include <stddef.h>
#include <stdint.h>
typedef int32_t syncyte_status_t;
/** A thing. */
typedef struct syncyte_thing_s* syncyte_thing_t;
/** Options. */
typedef struct syncyte_thing_options_t {{
  size_t struct_size; /**< sizeof(syncyte_thing_options_t) */
  int64_t rows;       /**< {{default(-1)}} rows */
}} syncyte_thing_options_t;
/**
 * @brief Does it.
{comment}
 */
syncyte_status_t syncyte_thing_do({declaration});
"""


def parse(comment: str, declaration: str):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "syncyte" / "thing.h"
        path.parent.mkdir()
        path.write_text(HEADER.format(comment=comment, declaration=declaration))
        headers = parse_headers(COMPILER, Path(folder), ["thing"], [])
    names = Names(headers)
    names.enums.add("syncyte_status_t")
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

    def test_emits_both_languages(self):
        headers, names = parse(
            " * @param[in] rows {array(2), optional} which\n * @param[out] thing the thing",
            "const int64_t* rows, syncyte_thing_t* thing",
        )
        fortran = emit_fortran.emit(headers, [], names)["syncyte_thing_c.f90"]
        self.assertIn("integer(c_int64_t), intent(in), optional :: rows(*)", fortran)
        self.assertIn("type(c_ptr), intent(out) :: thing", fortran)
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

    def test_rejects_an_unmarked_string(self):
        self.rejects(" * @param[in] name which", "const char* name", "annotated {string}")


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else COMPILER
    unittest.main(verbosity=2)
