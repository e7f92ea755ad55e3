# SPDX-License-Identifier: BSD-3-Clause
"""Methods of whole tensors that have an optimizer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

from . import _declarations as c
from . import _library
from ._checks import as_float, wrong
from ._tensor_access import TensorAccess
from ._types import OptimizerName
from .errors import ArgumentError, DtypeError


class OptimizerMethods(TensorAccess):
    """The part of WholeTensor with the optimizer that updates rows where they live."""

    def set_optimizer(
        self,
        optimizer: OptimizerName,
        lr: float,
        *,
        momentum: float = 0.0,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float | None = None,
    ) -> Self:
        """Gives the tensor an optimizer for apply_gradients(), with a new state of zeros. Collective.

        Ranks must agree on the optimizer and on whether it has momentum. Other numbers are this rank's: they apply to
        the gradients that it gives.

        Parameters
        ----------
        optimizer : str
            "sgd" (torch.optim.SGD), "adagrad" (torch.optim.Adagrad) or "adam" (torch.optim.SparseAdam). Updates are
            lazy: values, momentum and moments of a row change only when it has a gradient.
        lr : float
            Learning rate, 0 or more.
        momentum : float
            SGD: 0 to less than 1.
        betas : pair of float
            Adam: decay of the means of gradients and of their squares.
        eps : float, optional
            AdaGrad and Adam: added to the divisor. None: torch's default, 1e-10 and 1e-8.

        Returns
        -------
        WholeTensor
            The tensor.

        Raises
        ------
        ArgumentError, DtypeError, OutOfMemoryError, MismatchError
            On all ranks: wrong arguments; not a floating-point tensor; too little memory; ranks differ.
        UnsupportedError
            On all ranks: the tensor is on devices that cannot change each other's memory atomically.
        """

        def prepare() -> tuple[int, float, Any]:
            names = [known.name.lower() for known in c.Optimizer]
            if not isinstance(optimizer, str) or optimizer not in names:
                raise wrong(ArgumentError, "optimizer", repr(optimizer), f"one of {', '.join(names)}")
            if not isinstance(betas, Sequence) or len(betas) != 2:
                raise wrong(ArgumentError, "betas", repr(betas), "two numbers")
            numbers = {"momentum": momentum, "beta1": betas[0], "beta2": betas[1], "eps": -1.0 if eps is None else eps}
            if eps is not None and _number(eps, "eps") < 0:
                raise wrong(ArgumentError, "eps", eps, "0 or more, or None")
            options = {name: _number(value, name) for name, value in numbers.items()}
            return c.Optimizer[optimizer.upper()], _number(lr, "lr"), _library.new_struct(c.OptimizerOptions, **options)

        arguments = self._comm._prepare("tensor_set_optimizer", prepare, always=True)
        _library.core().syncyte_tensor_set_optimizer(self.handle, *arguments)
        return self

    def set_learning_rate(self, lr: float) -> None:
        """Changes the learning rate of the gradients that this rank gives from now on. Local.

        Parameters
        ----------
        lr : float
            0 or more.

        Raises
        ------
        UnsupportedError
            Before set_optimizer().
        """
        _library.core().syncyte_tensor_set_learning_rate(self.handle, _number(lr, "lr"))

    def apply_gradients(self, index: Any, gradients: Any) -> Self:
        """Updates rows by the tensor's optimizer: gradients[i] belongs to tensor[index[i]]. Local.

        Gradients of a row that repeats are summed first; then each row is updated once. Calls of several ranks for the
        same row are separate updates, one after another. On return all are done; other ranks see them after sync().
        An Adam step's number is the number of calls of all ranks so far. A row that is written or added to meanwhile is
        undefined.

        Parameters
        ----------
        index : array of int32 or int64
            As of gather().
        gradients : array
            Contiguous, of the tensor's element type, of shape index.shape + a row's shape.

        Returns
        -------
        WholeTensor
            The tensor.

        Raises
        ------
        OutOfRangeError, DtypeError, ShapeError
            As of gather().
        PeerDiedError
            A process died while it changed one of the rows. On devices sync() may raise it.
        UnsupportedError
            Before set_optimizer(); a row of another node, where there is no UCX between them.
        """
        return self._run("apply_gradients", self._rows_to_write(index, gradients, "gradients"))

    def optimizer_state(self) -> Self | None:
        """Returns the optimizer's state, of shape (rows, slots, elements of a row), or None if it has none. Local.

        Slots: SGD's momentum; AdaGrad's sum of squares; Adam's means of gradients and of squares. The rows are
        partitioned as this tensor's. float64 for a float64 tensor, otherwise float32. Rows of fewer than 16 bytes may
        have further, unused slots.
        """
        return self._part_of_optimizer("state")

    def optimizer_steps(self) -> Self | None:
        """Returns Adam's number of steps, an int64 tensor of one element; None for other optimizers. Local."""
        return self._part_of_optimizer("steps")

    def _part_of_optimizer(self, part: str) -> Self | None:
        handle = _library.core().output(f"syncyte_tensor_optimizer_{part}", self.handle)
        return type(self).from_handle(handle, self._comm, self._array_kind) if handle else None


def _number(value: Any, name: str) -> float:
    try:
        number = as_float(value)
    except (TypeError, ValueError):
        raise wrong(DtypeError, name, repr(value), "a number") from None
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise wrong(ArgumentError, name, value, "a finite number")
    return number
