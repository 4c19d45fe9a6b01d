"""Rung 08 in FP8: what of a product arrives in a sum, on a tensor core that cuts all it adds below the largest."""

from __future__ import annotations

import matplotlib.pyplot as plt

from common.plots.style import BLUE, GREEN, INK, PALE, SOFT, VERMILLION, box, titles, write

FRACTION = 13  # bits below the largest exponent that Hopper keeps of 8-bit factors
PRODUCT = 8  # bits of a product of two e4m3: twice 4


def arrives(sum_exponent: int, product_exponent: int) -> tuple:
    """How many bits of a product arrive, and how many are cut."""
    lowest_kept = max(sum_exponent, product_exponent) - FRACTION
    lost = min(PRODUCT, max(0, lowest_kept - (product_exponent - PRODUCT + 1)))
    return PRODUCT - lost, lost


def power(exponent: int) -> str:
    return "2" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def fp8_sums():
    cases = (
        ("128 products: a sum of some 11", 3),
        ("4096 products: some 64", 6),
        ("16384 ones: 2¹⁴, and it stays there", 14),
    )
    products = (("1 to 4", 1), ("around 1/8", -2))
    figure, axes = plt.subplots(figsize=(12, 5.6))
    axes.axis("off")
    highest, lowest = 14, -11
    for exponent in range(lowest, highest + 1):
        write(axes, highest - exponent + 0.5, -0.45, power(exponent), size=7.5, ha="center", color=SOFT)
    y = 0.0
    for heading, sum_exponent in cases:
        write(axes, -0.4, y + 0.4, heading, size=9.5, ha="right", fontweight="bold")
        for bit in range(FRACTION + 1):
            box(axes, highest - sum_exponent + bit, y, 1, 0.8, BLUE)
        for i, (name, exponent) in enumerate(products):
            at = y + 1.0 + 0.9 * i
            kept, lost = arrives(sum_exponent, exponent)
            write(axes, -0.4, at + 0.35, f"a product, {name}", size=8.5, ha="right")
            for bit in range(PRODUCT):
                face, edge = (GREEN, INK) if bit < kept else (PALE, VERMILLION)
                box(axes, highest - exponent + bit, at, 1, 0.7, face, edge)
            some = f"{lost} of {PRODUCT} bits are cut" if kept else "nothing arrives"
            text = some if lost else "all of it arrives"
            write(axes, highest - lowest + 1.4, at + 0.35, text, size=8.5, color=VERMILLION if lost else INK)
        end = highest - sum_exponent + FRACTION + 1
        axes.plot([end, end], [y - 0.1, y + 2.8], color=INK, linewidth=1.2, linestyle=(0, (4, 2)))
        y += 3.4
    axes.set_xlim(-9.5, highest - lowest + 8)
    axes.set_ylim(y - 0.4, -0.9)
    titles(
        axes,
        "08_warp_specialized in FP8: what of a product arrives in a sum",
        "Worked out: all that is added is cut 13 bits below the largest of it (dashed). A product of two e4m3 has 8"
        " bits. Blue: the sum; green: what arrives; pale: what does not.",
    )
    return figure
