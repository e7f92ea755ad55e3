# SPDX-License-Identifier: BSD-3-Clause
"""The network's parameters, the optimizer's state and the normalisation in one HDF5 file."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

import syncyte
from syncyte import checkpoint

from .dataset import Normalisation
from .training import Trainer

MODEL, OPTIMIZER, DEVIATION = "model.", "optimizer.", "normalisation.deviation"


def parameters(model: nn.Module) -> np.ndarray:
    """All parameters in one array."""
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()]).numpy()


def save_checkpoint(path: str, trainer: Trainer, normalisation: Normalisation, learners: syncyte.Comm) -> None:
    """Saves model, optimizer and normalisation. Collective over the learners, whose copies are equal."""
    entries = {MODEL + name: value.detach().contiguous() for name, value in trainer.model.state_dict().items()}
    for name, parameter in trainer.model.named_parameters():
        for key, value in trainer.optimizer.state[parameter].items():
            entries[f"{OPTIMIZER}{name}.{key}"] = value.contiguous()
    entries[DEVIATION] = normalisation.deviation
    checkpoint.save(path, entries, comm=learners, step=trainer.progress.step)


def load_checkpoint(path: str, model: nn.Module, learners: syncyte.Comm) -> Normalisation:
    """Fills the model, and returns the normalisation. Collective over any number of learners."""
    state = {
        name: torch.empty_like(value, memory_format=torch.contiguous_format)
        for name, value in model.state_dict().items()
    }
    deviation = torch.empty(3)
    targets = {MODEL + name: value for name, value in state.items()}
    checkpoint.load(path, {**targets, DEVIATION: deviation}, comm=learners)
    model.load_state_dict(state)
    return Normalisation(deviation)
