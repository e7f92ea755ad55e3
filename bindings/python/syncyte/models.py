# SPDX-License-Identifier: BSD-3-Clause
"""Models by name: one process publishes a module's tensors, others of the machine bind them without a copy.

It needs no MPI, and works before and after Syncyte is started.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any, NamedTuple, NoReturn

from . import _declarations as c
from . import _library, dtypes
from ._buffers import NUMPY, TORCH
from ._checks import as_int64, as_text, at_least, wrong
from ._devices import as_cuda_device
from ._handles import Handle
from ._model_memory import ModelMemory
from ._model_sources import named_buffers, place_of
from ._rendezvous import interruptible, rendezvous, seconds_or_default
from .errors import ArgumentError, Error, NotFoundError, OutOfRangeError

__all__ = ["Model", "PublishedModel", "SharedModels"]


def _encoded(name: str, argument: str) -> bytes:
    text = as_text(name, argument, "a string that is not empty, without a zero character")
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        raise wrong(ArgumentError, argument, repr(text), "a string without surrogates") from None


def _bytes(limit: int | None, argument: str) -> int:
    return 0 if limit is None else at_least(1, as_int64(limit, argument), argument)


def _place(device: Any) -> tuple[int, int]:
    """Memory and device of the library for a device of torch."""
    if device == "cpu":
        return int(c.Memory.HOST), -1
    chosen = as_cuda_device(device)
    return (int(c.Memory.HOST), -1) if chosen is None else (int(c.Memory.CUDA), chosen.index)


class PublishedModel(NamedTuple):
    """A model of SharedModels.describe()."""

    name: str
    bytes: int  #: of its memory
    groups: int  #: number of groups of tensors; 0: not known yet
    ready: int  #: number of groups that are there
    publisher: int  #: id of the process that has published it
    holders: tuple[int, ...]  #: ids of processes that have bound it, 32 at most; once for each binding
    device: str = ""  #: UUID of the CUDA device in whose memory it lies; empty for host memory

    @property
    def state(self) -> str:
        """Whether it is "ready", or "loading" while its bytes arrive."""
        return "ready" if 0 < self.groups == self.ready else "loading"


class SharedModels(Handle):
    """Models of this process, which it may serve to others.

    Parameters
    ----------
    budget : int, optional
        Most bytes of all models in host memory; by default as SYNCYTE_CACHE_MODEL_BYTES says. If a new model does not
        fit, models that nobody has bound are removed, the least recently used first.
    device_budget : int, optional
        The same for each CUDA device; by default as SYNCYTE_CACHE_DEVICE_MODEL_BYTES says.

    Notes
    -----
    Local. The models' names end with this object, or with its process. What is bound stays.
    """

    kind = "models"

    def __init__(self, budget: int | None = None, device_budget: int | None = None) -> None:
        options = _library.new_struct(c.ModelsOptions, budget=_bytes(budget, "budget"),
                                      device_budget=_bytes(device_budget, "device_budget"))  # fmt: skip
        self._own(_library.core().output("syncyte_models_create", options))
        self._bound: list[weakref.ref[Model]] = []

    @classmethod
    def connect(
        cls, *, name: str | None = None, folder: str | os.PathLike[str] | None = None, nonce: int = 0,
        timeout: float | None = None
    ) -> SharedModels:  # fmt: skip
        """Connects to the models that another process of this user serves; waits for it.

        Parameters
        ----------
        name, folder, nonce, timeout
            As of SharedCache.send(); the time limit is also that of later calls.

        Returns
        -------
        SharedModels
            The models.

        Raises
        ------
        WaitTimeoutError
            No process has served them within the time.
        ArgumentError
            Other users can open the folder, or the nonce differs from the server's.
        FileFormatError, VersionError
            The process at the socket serves no models, or is of another version.
        """
        place = rendezvous(name, folder, nonce, timeout)
        with interruptible():
            handle = _library.core().output("syncyte_models_connect", place)
        models = cls.__new__(cls)
        models._own(handle)
        models._bound = []
        return models

    def serve(
        self, *, name: str | None = None, folder: str | os.PathLike[str] | None = None, nonce: int = 0,
        timeout: float | None = None
    ) -> None:  # fmt: skip
        """Serves the models at a socket while this object lives; a thread answers, which sleeps while nobody asks.

        Parameters
        ----------
        name, folder, nonce, timeout
            As of SharedCache.send().

        Raises
        ------
        BusyError
            They are served already, or another process uses the name.
        ArgumentError
            The models are of another process, or as for SharedCache.send().
        """
        with interruptible():
            _library.core().syncyte_models_serve(self.handle, rendezvous(name, folder, nonce, timeout))

    def publish(self, name: str, source: Any, *, checksums: bool = False, device: Any = None) -> None:
        """Publishes a model: copies its tensors into memory of its own, which no process can change afterwards.

        Parameters
        ----------
        name : str
            Of the model, 1 to 255 bytes.
        source : module, mapping or path
            A torch module (its parameters and persistent buffers), a mapping of names to arrays, such as a
            state_dict, or a file: .safetensors, or one that torch.save() has written.
        checksums : bool
            Whether Model.verify() can compare the bytes with checksums.
        device : torch.device or str, optional
            Where the model lies: "cpu", "cuda" or "cuda:N"; by default where all of the source's tensors are.

        Raises
        ------
        BusyError
            The name is taken.
        OutOfMemoryError
            The budget without the models that are bound, the machine, or the device, has not enough memory.
        UnsupportedError
            There is no CUDA device, or it cannot share memory between processes.
        ArgumentError, DtypeError, ShapeError
            A name; a value of the mapping that is no array, or none that Syncyte has; a module that is not initialized.
        FileFormatError
            The file cannot be read as a model.
        WaitTimeoutError
            The server does not answer, or the model's pages are in use all the time and cannot be sealed.
        PeerDiedError
            The process that serves the models has ended.
        """
        publication = _Publication(self, name, source, checksums, device)
        try:
            with interruptible():
                publication.finish()
        finally:
            publication.free()

    def load(self, name: str, source: Any, *, checksums: bool = False, device: Any = None) -> Future[None]:
        """Publishes a model while its bytes arrive: a thread copies one group of tensors after another.

        Others can bind the model as soon as this call returns. Groups have at least 8 MiB, in the order of the source.

        Parameters
        ----------
        name, source, checksums, device
            As of publish(). The source's memory must stay as it is until the end.

        Returns
        -------
        concurrent.futures.Future
            Its result() waits for the end, and raises the error of the copy. Everyone who has bound the model gets it
            too.

        Raises
        ------
        BusyError, OutOfMemoryError, ArgumentError, DtypeError, PeerDiedError
            As publish().
        """
        publication = _Publication(self, name, source, checksums, device)
        with interruptible():
            publication.start()
        result: Future[None] = Future()
        result.set_running_or_notify_cancel()

        def run() -> None:
            try:
                publication.finish()
                self._settle(name)
            except BaseException as error:
                result.set_exception(error)
            else:
                result.set_result(None)
            finally:
                publication.free()

        threading.Thread(target=run, name=f"syncyte load {name}").start()
        return result

    def bind(self, name: str, module: Any = None, *, device: Any = None, copy: bool = False) -> Model:
        """Binds a model: maps its memory, or copies it to another device.

        Host memory is mapped copy-on-write. Memory of a device is mapped to be read, and parameters in it record no
        gradients; an operation that writes to it is an error of CUDA that ends the process's use of the device.

        Parameters
        ----------
        name : str
            Of the model.
        module : torch.nn.Module, optional
            Its parameters and persistent buffers become views of the model's memory; see Model.attach().
        device : torch.device or str, optional
            Where the tensors are used: "cpu", "cuda" or "cuda:N"; by default where the model lies. Elsewhere they are
            copied, group by group, as they are used.
        copy : bool
            Whether tensors on a device are a copy that this process may write, for training.

        Returns
        -------
        Model
            The model. Tensors keep its memory alive, also without this object.

        Raises
        ------
        NotFoundError
            There is no such model; names those that there are.
        ArgumentError
            The module has other tensors; it has not changed.
        PeerDiedError
            The process that serves the models has ended, or the one that published this model has ended before all was
            there.
        UnsupportedError
            The model lies on a device that this process does not see, and no other one is given.
        FileFormatError, VersionError
            The model's manifest is damaged, or of another version.
        """
        text = _encoded(name, "name")
        memory, number = _place(device) if device is not None else (c.MEMORY_OF_MODEL, -1)
        options = _library.new_struct(c.BindOptions, memory=memory, device=number, copy=int(copy))
        with interruptible():
            handle = _library.core().output("syncyte_models_bind", self.handle, text, options)
        model = Model._of(handle, name)
        self._bound.append(weakref.ref(model, self._bound.remove))
        if module is not None:
            model.attach(module)
        return model

    def _settle(self, name: str) -> None:
        """Lets bindings of a complete model see that it is, so that a forked child can use them."""
        for each in list(self._bound):
            if (model := each()) is not None and model.name == name:
                with contextlib.suppress(Error):  # of one that is freed
                    model.wait()

    def remove(self, name: str) -> None:
        """Removes a model that nobody has bound.

        Parameters
        ----------
        name : str
            Of the model.

        Raises
        ------
        NotFoundError
            There is no such model.
        BusyError
            It is bound, or loading.
        """
        with interruptible():
            text = _encoded(name, "name")
            _library.core().syncyte_models_remove(self.handle, text)

    def describe(self) -> list[PublishedModel]:
        """Lists the models, by name, with their sizes, states and holders.

        Returns
        -------
        list of PublishedModel
            Those of this moment.
        """
        found: list[PublishedModel] = []
        with contextlib.suppress(OutOfRangeError), interruptible():
            while True:
                each = _library.new_struct(c.Published)
                _library.core().syncyte_models_describe(self.handle, len(found), each)
                holders = tuple(each.processes[: min(each.holders, c.MOST_HOLDERS)])
                found.append(PublishedModel(os.fsdecode(each.name), each.bytes, each.groups, each.ready, each.publisher,
                                            holders, os.fsdecode(each.device)))  # fmt: skip
        return found

    def free(self) -> None:
        """Drops this object's reference. If this process serves the models, their names end; what is bound stays."""
        super().free()

    def __reduce__(self) -> NoReturn:
        raise TypeError("SharedModels belong to their process and cannot be pickled or copied; call serve() here and "
                        "SharedModels.connect() in the other process")  # fmt: skip

    def __copy__(self) -> NoReturn:
        self.__reduce__()

    def __repr__(self) -> str:
        return "<SharedModels, freed>" if self._is_freed else f"<SharedModels {self.handle:#x}>"


class Model(Handle):
    """A model that this process has bound, by SharedModels.bind().

    Its tensors may be written; only this process sees that. While this object, or a tensor of it, lives, the model is
    not removed. Indexing gives a tensor by its name: torch's, or numpy's if torch is not imported.
    """

    kind = "model"

    name: str  #: of the model
    groups: int  #: number of groups of tensors, which become ready one after another

    @classmethod
    def _of(cls, handle: int, name: str) -> Model:
        model = cls.__new__(cls)
        model._own(handle)
        model.name = name
        info = _library.new_struct(c.ModelInfo)
        _library.core().syncyte_model_describe(handle, info)
        model.groups = info.groups
        model._memory = ModelMemory(handle, info)
        model._loading = []
        return model

    _memory: ModelMemory
    _loading: list[weakref.ref[Any]]  # modules with tensors that may wait

    def keys(self) -> list[str]:
        """Names of the tensors, in the order of the source."""
        return list(self._memory.records)

    def __len__(self) -> int:
        return len(self._memory.records)

    def __iter__(self) -> Iterator[str]:
        return iter(self._memory.records)

    def __contains__(self, name: object) -> bool:
        return name in self._memory.records

    def __getitem__(self, name: str) -> Any:
        record = self._memory.records.get(name)
        if record is None:
            raise NotFoundError(f"the model {self.name!r} has no tensor {name!r}")
        self._wait(record.group, None)
        return self._memory.array(record, TORCH if dtypes.loaded_torch() is not None else NUMPY)

    def attach(self, module: Any) -> None:
        """Makes a module's parameters and persistent buffers views of the model's memory.

        The module gets new tensor objects, as by load_state_dict(assign=True): make an optimizer afterwards. Parameters
        keep requires_grad. A tensor whose group is not ready waits for it at its first use, and in a forward hook of
        its module before that. Uses that torch does not show to tensor subclasses cannot wait, and raise RuntimeError:
        call wait() before torch.tensor(parameter), torch.func, scripted functions, DLPack and assignments to .data.

        Parameters
        ----------
        module : torch.nn.Module
            With the model's names, element types and shapes, and tensors that share memory as the model's do; also one
            on the device "meta".

        Raises
        ------
        ArgumentError
            Names all differences; the module has not changed.
        """
        from ._model_modules import attach

        ready = self.ready()
        attach(module, self.name, self._memory, ready, self._wait)
        if ready < self.groups:
            self._loading.append(weakref.ref(module))

    def ready(self) -> int:
        """Number of groups that are there; does not wait. Raises the error of a publication that has failed."""
        info = _library.new_struct(c.ModelInfo)
        _library.core().syncyte_model_describe(self.handle, info)
        return info.ready

    def wait(self, group: int | None = None, timeout: float | None = None) -> None:
        """Waits for a group of tensors and those before it.

        Parameters
        ----------
        group : int, optional
            0 to groups - 1; None: all.
        timeout : float, optional
            Seconds; None: as long as another group becomes ready within SYNCYTE_CACHE_TIMEOUT, or the time limit of
            SharedModels.connect().

        Raises
        ------
        WaitTimeoutError
            It is not there within the time.
        PeerDiedError
            The publisher, or the process that serves the models, has ended.
        Error
            The one with which the publication has failed.
        """
        self._wait(-1 if group is None else at_least(0, as_int64(group, "group"), "group"), timeout)

    def _wait(self, group: int, timeout: float | None) -> None:
        with interruptible():
            _library.core().syncyte_model_wait(self.handle, group, seconds_or_default(timeout))
        if group not in (-1, self.groups - 1) or not self._loading:
            return
        from ._model_modules import settle

        with contextlib.suppress(IndexError):  # another thread may take the last one
            while self._loading:
                if (module := self._loading.pop()()) is not None:
                    settle(module, self._wait)

    def verify(self) -> None:
        """Compares the published bytes with the checksums that publish(checksums=True) has made; waits for all groups.

        Raises
        ------
        ChecksumError
            Names the tensor that differs.
        UnsupportedError
            The model was published without checksums.
        """
        with interruptible():
            _library.core().syncyte_model_verify(self.handle)

    def free(self) -> None:
        """Drops this object's reference; tensors keep the memory."""
        super().free()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Model belongs to its process and cannot be pickled or copied; the other process binds it too"
        )

    def __copy__(self) -> NoReturn:
        self.__reduce__()

    def __repr__(self) -> str:
        state = "freed" if self._is_freed else f"{len(self)} tensors"
        return f"<Model {self.name!r}, {state}>"


class _Publication(Handle):
    """A publication of all tensors of a source."""

    kind = "publication"

    def __init__(self, models: SharedModels, name: str, source: Any, checksums: bool, device: Any) -> None:
        text = _encoded(name, "name")
        self._buffers = named_buffers(source)  # keep the arrays until finish()
        memory, number = _place(device) if device is not None else place_of(self._buffers)
        options = _library.new_struct(c.PublicationOptions, checksums=int(checksums), memory=memory, device=number)
        core = _library.core()
        self._own(core.output("syncyte_publication_create", models.handle, text, options))
        for key, buffer in self._buffers.items():
            core.syncyte_publication_add(self.handle, _encoded(key, "key"), buffer.reference)

    def start(self) -> None:
        _library.core().syncyte_publication_start(self.handle)

    def finish(self) -> None:
        _library.core().syncyte_publication_finish(self.handle)
