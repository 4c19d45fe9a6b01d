"""The picture of a sum over a warp."""

from __future__ import annotations

from common.plots.pictures.access import canvas
from common.plots.records.memory import WARP
from common.plots.style import BLUE, FAINT, INK, write


def warp_reduction(masks: tuple = (16, 8, 4, 2, 1), shown_lane: int = 0):
    """The butterfly: after log2(32) exchanges every lane has the sum of all. What one lane's sum is made of is bold."""
    figure, axes = canvas(
        12,
        6.2,
        "01_coalesced: the sum over a warp in five shuffles",
        f"A line from above: whose value a lane adds to its own. Bold: what reaches lane {shown_lane}. In the end every lane "
        "has the sum.",
    )
    holds = [{lane: {lane} for lane in range(WARP)}]  # per step, lane → the lanes its partial sum covers
    for mask in masks:
        holds.append({lane: holds[-1][lane] | holds[-1][lane ^ mask] for lane in range(WARP)})
    cone = [{shown_lane}]  # per step, the lanes whose value still reaches shown_lane
    for mask in reversed(masks):
        cone.insert(0, cone[0] | {lane ^ mask for lane in cone[0]})
    for step, mask in enumerate(masks):
        for lane in range(WARP):
            for source in (lane, lane ^ mask):
                bold = lane in cone[step + 1]
                axes.plot(
                    [source, lane],
                    [step * 2, step * 2 + 2],
                    color=BLUE if bold else FAINT,
                    linewidth=1.7 if bold else 0.6,
                    zorder=2 if bold else 1,
                )
        write(
            axes,
            WARP + 0.2,
            step * 2 + 1,
            f"value += __shfl_xor_sync(…, value, {mask})",
            size=9,
            family="DejaVu Sans Mono",
        )
    for step, sums in enumerate(holds):
        for lane in range(WARP):
            bold = lane in cone[step] or step == len(masks)
            axes.plot(
                lane,
                step * 2,
                "o",
                markersize=12.5,
                color=BLUE if bold else "white",
                markeredgecolor=INK if bold else "#999999",
                zorder=3,
            )
            write(
                axes,
                lane,
                step * 2 + 0.01,
                str(lane),
                size=6.5,
                ha="center",
                va="center_baseline",
                color="white" if bold else INK,
                zorder=4,
            )
        covered = len(sums[shown_lane])
        write(axes, -1.1, step * 2, f"sum of {covered}" if covered > 1 else "own value", size=9, ha="right")
    axes.set_xlim(-5, WARP + 12.5)
    axes.set_ylim(len(masks) * 2 + 0.6, -0.7)
    return figure
