"""A program over the shapes that models have: where it stands beside cuBLAS, and whether it chooses well."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.ticker import LogLocator

from common.plots.figures import percent
from common.plots.records import models
from common.plots.records.models import Roofs
from common.plots.records.results import Results
from common.plots.records.scores import ratio
from common.plots.style import BLUE, INK, ORANGE, PALE, SKY, SOFT, log_axis, titles

# Behind cuBLAS orange, level pale, ahead blue: apart for colour-blind readers, too, and in grey by their marks.
BESIDE = LinearSegmentedColormap.from_list("beside", ("#8A3A00", ORANGE, "#FFFFFF", SKY, "#00406B"))
LEAST, MOST = 0.9, 1.1


def mark(beside: float) -> str:
    return "v" if beside < 0.97 else "^" if beside >= 1.03 else "o"


def decades(axis) -> None:
    log_axis(axis)
    axis.set_major_locator(LogLocator(base=10))


def corner(over: Roofs) -> tuple:
    """m and the bytes of the weights at which all three roofs are equal: there are m operations for each byte."""
    return over.tensor / over.read, over.start * over.read


def lines(axes, over: Roofs, limits: tuple) -> None:
    """Between the regions, with A and C left out: m·bytes operations, and so many bytes."""
    (left, right), (low, high) = limits
    m, weights = corner(over)
    look = {"color": SOFT, "linewidth": 1.2, "linestyle": (0, (4, 3)), "zorder": 1}
    axes.plot([left, m], [weights / 1e6] * 2, **look)
    axes.plot([m, m], [weights / 1e6, high], **look)
    axes.plot([m, right], [weights / 1e6, weights / 1e6 * m / right], **look)
    behind = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.8}
    text = {"fontsize": 9.5, "color": SOFT, "zorder": 4, "fontweight": "bold", "bbox": behind}
    axes.text(left * 1.15, high * 0.9, "weights streamed", va="top", **text)
    axes.text(right * 0.87, high * 0.9, "tensor cores", va="top", ha="right", **text)
    axes.text(left * 1.15, low * 1.12, "start", va="bottom", **text)


def shape_map(results: Results, rung: str):
    """Each drawn shape, by its rows and its weights."""
    runs, over = models.swept(results, rung), models.roofs(results, rung)
    figure, axes = plt.subplots(figsize=(9, 5.8))
    megabytes = [models.weight_bytes(run) / 1e6 for run in runs]
    limits = (
        (0.8, max(1.3 * max(run["m"] for run in runs), 4 * corner(over)[0])),
        (min(megabytes) / 1.6, 2 * max(*megabytes, corner(over)[1] / 1e6)),
    )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    lines(axes, over, limits)
    scale, dots = Normalize(LEAST, MOST), None
    for kind in "ov^":
        here = [(run, y) for run, y in zip(runs, megabytes) if mark(ratio(run)) == kind]
        if here:
            xs, ys = [run["m"] for run, _ in here], [y for _, y in here]
            colours = [ratio(run) for run, _ in here]
            dots = axes.scatter(xs, ys, c=colours, marker=kind, cmap=BESIDE, norm=scale, s=42, edgecolor=INK, linewidth=0.6, zorder=3)
    bar = figure.colorbar(dots, ax=axes, extend="both", pad=0.02, aspect=30)
    bar.set_label(f"cuBLAS's time / that of {rung}    (▲ 1.03 or more, ▼ below 0.97)")
    bar.set_ticks([0.90, 0.95, 1.00, 1.05, 1.10])
    powers = [4**i for i in range(12) if 4**i <= limits[0][1]]
    axes.set_xticks(powers, [str(power) for power in powers])
    axes.minorticks_off()
    decades(axes.yaxis)
    axes.set_xlabel("m, rows of A")
    axes.set_ylabel("bytes of the weights, n·k·2, MB")
    axes.grid(True)
    titles(axes, f"{rung} beside cuBLAS: {len(runs)} shapes of models", results.where_measured())
    return figure


def ratios(results: Results, rung: str):
    """How many shapes stand where beside cuBLAS. What lies beyond the ends is counted in the last bars."""
    all_of = [ratio(run) for run in models.swept(results, rung)]
    width, first, last = 0.02, 0.80, 1.30
    bars = round((last - first) / width)
    counts = [0] * bars
    for one in all_of:
        counts[min(max(int((one - first) / width + 1e-9), 0), bars - 1)] += 1
    lefts = [first + i * width for i in range(bars)]
    figure, axes = plt.subplots(figsize=(8.6, 4.2))
    faces = [BLUE if left > 1 - width / 2 else ORANGE for left in lefts]
    hatches = ["" if left > 1 - width / 2 else "///" for left in lefts]
    axes.bar(lefts, counts, width, align="edge", color=faces, hatch=hatches, edgecolor=INK, linewidth=0.7)
    axes.axvline(1, color=INK, linewidth=1.2)
    mean = models.geometric_mean(all_of)
    axes.axvline(mean, color=INK, linewidth=1.2, linestyle=(0, (2, 2)))
    axes.annotate(
        f"geometric mean ×{mean:.3f}", (mean, 1), (6, -18), xycoords=("data", "axes fraction"),
        textcoords="offset points", va="top", fontsize=9,
    )  # fmt: skip
    behind = sum(one < 1 for one in all_of) / len(all_of)
    axes.text(0.01, 0.97, f"behind: {percent(behind)}", transform=axes.transAxes, va="top", fontsize=9)
    axes.text(0.99, 0.97, f"level or ahead: {percent(1 - behind)}", transform=axes.transAxes, va="top", ha="right", fontsize=9)
    ticks = [first + 0.1 * i for i in range(round((last - first) / 0.1) + 1)]
    names = [f"{tick:.1f}" for tick in ticks]
    names[0], names[-1] = f"≤ {names[0]}", f"≥ {names[-1]}"
    axes.set_xticks(ticks, names)
    axes.set_xlim(first, last)
    axes.set_ylim(0, 1.18 * max(counts))
    axes.set_xlabel(f"cuBLAS's time / that of {rung}")
    axes.set_ylabel(f"shapes, of {len(all_of)}")
    axes.grid(True, axis="y")
    titles(axes, f"{rung} beside the faster of cuBLAS's two", results.where_measured())
    return figure


def regret(results: Results, rung: str):
    """How much slower its choice is than the best of its variants: shapes from the least to the most."""
    all_of = sorted(100 * models.regret(tune) for tune in models.tuned(results, rung))
    figure, axes = plt.subplots(figsize=(8.6, 4.2))
    axes.fill_between(range(len(all_of) + 1), [*all_of, all_of[-1]], step="post", color=PALE)
    axes.step(range(len(all_of) + 1), [*all_of, all_of[-1]], where="post", color=BLUE)
    for name, value in (("mean", sum(all_of) / len(all_of)), ("90th percentile", models.percentile_90(all_of))):
        axes.axhline(value, color=INK, linewidth=1, linestyle=(0, (2, 2)))
        axes.annotate(f"{name} {value:.2f} %", (0, value), (6, 3), textcoords="offset points", fontsize=9)
    axes.set_xlim(0, len(all_of))
    axes.set_ylim(0, max(1.1 * all_of[-1], 1))
    axes.set_xlabel(f"shapes, of {len(all_of)}, by their regret")
    axes.set_ylabel("slower than its fastest variant, %")
    axes.grid(True, axis="y")
    titles(axes, f"{rung}: what its choice of a design costs", results.where_measured())
    return figure


DRAW = {"models_map": shape_map, "models_ratios": ratios, "models_regret": regret}


def all_charts(results: Results) -> dict:
    """File name → figure, as far as there are records for it."""
    shown = models.of_one_device(results)
    return {name: lambda name=name, rung=rung: DRAW[name](shown, rung) for name, rung in models.charts(results).items()}
