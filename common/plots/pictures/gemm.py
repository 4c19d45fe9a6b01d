"""Picture of the tiled GEMM of rung 02: what a CTA stages, what a thread keeps."""

from __future__ import annotations

import matplotlib.pyplot as plt

from common.plots.style import BLUE, FAINT, GREEN, INK, VERMILLION, box, titles, write


def tiling(
    block_m: int = 128,
    block_n: int = 128,
    block_k: int = 16,
    thread_m: int = 8,
    thread_n: int = 8,
    tiles: tuple = (3, 4, 8),
    cta: tuple = (1, 2),
    k_tile: int = 3,
    thread: tuple = (5, 9),
):
    """Left: C in CTA tiles, with the k-tiles of A and B of one of them. Right: that tile, with the
    outputs one thread keeps in registers. `tiles` are the drawn numbers of tiles along m, n, k."""
    figure, axes = plt.subplots(figsize=(11, 5.9))
    axes.axis("off")
    axes.set_aspect("equal")
    unit, step, gap = 2.0, 0.5, 0.7  # drawn size of a CTA tile and of a k-tile
    m, n, k = tiles[0] * unit, tiles[1] * unit, tiles[2] * step
    row, column = cta[0] * unit, cta[1] * unit
    a_x, c_x, b_y, c_y = 0.0, k + gap, 0.0, k + gap  # A left of C, B above C
    for x, y, width, height in ((a_x, c_y, k, m), (c_x, b_y, n, k), (c_x, c_y, n, m)):  # A, B, C
        box(axes, x, y, width, height, "white")
    box(axes, a_x, c_y + row, k, unit, "#DCE9F5", "none")
    box(axes, c_x + column, b_y, unit, k, "#D6EEE6", "none")
    for i in range(1, tiles[0]):
        axes.plot([c_x, c_x + n], [c_y + i * unit] * 2, color=FAINT, linewidth=0.8)
    for i in range(1, tiles[1]):
        axes.plot([c_x + i * unit] * 2, [c_y, c_y + m], color=FAINT, linewidth=0.8)
    for t in range(tiles[2]):
        now = t == k_tile
        box(axes, a_x + t * step, c_y + row, step, unit, BLUE if now else "none", line=1.2 if now else 0.5)
        box(axes, c_x + column, b_y + t * step, unit, step, GREEN if now else "none", line=1.2 if now else 0.5)
    box(axes, c_x + column, c_y + row, unit, unit, "#FBE3C0", line=1.6)
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.2}
    axes.annotate("", (a_x + k, c_y + row - 0.35), (a_x, c_y + row - 0.35), arrowprops=arrow)
    axes.annotate("", (c_x + column - 0.35, b_y + k), (c_x + column - 0.35, b_y), arrowprops=arrow)
    say = {"ha": "center"}
    write(axes, a_x + k / 2, c_y + row - 0.75, "k-tile by k-tile", size=9, **say)
    write(axes, c_x + column - 0.75, b_y + k / 2, "k-tile by k-tile", size=9, rotation=90, **say)
    write(axes, a_x + k / 2, c_y + m + 0.45, "A [m, k]", size=11, fontweight="bold", **say)
    write(axes, c_x + n / 2, c_y + m + 0.45, "C [m, n]", size=11, fontweight="bold", **say)
    write(axes, c_x + n + 0.3, b_y + k / 2, "B [k, n]", size=11, fontweight="bold", ha="left")
    write(axes, c_x + column + unit / 2, c_y + row + unit / 2, f"one CTA\n{block_m}×{block_n}", size=9, **say)
    write(axes, a_x + (k_tile + 0.5) * step, c_y + row + unit + 0.4, f"{block_m}×{block_k}", size=9, color=BLUE, **say)
    write(
        axes,
        c_x + column + unit + 0.2,
        b_y + (k_tile + 0.5) * step,
        f"{block_k}×{block_n}",
        size=9,
        color=GREEN,
        ha="left",
    )

    # The CTA tile enlarged, with the outputs of one thread: every threads_m-th row, every threads_n-th column.
    threads_m, threads_n = block_m // thread_m, block_n // thread_n
    rows = [thread[0] + i * threads_m for i in range(thread_m)]
    columns = [thread[1] + j * threads_n for j in range(thread_n)]
    zoom, strip = 6.4, 0.5
    cell_y, cell_x = zoom / block_m, zoom / block_n
    left, top = c_x + n + 4.1, c_y + m - zoom
    for corner in (0, 1):
        axes.plot(
            [c_x + column + unit, left - 0.25 - strip],
            [c_y + row + corner * unit, top + corner * zoom],
            color=FAINT,
            linewidth=0.8,
            linestyle=(0, (3, 3)),
        )
    box(axes, left, top, zoom, zoom, "#FBE3C0", line=1.6)
    box(axes, left - 0.25 - strip, top, strip, zoom, "#DCE9F5")
    box(axes, left, top - 0.25 - strip, zoom, strip, "#D6EEE6")
    for i in rows:
        box(axes, left - 0.25 - strip, top + i * cell_y, strip, cell_y, BLUE, BLUE, line=1)
        axes.plot([left, left + zoom], [top + (i + 0.5) * cell_y] * 2, color=BLUE, linewidth=0.5)
    for j in columns:
        box(axes, left + j * cell_x, top - 0.25 - strip, cell_x, strip, GREEN, GREEN, line=1)
        axes.plot([left + (j + 0.5) * cell_x] * 2, [top, top + zoom], color=GREEN, linewidth=0.5)
    for i in rows:
        for j in columns:
            axes.plot(
                left + (j + 0.5) * cell_x,
                top + (i + 0.5) * cell_y,
                "s",
                color=VERMILLION,
                markeredgecolor=INK,
                markeredgewidth=0.5,
                markersize=5.5,
            )
    write(axes, left + zoom / 2, top - 1.15, f"row of the B tile: {thread_n} of {block_n}", size=9, color=GREEN, **say)
    write(
        axes,
        left - 1.15,
        top + zoom / 2,
        f"column of the A tile: {thread_m} of {block_m}",
        size=9,
        color=BLUE,
        rotation=90,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        **say,
    )
    write(
        axes,
        left + zoom / 2,
        c_y + m + 0.45,
        f"the {thread_m}×{thread_n} outputs of one of {threads_m * threads_n} threads",
        size=9,
        **say,
    )
    facts = (
        f"Per k-tile a CTA loads {block_m}·{block_k} elements of A and {block_k}·{block_n} of B from global memory.",
        f"From shared memory, each element of A serves {block_n} outputs, each of B {block_m}.",
        f"From registers, {thread_m} + {thread_n} values read feed {thread_m * thread_n} multiply-adds: "
        f"{thread_m * thread_n / (thread_m + thread_n):.3g} per value. One output per thread: {1 / 2:.3g} per value.",
    )
    for i, line in enumerate(facts):
        write(axes, a_x, c_y + m + 1.45 + 0.62 * i, line, size=9.5, ha="left")
    axes.set_xlim(-0.2, left + zoom + 0.2)
    axes.set_ylim(c_y + m + 1.45 + 0.62 * len(facts), -0.3)
    titles(
        axes,
        f"02_smem_tiling: a {block_m}×{block_n} tile per CTA, {thread_m}×{thread_n} outputs per thread",
        f"{block_m // thread_m * (block_n // thread_n)} threads; k in steps of {block_k}",
    )
    return figure
