"""The types of numbers, bit by bit and by their range; and a sparse row, compressed, with its metadata. Worked out from
the formats' definitions."""

from __future__ import annotations

import matplotlib.pyplot as plt

from common.plots.style import BLUE, FAINT, GREEN, INK, ORANGE, PALE, SOFT, VERMILLION, box, titles, write

# name, bits of exponent and fraction, exponent of the smallest (subnormal) number and of the largest, what follows
FORMATS = (
    ("fp32", 8, 23, -149, 128),
    ("tf32", 8, 10, -136, 128),
    ("bf16", 8, 7, -133, 128),
    ("f16", 5, 10, -24, 16),
    ("e5m2", 5, 2, -16, 16),
    ("e4m3", 4, 3, -9, 9),
    ("e2m1", 2, 1, -1, 3),
)
SIGN, EXPONENT, FRACTION = "#F3D3E3", "#FBE3C0", "#CFE3F3"


def precision_formats():
    """Left the bits, right the powers of two between the smallest number above 0 and the largest."""
    figure, axes = plt.subplots(figsize=(10.5, 5.0))
    axes.axis("off")
    scale, zero = 0.125, 68.0  # a power of two is so wide; where 1 is
    for y, (name, exponent, fraction, low, high) in enumerate(FORMATS):
        write(axes, -0.5, y + 0.4, name, size=11, ha="right", fontweight="bold")
        for bit in range(1 + exponent + fraction):
            face = SIGN if bit == 0 else EXPONENT if bit <= exponent else FRACTION
            box(axes, bit, y, 1, 0.8, face, line=0.6)
        left, right = zero + low * scale, zero + high * scale
        normal = zero + (low + fraction) * scale
        box(axes, left, y, normal - left, 0.8, PALE, line=0.6)
        box(axes, normal, y, right - normal, 0.8, BLUE if fraction > 3 else ORANGE, line=0.6)
        write(axes, right + 0.5, y + 0.4, f"2^{low} … 2^{high}", size=8.5)
        write(axes, 32.5, y + 0.4, f"{fraction + 1} bits that count", size=8.5)
    y = len(FORMATS)
    write(axes, -0.5, y + 0.4, "s8", size=11, ha="right", fontweight="bold")
    for bit in range(8):
        box(axes, bit, y, 1, 0.8, SIGN if bit == 0 else FRACTION, line=0.6)
    write(axes, 32.5, y + 0.4, "whole numbers", size=8.5)
    box(axes, zero, y, 7 * scale, 0.8, GREEN, line=0.6)
    write(axes, zero + 7 * scale + 0.5, y + 0.4, "1 … 127, times a scale", size=8.5)
    axes.plot([zero, zero], [-0.3, y + 1], color=INK, linewidth=0.8, linestyle=(0, (2, 2)), zorder=0)
    write(axes, zero, y + 1.35, "1", size=9, ha="center")
    for x, face, what in ((0, SIGN, "sign"), (8, EXPONENT, "exponent: range"), (25, FRACTION, "fraction: precision")):
        box(axes, x, y + 1.6, 0.8, 0.55, face, line=0.6)
        write(axes, x + 1.2, y + 1.9, what, size=9)
    box(axes, 45, y + 1.6, 0.8, 0.55, PALE, line=0.6)
    write(axes, 46.2, y + 1.9, "subnormal: fraction lost bit by bit", size=9)
    axes.set_xlim(-4, 97)
    axes.set_ylim(y + 2.3, -0.6)
    titles(axes, "Bits, and the range that they span", "right: powers of two from the smallest number to the largest")
    return figure


ROW = (0.0, 1.5, -2.0, 0.25, -0.5, 0.5, 3.0, 0.0, 1.0, -1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 2.0)  # 16 columns of a row
CODES = {0: "00", 1: "01", 2: "10", 3: "11"}


def kept(four: tuple) -> list:
    """Where the two largest of four are; of equal ones the first."""
    return sorted(sorted(range(4), key=lambda i: (-abs(four[i]), i))[:2])


def sparse_metadata():
    """16 columns of a row of A: what stays, what is stored, and the 16 bits that say where it was; and which lane
    holds them for two mma.sp."""
    figure, axes = plt.subplots(figsize=(10.5, 6.4))
    axes.axis("off")
    write(axes, 0, -0.7, "a row of A, 16 of its columns", size=10, fontweight="bold")
    write(axes, 0, 2.3, "what is stored: 8 elements, 16 bytes", size=10, fontweight="bold")
    bold = {"size": 10, "fontweight": "bold"}
    write(axes, 0, 5.3, "metadata: of each four columns the place of the first, then of the second, from the lowest bits", **bold)
    for group in range(4):
        four = ROW[4 * group : 4 * group + 4]
        places = kept(four)
        colour = (FRACTION, EXPONENT, "#CDEBDF", SIGN)[group]
        for i, value in enumerate(four):
            x = group * 8 + i * 2
            box(axes, x, 0, 2, 1, colour if i in places else "white", line=1.6 if i in places else 0.5)
            write(axes, x + 1, 0.5, f"{value:g}", size=9, ha="center", color=INK if i in places else FAINT)
        for order, place in enumerate(places):
            x = group * 4 + order * 2
            box(axes, x, 3, 2, 1, colour)
            write(axes, x + 1, 3.5, f"{four[place]:g}", size=9, ha="center")
            axes.plot([group * 8 + place * 2 + 1, x + 1], [1, 3], color=SOFT, linewidth=0.7, zorder=0)
            # The lowest bits stand on the right, as numbers are written.
            at = 28 - group * 4 - order * 2
            box(axes, at - 12, 6, 2, 1, colour)
            write(axes, at - 11, 6.5, CODES[place], size=9.5, ha="center", family="DejaVu Sans Mono")
    write(axes, 18.5, 6.5, "← bit 0", size=8.5, color=SOFT)
    write(axes, 1.7, 6.5, "bit 15 →", size=8.5, ha="right", color=SOFT)
    write(axes, 0, 8.4, "which lane of 4g … 4g+3 has them: rows g (lower half of its register) and g + 8 (upper half)", **bold)
    for lane in range(4):
        x = lane * 8
        box(axes, x, 9.2, 8, 1, PALE if lane < 2 else "white")
        write(axes, x + 4, 9.7, f"lane 4g+{lane}: columns {16 * lane} to {16 * lane + 15}", size=7.5, ha="center")
    steps = ((8, "first mma.sp, k 0 … 31, selector 0", BLUE), (24, "second, k 32 … 63, selector 1", VERMILLION))
    for x, text, colour in steps:
        axes.plot([x - 7.8, x + 7.8], [10.5, 10.5], color=colour, linewidth=2)
        write(axes, x, 11.0, text, size=9, ha="center", color=colour)
    axes.set_xlim(-2, 36)
    axes.set_ylim(11.5, -1.3)
    title = "2:4 sparsity: half the elements, and two bits for each that say where it was"
    titles(axes, title, "worked out; of equal ones the first stays")
    return figure
