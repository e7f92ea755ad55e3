# SPDX-License-Identifier: BSD-3-Clause
"""syncyte.torch.DataParallel: the lifetime of an averager, and its replacement by another one."""

import gc
import weakref

import pytest
import torch

from means import RANK, SIZE, close, loss_of, mean_gradients, network
from syncyte import _data_parallel
from syncyte.torch import DataParallel


def test_removed_averages_nothing():
    model = network(0)
    DataParallel(model).remove()
    loss_of(model, RANK).backward()
    one = network(0)
    loss_of(one, RANK).backward()
    close(model, [parameter.grad for parameter in one.parameters()])


def test_gradients_outlive_the_averager():
    model = network(0)
    averager = DataParallel(model)
    expected = mean_gradients(network(0))
    loss_of(model, RANK).backward()
    averager.remove()
    del averager
    gc.collect()
    close(model, expected)


def test_an_averager_goes_with_its_model():
    reducers = []
    for _ in range(3):
        model = network(0)
        averager = DataParallel(model)
        loss_of(model, RANK).backward()
        reducers.append(weakref.ref(averager._reducer))
        del averager
        loss_of(model, RANK).backward()  # the model keeps the averager alive
        close(model, [2 * gradient for gradient in mean_gradients(network(0))])
        del model
    assert [reducer() for reducer in reducers] == [None] * 3


def test_an_averager_that_is_kept_does_not_keep_its_parameters():
    averager = DataParallel(torch.nn.Linear(2, 1))
    assert averager._living() == []
    averager.average()
    averager.remove()


def test_a_second_averager_takes_the_place_of_the_first():
    model = torch.nn.Linear(2, 1)
    first = weakref.ref(DataParallel(model))  # no reference is left to call its remove()
    model(torch.full((1, 2), float(RANK + 1))).sum().backward()
    model.zero_grad()
    second = DataParallel(model)
    assert first() is None
    model(torch.full((1, 2), float(RANK + 1))).sum().backward()
    assert torch.allclose(model.weight.grad, torch.full((1, 2), (SIZE + 1) / 2))
    second.remove()
    third = DataParallel(model)
    second.remove()  # a second time: must not affect the third one, which has the parameters now
    with pytest.raises(ValueError, match="pass all of its parameters, or call its remove"):
        DataParallel([model.bias])
    third.remove()
    DataParallel([model.bias])


def test_its_representation_says_what_it_is(comm):
    model = torch.nn.Linear(3, 2)
    averager = DataParallel(model, comm, bucket_bytes=24)
    of = f"2 parameters, 8 elements, in 2 buckets, over {comm!r}"
    assert repr(averager) == f"<syncyte.torch.DataParallel of {of}>"
    averager.remove()
    assert repr(averager) == f"<syncyte.torch.DataParallel of {of}, removed>"


def test_an_averager_that_cannot_be_made_leaves_the_first_one_alone(monkeypatch):
    model = torch.nn.Linear(2, 1)
    first = DataParallel(model)

    def fail(*_, **__):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(_data_parallel, "Reducer", fail)
        with pytest.raises(MemoryError):
            DataParallel(model)
    model(torch.full((1, 2), float(RANK + 1))).sum().backward()
    assert torch.allclose(model.weight.grad, torch.full((1, 2), (SIZE + 1) / 2))
    first.remove()


def test_a_bucket_does_not_wait_for_a_parameter_that_has_gone():
    parameters = [torch.ones(2, requires_grad=True) for _ in range(2)]
    averager = DataParallel(parameters)
    del parameters[1]
    (x,) = parameters
    (bucket,) = averager._buckets
    seen = []
    x.register_post_accumulate_grad_hook(lambda _: seen.append(bucket.is_started))
    for _ in range(2):
        (x * 2).sum().backward()
    assert seen[-1]  # without the dropped parameter the bucket is started before the end of backward
    averager.remove()
