# SPDX-License-Identifier: BSD-3-Clause
"""t[key] against numpy and torch with the same key, tested without the library."""

import itertools

import numpy as np
import pytest
import torch

from syncyte import _indexing, errors

SHAPE = (5, 4, 3)
WHOLE = np.arange(60).reshape(SHAPE)


def read(key, whole=WHOLE):
    """t[key] by WholeTensor's code, on an array instead of the ranks' memory."""
    parsed = _indexing.parse(key, whole.shape)
    source = torch.from_numpy(whole) if _indexing.array_kind_of(key) == "torch" else whole
    if isinstance(parsed, _indexing.Box):
        box = source[tuple(slice(low, low + count) for low, count in zip(parsed.lower, parsed.extent, strict=True))]
        return _indexing.select(box, parsed.local)
    index = torch.as_tensor(parsed.index) if _indexing.array_kind_of(key) == "torch" else parsed.index
    assert str(index.dtype).removeprefix("torch.") in ("int32", "int64")
    return _indexing.apply(parsed, source[index])


BASIC = [0, -1, np.int64(2), slice(None), slice(1, 3), slice(-2, None), slice(0, 5, 2), slice(3, 1), None, Ellipsis]
BASIC += [slice(None, None, -1), slice(3, 0, -2), slice(0, 3, -1)]


@pytest.mark.parametrize("key", list(itertools.product(BASIC, repeat=2)), ids=str)
def test_integers_slices_none_and_ellipsis(key):
    if key.count(Ellipsis) > 1:
        with pytest.raises(IndexError, match="ellipsis"):
            read(key)
        return
    result = read(key)
    np.testing.assert_array_equal(result, WHOLE[key])
    assert result.shape == WHOLE[key].shape


@pytest.mark.parametrize("key", BASIC, ids=str)
def test_single_parts(key):
    np.testing.assert_array_equal(read(key), WHOLE[key])


ARRAYS = [
    np.array([0, 4, 4, -1]),
    np.array([[1, 2], [-5, 0]], np.int32),
    np.array([], np.int64),
    np.array([3, -3], np.int8),
    np.array([200 % 5], np.uint8),
    [2, 0],
    [],
    range(0, 5, 2),
    WHOLE[:, 0, 0] > 20,
    [True, False, True, False, False],
    WHOLE % 3 == 1,
    WHOLE[:, :, 0] % 2 == 0,
    np.zeros(5, bool),
]


@pytest.mark.parametrize("key", ARRAYS, ids=str)
def test_arrays_and_masks(key):
    oracle = np.asarray(key, np.int64) if isinstance(key, list) and not key else key
    expected = WHOLE[np.asarray(oracle)]
    result = read(key)
    np.testing.assert_array_equal(result, expected)
    assert result.shape == expected.shape
    if isinstance(key, np.ndarray):
        tensor = torch.from_numpy(key)
        expected = torch.from_numpy(WHOLE)[
            tensor if tensor.dtype in (torch.int32, torch.int64, torch.bool) else tensor.long()
        ]
        assert torch.equal(read(tensor), expected)


@pytest.mark.parametrize(
    "key",
    [
        (np.array([0, 3]), slice(1, 3)),
        (np.array([0, 3]), 2),
        (np.array([[0], [3]]), -1, slice(None)),
        (np.array([0, 3]), Ellipsis, 1),
        (np.array([0, 3]), None, slice(None, None, 2)),
        (np.array([0, 3, -1]), np.array([1, 1, -1])),
        (np.array([[0], [3]]), np.array([0, 1, 2])),
        (np.array([0, 3]), np.array([1, 2]), np.array([-1, 0])),
        (np.array([0, 3]), np.array([1, 2]), slice(0, 2)),
        (np.array([0, 3]), [1, 2], 2),
        (WHOLE[:, :, 0] % 2 == 0, slice(1, None)),
        (WHOLE[:, 0, 0] > 20, 1),
        (slice(4, 0), np.int32(2)),
        (np.array(2), np.array(-1)),
    ],
    ids=str,
)
def test_mixed_keys(key):
    expected = WHOLE[key]
    result = read(key)
    np.testing.assert_array_equal(result, expected)
    assert np.shape(result) == expected.shape
    converted = tuple(torch.from_numpy(part) if isinstance(part, np.ndarray) else part for part in key)
    np.testing.assert_array_equal(np.asarray(read(converted)), np.asarray(torch.from_numpy(WHOLE)[converted]))


BEHIND = [
    (slice(None), [2, 0]),
    (slice(None), np.array([2, 0, 2, -1])),
    (slice(1, 4), np.array([[0, 1], [3, 3]])),
    (slice(None, None, 2), [3, 1]),
    (slice(None, None, -1), [3, 1]),
    (slice(4, 1, -2), slice(None), [2, 0]),
    (slice(3, 1), [3, 1]),
    (slice(None), []),
    (slice(None), range(3, 0, -2)),
    (slice(None), WHOLE[0, :, 0] > 3),
    (slice(None), WHOLE[0] % 2 == 0),
    (slice(None), [0, 3], [2, 1]),
    (slice(None), [[0], [3]], [2, 1]),
    (slice(None), [0, 3], slice(None, None, -1)),
    (slice(None), slice(None, None, -2), [0, 2]),
    (..., [2, 0]),
    (None, slice(None), [2, 0]),
    (slice(None), None, [2, 0]),
    (slice(None), 1, [2, 0]),
    (2, [1, 0]),
    (2, [1, 0], 1),
    ([4, 0], slice(None, None, -1)),
    (WHOLE[:, 0, 0] > 20, slice(3, 0, -2), 1),
]


@pytest.mark.parametrize("key", BEHIND, ids=str)
def test_arrays_behind_slices_and_negative_steps(key):
    """As numpy where torch has no negative steps; torch counts an integer's dimension before arrays."""
    listed = tuple(np.asarray(part, None if len(part) else int) if isinstance(part, list) else part for part in key)
    expected = WHOLE[tuple(np.arange(5)[part] if isinstance(part, range) else part for part in listed)]
    result = read(key)
    np.testing.assert_array_equal(result, expected)
    assert result.shape == expected.shape
    assert result.flags.c_contiguous  # so that collectives and torch accept it
    tensors = tuple(torch.from_numpy(part) if isinstance(part, np.ndarray) else part for part in listed)
    result = read(tensors)
    assert result.shape == expected.shape
    assert np.array_equal(np.asarray(result), expected)
    assert not isinstance(result, torch.Tensor) or result.is_contiguous()


def test_an_integer_before_a_slice_and_an_array_counts_as_in_torch():
    for key in ((0, slice(None), [2, 0]), (slice(None), 1, [2, 0])):
        assert read(key).shape == tuple(torch.from_numpy(WHOLE)[key].shape)


def test_arrays_behind_slices_read_only_what_they_span():
    parsed = _indexing.parse((slice(1, 3), [2, 1]), SHAPE)
    assert parsed.lower == (1, 1, 0)
    assert parsed.extent == (2, 2, 3)


def test_steps_read_only_their_rows():
    for key, rows in ((slice(1, 5, 3), [1, 4]), (slice(None, None, -2), [4, 2, 0]), ((slice(0, 5, 4), [1]), [0, 4])):
        parsed = _indexing.parse(key, SHAPE)
        assert isinstance(parsed, _indexing.Rows)
        assert parsed.index.tolist() == rows


@pytest.mark.parametrize(
    "key, error, text",
    [
        (5, IndexError, "index 5 is out of range for dimension 0 of extent 5"),
        ((0, -5), IndexError, "index -5 .* dimension 1"),
        ((0, 0, 0, 0), IndexError, "too many"),
        ([0, 9], IndexError, "index 9 at position 1"),
        (np.array([[0, 1], [2, -6]]), IndexError, "index -6 at position 3"),
        (torch.tensor([7]), IndexError, "index 7 at position 0"),
        (([0], 7), IndexError, "index 7"),
        (1.5, TypeError, "1.5"),
        ("a", TypeError, "'a'"),
        (np.array([0.5]), TypeError, "float64"),
        (torch.tensor([0.5]), TypeError, "float32"),
        ([[0], [1, 2]], TypeError, "index"),
        (slice(None, None, 0), ValueError, "the slice of dimension 0 is .*expected a step other than 0"),
        ((0, slice(0.5, None)), TypeError, "the slice of dimension 1 is slice\\(0.5.*expected integers"),
        (slice(None, None, "a"), TypeError, "the slice of dimension 0 is .*expected integers"),
        (([0], slice("a", None)), TypeError, "the slice of dimension 1"),
        (np.ones(4, bool), errors.ShapeError, "mask"),
        (([0], slice(None), [0, 1]), errors.UnsupportedError, "next to each other"),
        ((slice(None), [0, 4]), IndexError, "index 4 at position 1 .* dimension 1 of extent 4"),
        ((slice(None, None, 2), [-5]), IndexError, "index -5 .* dimension 1"),
        ((slice(None), np.ones(5, bool)), errors.ShapeError, "mask .* dimension 1"),
        ((slice(None), np.array([0.5])), TypeError, "dimension 1 is an array of float64"),
        (([0, 1], [0, 1, 2]), errors.ShapeError, "fit"),
        (True, TypeError, "an index is True, a single truth value; expected integers"),
        ((0, False), TypeError, "an index is False"),
        (np.True_, TypeError, "an index is .*True.*, a single truth value"),
        (torch.tensor(True), TypeError, "a single truth value"),
        (np.array(False), TypeError, "a single truth value"),
    ],
    ids=str,
)
def test_wrong_keys(key, error, text):
    with pytest.raises(error, match=text) as caught:
        read(key)
    assert isinstance(caught.value, errors.Error)


def test_no_rows():
    empty = np.empty((0, 3))
    for key in (slice(None), [], np.array([], np.int64), np.zeros(0, bool), Ellipsis, slice(3, 9)):
        assert read(key, empty).shape == (0, 3)
    assert read(np.zeros((0, 3), bool), empty).shape == (0,)
    with pytest.raises(IndexError):
        read(0, empty)


def test_what_can_be_assigned():
    box = _indexing.parse((slice(1, 3), 2), SHAPE)
    assert _indexing.assigned_shape(box) == (2, 3)
    for key in ((None, 1), (0, slice(None, None, 2)), (0, slice(None, None, -1)), (slice(None), [0, 1])):
        with pytest.raises(errors.UnsupportedError):
            _indexing.assigned_shape(_indexing.parse(key, SHAPE))
    assert _indexing.check_assignable(_indexing.parse(slice(None, None, -2), SHAPE)) is None
    for key in (([0], 1), ([0], [1]), (slice(None, None, 2), [1]), (slice(None, None, 2), slice(0, 2))):
        with pytest.raises(errors.UnsupportedError):
            _indexing.check_assignable(_indexing.parse(key, SHAPE))
