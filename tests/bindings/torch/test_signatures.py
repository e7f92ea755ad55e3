# SPDX-License-Identifier: BSD-3-Clause
"""docs/pytorch.md has the right signature of every function and class in syncyte.torch."""

import inspect
import json
import pathlib
import re

import syncyte
import syncyte.torch

PAGE = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "pytorch.md").read_text(encoding="utf-8")
CLASSES = {"Request"}  # classes that only functions create


def shown(parameter: inspect.Parameter) -> str:
    default = parameter.default
    if default is inspect.Parameter.empty:
        return parameter.name
    value = (
        "COMM_WORLD" if default is syncyte.COMM_WORLD else json.dumps(default) if isinstance(default, str) else default
    )
    return f"{parameter.name}={value}"


def signature_of(name: str) -> str:
    parts, is_keyword = [], False
    for parameter in inspect.signature(getattr(syncyte.torch, name)).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword:
            parts.append("*")
            is_keyword = True
        parts.append(shown(parameter))
    return f"{name}({', '.join(parts)})"


def test_the_page_has_every_signature():
    promised = set(re.findall(r"^\| `(\w+\(.*?\))` \|", PAGE, re.MULTILINE))
    assert promised == {signature_of(name) for name in syncyte.torch.__all__ if name not in CLASSES}


def test_mixed_grad_and_errors_are_explained_wherever_they_are_taken():
    for name in syncyte.torch.__all__:
        entry = getattr(syncyte.torch, name)
        parameters = inspect.signature(entry).parameters if inspect.isfunction(entry) else {}
        text = inspect.getdoc(entry)  # without indents, which Python 3.13 strips from __doc__ too
        if "mixed_grad" in parameters:
            assert re.search(r"^mixed_grad : bool\n +See :mod:`syncyte\.torch`", text, re.MULTILINE), name
        if "comm" in parameters or "mixed_grad" in parameters:
            assert re.search(r"^Raises", text, re.MULTILINE), name
    assert "Raises" in syncyte.torch.DataParallel.__init__.__doc__
    assert "mixed_grad" in syncyte.torch.__doc__
