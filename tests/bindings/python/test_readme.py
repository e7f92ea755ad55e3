# SPDX-License-Identifier: BSD-3-Clause
"""The code in the Python package's README runs unchanged, and trains to the result of a single process."""

import pathlib
import re

import pytest
import torch

PAGE = pathlib.Path(__file__).resolve().parents[3] / "bindings" / "python" / "README.md"
BATCH = 8


@pytest.fixture
def page(comm, tmp_path, monkeypatch):
    """Definitions of the page's code blocks, run in a folder that all ranks share."""
    monkeypatch.chdir(comm.bcast(str(tmp_path)))
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    return names


def batches(page, steps):
    """All ranks' batches of each step, one row a rank."""
    generator = torch.Generator().manual_seed(5)
    size = page["world"].size
    return [
        (torch.randint(1000, (size, BATCH), generator=generator), torch.rand(size, BATCH, generator=generator))
        for _ in range(steps)
    ]


def test_trains_as_one_process_would(page):
    world, table, head = page["world"], page["table"], page["head"]
    with torch.no_grad():
        weights = table[:].clone().requires_grad_()
    world.barrier()
    single = torch.nn.Linear(16, 1)
    single.load_state_dict(head.state_dict())
    table.local.grad = None
    page["optimizer"] = torch.optim.Adam([*head.parameters(), table.local], lr=0.01)
    optimizer = torch.optim.Adam([*single.parameters(), weights], lr=0.01)
    for index, target in batches(page, 3):
        loss = page["train_step"](index[world.rank], target[world.rank])
        optimizer.zero_grad()
        expected = (single(weights[index]).squeeze(-1) - target).square().mean()
        expected.backward()
        optimizer.step()
        assert loss == pytest.approx(expected.item(), rel=1e-4)
    with torch.no_grad():
        assert torch.allclose(table[:], weights, atol=1e-4)
    assert torch.allclose(head.weight, single.weight, atol=1e-4)
    world.barrier()


def test_a_restored_run_goes_on_bit_for_bit(page):
    world, table, head = page["world"], page["table"], page["head"]
    steps = batches(page, 3)

    def train():
        for index, target in steps:
            page["train_step"](index[world.rank], target[world.rank])
        return [value.detach().clone() for value in (table.local, head.weight, head.bias)]

    page["save"]("again.h5", step=7)
    first = train()
    page["optimizer"] = torch.optim.Adam([*head.parameters(), table.local], lr=0.01)
    assert page["restore"]("again.h5") == 7
    assert all(torch.equal(one, other) for one, other in zip(first, train(), strict=True))
