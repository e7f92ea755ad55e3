# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the checks: each check finds a planted violation, and passes without it."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import abi
import error_fields
import headers
import layers
import lines
import links
import python_tests
import symbols
import units
import version
import vocabulary

sys.path.insert(0, str(Path(__file__).parents[2] / "bindings/generate"))
from model import CType, Function, Header, Parameter


class Tree(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="syncyte-layering-"))
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, name: str, text: str = "") -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Vocabulary(unittest.TestCase):
    PAGE = """
## Order of arguments

| arguments, in this order | in |
|---|---|
| `comm` | C, C++ |
| `input` | |
| `axis`, `dim` | |
| `op` | |
| `output` | |
| `comm` | Python |

| exception | in | why |
|---|---|---|
| `scan` | Python | old |

## Units

| names | unit | type |
|---|---|---|
| `size`, names that end in `_bytes` | bytes | `int64_t` |
| `comm_size` | ranks | `int32_t` |

## Functions that a language lacks

| functions | not in | why |
|---|---|---|
| `stats`, `log` | C++, Python | not for `users` |
"""

    def problems(self, language: str, *found: tuple[str, list[list[str]]]) -> list[str]:
        excepted = ("scan", [["op", "input"]])
        return vocabulary.order_problems(self.PAGE, {"Python": [excepted], language: [excepted, *found]})

    def test_an_order_of_its_own_is_found(self) -> None:
        self.assertEqual(self.problems("Python", ("reduce", [["input", "dim"], ["op", "comm"]])), [])
        self.assertIn("Python's reduce has", self.problems("Python", ("reduce", [["op", "input"]]))[0])
        self.assertIn("Python's reduce has", self.problems("Python", ("reduce", [["input"], ["comm", "op"]]))[0])

    def test_arguments_with_a_default_are_a_group(self) -> None:
        self.assertEqual(self.problems("Python", ("reduce", [["input", "output"], ["axis", "op"]])), [])

    def test_a_started_form_with_other_arguments_is_found(self) -> None:
        blocking = ("reduce", [["input", "op"], ["output"]])
        self.assertEqual(self.problems("Python", blocking, ("ireduce", [["input", "op", "request"]])), [])
        self.assertIn("ireduce", self.problems("Python", blocking, ("ireduce", [["input", "axis", "op"]]))[0])

    def test_an_exception_that_is_none_is_found(self) -> None:
        self.assertIn("excepts scan", vocabulary.order_problems(self.PAGE, {"Python": []})[0])

    def test_a_number_of_another_unit_is_found(self) -> None:
        def wrong(owner: str, name: str, kind: str, text: str = "") -> list[str]:
            part = Parameter(name=name, type=CType(kind), text=text)
            function = Function(name=owner, returns=CType("syncyte_status_t"), parameters=(part,), brief="")
            return vocabulary.unit_problems(self.PAGE, [Header("base.h", "", [], functions=[function])])

        self.assertEqual(
            wrong("syncyte_window_size", "size", "int64_t") + wrong("syncyte_comm_size", "size", "int32_t"), []
        )
        self.assertIn("size is int32_t", wrong("syncyte_window_size", "size", "int32_t")[0])
        self.assertIn("says int64_t", wrong("syncyte_save", "block_bytes", "size_t")[0])
        self.assertIn("says None", wrong("syncyte_read", "length", "size_t")[0])
        self.assertIn("says None", wrong("syncyte_wait", "delay", "double", "seconds")[0])

    def test_functions_that_a_language_lacks_are_listed(self) -> None:
        listed = {(name, language) for name in ("stats", "log") for language in ("C++", "Python")}
        self.assertEqual(vocabulary.lacking_problems(self.PAGE, listed), [])
        self.assertIn("Python lacks log", vocabulary.lacking_problems("", {("log", "Python")})[0])
        self.assertIn("says that C++ lacks log", vocabulary.lacking_problems(self.PAGE, listed - {("log", "C++")})[0])

    def test_functions_of_torch_are_listed(self) -> None:
        found = {"torch": [("bcast_", [[]]), ("join", [[]])], "torch.hpp": [("bcast", [[]])]}
        self.assertEqual(vocabulary.torch_problems("Only torch has `join`.", {"comm_bcast"}, found), [])
        self.assertIn("join", vocabulary.torch_problems("", {"comm_bcast"}, found)[0])
        self.assertIn("leave", vocabulary.torch_problems("Only torch has `join`, `leave`.", {"comm_bcast"}, found)[0])


class Units(Tree):
    def test_a_cycle_of_units_is_found(self) -> None:
        self.write("src/comm/a.hpp")
        self.write("src/comm/a.cpp", '#include "comm/b.hpp"\n')
        self.write("src/comm/b.hpp", '#include "comm/c.hpp"\n')
        self.write("src/comm/c.hpp", "")
        self.assertEqual(list(units.cycles(units.cpp_graph(self.root, "src"))), [])
        self.write("src/comm/c.cpp", '#include "comm/a.hpp"\n')
        (found,) = units.cycles(units.cpp_graph(self.root, "src"))
        self.assertEqual(set(found), {"comm/a", "comm/b", "comm/c"})

    def test_imports_inside_functions_and_for_type_checkers_count(self) -> None:
        self.write("package/__init__.py")
        self.write("package/one.py", "from .two import x\n")
        self.write("package/two.py", "import typing\n")
        self.assertEqual(list(units.cycles(units.python_graph(self.root, "package"))), [])
        for text in [
            "def f():\n    from . import one\n",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .one import y\n",
        ]:
            self.write("package/two.py", text)
            (found,) = units.cycles(units.python_graph(self.root, "package"))
            self.assertEqual(set(found), {"one", "two"}, text)

    def test_absolute_imports_count(self) -> None:
        self.write("package/__init__.py")
        self.write("package/one.py", "import package.two\n")
        self.write("package/two.py", "from package.one import y\n")
        (found,) = units.cycles(units.python_graph(self.root, "package"))
        self.assertEqual(set(found), {"one", "two"})


class PythonTests(Tree):
    def found(self, text: str) -> list[str]:
        self.write("tests/a/test_b.py", f"\n{text}\n")
        return list(python_tests.violations(self.root))

    def test_joined_conditions(self) -> None:
        for text in [
            "assert a and b",
            "def f():\n    assert (\n        a and b and c\n    ), x",
            "self.assertTrue(a and b)",
        ]:
            (found,) = self.found(text)
            self.assertIn("tests/a/test_b.py:", found)

    def test_imports_of_test_modules(self) -> None:
        for text in ["from test_c import d", "import test_c", "from . import test_c", "from a.test_c import d"]:
            (found,) = self.found(text)
            self.assertIn("tests/a/test_b.py:2: ", found)

    def test_other_assertions_and_imports(self) -> None:
        for text in [
            "assert 0 < a < b",
            "assert a or b",
            "assert all(a and b for a, b in c)",
            "assert f(a and b)",
            "self.assertFalse(a)",
            "import tests, testing",
            "from helper import test",
        ]:
            self.assertEqual(self.found(text), [], text)


class Lines(Tree):
    def test_only_code_counts(self) -> None:
        sources = {
            "a.py": '"""Doc\nstring."""\n\n# no\nx = """a\nb"""  # three\n\n\ndef f():\n    """doc"""\n    return x\n',
            "a.hpp": "#pragma once\n/** one\n * two */\n\nint a;  // three\n/* four */ int b;\n",
            "a.methods": "!> comment\nlocal f(x) : f\n  ! comment\n\n  logical :: x\n",
        }
        counts = {"a.py": 4, "a.hpp": 3, "a.methods": 2}
        for name, text in sources.items():
            self.write(name, text)
            self.assertEqual(lines.code_lines(self.root / name), counts[name], name)


class Links(Tree):
    def dead(self, text: str) -> list[str]:
        self.write("docs/page.md", text)
        return links.dead(self.root / "docs/page.md", self.root)

    def test_files_that_are_there(self) -> None:
        for name in ["src/a.hpp", "src/a.cpp", "docs/images/a.svg"]:
            self.write(name)
        self.write("docs/other.md", "# One\n\n## `x.y`: a Thing-2, (or not)\n")
        text = "# Own\n[x](other.md#xy-a-thing-2-or-not) [x](#own)\n"
        text += "[x](https://x.y) `src/a.{hpp,cpp}` `docs/images` `images/a.svg` `src/X/a.hpp` `a/b`"
        self.assertEqual(self.dead(text), [])

    def test_files_that_are_not(self) -> None:
        self.write("src/a.hpp")
        self.write("docs/there.md", "```\n# not a heading\n```\n")
        for text in [
            "[x](other.md)",
            "[x](there.md#not-a-heading)",
            "[x](#y)",
            "`src/a.cpp`",
            "`src/a.{hpp,cpp}`",
            "`bindings/a`",
            "`tests/a`",
            "`bench/a.cpp`",
        ]:
            self.assertEqual(len(self.dead(text)), 1, text)


class Version(Tree):
    def setUp(self) -> None:
        super().setUp()
        self.write("CMakeLists.txt", "project(syncyte VERSION 0.2.0 LANGUAGES C)")
        names = ["VERSION_MAJOR 0\n", "VERSION_MINOR 2\n", "VERSION_PATCH 0\n"]
        self.write("capi/include/syncyte/base.h", "".join(f"#define SYNCYTE_{name}" for name in names))
        self.write("bindings/python/syncyte/_declarations.py", "".join(names).replace(" ", " = "))
        self.write("CITATION.cff", "version: 0.2.0\n")
        self.write("pyproject.toml", 'version = "0.2.0"\n')
        self.write("CHANGELOG.md", "## 0.2.0 (unreleased)\n## 0.1.0 (2026-01-31)\n")
        self.write("docs/building.md", "find_package(syncyte 0.2 REQUIRED)")
        self.write("README.md", "**Version 0.2.0.** Tried\n")
        self.write("tests/layering/abi/released/libx.abi")
        self.write(version.RECIPE, '    version("main")\n    version("0.1.0", commit="abc")\n')

    def test_one_version(self) -> None:
        self.assertEqual(list(version.problems(self.root)), [])

    def test_a_release(self) -> None:
        self.write("CHANGELOG.md", "## 0.2.0 (2026-02-28)\n## 0.1.0 (2026-01-31)\n")
        self.write("CITATION.cff", "version: 0.2.0\ndate-released: 2026-02-28\n")
        self.assertEqual(list(version.problems(self.root)), [])

    def test_other_versions_and_dates(self) -> None:
        for name, text in [
            ("capi/include/syncyte/base.h", "#define SYNCYTE_VERSION_MAJOR 0\n#define SYNCYTE_VERSION_MINOR 1\n"),
            ("bindings/python/syncyte/_declarations.py", "VERSION_MAJOR = 0\n"),
            ("CITATION.cff", "version: 0.1.0\n"),
            ("CITATION.cff", "version: 0.2.0\ndate-released: 2026-02-28\n"),
            ("pyproject.toml", 'version = "0.1.0"\n'),
            ("CHANGELOG.md", "## 0.2.0 (2026-02-28)\n## 0.1.0 (2026-01-31)\n"),
            ("docs/building.md", "find_package(syncyte 0.1 REQUIRED)"),
            ("README.md", "**Version 0.1.0.** Tried\n"),
            (version.RECIPE, '    version("0.2.0", commit="abc")\n'),
        ]:
            with self.subTest(name=name, text=text):
                before = (self.root / name).read_text()
                self.write(name, text)
                self.assertEqual(len(list(version.problems(self.root))), 1)
                self.write(name, before)

    def test_a_release_without_its_binary_interface(self) -> None:
        shutil.rmtree(self.root / "tests/layering/abi")
        self.assertEqual(len(list(version.problems(self.root))), 1)

    def test_a_pinned_commit_of_another_version(self) -> None:
        def git(*words: str) -> str:
            author = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
            return subprocess.run(
                ["git", "-C", self.root, *author, *words], stdout=subprocess.PIPE, check=True, text=True
            ).stdout

        git("init", "--quiet")
        for committed, expected in (("0.1.0", 0), ("0.2.0", 1)):
            self.write("CMakeLists.txt", f"project(syncyte VERSION {committed} LANGUAGES C)")
            git("add", ".")
            git("commit", "--quiet", "--message=x")
            commit = git("rev-parse", "HEAD").strip()
            self.write("CMakeLists.txt", "project(syncyte VERSION 0.2.0 LANGUAGES C)")
            self.write(version.RECIPE, f'    version("0.1.0", commit="{commit}")\n')
            self.assertEqual(len(list(version.problems(self.root))), expected)


class Layers(Tree):
    def setUp(self) -> None:
        super().setUp()
        for name in ["src/base/error.hpp", "src/tensor/tensor.hpp", "src/kv/store.hpp", "capi/include/syncyte.h"]:
            self.write(name)
        folders = {"base": 1, "mpi": 2, "comm": 3, "kv": 4, "tensor": 4}
        self.write("docs/architecture.md", "".join(f"| {n} | `src/{name}/` | x |\n" for name, n in folders.items()))
        self.add_folders(list(folders))

    def add_folders(self, folders: list[str]) -> None:
        self.write("CMakeLists.txt", "".join(f"add_subdirectory(src/{name})\n" for name in folders))

    def found(self, name: str, include: str) -> list[str]:
        self.write(name, f"#include {include}\n")
        return list(layers.violations(self.root))

    def test_downwards_is_allowed(self) -> None:
        self.assertEqual(self.found("src/tensor/a.cpp", '"base/error.hpp"'), [])

    def test_upwards(self) -> None:
        found = self.found("src/base/a.cpp", '"tensor/tensor.hpp"')
        self.assertEqual(len(found), 1)
        self.assertIn("src/base/a.cpp:1", found[0])

    def test_upwards_by_a_relative_path(self) -> None:
        self.assertEqual(len(self.found("src/base/a.cpp", '"../tensor/tensor.hpp"')), 1)

    def test_mpi_is_called_in_its_folder(self) -> None:
        self.write("src/mpi/a.cpp", "MPI_Barrier(comm);\n")
        self.write("src/kv/a.cpp", '// MPI_Barrier(comm)\nMPI_Comm comm;\ncheck("MPI_Barrier");\n')
        self.assertEqual(list(layers.violations(self.root)), [])
        for use in ["MPI_Barrier(comm);\n", "call(MPI_Barrier, comm);\n"]:
            self.write("src/kv/a.cpp", use)
            self.assertEqual(len(list(layers.violations(self.root))), 1, use)

    def test_a_unit_that_may_call_mpi_does(self) -> None:
        self.write("src/comm/cart.cpp", "MPI_Cart_create(comm);\n")
        self.assertEqual(list(layers.violations(self.root)), [])
        self.write("src/comm/cart.cpp", "MPI_Comm comm;\n")
        self.assertEqual(len(list(layers.violations(self.root))), 1)

    def test_sideways(self) -> None:
        self.assertEqual(len(self.found("src/kv/a.cpp", '"tensor/tensor.hpp"')), 1)

    def test_cmake_adds_the_layers_in_their_order(self) -> None:
        for names, count in [("base mpi comm tensor kv", 0), ("mpi base comm kv tensor", 1), ("base mpi comm kv", 1)]:
            self.add_folders(names.split())
            self.assertEqual(len(list(layers.violations(self.root))), count, names)

    def test_an_unknown_layer(self) -> None:
        self.assertEqual(len(self.found("src/attic/a.cpp", '"base/error.hpp"')), 1)

    def test_a_binding_sees_the_c_interface(self) -> None:
        self.assertEqual(self.found("bindings/torch/src/a.cpp", '"syncyte.h"'), [])

    def test_a_binding_sees_nothing_of_src(self) -> None:
        for include in ['"base/error.hpp"', "<base/error.hpp>", '"../../../src/base/error.hpp"']:
            self.assertEqual(len(self.found("bindings/torch/src/a.cpp", include)), 1, include)

    def test_a_binding_may_have_a_folder_of_that_name(self) -> None:
        self.write("bindings/torch/src/base/error.hpp")
        self.assertEqual(self.found("bindings/torch/src/a.cpp", '"base/error.hpp"'), [])

    def test_public_headers_see_nothing_of_src(self) -> None:
        self.assertEqual(len(self.found("capi/include/syncyte/a.h", '"base/error.hpp"')), 1)
        self.assertEqual(len(self.found("include/syncyte/a.hpp", '"base/error.hpp"')), 2)

    def test_a_call_of_mpi_outside_its_folder(self) -> None:
        self.write("src/kv/a.cpp", "// MPI_Wait() is not called\nvoid f() { MPI_Barrier(MPI_COMM_WORLD); }\n")
        self.write("src/mpi/b.cpp", "void g() { MPI_Barrier(MPI_COMM_WORLD); }\n")
        (found,) = layers.violations(self.root)
        self.assertIn("src/kv/a.cpp:2: MPI_Barrier", found)

    def test_hdf5_outside_its_folder(self) -> None:
        self.assertEqual(len(self.found("src/tensor/a.cpp", "<hdf5.h>")), 1)

    def test_mpi_in_the_lowest_layer(self) -> None:
        self.assertEqual(len(self.found("src/base/a.cpp", "<mpi.h>")), 1)


class ErrorFields(Tree):
    def found(self, name: str, text: str) -> list[str]:
        self.write(name, text)
        return list(error_fields.violations(self.root))

    def test_errors_without_fields(self) -> None:
        for text in [
            'require(n > 0,\n  SYNCYTE_ERR_ARGUMENT, "n is {}", n);',
            'fail(SYNCYTE_ERR_SHAPE, "shape");',
            'throw error(SYNCYTE_ERR_INDEX, "row");',
            'require(f("x"), SYNCYTE_ERR_TYPE, "dtype");',
        ]:
            for name in ["src/halo/a.cpp", "capi/src/a.hpp"]:
                (found,) = self.found(name, f"\n{text}\n")
                self.assertIn(f"{name}:2: ", found)
                self.write(name)

    def test_other_errors(self) -> None:
        for text in [
            'require(n > 0, SYNCYTE_ERR_IO, "n");\nbase::expect(n > 0, SYNCYTE_ERR_ARGUMENT, "n", n, "1");',
            "// fail(SYNCYTE_ERR_INDEX)",
            "void require(bool condition, syncyte_status_t status);",
        ]:
            self.assertEqual(self.found("src/halo/a.cpp", text), [], text)

    def test_an_exception_that_is_not_needed(self) -> None:
        self.assertEqual(self.found("src/kv/store.cpp", 'fail(SYNCYTE_ERR_ARGUMENT, "state");'), [])
        self.assertEqual(len(self.found("src/kv/store.cpp", "")), 1)


class Symbols(Tree):
    def library(self, text: str, soname: str = "libx.so.7") -> argparse.Namespace:
        self.write("x.c", text)
        self.write(
            "h/x.h",
            "#define SYNCYTE_ABI_VERSION 7\n#define SYNCYTE_EXPORT\n"
            "/* SYNCYTE_EXPORT int syncyte_old(void); */\n"
            "SYNCYTE_EXPORT const char* syncyte_a(int b,\n   int c);\n",
        )
        library = self.root / "libx.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", str(library), str(self.root / "x.c")], check=True
        )
        return argparse.Namespace(
            library=str(library),
            headers=[str(self.root / "h")],
            prefix=[],
            uses=[],
            nm="nm",
            readelf="readelf",
            base=self.root / "h/x.h",
        )

    def test_exact(self) -> None:
        self.assertEqual(symbols.check(self.library("int syncyte_a;")), [])

    def test_a_name_of_another_interface(self) -> None:
        wrong = ["its SONAME is libx.so.6; expected one that ends in .so.7"]
        self.assertEqual(symbols.check(self.library("int syncyte_a;", "libx.so.6")), wrong)

    def test_undeclared(self) -> None:
        self.assertEqual(symbols.check(self.library("int syncyte_a, stray;")), ["exported but not declared: stray"])

    def test_not_exported(self) -> None:
        self.assertEqual(symbols.check(self.library("static int a;")), ["declared but not exported: syncyte_a"])

    def test_use_of_a_private_function(self) -> None:
        arguments = self.library("int syncyte_b(void); int syncyte_a(void) { return syncyte_b(); }")
        arguments.uses = arguments.headers
        self.assertEqual(symbols.check(arguments), ["uses syncyte_b, which no public header declares"])


class Headers(Tree):
    def check(self, text: str, guard: str = "#ifndef A_H\n#define A_H\n{}#endif\n") -> tuple[int, list[str]]:
        self.write("a.h", guard.format(text))
        return headers.check(argparse.Namespace(folder=str(self.root), cc="cc", cxx="c++", mpi_include=[]))

    def test_complete(self) -> None:
        self.assertEqual(self.check("#include <stddef.h>\nsize_t f(void);\n"), (2, []))

    def test_no_include_guard(self) -> None:
        self.assertEqual(self.check("int f(void);\n", "{}"), (2, ["a.h: no include guard"]))

    def test_incomplete(self) -> None:
        self.assertEqual(len(self.check("size_t f(void);\n")[1]), 2)

    def test_c_only(self) -> None:
        self.assertEqual(len(self.check("int f(int class);\n")[1]), 1)


@unittest.skipUnless(shutil.which("abidiff") and shutil.which("abidw"), "abidiff is not installed")
class Abi(Tree):
    def library(self, member: str, more: str = "", soname: str = "libx.so.1") -> argparse.Namespace:
        self.write("h/x.h", f"struct pair {{ {member} double last; }}; int syncyte_a(struct pair* x);\n")
        self.write("x.c", '#include "h/x.h"\nint syncyte_a(struct pair* x) { return x->last > 0; }\n' + more)
        library = self.root / "libx.so"
        subprocess.run(
            ["cc", "-g", "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", library, self.root / "x.c"], check=True
        )
        return argparse.Namespace(library=str(library), headers=[str(self.root / "h")], baselines=str(self.root))

    def test_changes_of_structs_count_and_new_functions_do_not(self) -> None:
        first = self.library("int first;")
        abi.describe(first, abi.baseline(first))
        self.assertEqual(abi.compare(first), 0)
        self.assertEqual(abi.compare(self.library("int first;", "int syncyte_b(void) { return 0; }")), 0)
        self.assertEqual(abi.compare(self.library("long first, second;")), 1)

    def test_a_change_after_a_release_needs_another_number(self) -> None:
        first = self.library("int first;")
        released = argparse.Namespace(**{**vars(first), "baselines": str(self.root / "released")})
        (self.root / "released").mkdir()
        abi.describe(released, abi.baseline(released))
        for soname, expected in (("libx.so.1", 1), ("libx.so.2", 0)):
            changed = self.library("long first, second;", soname=soname)
            abi.describe(changed, abi.baseline(changed))
            self.assertEqual(abi.compare(changed), expected)

    def test_structs_with_a_size_may_grow_after_a_release(self) -> None:
        def library(members: str) -> argparse.Namespace:
            self.write("h/x.h", f"struct options {{ {members} }}; int syncyte_a(const struct options* x);\n")
            self.write("x.c", '#include "h/x.h"\nint syncyte_a(const struct options* x) { return x->last; }\n')
            subprocess.run(
                ["cc", "-g", "-shared", "-fPIC", "-Wl,-soname,libx.so.1", "-o", "libx.so", "x.c"],
                cwd=self.root,
                check=True,
            )
            return argparse.Namespace(
                library=str(self.root / "libx.so"), headers=[str(self.root / "h")], baselines=str(self.root)
            )

        first = library("unsigned long struct_size; int last;")
        (self.root / "released").mkdir()
        released = argparse.Namespace(**{**vars(first), "baselines": str(self.root / "released")})
        abi.describe(released, abi.baseline(released))
        for members, expected in (
            ("unsigned long struct_size; int last; long more; int most;", 0),
            ("unsigned long struct_size; long before; int last;", 1),
            ("unsigned long struct_size; long last;", 1),
            ("long more; unsigned long struct_size; int last;", 1),
        ):
            with self.subTest(members):
                changed = library(members)
                abi.describe(changed, abi.baseline(changed))
                self.assertEqual(abi.compare(changed), expected)


if __name__ == "__main__":
    unittest.main()
