"""every_shape: who sends which partial sums to whom when a cluster has split k."""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt

from common.plots.style import BLUE, GREEN, INK, PALE, SOFT, VERMILLION, box, titles, write

THREADS, VECTOR = 128, 16  # of the warpgroup that has the sums; bytes of an st.async
GROUPS = 8  # of 8 columns: a tile of 64x64


class Part(NamedTuple):
    by: int  # CTA of the cluster
    to: int
    first: int  # of the tile's groups of columns
    count: int


def parts(cluster_k: int) -> list:
    """What the CTAs of a cluster have for each other, as combine() of rung 08's general kernel does it."""
    own = GROUPS // cluster_k
    return [Part(by, to, to * own, own) for by in range(cluster_k) for to in range(cluster_k)]


def bytes_received(cluster_k: int, cta: int) -> int:
    return sum(part.count * THREADS * VECTOR for part in parts(cluster_k) if part.to == cta != part.by)


def split_k(cluster_k: int = 4):
    faces = (BLUE, VERMILLION, GREEN, "#E69F00")
    figure, axes = plt.subplots(figsize=(12, 5.6))
    axes.axis("off")
    wide, own = 5.6, GROUPS // cluster_k
    cell, top, bottom = 0.6, 0.9, 4.4
    for part in parts(cluster_k):
        face, kept = faces[part.by], part.by == part.to
        x = part.by * wide + part.first * cell
        box(axes, x, top, part.count * cell, 1.0, face if kept else PALE, INK, 0.8)
        text = "keeps" if kept else f"to {part.to}"
        write(axes, x + part.count * cell / 2, top + 0.5, text, size=8, ha="center", color="white" if kept else INK)
        at = part.to * wide + (GROUPS - own) * cell / 2, bottom + part.by * 0.5
        box(axes, *at, own * cell, 0.5, face, INK, 0.8)
        write(axes, at[0] + own * cell / 2, at[1] + 0.25, f"part {part.by}", size=7.5, ha="center", color="white")
        ends = [x + part.count * cell / 2, at[0] + own * cell / 2], [top + 1.0, bottom]
        axes.plot(*ends, color=face, linewidth=1.6 if kept else 0.9, linestyle="-" if kept else (0, (4, 2)), zorder=1)
    for cta in range(cluster_k):
        x = cta * wide
        write(axes, x, 0.0, f"CTA {cta}", size=11, fontweight="bold")
        write(axes, x, 0.5, f"all columns, k-tiles of part {cta}", size=8.5, color=SOFT)
        first = cta * own * 8
        middle, sent = x + GROUPS * cell / 2, bytes_received(cluster_k, cta)
        write(axes, middle, 6.75, f"columns {first} to {first + own * 8 - 1} of C", size=9, ha="center")
        write(axes, middle, 7.2, f"{sent} bytes were sent here", size=8, ha="center", color=SOFT)
    axes.set_xlim(-0.2, cluster_k * wide - 0.4)
    axes.set_ylim(7.5, -0.4)
    titles(
        axes,
        f"every_shape: {cluster_k} CTAs have the same tile, and each its part of k",
        "Worked out, by the formulas of combine(): a tile of 64×64, in groups of 8 columns. Dashed: st.async, 16 bytes "
        "of a thread at a time. Each CTA adds what it has in the order of parts.",
    )
    return figure
