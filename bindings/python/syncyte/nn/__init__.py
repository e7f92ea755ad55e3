# SPDX-License-Identifier: BSD-3-Clause
"""PyTorch layers whose parameters are cut over the ranks of a communicator, and state dictionaries of their models.

Importing this module imports torch; it does not initialize MPI. Every rank computes its part of a model. Results, and
the gradients of each part, equal the dense model's. See docs/parallel-layers.md. WholeEmbedding's table is read and
trained one-sided; see docs/whole-embedding.md.
"""

from __future__ import annotations

from .._layouts import mark_sharded
from . import functional
from ._convert import convert
from ._layers import ParallelCrossEntropy, ParallelEmbedding, ParallelLinear, clip_grad_norm_
from ._state import collect_state_dict, relocate_state_dict
from ._table_optimizer import TableOptimizer
from ._whole_embedding import WholeEmbedding

__all__ = [
    "ParallelCrossEntropy",
    "ParallelEmbedding",
    "ParallelLinear",
    "TableOptimizer",
    "WholeEmbedding",
    "clip_grad_norm_",
    "collect_state_dict",
    "convert",
    "functional",
    "mark_sharded",
    "relocate_state_dict",
]
