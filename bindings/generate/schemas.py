# SPDX-License-Identifier: BSD-3-Clause
"""Reads bindings/torch/operators.schemas: torch's operators (its head says how they are described)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from comments import AnnotationError, split

# Words of an operator, and the values of those that have one in parentheses: the members of operator_row
# (bindings/torch/src/operators/operators.hpp) in its order, and `internal`.
MEMBERS: dict[str, tuple[str, ...]] = {
    "is_effectful": (),
    "device": ("no_kernel", "through_host", "direct", "direct_along_first_axis"),
    "batch": ("by_parts", "once", "in_place", "each", "first_tensor", "refused"),
    "ignores_elements": (),
    "gives_ticket": (),
    "takes_ticket": (),
    "fails_alone": (),
}
_WORDS = MEMBERS | {"internal": ()}
_WORD = re.compile(r"(\w+)(?:\((\w+)\))?")
_KIND = re.compile(r"kind (\w+)(?: = (.+))?")
_TYPE = re.compile(r"type (\w+) = (\S+), (?:(handle|hidden)\((.+)\)|(hidden|reduction|axis|shape))")
_OPERATOR = re.compile(r"(\w+)((?:, [^ ,]+)*) (\w+(?:\.\w+)?)\((.*)\) -> (\S.*)")
_ARGUMENT = re.compile(r"(\w+)(?:\(\w!?\))?([][?]*) (\w+)(?:=(\S+))?")
_TORCH = {"Tensor", "int", "SymInt", "bool", "str", "ScalarType"}


@dataclass
class Argument:
    type: str  # torch's
    name: str
    default: str
    word: str  # of its type in the description
    value: str  # of the word


@dataclass
class Operator:
    where: str  # file and line, for errors
    comment: str
    words: dict[str, str]  # and their values
    name: str  # with its overload: "gather_along.counts"
    arguments: list[Argument]
    result: str
    schema: str


def expect(where: str, condition: object, problem: str) -> None:
    if not condition:
        raise AnnotationError(f"{where}: {problem}")


def read_operators(text: str) -> list[Operator]:
    reader, comment = _Reader(), list[str]()
    for number, line in _lines(text):
        where = f"operators.schemas:{number}"
        if line.startswith("/// "):
            comment.append(line.removeprefix("/// "))
        elif match := _OPERATOR.fullmatch(line):
            reader.add_operator(where, " ".join(comment), match)
            comment = []
        else:
            expect(where, not comment, f"expected an operator behind its comment, not '{line}'")
            reader.add_other(where, line)
    for name, where in reader.unused.items():
        expect(where, False, f"no operator has a {name}")
    return reader.operators


def _lines(text: str) -> list[tuple[int, str]]:
    """Lines with their numbers; a line that begins with a blank belongs to the one before."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(" ") and found:
            found[-1] = found[-1][0], f"{found[-1][1]} {line.strip()}"
        else:
            found.append((number, line))
    return found


def _words(where: str, text: str) -> dict[str, str]:
    found = dict[str, str]()
    for each in split(text):
        name, value = match.groups("") if (match := _WORD.fullmatch(each)) else ("", "")
        expect(where, name in _WORDS, f"'{each}' is none of the words {', '.join(_WORDS)}")
        expect(where, value in (_WORDS[name] or [""]), f"'{each}': expected {', '.join(_WORDS[name]) or 'no value'}")
        found[name] = value
    return found


class _Reader:
    def __init__(self) -> None:
        self.operators: list[Operator] = []
        self.unused: dict[str, str] = {}  # kinds and types that no operator has so far, and their places
        self._kinds: dict[str, dict[str, str]] = {}
        self._types: dict[str, tuple[str, str, str]] = {}  # torch's type, word, value

    def add_other(self, where: str, line: str) -> None:
        """Takes a line that is no operator."""
        if match := _KIND.fullmatch(line):
            expect(where, match[1] not in self._kinds, f"kind {match[1]} is described twice")
            self._kinds[match[1]] = _words(where, match[2] or "")
        elif match := _TYPE.fullmatch(line):
            expect(where, match[1] not in self._types, f"type {match[1]} is described twice")
            self._types[match[1]] = match[2], match[3] or match[5], match[4] or ""
        else:
            expect(where, not line or line.startswith("#"), f"cannot read '{line}'")
        if match:
            self.unused[match[1]] = where

    def add_operator(self, where: str, comment: str, match: re.Match[str]) -> None:
        kind, words, name, inside, result = match.groups()
        expect(where, kind in self._kinds, f"kind {kind} is not described")
        self.unused.pop(kind, None)
        parts = [part for part in inside.split(", ") if part]
        arguments = [self._argument(where, part) for part in parts if part != "*"]
        plain = [re.sub(r"^\w+", lambda alias: self._types.get(alias[0], (alias[0],))[0], part) for part in parts]
        found = self._kinds[kind] | _words(where, words)
        schema = f"{name}({', '.join(plain)}) -> {result}"
        self.operators.append(Operator(where, comment, found, name, arguments, result, schema))

    def _argument(self, where: str, text: str) -> Argument:
        alias, suffix, name, default = match.groups("") if (match := _ARGUMENT.fullmatch(text)) else [""] * 4
        expect(where, alias in self._types or alias in _TORCH, f"cannot read the argument '{text}'")
        self.unused.pop(alias, None)
        torch, word, value = self._types.get(alias, (alias, "", ""))
        fits = {"handle": torch == "int", "hidden": value or default, "reduction": default == "1"}
        expect(where, fits.get(word, True), f"'{text}', of torch's type {torch}, cannot be {word}")
        return Argument(torch + suffix, name, default, word, value)
