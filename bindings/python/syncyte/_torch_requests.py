"""Differentiable operations under way."""

from __future__ import annotations

import abc
import dataclasses
import typing
from collections.abc import Iterable, Sequence

import torch

from ._requests import as_requests
from .errors import DtypeError


@dataclasses.dataclass(frozen=True)
class Request(abc.ABC):
    """An operation under way. It owns the memory that MPI reads or writes.

    A request is waited for once; a second time raises RuntimeError. One that is dropped without a wait is completed
    later, with a warning in the log.
    """

    ticket: torch.Tensor  #: a float64 scalar; its place in the graph is the request's: see :func:`join_dummies`
    comm: int

    @abc.abstractmethod
    def wait(self) -> torch.Tensor:
        """Waits for the end, and returns the result."""

    def test(self) -> bool:
        """Whether wait() would return at once. Not in compiled functions."""
        return torch.ops.syncyte.test_message(self.ticket)


def _neither(value: object, name: str) -> DtypeError:
    return DtypeError(f"{name} is a {type(value).__name__}; expected a torch.Tensor or a request")


def wait_all(requests: Iterable[Request]) -> list[torch.Tensor]:
    """Waits for all requests.

    Parameters
    ----------
    requests : iterable of Request
        Of this module.

    Returns
    -------
    list of torch.Tensor
        Their results, in their order.

    Raises
    ------
    Exception
        The first error, after all have ended.
    """
    results: list[torch.Tensor] = []
    first: Exception | None = None
    for request in as_requests(requests, Request):
        try:
            results.append(request.wait())
        except Exception as error:
            first = first or error
    if first is not None:
        raise first
    return results


Joined = typing.TypeVar("Joined", torch.Tensor, Request)


def join_dummies(value: Joined, dummies: Sequence[torch.Tensor | Request]) -> Joined:
    """``value``, which autograd takes to depend on ``dummies`` too; local.

    Backward runs what comes out of the dummies' operations after what comes after ``value``; the dummies get zeros.

    Parameters
    ----------
    value : torch.Tensor or Request
        A request stands for its ticket.
    dummies : sequence of torch.Tensor or Request
        On what it depends.

    Returns
    -------
    torch.Tensor or Request
        ``value`` itself if no dummy requires gradients.

    Raises
    ------
    DtypeError
        One is no tensor and no request.
    """
    if not isinstance(value, (torch.Tensor, Request)):
        raise _neither(value, "value")
    if not isinstance(dummies, (list, tuple)):
        raise DtypeError(f"dummies is {dummies!r}; expected a list of tensors or requests")
    for place, dummy in enumerate(dummies):
        if not isinstance(dummy, (torch.Tensor, Request)):
            raise _neither(dummy, f"dummies[{place}]")
    tickets = [dummy.ticket if isinstance(dummy, Request) else dummy for dummy in dummies]
    if isinstance(value, Request):
        return dataclasses.replace(value, ticket=torch.ops.syncyte.join_dummies(value.ticket, tickets))
    return torch.ops.syncyte.join_dummies(value, tickets)
