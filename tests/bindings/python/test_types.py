"""What editors and type checkers learn: results have types, and an op is one of the names."""

import inspect
import typing

import pytest

import syncyte
from syncyte import _counters, _types

CLASSES = [syncyte.Comm, syncyte.Cart, syncyte.Halo, syncyte.Window, syncyte.WholeTensor, syncyte.Request]
# Their result's type depends on the arguments.
OVERLOADED = {syncyte.WholeTensor.gather, syncyte.WholeTensor.get_box, syncyte.WholeTensor.owner, syncyte.Window.get}


def test_ops_are_the_names_of_the_reductions():
    names = {op.name.lower() for op in syncyte.Op}
    assert set(typing.get_args(_types.OpName)) == names - {"replace"}
    assert "replace" in str(_types.WindowReduction)
    assert list(typing.get_args(_types.Comparison)) == list(_counters._COMPARISONS)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_results_are_typed(cls):
    for name, member in inspect.getmembers(cls):
        function = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not inspect.isfunction(function):
            continue
        result = inspect.signature(function).return_annotation
        if function in OVERLOADED:
            results = [inspect.signature(each).return_annotation for each in typing.get_overloads(function)]
            assert len(results) > 1 and "Any" not in results
        else:
            # `Array | Any` is Any to a type checker.
            assert result is not inspect.Signature.empty and "Any" not in result.split(" | "), f"{cls.__name__}.{name}"
        for parameter in inspect.signature(function).parameters.values():
            assert parameter.name != "op" or "Reduction" in parameter.annotation
