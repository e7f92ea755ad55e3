# SPDX-License-Identifier: BSD-3-Clause
"""Models in device memory: modules on CUDA that several processes bind, copies, and loads while layers compute."""

import copy
import threading

import pytest
import torch
from mpi4py import MPI

import syncyte.models
from device_under_test import needs_device, pending
from syncyte import SharedModels, _library, errors

COMM = MPI.COMM_WORLD
RANK, SIZE = COMM.rank, COMM.size
HERE = "cuda:0"

pytestmark = needs_device


def make_network(device: str = HERE) -> torch.nn.Module:
    torch.manual_seed(4)
    return torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.BatchNorm1d(5), torch.nn.Linear(5, 3)).to(device).eval()


@pytest.fixture
def models(tmp_path_factory):
    """Models of rank 0, for all ranks."""
    folder = COMM.bcast(str(tmp_path_factory.mktemp("models")) if RANK == 0 else None)
    if RANK == 0:
        served = SharedModels(1 << 24, 1 << 26)
        served.serve(name="net", folder=folder)
    COMM.Barrier()
    yield served if RANK == 0 else SharedModels.connect(name="net", folder=folder)
    COMM.Barrier()


def publish(models, name, source, **options):
    if RANK == 0:
        models.publish(name, source, **options)
    COMM.Barrier()


X = torch.arange(12, dtype=torch.float32).reshape(2, 6) / 7


def output(network: torch.nn.Module) -> torch.Tensor:
    return network(X.to(next(network.parameters()).device)).cpu()


def test_a_module_of_a_device_is_bound_without_a_copy(models):
    publish(models, "net", make_network())
    network = make_network("cpu").to("meta")
    bound = models.bind("net", network)
    assert all(each.device == torch.device(HERE) for each in network.state_dict().values())
    assert not any(each.requires_grad for each in network.parameters()), "all processes have this memory"
    assert torch.equal(output(network), output(make_network()))
    assert torch.equal(bound["0.weight"].cpu(), make_network("cpu")[0].weight)
    (listed,) = models.describe()
    assert listed.device.startswith("GPU-")
    del bound
    copied = copy.deepcopy(network)
    del network
    with torch.no_grad():
        copied[0].weight.add_(1)
    assert not torch.equal(output(copied), output(make_network()))


def test_a_copy_can_be_trained(models):
    publish(models, "net", make_network())
    network = make_network()
    models.bind("net", network, copy=True)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1 * (RANK + 1))
    network.train()
    output(network).square().sum().backward()
    optimizer.step()
    assert not torch.equal(output(network.eval()), output(make_network()))
    COMM.Barrier()
    other = make_network()
    models.bind("net", other)
    assert torch.equal(output(other), output(make_network())), "what is published stays"


@pytest.mark.parametrize("lies_on", ["cpu", HERE])
def test_bound_elsewhere_a_model_is_copied(models, lies_on):
    publish(models, "net", make_network(), device=lies_on)
    other = HERE if lies_on == "cpu" else "cpu"
    network = make_network(other)
    bound = models.bind("net", network, device=other)
    assert bound["0.weight"].device == torch.device(other)
    assert next(network.parameters()).requires_grad
    assert torch.allclose(output(network), output(make_network(other)))
    with pytest.raises(errors.ArgumentError, match=f"is on {lies_on} in the model and on {other} in the module"):
        models.bind("net", make_network(other))


@pytest.fixture
def last_tensor_waits(monkeypatch):
    """An event for which publications wait before they copy their last tensor. The C interface has the others."""
    event = threading.Event()
    publication = syncyte.models._Publication
    copy_the_rest = publication.finish

    def finish(self):
        *first, _ = self._buffers
        for key in first:
            _library.core().syncyte_publication_fill(self.handle, key.encode(), self._buffers[key].reference)
        assert event.wait(30)
        copy_the_rest(self)

    monkeypatch.setattr(publication, "finish", finish)
    yield event
    event.set()


def test_layers_compute_while_others_arrive(models, last_tensor_waits):
    big = {f"layer{n}": torch.full((3 << 20,), float(n), device=HERE) for n in range(3)}  # groups of 12 MiB
    if RANK == 0:
        done = models.load("big", big)
    COMM.Barrier()
    holder = torch.nn.ParameterDict({key: torch.empty(3 << 20, device="meta") for key in big})
    bound = models.bind("big", holder)
    for n in range(2):
        assert (holder[f"layer{n}"] + 1).mean().item() == n + 1
    assert (bound.ready(), bound.groups) == (2, 3), "the last layer is not there"
    with pytest.raises(errors.WaitTimeoutError):
        bound.wait(2, timeout=0.01)
    COMM.Barrier()
    last_tensor_waits.set()
    assert (holder["layer2"] + 1).mean().item() == 3
    if RANK == 0:
        done.result()
    COMM.Barrier()


def test_sources_of_all_strides_and_types(models):
    base = torch.arange(24, device=HERE).reshape(4, 6)
    source = {"dense": base, "transposed": base.t(), "gaps": base[:, ::2], "same gaps": base[:, ::2],
              "half": base.half(), "brain": base.bfloat16(), "bool": base > 3, "empty": base[:0],
              "scalar": base[0, 0], "complex": torch.complex(base.float(), base.float())}  # fmt: skip
    publish(models, "net", source)
    bound = models.bind("net")
    for key, tensor in source.items():
        assert bound[key].dtype == tensor.dtype, key
        assert torch.equal(bound[key], tensor), key
    assert bound["gaps"].data_ptr() == bound["same gaps"].data_ptr()
    with pytest.raises(errors.ArgumentError, match="'here' on cuda:0"):
        models.publish("mixed", {"here": base, "there": base.cpu()})


def test_publishing_waits_for_the_stream(models):
    with torch.cuda.stream(torch.cuda.Stream()):
        publish(models, "net", {"x": pending(torch.full((1000,), 3.0))})
    assert (models.bind("net")["x"] == 3).all()


def test_without_the_device():
    models = SharedModels()
    with pytest.raises(errors.ArgumentError, match="device is 77"):
        models.publish("net", {"x": torch.ones(3)}, device="cuda:77")
    models.publish("net", {"x": torch.ones(3)})
    with pytest.raises(errors.ArgumentError, match="device is 77"):
        models.bind("net", device="cuda:77")
    with pytest.raises(errors.ArgumentError, match="device is mps"):
        models.bind("net", device="mps")
