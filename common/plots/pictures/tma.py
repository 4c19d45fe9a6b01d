"""How tiles lie in shared memory that TMA fills and wgmma reads."""

from __future__ import annotations

import matplotlib.pyplot as plt

from common.plots.pictures.banks import CHUNK_FACES
from common.plots.records.memory import BANKS, BANK_WORD
from common.plots.style import INK, SOFT, box, titles, write

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
        write(axes, left, 9.9, f"blue core matrix: {4 * len(met)} of 32 banks", size=9.5)
        write(axes, left, 10.6, f"a k-tile of A and B: {boxes} boxes, {rows} rows", size=9.5)
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
