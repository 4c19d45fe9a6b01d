"""What the warps of one CTA do, as they noted it themselves on a GPU: a rung's --trace.

python3 -m common.plots.records.inside TRACE >> docs/results/timelines.jsonl    of a file that --trace wrote, the part that is drawn
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from common.plots.records.error import ResultError
from common.plots.records.problems import DIMENSIONS

AROUND = 6.0  # microseconds shown before the first store of a tile, and after it
MOST_K_TILES = 24  # of a tile that is shown from its beginning to its end
AFTER = 3.0  # microseconds shown behind such a tile, where the CTA has another one
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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        print(json.dumps(part_of(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
    except ResultError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
