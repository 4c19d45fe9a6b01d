"""How the rows of the fused norm are spread over threads, from one rung to the next."""

from __future__ import annotations

from itertools import groupby

import matplotlib.pyplot as plt

from memory import WARP, sectors
from style import BLUE, SOFT, box, titles, write


def schemes(rows_per_cta: int, threads: int, vector: int) -> list:
    """(rung, what, owner, per_load): owner(row, col) → (cta, thread, step); per_load is the elements of one load."""
    return [
        (
            "00_naive",
            f"a thread walks along its row, {rows_per_cta} rows to a CTA",
            lambda row, col: (row // rows_per_cta, row % rows_per_cta, col),
            1,
        ),
        (
            "01_coalesced",
            f"a CTA of {threads} threads has a row, neighbours have neighbouring elements",
            lambda row, col: (row, col % threads, col // threads),
            1,
        ),
        (
            "03_vectorized",
            f"{vector} neighbouring elements per load, the row stays in registers",
            lambda row, col: (row, col // vector % threads, col // (vector * threads)),
            vector,
        ),
    ]


def norm_rows(
    rows: int = 4,
    shown: int = 32,
    cols: int = 8192,
    rows_per_cta: int = 128,
    threads: int = 512,
    vector: int = 8,
    element: int = 2,
):
    """The first elements of the first rows, each with the thread that reads it; filled: what is read first."""
    figure, axes = plt.subplots(figsize=(11, 7.2))
    axes.axis("off")
    y = 0.0
    for rung, what, owner, per_load in schemes(rows_per_cta, threads, vector):
        write(axes, 0, y, f"{rung}: {what}", size=11, fontweight="bold")
        y += 0.75
        first = {}  # lane of warp 0 of CTA 0 → its first address
        for row in range(max(rows, WARP)):
            for col in range(cols if row == 0 else 1):
                cta, thread, step = owner(row, col)
                if (cta, step) == (0, 0) and thread < WARP:
                    first.setdefault(thread, (row * cols + col) * element)
        for row in range(rows):
            for (_, thread, step), cells in groupby(range(shown), lambda col: owner(row, col)):
                cells = list(cells)
                face = BLUE if step == 0 else "white"
                box(axes, cells[0], y + row, len(cells), 0.86, face, line=0.7)
                write(
                    axes,
                    cells[0] + len(cells) / 2,
                    y + row + 0.45,
                    f"t{thread}",
                    size=10 if len(cells) > 1 else 7.5 if thread < 10 else 6.5,
                    ha="center",
                    color="white" if step == 0 else SOFT,
                )
            cta = owner(row, 0)[0]
            write(axes, -0.4, y + row + 0.43, f"row {row}, CTA {cta}", size=9, ha="right")
            write(axes, shown + 0.2, y + row + 0.43, "…", size=10)
        width = per_load * element
        touched, useful = len(sectors(first.values(), width)), len(first) * width
        loads = max(owner(0, col)[2] for col in range(cols)) + 1
        middle = y + rows / 2
        write(axes, shown + 1.5, middle - 0.9, f"{touched} sectors", size=13, fontweight="bold")
        write(axes, shown + 1.5, middle - 0.1, f"for {useful} bytes, in one\nwarp's first load", size=9, va="top")
        write(axes, shown + 1.5, middle + 1.25, f"{loads} load{'s' * (loads != 1)} of x per thread", size=9, va="top")
        y += rows + 1.0
    axes.set_xlim(-4.5, shown + 8)
    axes.set_ylim(y - 0.8, -0.6)
    titles(
        axes,
        "Fused norm: which thread reads which element",
        f"The first {shown} of {cols} bf16 of each row. Filled: what the threads' first load of x reads.",
    )
    return figure
