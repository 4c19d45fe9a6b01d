"""Rung 09: what lies where in tensor memory, which CTA of a pair has which part of an MMA, and where the scale of a
block lies, in memory and in tensor memory."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt

from style import BLUE, INK, PALE, SOFT, VERMILLION, box, titles, write

COLUMNS, LANES, QUARTER = 512, 128, 32
SUMS = 256  # columns of a tile's sums
SCALE_TILE = 512  # bytes: 128 rows by 4 blocks
FACES = ("#CFE3F3", "#FBE3C0", "#CDEBDF", "#F3D3E3")


class Region(NamedTuple):
    name: str
    first: int  # column
    columns: int


def regions(scaled: bool, stages: int, block: int = 0, bits: int = 16) -> list:
    """As Config of 09_tcgen05/gemm.cu has it: the accumulators of two tiles, and the scales of some stages."""
    step = SUMS // 2 if scaled else SUMS
    found = [Region(f"accumulator {i}", i * step, SUMS) for i in range(2)]
    if scaled:
        tiles_k = LANES * 8 // bits // block // 4
        each = (1 + SUMS // 128) * tiles_k * 4
        sets = min(stages, 128 // each)
        found += [Region(f"scales {i}", 384 + i * each, each) for i in range(sets)]
    return found


def memory_map_09():
    maps = (
        ("bf16 and fp8: the accumulators of two tiles", regions(False, 6)),
        ("mxfp8: two tiles overlap by half, and the scales of five stages", regions(True, 5, 32, 8)),
        ("nvfp4: the same, and the scales of two k-tiles", regions(True, 5, 16, 4)),
    )
    figure, axes = plt.subplots(figsize=(12, 7.4))
    axes.axis("off")
    for i, (name, found) in enumerate(maps):
        top = i * 190
        write(axes, 0, top - 26, name, size=11, fontweight="bold")
        box(axes, 0, top, COLUMNS, LANES, PALE, INK, 0.8)
        for warp in range(4):
            text = f"warp {4 + warp}: lanes {QUARTER * warp}–{QUARTER * warp + 31}"
            write(axes, -6, top + QUARTER * (warp + 0.5), text, size=8, ha="right")
        for region in found:
            sums = region.name.startswith("accumulator")
            index = int(region.name.split()[1])
            face = FACES[index % 2] if sums else FACES[2 + index % 2]
            # Where two overlap each has a half of the height, though both have all lanes.
            height = LANES / 2 if sums and len(found) > 2 else LANES
            y = top + (LANES / 2 if sums and len(found) > 2 and index else 0)
            box(axes, region.first, y, region.columns, height, face, INK, 0.8)
            middle = region.first + region.columns / 2
            if sums:
                last = region.first + region.columns - 1
                write(axes, middle, y + height / 2, f"{region.name}: columns {region.first}–{last}", size=9, ha="center")
            else:
                write(axes, middle, y + LANES / 2, region.name, size=7.5, ha="center", rotation=90)
        for quarter in range(1, 4):
            axes.plot([0, COLUMNS], [top + QUARTER * quarter] * 2, color=SOFT, linewidth=0.5, linestyle=(0, (3, 3)))
        for column in sorted({0, COLUMNS} | {region.first for region in found if region.name != "scales 1"}):
            if column in (0, 128, 256, 384, 512):
                write(axes, column, top + LANES + 10, column, size=8, ha="center", color=SOFT)
    axes.set_xlim(-95, COLUMNS + 4)
    axes.set_ylim(2 * 190 + LANES + 18, -44)
    titles(
        axes,
        "09_tcgen05: tensor memory of a CTA, 128 lanes × 512 columns of 32 bits",
        "Worked out, by the formulas of Config. Lane: a row of the CTA's tile; column: a column. Sums that overlap are "
        "drawn one above the other, but have all lanes.",
    )
    return figure


def pair_part(rank: int, rows: int = 256, columns: int = 256) -> dict:
    """What CTA `rank` of a pair has of an MMA: (first, count) of the rows of A and D and of the columns of B and D."""
    half, share = rows // 2, columns // 2
    return {"A": (rank * half, half), "B": (rank * share, share), "D rows": (rank * half, half), "D": (0, columns)}


def pair_09():
    figure, axes = plt.subplots(figsize=(11, 5.6))
    axes.axis("off")
    colours = (BLUE, VERMILLION)
    for rank in (0, 1):
        part, left = pair_part(rank), rank * 15.5
        first, count = part["A"]
        box(axes, left, 0, 14.5, 12.2, PALE, INK, 0.8)
        leader = ", the leader: its thread issues for both" if rank == 0 else ""
        write(axes, left + 0.3, 0.7, f"CTA {rank}{leader}", size=9.5, fontweight="bold")
        write(axes, left + 0.3, 1.6, "shared memory", size=8.5, color=SOFT)
        box(axes, left + 0.5, 2.2, 2.2, 4.0, colours[rank], INK, 0.7)
        write(axes, left + 1.6, 4.2, f"A\nrows\n{first}–\n{first + count - 1}", size=8.5, ha="center", color="white")
        first, count = part["B"]
        box(axes, left + 4.0, 2.2, 4.0, 2.2, colours[rank], INK, 0.7)
        text = f"B\ncolumns {first}–{first + count - 1}"
        write(axes, left + 6.0, 3.3, text, size=8.5, ha="center", color="white")
        write(axes, left + 0.3, 7.0, "tensor memory", size=8.5, color=SOFT)
        for half in (0, 1):
            box(axes, left + 4.0 + 4.0 * half, 7.6, 4.0, 4.0, FACES[rank], INK, 0.7)
            text = f"D\n{part['D rows'][0]}–{sum(part['D rows']) - 1}\n× {128 * half}–{128 * half + 127}"
            write(axes, left + 6.0 + 4.0 * half, 9.6, text, size=8.5, ha="center")
    for rank in (0, 1):  # whose half of B goes where
        start = rank * 15.5 + 6.0
        for to in (0, 1):
            axes.annotate(
                "",
                (to * 15.5 + 6.0 + 4.0 * rank, 7.55),
                (start, 4.45),
                arrowprops={"arrowstyle": "->", "color": colours[rank], "linewidth": 1.4},
            )
    axes.set_xlim(-0.2, 30.4)
    axes.set_ylim(12.4, -0.2)
    titles(
        axes,
        "09_tcgen05: an MMA of 256×256 on two tensor cores",
        "Worked out. Each CTA holds half of the rows of A and half of the columns of B; each tensor core needs its own "
        "A and all of B, and keeps an accumulator of 128 × 256.",
    )
    return figure


def scale_offset(row: int, block: int) -> int:
    """Byte of a tile of scales: QuantisedLayout::scale_at() of common/rung.h."""
    return row % 32 * 16 + row % 128 // 32 * 4 + block % 4


def in_tensor_memory(offset: int) -> tuple:
    """(lane, column, byte) where tcgen05.cp.32x128b.warpx4 puts a byte of a tile, in the first quarter of the lanes."""
    return offset // 16, offset % 16 // 4, offset % 4


def scales_09():
    figure, axes = plt.subplots(figsize=(12, 6.2))
    axes.axis("off")
    shown = (0, 1, 2, 31)
    small = {"size": 7.5, "ha": "center"}
    write(axes, 2.2, -1.3, "128 rows × 4 blocks of k", size=10.5, ha="center", fontweight="bold")
    for quarter in range(4):
        for i, within in enumerate(shown):
            row, y = 32 * quarter + within, quarter * 4 + i + 0.25 * quarter
            for block in range(4):
                box(axes, 0.6 + block * 0.95, y, 0.95, 1, FACES[quarter], INK, 0.5)
                write(axes, 1.07 + block * 0.95, y + 0.5, f"{row}.{block}", **small)
        write(axes, 0.4, quarter * 4.25 + 2, f"rows\n{32 * quarter}–{32 * quarter + 31}", size=7.5, ha="right")
    write(axes, 13.6, -1.3, "as it lies in memory: 512 bytes", size=10.5, ha="center", fontweight="bold")
    place = {scale_offset(row, block): (row, block) for row in range(128) for block in range(4)}
    for i, lane in enumerate(shown):
        write(axes, 6.9, i * 1.4 + 0.5, f"byte {16 * lane}", size=7.5, ha="right")
        for byte in range(16):
            row, block = place[16 * lane + byte]
            box(axes, 7.1 + byte * 0.82, i * 1.4, 0.82, 1, FACES[row // 32], INK, 0.5)
            write(axes, 7.51 + byte * 0.82, i * 1.4 + 0.5, f"{row}.{block}", **{**small, "size": 6.5})
    write(axes, 13.6, 6.7, "in tensor memory: 32 lanes × 4 columns", size=10.5, ha="center", fontweight="bold")
    for column in range(4):
        write(axes, 7.1 + (column + 0.5) * 3.28, 7.5, f"column {column}", size=8, ha="center", color=SOFT)
    for i, lane in enumerate(shown):
        write(axes, 6.9, i * 1.4 + 8.5, f"lane {lane}", size=7.5, ha="right")
        for offset in range(16 * lane, 16 * lane + 16):
            row, block = place[offset]
            at, column, byte = in_tensor_memory(offset)
            assert at == lane
            x = 7.1 + column * 3.28 + byte * 0.82
            box(axes, x, i * 1.4 + 8, 0.82, 1, FACES[row // 32], INK, 0.5)
            write(axes, x + 0.41, i * 1.4 + 8.5, f"{row}.{block}", **{**small, "size": 6.5})
    text = "… and the same in lanes 32–63, 64–95 and 96–127: each quarter has all 128 rows' scales"
    write(axes, 13.6, 14.3, text, size=9, ha="center")
    write(axes, 13.6, 15.4, "mxfp8: an MMA takes one byte of each word; nvfp4: all four", size=9, ha="center")
    axes.set_xlim(-0.9, 20.6)
    axes.set_ylim(17.2, -2.0)
    titles(
        axes,
        "09_tcgen05: a tile of scales, 128 rows by 4 blocks",
        "Worked out, by QuantisedLayout::scale_at() and the shape of tcgen05.cp. In a box: row and block; of each 32 "
        "rows four are shown.",
    )
    return figure
