"""What a warp of rung 04 does when: its copies in flight, their tiles converted and multiplied."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt

from common.plots.records.error import ResultError
from common.plots.records.problems import shape_of
from common.plots.records.results import Results
from common.plots.style import FAINT, INK, bar_legend, box, time_axis, titles, write

LOOKS = {  # what happens in a bar → face, hatch
    "copies in flight": ("#D5E8F6", "////"),
    "landed: converted into an fp32 tile": ("#E69F00", None),
    "read and multiplied": ("#9BD3BF", None),
}
COPY, WIDEN, MULTIPLY = LOOKS


class Bar(NamedTuple):
    row: tuple  # ("stage", 2): of the ring; ("tile", 0): of the fp32 tiles
    what: str
    begin: int  # in instructions of the warp
    end: int
    k_tile: int


class Rows:
    """Which stage of the ring, or which tile, lies at an address: they are numbered as they are first written."""

    def __init__(self):
        self.row_of = {}  # lowest address that one writes → row
        self.count = {"stage": 0, "tile": 0}

    def written(self, kind: str, addresses: list) -> tuple:
        if addresses[0] not in self.row_of:
            for address in addresses:
                self.row_of[address] = (kind, self.count[kind])
            self.count[kind] += 1
        return self.row_of[addresses[0]]

    def read(self, address: int) -> tuple:
        return self.row_of[max(low for low in self.row_of if low <= address)]


def bars(timeline: dict) -> list:
    """The k-tile of a copy is the number of its group. It stays that where it is read from the ring, and in the tile
    that is stored next."""
    rows, found, on_their_way, in_row = Rows(), [], {}, {}
    copies, stores, widened = [], [], None
    for step in timeline["steps"]:
        if step["step"] == "copy":
            copies.append(step)
        elif step["step"] == "store":
            stores.append(step)
        elif step["step"] == "commit" and copies:
            row = rows.written("stage", [copy["first"] for copy in copies])
            on_their_way[step["group"]] = (row, copies[-1]["until"])
            copies = []
        elif step["step"] == "wait":
            for group in [group for group in on_their_way if group < step["below"]]:
                row, begin = on_their_way.pop(group)
                in_row[row] = group
                found.append(Bar(row, COPY, begin, step["at"], group))
        elif step["step"] == "barrier" and stores:
            row = rows.written("tile", [store["first"] for store in stores])
            in_row[row] = widened
            found.append(Bar(row, WIDEN, stores[0]["at"], stores[-1]["until"], widened))
            stores = []
        elif step["step"] == "load":
            row = rows.read(step["first"])
            if row not in in_row:
                raise ResultError(f"{row} is read before it is there: {step}")
            if row[0] == "stage":
                widened = in_row[row]
            found.append(Bar(row, WIDEN if row[0] == "stage" else MULTIPLY, step["at"], step["until"], in_row[row]))
    merged = {}  # the lines that read one tile
    for bar in found:
        key = (bar.row, bar.what, bar.k_tile)
        same = merged.get(key, bar)
        merged[key] = bar._replace(begin=min(same.begin, bar.begin), end=max(same.end, bar.end))
    return list(merged.values())


def time_to_arrive(found: list) -> int:
    """In instructions, of a copy in the steady state: where the ring is full, no copy has more."""
    return max(bar.end - bar.begin for bar in found if bar.what == COPY)


def draw(axes, top: float, timeline: dict, end: int, what: str) -> float:
    """One variant. Returns where it ends."""
    found = bars(timeline)
    rows = sorted({bar.row for bar in found})
    barriers = [step["at"] for step in timeline["steps"] if step["step"] == "barrier"]
    bottom = top + 0.75 + len(rows)
    write(axes, 0, top, f"{timeline['variant']}: {what}", size=11, fontweight="bold")
    count = time_to_arrive(found)
    text = f"a k-tile's copies have {f'{count:,}'.replace(',', ' ')} instructions of this warp to arrive in"
    write(axes, end, top, text, size=9.5, ha="right")
    for at in barriers:
        axes.plot([at, at], [top + 0.5, bottom], color=INK, linewidth=0.8, linestyle=(0, (4, 2)), zorder=1)
    for i, row in enumerate(rows):
        y = top + 0.6 + i
        name = f"stage {row[1]}" if row[0] == "stage" else f"fp32 tile {row[1]}"
        write(axes, -end * 0.008, y + 0.42, name, size=9, ha="right")
        axes.plot([0, end], [y + 0.9, y + 0.9], color=FAINT, linewidth=0.5, zorder=0)
        for bar in (bar for bar in found if bar.row == row):
            face, hatch = LOOKS[bar.what]
            edge = "#7FA8C9" if hatch else INK
            width = max(bar.end - bar.begin, end * 0.0012)
            box(axes, bar.begin, y, width, 0.84, face, edge, 0.6, hatch=hatch, zorder=2)
            if width > end * 0.02:
                pad = {"facecolor": face, "edgecolor": "none", "pad": 0.8} if hatch else None
                write(axes, bar.begin + width / 2, y + 0.42, bar.k_tile, size=9, ha="center", zorder=3, bbox=pad)
    return bottom


def timeline_04(results: Results):
    variants = (
        ("blocking", "copies are issued when the k-tile is needed"),
        ("1_stage", "issued one k-tile ahead"),
        ("cp_async", "a ring buffer of 4 stages, four k-tiles ahead"),
    )
    timelines = [(results.timeline("04_cp_async", "gemm", variant), what) for variant, what in variants]
    end = 1.005 * max(step.get("until", 0) for timeline, _ in timelines for step in timeline["steps"])
    figure, axes = plt.subplots(figsize=(13, 8.2))
    y = 0.0
    for timeline, what in timelines:
        y = draw(axes, y, timeline, end, what) + 0.75
    label = "PTX instructions that the warp has executed (not a clock: memory latency is not drawn)"
    time_axis(axes, end, (y - 0.6, -0.5), label)
    barrier = plt.Line2D([], [], color=INK, linewidth=0.8, linestyle=(0, (4, 2)), label="__syncthreads()")
    bar_legend(axes, LOOKS, 0.075, more=(barrier,))
    shape = shape_of(timelines[0][0]).replace("x", "×")
    titles(
        axes,
        "04_cp_async: what one warp does, k-tile by k-tile",
        f"gemm {shape}, warp 0, traced by the simulator. In a bar: the number of the k-tile. Hatched: from the copies' "
        "last instruction to the wait for them; they may land anywhere in it.",
    )
    return figure
