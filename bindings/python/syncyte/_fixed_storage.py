# SPDX-License-Identifier: BSD-3-Clause
"""torch storages over Syncyte's memory, which torch must not move.

To share a tensor with another process, torch moves its storage to new shared memory: every tensor over it would
silently leave the memory that other ranks read and write. Storages of Syncyte's memory raise an error instead.
"""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any, NoReturn

import torch

from .errors import UnsupportedError


class FixedStorage(torch.UntypedStorage):
    """A storage whose memory cannot move. It can be copied and saved as any other."""

    uses: int  # calls of fix() minus calls of release()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise UnsupportedError(
            "this tensor lies in Syncyte's memory, which other ranks use (a whole tensor's local or node, a reducer's "
            "bucket): torch shares a tensor with another process (share_memory_(), a multiprocessing queue, a "
            "DataLoader with spawn or forkserver) by moving it to new memory, where no rank would see its writes. "
            "Share tensor.clone(), or fork the workers (multiprocessing_context='fork'), which see the rows in place"
        )

    share_memory_ = _share_fd_cpu_ = _share_filename_cpu_ = _refuse

    def clone(self) -> torch.UntypedStorage:
        return torch.UntypedStorage(self.nbytes()).copy_(self)


ForkingPickler.register(FixedStorage, FixedStorage._refuse)


def fix(tensor: torch.Tensor) -> torch.Tensor:
    """Fixes the tensor's storage, for all tensors over it, and returns the tensor.

    A storage that is already shared does not move and is left alone.
    """
    storage: Any = tensor.untyped_storage()
    kind = type(storage)
    if kind is torch.UntypedStorage and not storage.is_shared():
        storage.__class__ = kind = FixedStorage  # torch keeps this object as long as the storage lives
        storage.uses = 0
    if kind is FixedStorage:
        storage.uses += 1
    return tensor


def release(tensor: torch.Tensor) -> None:
    """Undoes one fix(), when Syncyte no longer uses the memory."""
    storage: Any = tensor.untyped_storage()
    kind = type(storage)
    if kind is FixedStorage:
        storage.uses -= 1
        if storage.uses == 0:
            storage.__class__ = torch.UntypedStorage
