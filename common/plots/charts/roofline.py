"""The roofline: where the rungs stand under the limits measured on the same device."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
from matplotlib.ticker import LogLocator

from common.plots.figures import figure as digits
from common.plots.records.problems import DEFAULT_SHAPE, NAMES, compulsory_bytes, flops, pretty
from common.plots.records.results import Results
from common.plots.style import FAINT, INK, axes_fraction, end_labels, log_axis, rung_look, titles

PROBLEMS = ("gemm", "fused_norm")  # that every rung has
REACHABLE = ("fp32_fma", "bf16_mma_sync", "bf16_wgmma")  # by a rung's own gemm, which is in bf16


def roofline(results: Results):
    """Rungs under the measured roofs. Intensity counts compulsory bytes only: what a perfect cache would move."""
    copy = results.roofs.get("copy")
    flat = {name: results.roofs[name]["value"] for name in REACHABLE if name in results.roofs}
    runs = {problem: results.ladder(problem, DEFAULT_SHAPE[problem]) for problem in PROBLEMS}
    if not copy or not flat or not any(runs.values()):
        return None
    slope = copy["value"] / 1e3  # TB/s, that is TFLOPS per flop/byte
    figure, axes = plt.subplots(figsize=(9, 5.6))
    axes.set_xscale("log")
    axes.set_yscale("log")
    points = [
        (flops(run) / compulsory_bytes(run), flops(run) / run["median_us"] / 1e6, run)
        for problem in runs
        for run in runs[problem]
    ]
    low = min(y for _, y, _ in points) / 2
    left = min(0.25, min(x for x, _, _ in points) / 2)
    right = max(2e3, max(x for x, _, _ in points) * 1.6)
    axes.set_xlim(left, right)
    axes.set_ylim(low, max([*flat.values(), *(y for _, y, _ in points)]) * 2)
    log_axis(axes.xaxis)
    log_axis(axes.yaxis)
    axes.xaxis.set_major_locator(LogLocator(base=10))
    axes.yaxis.set_major_locator(LogLocator(base=10))
    axes.grid(True)
    peak = max(flat.values())
    axes.plot([left, peak / slope], [left * slope, peak], color=INK, linewidth=2)
    for name, value in sorted(flat.items(), key=lambda item: item[1]):
        axes.plot([value / slope, right], [value, value], color=INK, linewidth=2)
        top = value == peak  # its name stands above its line, those of lower roofs below theirs
        axes.annotate(
            f"{name}: {digits(value)}",
            (value / slope, value),
            (8, 3) if top else (8, -4),
            textcoords="offset points",
            fontsize=9,
            ha="left",
            va="bottom" if top else "top",
        )
    for x, y, run in points:
        look = rung_look(run["rung"])
        axes.plot(x, y, look["marker"], color=look["color"], markeredgecolor=INK, markeredgewidth=0.7, markersize=9)
    figure.canvas.draw()
    corner = [axes.transData.transform(point) for point in ((left, left * slope), (left * 10, left * 10 * slope))]
    angle = math.degrees(math.atan2(corner[1][1] - corner[0][1], corner[1][0] - corner[0][0]))
    middle = math.sqrt(max(left, low / slope) * peak / slope)
    axes.annotate(
        f"copy: {digits(copy['value'])} GB/s",
        (middle, middle * slope),
        (-5, 5),
        textcoords="offset points",
        fontsize=9,
        rotation=angle,
        rotation_mode="anchor",
        ha="center",
        va="bottom",
    )
    for problem in PROBLEMS:  # named once: beside the gemms, which lie apart; the norms have the same markers
        mine = [(axes_fraction(axes, x, y), run) for x, y, run in points if run["problem"] == problem]
        if mine:
            ends = [(at[1], run["rung"], rung_look(run["rung"])["color"], at[0]) for at, run in mine]
            if problem == "gemm":
                end_labels(axes, ends, 1.02)
            else:
                best = max(at[1] for at, _ in mine)
                names = f"{NAMES[problem]},\nfrom {mine[0][1]['rung'][:2]} (lowest) up"
                axes.text(ends[0][3] + 0.03, best - 0.06, names, transform=axes.transAxes, fontsize=9, va="top")
            axes.axvline(
                next(x for x, _, run in points if run["problem"] == problem),
                color=FAINT,
                linewidth=1,
                linestyle=(0, (1, 2)),
                zorder=0,
            )
    axes.set_xlabel("flops per compulsory byte of memory traffic, logarithmic")
    axes.set_ylabel("TFLOPS, logarithmic")
    named = " and ".join(f"{NAMES[p]} {pretty(DEFAULT_SHAPE[p])}" for p in PROBLEMS if runs[p])
    titles(axes, "Roofline: the rungs under the measured roofs", f"{named}; {results.where_measured()}")
    return figure
