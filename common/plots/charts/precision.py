"""The precision ladder: one kernel in every type, what it reaches and what it loses."""

from __future__ import annotations

import matplotlib.pyplot as plt

from common.plots.figures import figure as digits, percent
from common.plots.records.precisions import COLUMNS, ORDER, ROWS, growing, of_shape
from common.plots.records.problems import DEFAULT_SHAPE, pretty, short
from common.plots.records.results import Results
from common.plots.records.scores import baseline_score, ratio, score
from common.plots.style import (
    BLUE,
    BROWN,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    YELLOW,
    axes_fraction,
    end_labels,
    text_column,
    titles,
)

OF_FP8 = (VERMILLION, PURPLE, PURPLE, PURPLE, VERMILLION, INK, INK)
COLOURS = dict(zip(ORDER, (INK, GREY, SKY, BLUE, GREEN, YELLOW, ORANGE, *OF_FP8, INK, INK, SKY, GREEN, BROWN)))
MARKERS = dict(zip(ORDER, "hos^Dv<PX><*phPd8sH"))


def ladder(results: Results):
    """Throughput and error side by side, a line for each type and rung."""
    runs = of_shape(results, DEFAULT_SHAPE["gemm"])
    if not runs:
        return None
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10.5, 1.4 + 0.42 * len(runs)), sharey=True, gridspec_kw={"wspace": 0.42, "width_ratios": [3, 2]}
    )
    for y, run in enumerate(runs):
        base = baseline_score(run)
        left.barh(y, score(run), height=0.62, color=COLOURS[run["type"]], edgecolor=INK, linewidth=0.8)
        if base:
            left.plot([base, base], [y - 0.42, y + 0.42], color=INK, linewidth=2.4, solid_capstyle="butt")
        right.plot(run["relative_error"], y, MARKERS[run["type"]], color=COLOURS[run["type"]], markeredgecolor=INK)
    left.set_yticks(range(len(runs)), [f"{run['type']}, rung {short(run['rung'])}" for run in runs])
    left.set_ylim(len(runs) - 0.45, -0.62)
    left.set_xlim(left=0)
    left.set_xlabel("TFLOPS    (bar: the rung, ┃: the library's best in the same run)")
    text_column(left, 1.11, "TFLOPS", [digits(score(run)) for run in runs])
    text_column(left, 1.27, "of library", [percent(ratio(run)) if baseline_score(run) else "–" for run in runs])
    right.set_xscale("log")
    right.set_xlabel("relative error beside fp64, logarithmic")
    for axes in (left, right):
        axes.tick_params(axis="y", length=0)
        axes.grid(True, axis="x")
    titles(left, f"The precision ladder, GEMM at {pretty(DEFAULT_SHAPE['gemm'])}", results.where_measured())
    return figure


def errors(results: Results):
    """What a type loses as k grows. The roundings of the factors are as many as the products that C is the sum of: their
    share of it stays. What adding up loses grows."""
    lines = growing(results)
    if not lines:
        return None
    figure, axes = plt.subplots(figsize=(8.6, 5.2))
    for kind, runs in lines.items():
        look = {"color": COLOURS[kind], "marker": MARKERS[kind], "markeredgecolor": INK, "markeredgewidth": 0.7}
        axes.plot([run["k"] for run in runs], [run["relative_error"] for run in runs], **look)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = sorted({run["k"] for runs in lines.values() for run in runs})
    axes.set_xticks(ticks, [str(k) for k in ticks])
    axes.minorticks_off()
    axes.set_xlabel(f"k, of C with {ROWS} rows and {COLUMNS} columns")
    axes.set_ylabel("relative error beside fp64, logarithmic")
    axes.grid(True)
    figure.canvas.draw()
    ends = []
    for kind, runs in lines.items():
        from_x, place = axes_fraction(axes, runs[-1]["k"], runs[-1]["relative_error"])
        ends.append((place, kind, COLOURS[kind], from_x))
    end_labels(axes, ends, 1.04)
    titles(axes, "What a type loses as k grows, inputs N(0, 1)", results.where_measured())
    return figure
