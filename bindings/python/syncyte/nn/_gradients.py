"""Gradient clipping for parallel layers."""

from __future__ import annotations

import torch

from .._checks import wrong
from .._declarations import Op
from .._layouts import layouts_of
from ..errors import ArgumentError


def clip_grad_norm_(
    model: torch.nn.Module, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> torch.Tensor:
    """Clips the norm of all gradients of a model with parallel layers, as torch.nn.utils.clip_grad_norm_. Collective.

    All ranks of the layers call it. The norm is that of the whole gradient, equal on all ranks. torch's own function
    would use only this rank's parts, and whole parameters would diverge between ranks.

    Parameters
    ----------
    model : torch.nn.Module
        A model whose parallel layers all have the same communicator.
    max_norm : float
        Gradients are scaled down, in place, if their norm is larger.
    norm_type : float
        p of the p-norm; inf: the largest element.
    error_if_nonfinite : bool
        Whether a norm that is infinite or NaN raises RuntimeError, on all ranks.

    Returns
    -------
    torch.Tensor
        The norm before clipping.

    Raises
    ------
    ArgumentError, ValueError, TypeError
        On all ranks: layers of several communicators; a wrong norm_type or max_norm.
    """
    layouts = layouts_of(model)
    comms = list(dict.fromkeys(layout.comm for layout in layouts.values()))
    if not comms:
        return torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm, norm_type, error_if_nonfinite)
    if len(comms) > 1:
        raise wrong(ArgumentError, "model", f"of layers of {len(comms)} communicators", "one communicator")
    comm = comms[0]

    def check() -> tuple[float, float]:
        power, most = float(norm_type), float(max_norm)
        if not power > 0:
            raise wrong(ArgumentError, "norm_type", norm_type, "more than 0, or inf")
        if not most >= 0:
            raise wrong(ArgumentError, "max_norm", max_norm, "0 or more")
        return power, most

    power, most = comm._prepare("clip_grad_norm_", check)
    gradients = [(p.grad.detach(), id(p) in layouts) for p in model.parameters() if p.grad is not None]
    # Rank 0 counts the gradients of replicated parameters.
    counted = [gradient for gradient, is_part in gradients if is_part or comm.rank == 0]
    norms = torch.tensor([torch.linalg.vector_norm(each.double(), power) for each in counted] or [0.0]).double()
    if power == float("inf"):
        norm = torch.ops.syncyte.allreduce(norms.max(), comm.handle, int(Op.MAX))
    else:
        norm = torch.ops.syncyte.allreduce((norms**power).sum(), comm.handle).pow(1 / power)
    if error_if_nonfinite and not norm.isfinite():
        raise RuntimeError(
            f"the norm of the gradients is {norm.item()}; expected a finite one, or error_if_nonfinite=False"
        )
    scale = (most / (norm + 1e-6)).clamp(max=1.0)
    for gradient, _ in gradients:
        gradient.mul_(scale.to(gradient.dtype))
    return norm
