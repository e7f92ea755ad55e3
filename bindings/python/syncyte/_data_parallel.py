"""Gradients averaged over ranks while backward still computes others."""

from __future__ import annotations

import contextlib
import typing
from collections.abc import Iterable, Iterator

import torch

from .comm import comm_or_world
from .errors import ArgumentError

if typing.TYPE_CHECKING:
    from ._requests import Request
    from .comm import Comm

_BUCKET_BYTES = 4 << 20


class _Bucket:
    """Gradients of some parameters of one dtype, one after another in one piece of memory."""

    def __init__(self, parameters: list[torch.Tensor]):
        self.parameters = parameters
        self.memory = torch.zeros(sum(p.numel() for p in parameters), dtype=parameters[0].dtype)
        self.missing = len(parameters)
        parts = self.memory.split([p.numel() for p in parameters])
        self.views = [part.view(p.shape) for part, p in zip(parts, parameters, strict=True)]

    def bytes(self) -> int:
        return self.memory.numel() * self.memory.element_size()


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

    Making one is collective, and so is each backward: all ranks run as many. Parameters are made equal first, those of
    rank 0. Gradients live in the buckets: ``zero_grad(set_to_none=False)`` spares a copy.
    """

    def __init__(self, module: torch.nn.Module | Iterable[torch.Tensor], comm: Comm | None = None, *,
                 bucket_bytes: int = _BUCKET_BYTES):
        """module: a module, or its parameters. bucket_bytes: how much travels at once; equal on all ranks."""
        if bucket_bytes < 1:
            raise ArgumentError(f"bucket_bytes is {bucket_bytes}; expected 1 or more")
        self._comm = comm_or_world(comm)
        given = list(module.parameters() if isinstance(module, torch.nn.Module) else module)
        parameters = [parameter for parameter in given if parameter.requires_grad]
        self._buckets = _buckets_of(parameters, bucket_bytes)
        self._place = {parameter: (bucket, view) for bucket in self._buckets
                       for parameter, view in zip(bucket.parameters, bucket.views, strict=True)}
        self._requests: list[Request] = []
        self._is_running = self._is_paused = False
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

    def _arrived(self, parameter: torch.Tensor) -> None:
        """A parameter's gradient is complete."""
        if self._is_paused:
            return
        if not self._is_running:
            self._is_running = True
            torch.autograd.Variable._execution_engine.queue_callback(self._finish)
        bucket, view = self._place[parameter]
        self._take(parameter, view)
        bucket.missing -= 1
        self._start_full()
        for request in self._requests:  # MPI makes progress only when it is asked
            request.test()

    @staticmethod
    def _take(parameter: torch.Tensor, view: torch.Tensor) -> None:
        """The gradient, wherever it is, into the bucket; it is that part of the bucket from then on."""
        if parameter.grad is None:
            view.zero_()
        elif parameter.grad.data_ptr() != view.data_ptr():
            view.copy_(parameter.grad)
        parameter.grad = view

    def _start_full(self) -> None:
        while len(self._requests) < len(self._buckets) and self._buckets[len(self._requests)].missing == 0:
            memory = self._buckets[len(self._requests)].memory
            self._requests.append(self._comm.iallreduce(memory, "sum", memory))

    def _finish(self) -> None:
        """At the end of backward: what it has not reached counts as zero."""
        try:
            for bucket in self._buckets[len(self._requests):]:
                if bucket.missing:
                    self._take_the_rest(bucket)
                    bucket.missing = 0
                self._start_full()
            for bucket, request in zip(self._buckets, self._requests, strict=True):
                request.wait()
                bucket.memory.div_(self._comm.size)
        finally:
            self._requests, self._is_running = [], False
            for bucket in self._buckets:
                bucket.missing = len(bucket.parameters)

    def _take_the_rest(self, bucket: _Bucket) -> None:
        for parameter, view in zip(bucket.parameters, bucket.views, strict=True):
            self._take(parameter, view)
