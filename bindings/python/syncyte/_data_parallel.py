# SPDX-License-Identifier: BSD-3-Clause
"""Data parallelism: averages gradients over ranks, overlapped with the backward pass."""

from __future__ import annotations

import contextlib
import hashlib
import weakref
from collections.abc import Iterable, Iterator

import torch
from torch.autograd.profiler import record_function
from torch.utils.weak import TensorWeakRef, WeakIdKeyDictionary

from ._checks import check_kind, wrong
from ._layouts import layouts_of
from ._reducer import Reducer
from ._torch_collectives import bcast
from ._torch_refusals import check_tensor
from .comm import COMM_WORLD, Comm, comm_or_world
from .errors import ArgumentError, DtypeError, MismatchError, UnsupportedError

_averagers: WeakIdKeyDictionary = WeakIdKeyDictionary()  # by parameter, weak references to averagers


class _Bucket:
    """Gradients of parameters of one dtype, stored contiguously in a bucket of a reducer.

    References to the parameters are weak, because the parameters' hooks keep the averager alive.
    """

    def __init__(self, parameters: list[torch.Tensor]):
        self._parameters = [TensorWeakRef(parameter) for parameter in parameters]
        self.dtype = parameters[0].dtype
        self.elements = sum(parameter.numel() for parameter in parameters)
        self.is_started = False

    def use_memory(self, memory: torch.Tensor) -> None:
        """Makes the gradients views of the reducer's memory of this bucket."""
        self.memory = memory
        parameters = [parameter() for parameter in self._parameters]
        parts = memory.split([p.numel() for p in parameters])
        self.views = [part.as_strided(p.shape, _strides_for(p)) for part, p in zip(parts, parameters, strict=True)]
        self.start_round()

    def start_round(self) -> None:
        """Waits for the gradients of all living parameters anew."""
        self.waits_for = {id(parameter) for parameter, _ in self.living()}
        self.is_started = False

    def living(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yields parameters that are still alive, and their parts of the bucket."""
        for reference, view in zip(self._parameters, self.views, strict=True):
            parameter = reference()
            if parameter is not None:
                yield parameter, view

    def store_gradient(self, parameter: torch.Tensor, view: torch.Tensor) -> None:
        """Moves a parameter's gradient into the bucket; `.grad` is then a view of the bucket.

        A parameter that has no gradient and was frozen meanwhile gets no view.
        """
        gradient = parameter.grad
        if gradient is None:
            view.zero_()
        elif gradient.layout != torch.strided:
            raise UnsupportedError(
                f"DataParallel: a gradient is {gradient.layout}; expected a dense one, such as that of "
                "an Embedding with sparse=False"
            )
        elif gradient.requires_grad:
            raise UnsupportedError("DataParallel: backward(create_graph=True) is not supported")
        elif gradient.data_ptr() != view.data_ptr():
            view.copy_(gradient)
        if gradient is not None or parameter.requires_grad:
            parameter.grad = view
        self.waits_for.discard(id(parameter))

    def move_gradients_out(self) -> None:
        """Moves gradients out of the bucket, into memory of their own."""
        for parameter, view in self.living():
            gradient = parameter.grad
            if gradient is not None and gradient.layout == torch.strided and gradient.data_ptr() == view.data_ptr():
                parameter.grad = gradient.clone()

    def store_missing_gradients(self) -> None:
        for parameter, view in self.living():
            if id(parameter) in self.waits_for:
                self.store_gradient(parameter, view)


def _strides_for(parameter: torch.Tensor) -> tuple[int, ...]:
    """Strides of the gradients that autograd makes: dense, with the dimensions in the parameter's order."""
    return torch.empty_like(parameter, device="meta").stride()


def _buckets_of(parameters: list[torch.Tensor], bucket_bytes: int) -> list[_Bucket]:
    """Makes buckets in the order in which backward reaches the parameters: from the last to the first."""
    buckets: list[_Bucket] = []
    run: list[torch.Tensor] = []
    filled = 0
    for parameter in reversed(parameters):
        size = parameter.numel() * parameter.element_size()
        if run and (parameter.dtype != run[0].dtype or filled + size > bucket_bytes):
            buckets.append(_Bucket(run))
            run, filled = [], 0
        run.append(parameter)
        filled += size
    if run:
        buckets.append(_Bucket(run))
    return buckets


def _checked_parameters(
    module: torch.nn.Module | Iterable[torch.Tensor], comm: Comm, bucket_bytes: int
) -> list[torch.Tensor]:
    """Checks the constructor's arguments; returns the parameters that require gradients, each once."""
    parameters = _parameters_of(module, comm)
    if not isinstance(bucket_bytes, int) or bucket_bytes < 1:
        raise wrong(ArgumentError, "bucket_bytes", repr(bucket_bytes), "a whole number, 1 or more")
    if not parameters:
        raise ArgumentError("no parameter requires a gradient; expected one or more that do")
    if any(averager._has_more_than(parameters) for averager in _averagers_of(parameters)):
        raise ArgumentError(
            "another DataParallel averages some of these parameters and others too; pass all of its "
            "parameters, or call its remove() first"
        )
    for parameter in parameters:
        if parameter.device.type != "cpu" or parameter.layout != torch.strided:
            raise UnsupportedError(
                f"a parameter is {parameter.layout} on {parameter.device}; expected dense ones on the CPU"
            )
        if not (parameter.is_floating_point() or parameter.is_complex()):
            raise DtypeError(f"a parameter is {parameter.dtype}; expected a floating-point or complex one")
    return parameters


def _averagers_of(parameters: list[torch.Tensor]) -> list[DataParallel]:
    """Returns the distinct DataParallel objects that average any of these parameters."""
    found = (_averagers[parameter]() for parameter in parameters if parameter in _averagers)
    return list(dict.fromkeys(averager for averager in found if averager is not None))


def _parameters_of(module: torch.nn.Module | Iterable[torch.Tensor], comm: Comm) -> list[torch.Tensor]:
    check_kind(module, (torch.nn.Module, Iterable), "module", "a torch.nn.Module, or parameters")
    given = list(module.parameters() if isinstance(module, torch.nn.Module) else module)
    for parameter in given:
        check_tensor(parameter, "a parameter")
    # The mean of different parts makes no sense.
    if isinstance(module, torch.nn.Module) and any(layout.comm == comm for layout in layouts_of(module).values()):
        raise ArgumentError(
            f"module has parameters that are cut over the ranks of {comm._title()}; expected a "
            "communicator of ranks that have the same parts (comm.split)"
        )
    # A WholeEmbedding has a parameter without elements.
    return [parameter for parameter in dict.fromkeys(given) if parameter.requires_grad and parameter.numel() > 0]


def _state_of(module: torch.nn.Module | Iterable[torch.Tensor], parameters: list[torch.Tensor]) -> list[torch.Tensor]:
    """Returns a module's frozen parameters and buffers on the CPU, which are made equal too."""
    if not isinstance(module, torch.nn.Module):
        return []
    learnt = set(parameters)
    return [
        tensor
        for tensor in dict.fromkeys([*module.parameters(), *module.buffers()])
        if tensor not in learnt
        and tensor.numel() > 0
        and tensor.device.type == "cpu"
        and tensor.layout == torch.strided
    ]


def _digest_of(parameters: list[torch.Tensor]) -> int:
    """Checksum of shapes, dtypes and strides of the parameters, a fact for the agreement."""
    text = repr([(tuple(parameter.shape), parameter.dtype, _strides_for(parameter)) for parameter in parameters])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "little")


class DataParallel:
    """Averages the gradients of a module over ranks, which each train it on data of their own.

    ::

        averager = syncyte.torch.DataParallel(model)
        for x, y in batches:
            optimizer.zero_grad()
            loss(model(x), y).backward()  # model's gradients are the means over the ranks when this returns
            optimizer.step()

    Gradients lie in buckets, in memory that the ranks of a node share. Backward starts each bucket as soon as it has
    filled it; ranks add up the buckets that all of them have started while backward goes on. Backward returns when all
    buckets are averaged, bitwise equal on all ranks. A parameter that a rank's backward does not reach counts as zero
    there. Within :meth:`no_sync` gradients are summed locally, and the next backward outside averages them.

    Constructing it is collective, and so is each backward: all ranks run equally many. A rank whose backward reaches no
    parameter at all calls :meth:`average` instead. If one rank's backward fails, the other ranks' backward raises
    MismatchError, and gradients are undefined: zero them. A failure before backward reaches a parameter is not
    detected: call :meth:`give_up`. Construction copies a module's parameters and buffers on the CPU from rank 0 to all
    ranks. Buffers that change later, such as the running means of BatchNorm, are not synchronized. Collectives of the
    model itself are independent.

    The averager lives as long as the parameters, or until :meth:`remove`; it need not be kept in a variable. A new
    DataParallel of the same parameters, or of these and more, replaces the old one (a notebook cell may run again); a
    DataParallel of only some of these is refused.

    Activation checkpointing works with ``use_reentrant=False``. A backward pass within another one, as with
    ``use_reentrant=True``, raises UnsupportedError here and MismatchError on the other ranks: run it within
    :meth:`no_sync`, and call :meth:`average` after it.

    Gradients are views of the buckets, and the next backward overwrites them: clone a gradient to keep it.
    ``zero_grad(set_to_none=False)`` avoids a copy.
    """

    def __init__(
        self, module: torch.nn.Module | Iterable[torch.Tensor], comm: Comm = COMM_WORLD, *, bucket_bytes: int = 4 << 20
    ):
        """Makes an averager. Collective: parameters, their strides, and bucket_bytes must be equal on all ranks.

        Parameters
        ----------
        module : torch.nn.Module or iterable of torch.Tensor
            A module, or its parameters: dense, on the CPU.
        comm : Comm
            The ranks that train the module.
        bucket_bytes : int
            Size of a bucket.

        Raises
        ------
        DtypeError
            On all ranks: not a module; a parameter that is not a tensor, or not floating-point.
        ArgumentError
            On all ranks: no parameter requires a gradient; another DataParallel has some of these parameters and
            others; a parameter is cut over these ranks; bucket_bytes is not 1 or more.
        UnsupportedError
            On all ranks: a parameter that is sparse or not on the CPU.
        MismatchError
            On all ranks: ranks differ.
        """
        group = comm_or_world(comm)
        parameters = group._prepare(
            "DataParallel", lambda: _checked_parameters(module, group, bucket_bytes), always=True
        )
        state = _state_of(module, parameters)
        # The agreement's message names the first parameters that differ.
        sizes = {f"size of parameter {place}": parameter.numel() for place, parameter in enumerate(parameters[:24])}
        group.agree(
            None,
            "DataParallel",
            parameters=len(parameters),
            **sizes,
            shapes_and_dtypes=_digest_of(parameters),
            buffers_and_frozen=_digest_of(state),
            bucket_bytes=bucket_bytes,
        )
        self._comm = group
        self._buckets = _buckets_of(parameters, bucket_bytes)
        self._reducer = Reducer(
            [(bucket.dtype, bucket.elements) for bucket in self._buckets], group, scale=1 / group.size
        )
        for number, bucket in enumerate(self._buckets):
            bucket.use_memory(self._reducer.bucket(number))
        self._place = {
            id(parameter): (number, view)
            for number, bucket in enumerate(self._buckets)
            for parameter, view in bucket.living()
        }
        self._pass: int | None = None  # autograd's number of the backward pass in progress
        self._is_given_up = False
        self._is_paused = False
        self._broadcast(state)
        for before in _averagers_of(parameters):  # removed last: if construction fails, they still average
            before.remove()
        self._hooks = [parameter.register_post_accumulate_grad_hook(self._arrived) for parameter in parameters]
        _averagers.update(dict.fromkeys(parameters, weakref.ref(self)))

    def _broadcast(self, state: list[torch.Tensor]) -> None:
        with torch.no_grad():
            for tensor in state:
                tensor.copy_(bcast(tensor, 0, self._comm))
            for bucket in self._buckets:
                for parameter, view in bucket.living():
                    view.copy_(parameter)
                self._comm.bcast(bucket.memory, 0)
                for parameter, view in bucket.living():
                    parameter.copy_(view)
                bucket.memory.zero_()

    def __repr__(self) -> str:
        elements = sum(bucket.elements for bucket in self._buckets)
        removed = "" if self in _averagers_of(self._living()) else ", removed"
        return (
            f"<syncyte.torch.DataParallel of {len(self._place)} parameters, {elements} elements, in "
            f"{len(self._buckets)} buckets, over {self._comm!r}{removed}>"
        )

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Context manager within which backward does not average."""
        before, self._is_paused = self._is_paused, True
        try:
            yield
        finally:
            self._is_paused = before

    def remove(self) -> None:
        """Stops averaging, and moves gradients out of the buckets. Local."""
        for hook in self._hooks:
            hook.remove()
        for parameter in self._living():
            if parameter in _averagers and _averagers[parameter]() is self:
                del _averagers[parameter]

    def _living(self) -> list[torch.Tensor]:
        return [parameter for bucket in self._buckets for parameter, _ in bucket.living()]

    def _has_more_than(self, parameters: list[torch.Tensor]) -> bool:
        """Whether it also averages parameters that are not given. Local."""
        given = set(map(id, parameters))
        return any(parameter.requires_grad and id(parameter) not in given for parameter in self._living())

    @torch.no_grad()
    def average(self) -> None:
        """Averages the gradients now: for a rank whose backward reaches no parameter. Collective with backward."""
        self._settle()
        try:
            for number, bucket in enumerate(self._buckets):
                if not bucket.is_started:
                    bucket.store_missing_gradients()
                    self._start(number)
        except BaseException:
            self.give_up()
            raise
        self._wait()

    @torch.no_grad()
    def give_up(self) -> None:
        """Gives up this backward pass: the other ranks get an error. Local, does not wait.

        Call it if this rank's loss cannot be computed, or if its backward failed before it reached a parameter (later
        failures are detected).
        """
        if self._is_given_up:
            return
        try:
            for bucket in self._buckets:
                bucket.move_gradients_out()  # the reducer owns the memory until the round has ended
        finally:  # also after an exception: the others must not wait for this rank
            self._reducer.give_up()
            self._is_given_up = True
            self._pass = None

    @torch.no_grad()
    def _arrived(self, parameter: torch.Tensor) -> None:
        """Hook: autograd has completed a parameter's gradient."""
        if self._is_paused:
            return
        self._begin(torch._C._current_graph_task_id())
        number, view = self._place[id(parameter)]
        bucket = self._buckets[number]
        if bucket.is_started:
            raise UnsupportedError(
                "DataParallel: a parameter got a second gradient in one backward, after its bucket "
                "had been started; expected one, or larger buckets"
            )
        bucket.store_gradient(parameter, view)
        if bucket.waits_for:
            self._reducer.progress()
        else:
            self._start(number)

    def _begin(self, number: int) -> None:
        if self._pass == number:
            return
        self._settle()
        self._pass = number
        torch.autograd.Variable._execution_engine.queue_callback(_Pass(self))

    def _start(self, number: int) -> None:
        self._buckets[number].is_started = True
        with record_function("syncyte::data_parallel_start"):
            self._reducer.start(number)

    def _settle(self) -> None:
        """Ends the round that this rank has given up, so that it can use the buckets again."""
        if self._is_given_up:
            self._is_given_up = False
            with contextlib.suppress(MismatchError):
                self._wait()

    def _wait(self) -> None:
        self._pass = None
        try:
            with record_function("syncyte::data_parallel_wait"):
                self._reducer.wait()
        finally:
            for bucket in self._buckets:
                bucket.start_round()


class _Pass:
    """Callback at the end of a backward pass. If autograd drops it without a call, the pass has failed."""

    def __init__(self, averager: DataParallel):
        self._averager = averager
        self._is_over = False

    def __call__(self) -> None:
        self._is_over = True
        # Nested passes are refused: their number may differ between ranks, and rounds would not match.
        if torch._C._current_autograd_node() is not None:
            self._averager.give_up()
            raise UnsupportedError(
                "DataParallel: this is a backward pass within another one (torch.utils.checkpoint "
                "with use_reentrant=True?); expected one that is not (use_reentrant=False), or backward "
                "within no_sync(), and average() after it"
            )
        self._averager.average()

    def __del__(self) -> None:
        if not self._is_over:
            self._averager.give_up()
