"""Rung 08: when a warp fetches, two warpgroups multiply and the stages of the ring are in use; and which CTA of a
cluster loads what, for whom."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt

from results import ResultError, Results, shape_of
from style import BLUE, FAINT, GREEN, INK, PALE, SOFT, VERMILLION, bar_legend, box, time_axis, titles, write

BLOCK_K = 64
STAGE_ROWS = 128  # of A in a stage
BOXES_B = 4  # of 64 columns
BOX_CYCLES = 2000  # from the request until the bytes are there: chapter 07's guess
INSTRUCTION_CYCLES = 4  # any instruction of a warp but a product
LOOKS = {  # what happens in a bar → face, hatch
    "boxes in flight": ("#D5E8F6", "////"),
    "landed, or its products not complete": ("#9BD3BF", None),
    "products of a k-tile": ("#4DAF8C", None),
    "accumulator stored to C": ("#E69F00", None),
}
COPY, READ, MULTIPLY, STORE = LOOKS


class Bar(NamedTuple):
    row: str
    what: str
    begin: float  # in cycles
    end: float
    k_tile: int | None


def operations(timeline: dict, full: set, empty: set) -> list:
    """(what, how many instructions after the one before, products). Asking again and again is one wait."""
    found, last, asks = [], None, None
    for step in timeline["steps"]:
        name, at = step["step"], step["at"]
        if name == "barrier":
            last = at
            continue
        if name == "ask":
            if asks != step["first"]:
                what = "wait_full" if step["first"] in full else "wait_empty" if step["first"] in empty else "wait_turn"
                found.append((what, at - last, 0))
            asks = step["first"]
        else:
            asks = None
            if name == "expect":
                found.append(("fill", at - last, 0))
            elif name == "multiply":
                found.append(("multiply", at - last, step["count"]))
            elif name == "arrive":
                found.append(("release" if step["first"] in empty else "give_turn", at - last, 0))
            elif name in ("store", "commit"):
                found.append((name, at - last, 0))
            else:  # its end is one of the above
                continue
        last = step.get("until", at) if name != "store" else at
    return found


class Replay:
    """The traced warps again, each in its own order, each wait as long as what it waits for takes. The tensor cores do
    products in the order in which they are asked for."""

    def __init__(self, timelines: list, columns: int, ping_pong: bool):
        producer, *consumers = timelines
        self.per_tile, self.ping_pong, self.columns = producer["k"] // BLOCK_K, ping_pong, columns
        firsts = {kind: [s["first"] for s in producer["steps"] if s["step"] == kind] for kind in ("expect", "ask")}
        full, empty = set(firsts["expect"]), set(firsts["ask"])
        self.stages = len(full)
        self.landed, self.complete, self.turns = {}, {}, [[0.0], []]
        self.released = {}  # k-tile → when each of its readers has released it
        self.tensor_free = 0.0
        self.bars, self.asked = [], []
        runs = [operations(timeline, full, empty) for timeline in (producer, *consumers)]
        self.warps = [{"ops": ops, "next": 0, "now": 0.0, "counts": {}} for ops in runs]
        while any(warp["next"] < len(warp["ops"]) for warp in self.warps):
            ready = [(when, number) for number in range(len(self.warps)) if (when := self.ready(number)) is not None]
            if not ready:
                raise ResultError("the traced warps wait for each other for ever")
            when, number = min(ready)
            self.execute(number, when)

    def k_tile(self, number: int, count: int) -> int:
        """The count-th that warp `number` multiplies."""
        if not self.ping_pong:
            return count
        return (2 * (count // self.per_tile) + number - 1) * self.per_tile + count % self.per_tile

    def ready(self, number: int) -> float | None:
        """When the warp's next operation can happen; None: not known yet."""
        warp = self.warps[number]
        if warp["next"] == len(warp["ops"]):
            return None
        what, gap, _ = warp["ops"][warp["next"]]
        begin, count = warp["now"] + gap * INSTRUCTION_CYCLES, warp["counts"].get(what, 0)
        needs = begin
        if what == "wait_empty" and count >= self.stages:
            done = self.released.get(count - self.stages, [])
            readers = 1 if self.ping_pong else len(self.warps) - 1
            needs = max(done) if len(done) == readers else None
        elif what == "wait_full":
            needs = self.landed.get(self.k_tile(number, count))
        elif what == "wait_turn":
            needs = self.turns[number - 1][count] if count < len(self.turns[number - 1]) else None
        elif what == "release":
            needs = self.complete[number, self.k_tile(number, count)]
        return None if needs is None else max(begin, needs)

    def execute(self, number: int, when: float) -> None:
        warp = self.warps[number]
        what, _, products = warp["ops"][warp["next"]]
        count = warp["counts"].get(what, 0)
        warp["next"] += 1
        warp["now"] = when
        warp["counts"][what] = count + 1
        row = f"consumer {number - 1}"
        if what == "fill":
            self.asked.append(when)
            self.landed[count] = when + BOX_CYCLES
            self.bars.append(Bar(f"stage {count % self.stages}", COPY, when, when + BOX_CYCLES, count))
        elif what == "multiply":
            k_tile, begin = self.k_tile(number, count), max(when, self.tensor_free)
            self.tensor_free = begin + products * self.columns / 2
            self.complete[number, k_tile] = self.tensor_free
            self.bars.append(Bar(row, MULTIPLY, begin, self.tensor_free, k_tile))
        elif what == "release":
            k_tile = self.k_tile(number, count)
            done = self.released.setdefault(k_tile, [])
            done.append(when)
            if self.ping_pong or len(done) == len(self.warps) - 1:
                self.bars.append(Bar(f"stage {k_tile % self.stages}", READ, self.landed[k_tile], max(done), k_tile))
        elif what == "give_turn":
            self.turns[2 - number].append(when)
        elif what == "store":
            warp.setdefault("storing", when)
        elif what == "commit":
            following = [op for op, _, _ in warp["ops"][warp["next"] :]]
            if "commit" not in following[: following.index("multiply") if "multiply" in following else None]:
                self.bars.append(Bar(row, STORE, warp.pop("storing"), when, None))

    def busy(self) -> float:
        """The share of the tensor cores' time from the first product to the last."""
        products = [bar for bar in self.bars if bar.what == MULTIPLY]
        first, last = min(bar.begin for bar in products), max(bar.end for bar in products)
        return sum(bar.end - bar.begin for bar in products) / (last - first)


def replay(results: Results, variant: str, columns: int) -> Replay:
    timelines = [results.timeline("08_warp_specialized", "gemm", variant, warp) for warp in (0, 4, 8)]
    return Replay(timelines, columns, variant == "ping_pong")


def draw(axes, top: float, played: Replay, end: float, heading: str) -> float:
    """One variant. Returns where it ends."""
    rows = [f"stage {stage}" for stage in range(played.stages)] + ["consumer 0", "consumer 1"]
    write(axes, 0, top, heading, size=11, fontweight="bold")
    text = f"from the first product to the last, the tensor cores work {100 * played.busy():.0f} % of the time"
    write(axes, end, top, text, size=9.5, ha="right")
    y = top + 0.6
    write(axes, -end * 0.008, y + 0.3, "loads issued", size=9, ha="right")
    for at in played.asked:
        axes.plot([at, at], [y + 0.05, y + 0.55], color=BLUE, linewidth=1.6)
    y += 0.75
    for row in rows:
        write(axes, -end * 0.008, y + 0.42, row, size=9, ha="right")
        axes.plot([0, end], [y + 0.9, y + 0.9], color=FAINT, linewidth=0.5, zorder=0)
        for bar in (bar for bar in played.bars if bar.row == row):
            face, hatch = LOOKS[bar.what]
            width = bar.end - bar.begin
            box(axes, bar.begin, y, width, 0.84, face, "#7FA8C9" if hatch else INK, 0.6, hatch=hatch, zorder=2)
            if width > end * 0.012:
                pad = {"facecolor": face, "edgecolor": "none", "pad": 0.8} if hatch else None
                name = "C" if bar.k_tile is None else bar.k_tile
                write(axes, bar.begin + width / 2, y + 0.42, name, size=8, ha="center", zorder=3, bbox=pad)
        y += 1
        if row == rows[played.stages - 1]:
            y += 0.15
    return y


def timeline_08(results: Results):
    played = (
        (replay(results, "128x256", 256), "128x256: a tile is both consumers'"),
        (replay(results, "ping_pong", 128), "ping_pong: a tile for each consumer, in turn"),
    )
    end = 1.005 * max(bar.end for each, _ in played for bar in each.bars)
    figure, axes = plt.subplots(figsize=(13, 8.4))
    y = 0.0
    for each, heading in played:
        y = draw(axes, y, each, end, heading) + 0.6
    time_axis(
        axes,
        end,
        (y - 0.5, -0.5),
        f"cycles, estimated: a wgmma of 64×n×16 takes n/2, a box {BOX_CYCLES}, any other instruction of a warp "
        f"{INSTRUCTION_CYCLES}",
    )
    bar_legend(axes, LOOKS, 0.08)
    shapes = " and ".join(
        shape_of(results.timeline("08_warp_specialized", "gemm", variant)).replace("x", "×")
        for variant in ("128x256", "ping_pong")
    )
    titles(
        axes,
        "08_warp_specialized: one warp fetches, two warpgroups multiply and store",
        f"gemm {shapes}, warps 0, 4 and 8 of CTA 0. In which order: traced by the simulator; when: estimated. In a bar: "
        "the number of the k-tile.",
    )
    return figure


class Load(NamedTuple):
    by: int  # CTA of the cluster
    operand: str
    first: int  # row of A's box, or box of B
    count: int
    to: tuple  # CTAs


def loads(cluster_m: int, cluster_n: int) -> list:
    """What the CTAs of a cluster ask for in one k-tile, as produce() of 08_warp_specialized does."""
    found = []
    for rank in range(cluster_m * cluster_n):
        row, column = rank % cluster_m, rank // cluster_m
        share_a, share_b = STAGE_ROWS // cluster_n, BOXES_B // cluster_m
        in_row = tuple(row + i * cluster_m for i in range(cluster_n))
        in_column = tuple(column * cluster_m + i for i in range(cluster_m))
        found.append(Load(rank, "A", column * share_a, share_a, in_row))
        found += [Load(rank, "B", row * share_b + i, 1, in_column) for i in range(share_b)]
    return found


def multicast_08():
    faces = (BLUE, VERMILLION, GREEN, "#E69F00")
    figure, axes = plt.subplots(figsize=(12, 6.4))
    axes.axis("off")
    left = 0.0
    for cluster_m, cluster_n, name in ((1, 1, "no_cluster"), (2, 1, "the rung: 2 × 1"), (2, 2, "cluster_of_4: 2 × 2")):
        asked = loads(cluster_m, cluster_n)
        write(axes, left, -1.35, name, size=11.5, fontweight="bold")
        size = {"A": 64 * 2, "B": BLOCK_K * 128}  # bytes of a row of A's box, of a box of B
        each = sum(load.count * size[load.operand] for load in asked if load.by == 0)
        write(axes, left, -0.75, f"{each} bytes from L2 for each CTA", size=9)
        for rank in range(cluster_m * cluster_n):
            x, y = left + rank // cluster_m * 5.9, rank % cluster_m * 4.7
            box(axes, x, y, 5.5, 4.3, PALE, INK, 0.8)
            write(axes, x + 0.15, y + 0.35, f"CTA {rank}", size=9.5, fontweight="bold")
            for load in (load for load in asked if rank in load.to):
                face = faces[load.by]
                if load.operand == "A":
                    height = 3.1 * load.count / STAGE_ROWS
                    at = (x + 0.2, y + 0.9 + 3.1 * load.first / STAGE_ROWS, 1.2, height)
                    text = f"A\n{load.count}\nrows"
                else:
                    at = (x + 1.7 + 0.9 * load.first, y + 0.9, 0.9, 1.7)
                    text = f"B\nbox {load.first}"
                box(axes, *at, face, INK, 0.7)
                write(axes, at[0] + at[2] / 2, at[1] + at[3] / 2, text, size=7, ha="center", color="white")
            fillers = sorted({load.by for load in asked if rank in load.to})
            told = ", ".join(str(filler) for filler in fillers)
            write(axes, x + 1.7, y + 3.1, f"filled by CTA {told}:", size=7.5, color=SOFT)
            write(axes, x + 1.7, y + 3.6, "their empty is told", size=7.5, color=SOFT)
        left += cluster_n * 5.9 + 0.9
    for rank, face in enumerate(faces):
        box(axes, 0.2 + rank * 4.2, 9.75, 0.5, 0.4, face, INK, 0.6)
        write(axes, 0.85 + rank * 4.2, 9.95, f"loaded by CTA {rank}", size=8.5)
    axes.set_xlim(-0.2, left - 0.6)
    axes.set_ylim(10.4, -1.8)
    titles(
        axes,
        "08_warp_specialized: a stage of the ring in the CTAs of a cluster, and who loads it",
        "Worked out, by the formulas of produce(). A k-tile of 128×256: A is 128 rows of 128 bytes, B 4 boxes of 64 "
        "rows of 128 bytes.",
    )
    return figure
