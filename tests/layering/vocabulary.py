# SPDX-License-Identifier: BSD-3-Clause
"""A function has one name in all languages, or docs/vocabulary.md lists its other names.

    vocabulary.py ROOT --compiler CC

The page's table of nouns says which languages have each object, and docs/README.md says the same. The page lists the
functions that a language lacks, those that only torch has, and the order of arguments, which all functions follow but
those that it excepts.
The name is C's without `syncyte_` and the object. Methods are found by the one C function that they call: in Fortran as
bindings/fortran/methods says, in C++ and Python by their text; classes are made by constructors. Python's methods that
change an object in place may end in `_`, as torch's do. Each row of the page's table of other names must still be true.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from signatures import Signature, signatures

OBJECTS = (
    "store_worker", "comm", "cart", "tensor", "window", "halo", "layout", "bundle", "reducer", "cache", "store",
    "checkpoint", "request", "memory", "models", "model", "publication",
)  # fmt: skip
LANGUAGES = ("C++", "Fortran", "Python", "torch")
_METHOD = re.compile(r"^  (?:\[\[\w+\]\] |inline |static |explicit )*[\w:<>,&* ]*?\b(\w+)\([^;]*\{", re.MULTILINE)
_ROW = re.compile(r"^\| `(\w+)` \|(.*)\|$", re.MULTILINE)
_PLACE = re.compile(r"^\| (`[^|]+`) \|([^|`]*)\|$", re.MULTILINE)  # arguments, languages
_LACKING = re.compile(r"^\| (`[^|]+`) \| ([\w+, ]+) \| [^|]+ \|$", re.MULTILINE)  # functions, languages, reason
_EXCEPTION = re.compile(r"^\| (`[^|]+`) \| ([\w+.]+) \| [^|`]+ \|$", re.MULTILINE)  # functions, language, reason
Name = tuple[str, str, str]  # C function without "syncyte_", language, name there


def verb(function: str) -> str:
    """comm_allreduce -> allreduce."""
    for each in OBJECTS:
        if function.startswith(f"{each}_"):
            return function.removeprefix(f"{each}_")
    return function


def parsed_headers(root: Path, compiler: str) -> list[Any]:
    from generate import CORE, HDF5
    from parse import parse_headers

    core, hdf5 = root / "capi/include", root / "bindings/hdf5/include"
    return [*parse_headers(compiler, core, CORE, []), *parse_headers(compiler, hdf5, HDF5, [core])]


def unit_problems(page: str, headers: list[Any]) -> list[str]:
    """Numbers with a name of the page's table of units have its type, and other names neither size_t nor seconds."""
    rows = re.findall(r"^\| (.*`) \| ([^|]+) \| `(\w+)` \|$", _section(page, "Units"), re.MULTILINE)
    types = {name: kind for cell, _, kind in rows for name in _words(cell)}

    def expected(owner: str, name: str) -> str | None:
        if name in types:
            return types.get(owner.removeprefix("syncyte_"), types[name])
        return next((types[end] for end in types if end.startswith("_") and name.endswith(end)), None)

    things = [
        (each.name, part)
        for header in headers
        for each in (*header.functions, *header.callbacks, *header.structs)
        for part in (each.members if hasattr(each, "members") else each.parameters)
    ]
    return [
        f"{owner}'s {part.name} is {part.type.name}: docs/vocabulary.md's table of units says {unit}"
        for owner, part in things
        for unit in [expected(owner, part.name)]
        if unit != part.type.name and (unit is not None or part.type.name == "size_t" or "seconds" in part.text)
    ]


def fortran_names(root: Path) -> Iterator[tuple[str, str]]:
    from methods import Method, read_module

    for path in sorted((root / "bindings/fortran/methods").glob("*.methods")):
        for each in read_module(path).body:
            if isinstance(each, Method) and "hidden" not in each.words and each.function:
                yield each.function.removeprefix("syncyte_"), each.name


def cxx_headers(root: Path) -> Iterator[Path]:
    yield from (root / "include/syncyte").rglob("*.hpp")
    yield from (root / "bindings/hdf5/include/syncyte").glob("*.hpp")


def cxx_names(root: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(cxx_headers(root)):
        text = path.read_text()
        starts = list(_METHOD.finditer(text))
        ends = [*(each.start() for each in starts[1:]), len(text)]
        for method, after in zip(starts, ends, strict=False):
            body = text[method.start() : after]
            end = re.search(r"^  .*\}$", body, re.MULTILINE)
            called = set(re.findall(r"\bsyncyte_(\w+)\(|\bsyncyte_(\w+),", body[: end.end() if end else None]))
            if len(called) == 1 and method[1] != "operator" and f"class {method[1]} " not in text:  # no constructors
                yield "".join(called.pop()), method[1]


def python_names(root: Path) -> Iterator[tuple[str, str]]:
    """Methods of classes that are public, and functions of modules that are."""
    for path in sorted((root / "bindings/python/syncyte").glob("*.py")):
        tree = ast.parse(path.read_text())
        scopes = [each for each in tree.body if isinstance(each, ast.ClassDef) and not each.name.startswith("_")]
        owners = scopes if path.name.startswith("_") else [*scopes, tree]
        for method in (each for owner in owners for each in owner.body if isinstance(each, ast.FunctionDef)):
            if method.name.startswith("_"):
                continue
            nodes = ast.walk(method)
            texts = (node.attr if isinstance(node, ast.Attribute) else getattr(node, "value", 0) for node in nodes)
            called = {each for each in texts if isinstance(each, str) and re.fullmatch(r"syncyte_\w+", each)}
            if len(called) == 1:
                yield called.pop().removeprefix("syncyte_"), method.name


def _nouns(root: Path, page: str) -> tuple[list[str], dict[str, set[str]]]:
    """Problems of the table of nouns, and the nouns that each language lacks."""
    sources = {
        "C": ("*/**/include/syncyte/*.h", r"^}} {0};|^typedef struct \w+\* {0};"),
        "C++": ("**/include/syncyte/*.hpp", r"^class {0}\b"),
        "Fortran": ("bindings/fortran/generated/*.f90", r"^  type\b.*, public\b.* :: {0}$"),
        "Python": ("bindings/python/syncyte/*.py", r"^class {0}\b"),
    }
    problems, lacking = [], dict[str, set[str]]()
    for noun, cells in re.findall(r"^\| (\w+) \| [^`|]+ \| (`.*)\|$", page, re.MULTILINE):
        for (language, (files, pattern)), cell in zip(sources.items(), cells.split("|"), strict=True):
            names = [re.sub(r"type\((\w+)\)", r"\1", name) for name in re.findall(r"`([^`]+)`", cell)]
            text = "\n".join(path.read_text() for path in root.glob(files))
            missing = [name for name in names if not re.search(pattern.format(re.escape(name)), text, re.MULTILINE)]
            problems += [f"docs/vocabulary.md names {name} of {language}, which does not exist" for name in missing]
            lacking.setdefault(language, set()).update([] if names else [noun])
    return problems, lacking


def object_problems(root: Path, page: str) -> list[str]:
    """docs/README.md's column of objects: `all`, or `all but` the nouns without a name in the language."""
    problems, lacking = _nouns(root, page)
    readme = (root / "docs/README.md").read_text()
    for language, nouns in lacking.items():
        said = f"all but {', '.join(sorted(nouns))}" if nouns else "all"
        if f"\n| {language} | {said} |" not in readme:
            problems.append(f"docs/README.md's table: expected '{said}' for {language}, as in docs/vocabulary.md")
    return problems


def _python_words(root: Path) -> set[str]:
    """Names of functions and classes, and words that are strings: names of C functions are also made of these."""
    words = set[str]()
    for path in (root / "bindings/python/syncyte").glob("*.py"):
        if path.name != "_declarations.py":
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                    words.add(node.name)
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    words.add(node.value)
    return words


def lacking_functions(root: Path, known: set[str]) -> set[tuple[str, str]]:
    """C functions that a language neither calls nor has a method for; references are its objects' own."""
    fortran = root / "bindings/fortran"
    sources = {
        "C++": cxx_headers(root),
        "Fortran": (
            each for each in fortran.rglob("*") if each.suffix in (".f90", ".c") and not each.stem.endswith("_c")
        ),
        "Python": (each for each in (root / "bindings/python/syncyte").glob("*.py") if each.name != "_declarations.py"),
    }
    called = {
        language: set(re.findall(r"\bsyncyte_(\w+)", "\n".join(path.read_text() for path in paths)))
        for language, paths in sources.items()
    }
    words = _python_words(root)
    return {
        (function, language)
        for function in known
        for language in called
        if function not in called[language]
        and not function.endswith(("_retain", "_release", "_destroy"))
        and not (language == "Python" and words & {function, verb(function), f"{verb(function)}_"})
    }


def lacking_problems(page: str, lacking: set[tuple[str, str]]) -> list[str]:
    """The page's table of functions that languages lack."""
    listed = {
        (function, language)
        for cell, languages in _LACKING.findall(_section(page, "Functions that a language lacks"))
        for function in _words(cell)
        for language in languages.split(", ")
    }
    return [
        *(f"{language} lacks {name}: docs/vocabulary.md does not say why" for name, language in lacking - listed),
        *(f"docs/vocabulary.md says that {language} lacks {name}" for name, language in listed - lacking),
    ]


def _section(page: str, title: str) -> str:
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def _words(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def torch_problems(page: str, known: set[str], found: dict[str, list[Signature]]) -> list[str]:
    """Functions of syncyte.torch and torch.hpp have names of C's functions, or the page lists them."""
    text = re.search(r"^Only torch has .*?\.$", page, re.MULTILINE | re.DOTALL)
    listed = {
        *_words(text[0] if text else ""),
        *(name for _, language, name in listed_names(page) if language == "torch"),
    }
    named = {name for language in ("torch", "torch.hpp") for name, _ in found[language]} - {"__init__"}
    usual = {verb(function) for function in known}
    other = {name for name in named if name not in usual and name.removesuffix("_") not in usual}
    return [f"docs/vocabulary.md and torch differ in the function {name}" for name in sorted(other ^ listed)]


def _is_ascending(groups: list[list[str]], place: dict[str, int]) -> bool:
    numbers = [[place[name] for name in group if name in place] for group in groups]
    return all(each == sorted(each) for each in numbers)


def _exceptional(language: str, found: list[Signature], place: dict[str, int]) -> set[tuple[str, str]]:
    """Functions with another order, and started forms with an argument that the blocking form does not have."""
    wrong = {name for name, groups in found if not _is_ascending(groups, place)}
    names = dict[str, list[set[str]]]()
    for name, groups in found:
        names.setdefault(name, []).append({argument for group in groups for argument in group})
    for name, forms in names.items():
        start = verb(name)
        blocking = names.get(name.removesuffix(start) + start[1:], []) if start.startswith("i") else []
        own = [form - {"request", "output"} for form in forms]
        if blocking and not all(any(form <= other for other in blocking) for form in own):
            wrong.add(name)
    return {(name, language) for name in wrong}


def order_problems(page: str, found: dict[str, list[Signature]]) -> list[str]:
    """The page's table has the order of arguments, in all languages or in some, and then the exceptions."""
    wrong = set[tuple[str, str]]()
    for language, each in found.items():
        rows = [_words(cell) for cell, languages in _PLACE.findall(page)
                if not languages.strip() or language in languages.strip().split(", ")]  # fmt: skip
        wrong |= _exceptional(language, each, {word: i for i, row in enumerate(rows) for word in row})
    listed = {
        (name, language)
        for cell, language in _EXCEPTION.findall(_section(page, "Order of arguments"))
        for name in _words(cell)
    }
    return [
        *(
            f"{language}'s {name} has another order of arguments than docs/vocabulary.md"
            for name, language in wrong - listed
        ),
        *(f"docs/vocabulary.md excepts {name} of {language}, which has its order" for name, language in listed - wrong),
    ]


def is_same(function: str, language: str, name: str) -> bool:
    usual = verb(function)
    return name in (usual, f"syncyte_{usual}") or (language == "Python" and name == f"{usual}_")


def other_names(root: Path, known: set[str]) -> set[Name]:
    """Names that differ from C's."""
    found = {"C++": cxx_names(root), "Fortran": fortran_names(root), "Python": python_names(root)}
    return {
        (function, language, name)
        for language, names in found.items()
        for function, name in names
        if function in known and not is_same(function, language, name)
        and not function.endswith(("_retain", "_release", "_destroy"))
    }  # fmt: skip


def listed_names(page: str) -> set[Name]:
    """The rows of the table: C function, then a cell for each language, then the reason."""
    rows = set()
    for function, cells in _ROW.findall(_section(page, "Names of operations")):
        for language, cell in zip(LANGUAGES, cells.split("|"), strict=False):
            rows |= {(function, language, name) for name in re.findall(r"`(\w+)`", cell)}
    return rows


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--compiler", default="cc")
    given = parser.parse_args()
    sys.path.insert(0, str(given.root / "bindings/generate"))
    headers = parsed_headers(given.root, given.compiler)
    declared = [function for header in headers for function in header.functions]
    known = {function.name.removeprefix("syncyte_") for function in declared}
    page = (given.root / "docs/vocabulary.md").read_text()
    found, listed = other_names(given.root, known), listed_names(page)
    arguments = signatures(given.root, declared)
    lines = [
        *object_problems(given.root, page),
        *torch_problems(page, known, arguments),
        *order_problems(page, arguments),
        *unit_problems(page, headers),
        *lacking_problems(page, lacking_functions(given.root, known)),
    ]
    lines += [
        f"{language} calls {function} {name}: name it {verb(function)}, or list it in docs/vocabulary.md"
        for function, language, name in sorted(found - listed)
    ]
    lines += [
        f"docs/vocabulary.md lists {name} of {language} for {function}, which has no such name"
        for function, language, name in sorted(listed - found)
        if language != "torch"
    ]
    print("\n".join(lines) or f"{len(known)} functions, {len(listed)} other names")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
