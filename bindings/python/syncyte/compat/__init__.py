# SPDX-License-Identifier: BSD-3-Clause
"""Modules with the interfaces of other libraries, so that programs written for these run on Syncyte.

``python -m syncyte.compat script.py`` runs a script that imports mpi4torch, torchshard, adapm or wholememory; calling
:func:`install` in a program does the same.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import types
from typing import Any

__all__ = ["install", "uninstall"]

# Other libraries' module names, and the module of this package that replaces each; None: an empty package.
_MODULES = {
    "adapm": "adapm",
    "mpi4torch": "mpi4torch",
    "torchshard": "torchshard",
    "wholememory": None,
    "wholememory.torch": None,
    "wholememory.torch.wholememory_pytorch": "wholememory_pytorch",
}
_added: set[str] = set()  # names in sys.modules


def install() -> None:
    """Makes ``import mpi4torch`` import syncyte.compat.mpi4torch, and so on, in this process. Local; imports torch.

    It also adds PipeSwitch's functions to torch.cuda. Processes that multiprocessing starts later do the same.
    """
    import torch

    from . import pipeswitch

    for name, ours in _MODULES.items():
        module = _package(name) if ours is None else importlib.import_module(f"{__name__}.{ours}")
        _add(name, module)
        for loaded in list(sys.modules):  # otherwise an import of a submodule would load it twice
            if ours is not None and loaded.startswith(f"{module.__name__}."):
                _add(name + loaded.removeprefix(module.__name__), sys.modules[loaded])
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)
    for name in pipeswitch.__all__:
        setattr(torch.cuda, name, getattr(pipeswitch, name))
    _install_in_processes()


def uninstall() -> None:
    """Undoes install(), and releases the cache of PipeSwitch's functions; the process may then use CUDA. Local.

    Raises
    ------
    BusyError
        The calling thread's tensors lie in that cache; nothing has changed.
    """
    import torch

    from . import pipeswitch

    pipeswitch.release()
    for name in pipeswitch.__all__:
        if hasattr(torch.cuda, name):
            delattr(torch.cuda, name)
    while _added:
        sys.modules.pop(_added.pop(), None)
    _install_in_no_process()


def _add(name: str, module: types.ModuleType) -> None:
    sys.modules[name] = module
    _added.add(name)


class _Install:
    """Calls install() when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return install, ()


def _install_in_processes() -> None:
    """Makes spawned processes call install(): they load only the script and the data that multiprocessing sends."""
    from multiprocessing import spawn

    original: Any = spawn.get_preparation_data
    if getattr(original, "__module__", "") == __name__:
        return  # an earlier install() has done it

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {"syncyte.compat": _Install(), **original(name)}

    get_preparation_data.original = original  # type: ignore[attr-defined]
    spawn.get_preparation_data = get_preparation_data


def _install_in_no_process() -> None:
    from multiprocessing import spawn

    spawn.get_preparation_data = getattr(spawn.get_preparation_data, "original", spawn.get_preparation_data)


def _package(name: str) -> types.ModuleType:
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__path__", None) == []:
        return known  # made by an earlier install()
    package = types.ModuleType(name, f"The modules of {name} that syncyte.compat has.")
    package.__path__ = []
    package.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    return package
