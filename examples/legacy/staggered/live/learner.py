# SPDX-License-Identifier: BSD-3-Clause
"""Takes each version of the solver's density, and answers with heat for each cell. Usage: learner.py STEPS HEAT"""

import sys

import torch

import syncyte

world = syncyte.COMM_WORLD
world.split_program()  # the solver's ranks make their communicator in this call
density = syncyte.WholeTensor.open("density", comm=world)
whole = syncyte.Layout.mesh(syncyte.COMM_SELF, density.shape[1:])  # this rank has all of it
heat = syncyte.WholeTensor.by_layout(whole, "float64", slots=2, comm=world, name="heat")
for step in range(1, int(sys.argv[1]) + 1):
    state, _ = density.take(at_least=step)
    answer = float(sys.argv[2]) * torch.relu(torch.as_tensor(state) - 1)  # in earnest a model's
    heat.publish(answer, step)
