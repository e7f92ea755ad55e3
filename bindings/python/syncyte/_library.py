# SPDX-License-Identifier: BSD-3-Clause
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
from collections.abc import Sequence
from typing import Any

from . import _declarations as c
from . import _interrupts, errors
from ._checks import as_text, checked_members

log = logging.getLogger("syncyte")

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"
_MPI_ADVICE = (
    "It was built for an MPI library that is not here: load that MPI's module or install its package, or build Syncyte "
    "for the MPI of your mpicc (pip install . from a clone)"
)
_SONAME = f"{_SUFFIX}.{c.ABI_VERSION}"


def _location() -> Any:
    """Returns the module that the build has written for this build tree or installation; None without one.

    That of a wheel for several MPIs looks for the MPI library, and raises LibraryError if there is none.
    """
    try:
        return importlib.import_module("._location", __package__)
    except ModuleNotFoundError:
        return None


def _from_location(folder: str) -> str:
    # pip keeps _location.py of an editable package elsewhere than its other modules.
    return os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(_location().__file__)), folder))


def _built_folders() -> list[str]:
    """Returns the library folders of the build tree or installation."""
    return [_from_location(folder) for folder in getattr(_location(), "LIBRARY_FOLDERS", ())]


def prefix() -> str | None:
    """Returns the folder of the installation that has lib and include; None in a build tree."""
    folder = getattr(_location(), "PREFIX", None)
    return None if folder is None else _from_location(folder)


def find(name: str, more_folders: Sequence[str] = ()) -> str:
    """Returns the path of a library, for example ``find("syncyte_torch")``. `more_folders` are searched first.

    The result is a bare file name if the loader must search it.

    Raises LibraryError if the environment names a file that does not exist.
    """
    if name != "syncyte":
        core()  # loaded first: otherwise the library would load another copy where it was built beside one
    variable = name.upper() + "_LIBRARY"
    chosen = os.environ.get(variable)
    if chosen:
        if not os.path.exists(chosen):
            raise errors.LibraryError(f"{variable} is {chosen!r}: there is no such file")
        return os.path.abspath(chosen)  # a name without a folder would be searched in the loader's path
    folders = [*more_folders, _PACKAGE, *_built_folders()]
    if name != "syncyte":
        folders.append(os.path.dirname(os.path.realpath(core().path)))
    for folder in folders:
        for suffix in (_SONAME, _SUFFIX):  # a wheel has a text for the linker under the second name
            path = os.path.join(folder, f"lib{name}{suffix}")
            if os.path.exists(path):
                return path
    return f"lib{name}{_SONAME}"


def _load(name: str, functions: dict[str, c.Function]) -> Library:
    path = find(name)
    try:
        library = ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL)
    except OSError as error:
        folders, variable = _built_folders(), f"{name.upper()}_LIBRARY"
        if "libmpi" in str(error):
            advice = _MPI_ADVICE
        elif os.path.isabs(path):
            advice = f"Set {variable} to a file that can be loaded"
        elif folders:
            advice = f"It is not in {_PACKAGE}, {', '.join(folders)} or the loader's path: build it, or set {variable}"
        else:
            advice = (
                f"The package in {_PACKAGE} belongs to no build or installation: use that of a build tree "
                f"(PYTHONPATH=build/python) or of an installation, or set {variable} to the file"
            )
        raise errors.LibraryError(f"cannot load lib{name}: {error}. {advice}") from error
    check_version(path, library, name)
    log.debug("loaded %s", path)
    return Library(path, library, functions)


def check_version(path: str, library: ctypes.CDLL, name: str) -> None:
    """Raises LibraryError unless a loaded library is of this package's version, as its function NAME_version says."""
    try:
        function = getattr(library, f"{name}_version")
    except AttributeError:
        raise errors.LibraryError(f"{path} is not lib{name}: it has no function {name}_version") from None
    numbers = [ctypes.c_int32(-1) for _ in range(4)]
    status = function(*map(ctypes.byref, numbers))
    if status != c.Status.SUCCESS:
        raise errors.LibraryError(f"{path}: {name}_version returned status {status}")
    major, minor, patch, abi = (number.value for number in numbers)
    if abi != c.ABI_VERSION or major != c.VERSION_MAJOR or minor < c.VERSION_MINOR:
        raise errors.LibraryError(
            f"{path} is Syncyte {major}.{minor}.{patch} (ABI {abi}), but this Python package, in {_PACKAGE}, is "
            f"{c.VERSION_MAJOR}.{c.VERSION_MINOR}.{c.VERSION_PATCH} (ABI {c.ABI_VERSION}): install both from the same "
            f"version, or set {name.upper()}_LIBRARY to the right file"
        )


class Library:
    """A loaded library. Its functions are attributes, bound at first use; they raise exceptions."""

    def __init__(self, path: str, library: ctypes.CDLL, functions: dict[str, c.Function]):
        self.path = path
        self._library = library
        self._functions = functions
        self._unchecked: dict[str, Any] = {}
        self._scalars: dict[str, tuple[Any, type]] = {}  # functions of one output, a scalar, and its type

    def __getattr__(self, name: str) -> Any:
        function = self._bound(name)
        if function.restype is ctypes.c_int32 and name != "syncyte_error_set_fields":  # which returns fields.status
            function.errcheck = raise_if_failed
        setattr(self, name, function)
        return function

    def output(self, name: str, *arguments: Any) -> Any:
        """Calls a function without its last parameters, which are outputs; returns their values.

        One output is returned as it is, several as a tuple; structures remain ctypes.Structure.
        """
        if name in self._scalars:  # the shortest way, for counters
            function, kind = self._scalars[name]
            output = kind()
            function(*arguments, output)
            return output.value
        function = getattr(self, name)
        outputs = [_new_output(pointer._type_) for pointer in function.argtypes[len(arguments) :]]
        function(*arguments, *outputs)
        values = [output if isinstance(output, ctypes.Structure) else output.value for output in outputs]
        if len(values) > 1:
            return tuple(values)
        if not isinstance(outputs[0], ctypes.Structure):
            self._scalars[name] = function, type(outputs[0])
        return values[0]

    def unchecked(self, name: str) -> Any:
        """Returns the function itself, which returns its status: for finalizers, which cannot raise."""
        if name not in self._unchecked:
            self._unchecked[name] = self._bound(name)
        return self._unchecked[name]

    def _bound(self, name: str) -> Any:
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


def raise_if_failed(status: int, *_function_and_arguments: Any) -> int:
    """Raises the exception of a C call's status; the handler's of a signal that has ended the call."""
    if status != 0:
        if status == c.Status.ERR_INTERRUPTED:
            _interrupts.raise_again()
        raise last_error(status)
    return status


def last_error(status: int) -> errors.Error:
    """The exception of this thread's last failed C call."""
    message = core().syncyte_last_error()
    return errors.from_status(status, message.decode("utf-8", "replace"), last_fields())


def last_fields() -> errors.ErrorFields:
    """Returns the fields of the C library's last error in this thread."""
    fields = new_struct(c.ErrorFields)
    if core().unchecked("syncyte_last_error_fields")(fields) != 0:
        return errors.ErrorFields()
    values: list[Any] = [getattr(fields, name) for name in errors.ErrorFields._fields if name != "agreed_rank"]
    texts = [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values]
    return errors.ErrorFields._make([*texts, core().output("syncyte_last_error_agreed")])


def set_error(error: BaseException) -> int:
    """Makes an exception the C library's last error in this thread, with its fields; returns its status."""
    status, known = errors.status_of(error), errors.ErrorFields()
    if isinstance(error, errors.Error):
        known = error.fields._replace(operation="")  # the message has it, or the agreement adds it
    texts = {name: v.encode("utf-8", "replace") for name, v in known._asdict().items() if isinstance(v, str)}
    reason = str(error).encode("utf-8", "replace")
    fields = new_struct(c.ErrorFields, status=status, reason=reason, axis=known.axis, ndim=known.ndim, **texts)
    core().syncyte_error_set_fields(fields)
    return status


def _new_output(kind: type) -> Any:
    return new_struct(kind) if issubclass(kind, ctypes.Structure) else kind()


_core: Library | None = None


def core() -> Library:
    """Returns libsyncyte. Raises LibraryError (an ImportError) if it is missing or of another version."""
    global _core
    if _core is None:
        _core = _load("syncyte", c.CORE)
    return _core


@functools.cache
def hdf5() -> Library:
    """Returns libsyncyte_hdf5; loads it at the first use of a checkpoint."""
    return _load("syncyte_hdf5", c.HDF5)


def call_refused(function: str, *arguments: Any) -> None:
    """Calls a C function with an argument that it refuses, so that all ranks in it get an error; ignores it here.

    For calls without a communicator on which to agree (Comm._prepare): the start, the making of a communicator, and
    halo exchanges, which tell the neighbours only. The caller raises its own error afterwards.
    """
    core().unchecked(function)(*arguments)


def mpi_version() -> str | None:
    """Returns what the MPI library that libsyncyte has loaded says of itself; None if it is hidden in libsyncyte."""
    text, length = ctypes.create_string_buffer(8192), ctypes.c_int()  # MPICH's MPI_MAX_LIBRARY_VERSION_STRING
    try:
        core()._library.MPI_Get_library_version(text, ctypes.byref(length))
    except AttributeError:
        return None
    return text.value.decode("utf-8", "replace")


def is_loaded() -> bool:
    """Whether libsyncyte is loaded in this process."""
    return _core is not None


def new_struct(structure: type[ctypes.Structure], **values: Any) -> Any:
    """Returns a structure of options or for outputs, with its size, its defaults, and `values`.

    Raises DtypeError or ArgumentError for a value that an integer member cannot hold; it names the member.
    """
    given = checked_members(structure, values)
    return structure(**{**vars(structure)["_defaults_"], **given, "struct_size": ctypes.sizeof(structure)})


def name_bytes(name: str | None, argument: str = "name") -> bytes | None:
    """Converts a name for the C interface. Raises ArgumentError for a zero byte."""
    if name is None:
        return None
    return as_text(name, argument, "a string without a zero character", may_be_empty=True).encode()
