# SPDX-License-Identifier: BSD-3-Clause
"""The surrogate: a small residual convolutional network that predicts how the sea changes over the lead time."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

CHANNELS = 3  # surface elevation, eastward and northward momentum
STATIC_CHANNELS = 3  # wet mask, square root and logarithm of the depth at rest
SMALLEST_WAVE = 1e-3  # states with a smaller root mean square are divided by this instead


def static_channels(rest_depth: torch.Tensor) -> torch.Tensor:
    """The network's static input (3, ny, nx), computed from the depth at rest in metres (ny, nx)."""
    wet = (rest_depth > 0).to(torch.float32)
    deepest = rest_depth.max().clamp(min=1.0)
    root = torch.sqrt(rest_depth / deepest)
    logarithm = torch.log1p(rest_depth) / torch.log1p(deepest)
    return torch.stack([wet, root, logarithm])


class Residual(nn.Module):
    """x + activation(convolution(x))."""

    def __init__(self, width: int, dilation: int) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(width, width, 3, padding=dilation, dilation=dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + functional.silu(self.convolution(x))


class Surrogate(nn.Module):
    """Maps normalised states (batch, 3, ny, nx) to states one lead time later.

    Blocks of 2 x 2 cells become channels, which makes the convolutions four times cheaper and doubles their reach. Long
    waves are nearly linear: states are divided by their own root mean square and increments multiplied by it, so that
    the network learns about large waves from small ones too. The last layer starts at zero, so that the untrained
    network is persistence. Dry cells keep their values.
    """

    def __init__(self, rest_depth: torch.Tensor, width: int = 32, dilations: tuple[int, ...] = (1, 2, 4, 2, 1)) -> None:
        super().__init__()
        ny, nx = rest_depth.shape
        self.padding = (0, nx % 2, 0, ny % 2)
        static = functional.pad(static_channels(rest_depth), self.padding)
        self.register_buffer("static", static.unsqueeze(0), persistent=False)
        self.register_buffer("wet", (rest_depth > 0).to(torch.float32), persistent=False)
        self.enter = nn.Conv2d(4 * (CHANNELS + STATIC_CHANNELS), width, 3, padding=1)
        self.layers = nn.Sequential(*(Residual(width, dilation) for dilation in dilations))
        self.leave = nn.Conv2d(width, 4 * CHANNELS, 3, padding=1)
        nn.init.zeros_(self.leave.weight)
        nn.init.zeros_(self.leave.bias)

    def forward(self, state: torch.Tensor) -> torch.Tensor:
        ny, nx = state.shape[-2:]
        height = state.square().mean(dim=(1, 2, 3), keepdim=True).sqrt().clamp(min=SMALLEST_WAVE)
        padded = functional.pad(state / height, self.padding)
        static = self.static.expand(state.shape[0], -1, -1, -1)
        x = functional.pixel_unshuffle(torch.cat([padded, static], dim=1), 2)
        x = self.leave(self.layers(functional.silu(self.enter(x))))
        increment = functional.pixel_shuffle(x, 2)[..., :ny, :nx]
        return state + height * increment * self.wet
