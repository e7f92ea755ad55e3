"""An explicit order of communications: what syncyte.torch offers of it."""

from __future__ import annotations

import dataclasses
import typing

import torch

from ._torch_requests import Request
from .errors import UnsupportedError

Joined = typing.TypeVar("Joined", torch.Tensor, Request)


class ordered:
    """A scope in which communications follow each other in the graph too, in the order in which they are called.

    For example::

        with syncyte.torch.ordered() as order:
            syncyte.torch.send(x, dest=1)        # its result is not used
            y = syncyte.torch.bcast(z, root=0)
            loss = order.join(f(x))

    Within it every operation of this thread (collectives, messages, what is started and waited for, halos; also through
    torch.ops and TorchScript) depends on the one before, and a joined tensor on the last one. So backward of the joined
    tensor runs all their backward passes, in exactly the reverse order, whether or not their results are used; no
    :func:`join_dummies` is needed. Values and gradients are those of the program without the scope.

    What has no backward pass (inputs that need no gradient, torch.no_grad()) takes no part; a receive always does.
    Scopes within scopes are one with the outermost. A graph that backward has been through is let go: what follows does
    not depend on it, so that a scope may go on for many steps. What is differentiated separately needs scopes of its
    own, or backward before the next one begins.

    With is_grads_batched=True the order is lost (an operation whose result a rank does not use is then not run there):
    differentiate one gradient at a time.

    Not inside torch.compile (UnsupportedError), where operations keep their order anyway but are left out if nobody
    uses their results in what is differentiated. A compiled function that is called within a scope is put in order by
    joining its input and its result: ``y = order.join(compiled(order.join(x)))``.
    """

    def __enter__(self) -> ordered:
        if torch.compiler.is_compiling():
            raise UnsupportedError("syncyte.torch.ordered() does not work inside torch.compile: open the scope outside "
                                   "of the compiled function, and join its input and result")
        torch.ops.syncyte.enter_order()
        return self

    def __exit__(self, *_: object) -> None:
        torch.ops.syncyte.leave_order()

    def join(self, value: Joined) -> Joined:
        """``value``, which depends on all operations of the scope so far; operations that follow depend on it. Local.

        Parameters
        ----------
        value : torch.Tensor or Request
            A floating-point or complex tensor, or a request.

        Returns
        -------
        torch.Tensor or Request
            It requires gradients if an operation before does.
        """
        if isinstance(value, Request):
            return dataclasses.replace(value, ticket=self.join(value.ticket))
        if torch.compiler.is_compiling():
            raise UnsupportedError("ordered().join() does not work inside torch.compile: join the compiled function's "
                                   "input and result")
        return torch.ops.syncyte.join_order(value)
