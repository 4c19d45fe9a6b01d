"""Tables of a program over many shapes (models.py)."""

from __future__ import annotations

from typing import Callable

from common.plots.figures import figure, percent
from common.plots.pages.markdown import markdown, measured
from common.plots.records.error import ResultError
from common.plots.records.models import (
    REGIONS,
    geometric_mean,
    of_one_device,
    percentile_90,
    regret,
    roofs,
    swept,
    tuned,
    weight_bytes,
)
from common.plots.records.problems import flops, pretty, shape_of, sizes
from common.plots.records.results import Results
from common.plots.records.scores import best_baseline, ratio

SHARES = (1.00, 0.97, 0.90)  # of the baseline
RANGES = (  # of m, as the program's own summary has them (common/harness/report/sweep_summary.cc)
    ("m from 1 to 64", 1, 64),
    ("65 to 256", 65, 256),
    ("257 to 1024", 257, 1024),
    ("above 1024", 1025, 2**31),
)


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

    def row(name: str, part: list, of: Callable[[dict], float]) -> list:
        ratios = [of(run) for run in part]
        worst = min(part, key=of)
        reached = [percent(sum(one >= share for one in ratios) / len(part)) for share in SHARES]
        return [name, str(len(part)), f"×{geometric_mean(ratios):.3f}", *reached, f"×{of(worst):.3f}", pretty(shape_of(worst))]

    rows = [row(name, part, ratio) for name, part in in_ranges(runs)]
    tried = [run for run in runs if "best16_us" in run]
    if tried:
        name = "all, with the fastest of the first 16 choices"
        rows.append(row(name, tried, lambda run: ratio(run) * run["median_us"] / run["best16_us"]))
    untried = [run for run in runs if "cublasGemmEx" in run["baselines"]]
    if untried:
        rows.append(row("all, beside cublasGemmEx's first choice", untried, lambda run: run["baselines"]["cublasGemmEx"]["ratio"]))
    header = ["", "shapes", "geometric mean", *(f"×{share:.2f} or more" for share in SHARES), "worst", "its m×n×k"]
    return markdown(header, rows, how(results, rung, runs))


def regions(results: Results, rung: str) -> str:
    """Of its roof the program reaches, and cuBLAS: the geometric mean of the shares."""
    runs, over = swept(results, rung), roofs(results, rung)
    if not runs or not over:
        return missing(rung, "--shapes 200 --seed 1")
    rows, left = [], runs

    def add(name: str, here: list, roof: str, least: Callable[[dict], float]) -> None:
        shares = [(least(run) / run["median_us"], least(run) / (run["median_us"] * ratio(run))) for run in here]
        best = max(share for share, _ in shares)
        means = [geometric_mean(list(column)) for column in zip(*shares)]
        rows.append([name, str(len(here)), roof, *map(percent, means), percent(best)])

    for region in REGIONS:
        here, left = [run for run in left if region.holds(run)], [run for run in left if not region.holds(run)]
        if not here:
            continue
        add(region.name, here, region.roof, lambda run: over.times(run).get(region.roof, max(over.times(run).values())))
        if region.roof == "weights" and over.read_ends is not None:
            add("the same", here, "a launch that only reads as many bytes", over.only_read)
    header = ["region", "shapes", "roof", f"`{rung}`", "cuBLAS", f"best of `{rung}`"]
    note = f"roofs: {figure(over.start)} µs, {figure(over.read / 1e3)} GB/s (`{over.read_name}`), {figure(over.tensor / 1e6)} TFLOPS"
    table = markdown(header, rows, measured(results, rung, note))
    return table.replace("|:--|--:|--:|", "|:--|--:|:--|", 1)


def bounds(results: Results, rung: str, *shapes: str) -> str:
    """The three roofs over these shapes, and the time where the program was recorded there."""
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
    """The shapes at which the program is furthest behind."""
    runs, over = sorted(swept(results, rung), key=ratio)[: int(count)], roofs(results, rung)
    if not runs or not over:
        return missing(rung, "--shapes 200 --seed 1")
    rows = []
    for run in runs:
        times = over.times(run)
        highest, base = max(times, key=times.get), best_baseline(run)
        us = [figure(run["median_us"]), figure(run["baselines"][base]["median_us"])]
        rows.append([pretty(shape_of(run)), f"×{ratio(run):.3f}", *us, highest, percent(times[highest] / run["median_us"])])
    header = ["m×n×k", "beside cuBLAS", f"`{rung}`, µs", "cuBLAS, µs", "highest roof", "share of it"]
    return markdown(header, rows, measured(results, rung)).replace("--:|--:|\n", ":--|--:|\n", 1)


def design_of(variant: str) -> str:
    """The idea behind a kernel, by its name; where k is divided, that is the idea."""
    if "split" in variant or "_mem" in variant or variant == "stream_k":
        return "k in parts"
    return {"transposed": "transposed", "narrow": "narrow", "vector": "no tensor cores"}.get(variant.split("_")[0], "128×256 and others")


def alike(us: float, other_us: float) -> bool:
    return abs(us / other_us - 1) <= 0.05


def designs(results: Results, rung: str, count: str = "10") -> str:
    """The shapes at which no kernel of the program reaches the baseline, with the fastest of each design. Its choice ran in
    turns with the baseline, and again in turns with its kernels: the baseline's time is by the choice's in the second run. So
    the choice has to take about as long in both; otherwise it is another kernel since, or the card was another."""
    runs, over = {shape_of(run): run for run in swept(results, rung)}, roofs(results, rung)
    tunes = {shape_of(tune): tune for tune in results.tunes if tune["rung"] == rung and shape_of(tune) in runs}
    both = [(runs[shape], tune) for shape, tune in tunes.items() if alike(runs[shape]["median_us"], tune["rung_us"])]
    if not both or not over:
        return missing(rung, "--shapes 200 --seed 1 --tune")

    def baseline_us(run: dict, tune: dict) -> float:
        return tune["rung_us"] * ratio(run)

    def beside(run: dict, tune: dict) -> float:
        return baseline_us(run, tune) / tune["fastest_us"]

    names = ("128×256 and others", "narrow", "transposed", "k in parts")
    rows = []
    for run, tune in sorted((pair for pair in both if beside(*pair) < 1), key=lambda pair: beside(*pair))[: int(count)]:
        least = {}
        for variant, us in tune["variants"].items():
            if variant != tune["variant"]:  # the choice is one of the others
                least[design_of(variant)] = min(us, least.get(design_of(variant), us))
        cells = [figure(least[name]) if name in least else "" for name in names]
        cells = [f"**{cell}**" if least.get(name) == min(least.values()) else cell for name, cell in zip(names, cells)]
        times = over.times(run)
        highest = max(times, key=times.get)
        rows.append([pretty(shape_of(run)), f"×{beside(run, tune):.3f}", figure(baseline_us(run, tune)), *cells, figure(times[highest]), highest])
    header = ["m×n×k", "beside cuBLAS", "cuBLAS, µs", *names, "highest roof, µs", "which"]
    note = f"of {len(both)} drawn shapes at which all kernels were timed, {sum(beside(*pair) < 1 for pair in both)}"
    return markdown(header, rows, measured(results, rung, note))


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


TABLES = {function.__name__: function for function in (summary, regions, bounds, furthest, designs, regrets)}


def table(results: Results, what: str, rung: str, *arguments: str) -> str:
    if what not in TABLES:
        raise ResultError(f"unknown table 'models {what}'; there are: {', '.join(TABLES)}")
    return TABLES[what](of_one_device(results), rung, *arguments)
