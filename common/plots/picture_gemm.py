"""Pictures of the tiled GEMM of rungs 02 and 03: what a CTA stages, what a thread keeps, which banks its accesses to
shared memory meet."""

from __future__ import annotations

from itertools import groupby

import matplotlib.pyplot as plt

from memory import BANK_WORD, BANKS, WARP, bank_words, ideal_wavefronts, phases, wavefronts
from results import Results, is_store, where
from style import BLUE, FAINT, GREEN, INK, SOFT, VERMILLION, box, titles, write


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
    """Left: C in CTA tiles, with the k-tiles of A and B that march past one of them. Right: that tile, with the
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
    write(axes, a_x + k / 2, c_y + row - 0.75, "k-tiles march", size=9, **say)
    write(axes, c_x + column - 0.75, b_y + k / 2, "k-tiles march", size=9, rotation=90, **say)
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


def side_by_side(
    block_k: int = 16,
    thread_m: int = 8,
    thread_n: int = 8,
    threads_n: int = 16,
    pad: int = 2,
    element: int = 2,
) -> list:
    """(what, byte addresses of a warp's 32 lanes, access width) of reads that the kernel of 02 does not make: of
    tile_a[m][k] and tile_b[k][n], if a thread's rows and columns were side by side."""

    def lanes(index):
        return [element * index(lane // threads_n, lane % threads_n) for lane in range(WARP)]

    return [
        ("A, if a thread's rows were side by side", lanes(lambda ty, tx: ty * thread_m * block_k)),
        (f"the same, each row padded by {pad} elements", lanes(lambda ty, tx: ty * thread_m * (block_k + pad))),
        ("B, if a thread's columns were side by side", lanes(lambda ty, tx: tx * thread_n)),
    ]


def lane_ranges(lanes: list) -> str:
    """0,1,2,3,16 → 0–3,16."""
    runs = [[lane for _, lane in run] for _, run in groupby(enumerate(lanes), lambda pair: pair[1] - pair[0])]
    return ",".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def lanes_by_word(group: dict) -> dict:
    """Address of a bank's word → the lanes whose bytes begin in it."""
    lanes = {}
    for lane, address in group.items():
        lanes.setdefault(address // BANK_WORD * BANK_WORD, []).append(lane)
    return lanes


def draw_group(axes, top: float, group: dict, width: int, named: bool) -> int:
    """The lanes that are served together: a row for each 128 bytes. Returns the number of rows."""
    row_bytes, banks_each = BANKS * BANK_WORD, max(width // BANK_WORD, 1)
    lanes_of = lanes_by_word(group)
    wanted = bank_words(group.values(), width)
    rows = sorted({address // row_bytes for address in lanes_of})
    for i, row in enumerate(rows):
        label = f"byte {row * row_bytes}"
        if named:
            label = (f"lanes {lane_ranges(list(group))},   " if i == 0 else "") + label
        write(axes, -0.3, top + i + 0.5, label, size=8, ha="right", color=SOFT)
        for bank in range(0, BANKS, banks_each):
            address = row * row_bytes + bank * BANK_WORD
            lanes = lanes_of.get(address)
            clash = lanes and len(wanted[bank]) > 1
            face = "white" if not lanes else "#F3C2A3" if clash else "#BFDDF2"
            hatch = "///" if clash else None
            box(
                axes,
                bank,
                top + i,
                banks_each,
                1,
                face,
                INK if lanes else FAINT,
                hatch=hatch,
                zorder=2 if lanes else 1,
            )
            if not lanes:
                continue
            text = lane_ranges(lanes).split(",")
            size = {1: 7.5, 2: 7.5, 3: 6.5, 4: 6.2}.get(max(map(len, text)), 5.4) if banks_each == 1 else 8
            write(
                axes,
                bank + banks_each / 2,
                top + i + 0.5,
                "\n".join(text),
                size=size,
                ha="center",
                zorder=4,
                linespacing=0.95,
                bbox={"facecolor": face, "edgecolor": "none", "pad": 0.2} if clash else None,
            )
    return len(rows)


GAP = 0.2  # between groups of lanes


def banks(accesses: list, title: str, subtitle: str):
    """Per access (what, where, addresses, width, store) a map: a column is a bank, a row 128 bytes of shared memory.
    Distinct words in one column wait for each other; lanes at the same word share it."""
    maps = [(*access, phases(*access[2:])) for access in accesses]
    named = any(len(groups) > 1 for *_, groups in maps)
    rows = [GAP + len({a // (BANKS * BANK_WORD) for a in group.values()}) for *_, groups in maps for group in groups]
    height = 2.1 * len(maps) + sum(rows)
    figure, axes = plt.subplots(figsize=(13, 0.45 * height + 0.3))
    axes.axis("off")
    y = 0.0
    for what, where_from, addresses, width, store, groups in maps:
        write(axes, 0, y + 0.35, what, size=10.5, fontweight="bold")
        write(axes, BANKS, y + 0.35, where_from, size=8.5, ha="right", color=SOFT)
        for bank in range(BANKS):
            write(axes, bank + 0.5, y + 0.95, str(bank), size=7, ha="center", color=SOFT)
        write(axes, -0.3, y + 0.95, "bank", size=8, ha="right", color=SOFT)
        top = bottom = y + 1.2
        for group in groups:
            bottom += draw_group(axes, bottom, group, width, named=len(groups) > 1) + GAP
        bottom -= GAP
        cost, ideal = wavefronts(addresses, width, store), ideal_wavefronts(addresses, width, store)
        middle = (top + bottom) / 2
        write(axes, BANKS + 0.5, middle - 0.28, f"{cost} wavefront{'s' * (cost != 1)}", size=12, fontweight="bold")
        if len(groups) > 1:
            text = f"{cost // len(groups)} for each of {len(groups)} groups"
        else:
            words = sum(map(len, bank_words(groups[0].values(), width).values()))
            text = f"{words} word{'s' * (words != 1)} for {WARP} lanes"
        write(axes, BANKS + 0.5, middle + 0.42, text, size=8.5)
        if cost > ideal:
            write(axes, BANKS + 0.5, middle + 0.92, f"ideal: {ideal}", size=8.5)
        y = bottom + 0.6
    axes.set_xlim(-5.2 if named else -2.8, BANKS + 5.6)
    axes.set_ylim(y - 0.4, 0)
    titles(axes, title, subtitle)
    return figure


def traced(what: str, trace: dict) -> tuple:
    return what, where(trace), trace["addresses"], trace["bytes"], is_store(trace)


def banks_02(results: Results):
    def kernel(what, tile):
        return traced(what, results.access("02_smem_tiling", "gemm", "register_tile", "ld.shared", source=tile))

    other = [(what, "worked out: the kernel does not do this", at, 2, False) for what, at in side_by_side()]
    accesses = [
        *other[:2],
        kernel("A as it is: a thread's rows are 16 apart, a warp's side by side", "tile_a"),
        other[2],
        kernel("B as it is: a thread's columns are 16 apart, a warp's side by side", "tile_b"),
    ]
    return banks(
        accesses,
        "02_smem_tiling: a warp's reads from shared memory, by bank",
        "In a cell: the lanes that read this word. Hatched: another word of the same bank is asked for too, "
        "and one of them waits. “As it is”: traced by the simulator.",
    )


def banks_03(results: Results):
    def kernel(what, ptx, source):
        return traced(what, results.access("03_vectorized", "gemm", "vectorized", ptx, source=source))

    return banks(
        [
            kernel("store to tile_a, 4 bytes: one of 8, transposing", "st.shared", "tile_a"),
            kernel("store to tile_b, 16 bytes: one of 2", "st.shared.v4", "to[0]"),
            kernel("read of tile_a, 16 bytes", "ld.shared", "tile_a"),
            kernel("read of tile_b, 16 bytes", "ld.shared", "tile_b"),
        ],
        "03_vectorized: a warp's stores and reads of the tiles in shared memory, by bank",
        "Traced by the simulator. In a cell: the lanes that want these bytes. Rows that touch: lanes that are served "
        "together. Hatched: another word of the same bank is asked for too, and one of them waits.",
    )
