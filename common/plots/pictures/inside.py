"""What the warps of one CTA do, as they noted it themselves on a GPU (records/inside.py)."""

from __future__ import annotations

import matplotlib.pyplot as plt

from common.plots.records.inside import AROUND, is_whole
from common.plots.records.problems import shape_of
from common.plots.records.results import Results
from common.plots.style import FAINT, INK, bar_legend, box, time_axis, titles, write

LOOKS = {  # what a warp does → face, hatch
    "wait for a stage": ("#F4F4F4", None),
    "load": ("#0072B2", None),
    "wait for data": ("#F4F4F4", "////"),
    "convert": ("#CC79A7", None),
    "multiply": ("#4DAF8C", None),
    "store": ("#E69F00", None),
}


def inside(results: Results, rung: str):
    record = results.inside[rung]
    whole = is_whole(record["warps"])
    end = max(begin + duration for _, _, begin, duration, _, _ in record["bars"]) if whole else 2 * AROUND
    rows = {warp["warp"]: number for number, warp in enumerate(record["warps"])}
    figure, axes = plt.subplots(figsize=(13, 1.6 + 0.75 * len(rows)))
    for warp in record["warps"]:
        y = rows[warp["warp"]]
        write(axes, -end * 0.008, y + 0.4, warp["name"], size=9, ha="right")
        axes.plot([0, end], [y + 0.9, y + 0.9], color=FAINT, linewidth=0.5, zorder=0)
    for warp, what, begin, duration, _, k_tile in record["bars"]:
        face, hatch = LOOKS[what]
        first, last = max(begin, 0), min(begin + duration, end)
        edge = FAINT if what.startswith("wait") else INK
        box(axes, first, rows[warp], last - first, 0.8, face, edge, 0.5, hatch=hatch, zorder=2)
        if what == "multiply" and last - first > end * 0.02:
            write(axes, (first + last) / 2, rows[warp] + 0.4, k_tile, size=8, ha="center", zorder=3)
    time_axis(axes, end, (len(rows), -0.3), "µs")
    used = {bar[1] for bar in record["bars"]}
    bar_legend(axes, {what: look for what, look in LOOKS.items() if what in used}, 0.6 / len(rows), columns=6)
    shape = shape_of(record).replace("x", "×")
    part = "around the first tile's store. In a bar: the k-tile whose MMAs are issued, while those before run"
    if whole:
        part = "from the first k-tile to the store. In a bar: its k-tile"
    cost = (record["traced_us"] / record["plain_us"] - 1) * 100
    noting = f"costs {cost:.1f} %" if cost > 0 else "costs nothing that can be told from noise"
    titles(
        axes,
        f"{rung}: what the warps of a CTA do, as they recorded it",
        f"{record['variant']}, {record['problem']} {shape}, {record['device']}, {part}. Recording it {noting}.",
    )
    return figure
