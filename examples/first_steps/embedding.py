# SPDX-License-Identifier: BSD-3-Clause
"""Trains a table of vectors that is spread over all ranks, and a layer on top of it. Each rank draws its own samples.

    mpirun -n 2 python -m syncyte embedding.py

saves embedding.h5 at the end. A second run, with any number of ranks, continues from there.
"""

import os

import torch

import syncyte
import syncyte.torch

ROWS, WIDTH, STEPS, FILE = 1000, 16, 100, "embedding.h5"
world = syncyte.COMM_WORLD


def wave(rows):
    """The function to learn: a number for each row."""
    return torch.sin(rows / 50)


def error(table, layer):
    """Mean square error over all rows; each rank computes the part of its own rows."""
    with torch.no_grad():
        wanted = wave(torch.tensor(table.rows()))
        return (syncyte.torch.allreduce((layer(table.local).squeeze(1) - wanted).square().sum()) / ROWS).item()


def train(table, layer, optimizer, draw):
    for _ in range(STEPS):
        rows = torch.randint(ROWS, (64,), generator=draw)
        loss = torch.nn.functional.mse_loss(layer(table.gather(rows)).squeeze(1), wave(rows))  # any rank's rows
        optimizer.zero_grad()
        # The gradients of all ranks are summed, so each rank divides its loss by the number of ranks. The loss is not
        # reduced before backward(): the backward pass of that allreduce would sum the gradients once more.
        (loss / world.size).backward()
        for parameter in layer.parameters():
            parameter.grad = syncyte.torch.allreduce(parameter.grad)
        table.sync_grad()  # collective: adds all ranks' gradients of this rank's rows to table.local.grad
        optimizer.step()  # each rank changes its own rows; all ranks change their copies of the layer equally
        table.sync()  # collective: all ranks see the new rows


def optimizer_arrays(table, optimizer):
    """The optimizer's state by key, and the keys of arrays that are cut by rows as the table is."""
    arrays, sharded = {}, ["table"]
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    for number, parameter in enumerate(parameters):
        for name, value in optimizer.state[parameter].items():
            arrays[f"optimizer.{number}.{name}"] = value
            if parameter is table.local and value.shape == parameter.shape:
                sharded.append(f"optimizer.{number}.{name}")
    return arrays, sharded


def save(table, layer, optimizer, steps):
    arrays, sharded = optimizer_arrays(table, optimizer)
    syncyte.checkpoint.save(FILE, {"table": table, **layer.state_dict(), **arrays}, sharded=sharded, step=steps)


def restore(table, layer, optimizer):
    """Fills all three from the file; returns the number of steps trained so far."""
    # One step with zero gradients makes the optimizer allocate its arrays, in the shapes for this number of ranks.
    for parameter in (*layer.parameters(), table.local):
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    arrays, sharded = optimizer_arrays(table, optimizer)
    syncyte.checkpoint.load(FILE, {"table": table, **layer.state_dict(), **arrays}, sharded=sharded)
    table.sync()
    with syncyte.checkpoint.open(FILE) as file:
        return file.step


def main():
    torch.manual_seed(0)  # the same layer on all ranks
    table = syncyte.WholeTensor((ROWS, WIDTH), torch.float32, name="table")
    layer = torch.nn.Linear(WIDTH, 1)
    draw = torch.Generator().manual_seed(1 + world.rank)  # but other samples
    table.local.normal_(generator=draw)
    table.sync()
    table.requires_grad_()
    optimizer = torch.optim.Adam([*layer.parameters(), table.local], lr=0.02)
    steps = restore(table, layer, optimizer) if os.path.exists(FILE) else 0
    before = error(table, layer)
    train(table, layer, optimizer, draw)
    after = error(table, layer)
    save(table, layer, optimizer, steps + STEPS)
    if world.rank == 0:
        print(f"{world.size} ranks, steps {steps + 1} to {steps + STEPS}: error {before:.6f} to {after:.6f}")


main()
