"""Rung 08: when memory and tensor cores work, where the norm is a kernel of its own and where it is not."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt

from common.plots.records.results import Results
from common.plots.style import BLUE, GREEN, INK, SOFT, VERMILLION, titles

ROWS, COLS, N = 8192, 4096, 4096
MAKERS = 1.2e6  # bytes/µs, that the producers' other warps move beside a product
STRIP, WAVE_TILES, TILE = 1024, 132, 128 * 256  # rows of a strip; CTAs at a time, and elements of a tile of each
PARTS = 8  # of a row


class Bar(NamedTuple):
    lane: str
    begin: float
    end: float
    what: str


class Rates(NamedTuple):
    copy: float  # bytes/µs, of a kernel that does nothing else
    tensor: float  # operations/µs


def rates(results: Results) -> Rates:
    """Those of this device, where they are recorded: a large gemm of the rung is near the power limit, as this one is."""
    copy, gemm = results.roofs.get("copy"), results.run("08_warp_specialized", "gemm", "8192x8192x8192")
    return Rates(copy["value"] * 1e3 if copy else 4.2e6, gemm["tflops"] * 1e6 if gemm else 670e6)


def waves(rates: Rates) -> list:
    """Rows of each wave's last strip that must be there, and its time in µs, of the product's tiles in their order."""
    tiles = ROWS * N // TILE
    whole = WAVE_TILES * TILE * COLS * 2 / rates.tensor
    return [(min(tiles, (w + 1) * WAVE_TILES) * TILE // N, whole) for w in range(-(-tiles // WAVE_TILES))]


def product(rates: Rates, begin: float, what: str) -> list:
    bars = []
    for number, (_, time) in enumerate(waves(rates)):
        bars.append(Bar("tensor cores", begin, begin + time, what if number == 0 else ""))
        begin += time
    return bars


def before(rates: Rates, bytes_each: int, what: str) -> list:
    """Rows that a kernel of its own makes, with so many bytes for each element, and then the product."""
    time = ROWS * COLS * bytes_each / rates.copy
    return [Bar("memory", 0, time, what), *product(rates, time, "the product")]


def meanwhile(rates: Rates) -> list:
    """A wave begins when the first part of its rows is there, and cannot end before the last is."""
    strip = STRIP * COLS * 6 / MAKERS
    strips = -(-ROWS // STRIP)
    bars = [Bar("memory", s * strip, (s + 1) * strip, "h" if s == 0 else "") for s in range(strips)]
    now = strip / PARTS
    for number, (rows, time) in enumerate(waves(rates)):
        last = min(strips, -(-rows // STRIP)) * strip
        end = max(now + time, last + time / PARTS)
        bars.append(Bar("tensor cores", now, end, "the product" if number == 0 else ""))
        now = end
    return bars


VARIANTS, TWO_STEPS = ("row_scales", "one_kernel"), "row_in_cluster+warp_specialized"
DESIGNS = (
    ("fused_norm, then gemm", lambda rates: before(rates, 8, "h and y")),
    ("row_scales", lambda rates: before(rates, 6, "h")),
    ("one_kernel", meanwhile),
)


def measured(results: Results, name: str) -> float | None:
    """µs, of a variant; or of the fused_norm and the gemm of this rung, which were timed beside one."""
    run = results.run("08_warp_specialized", "norm_gemm", f"{ROWS}x{COLS}x{N}", name if name in VARIANTS else None)
    if run and name not in VARIANTS:  # beside the rung itself
        return (run.get("baselines", {}).get(TWO_STEPS) or {}).get("median_us")
    return run["median_us"] if run else None


def norm_gemm_08(results: Results):
    known = rates(results)
    figure, axes = plt.subplots(figsize=(10, 4.2))
    ticks, labels = [], []
    for row, (name, bars_of) in enumerate(DESIGNS):
        bars = bars_of(known)
        for lane, colour in (("memory", GREEN), ("tensor cores", BLUE)):
            y = row * 2.6 + (lane == "tensor cores")
            ticks.append(y)
            labels.append(f"{name}: {lane}" if lane == "memory" else lane)
            for bar in (bar for bar in bars if bar.lane == lane):
                axes.barh(y, bar.end - bar.begin, left=bar.begin, height=0.8, color=colour, edgecolor="white", linewidth=1)
                axes.annotate(bar.what, (bar.begin + 3, y), va="center", color="white", fontsize=8)
        end = max(bar.end for bar in bars)
        axes.plot([end, end], [row * 2.6 - 0.5, row * 2.6 + 1.5], color=VERMILLION, linewidth=1.6)
        axes.annotate(f"{end:.0f} ", (end, row * 2.6 - 0.1), va="center", ha="right", fontsize=9, color=VERMILLION)
        if us := measured(results, name):
            axes.plot([us, us], [row * 2.6 - 0.5, row * 2.6 + 1.5], color=INK, linewidth=1.6, linestyle=(0, (2, 2)))
            axes.annotate(f" {us:.0f} measured", (us, row * 2.6 - 0.1), va="center", fontsize=9, color=INK)
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(2.6 * len(DESIGNS) - 0.9, -0.7)
    axes.set_xlim(0, 540)
    axes.set_xlabel("µs", color=SOFT)
    titles(
        axes,
        f"add, RMSNorm and a product of {ROWS}×{COLS}→{N}: who waits for whom",
        f"Bars: worked out, with memory at {known.copy / 1e6:.1f} TB/s, and at {MAKERS / 1e6:.1f} beside a product; tensor "
        f"cores at {known.tensor / 1e6:.0f} TFLOPS, in waves of {WAVE_TILES} tiles. Dashed: measured.",
    )
    return figure
