# SPDX-License-Identifier: BSD-3-Clause
"""Types of arguments and results, for editors and type checkers."""

from __future__ import annotations

from typing import Literal, TypeVar

from ._declarations import Op

OpName = Literal["sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor"]
Reduction = Op | OpName
WindowReduction = Op | OpName | Literal["replace"]
Comparison = Literal["==", "!=", ">=", "<="]
OptimizerName = Literal["sgd", "adagrad", "adam"]
CheckLevel = Literal["off", "on", "full"]

#: A numpy array, a torch tensor, or another object that an operation accepts as an array; also a number if the
#: operation accepts one. The result is of the argument's kind.
Array = TypeVar("Array")
Result = TypeVar("Result")
Number = TypeVar("Number", bound=complex)  # a Python number: type checkers accept int and float as complex
