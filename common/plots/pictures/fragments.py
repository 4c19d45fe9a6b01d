"""Which lane holds which element of the matrices of an mma.sync: by what rung 05 reads for one, and stores of it."""

from __future__ import annotations

from itertools import groupby

import matplotlib.pyplot as plt

from common.plots.records.results import Results
from common.plots.style import INK, SOFT, box, titles, write

ELEMENT = 2  # bytes
RUNG, VARIANT = "05_mma_sync", "halfwords"
FACES = ("#CFE3F3", "#FBE3C0", "#CDEBDF", "#F3D3E3")  # of registers 0 to 3


def holders(accesses: list) -> dict:
    """(row, column) of a matrix → (lane, register, which half), by a warp's accesses to it, each with the registers
    and halves of the elements that a lane reads or stores with it. Bytes that touch are a row."""
    holder = {}  # by address
    for trace, parts in accesses:
        for lane, address in enumerate(trace["addresses"]):
            for i, (register, half) in enumerate(parts):
                holder[address + i * ELEMENT] = (lane, register, half)
    runs = groupby(enumerate(sorted(holder)), lambda pair: pair[1] - pair[0] * ELEMENT)
    rows = [[address for _, address in run] for _, run in runs]
    return {(row, column): holder[at] for row, run in enumerate(rows) for column, at in enumerate(run)}


def fragments(results: Results) -> dict:
    """Of mma.m16n8k16, bf16 but for C. Registers are numbered in the order in which the kernel's loops fill them."""

    def accesses(numbers: tuple, ptx: str, source: str = "") -> list:
        return [results.access(RUNG, "gemm", VARIANT, ptx, source=source, number=number) for number in numbers]

    a, c = accesses((1, 2, 3, 4), "ld.shared.u32"), accesses((1, 9), "st.global")
    b = {half: accesses((1, 2), "ld.shared.u16", name) for half, name in enumerate(("even", "odd"))}
    return {
        "A": holders([(load, [(r, 0), (r, 1)]) for r, load in enumerate(a)]),
        "B": holders([(load, [(r, half)]) for half in b for r, load in enumerate(b[half])]),
        "C": holders([(store, [(2 * r, 0), (2 * r + 1, 0)]) for r, store in enumerate(c)]),  # fp32, rounded and packed
    }


def draw(axes, left: float, top: float, name: str, holder: dict, shown_lane: int) -> None:
    rows, columns = (1 + max(place[i] for place in holder) for i in (0, 1))
    label = {"size": 7, "ha": "center", "color": SOFT}
    for row in range(rows):
        write(axes, left - 0.45, top + row + 0.5, row, **label)
    for column in range(columns):
        write(axes, left + column + 0.5, top - 0.4, column, **label)
    for (row, column), (lane, register, half) in sorted(holder.items()):
        if half:  # drawn with the first half of its register
            continue
        pair = [place for place, held in holder.items() if held[:2] == (lane, register)]
        width, height = (1 + max(place[i] for place in pair) - at for i, at in ((1, column), (0, row)))
        bold = lane == shown_lane
        x, y = left + column, top + row
        box(axes, x, y, width, height, FACES[register], INK, 2.4 if bold else 0.6, zorder=3 if bold else 2)
        middle = {"ha": "center", "zorder": 4, "fontweight": "bold" if bold else "normal"}
        write(axes, x + width / 2, y + height / 2, lane, size=9, **middle)
    what = {"A": "A, 16×16, row-major", "B": "B, 16×8", "C": "C, 16×8, fp32"}[name]
    write(axes, left + columns / 2, top - 1.3, what, size=11, ha="center", fontweight="bold")


def fragments_05(results: Results, shown_lane: int = 5):
    held = fragments(results)
    figure, axes = plt.subplots(figsize=(9.4, 11.2))
    axes.axis("off")
    axes.set_aspect("equal")
    draw(axes, 0, 19, "A", held["A"], shown_lane)
    draw(axes, 18.5, 0, "B", held["B"], shown_lane)
    draw(axes, 18.5, 19, "C", held["C"], shown_lane)
    write(axes, -0.7, 1.2, "In a box: the lane. Colour: its register.", size=10)
    kept = (("A: a[0] … a[3]", 4), ("B: b[0], b[1]", 2), ("C: d[0] … d[3]", 4))
    for i, (text, count) in enumerate(kept):
        for register in range(count):
            box(axes, -0.7 + register * 1.3, 2.6 + i * 1.5, 1.1, 0.9, FACES[register])
            write(axes, -0.15 + register * 1.3, 3.05 + i * 1.5, register, size=9, ha="center")
        write(axes, 4.8, 3.05 + i * 1.5, text, size=9.5)
    write(
        axes,
        -0.7,
        9.6,
        "A box of two elements is one 32-bit register:\n"
        "neighbours along k, which lie side by side in A\n"
        "and one below the other in B.\n"
        f"Bold: everything that lane {shown_lane} holds.",
        size=9.5,
        linespacing=1.5,
    )
    axes.set_xlim(-1.2, 26.8)
    axes.set_ylim(35.2, -1.8)
    titles(
        axes,
        "05_mma_sync: the fragments of mma.m16n8k16",
        f"Traced by the simulator: what the lanes of a warp read for one mma, and where they store what it gives "
        f"(variant {VARIANT}).",
    )
    return figure
