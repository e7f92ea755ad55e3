"""Gradients averaged over ranks while backward still computes others."""

from __future__ import annotations

import contextlib
import hashlib
import typing
from collections.abc import Iterable, Iterator

import torch

from .comm import comm_or_world
from .errors import ArgumentError, DtypeError, Error, UnsupportedError

if typing.TYPE_CHECKING:
    from ._requests import Request
    from .comm import Comm

_BUCKET_BYTES = 4 << 20


class _Bucket:
    """Gradients of some parameters of one dtype, one after another in one piece of memory."""

    def __init__(self, parameters: list[torch.Tensor]):
        self.parameters = parameters
        self.memory = torch.zeros(sum(p.numel() for p in parameters), dtype=parameters[0].dtype)
        parts = self.memory.split([p.numel() for p in parameters])
        self.views = [part.view(p.shape) for part, p in zip(parts, parameters, strict=True)]
        self.waits_for = set(parameters)

    def take(self, parameter: torch.Tensor, view: torch.Tensor) -> None:
        """The gradient, wherever it is, into the bucket; it is that part of the bucket from then on."""
        if parameter.grad is None:
            view.zero_()
        elif parameter.grad.requires_grad:
            raise UnsupportedError("DataParallel: backward(create_graph=True) is not supported")
        elif parameter.grad.data_ptr() != view.data_ptr():
            view.copy_(parameter.grad)
        parameter.grad = view
        self.waits_for.discard(parameter)

    def take_the_rest(self) -> None:
        for parameter, view in zip(self.parameters, self.views, strict=True):
            if parameter in self.waits_for:
                self.take(parameter, view)


def _buckets_of(parameters: list[torch.Tensor], bucket_bytes: int) -> list[_Bucket]:
    """In the order in which backward comes to the parameters: from the last to the first."""
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


def _mistake_in(parameters: list[torch.Tensor], bucket_bytes: int) -> Exception | None:
    if bucket_bytes < 1:
        return ArgumentError(f"bucket_bytes is {bucket_bytes}; expected 1 or more")
    for parameter in parameters:
        if parameter.device.type != "cpu" or parameter.layout != torch.strided:
            return UnsupportedError(f"a parameter is {parameter.layout} on {parameter.device}; expected dense ones on the "
                                    "CPU")
        if not (parameter.is_floating_point() or parameter.is_complex()):
            return DtypeError(f"a parameter is {parameter.dtype}; expected a floating-point or complex one")
    return None


def _digest_of(parameters: list[torch.Tensor]) -> int:
    """A fact that tells parameters apart by shapes and dtypes, in their order."""
    text = repr([(tuple(parameter.shape), parameter.dtype) for parameter in parameters])
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "little")


class DataParallel:
    """Averages the gradients of a module that every rank has, each of which sees data of its own.

    ::

        averager = syncyte.torch.DataParallel(model)
        for x, y in batches:
            optimizer.zero_grad()
            loss(model(x), y).backward()  # model's gradients are the means over the ranks when this returns
            optimizer.step()

    Gradients travel in buckets: each is started as soon as backward has filled it, in the same order on all ranks, while
    backward goes on; backward returns when all have come. A parameter that a rank's backward does not reach counts as
    zero there. Within :meth:`no_sync` gradients are summed locally, and averaged by the next backward outside.

    Making one is collective, and so is each backward: all ranks run as many, and where one's reaches no parameter at all
    it calls :meth:`average`. If one rank's backward fails, the others' raise when that rank's next one begins. Parameters
    are made equal first, those of rank 0. Collectives of the model itself are not disturbed.

    Gradients live in the buckets, and are overwritten by the next backward: clone what you keep. With
    ``zero_grad(set_to_none=False)`` a copy is spared.
    """

    def __init__(self, module: torch.nn.Module | Iterable[torch.Tensor], comm: Comm | None = None, *,
                 bucket_bytes: int = _BUCKET_BYTES):
        """module: a module, or its parameters: dense, on the CPU. bucket_bytes: how much travels at once. Parameters and
        bucket_bytes must be alike on all ranks."""
        group = comm_or_world(comm)
        given = module.parameters() if isinstance(module, torch.nn.Module) else module
        parameters = [parameter for parameter in dict.fromkeys(given) if parameter.requires_grad]
        group.agree(_mistake_in(parameters, bucket_bytes), "DataParallel", parameters=len(parameters),
                    shapes_and_dtypes=_digest_of(parameters), bucket_bytes=int(bucket_bytes))
        self._comm = group.dup(name="data parallel")
        self._buckets = _buckets_of(parameters, bucket_bytes)
        self._place = {parameter: (bucket, view) for bucket in self._buckets
                       for parameter, view in zip(bucket.parameters, bucket.views, strict=True)}
        self._requests: list[Request] = []
        self._pass: int | None = None  # autograd's number of the backward that is averaged
        self._is_paused = False
        self._broadcast()
        self._hooks = [parameter.register_post_accumulate_grad_hook(self._arrived) for parameter in parameters]

    def _broadcast(self) -> None:
        with torch.no_grad():
            for bucket in self._buckets:
                for view, parameter in zip(bucket.views, bucket.parameters, strict=True):
                    view.copy_(parameter)
                self._comm.bcast(bucket.memory, 0)
                for view, parameter in zip(bucket.views, bucket.parameters, strict=True):
                    parameter.copy_(view)
                bucket.memory.zero_()

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within, backward averages nothing."""
        before, self._is_paused = self._is_paused, True
        try:
            yield
        finally:
            self._is_paused = before

    def remove(self) -> None:
        """Lets go of the parameters. Local."""
        for hook in self._hooks:
            hook.remove()

    @torch.no_grad()
    def average(self) -> None:
        """Averages what there is: for a rank whose backward reaches no parameter while the others' do. Collective."""
        first: Exception | None = None
        try:
            for bucket in self._buckets[len(self._requests):]:
                bucket.take_the_rest()
                self._start_full()
        except Exception as error:
            first = error
        first = self._end() or first
        if first is not None:
            raise first

    @torch.no_grad()
    def _arrived(self, parameter: torch.Tensor) -> None:
        """A parameter's gradient is complete."""
        if self._is_paused:
            return
        self._begin(torch._C._current_graph_task_id())
        bucket, view = self._place[parameter]
        if self._buckets.index(bucket) < len(self._requests):
            raise UnsupportedError("DataParallel: a parameter got a second gradient in one backward, after its bucket "
                                   "had been started; expected one, or larger buckets")
        bucket.take(parameter, view)
        self._start_full()
        for request in self._requests:  # MPI makes progress only when it is asked
            request.test()

    def _begin(self, number: int) -> None:
        if self._pass == number:
            return
        if self._pass is not None:
            self._give_up()
        self._pass = number
        torch.autograd.Variable._execution_engine.queue_callback(self.average)

    def _give_up(self) -> None:
        """The last backward has failed on this rank: the other ranks are told, who may have started more."""
        for _ in self._buckets[len(self._requests):]:
            self._comm._refuse_start("comm_iallreduce", Error("the backward of rank "
                                                              f"{self._comm.rank} has failed before its end"))
        self._end()

    def _start_full(self) -> None:
        while len(self._requests) < len(self._buckets) and not self._buckets[len(self._requests)].waits_for:
            memory = self._buckets[len(self._requests)].memory
            memory.div_(self._comm.size)
            self._requests.append(self._comm.iallreduce(memory, "sum", memory))

    def _end(self) -> Exception | None:
        """Waits for all that was started; the first error."""
        first: Exception | None = None
        for request in self._requests:
            try:
                request.wait()
            except Exception as error:
                first = first or error
        self._requests, self._pass = [], None
        for bucket in self._buckets:
            bucket.waits_for = set(bucket.parameters)
        return first
