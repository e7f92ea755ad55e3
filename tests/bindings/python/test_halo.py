# SPDX-License-Identifier: BSD-3-Clause
"""Cartesian communicators and halo exchange, against the whole array."""

import itertools
import math

import numpy as np
import pytest
import torch

import syncyte


def last(world):
    return world.rank == world.size - 1


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_grids(world, ndim):
    cart = world.cartesian([0] * ndim, periods=[axis % 2 == 0 for axis in range(ndim)])
    assert isinstance(cart, syncyte.Cart)
    assert cart.ndim == ndim
    assert math.prod(cart.dims) == cart.size == world.size
    assert cart.periods == (True, False, True)[:ndim]
    places = list(np.ndindex(*cart.dims))
    assert cart.coords == places[world.rank]
    for rank, place in enumerate(places):
        assert cart.coords_of(rank) == place
        assert cart.rank_at(place) == rank
    wrapped = list(cart.coords)
    wrapped[0] += cart.dims[0]
    assert cart.rank_at(wrapped) == world.rank
    if ndim > 1:
        assert cart.rank_at([0, -1, *[0] * (ndim - 2)]) == syncyte.PROC_NULL
        assert cart.shift(1, cart.dims[1]) == (syncyte.PROC_NULL, syncyte.PROC_NULL)
    assert cart.shift(0) == (cart.rank_at([cart.coords[0] - 1, *cart.coords[1:]]),
                             cart.rank_at([cart.coords[0] + 1, *cart.coords[1:]]))  # fmt: skip
    assert cart.allreduce(1) == world.size


def test_wrong_grids(world):
    assert (world.cartesian([1]) is None) == (world.rank != 0)
    for wrong, error, text in [([world.size + 1], ValueError, "more places"), ([1.5], TypeError, r"dims\[0\] is")]:
        with pytest.raises(error if last(world) else syncyte.Error, match=text):
            world.cartesian(wrong if last(world) else [0])
    with pytest.raises(syncyte.Error, match="periods has 2 entries"):
        world.cartesian([0], [True, False])


INTERIORS = [3, 5, 4]


def interior_at(place):
    return INTERIORS[place % 3]


class Scene:
    """A whole array of numbered cells, cut over a grid; cells beyond an edge that is not periodic are marked."""

    MARK = -1.0

    def __init__(self, cart, low, high):
        self.cart, self.low, self.high = cart, low, high
        extents = [[interior_at(place) for place in range(count)] for count in cart.dims]
        self.whole = np.arange(math.prod(map(sum, extents)), dtype=float).reshape([sum(each) for each in extents])
        self.first = [sum(each[:place]) for each, place in zip(extents, cart.coords, strict=True)]
        self.count = [each[place] for each, place in zip(extents, cart.coords, strict=True)]
        self.shape = [n + a + b for n, a, b in zip(self.count, low, high, strict=True)]

    def expected(self, corners):
        padded = self.whole
        for axis, (periodic, a, b) in enumerate(zip(self.cart.periods, self.low, self.high, strict=True)):
            widths = [(0, 0)] * padded.ndim
            widths[axis] = (a, b)
            padded = np.pad(padded, widths, "wrap") if periodic else np.pad(padded, widths, constant_values=self.MARK)
        part = padded[tuple(slice(f, f + n) for f, n in zip(self.first, self.shape, strict=True))].copy()
        if not corners:
            outside = sum(np.meshgrid(*[self._outside(axis) for axis in range(part.ndim)], indexing="ij"))
            part[outside > 1] = self.MARK
        return part

    def _outside(self, axis):
        index = np.arange(self.shape[axis])
        return ((index < self.low[axis]) | (index >= self.low[axis] + self.count[axis])).astype(int)

    def own(self):
        array = np.full(self.shape, self.MARK)
        inner = tuple(slice(a, a + n) for a, n in zip(self.low, self.count, strict=True))
        array[inner] = self.whole[tuple(slice(f, f + n) for f, n in zip(self.first, self.count, strict=True))]
        return array


WIDTHS = [(1, 1, 1), (2, 0, 3), (0, 2, 1)]


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_exchange(world, ndim):
    for periods in itertools.product([False, True], repeat=ndim):
        cart = world.cartesian([0] * ndim, periods)
        for low, high, corners in itertools.product(WIDTHS, WIDTHS, [True, False]):
            scene = Scene(cart, low[:ndim], high[:ndim])
            halo = syncyte.Halo(cart, scene.shape, "float64", low[:ndim], high[:ndim], corners=corners)
            array = scene.own()
            before = array[halo.interior].copy()
            assert halo.exchange(array) is array
            assert np.array_equal(array, scene.expected(corners))
            assert np.array_equal(array[halo.interior], before)
            turned = np.asfortranarray(scene.own())[::1]
            halo.exchange(turned)
            assert np.array_equal(turned, scene.expected(corners))


def test_neighbors_get_each_others_blocks(world):
    cart = world.cartesian([0, 0], [True, False])
    blocks = np.arange(8.0).reshape(4, 2) + 100 * world.rank
    result = cart.neighbor_alltoall(blocks)
    for dimension in (0, 1):
        for side, neighbour in enumerate(cart.shift(dimension, 1)):
            sent = np.arange(8.0).reshape(4, 2)[2 * dimension + 1 - side] + 100 * neighbour
            expected = sent if neighbour != syncyte.PROC_NULL else 0
            np.testing.assert_array_equal(result[2 * dimension + side], expected)
    out = np.full_like(blocks, -1)
    assert cart.neighbor_alltoall(blocks, out) is out
    assert ((out == result) | (out == -1)).all()
    with pytest.raises(ValueError, match="not Cartesian"):
        world.neighbor_alltoall(blocks)


def test_adjoint_identity(world):
    generator = np.random.default_rng(world.rank)
    cart = world.cartesian([0, 0], [True, False])
    for low, high, corners in itertools.product(WIDTHS, WIDTHS, [True, False]):
        scene = Scene(cart, low[:2], high[:2])
        halo = syncyte.Halo(cart, scene.shape, "float64", low[:2], high[:2], corners=corners)
        x, y = (generator.integers(-9, 10, scene.shape).astype(float) for _ in range(2))
        left = (halo.exchange(x.copy()) * y).sum()
        right = (x * halo.accumulate(y.copy())).sum()
        assert world.allreduce(float(left)) == world.allreduce(float(right))


def test_torch_tensors_and_starts(world):
    cart = world.cartesian([0], True)
    below, above = cart.shift(0)
    halo = syncyte.Halo(cart, (2, 4), torch.bfloat16, 1, axes=[-1])
    tensor = torch.full((2, 4), float(world.rank), dtype=torch.bfloat16)
    version = tensor._version
    request = halo.iexchange(tensor)
    with pytest.raises(syncyte.BusyError):
        halo.exchange(tensor)
    request.wait()
    assert tensor._version > version
    assert tensor[0].tolist() == [below, world.rank, world.rank, above]
    halo.iaccumulate(tensor).wait()
    assert tensor[1].tolist() == [0, 2 * world.rank, 2 * world.rank, 0]
    assert halo.shape == (2, 4)
    assert halo.dtype == syncyte.DType.BFLOAT16
    assert halo.cart is cart


def test_mistakes_when_it_is_made(world):
    cart = world.cartesian([0])
    for wrong, error, text in [({"low": 9}, ValueError, "at least"), ({"low": [1, 1]}, ValueError, "low has 2 entries"),
                               ({"dtype": "text"}, TypeError, ""), ({"axes": [5]}, ValueError, "axes"),
                               ({"corners": np.ones(2)}, ValueError, "ambiguous")]:  # fmt: skip
        right = {"shape": (6,), "dtype": "float64", "low": 1}
        with pytest.raises(error if last(world) else syncyte.Error, match=text):
            syncyte.Halo(cart, **(right | wrong if last(world) else right))
    with pytest.raises(TypeError, match="expected a syncyte.Cart"):
        syncyte.Halo(world, (6,), "float64", 1)


@pytest.mark.parametrize("wrong", [np.zeros(5), np.zeros(6, np.float32), "text"])
def test_a_wrong_array_is_the_neighbours_error_too(world, wrong):
    cart = world.cartesian([0])
    halo = syncyte.Halo(cart, (6,), "float64", 1)
    distance = world.size - 1 - world.rank
    if distance < 2:
        with pytest.raises(syncyte.Error, match="a neighbour, has failed" if distance else "array|text"):
            halo.exchange(np.zeros(6) if distance else wrong)
    else:
        halo.exchange(np.zeros(6))
    assert np.array_equal(halo.exchange(np.arange(6.0))[1:5], [1, 2, 3, 4])


def test_a_start_with_a_wrong_array_does_not_wait(world):
    cart = world.cartesian([0])
    halo = syncyte.Halo(cart, (6,), "float64", 1)
    if last(world):
        with pytest.raises(syncyte.Error, match="array|text"):
            halo.iexchange("text")
    world.barrier()  # the neighbours start their exchanges after this
    if world.rank == world.size - 2:
        with pytest.raises(syncyte.Error, match="a neighbour, has failed"):
            halo.exchange(np.zeros(6))
    elif not last(world):
        halo.exchange(np.zeros(6))
    array = np.full(6, float(world.rank))
    assert halo.iexchange(array).wait() is None
    assert array[0] == max(world.rank - 1, 0)
    assert array[5] == min(world.rank + 1, world.size - 1)


def test_freed_halos_say_so(world):
    halo = syncyte.Halo(world.cartesian([0]), (6,), "float64", 1)
    halo.free()
    with pytest.raises(syncyte.HandleError, match="freed"):
        halo.exchange(np.zeros(6))


def test_widths_and_axes_of_any_kind_of_numbers(world):
    cart = world.cartesian([0])
    expected = syncyte.Halo(cart, (4, 6), "float64", 1, 2, axes=[-1])
    for low, high, axes in [(np.array(1), np.int64(2), np.array([1])), (torch.tensor(1), [2], iter([-1])),
                            (np.array([1]), (2,), range(1, 2))]:  # fmt: skip
        halo = syncyte.Halo(cart, (4, 6), "float64", low, high, axes=axes)
        assert halo.interior == expected.interior
        assert repr(halo) == repr(expected)


def test_nodes_of_equal_arrays_get_their_sums_by_a_halo_for_each_dimension(world):
    """All ranks have n + 1 nodes along each dimension, also the last ones."""
    cart, n = world.cartesian([0, 0]), 3
    nodes = np.zeros((n + 1, n + 1))
    for row, column in np.ndindex(2, 2):
        nodes[row : row + n, column : column + n] += 1
    for d in (0, 1):
        line = cart.split(cart.coords[1 - d], cart.coords[d]).cartesian([0])
        halo = syncyte.Halo(line, nodes.shape, nodes.dtype, axes=[d], low=0, high=1)
        halo.accumulate(nodes)
        halo.exchange(nodes)
    ends = [np.isin(n * cart.coords[d] + np.arange(n + 1), (0, n * cart.dims[d])) for d in (0, 1)]
    assert np.array_equal(nodes, np.outer(2 - ends[0], 2 - ends[1]))


def test_nodes_of_a_grid_get_the_sums_of_all_their_cells(world):
    """Each rank's cells add 1 to their corners; the last rank along a dimension owns the last nodes."""
    cart = world.cartesian([0, 0])
    is_last = [cart.coords[d] == cart.dims[d] - 1 for d in (0, 1)]
    nodes = np.zeros([1 + 3 + last_one + 2 for last_one in is_last])
    halo = syncyte.Halo(cart, nodes.shape, nodes.dtype, low=1, high=2)
    for row, column in [(1, 1), (1, 2), (2, 1), (2, 2)]:
        nodes[row : row + 3, column : column + 3] += 1
    halo.accumulate(nodes)
    halo.exchange(nodes)
    expected = np.full((4, 4), 4.0)
    for d in (0, 1):
        along = np.moveaxis(expected, d, 0)
        along[0] /= 2 if cart.coords[d] == 0 else 1
        along[-1] /= 2 if is_last[d] else 1
    assert np.array_equal(nodes[1:5, 1:5], expected)
