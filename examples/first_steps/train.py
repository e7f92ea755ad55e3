# SPDX-License-Identifier: BSD-3-Clause
import torch

import syncyte

table = syncyte.WholeTensor((1000, 4), torch.float32).requires_grad_()  # zeros; each rank owns some rows
optimizer = torch.optim.SGD([table.local], lr=0.1)
loss = (table.gather(torch.tensor([7, 999])) - 1).square().sum()  # rows of any rank
loss.backward()  # adds the gradients at the ranks that own the rows
table.sync_grad()  # collective: table.local.grad is complete
optimizer.step()
table.sync()  # collective: all ranks see the new rows
if syncyte.COMM_WORLD.rank == 0:
    print("row 999 starts with", round(table[999][0].item(), 3))
