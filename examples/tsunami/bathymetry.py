# SPDX-License-Identifier: BSD-3-Clause
"""Real topography and bathymetry of the Salish Sea (matplotlib's sample data), for the Fortran solver to read.

The file's format is described in solver/bathymetry.f90. As a script: python bathymetry.py FILE [--resolution FACTOR]
"""

from __future__ import annotations

import argparse
import dataclasses
import os

import numpy as np

MAGIC = b"SYBATHY1"
METRES_PER_DEGREE = 111_194.9  # of latitude, on a sphere of 6371 km


@dataclasses.dataclass(frozen=True)
class Bathymetry:
    """Elevations in metres above the sea at cell centres, from south to north and from west to east."""

    elevation: np.ndarray  # float32, (ny, nx)
    longitude: np.ndarray  # degrees, (nx,)
    latitude: np.ndarray  # degrees, (ny,)

    @property
    def cell_size(self) -> tuple[float, float]:
        """Width and height of a cell in metres, at the mean latitude."""
        shrink = np.cos(np.deg2rad(self.latitude.mean()))
        width = np.diff(self.longitude).mean() * METRES_PER_DEGREE * shrink
        return float(width), float(np.diff(self.latitude).mean() * METRES_PER_DEGREE)


def salish_sea() -> Bathymetry:
    """The data in matplotlib's package: 91 x 120 points."""
    from matplotlib import cbook

    data = cbook.get_sample_data("topobathy.npz")
    return Bathymetry(
        *(
            np.asarray(data[name], dtype)
            for name, dtype in (("topo", np.float32), ("longitude", np.float64), ("latitude", np.float64))
        )
    )


def averaging(old: int, new: int) -> np.ndarray:
    """Weights (new, old) that average the old cells which each new, wider cell covers."""
    edges = np.arange(new + 1) * (old / new)
    cells = np.arange(old)
    overlap = np.minimum(edges[1:, None], cells + 1) - np.maximum(edges[:-1, None], cells)
    overlap = np.clip(overlap, 0, None)
    return overlap / overlap.sum(axis=1, keepdims=True)


def interpolation(old: int, new: int) -> np.ndarray:
    """Weights (new, old) that interpolate linearly between cell centres, and are constant beyond the outermost ones."""
    place = np.clip((np.arange(new) + 0.5) * (old / new) - 0.5, 0, old - 1)
    left = np.minimum(place.astype(int), old - 2)
    weights = np.zeros((new, old))
    weights[np.arange(new), left] = 1 - (place - left)
    weights[np.arange(new), left + 1] = place - left
    return weights


def centres(old: np.ndarray, new: int) -> np.ndarray:
    """Coordinates of the centres of new equal cells over the extent of the old ones."""
    step = (old[-1] - old[0]) / (len(old) - 1)
    return old[0] - step / 2 + (np.arange(new) + 0.5) * step * len(old) / new


def resample(source: Bathymetry, factor: float) -> Bathymetry:
    """The same area with factor times as many cells in each direction: averaged or interpolated bilinearly."""
    ny, nx = source.elevation.shape
    new_ny, new_nx = max(4, round(ny * factor)), max(4, round(nx * factor))
    weights = averaging if factor < 1 else interpolation
    elevation = weights(ny, new_ny) @ source.elevation.astype(np.float64) @ weights(nx, new_nx).T
    return Bathymetry(elevation.astype(np.float32), centres(source.longitude, new_nx), centres(source.latitude, new_ny))


def write(path: str, bathymetry: Bathymetry) -> None:
    """Writes the file that the solver reads."""
    ny, nx = bathymetry.elevation.shape
    corners = (bathymetry.longitude[0], bathymetry.latitude[0], bathymetry.longitude[-1], bathymetry.latitude[-1])
    with open(path, "wb") as file:
        file.write(MAGIC)
        file.write(np.array([nx, ny], np.int32).tobytes())
        file.write(np.array([*bathymetry.cell_size, *corners], np.float64).tobytes())
        file.write(np.ascontiguousarray(bathymetry.elevation, np.float32).tobytes())


def read(path: str) -> Bathymetry:
    """Reads a file that write() has written."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != MAGIC:
        raise ValueError(f"{path!r} is not a bathymetry file: it does not begin with {MAGIC.decode()}")
    nx, ny = np.frombuffer(data, np.int32, 2, 8)
    west, south, east, north = np.frombuffer(data, np.float64, 4, 32)
    elevation = np.frombuffer(data, np.float32, nx * ny, 64).reshape(ny, nx)
    return Bathymetry(elevation.copy(), np.linspace(west, east, nx), np.linspace(south, north, ny))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="file to write")
    parser.add_argument("--resolution", type=float, default=1.0, help="cells per cell of the data, in each direction")
    options = parser.parse_args()
    os.makedirs(os.path.dirname(os.path.abspath(options.file)), exist_ok=True)
    write(options.file, resample(salish_sea(), options.resolution))


if __name__ == "__main__":
    main()
