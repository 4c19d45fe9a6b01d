"""How the rows of the fused norm are spread over threads, from one rung to the next: traced by the simulator."""

from __future__ import annotations

from itertools import groupby

import matplotlib.pyplot as plt

from common.plots.records.memory import WARP
from common.plots.records.results import Results
from common.plots.style import BLUE, SOFT, box, titles, write

ELEMENT = 2  # bytes
SCHEMES = (
    ("00_naive", "naive", "a thread walks along its row"),
    ("01_coalesced", "cta_per_row", "a CTA has a row, neighbours have neighbouring elements"),
    ("03_vectorized", "vectorized", "8 neighbouring elements per load, the row stays in registers"),
)


def loads_of_x(results: Results, rung: str, variant: str) -> list:
    return [
        trace
        for trace in results.traces
        if (trace["rung"], trace["problem"], trace["variant"], trace.get("array")) == (rung, "fused_norm", variant, "x")
    ]


def readers(loads: list) -> dict:
    """(row, column) → (CTA, thread, number of its load), as far as the trace goes."""
    first = loads[0]["addresses"][0]  # of x[0][0], which thread 0 of CTA 0 reads first
    owner = {}
    for load in loads:
        for lane, address in enumerate(load["addresses"]):
            for element in range(load["bytes"] // ELEMENT):
                place = divmod((address - first) // ELEMENT + element, load["cols"])
                owner[place] = (load["cta"], load["warp"] * WARP + lane, load["number"])
    return owner


def norm_rows(results: Results, rows: int = 4, shown: int = 32):
    """The first elements of the first rows, each with the thread that reads it; filled: what is read first."""
    figure, axes = plt.subplots(figsize=(11, 7.2))
    axes.axis("off")
    y = 0.0
    for rung, variant, what in SCHEMES:
        loads = loads_of_x(results, rung, variant)
        owner, first = readers(loads), loads[0]
        write(axes, 0, y, f"{rung}: {what}", size=11, fontweight="bold")
        y += 0.75
        for row in range(rows):
            for (_, thread, number), cells in groupby(range(shown), lambda col: owner[row, col]):
                cells = list(cells)
                box(axes, cells[0], y + row, len(cells), 0.86, BLUE if number == 1 else "white", line=0.7)
                write(
                    axes,
                    cells[0] + len(cells) / 2,
                    y + row + 0.45,
                    f"t{thread}",
                    size=10 if len(cells) > 1 else 7.5 if thread < 10 else 6.5,
                    ha="center",
                    color="white" if number == 1 else SOFT,
                )
            write(axes, -0.4, y + row + 0.43, f"row {row}, CTA {owner[row, 0][0]}", size=9, ha="right")
            write(axes, shown + 0.2, y + row + 0.43, "…", size=10)
        count, useful, middle = first["of"], WARP * first["bytes"], y + rows / 2
        write(axes, shown + 1.5, middle - 0.9, f"{first['sectors']} sectors", size=13, fontweight="bold")
        write(axes, shown + 1.5, middle - 0.1, f"for {useful} bytes, in one\nwarp's first load", size=9, va="top")
        write(axes, shown + 1.5, middle + 1.25, f"{count} load{'s' * (count != 1)} of x per thread", size=9, va="top")
        y += rows + 1.0
    axes.set_xlim(-4.5, shown + 8)
    axes.set_ylim(y - 0.8, -0.6)
    titles(
        axes,
        "Fused norm: which thread reads which element",
        f"The first {shown} of {first['cols']} bf16 of each row, traced by the simulator. "
        "Filled: what the threads' first load of x reads.",
    )
    return figure
