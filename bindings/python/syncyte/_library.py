"""Finds and loads the shared libraries, checks their version, and turns statuses into exceptions.

Libraries are loaded at their first use, with RTLD_LOCAL (libsyncyte_hdf5 must not expose its HDF5 to h5py). libsyncyte
is searched in this order: the environment's SYNCYTE_LIBRARY, this package's folder, the build tree or installation that
the package belongs to, the loader's path. Libraries on top of it (hdf5, torch) are searched likewise, with
SYNCYTE_HDF5_LIBRARY and so on, and in libsyncyte's folder before the loader's path.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from . import _declarations as c
from . import _interrupts, errors

log = logging.getLogger("syncyte")

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"
_SONAME = f"{_SUFFIX}.{c.VERSION_MAJOR}"

# Functions whose returned status is not the result of the call.
_RETURN_THEIR_ARGUMENT = {"syncyte_error_set"}


def _built_folders() -> list[str]:
    """Returns the library folders of the build tree or installation, which CMake has written into _location.py."""
    try:
        _location: Any = importlib.import_module("._location", __package__)
    except ImportError:
        return []
    return [os.path.normpath(os.path.join(_PACKAGE, folder)) for folder in _location.LIBRARY_FOLDERS]


def candidates(name: str, beside: str | None = None) -> Iterator[str]:
    """Yields the paths to try for the library `name` (syncyte, syncyte_hdf5), in order; last, the loader's path."""
    variable = name.upper() + "_LIBRARY"
    chosen = os.environ.get(variable)
    if chosen:
        if not os.path.exists(chosen):
            raise errors.LibraryError(f"{variable} is {chosen!r}: there is no such file")
        yield chosen
        return
    folders = [_PACKAGE, *_built_folders()]
    if beside is not None:
        folders.append(os.path.dirname(os.path.realpath(beside)))
    for folder in folders:
        for suffix in (_SUFFIX, _SONAME):
            path = os.path.join(folder, f"lib{name}{suffix}")
            if os.path.exists(path):
                yield path
                return
    yield f"lib{name}{_SONAME}"


def find(name: str) -> str:
    """Returns the path of a library on top of libsyncyte, for example ``find("syncyte_torch")``.

    The result is a bare file name if the loader must search it.

    Raises LibraryError if the environment names a file that does not exist.
    """
    return next(candidates(name, beside=core().path))


def _load(path: str, name: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL)
    except OSError as error:
        folders, variable = _built_folders(), f"{name.upper()}_LIBRARY"
        if os.path.isabs(path):
            advice = f"Set {variable} to a file that can be loaded"
        elif folders:
            advice = f"It is not in {_PACKAGE}, {', '.join(folders)} or the loader's path: build it, or set {variable}"
        else:
            advice = (
                f"The package in {_PACKAGE} belongs to no build or installation: use that of a build tree "
                f"(PYTHONPATH=build/python) or of an installation, or set {variable} to the file"
            )
        raise errors.LibraryError(f"cannot load lib{name}: {error}. {advice}") from error


def _check_version(library: ctypes.CDLL, path: str) -> None:
    try:
        function = library.syncyte_version
    except AttributeError:
        raise errors.LibraryError(f"{path} is not Syncyte's library: it has no function syncyte_version") from None
    function.argtypes = [ctypes.POINTER(ctypes.c_int32)] * 4
    function.restype = ctypes.c_int32
    numbers = [ctypes.c_int32(-1) for _ in range(4)]
    status = function(*(ctypes.byref(number) for number in numbers))
    if status != c.Status.SUCCESS:
        raise errors.LibraryError(f"{path}: syncyte_version returned status {status}")
    major, minor, patch, abi = (number.value for number in numbers)
    if abi != c.ABI_VERSION or major != c.VERSION_MAJOR or minor < c.VERSION_MINOR:
        raise errors.LibraryError(
            f"{path} is Syncyte {major}.{minor}.{patch} (ABI {abi}), but this Python package, in {_PACKAGE}, is "
            f"{c.VERSION_MAJOR}.{c.VERSION_MINOR}.{c.VERSION_PATCH} (ABI {c.ABI_VERSION}): install both from the same "
            f"version, or set SYNCYTE_LIBRARY to the right file"
        )


class Library:
    """A loaded library. Its functions are attributes, bound at first use; they raise exceptions."""

    def __init__(self, path: str, library: ctypes.CDLL, functions: dict[str, c.Function]):
        self.path = path
        self._library = library
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        function = self.unchecked(name)
        if function.restype is ctypes.c_int32 and name not in _RETURN_THEIR_ARGUMENT:
            function.errcheck = _raise_if_failed
        setattr(self, name, function)
        return function

    def unchecked(self, name: str) -> Any:
        """Returns the function itself, which returns its status: for finalizers, which cannot raise."""
        declaration = self._functions.get(name)
        if declaration is None:
            raise AttributeError(f"the C headers declare no {name}")
        try:
            function = self._library[name]  # a new object for each use, unlike attributes of a CDLL
        except AttributeError:
            raise errors.LibraryError(f"{self.path} lacks {name}: it was built from other headers") from None
        function.argtypes = declaration.argtypes
        function.restype = declaration.restype
        return function


def _raise_if_failed(status: int, _function: Callable[..., int], _arguments: tuple[Any, ...]) -> int:
    if status != 0:
        if status == c.Status.ERR_INTERRUPTED:
            _interrupts.raise_again()
        message = core().syncyte_last_error()
        raise errors.from_status(status, message.decode("utf-8", "replace"))
    return status


_lock = threading.Lock()
_core: Library | None = None
_hdf5: Library | None = None


def core() -> Library:
    """Returns libsyncyte. Raises LibraryError (an ImportError) if it is missing or of another version."""
    global _core
    if _core is None:
        with _lock:
            if _core is None:
                path = next(candidates("syncyte"))
                library = _load(path, "syncyte")
                _check_version(library, path)
                log.debug("loaded %s", path)
                _core = Library(path, library, c.CORE)
    return _core


def hdf5() -> Library:
    """Returns libsyncyte_hdf5; loads it at the first use of a checkpoint."""
    global _hdf5
    if _hdf5 is None:
        path = find("syncyte_hdf5")
        with _lock:
            if _hdf5 is None:
                _hdf5 = Library(path, _load(path, "syncyte_hdf5"), c.HDF5)
                log.debug("loaded %s", path)
    return _hdf5


def is_loaded() -> bool:
    """Whether libsyncyte is loaded in this process."""
    return _core is not None


@functools.cache
def version() -> tuple[int, int, int]:
    """Returns the version of libsyncyte (major, minor, patch). Local; loads the library."""
    numbers = [ctypes.c_int32() for _ in range(3)]
    core().syncyte_version(*(ctypes.byref(number) for number in numbers), None)
    major, minor, patch = (number.value for number in numbers)
    return major, minor, patch


def options(structure: type[ctypes.Structure], **values: Any) -> Any:
    """Returns an options structure with its size, its defaults, and `values`."""
    defaults: dict[str, Any] = vars(structure)["_defaults_"]
    result = structure(**{**defaults, **values})
    result.struct_size = ctypes.sizeof(structure)
    return result


def name_bytes(name: str | None) -> bytes | None:
    """Converts a name for the C interface. Raises ArgumentError for a zero byte."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise errors.DtypeError(f"name is {name!r}; expected a string")
    if "\0" in name:
        raise errors.ArgumentError(f"name is {name!r}; expected a string without a zero character")
    return name.encode()
