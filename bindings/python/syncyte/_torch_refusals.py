# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of a wrong Python type.

torch's schemas refuse them before an operation begins; these functions pass the error to the other ranks.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import get_proxy_mode

from .comm import Comm
from .errors import DtypeError, UnsupportedError


def never_compiled(reason: str) -> Callable[[Callable[..., Any]], Any]:
    """torch.compiler.disable() as a decorator, with a reason where this torch takes one."""
    takes_reason = "reason" in inspect.signature(torch.compiler.disable).parameters
    return torch.compiler.disable(reason=reason) if takes_reason else torch.compiler.disable


_BY_A_SCHEMA = re.compile(
    r"(?:Overloaded torch operator [^\n]*\s+)?(?:syncyte::\w+|_operation)\(\) Expected a value "
    r"of type '(?P<type>[^']+)' for argument '(?P<name>\w+)'.*?\nValue: (?P<value>.*?)\n"
    r"Declaration",
    re.DOTALL,
)
_EXPECTED = {
    "int": "a whole number of 64 bits",
    "List[int]": "whole numbers of 64 bits",
    "bool": "True or False",
    "Tensor": "a torch.Tensor",
}
_SHOWN = 60  # characters of a value


def not_a_tensor(value: object, name: str = "tensor") -> DtypeError:
    return DtypeError(f"{name} is a {type(value).__name__}; expected a torch.Tensor")


def check_tensor(value: object, name: str = "tensor") -> None:
    """Raises DtypeError if a value is not a torch.Tensor."""
    if not isinstance(value, torch.Tensor):
        raise not_a_tensor(value, name)


def check_movable(tensor: torch.Tensor, name: str, operation: str) -> None:
    """Raises UnsupportedError for a tensor that an operation in Python cannot move."""
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested or tensor.is_meta:
        raise UnsupportedError(f"{name} is a sparse, quantised, nested or meta tensor")
    if isinstance(tensor, FakeTensor) or get_proxy_mode() is not None:
        raise UnsupportedError(f"{operation} cannot be traced: call it outside of the traced function")
    if torch._C._functorch.is_batchedtensor(tensor):
        raise UnsupportedError(f"torch.vmap does not take {operation}: call it once for each element")


def wrong_type(error: Exception, tensor: object, name: str = "tensor") -> DtypeError | None:
    """Returns the error to raise if torch has refused an argument of an operation on `tensor` with `error`.

    None: it is an error of the operation itself, which the other ranks have got already.
    """
    if not isinstance(tensor, torch.Tensor):
        return not_a_tensor(tensor, name)
    refused = _BY_A_SCHEMA.match(str(error))
    if refused is None:
        return None
    argument, value = refused["name"], refused["value"]
    value = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    return DtypeError(f"{argument} is {value}; expected {_EXPECTED.get(refused['type'], refused['type'])}")


def refuse(error: Exception, tensor: object, name: str) -> None:
    """For local operations: raises DtypeError if torch has refused an argument. `name` is the tensor's name."""
    refused = wrong_type(error, tensor, name)
    if refused is not None:
        raise refused from None
    advise(error)


def advise(error: Exception) -> None:
    """Adds a way that works to two errors about gradients: only some ranks record them, or torch.func.grad is used."""
    text = str(error)
    if "needs-gradient is " in text:
        error.args = (f"{text.rstrip()}; expected the same on all ranks, or mixed_grad=True on all of them",)
    elif "with functorch transforms" in text and "expected" not in text:
        way = "torch.autograd.grad(result, tensor) of a tensor that requires gradients, or result.backward()"
        error.args = (f"{text.rstrip()}: torch.func.grad, vjp and jacrev are not possible; expected {way}",)


def raise_on_all(error: Exception, tensor: object, comm: Comm, operation: str) -> None:
    """If torch has refused an argument of a collective, tells the other ranks and raises; otherwise only advises."""
    refused = wrong_type(error, tensor)
    if refused is not None:
        comm._tell(refused, operation)
        raise refused from None
    advise(error)
