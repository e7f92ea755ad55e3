# SPDX-License-Identifier: BSD-3-Clause
"""The picture of the demo: the solver's wave, the surrogate's, their difference, the sea bed, the losses, a table."""

from __future__ import annotations

import dataclasses
import typing

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import LogLocator, NullFormatter

if typing.TYPE_CHECKING:
    from .forecasts import Comparison

LAND = "#d8d2c4"
COAST = "#4a4438"
INK = "#22303c"
ACCENT = "#c8553d"


@dataclasses.dataclass(frozen=True)
class Wave:
    """One held-out example; surface elevations in metres, (ny, nx)."""

    minutes: float  # simulated time of the prediction
    lead_minutes: float
    start: np.ndarray  # the state from which solver and surrogate start
    solver: np.ndarray
    surrogate: np.ndarray


@dataclasses.dataclass(frozen=True)
class Map:
    """Elevation of the ground in metres above the sea, (ny, nx), and the coordinates of its cells in degrees."""

    elevation: np.ndarray
    longitude: np.ndarray
    latitude: np.ndarray


@dataclasses.dataclass(frozen=True)
class Curves:
    """Losses of training, each with its second since training began; held-out losses as pairs (second, loss)."""

    seconds: np.ndarray
    training: np.ndarray
    held_out: list[tuple[float, float]]
    persistence: float


def new_figure(title: str, subtitle: str) -> tuple[Figure, GridSpec]:
    """A page with its titles, and a grid of two rows of three panels."""
    plt.rcParams.update(
        {
            "font.size": 10,
            "axes.edgecolor": INK,
            "text.color": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.titlesize": 11,
            "axes.titleweight": "bold",
        }
    )
    figure = plt.figure(figsize=(16, 9), facecolor="white")
    grid = figure.add_gridspec(2, 3, left=0.045, right=0.93, top=0.86, bottom=0.07, hspace=0.26, wspace=0.16)
    figure.text(0.045, 0.945, title, fontsize=19, weight="bold")
    figure.text(0.045, 0.91, subtitle, fontsize=12)
    return figure, grid


def draw(path: str, ground: Map, wave: Wave, curves: Curves, table: list[tuple[str, str]]) -> None:
    """Writes the picture."""
    figure, grid = new_figure(
        "One memory: a Fortran tsunami solver and a PyTorch surrogate in one MPI job",
        f"Salish Sea, a run that the surrogate has never seen: the sea {wave.lead_minutes:g} minutes "
        f"ahead, {wave.minutes:g} minutes after the seabed rose",
    )
    titles = ("Solver (finite volumes, Fortran)", "Surrogate (network, PyTorch)", "Difference")
    draw_waves(figure, [figure.add_subplot(grid[0, i]) for i in range(3)], ground, titles, wave.solver, wave.surrogate)
    draw_bed(figure.add_subplot(grid[1, 0]), ground, wave)
    draw_curves(figure.add_subplot(grid[1, 1]), curves)
    draw_table(figure.add_subplot(grid[1, 2]), table)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_forecasts(path: str, ground: Map, comparison: Comparison, table: list[tuple[str, str]]) -> None:
    """Writes the picture of a solver that uses the surrogate's forecasts."""
    figure, grid = new_figure(
        "The solver uses the surrogate: its forecasts take the place of some of the solver's steps",
        "Salish Sea, runs that the surrogate has never seen, computed twice; the maps are of "
        f"{comparison.minutes[-1]:g} minutes after the seabed rose",
    )
    titles = ("Solver alone", "Solver with forecasts", "Difference")
    maps = [figure.add_subplot(grid[0, i]) for i in range(3)]
    draw_waves(figure, maps, ground, titles, comparison.alone, comparison.together)
    axis = figure.add_subplot(grid[1, :2])
    axis.plot(comparison.minutes, 100 * comparison.error, "o-", color=ACCENT, linewidth=1.8, markersize=5)
    axis.set_ylim(bottom=0)
    axis.set_xlabel("minutes after the seabed rose")
    axis.set_title("Difference in % of the waves (root mean square, all runs)", loc="left")
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(True, alpha=0.25)
    draw_table(figure.add_subplot(grid[1, 2]), table)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def draw_waves(
    figure: Figure, axes: list[Axes], ground: Map, titles: tuple[str, ...], first: np.ndarray, second: np.ndarray
) -> None:
    """Three maps with one colour scale: the two waves and their difference."""
    wet = ground.elevation < 0
    limit = max(float(np.quantile(np.abs(first[wet]), 0.99)), 1e-3)
    for axis, title, values in zip(axes, titles, (first, second, second - first), strict=True):
        prepare_map(axis, ground)
        mesh = axis.pcolormesh(
            ground.longitude,
            ground.latitude,
            np.where(wet, values, np.nan),
            cmap="RdBu_r",
            vmin=-limit,
            vmax=limit,
            shading="nearest",
            rasterized=True,
        )
        draw_coast(axis, ground)
        axis.set_title(title, loc="left")
    box = axes[-1].get_position()
    bar = figure.colorbar(mesh, cax=figure.add_axes((0.94, box.y0, 0.01, box.height)), extend="both")
    bar.set_label("surface elevation (m)")


def prepare_map(axis: Axes, ground: Map) -> None:
    axis.set_facecolor(LAND)
    axis.set_aspect(1 / np.cos(np.deg2rad(ground.latitude.mean())))
    ticks = range(int(np.ceil(ground.longitude[0])), int(np.floor(ground.longitude[-1])) + 1)
    axis.set_xticks(ticks, [f"{360 - tick}°W" for tick in ticks])
    axis.set_yticks([48.5, 49, 49.5], ["48.5°N", "49°N", "49.5°N"])
    axis.set_xlim(ground.longitude[0], ground.longitude[-1])
    axis.set_ylim(ground.latitude[0], ground.latitude[-1])
    axis.tick_params(length=0)


def draw_coast(axis: Axes, ground: Map) -> None:
    axis.contour(ground.longitude, ground.latitude, ground.elevation, levels=[0], colors=COAST, linewidths=0.8)


def draw_bed(axis: Axes, ground: Map, wave: Wave) -> None:
    """The ground, the coastline, and the wave that both predictions start from."""
    prepare_map(axis, ground)
    sea = plt.get_cmap("ocean")(np.linspace(0.35, 0.85, 128))
    land = plt.get_cmap("terrain")(np.linspace(0.27, 0.95, 128))
    colours = LinearSegmentedColormap.from_list("ground", np.vstack([sea, land]))
    scale = TwoSlopeNorm(0, min(float(ground.elevation.min()), -1.0), max(float(ground.elevation.max()), 1.0))
    mesh = axis.pcolormesh(
        ground.longitude,
        ground.latitude,
        ground.elevation,
        cmap=colours,
        norm=scale,
        shading="nearest",
        rasterized=True,
    )
    draw_coast(axis, ground)
    crest = float(np.abs(wave.start[ground.elevation < 0]).max())
    axis.contour(
        ground.longitude,
        ground.latitude,
        np.where(ground.elevation < 0, wave.start, 0),
        levels=np.linspace(0.2, 0.9, 4) * crest,
        colors="white",
        linewidths=1.0,
    )
    axis.set_title("Sea bed, and the wave both start from", loc="left")
    axis.add_patch(plt.Rectangle((0.57, 0.84), 0.41, 0.14, transform=axis.transAxes, color="white", alpha=0.85))
    bar = axis.figure.colorbar(mesh, cax=axis.inset_axes((0.63, 0.87, 0.29, 0.035)), orientation="horizontal")
    bar.set_ticks([scale.vmin, 0, scale.vmax], labels=[f"{scale.vmin:.0f}", "0", f"{scale.vmax:.0f} m"], fontsize=8)
    bar.ax.tick_params(length=0, pad=0, labeltop=True, labelbottom=False)


def smooth(values: np.ndarray, width: int) -> np.ndarray:
    """Moving geometric mean of the values."""
    width = max(1, min(width, len(values)))
    kernel = np.ones(width)
    weights = np.convolve(np.ones(len(values)), kernel, "same")
    return np.exp(np.convolve(np.log(values), kernel, "same") / weights)


def draw_curves(axis: Axes, curves: Curves) -> None:
    """Losses while training, with persistence and a third of it."""
    values = np.maximum(curves.training, 1e-9)
    axis.plot(curves.seconds, values, color=ACCENT, alpha=0.25, linewidth=0.7)
    axis.plot(curves.seconds, smooth(values, len(values) // 40 + 1), color=ACCENT, linewidth=1.8, label="training")
    if curves.held_out:
        axis.plot(
            *zip(*curves.held_out, strict=True), "o-", color=INK, markersize=5, linewidth=1.2, label="held-out runs"
        )
    axis.axhline(curves.persistence, color="gray", linestyle="--", linewidth=1.2, label="persistence")
    axis.axhline(curves.persistence / 3, color="gray", linestyle=":", linewidth=1.2, label="a third of it")
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter("{x:g}")
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.set_xlabel("seconds of training, solver and learners side by side")
    axis.set_title("Loss", loc="left")
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(True, which="major", alpha=0.25)
    axis.legend(frameon=False, ncols=2)


def draw_table(axis: Axes, table: list[tuple[str, str]]) -> None:
    """Names on the left, values on the right."""
    axis.axis("off")
    axis.set_title("In numbers", loc="left")
    for row, (name, value) in enumerate(table):
        height = 0.97 - row * 0.98 / len(table)
        axis.text(0.0, height, name, transform=axis.transAxes, va="top", fontsize=11)
        axis.text(1.0, height, value, transform=axis.transAxes, va="top", ha="right", fontsize=11, weight="bold")
        axis.axhline(height - 0.6 / len(table), color="#e4e4e4", linewidth=0.8)
    axis.set_ylim(0, 1)
