# SPDX-License-Identifier: BSD-3-Clause
"""Reads bindings/fortran/methods: Fortran modules whose methods are described, not written (see its README.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from comments import AnnotationError, split
from license import license_line

_SCOPES = "error_here|error_everywhere|error_everywhere_always|error_in_request|error_at_neighbours|view|null"
_PROTOTYPE = re.compile(
    rf"({_SCOPES})((?:, \w+)*) (\w+)\((.*?)\)"  # scope, name and dummies
    r"(?: -> (\w+(?:\(\w+\))?) = (\S+)(?: of (.+?))?)?"  # a function's type, value on an error, and value
    r"(?: : (\w+)(?:\((.*)\))?)?$"  # C function, and arguments that are not a dummy's
)
_DUMMY = re.compile(r"(\w+)(?:=([\w%]+))?(\?)?")
_ATTRIBUTES = re.compile(r"  ((?:[\w(].*?)?) ?:: ([\w, ]+?)(?:\s*!! ?(.*))?")
_OWN = re.compile(r"  own (.+?) :: ((\w+)(?:\(:\))?(?:\s*!!.*)?)")


@dataclass
class Dummy:
    name: str
    parameter: str  # of the C function, or its structure's member: "status%source"
    is_optional: bool
    words: list[str] = field(default_factory=list)
    text: str = ""
    own: str = ""  # the declaration, of a dummy that the method's own statements use

    def word(self, name: str) -> str | None:
        """What follows a word, in parentheses or behind a blank, "" where there is nothing; None without the word."""
        for each in self.words:
            match = re.fullmatch(rf"{re.escape(name)}(?:\((.*)\)| (.*))?", each)
            if match:
                return match.group(1) or match.group(2) or ""
        return None


@dataclass
class Method:
    comment: list[str]
    owner: str  # type that has the method
    scope: str  # the first word: ranks that get the error of a wrong argument, or another kind of method
    words: list[str]  # hidden: not bound to the type; free: of no type; inout: changes the object
    name: str
    dummies: list[Dummy]
    result: str = ""  # type of a function
    on_error: str = ""
    value: str = ""  # of a function whose value is not simply the C function's output
    function: str = ""
    arguments: dict[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)  # declarations
    own: dict[str, list[str]] = field(default_factory=lambda: {mark: [] for mark in "<>"})  # statements

    @property
    def procedure(self) -> str:
        return self.name if "free" in self.words else f"{self.owner.split('_')[-1]}_{self.name}"


@dataclass
class Module:
    name: str
    head: list[str]  # up to "contains", the module statement included
    body: list[Method | str]  # methods, and lines that stay as they are


def _method(owner: str, comment: list[str], line: str) -> Method | None:
    if not (match := _PROTOTYPE.fullmatch(line)):
        return None
    scope, words, name, dummies, result, on_error, value, function, arguments = match.groups()
    found = []
    for text in split(dummies):
        if not (dummy := _DUMMY.fullmatch(text)):
            raise AnnotationError(f"'{text}' of method {name} is no dummy argument")
        found.append(Dummy(dummy[1], dummy[2] or dummy[1], dummy[3] is not None))
    pairs = dict(part.split("=", 1) for part in split(arguments or ""))
    full = function if (function or "").startswith("fortran_") else f"syncyte_{function}"
    answer = (result or "", on_error or "", value or "")
    return Method(comment, owner, scope, split(words), name, found, *answer, full, pairs)


def _describe(method: Method, line: str) -> bool:
    """Takes a line that belongs to the method; False for any other."""
    if mark := re.fullmatch(r"  (variable|[<>]) (.*)", line):
        method.own.get(mark[1], method.variables).append(mark[2])
        return True
    dummies = {dummy.name: dummy for dummy in method.dummies}
    if own := _OWN.fullmatch(line):
        dummies[own[3]].own = f"{own[1]} :: {own[2]}"
        return True
    if not (match := _ATTRIBUTES.fullmatch(line)):
        return False
    for name in split(match[2]):
        if name not in dummies:
            raise AnnotationError(f"method {method.name} has no dummy argument {name}")
        dummies[name].words, dummies[name].text = split(match[1]), match[3] or ""
    return True


def read_module(path: Path) -> Module:
    continued = re.compile(rf"^(?:{_SCOPES})\b(?:.*&\n *)+", re.M)
    source = path.read_text(encoding="utf-8").removeprefix(license_line(path))
    text = continued.sub(lambda lines: re.sub(r"&\n *", "", lines[0]), source)
    lines = text.splitlines()
    start = lines.index("contains")
    module = Module(path.stem, lines[:start], [])
    types = [line.split()[-1] for line in module.head if re.match(r"  type\b", line)]
    owner, comment, method = types[-1] if types else "", list[str](), None
    for line in lines[start + 1 :]:
        if method and _describe(method, line):
            continue
        method = None
        if line.startswith("!>"):
            comment.append("  " + line)
        elif line.startswith("methods of "):
            owner = line.removeprefix("methods of ")
        else:
            method = _method(owner, comment, line) if comment else None
            module.body.append(method or line)
            comment = []
    return module
