"""A rung over many shapes, as `gemm --sweep models` and `--tune` recorded it: tables, and what the charts of it show.

Over each shape lie three roofs, which are times: `start`, the shortest launch of the rung in the records; `weights`, every
byte of A, B and C at the rate of a stream that is only read (of a copy, where no such stream is recorded); `tensor cores`,
all operations at the rate of wgmma. The kernel takes at least the longest of the three.
"""

from __future__ import annotations

import math
from typing import Callable, NamedTuple

from results import Results, ResultError, best_baseline, compulsory_bytes, flops, pretty, ratio, shape_of, sizes
from table_text import figure, markdown, measured, percent

SHARES = (1.00, 0.97, 0.90)  # of the baseline
RANGES = (  # of m, as the program's own summary has them (common/harness/sweep_summary.cc)
    ("m from 1 to 64", 1, 64),
    ("65 to 256", 65, 256),
    ("257 to 1024", 257, 1024),
    ("above 1024", 1025, 2**31),
)


class Roofs(NamedTuple):
    start: float  # µs
    read: float  # bytes per µs
    read_name: str
    tensor: float  # operations per µs

    def times(self, gemm: dict) -> dict:
        return {
            "start": self.start,
            "weights": compulsory_bytes(gemm) / self.read,
            "tensor cores": flops(gemm) / self.tensor,
        }


class Region(NamedTuple):
    name: str
    roof: str  # of Roofs.times(), or "highest"
    holds: Callable[[dict], bool]


def weight_bytes(gemm: dict) -> int:
    return 2 * gemm["n"] * gemm["k"]


REGIONS = (  # of each only its middle, where the two other roofs are far below; a shape belongs to the first that holds it
    Region("start: under 4 MB and 1 GFLOP", "start", lambda p: compulsory_bytes(p) < 4e6 and flops(p) < 1e9),
    Region("weights: m up to 64, 128 MB or more", "weights", lambda p: p["m"] <= 64 and weight_bytes(p) >= 128e6),
    Region("tensor cores: m above 1024, 100 GFLOP or more", "tensor cores", lambda p: p["m"] > 1024 and flops(p) >= 100e9),
    Region("all others", "highest", lambda p: True),
)


def swept(results: Results, rung: str) -> list:
    return [run for run in results.swept if run["rung"] == rung and run.get("is_rung") and best_baseline(run)]


def tuned(results: Results, rung: str) -> list:
    return [tune for tune in results.tunes if tune["rung"] == rung]


def estimated(results: Results, rung: str) -> list:
    """(the estimate, the measured time), in µs, of each variant of each shape that has both."""
    return [
        (estimate, tune["variants"][name])
        for tune in tuned(results, rung)
        for name, estimate in (tune.get("estimate_us") or {}).items()
        if name in tune["variants"]
    ]


def regret(tune: dict) -> float:
    return tune["rung_us"] / tune["fastest_us"] - 1


def roofs(results: Results, rung: str) -> Roofs | None:
    tensor = results.roofs.get("bf16_wgmma") or results.roofs.get("bf16_mma_sync")
    read = results.roofs.get("read") or results.roofs.get("copy")
    alone = [run for run in results.runs if not run.get("dependent_launch") and run["problem"] == "gemm"]
    launches = [run["median_us"] for run in (*alone, *results.swept) if run["rung"] == rung and run.get("is_rung")]
    if not tensor or not read or not launches:
        return None
    return Roofs(min(launches), read["value"] * 1e3, read["roof"], tensor["value"] * 1e6)


def geometric_mean(values: list) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def percentile_90(values: list) -> float:
    """Nine of ten are no larger."""
    return sorted(values)[(9 * len(values) + 9) // 10 - 1]


def in_ranges(records: list) -> list:
    """(name, records) of all of them and of each range of m that has some."""
    parts = [(name, [r for r in records if least <= r["m"] <= most]) for name, least, most in RANGES]
    return [("all", records), *((name, part) for name, part in parts if part)]


def missing(rung: str, option: str) -> str:
    return f"*Not recorded yet: `build/bin/{rung} gemm --sweep models {option}`.*"


def how(results: Results, rung: str, records: list) -> str:
    return measured(results, f"{rung}, gemm in bf16", f"{len(records)} drawn shapes")


def summary(results: Results, rung: str) -> str:
    runs = swept(results, rung)
    if not runs:
        return missing(rung, "--shapes 200 --seed 1")
    rows = []
    for name, part in in_ranges(runs):
        ratios = [ratio(run) for run in part]
        worst = min(part, key=ratio)
        reached = [percent(sum(one >= share for one in ratios) / len(part)) for share in SHARES]
        rows.append([name, str(len(part)), f"×{geometric_mean(ratios):.3f}", *reached, f"×{ratio(worst):.3f}", pretty(shape_of(worst))])
    header = ["", "shapes", "geometric mean", *(f"×{share:.2f} or more" for share in SHARES), "worst", "its m×n×k"]
    return markdown(header, rows, how(results, rung, runs))


def regions(results: Results, rung: str) -> str:
    """Of its roof the rung reaches, and cuBLAS: the geometric mean of the shares."""
    runs, over = swept(results, rung), roofs(results, rung)
    if not runs or not over:
        return missing(rung, "--shapes 200 --seed 1")
    rows, left = [], runs
    for region in REGIONS:
        here, left = [run for run in left if region.holds(run)], [run for run in left if not region.holds(run)]
        if not here:
            continue
        shares = []  # of the rung, of the baseline
        for run in here:
            times = over.times(run)
            least = times.get(region.roof, max(times.values()))
            shares.append((least / run["median_us"], least / (run["median_us"] * ratio(run))))
        best = max(share for share, _ in shares)
        means = [geometric_mean(list(column)) for column in zip(*shares)]
        rows.append([region.name, str(len(here)), region.roof, *map(percent, means), percent(best)])
    header = ["region", "shapes", "roof", "the rung", "cuBLAS", "the rung's best"]
    note = f"roofs: {figure(over.start)} µs, {figure(over.read / 1e3)} GB/s (`{over.read_name}`), {figure(over.tensor / 1e6)} TFLOPS"
    table = markdown(header, rows, measured(results, rung, note))
    return table.replace("|:--|--:|--:|", "|:--|--:|:--|", 1)


def bounds(results: Results, rung: str, *shapes: str) -> str:
    """The three roofs over these shapes, and the time where the rung was recorded there."""
    over = roofs(results, rung)
    if not over:
        return missing(rung, "--shapes 200 --seed 1")
    rows = []
    for shape in shapes:
        gemm = {"problem": "gemm", **dict(zip("mnk", sizes(shape)))}
        times = over.times(gemm)
        highest = max(times, key=times.get)
        run = results.run(rung, "gemm", shape)
        run = run or next((one for one in swept(results, rung) if shape_of(one) == shape), None)
        cells = [f"**{figure(time)}**" if name == highest else figure(time) for name, time in times.items()]
        took = [figure(run["median_us"]), percent(times[highest] / run["median_us"])] if run else ["not recorded yet", ""]
        rows.append([pretty(shape), figure(weight_bytes(gemm) / 1e6), figure(flops(gemm) / 1e9), *cells, *took])
    header = ["m×n×k", "weights, MB", "GFLOP", "start, µs", "weights, µs", "tensor cores, µs", "measured, µs", "share of the roof"]
    note = f"bytes at {figure(over.read / 1e3)} GB/s (`{over.read_name}`), operations at {figure(over.tensor / 1e6)} TFLOPS"
    return markdown(header, rows, measured(results, rung, note))


def furthest(results: Results, rung: str, count: str = "10") -> str:
    """The shapes at which the rung is furthest behind."""
    runs, over = sorted(swept(results, rung), key=ratio)[: int(count)], roofs(results, rung)
    if not runs or not over:
        return missing(rung, "--shapes 200 --seed 1")
    rows = []
    for run in runs:
        times = over.times(run)
        highest, base = max(times, key=times.get), best_baseline(run)
        us = [figure(run["median_us"]), figure(run["baselines"][base]["median_us"])]
        rows.append([pretty(shape_of(run)), f"×{ratio(run):.3f}", *us, highest, percent(times[highest] / run["median_us"])])
    header = ["m×n×k", "beside cuBLAS", "the rung, µs", "cuBLAS, µs", "highest roof", "share of it"]
    return markdown(header, rows, measured(results, rung)).replace("--:|--:|\n", ":--|--:|\n", 1)


def regrets(results: Results, rung: str) -> str:
    tunes = tuned(results, rung)
    if not tunes:
        return missing(rung, "--shapes 200 --seed 1 --tune")
    rows = []
    for name, part in in_ranges(tunes):
        all_of = [regret(tune) for tune in part]
        worst = max(part, key=regret)
        cells = [f"{100 * one:.2f} %" for one in (sum(all_of) / len(part), percentile_90(all_of), regret(worst))]
        rows.append([name, str(len(part)), *cells, pretty(shape_of(worst)), f"`{worst['fastest']}`"])
    header = ["", "shapes", "mean", "90th percentile", "worst", "its m×n×k", "fastest there"]
    return markdown(header, rows, how(results, rung, tunes))


TABLES = {function.__name__: function for function in (summary, regions, bounds, furthest, regrets)}


def value(results: Results, rung: str, name: str):
    """A figure of a rung over these shapes, or that it is not recorded yet."""
    runs, tunes = swept(results, rung), tuned(results, rung)
    figures = {
        "shapes": (runs, len),
        "geomean": (runs, lambda runs: geometric_mean([ratio(run) for run in runs])),
        "worst": (runs, lambda runs: min(map(ratio, runs))),
        "level": (runs, lambda runs: sum(ratio(run) >= 1 for run in runs) / len(runs)),
        "tuned": (tunes, len),
        "regret": (tunes, lambda tunes: sum(map(regret, tunes)) / len(tunes)),
    }
    if name not in figures:
        raise ResultError(f"no figure 'models {rung} {name}'; there are: {', '.join(figures)}")
    records, of = figures[name]
    return of(records) if records else "(not recorded yet)"


def table(results: Results, what: str, rung: str, *arguments: str) -> str:
    if what not in TABLES:
        raise ResultError(f"unknown table 'models {what}'; there are: {', '.join(TABLES)}")
    return TABLES[what](results, rung, *arguments)


CHARTS = {"models_map": swept, "models_ratios": swept, "models_regret": tuned, "models_estimate": estimated}


def charts(results: Results) -> dict:
    """The name of each chart (models_charts.py) that has records → the rung that it is of."""
    rungs = sorted({record["rung"] for record in (*results.swept, *results.tunes)}, reverse=True)  # the newest first
    found = {}
    for name, records in CHARTS.items():
        rung = next((rung for rung in rungs if records(results, rung)), None)
        if rung and (name != "models_map" or roofs(results, rung)):
            found[name] = rung
    return found
