# SPDX-License-Identifier: BSD-3-Clause
"""Annotations and docstrings: results have types, an op is one of the names, docstrings list all parameters."""

import enum
import importlib.util
import inspect
import re
import typing

import pytest

import operators
import syncyte
from syncyte import _tensor_methods, _types, errors

if not operators.ARE_HERE:
    pytest.skip("this build has no PyTorch operators, whose modules are inspected", allow_module_level=True)

CLASSES = [syncyte.Comm, syncyte.Cart, syncyte.Halo, syncyte.Window, syncyte.WholeTensor, syncyte.Request]
# Methods whose result type depends on the arguments.
OVERLOADED = {
    syncyte.Comm.relocate_rows,
    syncyte.WholeTensor.gather,
    syncyte.WholeTensor.get_box,
    syncyte.WholeTensor.owner,
    syncyte.Window.get,
}


def test_ops_are_the_names_of_the_reductions():
    names = {op.name.lower() for op in syncyte.Op}
    assert set(typing.get_args(_types.OpName)) == names - {"replace"}
    assert "replace" in str(_types.WindowReduction)
    assert list(typing.get_args(_types.Comparison)) == list(_tensor_methods._COMPARISONS)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_results_are_typed(cls):
    for name, member in inspect.getmembers(cls):
        function = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        result = inspect.signature(function).return_annotation
        if function in OVERLOADED:
            results = [inspect.signature(each).return_annotation for each in typing.get_overloads(function)]
            assert len(results) > 1
            assert "Any" not in results
        else:
            # A type checker treats `Array | Any` as Any.
            assert result is not inspect.Signature.empty, f"{cls.__name__}.{name}"
            assert "Any" not in result.split(" | "), f"{cls.__name__}.{name}"
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name == "op":
                assert "Reduction" in parameter.annotation or parameter.annotation.startswith("Literal[")


def test_all_exceptions_are_exported():
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, syncyte.Error)]
    assert sorted(kind.__name__ for kind in kinds) == errors.__all__


def public_modules():
    """Modules that users import; those that need torch only if torch is installed."""
    names = ["checkpoint", "memory", "cache"]
    if importlib.util.find_spec("torch") is not None:
        layers = ["nn", "nn.functional"]
        torchshard = [f"compat.torchshard{part}" for part in ("", ".distributed", ".nn", ".nn.functional", ".nn.init")]
        others = [f"compat.{name}" for name in ("adapm", "mpi4torch", "pipeswitch", "wholememory_pytorch")]
        names += [*layers, *torchshard, *others]
    return [syncyte, *(importlib.import_module(f"syncyte.{name}") for name in names)]


def public_functions():
    """Functions and methods that users call, with their names."""
    modules = public_modules()
    entries = {f"{module.__name__}.{name}": getattr(module, name) for module in modules for name in module.__all__}
    for name, entry in entries.items():
        if inspect.isfunction(entry):
            yield name, entry
        if inspect.isclass(entry) and not issubclass(entry, (Exception, enum.Enum, tuple)):
            for member, function in inspect.getmembers(entry, inspect.isroutine):
                if not member.startswith("_") and getattr(function, "__module__", "").startswith("syncyte"):
                    yield f"{name}.{member}", function


PUBLIC = dict(public_functions())


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings_list_all_parameters(name):
    function = PUBLIC[name]
    text = inspect.getdoc(function)
    if re.search(r"^Parameters.* as of ", text, re.MULTILINE):
        return
    section = re.search(r"^Parameters\n-+\n(.*?)(?:\n\n[A-Z][a-z]+\n-|\Z)", text, re.MULTILINE | re.DOTALL)
    listed = re.findall(r"^(\S.*?)(?: :.*)?$", section[1], re.MULTILINE) if section else []
    names = [each.lstrip("*") for line in listed for each in line.split(", ")]
    assert sorted(names) == sorted(set(inspect.signature(function).parameters) - {"self", "cls"})


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings_with_parameters_describe_the_result(name):
    function = PUBLIC[name]
    text = inspect.getdoc(function)
    has_result = inspect.signature(function).return_annotation not in (inspect.Signature.empty, None, "None")
    if has_result and re.search(r"^Parameters", text, re.MULTILINE):
        assert re.search(r"^(Returns|Yields)\n-+\n\S.*\n    \S|result.* as of", text, re.MULTILINE)
