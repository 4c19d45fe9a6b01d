"""Rung 08: which CTA of a cluster loads what, for whom."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt

from common.plots.style import BLUE, GREEN, INK, PALE, SOFT, VERMILLION, box, titles, write

BLOCK_K = 64
STAGE_ROWS = 128  # of A in a stage
BOXES_B = 4  # of 64 columns


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
            write(axes, x + 1.7, y + 3.6, "arrivals at their empty", size=7.5, color=SOFT)
        left += cluster_n * 5.9 + 0.9
    for rank, face in enumerate(faces):
        box(axes, 0.2 + rank * 4.2, 9.75, 0.5, 0.4, face, INK, 0.6)
        write(axes, 0.85 + rank * 4.2, 9.95, f"loaded by CTA {rank}", size=8.5)
    axes.set_xlim(-0.2, left - 0.6)
    axes.set_ylim(10.4, -1.8)
    titles(
        axes,
        "08_warp_specialized: a pipeline stage in the CTAs of a cluster, and who loads it",
        "Worked out, by the formulas of produce(). A k-tile of 128×256: A is 128 rows of 128 bytes, B 4 boxes of 64 "
        "rows of 128 bytes.",
    )
    return figure
