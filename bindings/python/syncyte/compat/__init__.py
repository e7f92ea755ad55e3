"""Modules with the interfaces of other libraries, for their users' programs.

``python -m syncyte.compat script.py`` runs a script that says ``import mpi4torch``, or imports another of these; so
does :func:`install` within a program.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from typing import Any

__all__ = ["install"]

# Other libraries' module names, and our module, with its submodules, for each; None: a package that only holds some.
_MODULES = {
    "adapm": "adapm",
    "mpi4torch": "mpi4torch",
    "torchshard": "torchshard",
    "wholememory": None,
    "wholememory.torch": None,
    "wholememory.torch.wholememory_pytorch": "wholememory_pytorch",
}


def install() -> None:
    """Makes ``import mpi4torch`` mean syncyte.compat.mpi4torch, and so on, in this process. Local; imports torch.

    It gives torch.cuda PipeSwitch's functions, too. All that also holds in processes that multiprocessing starts from
    here on.
    """
    for name, ours in _MODULES.items():
        module = _package(name) if ours is None else importlib.import_module(f"{__name__}.{ours}")
        sys.modules[name] = module
        for loaded in list(sys.modules):  # else an import of a submodule would load a second one
            if ours is not None and loaded.startswith(f"{module.__name__}."):
                sys.modules[name + loaded.removeprefix(module.__name__)] = sys.modules[loaded]
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)
    _add_pipeswitch()
    _install_in_processes()


def _add_pipeswitch() -> None:
    import torch

    from . import pipeswitch

    for name in pipeswitch.__all__:
        setattr(torch.cuda, name, getattr(pipeswitch, name))


class _Install:
    """Calls install() where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return install, ()


def _install_in_processes() -> None:
    """A process that is spawned, not forked, knows only the script, and what multiprocessing sends it first."""
    from multiprocessing import spawn

    original: Any = spawn.get_preparation_data
    if getattr(original, "__module__", "") == __name__:
        return  # of an earlier install()

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {"syncyte.compat": _Install(), **original(name)}

    spawn.get_preparation_data = get_preparation_data


def _package(name: str) -> types.ModuleType:
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__path__", None) == []:
        return known  # of an earlier install()
    package = types.ModuleType(name, f"Holds what syncyte.compat has of {name}.")
    package.__path__ = []
    package.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    return package
