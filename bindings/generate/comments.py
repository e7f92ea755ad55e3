# SPDX-License-Identifier: BSD-3-Clause
"""Reads the doc comments of a header: which declaration each belongs to, and its annotations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from model import Value

_COMMENT = re.compile(r"/\*\*(?!<)(.*?)\*/\s*([^/#][^;{]*[;{])?", re.S)
_MEMBER = re.compile(r"\b(\w+)(?:\[\w+\])?\s*(?:=\s*-?\w+\s*)?[,;]?\s*/\*\*<(.*?)\*/", re.S)
_CONSTANT = re.compile(r"(?:/\*\*(?!<)((?:(?!\*/)[\s\S])*)\*/\s*)?^#define (SYNCYTE_\w+) \(?(-?\d+)\)?$", re.M)
_PARAM = re.compile(r"\[(in|out|in,out)\]\s+(\w+)\s*(?:\{(.*?)\})?\s*(.*)", re.S)
_BRACES = re.compile(r"(?:\{(.*?)\}\s*)?(.*)", re.S)
# Annotations, and those with a value in parentheses.
_PLAIN = {
    "parameter": {"optional", "string", "callback", "pointer", "in_place", "contiguous", "flag", "integers", "kept",
                  "kept_if_started", "tensor_dtype", "mpi_handle", "traced"},
    "function": {"forked_child", "free_function", "lookup", "by_hand", "cxx_by_hand", "started"},
    "member": set[str](),
    "enumerator": set[str](),
}  # fmt: skip
_VALUED = {"parameter": {"along", "array", "default", "index", "kept_if_started", "offset"},
           "function": {"cxx_by_hand"}, "member": {"default"}, "enumerator": {"not"}}  # fmt: skip


class AnnotationError(Exception):
    """A comment that the generator cannot use."""


@dataclass
class Comment:
    where: str  # its file and line, for errors
    brief: str = ""
    keywords: dict[str, Any] = field(default_factory=dict)  # of a function: fields of model.Function
    result: str = ""
    started_text: str = ""  # of @started
    parameters: dict[str, dict[str, Any]] = field(default_factory=dict)  # by name: fields of model.Parameter


def clean(text: str) -> str:
    """One line of prose: no stars, no line breaks, no Doxygen marks."""
    text = re.sub(r"^\s*\*( |$)", "", text, flags=re.M)
    return re.sub(r"\s+", " ", text).replace("::syncyte", "syncyte").replace("::SYNCYTE", "SYNCYTE").strip()


def split(text: str) -> list[str]:
    """Parts between commas outside parentheses."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _keywords(where: str, braces: str | None, kind: str) -> dict[str, Any]:
    """Annotations in braces, as fields of the model."""
    fields = dict[str, Any]()
    for item in split(braces or ""):
        match = re.fullmatch(r"(\w+)\((.*)\)", item)
        if match and match[1] in _VALUED[kind]:
            fields[match[1]] = match[2]
        elif item in _PLAIN[kind]:
            fields[item] = True
        else:
            raise AnnotationError(f"{where} has an unknown annotation '{item}'")
    return fields


def _annotation(where: str, text: str) -> tuple[str, dict[str, Any]]:
    match = _PARAM.fullmatch(text)
    if not match:
        raise AnnotationError(f"{where}: '@param{text}' is not '@param[in|out|in,out] name {{...}} text'")
    direction, name, braces, prose = match.groups()
    if not prose.strip():
        raise AnnotationError(f"{where}: parameter {name} has no text")
    keywords = _keywords(f"{where}: parameter {name}", braces, "parameter")
    return name, {"direction": direction, "text": prose.strip(), **keywords}


def _comment(name: str, place: str, body: str) -> Comment:
    comment, where = Comment(place), f"{place}: {name}"
    parts = re.split(r"@(brief|param|return|started)\b", clean(body))
    comment.brief = parts[0].strip()
    for tag, text in zip(parts[1::2], parts[2::2], strict=True):
        text = text.strip()
        if tag == "brief":
            braces, comment.brief = _BRACES.fullmatch(text).groups()  # type: ignore[union-attr]
            comment.keywords = _keywords(where, braces, "function")
        elif tag == "return":
            comment.result = text
        elif tag == "started":
            comment.started_text = text
        else:
            name, fields = _annotation(where, text)
            if name in comment.parameters:
                raise AnnotationError(f"{where}: parameter {name} is described twice")
            comment.parameters[name] = fields
    return comment


def _declared(declaration: str) -> str | None:
    """Name that the text after a comment declares."""
    for pattern in (
        r"\(\*(\w+)\)",
        r"\b((?:syncyte|fortran)_\w+)\s*\(",
        r"typedef struct (\w+)\s*\{",
        r"enum (\w+)",
        r"(\w+);$",
    ):
        match = re.search(pattern, declaration)
        if match:
            return match.group(1)
    return None


class Comments:
    """All comments of one header's text."""

    def __init__(self, path: str, text: str):
        self.file, self._path = "", path
        self.included = re.findall(r'^#include "(?:syncyte/)?(\w+)\.h"$', text, re.M)
        self._declarations: dict[str, Comment] = {}
        for match in _COMMENT.finditer(text):
            body, declaration = match.groups()
            name = _declared(declaration) if declaration else None
            if "@file" in body:
                self.file = clean(re.split(r"\n \*\n", body)[0]).split("@brief", 1)[-1].strip()
            elif name:
                line = text.count("\n", 0, match.start()) + 1
                self._declarations[name] = _comment(name, f"{path}:{line}", body)
        self._members = {(scope, name): clean(comment)
                         for scope, body in re.findall(r"(?:struct|enum) (\w+) \{(.*?)^\}", text, re.S | re.M)
                         for name, comment in _MEMBER.findall(body)}  # fmt: skip
        self.constants = [Value(name, int(value), clean(body)) for body, name, value in _CONSTANT.findall(text)]

    def declaration(self, name: str) -> Comment:
        return self._declarations.get(name, Comment(self._path))

    def member(self, scope: str, name: str, kind: str) -> tuple[str, dict[str, str]]:
        """Text and annotations of a member of a struct or an enumerator."""
        braces, text = _BRACES.fullmatch(self._members.get((scope, name), "")).groups()  # type: ignore[union-attr]
        return text, _keywords(f"{scope}: {name}", braces, kind)
