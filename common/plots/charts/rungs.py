"""The charts of the rungs: the ladder, sizes, ablations, launches. Each function returns a figure, or None without records."""

from __future__ import annotations

import matplotlib.pyplot as plt

from common.plots.figures import figure as digits, percent
from common.plots.records.problems import BASELINE, DEFAULT_SHAPE, NAMES, UNIT, pretty, shape_of, sizes
from common.plots.records.results import Results
from common.plots.records.scores import baseline_score, best_baseline, noise_text, ratio, score, slowdown
from common.plots.style import (
    BASELINE_LOOK,
    FAINT,
    INK,
    axes_fraction,
    end_labels,
    log_axis,
    rung_look,
    text_column,
    titles,
)


def ladder(results: Results, problem: str):
    """One line per rung. GEMM spans three decades, so its axis is logarithmic and the gap to cuBLAS is the line
    between the two marks; the norm's begins at zero and has bars."""
    runs = results.ladder(problem, DEFAULT_SHAPE[problem])
    if not runs:
        return None
    name, bars = BASELINE[problem], problem == "fused_norm"
    figure, axes = plt.subplots(figsize=(8.2, 1.3 + 0.46 * len(runs)))
    top = max(max(score(run), baseline_score(run) or 0) for run in runs)
    for y, run in enumerate(runs):
        look, value, base = rung_look(run["rung"]), score(run), baseline_score(run)
        if bars:
            axes.barh(y, value, height=0.62, color=look["color"], edgecolor=INK, linewidth=0.8)
            if base:
                axes.plot([base, base], [y - 0.42, y + 0.42], color=INK, linewidth=2.4, solid_capstyle="butt")
        else:
            if base:
                axes.plot([value, base], [y, y], color=FAINT, linewidth=2.2, zorder=1, solid_capstyle="butt")
                axes.plot(base, y, "|", color=INK, markersize=17, markeredgewidth=2.4)
            axes.plot(value, y, look["marker"], color=look["color"], markeredgecolor=INK, markersize=11, zorder=3)
    axes.set_yticks(range(len(runs)), [run["rung"] for run in runs])
    axes.set_ylim(len(runs) - 0.45, -0.62)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x")
    if bars:
        axes.set_xlim(0, top * 1.06)
        axes.set_xlabel(
            f"{UNIT[problem]} of compulsory traffic    (bar: the rung, ┃: {name} of as many bytes in the same run)"
        )
    else:
        axes.set_xscale("log")
        low = min(score(run) for run in runs)
        axes.set_xlim(low / 1.7, top * 1.45)
        log_axis(axes.xaxis)
        axes.set_xlabel(f"{UNIT[problem]}, logarithmic    (marker: the rung, ┃: {name} in the same run)")
    text_column(axes, 1.12, UNIT[problem], [digits(score(run)) for run in runs])
    text_column(
        axes,
        1.28,
        f"of {name}",
        [percent(ratio(run)) if best_baseline(run) else "–" for run in runs],
        fontweight="bold",
    )
    titles(axes, f"{NAMES[problem]}: the ladder at {pretty(DEFAULT_SHAPE[problem])}, bf16", results.where_measured())
    return figure


def sweep_lines(results: Results, problem: str, shapes: list) -> list:
    """(label, look, [score or None per shape]), the baseline last: the fastest one of any rung's run at that shape."""
    lines = []
    for rung in results.rungs(problem):
        runs = [results.run(rung, problem, shape) for shape in shapes]
        lines.append((rung, rung_look(rung), [score(run) if run else None for run in runs]))
    base = []
    for shape in shapes:
        scores = [baseline_score(run) for run in results.ladder(problem, shape) if best_baseline(run)]
        base.append(max(scores) if scores else None)
    return lines + [(BASELINE[problem], BASELINE_LOOK, base)]


def draw_lines(axes, lines: list, xs: list, joined: bool) -> None:
    for _, look, values in lines:
        points = [(x, value) for x, value in zip(xs, values) if value is not None]
        if points:
            axes.plot(
                *zip(*points),
                **{**look, "linestyle": look["linestyle"] if joined else (0, (1, 3))},
                linewidth=1.8 if joined else 0.9,
                markeredgecolor=INK,
                markeredgewidth=0.7,
            )


def sweep(results: Results, problem: str):
    """Score against size: cubes for gemm (other shapes have no order among them), and for the norm wider and wider rows."""
    shapes = results.shapes(problem)
    cubes = problem == "gemm"
    if cubes:
        shapes = [shape for shape in shapes if len(set(sizes(shape))) == 1]
    if len(shapes) < 2:
        return None
    figure, axes = plt.subplots(figsize=(9, 5.2))
    lines = sweep_lines(results, problem, shapes)
    xs = [sizes(shape)[0] for shape in shapes] if cubes else list(range(len(shapes)))
    draw_lines(axes, lines, xs, joined=cubes)
    if cubes:
        axes.set_xscale("log", base=2)
        axes.set_xlabel("m = n = k")
        powers = [x for x in xs if x & (x - 1) == 0]
        axes.set_xticks(powers, [str(x) for x in powers])
        axes.minorticks_off()
        axes.set_yscale("log")
        log_axis(axes.yaxis)
        axes.set_ylabel("TFLOPS, logarithmic")
    else:
        axes.set_xlim(-0.5, len(shapes) - 0.5)
        axes.set_xlabel("rows×cols, from narrow to wide rows")
        names = [pretty(shape) for shape in shapes]
        axes.set_xticks(xs, names, rotation=40, ha="right", rotation_mode="anchor")
        axes.set_ylim(bottom=0)
        axes.set_ylabel("GB/s of compulsory traffic")
    axes.grid(True)
    figure.canvas.draw()
    ends = []
    for label, look, values in lines:
        points = [(x, value) for x, value in zip(xs, values) if value is not None]
        if points:
            from_x, position = axes_fraction(axes, *points[-1])
            ends.append((position, label, look["color"], from_x))
    end_labels(axes, ends, 1.05)
    titles(axes, f"{NAMES[problem]}: throughput against size, bf16", results.where_measured())
    return figure


def ablation(results: Results, rung: str, problem: str, shape: str):
    """The variants of a rung in the order of its list, as fast as they are beside it; a band as wide as the rung was from
    itself. Of many, those at less than half its speed are only named."""
    runs = results.tricks(rung, problem, shape)
    look, last = rung_look(rung), runs[-1]
    speeds = {run["variant"]: 1 / slowdown(run, last) if run is not last else 1 for run in runs}
    slow = [name for name, speed in speeds.items() if speed < 0.5] if len(runs) > 12 else []
    runs = [run for run in runs if run["variant"] not in slow]
    figure, axes = plt.subplots(figsize=(8.2, 1.3 + 0.44 * len(runs)))
    for y, run in enumerate(runs):
        full = run is last
        axes.barh(
            y,
            speeds[run["variant"]],
            height=0.62,
            edgecolor=INK,
            linewidth=0.8,
            color=look["color"] if full else "#E4E4E4",
        )
    noise = last.get("noise", 0)
    if noise:
        axes.axvspan(1 - noise, 1 + noise, color=FAINT, alpha=0.55, zorder=3, linewidth=0)
    axes.axvline(1, color=INK, linewidth=1, linestyle=(0, (2, 2)), zorder=4)
    axes.set_yticks(range(len(runs)), [run["variant"] for run in runs])
    axes.get_yticklabels()[-1].set_fontweight("bold")
    axes.set_ylim(len(runs) - 0.45, -0.62)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, max(*(speeds[run["variant"]] for run in runs), 1) * 1.05)
    left_out = f"; below one half: {', '.join(slow)}" if slow else ""
    axes.set_xlabel(f"speed, the rung's = 1; {noise_text(last)}{left_out}", fontsize=8.5, wrap=True)
    axes.grid(True, axis="x")
    text_column(axes, 1.12, UNIT[problem], [digits(score(run)) for run in runs])
    text_column(
        axes,
        1.34,
        "the rung against it",
        ["" if run is last else f"×{1 / speeds[run['variant']]:.3f}" for run in runs],
        fontweight="bold",
    )
    titles(axes, f"{rung}: what each trick is worth, {NAMES[problem]} at {pretty(shape)}", results.where_measured())
    return figure


def launches(results: Results, rung: str, problem: str):
    """Per launch, in a chain of them: one by one in a stream, and as a graph. A panel for each shape, of its own scale;
    what lies between the two bars of a pair is time in which no kernel ran."""
    chains = [chain for chain in results.chains if (chain["rung"], chain["problem"]) == (rung, problem)]
    shapes = sorted({shape_of(chain) for chain in chains}, key=sizes)
    if not shapes:
        return None
    size = (8.2, 1.1 + 1.5 * len(shapes))
    figure, grid = plt.subplots(len(shapes), 1, figsize=size, squeeze=False, gridspec_kw={"hspace": 0.35})
    colors = {"stream": "#E4E4E4", "graph": rung_look(rung)["color"]}
    for axes, shape in zip(grid[:, 0], shapes):
        times = {}  # name → {how: µs}; the baseline first
        for chain in sorted((c for c in chains if shape_of(c) == shape), key=lambda c: c.get("variant_index", 0)):
            if best_baseline(chain):
                base = chain["baselines"][best_baseline(chain)]["median_us"]
                times.setdefault(BASELINE[problem], {}).setdefault(chain["launches"], base)
            times.setdefault(chain["variant"], {})[chain["launches"]] = chain["median_us"]
        for y, us in enumerate(times.values()):
            for how, shift in (("stream", -0.2), ("graph", 0.2)):
                if how in us:
                    axes.barh(y + shift, us[how], height=0.38, color=colors[how], edgecolor=INK, linewidth=0.8)
                    axes.annotate(f" {digits(us[how])}", (us[how], y + shift), va="center", fontsize=8)
        axes.set_yticks(range(len(times)), list(times))
        axes.set_ylim(len(times) - 0.45, -0.55)
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(0, max(max(us.values()) for us in times.values()) * 1.12)
        axes.grid(True, axis="x")
        axes.set_ylabel(pretty(shape), rotation=0, ha="right", va="center", labelpad=70)
    grid[-1][0].set_xlabel("µs per launch, in a chain of launches    (grey: one by one in a stream, filled: as a graph)")
    titles(grid[0][0], f"{rung}: a chain of launches, {NAMES[problem]}", results.where_measured())
    return figure
