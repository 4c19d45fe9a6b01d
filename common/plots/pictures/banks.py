"""Which banks of shared memory a warp's accesses meet, from rung 02 on."""

from __future__ import annotations

from itertools import groupby

import matplotlib.pyplot as plt

from common.plots.records.memory import BANKS, BANK_WORD, WARP, bank_words, ideal_wavefronts, phases, wavefronts
from common.plots.records.results import Results
from common.plots.records.traces import in_fixed_groups, where
from common.plots.style import BLUE, FAINT, INK, SOFT, box, titles, write


def side_by_side(
    block_k: int = 16,
    thread_m: int = 8,
    thread_n: int = 8,
    threads_n: int = 16,
    element: int = 2,
) -> tuple:
    """The byte addresses of a warp's 32 lanes in reads that the kernel of 02 does not make: of tile_a[m][k] and of
    tile_b[k][n], if a thread's rows and columns were adjacent."""

    def lanes(index):
        return [element * index(lane // threads_n, lane % threads_n) for lane in range(WARP)]

    return lanes(lambda ty, tx: ty * thread_m * block_k), lanes(lambda ty, tx: tx * thread_n)


def lane_ranges(lanes: list) -> str:
    """0,1,2,3,16 → 0–3,16."""
    runs = [[lane for _, lane in run] for _, run in groupby(enumerate(lanes), lambda pair: pair[1] - pair[0])]
    return ",".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def lane_lines(lanes: list) -> str:
    """A line for each lane, and one for all that a long run leaves out: 0 ⋮ 15."""
    runs = [text.split("–") for text in lane_ranges(lanes).split(",")]
    lines = [[run[0], "⋮", run[-1]] if len(run) > 1 and int(run[-1]) - int(run[0]) > 1 else run for run in runs]
    return "\n".join(line for run in lines for line in run)


def lanes_by_word(group: dict) -> dict:
    """Address of a bank's word → the lanes whose bytes begin in it."""
    lanes = {}
    for lane, address in group.items():
        lanes.setdefault(address // BANK_WORD * BANK_WORD, []).append(lane)
    return lanes


def draw_group(axes, top: float, group: dict, width: int, named: bool, tall: float = 1) -> float:
    """The lanes that are served together: a row for each 128 bytes, `tall` high; a row higher than 1 has a line for
    each lane. Returns the height of all rows."""
    row_bytes, banks_each = BANKS * BANK_WORD, max(width // BANK_WORD, 1)
    lanes_of = lanes_by_word(group)
    wanted = bank_words(group.values(), width)
    rows = sorted({address // row_bytes for address in lanes_of})
    for i, row in enumerate(rows):
        label = f"byte {row * row_bytes}"
        if named:
            label = (f"lanes {lane_ranges(list(group))},   " if i == 0 else "") + label
        write(axes, -0.3, top + (i + 0.5) * tall, label, size=8, ha="right", color=SOFT)
        for bank in range(0, BANKS, banks_each):
            address = row * row_bytes + bank * BANK_WORD
            lanes = lanes_of.get(address)
            clash = lanes and len(wanted[bank]) > 1
            face = "white" if not lanes else "#F3C2A3" if clash else "#BFDDF2"
            hatch = "///" if clash else None
            box(
                axes,
                bank,
                top + i * tall,
                banks_each,
                tall,
                face,
                INK if lanes else FAINT,
                hatch=hatch,
                zorder=2 if lanes else 1,
            )
            if not lanes:
                continue
            text = lane_ranges(lanes).split(",")
            size = {1: 7.5, 2: 7.5, 3: 6.5, 4: 6.2}.get(max(map(len, text)), 5.4) if banks_each == 1 else 8
            if tall > 1:
                size = 9
            write(
                axes,
                bank + banks_each / 2,
                top + (i + 0.5) * tall,
                lane_lines(lanes) if tall > 1 else "\n".join(text),
                size=size,
                ha="center",
                zorder=4,
                linespacing=0.95,
                bbox={"facecolor": face, "edgecolor": "none", "pad": 0.2} if clash else None,
            )
    return len(rows) * tall


GAP = 0.2  # between groups of lanes


def banks(accesses: list, title: str, subtitle: str, most: int = WARP, tall: float = 1):
    """Per access (what, where, addresses, width, fixed groups) a map: a column is a bank, a row 128 bytes of shared
    memory. Distinct words in one column wait for each other; lanes at the same word share it. most: groups drawn. tall: the height
    of a row."""
    maps = [(*access, phases(*access[2:])) for access in accesses]
    named = any(len(groups) > 1 for *_, groups in maps)
    drawn = [group for *_, groups in maps for group in groups[:most]]
    rows = [GAP + tall * len({a // (BANKS * BANK_WORD) for a in group.values()}) for group in drawn]
    height = 2.1 * len(maps) + sum(rows)
    figure, axes = plt.subplots(figsize=(13, 0.45 * height + 0.3))
    axes.axis("off")
    y = 0.0
    for what, where_from, addresses, width, fixed, groups in maps:
        write(axes, 0, y + 0.35, what, size=10.5, fontweight="bold")
        write(axes, BANKS, y + 0.35, where_from, size=8.5, ha="right", color=SOFT)
        for bank in range(BANKS):
            write(axes, bank + 0.5, y + 0.95, str(bank), size=7, ha="center", color=SOFT)
        write(axes, -0.3, y + 0.95, "bank", size=8, ha="right", color=SOFT)
        top = bottom = y + 1.2
        for group in groups[:most]:
            bottom += draw_group(axes, bottom, group, width, named=len(groups) > 1, tall=tall) + GAP
        bottom -= GAP
        cost, ideal = wavefronts(addresses, width, fixed), ideal_wavefronts(addresses, width, fixed)
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
    return what, where(trace), trace["addresses"], trace["bytes"], in_fixed_groups(trace)


def banks_02(results: Results):
    def kernel(what, tile):
        return traced(what, results.access("02_smem_tiling", "gemm", "register_tile", "ld.shared", source=tile))

    def other(what, addresses):
        return what, "worked out: the kernel does not do this", addresses, 2, False

    adjacent_a, adjacent_b = side_by_side()
    return banks(
        [
            kernel("The kernel's read of A: a thread's rows are 16 apart", "tile_a"),
            other("If a thread had 8 adjacent rows of A", adjacent_a),
            kernel("The kernel's read of B: a thread's columns are 16 apart", "tile_b"),
            other("If a thread had 8 adjacent columns of B", adjacent_b),
        ],
        "02_smem_tiling: a warp's reads from shared memory, by bank",
        "In a cell: the lanes that read this word. Hatched: a bank conflict; lanes read different words of one bank. "
        "With a line number: traced by the simulator.",
        tall=1.9,
    )


def banks_03(results: Results):
    def kernel(what, ptx, source):
        return traced(what, results.access("03_vectorized", "gemm", "vectorized", ptx, source=source))

    return banks(
        [
            kernel("store to tile_a, 4 bytes: one of 8, transposing", "st.shared", "tile_a"),
            kernel("store to tile_b, 16 bytes: one of 2", "st.shared.v4", "to[j / 4]"),
            kernel("read of tile_a, 16 bytes", "ld.shared", "tile_a"),
            kernel("read of tile_b, 16 bytes", "ld.shared", "tile_b"),
        ],
        "03_vectorized: a warp's stores and reads of the tiles in shared memory, by bank",
        "Traced by the simulator. In a cell: the lanes that access these bytes. Rows that touch: lanes that are served "
        "together. Hatched: another word of the same bank is requested too, and one of them waits.",
    )


def banks_05(results: Results):
    def kernel(what, variant, ptx, source):
        return traced(f"{variant}: {what}", results.access("05_mma_sync", "gemm", variant, ptx, source=source))

    loads = (
        ("a[0], 4 bytes", "ld.shared.u32", "tile.a"),
        ("8 columns of a row of B, 16 bytes", "ld.shared.v4", "even"),
    )
    return banks(
        [kernel(what, variant, *which) for what, *which in loads for variant in ("unpadded", "mma_sync")],
        "05_mma_sync: a warp's loads of fragments from shared memory, by bank",
        "Traced by the simulator. In a cell: the lanes that access these bytes. Of 16-byte loads the first of four "
        "groups, the others are alike. Hatched: another word of the same bank is requested too, and one of them waits.",
        most=1,
    )


ROW = 8  # of a matrix that ldmatrix loads: 16 bytes, a chunk; and there are as many rows
CHUNK_FACES = ("#D3EDF5", "#FBE3C0", BLUE, "#F3D3E3", "#DDD6F0", "#EFEFC4", "#E3E3E3", "#CDEBDF")
SHOWN_CHUNK = 2


def matrices(loads: list) -> list:
    """The 8×8 matrices that lie in the first 8 rows, from left to right: the addresses of their rows."""
    found = [load["addresses"][i : i + ROW] for load in loads for i in range(0, WARP, ROW)]
    first_rows = sorted(found, key=min)[: BANKS * BANK_WORD // 16]
    return sorted(first_rows)


def draw_layout(axes, left: float, loads: list, variant: str, what: str) -> None:
    """Where those matrices lie, by bank."""
    line = BANKS * BANK_WORD
    chunks = matrices(loads)
    first = min(chunks[0]) // line
    lines = 1 + max(max(rows) for rows in chunks) // line - first
    write(axes, left, -2.1, variant, size=11.5, fontweight="bold")
    write(axes, left, -1.4, what, size=9.5)
    for group in range(ROW):
        write(axes, left + group + 0.5, -0.4, f"{4 * group}–{4 * group + 3}", size=7, ha="center", color=SOFT)
        for y in range(lines):
            box(axes, left + group, y, 1, 1, "white", FAINT, 0.6, zorder=1)
    for number, rows in reversed(list(enumerate(chunks))):
        for row, address in enumerate(rows):
            y, byte = divmod(address - first * line, line)
            x = left + byte / 16
            shown = number == SHOWN_CHUNK
            box(axes, x, y, 1, 1, CHUNK_FACES[number], INK, 1.6 if shown else 0.6, zorder=3 if shown else 2)
            look = {"color": "white", "fontweight": "bold"} if shown else {}
            write(axes, x + 0.5, y + 0.5, f"{row}.{number}", size=8.5, ha="center", zorder=4, **look)
    met = len({address % line for address in chunks[SHOWN_CHUNK]})
    cost, ideal = loads[0]["wavefronts"], loads[0]["ideal_wavefronts"]
    write(axes, left, 9.7, f"blue: 8 rows of a matrix in {met} group{'s' * (met > 1)} of banks", size=9.5)
    write(axes, left, 10.5, f"ldmatrix.x4: {cost} wavefronts", size=12, fontweight="bold")
    if cost > ideal:
        write(axes, left, 11.2, f"ideal: {ideal}", size=9)


def banks_06(results: Results):
    variants = (
        ("unswizzled", "rows of 128 bytes"),
        ("padded", "rows of 128 + 16 bytes, white"),
        ("swizzle_ldmatrix", "chunk c of row r is stored at c ^ (r mod 8)"),
    )
    figure, axes = plt.subplots(figsize=(13, 6.4))
    axes.axis("off")
    for i, (variant, what) in enumerate(variants):
        loads = [
            trace
            for trace in results.traces
            if (trace["rung"], trace["variant"]) == ("06_swizzle_ldmatrix", variant)
            and trace["ptx"].startswith("ldmatrix")
        ]
        draw_layout(axes, i * 9.5, loads, variant, what)
    write(axes, -0.3, -0.4, "banks", size=8, ha="right", color=SOFT)
    axes.set_xlim(-1.2, 27.2)
    axes.set_ylim(11.5, -2.6)
    titles(
        axes,
        "06_swizzle_ldmatrix: the first 8 rows of a tile of A in shared memory, by bank",
        "Traced by the simulator: the row addresses given to ldmatrix. A cell: 16 bytes, row.chunk of the tile. "
        "A colour: an 8×8 matrix, read at once.",
    )
    return figure
