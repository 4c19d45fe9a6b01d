"""The pictures of a warp's requests to global memory, and of the sectors that they touch."""

from __future__ import annotations

from itertools import groupby

import matplotlib.pyplot as plt

from common.plots.records.error import ResultError
from common.plots.records.memory import SECTOR, WARP, sectors
from common.plots.records.problems import pretty, shape_of
from common.plots.records.results import Results
from common.plots.records.traces import where
from common.plots.style import BLUE, GREEN, INK, PALE, SOFT, VERMILLION, box, titles, write


def canvas(width: float, height: float, title: str, subtitle: str):
    figure, axes = plt.subplots(figsize=(width, height))
    axes.axis("off")
    axes.invert_yaxis()
    titles(axes, title, subtitle)
    return figure, axes


def spacing(addresses: list) -> str:
    """How the lanes of one request lie to each other."""
    step = addresses[1] - addresses[0]
    lanes = next((lane for lane in range(1, WARP) if addresses[lane] - addresses[lane - 1] != step), WARP)
    if lanes == WARP:
        return f"{step} bytes from lane to lane" if step else "all lanes at the same address"
    row = addresses[lanes] - addresses[0]
    if addresses != [addresses[0] + lane % lanes * step + lane // lanes * row for lane in range(WARP)]:
        raise ResultError("a traced access is not made of rows: its picture has no words for it")
    return f"{step} bytes from lane to lane, in each of {WARP // lanes} rows"


def draw_access(axes, top: float, heading: str, trace: dict, colour: str) -> None:
    """One request of a warp: its lanes above, the sectors they touch below, a line for each lane."""
    addresses, width = trace["addresses"], trace["bytes"]
    touched = sectors(addresses, width)
    used = {byte for address in addresses for byte in range(address, address + width)}
    size = 32 / max(len(touched), 4)  # the drawn width of a sector; 32 lanes are 32 wide
    place = {sector: i * size + (32 - size * len(touched)) / 2 + 0.04 * size for i, sector in enumerate(touched)}
    byte = 0.92 * size / SECTOR
    lanes_y, memory_y = top + 0.9, top + 3.6
    write(axes, 0, top, heading, size=11, fontweight="bold")
    write(axes, 32, top, f"{spacing(addresses)}   ({where(trace)})", size=8.5, ha="right", color=SOFT)
    for lane, address in enumerate(addresses):
        box(axes, lane, lanes_y, 1, 0.8, PALE)
        write(axes, lane + 0.5, lanes_y + 0.43, str(lane), size=7, ha="center")
        middle = place[address // SECTOR] + byte * (address % SECTOR + width / 2)
        axes.plot([lane + 0.5, middle], [lanes_y + 0.8, memory_y], color=colour, linewidth=0.9)
    for sector, x in place.items():
        box(axes, x, memory_y, SECTOR * byte, 0.8, "white")
        inside = sorted(at % SECTOR for at in used if at // SECTOR == sector)
        for _, run in groupby(enumerate(inside), lambda pair: pair[1] - pair[0]):
            run = [at for _, at in run]
            box(axes, x + run[0] * byte, memory_y, len(run) * byte, 0.8, colour, INK, 0.5)
    moved = len(touched) * SECTOR
    write(axes, 33, lanes_y + 0.4, "32 lanes", size=9)
    write(axes, 33, memory_y - 0.35, f"{len(touched)} sector{'s' * (len(touched) != 1)}", size=13, fontweight="bold")
    write(axes, 33, memory_y + 0.75, f"{len(used)} of {moved} B used\n({100 * len(used) / moved:.3g} %)", size=9)


def access(title: str, requests: list):
    """Requests of one warp, as (heading, colour, trace)."""
    figure, axes = canvas(
        10,
        2.2 * len(requests),
        title,
        f"bf16, row-major, {pretty(shape_of(requests[0][2]))}; traced by the simulator. "
        "A box below the lanes is one 32-byte sector; its filled part is what they use.",
    )
    for i, (heading, colour, trace) in enumerate(requests):
        draw_access(axes, i * 5.5, heading, trace, colour)
    axes.set_xlim(-0.2, 38)
    axes.set_ylim((len(requests) - 1) * 5.5 + 4.7, -0.8)
    return figure


def access_of_rung(results: Results, rung: str, along: str):
    """A warp's three accesses in the naive kernel, where threadIdx.x runs along m, or along n."""
    requests = [
        (heading, colour, results.access(rung, "gemm", rung[3:], ptx, array=heading.split()[1][0]))
        for heading, colour, ptx in (
            ("load A[m][k]", BLUE, "ld.global"),
            ("load B[k][n]", GREEN, "ld.global"),
            ("store C[m][n]", VERMILLION, "st.global"),
        )
    ]
    return access(f"{rung}: the sectors that one warp touches, threadIdx.x along {along}", requests)


def access_03(results: Results):
    rung = "03_vectorized"
    requests = [
        (heading, colour, results.access(rung, "gemm", variant, ptx, array=array))
        for heading, colour, variant, ptx, array in (
            ("scalar_global: load A", BLUE, "scalar_global", "ld.global", "A"),
            ("vectorized: load A", BLUE, "vectorized", "ld.global", "A"),
            ("vectorized: load B", GREEN, "vectorized", "ld.global", "B"),
            ("vectorized: store C", VERMILLION, "vectorized", "st.global", "C"),
        )
    ]
    return access(f"{rung}: the sectors of one warp instruction", requests)


def vector(row_bytes: int = 512, widths: tuple = (2, 4, 8, 16), shown_lane: int = 5):
    """The same bytes of a row, loaded by one warp with wider and wider accesses."""
    figure, axes = canvas(
        10,
        5.4,
        f"03_vectorized: {row_bytes} bytes of a row, loaded by one warp",
        "Worked out, not traced: no kernel has all four. "
        f"Shades: one load instruction and the next; ticks: its lanes; filled: the bytes of lane {shown_lane}.",
    )
    for sector in range(0, row_bytes, SECTOR):
        box(axes, sector, -0.55, SECTOR, 0.5, "white")
        write(axes, sector + SECTOR / 2, -0.29, str(sector // SECTOR), size=7.5, ha="center")
    write(axes, -10, -0.29, "sector", size=9, ha="right")
    for i, width in enumerate(widths):
        y, per_request = 0.35 + i * 1.25, WARP * width
        requests = [[start + lane * width for lane in range(WARP)] for start in range(0, row_bytes, per_request)]
        for number, addresses in enumerate(requests):
            box(axes, addresses[0], y, per_request, 0.75, ("#DCE9F5", "#FBEFD5")[number % 2])
            axes.vlines(addresses[1:], y + 0.57, y + 0.75, color=INK, linewidth=0.35)
            box(axes, addresses[shown_lane], y, width, 0.75, BLUE, "none")
        write(axes, -10, y + 0.24, f"{width}-byte loads", size=10, ha="right", fontweight="bold")
        write(axes, -10, y + 0.62, {2: "1 × bf16"}.get(width, f"{width // 2} × bf16"), size=8, ha="right", color=SOFT)
        count, each = len(requests), len(sectors(requests[0], width))
        write(axes, row_bytes + 10, y + 0.2, f"{count} instruction{'s' * (count > 1)}", size=10, fontweight="bold")
        write(axes, row_bytes + 10, y + 0.6, f"× {each} sectors per request", size=9)
    axes.set_xlim(-95, row_bytes + 125)
    axes.set_ylim(0.35 + len(widths) * 1.25, -0.7)
    return figure
