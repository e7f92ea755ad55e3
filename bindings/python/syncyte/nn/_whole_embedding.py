# SPDX-License-Identifier: BSD-3-Clause
"""An embedding whose table is a whole tensor, updated by an optimizer at the rows' owners."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Self

import torch

from .._checks import check_kind, wrong
from .._layouts import check_range, table_extents, write_range
from .._parts import Part
from .._torch_operators import operators
from .._torch_refusals import refuse
from .._types import OptimizerName
from ..comm import COMM_WORLD, Comm, comm_or_world
from ..errors import DtypeError, ShapeError
from ..tensor import WholeTensor

_numbers = itertools.count(1)
_DRAWN = 1 << 22  # elements that are drawn at a time


class WholeEmbedding(torch.nn.Module):
    """torch.nn.Embedding with a table over the memory of all ranks, each row of which is at one rank.

    forward() is local: it reads the rows of any ranks. backward() is local too: it sends the gradients of the rows that
    were read to their owners, where the optimizer updates them at once, unless a TableOptimizer is attached to the
    layer. There is no gradient tensor of the table's size and no step(): the layer's only Parameter has no elements,
    and a torch optimizer of a model does not touch the table. requires_grad_(False), of the layer or of its model,
    freezes the table on this rank. Ranks may call the layer different numbers of times.

    When updates are visible: backward() returns when its updates are done. Rows that this rank reads then contain them.
    All ranks see all of them after the collective sync(). Without it other ranks may read rows before, after or (a row
    of several numbers) during an update.

    Each backward() through one call of forward() is one step: rows that repeat in it are updated once, by the sum of
    their gradients, as torch's sparse gradients are. Two calls of forward(), and two ranks, are two steps, of which
    the second starts from the result of the first. Optimizers are lazy: momentum and moments of a row change only when
    it has a gradient. The index is on the table's device.

    A table on devices is updated by kernels that torch's current stream queues, in the same way; see "Whole tensors on
    GPUs" in the documentation.

    Works inside torch.compile(fullgraph=True). backward() cannot be differentiated.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Extents of the table.
    padding_idx : int, optional
        Row that is not updated; zeros at first. A negative number counts from the end.
    optimizer : str, optional
        "sgd", "adagrad", "adam" (see WholeTensor.set_optimizer()); None: the table has no gradient.
    lr : float
        Learning rate.
    momentum, betas, eps
        See WholeTensor.set_optimizer().
    dtype : torch.dtype
        Element type, a floating-point one.
    comm : Comm
        The table's ranks.
    local_rows : int, optional
        Number of this rank's rows, on all ranks; None: equal parts.
    device : torch.device or str, optional
        "cuda" or "cuda:N": the rows lie in the memory of CUDA devices, see WholeTensor.

    The constructor is collective. Values are drawn from the normal distribution, as torch.nn.Embedding's are; they
    follow from rank 0's random state and the partition.
    """

    table: WholeTensor  #: the rows; ``table.local`` are this rank's
    table_optimizer: Any = None  #: the TableOptimizer that is attached

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        *,
        optimizer: OptimizerName | None = "sgd",
        lr: float = 0.01,
        momentum: float = 0.0,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float | None = None,
        dtype: torch.dtype = torch.float32,
        comm: Comm = COMM_WORLD,
        local_rows: int | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        comm = comm_or_world(comm)

        def check() -> tuple[int, int]:
            if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
                raise wrong(DtypeError, "dtype", repr(dtype), "a floating-point torch.dtype")
            return table_extents(num_embeddings, embedding_dim, padding_idx)

        shape = comm._prepare("WholeEmbedding", check, always=True)
        table = WholeTensor(shape, dtype, comm=comm, local_rows=local_rows, name="WholeEmbedding", device=device)
        self._take(table, padding_idx)
        self.reset_parameters()
        if optimizer is not None:
            self.set_optimizer(optimizer, lr, momentum=momentum, betas=betas, eps=eps)

    def _take(self, table: WholeTensor, padding_idx: int | None) -> None:
        torch.nn.Module.__init__(self)
        self.table = table
        number = next(_numbers) if table.comm.rank == 0 else 0
        # That of rank 0: equal on all ranks.
        self._number = int(table.comm.allreduce(torch.tensor(number, device="cpu"), "max"))
        self.num_embeddings, self.embedding_dim = table.shape
        self.padding_idx = None if padding_idx is None else padding_idx % table.shape[0]
        self.optimizer: str | None = None
        # It stands for the table in autograd graphs, with the shape and type of rows, and gets no gradient. It is a
        # parameter, without elements, so that a model's requires_grad_() freezes the table.
        anchor = torch.empty(0, self.embedding_dim, dtype=table.torch_dtype, device=table.device)
        self._anchor = torch.nn.Parameter(anchor)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: torch.Tensor | WholeTensor,
        padding_idx: int | None = None,
        *,
        optimizer: OptimizerName | None = None,
        lr: float = 0.01,
        comm: Comm = COMM_WORLD,
        **options: Any,
    ) -> Self:
        """Makes a layer of known values. Collective.

        Parameters
        ----------
        embeddings : torch.Tensor or WholeTensor
            A tensor that all ranks have, of which each copies its rows; or a whole tensor of 2 dimensions, which
            becomes the table itself.
        padding_idx, optimizer, lr, comm, **options
            As of the constructor; local_rows and device are for a tensor that all ranks have. The default is a table
            without gradient, as torch's freeze=True.

        Returns
        -------
        WholeEmbedding
            The layer.

        Raises
        ------
        ShapeError, DtypeError, ArgumentError, MismatchError
            On all ranks, as the constructor; also if `embeddings` has not 2 dimensions.
        """
        comm = embeddings.comm if isinstance(embeddings, WholeTensor) else comm_or_world(comm)
        local_rows, device = options.pop("local_rows", None), options.pop("device", None)

        def check() -> None:
            check_kind(embeddings, (torch.Tensor, WholeTensor), "embeddings", "a torch.Tensor or a syncyte.WholeTensor")
            if embeddings.ndim != 2:
                raise wrong(ShapeError, "embeddings", f"of {embeddings.ndim} dimensions", "2")
            table_extents(embeddings.shape[0], embeddings.shape[1], padding_idx)

        comm._prepare("WholeEmbedding", check, always=True)
        layer = cls.__new__(cls)
        if isinstance(embeddings, WholeTensor):
            table = embeddings
        else:
            shape, name = tuple(embeddings.shape), "WholeEmbedding"
            table = WholeTensor(shape, embeddings.dtype, comm=comm, local_rows=local_rows, name=name, device=device)
            own = table.rows()
            table.local[:] = embeddings.detach()[own.start : own.stop]
        layer._take(table, padding_idx)
        layer.sync()
        if optimizer is not None:
            layer.set_optimizer(optimizer, lr, **options)
        return layer

    def reset_parameters(self) -> None:
        """Draws new values and clears the row of padding_idx. Collective."""
        seed = torch.randint(2**62, (1,), device="cpu")
        self.table.comm.bcast(seed)
        generator = torch.Generator().manual_seed(int(seed) + self.table.comm.rank)
        for rows in self.table.local.split(max(1, _DRAWN // max(1, self.embedding_dim))):
            # Drawn on the CPU, so that values do not depend on the device.
            rows.copy_(torch.empty(rows.shape, dtype=rows.dtype, device="cpu").normal_(generator=generator))
        if self.padding_idx is not None and self.padding_idx in self.table.rows():
            self.table.local[self.padding_idx - self.table.rows().start] = 0
        self.sync()

    def set_optimizer(self, optimizer: OptimizerName, lr: float, **options: Any) -> None:
        """Begins to train with another optimizer, whose state is new. Collective.

        Parameters
        ----------
        optimizer : str
            "sgd", "adagrad" or "adam".
        lr : float
            Learning rate, 0 or more.
        options
            Other arguments of WholeTensor.set_optimizer().
        """
        self.table.set_optimizer(optimizer, lr, **options)
        self.optimizer = optimizer
        self.requires_grad_()

    def set_learning_rate(self, lr: float) -> None:
        """Changes the learning rate of this rank's gradients from now on. Local.

        Parameters
        ----------
        lr : float
            0 or more.
        """
        self.table.set_learning_rate(lr)

    def sync(self) -> None:
        """After it, all ranks see all updates that were done before it. Collective."""
        self.table.sync()

    def forward(self, index: torch.Tensor) -> torch.Tensor:
        """Reads rows: result[i] = table[index[i]]. Local.

        Parameters
        ----------
        index : torch.Tensor of int32 or int64
            Row numbers, on the table's device, of any shape.

        Returns
        -------
        torch.Tensor
            The rows, of shape index.shape + (embedding_dim,).

        Raises
        ------
        IndexError
            A row that does not exist; names index and position. On devices the next sync() may raise it.
        """
        padding = -1 if self.padding_idx is None else self.padding_idx
        keep = self.table_optimizer is not None
        anchor = self._anchor if keep or self.optimizer is not None else self._anchor.detach()
        try:
            return operators.embedding(anchor, self.table.handle, index, padding, keep)
        except Exception as error:
            refuse(error, index, "index")
            raise

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        """Does nothing: the table keeps its element type and its memory when a model is converted."""
        return self

    def extra_repr(self) -> str:
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}, optimizer={self.optimizer}"

    # State dictionaries hold this rank's rows, and the state of their optimizer.

    def _parts(self) -> dict[str, torch.Tensor]:
        parts = {"weight": self.table.local.detach()}
        state = None if self.optimizer is None else self.table.optimizer_state()
        if state is not None:
            parts["optimizer_state"] = state.local
        return parts

    def _steps(self) -> WholeTensor | None:
        return None if self.optimizer is None else self.table.optimizer_steps()

    def _state(self) -> dict[str, torch.Tensor]:
        steps = self._steps()
        return self._parts() | ({} if steps is None else {"optimizer_steps": torch.tensor(steps.load(0), device="cpu")})

    def _part(self, rows: torch.Tensor) -> Part:
        own = self.table.rows()
        shape = (len(self.table), *rows.shape[1:])
        return Part(0, own.start, own.stop, shape, self.table.comm.rank, self.table.comm.size)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        metadata = getattr(destination, "_metadata", {}).get(prefix[:-1], {})
        for name, rows in self._parts().items():
            write_range(metadata, name, rows, self._part(rows))
        for name, value in self._state().items():
            destination[prefix + name] = value

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Copies this rank's rows; sync() then shows them to all ranks."""
        parts, steps = self._parts(), self._steps()
        known = [*parts, *(["optimizer_steps"] if steps is not None else [])]
        given = {name: state_dict[prefix + name] for name in known if prefix + name in state_dict}
        missing_keys += [prefix + name for name in known if name not in given]
        ours = {prefix + name for name in known}
        unexpected_keys += [key for key in state_dict if strict and key.startswith(prefix) and key not in ours]
        for name, part in parts.items():
            value = given.get(name)
            if value is None:
                continue
            if not check_range(prefix + name, name, value, local_metadata, self._part(part), error_msgs):
                continue
            if value.shape == part.shape:
                part.copy_(value)
            else:
                error_msgs.append(f"size mismatch for {prefix + name}: {tuple(value.shape)} in the state, "
                                  f"{tuple(part.shape)} are this rank's rows")  # fmt: skip
        if steps is not None and "optimizer_steps" in given:
            steps.store(0, int(given["optimizer_steps"]))
