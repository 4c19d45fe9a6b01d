"""How tiles lie in shared memory that TMA fills and wgmma reads, and when the stages of rung 07's ring are filled,
read and released."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.patches import Patch

from memory import BANK_WORD, BANKS
from picture_banks import CHUNK_FACES
from results import ResultError, Results, shape_of
from style import FAINT, INK, SOFT, box, titles, write

LINE = BANKS * BANK_WORD  # bytes: once around all banks
CHUNK = 16  # bytes
ATOM_ROWS = 8
SHOWN_CHUNK = 2  # a core matrix of B: 8 rows of k of one 16-byte chunk of columns
BOX_K = 64  # rows of a box of B
TILE_ROWS = (128, 64)  # of A's and B's tiles, whose rows are 128 and 512 bytes
TILE_ROW_BYTES = (128, 512)


def place(row: int, chunk: int, width: int) -> int:
    """Where, in a box whose rows have so many bytes, TMA puts a 16-byte chunk of a row (common/ptx/tma.cuh). wgmma
    looks for it there."""
    return row * width + (chunk ^ row * width // LINE % (width // CHUNK)) * CHUNK


def layout_07():
    figure, axes = plt.subplots(figsize=(13, 6.6))
    axes.axis("off")
    groups = LINE // CHUNK
    for panel, width in enumerate((16, 32, 64, 128)):
        left, chunks = panel * (groups + 2.6), width // CHUNK
        write(axes, left, -2.2, "no swizzle" if chunks == 1 else f"{width}-byte swizzle", size=11.5, fontweight="bold")
        write(axes, left, -1.5, f"boxes of {width} bytes × {BOX_K} rows", size=9.5)
        for group in range(groups):
            write(axes, left + group + 0.5, -0.5, 4 * group, size=7, ha="center", color=SOFT)
        met, y = set(), 0.0
        for number in range(LINE // width):
            lines = ATOM_ROWS * width // LINE or 1
            for row in range(ATOM_ROWS):
                for chunk in range(chunks):
                    line, byte = divmod(place(row, chunk, width), LINE)
                    name = number * chunks + chunk
                    shown = name == SHOWN_CHUNK
                    if shown:
                        met.add(byte)
                    x = left + byte / CHUNK
                    face, thick = CHUNK_FACES[name], 1.6 if shown else 0.6
                    box(axes, x, y + line, 1, 1, face, INK, thick, zorder=3 if shown else 2)
                    look = {"color": "white", "fontweight": "bold"} if shown else {}
                    write(axes, x + 0.5, y + line + 0.5, f"{row}.{name}", size=8, ha="center", zorder=4, **look)
            start = number * BOX_K * width
            write(axes, left - 0.15, y + 0.5, start, size=6.5, ha="right", color=SOFT)
            y += lines + 0.16
        rows = sum(count * bytes_ // width for count, bytes_ in zip(TILE_ROWS, TILE_ROW_BYTES))
        boxes = sum(bytes_ // width for bytes_ in TILE_ROW_BYTES)
        write(axes, left, 9.9, f"blue: in {len(met)} groups of banks", size=9.5)
        write(axes, left, 10.6, f"a k-tile: {boxes} boxes, {rows} rows", size=9.5)
    write(axes, -0.3, -0.5, "bank", size=7, ha="right", color=SOFT)
    axes.set_xlim(-1.4, 4 * (groups + 2.6) - 2.2)
    axes.set_ylim(11, -2.7)
    titles(
        axes,
        "07_wgmma_tma: 8 rows of k of 64 columns of B in shared memory, in each mode",
        "Worked out by the formula of common/ptx/tma.cuh. A cell: 16 bytes, row of k.8 columns. A colour: a core "
        "matrix. Small figures: the byte at which a box begins.",
    )
    return figure


LOOKS = {  # what happens in a bar → face, hatch
    "boxes on their way": ("#D5E8F6", "////"),
    "read by wgmma": ("#9BD3BF", None),
}
COPY, READ = LOOKS


class Bar(NamedTuple):
    stage: int
    what: str
    begin: int  # in instructions of the warp
    end: int
    k_tile: int


def bars(timeline: dict) -> list:
    """The k-tiles are announced, multiplied and released in order. A stage is known by the mbarrier that its bytes are
    announced to. What nobody releases, because nothing is to come after it, is in use until the next barrier."""
    stage_of, k_tiles, asked, found = {}, [], {}, []
    multiplied = released = 0
    for step in timeline["steps"]:
        if step["step"] == "expect":
            stage = stage_of.setdefault(step["first"], len(stage_of))
            k_tiles.append({"stage": stage, "begin": step["at"]})
        elif step["step"] == "ask" and step["first"] in stage_of:
            asked[stage_of[step["first"]]] = step["at"]
        elif step["step"] == "multiply":
            k_tile = k_tiles[multiplied]
            if k_tile["stage"] not in asked:
                raise ResultError(f"k-tile {multiplied} is multiplied before anybody asks for it: {step}")
            found.append(Bar(k_tile["stage"], COPY, k_tile["begin"], asked.pop(k_tile["stage"]), multiplied))
            k_tile["read"] = step["at"]
            multiplied += 1
        elif step["step"] == "arrive" or (step["step"] == "barrier" and multiplied):
            last = released + 1 if step["step"] == "arrive" else multiplied
            for number in range(released, last):
                k_tile = k_tiles[number]
                found.append(Bar(k_tile["stage"], READ, k_tile["read"], step["at"], number))
            released = last
    return found


def products_to_arrive_in(timeline: dict) -> int:
    """How many k-tiles are multiplied, those included that have just been begun, while a k-tile is on its way: in the
    steady state."""
    multiplied = announced = 0
    found = set()
    for step in timeline["steps"]:
        multiplied += step["step"] == "multiply"
        if step["step"] == "expect":
            if multiplied:
                found.add(announced - (multiplied - 1))
            announced += 1
    if len(found) != 1:
        raise ResultError(f"k-tiles are asked for {sorted(found)} k-tiles ahead")
    return found.pop()


def draw(axes, top: float, timeline: dict, end: int, what: str) -> float:
    """One variant. Returns where it ends."""
    found = bars(timeline)
    stages = 1 + max(bar.stage for bar in found)
    count = products_to_arrive_in(timeline)
    write(axes, 0, top, f"{timeline['variant']}: {what}", size=11, fontweight="bold")
    text = f"a k-tile's boxes have the products of {count} k-tile{'s' * (count > 1)} to arrive in"
    write(axes, end, top, text, size=9.5, ha="right")
    for stage in range(stages):
        y = top + 0.6 + stage
        write(axes, -end * 0.008, y + 0.42, f"stage {stage}", size=9, ha="right")
        axes.plot([0, end], [y + 0.9, y + 0.9], color=FAINT, linewidth=0.5, zorder=0)
        for bar in (bar for bar in found if bar.stage == stage):
            face, hatch = LOOKS[bar.what]
            width = max(bar.end - bar.begin, end * 0.0012)
            box(axes, bar.begin, y, width, 0.84, face, "#7FA8C9" if hatch else INK, 0.6, hatch=hatch, zorder=2)
            if width > end * 0.02:
                pad = {"facecolor": face, "edgecolor": "none", "pad": 0.8} if hatch else None
                write(axes, bar.begin + width / 2, y + 0.42, bar.k_tile, size=9, ha="center", zorder=3, bbox=pad)
    return top + 0.75 + stages


def timeline_07(results: Results):
    variants = (
        ("2_stages", "the next k-tile's loads are issued"),
        ("3_stages", "the one after the next"),
        ("wgmma_tma", "a ring of 4 stages"),
    )
    timelines = [(results.timeline("07_wgmma_tma", "gemm", variant), what) for variant, what in variants]
    end = 1.005 * max(bar.end for timeline, _ in timelines for bar in bars(timeline))
    figure, axes = plt.subplots(figsize=(13, 6.9))
    y = 0.0
    for timeline, what in timelines:
        y = draw(axes, y, timeline, end, what) + 0.55
    axes.set_xlim(0, end)
    axes.set_ylim(y - 0.4, -0.5)
    axes.set_yticks([])
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel("PTX instructions that the warp has executed (not a clock: how long a product takes is not drawn)")
    looks = [Patch(facecolor=face, edgecolor=INK, hatch=hatch, label=name) for name, (face, hatch) in LOOKS.items()]
    axes.legend(handles=looks, loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=2, frameon=False, fontsize=9)
    shape = shape_of(timelines[0][0]).replace("x", "×")
    titles(
        axes,
        "07_wgmma_tma: the stages of the ring, k-tile by k-tile",
        f"gemm {shape}, one CTA, warp 0, traced by the simulator. In a bar: the number of the k-tile. Hatched: from "
        "expect_tx to the wait that sees the bytes.",
    )
    return figure
