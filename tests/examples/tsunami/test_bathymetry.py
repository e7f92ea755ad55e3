# SPDX-License-Identifier: BSD-3-Clause
"""The sea bed that demo.py writes for the solver."""

import os
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import example_path  # noqa: F401

# isort: split
import bathymetry


def test_data_is_the_salish_sea():
    sea = bathymetry.salish_sea()
    assert sea.elevation.shape == (91, 120)
    assert sea.elevation.min() == -1437
    assert sea.elevation.max() == 2205
    assert sea.cell_size == pytest.approx((2431, 2431), rel=1e-3)


@pytest.mark.parametrize("factor", [0.25, 0.5, 0.73, 2.0, 3.1])
def test_resampling_keeps_area_and_mean(factor):
    sea = bathymetry.salish_sea()
    other = bathymetry.resample(sea, factor)
    assert other.elevation.shape == (round(91 * factor), round(120 * factor))
    extent = np.multiply(sea.cell_size, (120, 91))
    assert np.multiply(other.cell_size, other.elevation.shape[::-1]) == pytest.approx(extent, rel=2e-3)
    assert other.elevation.mean() == pytest.approx(sea.elevation.mean(), rel=2e-3)


def test_resolution_one_changes_nothing():
    sea = bathymetry.salish_sea()
    assert np.array_equal(bathymetry.resample(sea, 1.0).elevation, sea.elevation)


def test_interpolation_is_exact_for_planes():
    plane = np.add.outer(2.0 * np.arange(20), 3.0 * np.arange(30)).astype(np.float32)
    fine = bathymetry.interpolation(20, 40) @ plane @ bathymetry.interpolation(30, 60).T
    rows, columns = (np.arange(40) + 0.5) / 2 - 0.5, (np.arange(60) + 0.5) / 2 - 0.5
    expected = np.add.outer(2.0 * rows, 3.0 * columns)
    assert np.allclose(fine[1:-1, 1:-1], expected[1:-1, 1:-1])


def test_file_is_read_back(tmp_path):
    path = str(tmp_path / "bed.bin")
    sea = bathymetry.resample(bathymetry.salish_sea(), 0.5)
    bathymetry.write(path, sea)
    found = bathymetry.read(path)
    assert np.array_equal(found.elevation, sea.elevation)
    assert np.allclose(found.longitude, sea.longitude)
    assert np.allclose(found.latitude, sea.latitude)


def test_foreign_file_is_named(tmp_path):
    path = str(tmp_path / "other.bin")
    with open(path, "wb") as file:
        file.write(b"something else")
    with pytest.raises(ValueError, match="other.bin"):
        bathymetry.read(path)
