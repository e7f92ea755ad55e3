"""Gradients of a whole tensor; _torch_gradients computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

from . import dtypes
from ._buffers import TORCH
from ._handles import Handle

if TYPE_CHECKING:
    from .tensor import WholeTensor


class Gradients(Handle):
    """Methods of WholeTensor for gradients."""

    _cache: dict[tuple[str, str], Any]

    def _whole(self) -> WholeTensor:
        return cast("WholeTensor", self)

    def _records_gradients(self) -> bool:
        """Whether reads go through torch: gradients are recorded, or torch.compile traces them."""
        local = self._cache.get(("local", TORCH))
        if local is not None and local.requires_grad and dtypes.import_torch().is_grad_enabled():
            return True
        return dtypes.is_compiling()

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Makes reads differentiable. Collective: allocates the companion tensor.

        t[key], gather and get_box then record gradients with respect to local, and return torch tensors, except within
        torch.no_grad().

        Parameters
        ----------
        requires_grad : bool
            False: stops recording.

        Returns
        -------
        WholeTensor
            The tensor.

        Raises
        ------
        UnsupportedError
            Without PyTorch.
        """
        _differentiable().requires_grad_(self._whole(), requires_grad)
        return self

    def sync_grad(self) -> None:
        """Waits for all ranks' backward passes, and adds their gradients of this rank's rows to local.grad. Collective.

        Gradients of a skipped step are included, unless zero_grad() has dropped them.

        Raises
        ------
        UnsupportedError
            Before requires_grad_().
        """
        _differentiable().sync_grad(self._whole())

    def zero_grad(self) -> None:
        """Waits for all ranks' backward passes, drops their gradients, and sets local.grad to None. Collective.

        An optimizer's or a module's zero_grad() clears only local.grad: the companion tensor keeps gradients that
        sync_grad() has not added yet, and the next sync_grad() adds them. Call this one if a step is skipped between
        backward() and sync_grad().

        Raises
        ------
        UnsupportedError
            Before requires_grad_().
        """
        _differentiable().zero_grad(self._whole())


def _differentiable() -> Any:
    """Returns the module that computes gradients. Raises UnsupportedError without PyTorch."""
    dtypes.import_torch()
    from . import _torch_gradients

    return _torch_gradients
