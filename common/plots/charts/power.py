"""The card's power limit as a roof, and its clock along a run."""

from __future__ import annotations

import matplotlib.pyplot as plt

from common.plots.records import power
from common.plots.records.problems import DEFAULT_SHAPE, UNIT, on_ladder, pretty, shape_of, short
from common.plots.records.results import Results
from common.plots.records.scores import score, work_rate
from common.plots.style import BLUE, GREY, INK, ORANGE, SOFT, VERMILLION, rung_look, titles

SHAPE = DEFAULT_SHAPE["gemm"]
INPUTS = {"normal(0,1)": BLUE, "integers -3..3": ORANGE, "ones": GREY, "zeros": VERMILLION}


def along(results: Results):
    """Rate, clock and power of one kernel from its first launch on, a line for each kind of input."""
    runs = [
        record
        for record in results.powers
        if shape_of(record) == SHAPE and record["contender"] == results.own_variant(record["rung"], record["problem"])
    ]
    last = max((record["rung"] for record in runs if on_ladder(record["rung"])), default=None)
    runs = [record for record in runs if record["rung"] == last]
    if not runs:
        return None
    figure, (upper, middle, lower) = plt.subplots(3, 1, figsize=(8.6, 7.4), sharex=True, gridspec_kw={"hspace": 0.12})
    end = min(max(record["series"]["seconds"]) for record in runs)
    for record in runs:
        look = {"color": INPUTS.get(record["input"], INK), "linewidth": 1.3, "label": record["input"]}
        series = record["series"]
        upper.plot(series["seconds"], [work_rate(record, us) for us in series["launch_us"]], **look)
        middle.plot(series["seconds"], series["sm_clock_mhz"], **look)
        lower.plot(series["seconds"], series["power_w"], **look)
    upper.set_ylabel(f"{UNIT[runs[0]['problem']]}, of 10 ms each")
    middle.set_ylabel("SM clock, MHz, by NVML")
    lower.set_ylabel("power, W, by NVML")
    lower.set_ylim(bottom=0)
    lower.set_xlim(0, end)
    lower.set_xlabel("seconds from the first launch, after a second of idleness")
    lower.legend(frameon=False, fontsize=9, ncols=4, loc="lower right", title="elements of A and B", title_fontsize=9)
    for axes in (upper, middle, lower):
        axes.grid(True, axis="y")
    titles(upper, f"{last} without a pause, GEMM at {pretty(SHAPE)}", results.where_measured())
    return figure


def neighbours(runs: list) -> list:
    """(are their elements normal, runs that stand too close together for a label each), of one rung's precision."""
    groups = []
    for run in sorted(runs, key=lambda run: (run["input"].startswith("normal"), power.of_launch(run, "pj"))):
        normal, cost = run["input"].startswith("normal"), power.of_launch(run, "pj")
        near = groups and groups[-1][0] == normal and cost < 1.08 * power.of_launch(groups[-1][1][-1], "pj")
        if near and run.get("precision") == groups[-1][1][0].get("precision"):
            groups[-1][1].append(run)
        else:
            groups.append((normal, [run]))
    return groups


def label_of(results: Results, group: list) -> str:
    """The rungs themselves, or the variants where none is there; and inputs that are not normal."""
    own = [run for run in group if run["variant"] == results.own_variant(run["rung"], run["problem"])]
    rungs = ", ".join(sorted({short(run["rung"]) for run in own or group}))
    variants = "" if own else " " + ", ".join(sorted({run["variant"] for run in group}))
    inputs = sorted({run["input"] for run in group if not run["input"].startswith("normal")})
    return rungs + variants + (": " + ", ".join(inputs) if inputs else "")


def roof(results: Results):
    """What a kernel reaches over what a flop costs it. At the card's limit the product of the two is the limit."""
    runs = [record for record in results.powers if shape_of(record) == SHAPE and record["contender"] == record["variant"]]
    if not runs:
        return None
    limit = max(power.of_launch(record, "watts") for record in runs)
    figure, axes = plt.subplots(figsize=(8.6, 5.6))
    costs = [power.of_launch(record, "pj") for record in runs]
    least, most = 0.6 * min(costs), 1.2 * max(costs)
    curve = [least * (most / least) ** (i / 200) for i in range(201)]
    axes.plot(curve, [limit / cost for cost in curve], color=INK, linewidth=1.4)
    axes.annotate(f"{limit:.0f} W", (curve[60], limit / curve[60]), (6, 4), textcoords="offset points", color=INK, fontsize=9)
    for record, cost in zip(runs, costs):
        look = rung_look(record["rung"])
        face = look["color"] if record["input"].startswith("normal") else "white"
        axes.plot(cost, score(record), look["marker"], color=look["color"], markerfacecolor=face, markersize=8)
    for _, group in neighbours(runs):
        costs = [power.of_launch(record, "pj") for record in group]
        on_curve = max(power.of_launch(record, "watts") for record in group) > 0.9 * limit  # then above it, else below
        axes.annotate(
            label_of(results, group),
            (max(costs) if on_curve else min(costs), min(map(score, group))),
            (9, 2) if on_curve else (-9, -12),
            textcoords="offset points",
            fontsize=8.5,
            color=SOFT,
            ha="left" if on_curve else "right",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis, ticks in ((axes.xaxis, (0.25, 0.5, 1, 2)), (axes.yaxis, (250, 500, 1000, 2000))):
        axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlim(least, most)
    axes.set_xlabel("energy of a flop, pJ    (filled: normal random elements, hollow: others)")
    axes.set_ylabel("TFLOPS")
    axes.grid(True)
    titles(axes, f"The power roof, GEMM at {pretty(SHAPE)}", results.where_measured())
    return figure
