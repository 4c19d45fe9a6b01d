"""Rung 09: when a warp loads, one multiplies, one requests tiles and four run the epilogue; and which accumulators lie in
tensor memory meanwhile."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt

from common.plots.records.error import ResultError
from common.plots.records.problems import shape_of
from common.plots.records.results import Results
from common.plots.style import BLUE, FAINT, INK, bar_legend, box, time_axis, titles, write

RUNG, VARIANT = "09_tcgen05", "launch_control"
ROLES = {0: "load", 1: "multiply", 2: "schedule", 4: "epilogue"}  # by warp
BLOCK_K = 64
MMA_CYCLES = 128  # of 256×256×16, on two tensor cores of 4096 multiply-adds per cycle: nominal
BOX_CYCLES = 2000  # from the request until the bytes are there: an estimate
INSTRUCTION_CYCLES = 4  # any instruction of a warp but a product
LOOKS = {  # what happens in a bar → face, hatch
    "response in flight": ("#F3D3E3", "////"),
    "boxes in flight": ("#D5E8F6", "////"),
    "landed, or its MMAs not complete": ("#9BD3BF", None),
    "MMAs of a k-tile": ("#4DAF8C", None),
    "accumulator being computed": ("#FBE3C0", None),
    "accumulator complete, being read": ("#E69F00", None),
    "boxes stored to C": ("#BBBBBB", None),
}
ANSWER, COPY, LANDED, MULTIPLY, SUMS, READ, STORE = LOOKS


class Bar(NamedTuple):
    row: str
    what: str
    begin: float  # in cycles
    end: float
    number: int  # of the k-tile or the tile


class Operation(NamedTuple):
    what: str  # wait, expect, arrive, promise, multiply, stored
    gap: int  # instructions after the one before
    first: int | None  # the mbarrier
    count: int


def operations(timeline: dict) -> list:
    """Asking again and again is one wait, and so is telling both CTAs of bytes one."""
    found, last = [], None
    for step in timeline["steps"]:
        what = {"ask": "wait", "commit": "stored"}.get(step["step"], step["step"])
        if what not in ("wait", "expect", "arrive", "promise", "multiply", "stored", "barrier") or "below" in step:
            continue
        again = found and what in ("wait", "expect") and (found[-1].what, found[-1].first) == (what, step["first"])
        if what != "barrier" and not again:
            found.append(Operation(what, step["at"] - last, step.get("first"), step.get("count", 0)))
        last = step["at"]
    return found


def barriers(runs: dict) -> dict:
    """Address → name and index, by who does what there."""

    def where(role: str, *whats: str) -> list:
        return list(dict.fromkeys(op.first for op in runs[role] if op.what in whats))

    full, answered = where("load", "expect"), where("schedule", "expect")
    found = {"full": full, "answered": answered}
    found["empty"] = [at for at in where("load", "wait") if at not in full + answered]
    found["asked"] = [at for at in where("schedule", "wait") if at not in answered]  # that all have read the last
    found["sums_full"] = [at for at in where("multiply", "promise") if at not in found["empty"]]
    found["sums_empty"] = [at for at in where("epilogue", "arrive") if at not in found["asked"]]
    return {at: (name, index) for name, addresses in found.items() for index, at in enumerate(sorted(addresses))}


class Replay:
    """The traced warps again, each in its own order, each wait as long as what it waits for takes. The other warps of
    the cluster are in step with these."""

    FREE_AT_FIRST = ("empty", "sums_empty", "asked")

    def __init__(self, timelines: dict):
        self.runs = {ROLES[warp]: operations(timeline) for warp, timeline in timelines.items()}
        self.names = barriers(self.runs)
        self.stages = sum(name == "full" for name, _ in self.names.values())
        self.per_tile = timelines[0]["k"] // BLOCK_K
        self.bars, self.asks, self.tensor_free = [], [], 0.0
        self.complete = {at: [] for at in self.names}  # when each phase was complete
        self.arrivals = {at: [] for at in self.names}  # of responses read
        self.roles = {role: {"next": 0, "now": 0.0, "waits": {}, "counts": {}} for role in self.runs}
        self.began, self.drained = {}, {}  # tile → when
        while any(role["next"] < len(self.runs[name]) for name, role in self.roles.items()):
            ready = [(when, name) for name in self.roles if (when := self.ready(name)) is not None]
            if not ready:
                raise ResultError("the traced warps wait for each other for ever")
            when, name = min(ready)
            self.execute(name, when)

    def ready(self, name: str) -> float | None:
        """When the role's next operation can happen; None: not known yet."""
        role = self.roles[name]
        if role["next"] == len(self.runs[name]):
            return None
        op = self.runs[name][role["next"]]
        begin = role["now"] + op.gap * INSTRUCTION_CYCLES
        if op.what != "wait":
            return begin
        phase = role["waits"].get(op.first, 0) - (self.names[op.first][0] in self.FREE_AT_FIRST)
        done = self.complete[op.first]
        return begin if phase < 0 else max(begin, done[phase]) if phase < len(done) else None

    def execute(self, name: str, when: float) -> None:
        role, op = self.roles[name], self.runs[name][self.roles[name]["next"]]
        role["next"] += 1
        role["now"] = when
        barrier, index = self.names.get(op.first, (None, None))
        count = role["counts"].get((op.what, barrier), 0)
        role["counts"][op.what, barrier] = count + 1
        if op.what == "wait":
            role["waits"][op.first] = role["waits"].get(op.first, 0) + 1
            if barrier == "sums_full":
                self.drained[count] = when
        elif op.what == "expect":
            self.complete[op.first].append(when + BOX_CYCLES)
            if barrier == "full":
                self.asks.append(when)
                self.bars.append(Bar(f"stage {index}", COPY, when, when + BOX_CYCLES, count))
            else:
                self.bars.append(Bar("schedule", ANSWER, when, when + BOX_CYCLES, count + 1))
        elif op.what == "multiply":
            begin = max(when, self.tensor_free)
            self.tensor_free = begin + op.count * MMA_CYCLES
            self.began.setdefault(count // self.per_tile, begin)
            self.bars.append(Bar("tensor cores", MULTIPLY, begin, self.tensor_free, count))
        elif op.what == "promise":
            self.complete[op.first].append(self.tensor_free)
            if barrier == "empty":
                landed = next(bar.end for bar in self.bars if bar.what == COPY and bar.number == count)
                self.bars.append(Bar(f"stage {index}", LANDED, landed, self.tensor_free, count))
            else:
                self.bars.append(Bar(f"accumulator {index}", SUMS, self.began[count], self.tensor_free, count))
        elif op.what == "arrive" and barrier == "asked":  # load, multiply and drain have read it
            self.arrivals[op.first].append(when)
            if len(self.arrivals[op.first]) % 3 == 0:
                self.complete[op.first].append(max(self.arrivals[op.first][-3:]))
        elif op.what == "arrive":
            self.complete[op.first].append(when)
            full = next(bar.end for bar in self.bars if bar.what == SUMS and bar.number == count)
            self.bars.append(Bar(f"accumulator {index}", READ, full, when, count))
        elif op.what == "stored":
            tile = max(self.drained)
            begin = max(self.drained[tile], *(bar.end for bar in self.bars if bar.what == STORE), 0)
            self.bars.append(Bar("epilogue", STORE, begin, when, tile))

    def busy(self) -> float:
        """The share of the tensor cores' time from the first product to the last."""
        products = [bar for bar in self.bars if bar.what == MULTIPLY]
        return sum(bar.end - bar.begin for bar in products) / (products[-1].end - products[0].begin)


def replay(results: Results) -> Replay:
    return Replay({warp: results.timeline(RUNG, "gemm", VARIANT, warp) for warp in ROLES})


def timeline_09(results: Results):
    played = replay(results)
    stages = [f"stage {stage}" for stage in range(played.stages)]
    rows = ["schedule", *stages, "tensor cores", "accumulator 0", "accumulator 1", "epilogue"]
    end = 1.005 * max(bar.end for bar in played.bars)
    figure, axes = plt.subplots(figsize=(13, 6.4))
    write(axes, -end * 0.008, -0.3, "loads issued", size=9, ha="right")
    for at in played.asks:
        axes.plot([at, at], [-0.6, 0.0], color=BLUE, linewidth=1.6)
    for y, row in enumerate(rows, start=0):
        y += 0.15 + 0.2 * (row[:5] in ("tenso", "accum", "epilo")) + 0.2 * (row != "schedule")
        write(axes, -end * 0.008, y + 0.42, row, size=9, ha="right")
        axes.plot([0, end], [y + 0.9, y + 0.9], color=FAINT, linewidth=0.5, zorder=0)
        for bar in (bar for bar in played.bars if bar.row == row):
            face, hatch = LOOKS[bar.what]
            width = bar.end - bar.begin
            box(axes, bar.begin, y, width, 0.84, face, "#7FA8C9" if hatch else INK, 0.6, hatch=hatch, zorder=2)
            if width > end * 0.012:
                pad = {"facecolor": face, "edgecolor": "none", "pad": 0.8} if hatch else None
                name = bar.number if bar.what in (COPY, LANDED, MULTIPLY) else f"tile {bar.number}"
                if bar.what == ANSWER and bar.number == len(played.drained):
                    name = "none left"
                elif width < end * 0.04 and bar.what != MULTIPLY:
                    name = "C" if bar.what == STORE else bar.number
                write(axes, bar.begin + width / 2, y + 0.42, name, size=8, ha="center", zorder=3, bbox=pad)
    time_axis(
        axes,
        end,
        (len(rows) + 0.7, -0.8),
        f"cycles, estimated: an MMA of 256×256×16 takes {MMA_CYCLES} (nominal), a box or a response {BOX_CYCLES} (a "
        f"guess), any other instruction {INSTRUCTION_CYCLES}",
    )
    bar_legend(axes, LOOKS, 0.1)
    shape = shape_of(results.timeline(RUNG, "gemm", VARIANT, 0)).replace("x", "×")
    titles(
        axes,
        "09_tcgen05: four roles over three tiles",
        f"gemm {shape}, warps 0, 1, 2 and 4 of CTA 0. In which order: traced by the simulator; when: estimated, not "
        "measured. In a bar: the number of the k-tile, or of the tile.",
    )
    return figure
