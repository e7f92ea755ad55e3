# SPDX-License-Identifier: BSD-3-Clause
"""Checks of derivatives of functions that all ranks compute together.

torch's own gradcheck perturbs the inputs of all ranks at once, and takes different numbers of steps if shapes differ:
it reports errors for correct adjoints, and hangs. Here one scalar is differentiated, with random cotangents c_r:

    L(x) = sum over ranks r of Re <f(x)_r, c_r>.

Each element of each input of each rank is perturbed in turn, by its owner alone, while all ranks evaluate f. The
central differences of L are compared with the gradients of backward for those cotangents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from mpi4py import MPI

Function = Callable[..., "torch.Tensor | Sequence[torch.Tensor]"]
Move = tuple[int, int, int, complex]  # input, rank that owns it, element, direction


def _outputs(function: Function, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    result = function(*inputs)
    return [result] if isinstance(result, torch.Tensor) else list(result)


def _cotangents(outputs: Sequence[torch.Tensor], comm: MPI.Comm, seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(1000 * seed + comm.rank)
    return [torch.randn(out.shape, dtype=out.dtype, generator=generator) for out in outputs]


def _pairing(outputs: Sequence[torch.Tensor], cotangents: Sequence[torch.Tensor]) -> float:
    """This rank's part of L."""
    return sum(float((out.detach().conj() * cot).real.sum()) for out, cot in zip(outputs, cotangents, strict=True))


def _directions(dtype: torch.dtype) -> list[complex]:
    return [1.0, 1.0j] if dtype.is_complex else [1.0]


def _differences(
    function: Function,
    inputs: list[torch.Tensor],
    moves: list[Move],
    cotangents: Sequence[torch.Tensor],
    comm: MPI.Comm,
    step: float,
) -> list[float]:
    """The central difference of L for each move, the same numbers on all ranks, which add their parts only once."""
    parts = np.zeros((len(moves), 2))
    for part, (which, owner, element, direction) in zip(parts, moves, strict=True):
        for side, sign in enumerate((1.0, -1.0)):
            moved = [x.detach().clone() for x in inputs]
            if comm.rank == owner:
                change = sign * step * direction
                moved[which].view(-1)[element] += change if moved[which].is_complex() else change.real
            with torch.no_grad():
                part[side] = _pairing(_outputs(function, moved), cotangents)
    values = comm.allreduce(parts)
    return ((values[:, 0] - values[:, 1]) / (2.0 * step)).tolist()


def distributed_gradcheck(
    function: Function,
    inputs: Sequence[torch.Tensor],
    comm: MPI.Comm = MPI.COMM_WORLD,
    *,
    step: float = 1e-6,
    tolerance: float = 1e-6,
    seed: int = 0,
) -> None:
    """Raises AssertionError, on all ranks, if backward and central differences differ.

    function: collective; maps this rank's tensors to one or several tensors, as a pure function of all ranks' inputs.
    inputs: float64 or complex128, contiguous; shapes may differ between ranks and may be empty, their number may not.
    """
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    outputs = _outputs(function, inputs)
    cotangents = _cotangents(outputs, comm, seed)
    gradients = torch.autograd.grad(outputs, inputs, cotangents, allow_unused=True)
    lengths = comm.allgather([x.numel() for x in inputs])
    moves = [
        (which, owner, element, direction)
        for which, x in enumerate(inputs)
        for owner in range(comm.size)
        for element in range(lengths[owner][which])
        for direction in _directions(x.dtype)
    ]
    problems: list[str] = []
    differences = _differences(function, inputs, moves, cotangents, comm, step)
    for (which, owner, element, direction), expected in zip(moves, differences, strict=True):
        if comm.rank != owner:
            continue
        gradient = gradients[which]
        entry = 0.0 if gradient is None else gradient.reshape(-1)[element].item()
        actual = entry.imag if direction == 1.0j else complex(entry).real
        if abs(actual - expected) > tolerance * max(1.0, abs(expected)):
            problems.append(
                f"rank {owner}, input {which}, element {element}, direction {direction}: backward "
                f"gives {actual}, differences {expected}"
            )
    everyone = [problem for part in comm.allgather(problems) for problem in part]
    assert not everyone, "\n".join(everyone[:10])


def distributed_gradgradcheck(
    function: Function,
    inputs: Sequence[torch.Tensor],
    comm: MPI.Comm = MPI.COMM_WORLD,
    *,
    step: float = 1e-6,
    tolerance: float = 1e-5,
    seed: int = 0,
) -> None:
    """Calls distributed_gradcheck() for the function from inputs and cotangents to gradients."""
    inputs = [x.detach().clone() for x in inputs]
    count = len(inputs)
    cotangents = _cotangents(_outputs(function, inputs), comm, seed + 1)

    def gradient(*arguments: torch.Tensor) -> list[torch.Tensor]:
        with torch.enable_grad():
            xs = [x if x.requires_grad else x.detach().requires_grad_() for x in arguments[:count]]
            grads = torch.autograd.grad(
                _outputs(function, xs), xs, arguments[count:], create_graph=True, allow_unused=True
            )
        return [torch.zeros_like(x) if g is None else g for g, x in zip(grads, xs, strict=True)]

    distributed_gradcheck(gradient, [*inputs, *cotangents], comm, step=step, tolerance=tolerance, seed=seed)
