# SPDX-License-Identifier: BSD-3-Clause
"""The surrogate and the losses, against plain numpy."""

import os
import sys

import numpy as np
import pytest
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import example_path  # noqa: F401

# isort: split
from learner.dataset import Moments, Normalisation, deviations
from learner.evaluation import evaluate, held_out_pairs, mean_squared_error
from learner.model import Surrogate
from learner.training import Plan, Trainer

NY, NX = 13, 10


def rest_depth():
    return np.maximum(0, np.random.default_rng(1).uniform(-50, 100, (NY, NX))).astype(np.float32)


def states(count, seed=2):
    return np.random.default_rng(seed).normal(3, 2, (count, 3, NY, NX)).astype(np.float32)


def test_untrained_surrogate_is_persistence():
    model = Surrogate(torch.from_numpy(rest_depth()))
    state = torch.from_numpy(states(2))
    assert torch.equal(model(state), state)


def test_dry_cells_keep_their_values():
    depth = rest_depth()
    model = Surrogate(torch.from_numpy(depth))
    torch.nn.init.normal_(model.leave.weight)
    state = torch.from_numpy(states(2))
    changed = (model(state) != state).numpy()
    assert not changed[..., depth == 0].any()
    assert changed[..., depth > 0].all()


def test_loss_is_the_mean_over_wet_cells():
    depth = rest_depth()
    wet = depth > 0
    a, b = states(4, 3), states(4, 4)
    expected = ((a - b)[:, :, wet] ** 2).mean()
    found = mean_squared_error(torch.from_numpy(a), torch.from_numpy(b), torch.from_numpy(wet.astype(np.float32)))
    assert found.item() == pytest.approx(float(expected), rel=1e-5)


def test_scores_against_numpy():
    depth = rest_depth()
    wet = depth > 0
    before, after = states(6, 5), states(6, 6)
    a, b = deviations(before.copy(), depth), deviations(after.copy(), depth)
    scores = evaluate(
        lambda x: 0.5 * x, [(a[:4], b[:4]), (a[4:], b[4:])], torch.from_numpy(wet.astype(np.float32)), lambda sums: sums
    )
    before[:, 0] -= depth
    after[:, 0] -= depth
    x, y = before[:, :, wet].astype(np.float64), after[:, :, wet].astype(np.float64)
    assert scores.loss == pytest.approx(((0.5 * x - y) ** 2).mean(), rel=1e-6)
    assert scores.persistence == pytest.approx(((x - y) ** 2).mean(), rel=1e-6)
    assert scores.variance == pytest.approx(np.mean([y[:, channel].var() for channel in range(3)]), rel=1e-6)


def test_normalisation_is_the_deviation_of_wet_cells():
    depth = rest_depth()
    values = states(8)
    moments = Moments(int((depth > 0).sum()))
    moments.add(deviations(values.copy(), depth))
    found = Normalisation.of(moments, lambda sums: sums)
    values[:, 0] -= depth
    expected = [values[:, channel][:, depth > 0].std() for channel in range(3)]
    assert found.deviation.numpy() == pytest.approx(expected, rel=1e-5)
    assert torch.allclose(found.undo(found.apply(torch.ones(1, 3, 2, 2))), torch.ones(1, 3, 2, 2))


def test_held_out_pairs():
    assert held_out_pairs(2, 5, 3) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert held_out_pairs(2, 5, 3, stride=3) == [(0, 0), (1, 1)]


def test_training_lowers_the_loss_and_ends_after_its_steps():
    torch.manual_seed(0)
    depth = torch.from_numpy(rest_depth())
    wet = (depth > 0).to(torch.float32)
    before = torch.from_numpy(states(4)) * wet
    trainer = Trainer(Surrogate(depth, width=8), wet, Plan(0, 60, 4, 3e-3), 0, 1, lambda values: values.clone())
    losses = []
    while not trainer.done():
        losses.append(trainer.step(lambda count: (before[:count], 0.5 * before[:count])).loss)
    assert len(losses) == 60
    assert losses[-1] < 0.3 * losses[0]
