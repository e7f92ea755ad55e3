# SPDX-License-Identifier: BSD-3-Clause
"""A torch optimizer of WholeEmbeddings: gradients of all ranks are summed at the rows' owners, and applied at once."""

from __future__ import annotations

import struct
import weakref
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from .. import _parts, dtypes
from .._checks import check_kind, wrong
from .._declarations import DType, Optimizer
from .._types import OptimizerName
from ..comm import COMM_SELF, Comm
from ..errors import ArgumentError, DtypeError, UnsupportedError
from ..tensor import WholeTensor
from ._layers import norm_of_all
from ._whole_embedding import WholeEmbedding

_optimizers: weakref.WeakValueDictionary[int, TableOptimizer] = weakref.WeakValueDictionary()  # by table's handle


class _Table(NamedTuple):
    layer: WholeEmbedding
    weight: torch.nn.Parameter  #: has the table's shape and no memory of its own; its .grad is sparse
    rows: WholeTensor  #: this rank's rows, a tensor of COMM_SELF with the optimizer


class _Rows(NamedTuple):
    """Gradients of rows, each once, in order of rows."""

    numbers: torch.Tensor
    values: torch.Tensor  #: float64 for float64 tables, otherwise float32


class _AgreedCheck(torch.Tensor):
    """Gradient of an extra parameter of TableOptimizer: makes GradScaler's verdict equal on all ranks.

    GradScaler looks for infinities and NaNs in the gradients of an optimizer's parameters, on each rank alone, and then
    skips step(). When GradScaler looks at this one, all ranks tell each other what they have found.
    """

    optimizer: weakref.ref[TableOptimizer]

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, arguments: Any = (), keywords: Any = None) -> Any:
        if function is not torch._amp_foreach_non_finite_check_and_unscale_:
            return super().__torch_function__(function, types, arguments, keywords or {})
        gradients, found = arguments[0], arguments[1]
        optimizer = next(each for each in gradients if isinstance(each, cls)).optimizer()
        if optimizer is not None:
            found.fill_(optimizer._agreed_infinities(float(found)))
        return None


class TableOptimizer(torch.optim.Optimizer):
    """Optimizer of WholeEmbeddings that is used as any other of torch: backward(), step(), zero_grad().

    backward() collects the gradients of the rows that this rank has read. The collective step() sends them to the rows'
    owners, adds up all ranks' gradients, and updates each row once; then all ranks see the new rows. While a layer has
    a TableOptimizer its backward() updates nothing, and the layer's own optimizer rests: make the layer with
    optimizer=None. A layer's new TableOptimizer replaces its old one.

    param_groups has one group, whose "lr" learning rate schedulers change. Its parameters have the tables' shapes, no
    memory, and the gradients as sparse `.grad`; they are not parameters of the model. torch.amp.GradScaler works:
    scaler.step(optimizer), or scaler.unscale_(optimizer), is then collective, and infinities or NaNs in the gradients
    of any rank skip the step on all of them. Clip by clip_grad_norm_() of this class.

    Rows without a gradient do not change, as of torch.optim.SparseAdam (lazy). A table of which no rank has a gradient
    is not updated, and its step is not counted.

    Of tables on devices the gradients and the state are there too, and rows are updated by kernels; gradients are
    summed on the CPU, so that the result is that of tables in host memory.
    """

    def __init__(
        self,
        layers: WholeEmbedding | Iterable[WholeEmbedding],
        optimizer: OptimizerName = "sgd",
        lr: float = 0.01,
        *,
        momentum: float = 0.0,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float | None = None,
        reduce: str = "mean",
    ) -> None:
        """Makes the optimizer, with a state of zeros, and attaches it to the layers. Collective.

        Parameters
        ----------
        layers : WholeEmbedding or iterable of WholeEmbedding
            Layers whose tables have the same communicator, in the same order on all ranks.
        optimizer : str
            "sgd" (torch.optim.SGD), "adagrad" (torch.optim.Adagrad) or "adam" (torch.optim.SparseAdam).
        lr : float
            Learning rate.
        momentum, betas, eps
            See WholeTensor.set_optimizer().
        reduce : str
            "mean": the gradient is the mean over ranks, as DataParallel's; "sum": the sum.

        Raises
        ------
        ArgumentError, DtypeError, MismatchError
            On all ranks: the same layer twice; layers of several communicators; a float16 table, whose gradients
            GradScaler refuses; a wrong optimizer or number; ranks differ, also in the order of layers or in a number.
            On this rank: no layers, or something else.
        """
        chosen = _as_layers(layers)
        self._comm: Comm = chosen[0].table.comm
        self.reduce = reduce
        options: Any = {"momentum": momentum, "betas": betas, "eps": eps}

        def check() -> tuple[list[WholeTensor], int]:
            _check_together(chosen)
            if reduce not in ("mean", "sum"):
                raise wrong(ArgumentError, "reduce", repr(reduce), "'mean' or 'sum'")
            found = [_own_rows(layer.table, optimizer, lr, options) for layer in chosen]
            numbers = struct.pack("<5d", lr, momentum, *betas, -1.0 if eps is None else eps)
            return found, zlib.crc32(numbers)

        rows, numbers = self._comm._prepare("TableOptimizer", check, always=True)
        facts = {
            "layers": len(chosen),
            "checksum of the tables": _checksum_of(chosen),
            "optimizer": _number_of(optimizer),
            "reduce": int(reduce == "sum"),
            "checksum of lr, momentum, betas and eps": numbers,
        }
        self._comm.agree(None, "TableOptimizer", **facts)
        self._tables = [_Table(layer, _weight_of(layer), own) for layer, own in zip(chosen, rows, strict=True)]
        self._check = torch.nn.Parameter(torch.zeros((), dtype=torch.complex64, device="cpu"))
        super().__init__([*(table.weight for table in self._tables), self._check], {"lr": lr})
        for table in self._tables:
            self.state[table.weight] = _state_of(table)
            table.layer.table_optimizer = self
            _optimizers[table.layer.table.handle] = self
        self.zero_grad()

    def remove(self) -> None:
        """Detaches the optimizer from its layers, whose backward() then updates rows as before. Local."""
        for table in self._attached():
            table.layer.table_optimizer = None
            _optimizers.pop(table.layer.table.handle, None)

    def _attached(self) -> Iterator[_Table]:
        return (table for table in self._tables if table.layer.table_optimizer is self)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Refuses further groups: make one TableOptimizer for each learning rate.

        Parameters
        ----------
        param_group : dict
            A group.

        Raises
        ------
        UnsupportedError
            Always, once the optimizer is made.
        """
        if self.param_groups:
            raise UnsupportedError("TableOptimizer has one group; make another TableOptimizer for other layers")
        super().add_param_group(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients that backward() has collected on this rank. Local.

        Parameters
        ----------
        set_to_none : bool
            As of torch.optim.Optimizer.zero_grad().
        """
        super().zero_grad(set_to_none)
        check = torch.zeros((), dtype=torch.complex64, device="cpu").as_subclass(_AgreedCheck)
        check.optimizer = weakref.ref(self)
        self._check.grad = check

    def _add(self, handle: int, index: torch.Tensor, gradients: torch.Tensor, padding: int) -> None:
        """Adds gradients of rows to this step's gradients."""
        table = next(table for table in self._tables if table.layer.table.handle == handle)
        rows, width = index.reshape(-1).long(), gradients.shape[-1]
        values = gradients.reshape(-1, width)
        if padding >= 0:
            kept = rows != padding
            rows, values = rows[kept], values[kept]
        known = table.weight.grad
        if known is None:
            rows, values = rows.clone(), values.clone()
        else:  # appended: a sum would be rounded to the table's type
            _use_here(known)
            rows, values = torch.cat((known._indices()[0], rows)), torch.cat((known._values(), values))
        table.weight.grad = torch.sparse_coo_tensor(rows[None], values, table.weight.shape, check_invariants=False)
        _finish_before_backward_returns(table.weight.grad)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the rows by the gradients of all ranks; afterwards all ranks see the new rows. Collective.

        Parameters
        ----------
        closure : callable, optional
            Computes the loss anew, and calls backward().

        Returns
        -------
        object
            What closure returns.

        Raises
        ------
        DtypeError, MismatchError
            On all ranks: a gradient that is not sparse; ranks differ, also in the learning rate.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for table, gradient in self._reduced("TableOptimizer.step"):
            table.rows.set_learning_rate(self._learning_rate())
            index, values = gradient.numbers - table.layer.table.rows().start, gradient.values.to(table.weight.dtype)
            table.rows.apply_gradients(index.to(table.weight.device), values.to(table.weight.device))
            table.layer.table.sync()
        return loss

    @torch.no_grad()
    def clip_grad_norm_(
        self, max_norm: float, norm_type: float = 2.0, *, parameters: Iterable[torch.Tensor] = ()
    ) -> torch.Tensor:
        """Clips the norm of the gradient of all ranks, as torch.nn.utils.clip_grad_norm_(). Collective.

        Parameters
        ----------
        max_norm : float
            Gradients are scaled down, in place, if their norm is larger.
        norm_type : float
            p of the p-norm; inf: the largest element.
        parameters : iterable of torch.Tensor
            Further parameters that the norm includes and that are clipped too, with gradients that are equal on all
            ranks, such as a DataParallel model's.

        Returns
        -------
        torch.Tensor
            The norm before clipping, equal on all ranks.
        """
        power = float(norm_type)
        dense = [parameter.grad for parameter in parameters if parameter.grad is not None]
        own = [gradient.values for _, gradient in self._reduced("TableOptimizer.clip_grad_norm_")]
        counted = [each for each in own if each.numel()] + (dense if self._comm.rank == 0 else [])
        norm = norm_of_all(counted, power, self._comm)
        scale = (float(max_norm) / (norm + 1e-6)).clamp(max=1.0)
        mine = [table.weight.grad for table in self._attached() if table.weight.grad is not None]
        for values in [*dense, *(gradient._values() for gradient in mine)]:
            values.mul_(scale.to(values.dtype))
        return norm

    def _reduced(self, operation: str) -> Iterator[tuple[_Table, _Rows]]:
        """Yields the tables that have a gradient on any rank, with the gradient of this rank's rows. Collective."""
        tables = list(self._attached())

        def check() -> tuple[torch.Tensor, int]:
            for number, table in enumerate(tables):
                gradient = table.weight.grad
                if gradient is not None and not gradient.is_sparse:
                    raise wrong(DtypeError, f"gradient of layer {number}", str(gradient.layout), "torch.sparse_coo")
            has_gradient = torch.tensor(
                [table.weight.grad is not None for table in tables], dtype=torch.int32, device="cpu"
            )
            return has_gradient, int.from_bytes(struct.pack("<d", self._learning_rate()), "little", signed=True)

        has_gradient, lr = self._comm._prepare(operation, check, always=True)
        tables_fact = _checksum_of([table.layer for table in tables])
        facts = {"layers": len(tables), "checksum of the tables": tables_fact, "bits of lr": lr}
        self._comm.agree(None, operation, **facts)
        for table, anywhere in zip(tables, self._comm.allreduce(has_gradient, "max").tolist(), strict=True):
            if anywhere:
                sums = self._exchanged(table.layer.table, _summed(*_parts_of(table.weight)))
                if self.reduce == "mean":
                    sums.values.div_(self._comm.size)
                yield table, sums

    def _learning_rate(self) -> float:
        lr = self.param_groups[0]["lr"]
        try:
            return float(lr)
        except (TypeError, ValueError):
            raise wrong(DtypeError, "lr", repr(lr), "a number") from None

    def _exchanged(self, table: WholeTensor, mine: _Rows) -> _Rows:
        """Sends gradients to their rows' owners; returns the sums for this rank's rows. Collective."""
        comm = self._comm
        ends = torch.tensor([table.rows(rank).stop for rank in range(comm.size)], device="cpu")
        counts = torch.searchsorted(mine.numbers, ends).diff(prepend=torch.zeros(1, dtype=torch.int64, device="cpu"))
        arriving = comm.alltoallv(counts, [1] * comm.size, [1] * comm.size).tolist()
        index = comm.alltoallv(mine.numbers, counts.tolist(), arriving)
        return _summed(index, comm.alltoallv(mine.values, counts.tolist(), arriving))

    def _agreed_infinities(self, found: float) -> float:
        """Whether a gradient of any rank has infinities or NaNs, 0 or 1. Collective."""
        gradients = [table.weight.grad for table in self._attached() if table.weight.grad is not None]
        here = found > 0 or any(not bool(gradient._values().isfinite().all()) for gradient in gradients)
        return float(self._comm.allreduce(torch.tensor(float(here), device="cpu"), "max"))

    # The state of this rank's rows: state_dict() has views of it, no copies.

    def state_dict(self) -> dict[str, Any]:
        """Returns the learning rate and the state of this rank's rows, in place. Local.

        Returns
        -------
        dict
            As of torch.optim.Optimizer; "parts" says to which rows the state belongs. syncyte.checkpoint.save() of its
            tensors, in a flat dictionary, saves all ranks' states as the rows that they are.
        """
        parts = [table.layer._part(table.layer.table.local).to_metadata() for table in self._tables]
        found = super().state_dict()
        found["state"] = {number: dict(state) for number, state in found["state"].items()}  # entries may be replaced
        return {**found, "parts": parts}

    @torch.no_grad()
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Copies a state into place. Local.

        Parameters
        ----------
        state_dict : dict
            What state_dict() of this rank has returned, of the same layers.

        Raises
        ------
        ArgumentError
            A state of other tables, of other rows (which the message names), or of another optimizer; not a state.
        """
        if "state" not in state_dict or not state_dict.get("param_groups"):
            raise wrong(ArgumentError, "state_dict", "without 'state' or 'param_groups'", "what state_dict() returns")
        parts = [_parts.Part.from_metadata(part) for part in state_dict.get("parts", ())]
        if len(parts) not in (0, len(self._tables)):
            raise wrong(ArgumentError, "state_dict", f"of {len(parts)} tables", f"that of {len(self._tables)}")
        for number, table in enumerate(self._tables):
            own = table.layer._part(table.layer.table.local)
            if parts and not parts[number].has_range_of(own):
                raise wrong(ArgumentError, f"state_dict of table {number}", f"of {parts[number]}", f"that of {own}")
            given, live = state_dict["state"].get(number, {}), self.state[table.weight]
            shapes = {name: tuple(value.shape) for name, value in given.items()}
            expected = {name: tuple(value.shape) for name, value in live.items()}
            if shapes != expected:
                raise wrong(ArgumentError, f"state_dict of table {number}", f"of shapes {shapes}", str(expected))
        for number, table in enumerate(self._tables):
            for name, value in self.state[table.weight].items():
                value.copy_(state_dict["state"][number][name])
        saved = state_dict["param_groups"][0]
        self.param_groups[0].update({name: value for name, value in saved.items() if name != "params"})


def _keep_gradients(gradients: torch.Tensor, tensor: int, index: torch.Tensor, padding: int) -> None:
    optimizer = _optimizers.get(tensor)
    if optimizer is None:
        raise UnsupportedError("backward: the layer's TableOptimizer has been removed since forward()")
    optimizer._add(tensor, index, gradients, padding)


_library = torch.library.Library("syncyte", "IMPL")
_library.impl("keep_gradients", _keep_gradients, "CPU")


# backward() runs each node on the stream of its forward, and makes its caller's stream wait for gradients of leaves.
# The gradients of tables are no results of nodes, so that these functions do it.


def _finish_before_backward_returns(gradient: torch.Tensor) -> None:
    """Makes the stream of backward()'s caller wait for a gradient that the current stream computes."""
    if not gradient.is_cuda:
        return
    device, ready = gradient.device, torch.cuda.current_stream(gradient.device).record_event()
    gradient._syncyte_ready = ready  # type: ignore[attr-defined]
    engine: Any = torch.autograd.Variable._execution_engine
    engine.queue_callback(lambda: torch.cuda.current_stream(device).wait_event(ready))


def _use_here(gradient: torch.Tensor) -> None:
    """Lets the current stream read a gradient that a node on another stream may have computed."""
    ready = getattr(gradient, "_syncyte_ready", None)
    if ready is None:
        return
    stream = torch.cuda.current_stream(gradient.device)
    stream.wait_event(ready)
    for part in (gradient._indices(), gradient._values()):
        part.record_stream(stream)


def _as_layers(layers: WholeEmbedding | Iterable[WholeEmbedding]) -> list[WholeEmbedding]:
    chosen = [layers] if isinstance(layers, WholeEmbedding) else list(layers)
    for layer in chosen:
        check_kind(layer, WholeEmbedding, "layers", "syncyte.nn.WholeEmbeddings")
    if not chosen:
        raise wrong(ArgumentError, "layers", "empty", "one WholeEmbedding or more")
    return chosen


def _check_together(layers: list[WholeEmbedding]) -> None:
    """Raises ArgumentError or DtypeError unless one TableOptimizer can have all these layers."""
    if len({id(layer) for layer in layers}) < len(layers):
        raise wrong(ArgumentError, "layers", "with one of them twice", "different WholeEmbeddings")
    if any(layer.table.comm != layers[0].table.comm for layer in layers):
        raise wrong(ArgumentError, "layers", "of several communicators", "of one")
    for number, layer in enumerate(layers):
        if layer.table.dtype == DType.FLOAT16:
            raise wrong(DtypeError, f"table of layer {number}", "float16", "float32, float64 or bfloat16")


def _own_rows(table: WholeTensor, optimizer: Any, lr: float, options: dict[str, Any]) -> WholeTensor:
    """Makes a tensor of this rank alone over its rows of a table, with the optimizer."""
    own = table.local
    if own.numel():
        rows = WholeTensor.wrap(own, comm=COMM_SELF)
    else:
        rows = WholeTensor(own.shape, own.dtype, comm=COMM_SELF, device=own.device)
    return rows.set_optimizer(optimizer, lr, **options)


def _checksum_of(layers: Iterable[WholeEmbedding]) -> int:
    """Returns a checksum that tells the tables and their order, equal on all ranks."""
    return zlib.crc32(repr([(layer._number, layer.table.shape, int(layer.table.dtype)) for layer in layers]).encode())


def _number_of(optimizer: Any) -> int:
    return int(Optimizer[optimizer.upper()])


def _weight_of(layer: WholeEmbedding) -> torch.nn.Parameter:
    dtype = dtypes.torch_dtype(layer.table.dtype)
    return torch.nn.Parameter(torch.zeros((), dtype=dtype, device=layer.table.device).expand(layer.table.shape))


def _state_of(table: _Table) -> dict[str, torch.Tensor]:
    """Views of the state's memory."""
    found = {}
    state, steps = table.rows.optimizer_state(), table.rows.optimizer_steps()
    if state is not None:
        found["state"] = state.local.detach()
        _parts.remember(found["state"], table.layer._part(found["state"]))
    if steps is not None:
        found["step"] = steps.local.detach()
    return found


def _parts_of(weight: torch.nn.Parameter) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns rows and values of a parameter's gradient, on the CPU, whose sums have an order."""
    gradient = weight.grad
    if gradient is None:
        values = torch.empty(0, weight.shape[1], dtype=weight.dtype, device="cpu")
        return torch.empty(0, dtype=torch.int64, device="cpu"), values
    return gradient._indices()[0].cpu(), gradient._values().cpu()


def _summed(index: torch.Tensor, values: torch.Tensor) -> _Rows:
    """Sums the gradients of each row, in order."""
    rows, places = torch.unique(index, return_inverse=True)
    wide = torch.float64 if values.dtype == torch.float64 else torch.float32
    sums = torch.zeros(len(rows), values.shape[1], dtype=wide, device="cpu")
    return _Rows(rows, sums.index_add_(0, places, values.to(wide)))
