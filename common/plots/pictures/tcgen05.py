"""Rung 09: what lies where in tensor memory, which CTA of a pair has which part of an MMA, and where the scale of a
block lies, in memory and in tensor memory."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt

from common.plots.style import BLUE, INK, ORANGE, PALE, SOFT, VERMILLION, box, titles, write

COLUMNS, LANES, QUARTER = 512, 128, 32
ACCUMULATOR = 256  # columns of a tile's accumulator
SCALE_TILE = 512  # bytes: 128 rows by 4 blocks
FACES = ("#CFE3F3", "#FBE3C0", "#CDEBDF", "#F3D3E3")


class Region(NamedTuple):
    name: str
    first: int  # column
    columns: int


def regions(scaled: bool, stages: int, block: int = 0, bits: int = 16) -> list:
    """As Config of 09_tcgen05/gemm.cu has it: the accumulators of two tiles, and the scales of some stages."""
    step = ACCUMULATOR // 2 if scaled else ACCUMULATOR
    found = [Region(f"accumulator {i}", i * step, ACCUMULATOR) for i in range(2)]
    if scaled:
        tiles_k = LANES * 8 // bits // block // 4
        each = (1 + ACCUMULATOR // 128) * tiles_k * 4
        sets = min(stages, 128 // each)
        found += [Region(f"scales {i}", 384 + i * each, each) for i in range(sets)]
    return found


def memory_map_09():
    maps = (
        ("bf16 and fp8: the accumulators of two tiles", regions(False, 6)),
        ("mxfp8: the two accumulators share columns 128–255; scales of five k-tiles", regions(True, 5, 32, 8)),
        ("nvfp4: the same, and scales of two k-tiles", regions(True, 5, 16, 4)),
    )
    figure, axes = plt.subplots(figsize=(10, 7.2))
    axes.axis("off")
    for i, (name, found) in enumerate(maps):
        top = i * 225
        write(axes, 0, top - 58, name, size=11, fontweight="bold")
        box(axes, 0, top, COLUMNS, LANES, PALE, INK, 0.8)
        for warp in range(4):
            text = f"warp {4 + warp}: lanes {QUARTER * warp}–{QUARTER * warp + 31}"
            write(axes, -6, top + QUARTER * (warp + 0.5), text, size=9, ha="right")
        accumulators = [region for region in found if region.name.startswith("accumulator")]
        scales = [region for region in found if not region.name.startswith("accumulator")]
        first, second = accumulators
        for index, region in enumerate(accumulators):
            box(axes, region.first, top, region.columns, LANES, FACES[index], "none", 0)
            # How far it reaches: a line above the map, which does not touch the other's.
            last, y = region.first + region.columns, top - 10 - 20 * (index if scales else 0)
            axes.plot([region.first + 1, last - 1], [y, y], color=INK, linewidth=1.2)
            for end in (region.first + 1, last - 1):
                axes.plot([end, end], [y - 4, y + 4], color=INK, linewidth=1.2)
            pad = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            text = f"{region.name}: columns {region.first}–{last - 1}"
            write(axes, (region.first + last) / 2, y, text, size=9, ha="center", bbox=pad)
        shared = first.first + first.columns - second.first
        if shared > 0:
            box(axes, second.first, top, shared, LANES, FACES[0], ORANGE, 0, hatch="////")
            text = "of both,\none after the other"
            pad = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
            write(axes, second.first + shared / 2, top + LANES / 2, text, size=9, ha="center", bbox=pad)
        for index, region in enumerate(scales):
            box(axes, region.first, top, region.columns, LANES, FACES[2 + index % 2], INK, 0.6)
            middle = region.first + region.columns / 2
            write(axes, middle, top + LANES / 2, region.name, size=8, ha="center", rotation=90)
        edges = {0, COLUMNS} | {region.first for region in accumulators + scales[:1]}
        edges |= {region.first + region.columns for region in accumulators}
        for column in sorted(edges):
            axes.plot([column, column], [top, top + LANES], color=INK, linewidth=0.8)
            write(axes, column, top + LANES + 11, column, size=9, ha="center", color=SOFT)
        for quarter in range(1, 4):
            axes.plot([0, COLUMNS], [top + QUARTER * quarter] * 2, color=SOFT, linewidth=0.5, linestyle=(0, (3, 3)))
        box(axes, 0, top, COLUMNS, LANES, "none", INK, 0.8)
    axes.set_xlim(-105, COLUMNS + 6)
    axes.set_ylim(2 * 225 + LANES + 20, -74)
    titles(
        axes,
        "09_tcgen05: tensor memory of a CTA, 128 lanes × 512 columns of 32 bits",
        "Computed with the formulas of Config. A lane holds a row of the CTA's tile, a column one of its columns.",
    )
    return figure


def pair_part(rank: int, rows: int = 256, columns: int = 256) -> dict:
    """What CTA `rank` of a pair has of an MMA: (first, count) of the rows of A and D and of the columns of B and D."""
    half, share = rows // 2, columns // 2
    return {"A": (rank * half, half), "B": (rank * share, share), "D rows": (rank * half, half), "D": (0, columns)}


def pair_09():
    """Top to bottom as the data flow: shared memory, tensor core, tensor memory. CTA 1 is mirrored, so that the halves of
    B are neighbours."""
    figure, axes = plt.subplots(figsize=(10, 6.0))
    axes.axis("off")
    width, gap = 15.0, 1.6
    colours = (BLUE, VERMILLION)
    b_at, core_at = {}, {}  # the middle of each CTA's half of B, and of its tensor core

    def arrow(start: tuple, end: tuple, colour: str) -> None:
        look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", end, start, arrowprops=look, zorder=5)

    for rank in (0, 1):
        part, left = pair_part(rank), rank * (width + gap)
        at = (lambda x, w, left=left: left + x) if rank == 0 else (lambda x, w, left=left: left + width - x - w)
        box(axes, left, 0, width, 14.6, PALE, INK, 0.8)
        role = "CTA 0, the leader: issues for both" if rank == 0 else "CTA 1"
        write(axes, left + 0.4, 0.8, role, size=10, fontweight="bold")
        write(axes, left + 0.4, 1.9, "shared memory, one stage", size=9, color=SOFT)
        first, count = part["A"]
        box(axes, at(1.0, 5.6), 2.5, 5.6, 2.2, colours[rank], INK, 0.7)
        text = f"A: rows\n{first}–{first + count - 1}"
        write(axes, at(1.0, 5.6) + 2.8, 3.6, text, size=9.5, ha="center", color="white")
        first, count = part["B"]
        box(axes, at(8.4, 5.6), 2.5, 5.6, 2.2, colours[rank], INK, 0.7)
        text = f"B: columns\n{first}–{first + count - 1}"
        write(axes, at(8.4, 5.6) + 2.8, 3.6, text, size=9.5, ha="center", color="white")
        b_at[rank] = at(8.4, 5.6) + 2.8
        box(axes, left + 1.0, 7.4, width - 2.0, 1.6, "white", INK, 1.2)
        rows, columns = part["D rows"], part["D"]
        text = f"tensor core: rows {rows[0]}–{sum(rows) - 1} × columns {columns[0]}–{sum(columns) - 1}"
        write(axes, left + width / 2, 8.2, text, size=9.5, ha="center")
        core_at[rank] = left + width / 2
        arrow((at(1.0, 5.6) + 2.8, 4.75), (at(1.0, 5.6) + 2.8, 7.35), INK)
        write(axes, left + 4.8, 10.0, "tensor memory: 512 columns", size=9, color=SOFT)
        for index in (0, 1):
            half = (width - 2.0) / 2
            box(axes, left + 1.0 + index * half, 10.9, half, 3.2, FACES[rank] if index == 0 else "white", INK, 0.7)
            text = f"accumulator {index}\ncolumns {ACCUMULATOR * index}–{ACCUMULATOR * index + ACCUMULATOR - 1}"
            text += "\nthis tile" if index == 0 else "\nthe next tile"
            write(axes, left + 1.0 + (index + 0.5) * half, 12.5, text, size=9, ha="center")
        arrow((left + 1.0 + (width - 2.0) / 4, 9.05), (left + 1.0 + (width - 2.0) / 4, 10.85), INK)
    for rank in (0, 1):  # each half of B goes to both tensor cores
        for to in (0, 1):
            shift = 1.2 if to == rank else 0.0
            end = b_at[to] + (shift if to == 0 else -shift)
            arrow((b_at[rank], 4.75), (end, 7.35), colours[rank])
    axes.set_xlim(-0.2, 2 * width + gap + 0.2)
    axes.set_ylim(14.8, -0.2)
    titles(
        axes,
        "09_tcgen05: one MMA of 256×256×16 on two tensor cores",
        "Computed with the formulas of Config. Each tensor core reads its own rows of A, and all of B: half of it from its "
        "peer.",
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
