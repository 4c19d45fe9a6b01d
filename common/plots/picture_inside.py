#!/usr/bin/env python3
"""What the warps of one CTA do, as they noted it themselves on a GPU: a rung's --trace.

picture_inside.py TRACE >> docs/results/timelines.jsonl    of a file that --trace wrote, the part that is drawn
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from results import DIMENSIONS, ResultError, Results, shape_of

AROUND = 6.0  # microseconds shown before the first store of a tile, and after it
MOST_K_TILES = 24  # of a tile that is shown from its beginning to its end
AFTER = 3.0  # microseconds shown behind such a tile, where the CTA has another one
LOOKS = {  # what a warp does → face, hatch
    "wait for a slot": ("#F4F4F4", None),
    "load": ("#0072B2", None),
    "wait for data": ("#F4F4F4", "////"),
    "convert": ("#CC79A7", None),
    "multiply": ("#4DAF8C", None),
    "store": ("#E69F00", None),
}
ABOUT = ("rung", "problem", "variant", "device", "plain_us", "traced_us")


def is_whole(warps: list) -> bool:
    """Whether CTA 0's first tile is shown from its beginning to its end: where no warp has a role of its own, what
    overlaps is to be seen from the first k-tile on. Elsewhere it is what happens between two tiles."""
    return all(warp["name"].startswith("warp") for warp in warps)


def part_of(trace: dict) -> dict:
    """The record of CTA 0: bars of its first tile, or around its first store: (warp, what, begin, duration, tile,
    k-tile)."""
    about = trace.get("otherData", {})
    missing = [name for name in ABOUT if name not in about]
    if missing:
        raise ResultError(f"no timeline of a GPU: it does not say {', '.join(missing)}")
    events = [event for event in trace["traceEvents"] if event["pid"] == 0]
    roles = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    bars = [event for event in events if event["ph"] == "X"]
    stores = [bar["ts"] for bar in bars if bar["name"] == "store"]
    if not stores:
        raise ResultError("CTA 0 stores nothing, or there was no room for it: trace a smaller --k")
    record = {"record": "inside", **{name: about[name] for name in (*ABOUT, *DIMENSIONS[about["problem"]])}}
    record["warps"] = [{"warp": warp, "name": name} for warp, name in sorted(roles.items())]
    if is_whole(record["warps"]):
        tile = [bar for bar in bars if bar["args"]["tile"] == 0]
        k_tiles = len({bar["args"]["k_tile"] for bar in tile if bar["name"] == "multiply"})
        if k_tiles > MOST_K_TILES:
            raise ResultError(f"its {k_tiles} k-tiles are too many for a picture, {MOST_K_TILES} at most: a smaller --k")
        begin, end = min(bar["ts"] for bar in tile), max(bar["ts"] + bar["dur"] for bar in tile) + AFTER
        shown = [bar for bar in bars if bar["ts"] + bar["dur"] <= end]
    else:
        begin, end = min(stores) - AROUND, min(stores) + AROUND
        shown = [bar for bar in bars if bar["ts"] + bar["dur"] > begin and bar["ts"] < end]
    record["bars"] = [
        [bar["tid"], bar["name"], round(bar["ts"] - begin, 3), bar["dur"], bar["args"]["tile"], bar["args"]["k_tile"]]
        for bar in shown
    ]
    return record


def inside(results: Results, rung: str):
    import matplotlib.pyplot as plt
    from style import FAINT, INK, bar_legend, box, time_axis, titles, write

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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        print(json.dumps(part_of(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
    except ResultError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
