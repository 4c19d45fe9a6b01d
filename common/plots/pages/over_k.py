"""A gemm over k at one m and n, as `gemm --sweep k --tune --variant …` recorded it: beside what a tile's mainloop and its
epilogue would take, worked out, which is there before anything is measured.

The mainloop takes as long as the MMAs, the epilogue AROUND cycles. Cooperative
consumers take both one after the other for a tile of 128x256. In ping-pong each has a tile of 128x128: two tiles take as long
as the MMAs of both, but no less than one mainloop and one epilogue.
"""

from __future__ import annotations

from common.plots.figures import figure, percent
from common.plots.pages.markdown import markdown
from common.plots.pages.waves import PER_CYCLE
from common.plots.records.error import ResultError
from common.plots.records.results import Results

AROUND = 2500  # cycles around a tile's mainloop: a round figure, near what every_shape's estimate was fitted to
TILE = 128 * 256
ALL_K = tuple(64 << i for i in range(9))  # as common/harness/problems/gemm/shape.cc has them


def mainloop(k: int) -> float:
    return TILE * k / PER_CYCLE


def share(k: int) -> float:
    """Of a tile's time, that its epilogue takes."""
    return AROUND / (mainloop(k) + AROUND)


def gain(k: int) -> float:
    """The cooperative consumers' time / that of ping-pong."""
    return (mainloop(k) + AROUND) / max(mainloop(k), mainloop(k) / 2 + AROUND)


def recorded(results: Results, rung: str, m: int, n: int) -> dict:
    """k → µs by variant."""
    tunes = [tune for tune in results.tunes if tune["rung"] == rung and tune.get("sweep") == "k"]
    return {tune["k"]: tune["variants"] for tune in tunes if (tune["m"], tune["n"]) == (m, n)}


def table(results: Results, rung: str, shape: str, one: str, *others: str) -> str:
    """The last column: how many times faster `one` is than the fastest of the others."""
    try:
        m, n = map(int, shape.split("x"))
    except ValueError:
        raise ResultError(f"'{shape}' is not MxN") from None
    names, times = (one, *others), recorded(results, rung, m, n)
    header = ["k", "k-tiles", "epilogue, of the time", f"`{one}` ahead, predicted"]
    rows = [[str(k), str(k // 64), percent(share(k)), f"×{gain(k):.2f}"] for k in ALL_K]
    note = f"*{m}×{n}×k; predicted with {PER_CYCLE} multiply-adds a cycle and {AROUND} cycles around a mainloop.*"
    if not times:
        names = ",".join(names)
        command = f"build/bin/{rung} gemm --sweep k --m {m} --n {n} --tune --variant {names} --json FILE"
        return markdown(header, rows, f"{note}\n\n*Not recorded yet: `{command}`.*")
    for k, row in zip(ALL_K, rows):
        us = times.get(k, {})
        fastest = min((us[name] for name in others if name in us), default=None)
        row += [figure(us[name]) if name in us else "" for name in names]
        row.append(f"×{fastest / us[one]:.3f}" if fastest and one in us else "")
    return markdown([*header, *(f"`{name}`, µs" for name in names), "measured"], rows, f"{note}\n\n*{results.where_measured()}; in turns.*")
