# SPDX-License-Identifier: BSD-3-Clause
"""Names of the arguments of public functions, in all languages, for vocabulary.py."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

# Function, and names of its arguments in groups: those without a default, those with one, Python's by keyword only.
# In C and C++ an array that the function writes is called "output".
Signature = tuple[str, list[list[str]]]

_METHOD = re.compile(
    r"^ *(?:\w[\w:<>,&* ]* )?(\w+)\(([^;{}]*?)\)(?: const)?(?: noexcept)?\s*(?::[^;]*?)?\{", re.MULTILINE
)
_NO_FUNCTIONS = {"if", "for", "while", "switch", "catch", "requires", "operator"}
_TORCH = ("_torch_collectives", "_torch_nonblocking", "_torch_requests", "torch")


def c_signatures(functions: Iterable[Any]) -> Iterator[Signature]:
    """Without the object, lengths of arrays and options; what follows the options is written."""
    for function in functions:
        lengths = {parameter.array for parameter in function.parameters}
        names, is_written = list[str](), False
        for i, each in enumerate(function.parameters):
            is_object = i == 0 and function.name.startswith(each.type.name.removesuffix("_t"))
            if each.is_options:
                is_written = True
            elif each.is_request and each.direction == "out":
                names.append("request")
            elif not is_object and each.name not in lengths:
                names.append("output" if is_written or each.direction == "out" else each.name)
        yield function.name.removeprefix("syncyte_"), [names]


def _parts(text: str) -> list[str]:
    """The text between commas that are not in brackets."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter in "<({[") - (letter in ">)}]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _cxx_name(kind: str, name: str, is_first: bool) -> str:
    """In torch.hpp the first tensor is the input, and the object behind it is called comm, whatever it is."""
    if "at::Tensor&" in kind:
        return "input" if is_first else name
    if re.search(r"\b(communicator|syncyte::\w+)&", kind):
        return "comm"
    if kind == "const buffer&" or (kind.endswith(("T&", "_t*")) and not kind.startswith("const")):
        return "output"
    return {"how": re.sub(r"const |\w+::|[&* ]", "", kind), "type": "dtype"}.get(name, name)


def cxx_signatures(paths: Iterable[Path]) -> Iterator[Signature]:
    for path in paths:
        text = re.sub(r"//.*", "", path.read_text()).replace("= {}", "= 0")
        for name, arguments in _METHOD.findall(text):
            groups: list[list[str]] = [[], []]
            declared = [re.fullmatch(r"(.*?\W)(\w+)( = .*)?", part, re.DOTALL) for part in _parts(arguments)]
            if name in _NO_FUNCTIONS or None in declared:
                continue
            for each in declared:
                assert each
                groups[each[3] is not None].append(_cxx_name(each[1].strip(), each[2], each is declared[0]))
            yield name, groups


def fortran_signatures(root: Path) -> Iterator[Signature]:
    from methods import Method, read_module

    for path in sorted((root / "bindings/fortran/methods").glob("*.methods")):
        for each in (method for method in read_module(path).body if isinstance(method, Method)):
            if "hidden" not in each.words:
                yield (
                    each.name,
                    [[dummy.name for dummy in each.dummies if dummy.is_optional == given] for given in (0, 1)],
                )


def _python(path: Path) -> Iterator[Signature]:
    """Methods of classes that are public, and functions of modules that are, or that `__all__` lists."""
    text = path.read_text()
    tree = ast.parse(text)
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef) and not each.name.startswith("_")]
    for owner in [*classes, tree]:
        for each in (each for each in owner.body if isinstance(each, ast.FunctionDef)):
            is_public = owner is not tree or not path.name.startswith("_") or f'"{each.name}"' in text
            if is_public and (each.name == "__init__" or not each.name.startswith("_")):
                names = [argument.arg for argument in each.args.args if argument.arg not in ("self", "cls")]
                required = len(names) - len(each.args.defaults)
                yield each.name, [names[:required], names[required:], [each.arg for each in each.args.kwonlyargs]]


def signatures(root: Path, functions: Iterable[Any]) -> dict[str, list[Signature]]:
    """Of each language."""
    package, headers = root / "bindings/python/syncyte", root / "include/syncyte"
    modules = {True: list[Path](), False: list[Path]()}
    for path in sorted(package.glob("*.py")):
        modules[path.stem in _TORCH].append(path)
    return {
        "C": list(c_signatures(functions)),
        "C++": list(cxx_signatures([*sorted(headers.glob("*.hpp")), headers / "generated/methods.hpp"])),
        "Fortran": list(fortran_signatures(root)),
        "Python": [each for path in modules[False] for each in _python(path)],
        "torch": [each for path in modules[True] for each in _python(path)],
        "torch.hpp": list(cxx_signatures([root / "bindings/torch/include/syncyte/generated/operators.hpp"])),
    }
