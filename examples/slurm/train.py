# SPDX-License-Identifier: BSD-3-Clause
"""Trains on all ranks; before the job is stopped, saves a checkpoint and exits with status 75.

    srun --mpi=pmix -n 4 python -m syncyte train.py [STEPS]

The next run continues from train.h5, with any number of ranks.
"""

import os
import sys

import torch

import syncyte

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
SAVE_EVERY, FILE = 500, "train.h5"  # a node that dies gives no warning
SEED = int(os.environ.get("SLURM_ARRAY_TASK_ID", "0"))

world = syncyte.COMM_WORLD
torch.manual_seed(SEED)  # the same network on all ranks
network = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(network.parameters(), lr=0.02)


def train(step):
    # Samples follow from seed, step and rank: a run that continues on as many ranks draws what it would have drawn.
    draw = torch.Generator().manual_seed(SEED << 48 | step << 16 | world.rank)
    samples = torch.randn(64, 8, generator=draw)
    loss = (network(samples).squeeze(1) - samples.sin().sum(1)).square().mean() / world.size
    optimizer.zero_grad()
    loss.backward()
    for parameter in network.parameters():
        world.allreduce(parameter.grad, out=parameter.grad)
    optimizer.step()
    return loss.item()


def report(text):
    if world.rank == 0:
        print(text, flush=True)


first, loss = 0, 0.0
if os.path.exists(FILE):
    syncyte.checkpoint.load(FILE, network.state_dict())
    with syncyte.checkpoint.open(FILE) as file:
        first = file.step
report(f"{world.size} ranks on {world.topology.nodes} nodes, from step {first}")
for step in range(first, STEPS):
    loss = train(step)
    stops = world.preempted()  # collective: all ranks get the same answer
    if stops or (step + 1) % SAVE_EVERY == 0 or step + 1 == STEPS:
        syncyte.checkpoint.save(FILE, network.state_dict(), step=step + 1)
    if stops:
        report(f"stops after step {step + 1}")
        sys.exit(os.EX_TEMPFAIL)  # 75, on all ranks
report(f"seed {SEED}, {STEPS} steps, loss {world.allreduce(loss):.9f}")
