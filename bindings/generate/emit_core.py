# SPDX-License-Identifier: BSD-3-Clause
"""Emits the values of the C interface's enums for the core: a check, their text for messages, and their names."""

from __future__ import annotations

import itertools
import textwrap

from model import Enum, Header, Value, short

_HEAD = """// Generated from syncyte/*.h by bindings/generate; do not edit.
// clang-format off
#pragma once

#include <cstdint>

/// One struct for each enum of the C interface, with the values that it knows.
namespace syncyte::base::known {
"""
_MOST_LISTED = 4  # values of an enum whose text lists them all


def _numbered(value: Value, cut: int = 0) -> str:
    return f"{value.name[cut:]} ({value.value})"


def _runs(values: list[Value]) -> list[list[Value]]:
    """Values whose numbers follow each other."""
    groups = itertools.groupby(enumerate(values), lambda pair: pair[1].value - pair[0])
    return [[value for _, value in group] for _, group in groups]


def _prefix(values: list[Value]) -> str:
    """The words that all names begin with: SYNCYTE_OP_."""
    words = zip(*(value.name.split("_") for value in values), strict=False)
    return "".join(f"{each[0]}_" for each in itertools.takewhile(lambda each: len(set(each)) == 1, words))


def text(values: list[Value]) -> str:
    """The values for a message: "SYNCYTE_COMPARE_EQ (1), NE (2), GE (3) or LE (4)"; of many, the ranges."""
    if len(values) <= _MOST_LISTED:
        cut = len(_prefix(values)) if len(values) > 2 else 0
        parts = [_numbered(values[0]), *(_numbered(value, cut) for value in values[1:])]
    else:
        parts = [" to ".join(map(_numbered, run[:1] + run[1:][-1:])) for run in _runs(values)]
    return " or ".join([", ".join(parts[:-1])] * (len(parts) > 1) + parts[-1:])


def _condition(run: list[Value]) -> str:
    first, last = run[0].value, run[-1].value
    return f"value == {first}" if first == last else f"(value >= {first} && value <= {last})"


def _struct(name: str, brief: str, values: list[Value], *further: str) -> list[str]:
    values = sorted(values, key=lambda value: value.value)
    conditions = " || ".join(map(_condition, _runs(values)))
    return ["", *(f"/// {line}" for line in textwrap.wrap(brief, 116)), f"struct {name} {{",
            f"  static constexpr std::int32_t last = {values[-1].value};",
            f'  static constexpr const char* text = "{text(values)}";',
            f"  static constexpr bool contains(std::int32_t value) {{ return {conditions}; }}", *further,
            "};"]  # fmt: skip


def _structs(enum: Enum) -> list[str]:
    """The enum's struct, and one for each {not(NAME)} of its values."""
    names = ["", "  /// The constant's name; null for an unknown value.",
             "  static constexpr const char* name(std::int32_t value) {", "    switch (value) {",
             *(f'      case {value.value}: return "{value.name}";' for value in enum.values),
             "      default: return nullptr;", "    }", "  }"]  # fmt: skip
    lines = _struct(short(enum.name), enum.brief, list(enum.values), *names)
    for part in dict.fromkeys(value.apart for value in enum.values if value.apart):
        others = [value for value in enum.values if value.apart != part]
        without = " and ".join(value.name for value in enum.values if value.apart == part)
        lines += _struct(part, f"{short(enum.name)} without {without}.", others)
    return lines


def emit(headers: list[Header]) -> str:
    """The text of known.hpp."""
    lines = [line for header in headers for enum in header.enums for line in _structs(enum)]
    return _HEAD + "\n".join([*lines, "", "}  // namespace syncyte::base::known", ""])
