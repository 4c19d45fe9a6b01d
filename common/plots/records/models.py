"""A program over many shapes, as `gemm --sweep models` and `--tune` recorded it: a rung, or every_shape, which chooses among
many kernels. Tables of it are in pages/models_tables.py, charts in charts/models.py.

Over each shape lie three roofs, which are times: `start`, the shortest launch of the program in the records; `weights`, every
byte of A, B and C at the rate of a stream that is only read (of a copy, where no such stream is recorded); `tensor cores`,
all operations at the rate of wgmma. The kernel takes at least the longest of the three. A launch that only reads these bytes
takes longer than the stream, by its start and its end: `read_128_mib` tells by how much.
"""

from __future__ import annotations

import math
from typing import Callable, NamedTuple

from common.plots.records.error import ResultError
from common.plots.records.problems import compulsory_bytes, flops
from common.plots.records.results import Results
from common.plots.records.scores import best_baseline, ratio


class Roofs(NamedTuple):
    start: float  # µs
    read: float  # bytes per µs
    read_name: str
    tensor: float  # operations per µs
    read_ends: float | None  # µs that a launch takes longer than a stream of the bytes that it reads, if recorded

    def times(self, gemm: dict) -> dict:
        return {
            "start": self.start,
            "weights": compulsory_bytes(gemm) / self.read,
            "tensor cores": flops(gemm) / self.tensor,
        }

    def only_read(self, gemm: dict) -> float:
        """µs of a launch that only reads as many bytes. read_ends must be recorded."""
        return self.times(gemm)["weights"] + self.read_ends


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


def of_one_device(results: Results) -> Results:
    """The records that the page of the models shows: of the device that has those of --tune, too, if another than the
    main one has."""
    if results.device and results.device == results.devices[0]:
        for device in results.devices:
            other = results.on(device)
            if any(tune.get("sweep") == "models" for tune in other.tunes):
                return other
    return results


def swept(results: Results, rung: str) -> list:
    return [run for run in results.swept if run["rung"] == rung and run.get("is_rung") and best_baseline(run)]


def tuned(results: Results, rung: str) -> list:
    """Of the drawn shapes: the first ones of a draw. Others were tuned for a reason, and are no fair sample."""
    return [tune for tune in results.tunes if tune["rung"] == rung and tune.get("sweep") == "models"]


def regret(tune: dict) -> float:
    return tune["rung_us"] / tune["fastest_us"] - 1


def roofs(results: Results, rung: str) -> Roofs | None:
    tensor = results.roofs.get("bf16_wgmma") or results.roofs.get("bf16_mma_sync")
    read = results.roofs.get("read") or results.roofs.get("copy")
    alone = [run for run in results.runs if not run.get("dependent_launch") and run["problem"] == "gemm"]
    launches = [run["median_us"] for run in (*alone, *results.swept) if run["rung"] == rung and run.get("is_rung")]
    if not tensor or not read or not launches:
        return None
    rate, short = read["value"] * 1e3, results.roofs.get("read_128_mib")
    read_ends = short["median_us"] * (1 - short["value"] * 1e3 / rate) if short else None
    return Roofs(min(launches), rate, read["roof"], tensor["value"] * 1e6, read_ends)


def geometric_mean(values: list) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def percentile_90(values: list) -> float:
    """Nine of ten are no larger."""
    return sorted(values)[(9 * len(values) + 9) // 10 - 1]


def value(results: Results, rung: str, name: str):
    """A figure of a program over these shapes, or that it is not recorded yet."""
    results = of_one_device(results)
    runs, tunes, over = swept(results, rung), tuned(results, rung), roofs(results, rung)
    figures = {
        "shapes": (runs, len),
        "geomean": (runs, lambda runs: geometric_mean([ratio(run) for run in runs])),
        "worst": (runs, lambda runs: min(map(ratio, runs))),
        "level": (runs, lambda runs: sum(ratio(run) >= 1 for run in runs) / len(runs)),
        "corner": ([over] if over else [], lambda overs: round(overs[0].tensor / overs[0].read)),
        "tuned": (tunes, len),
        "regret": (tunes, lambda tunes: sum(map(regret, tunes)) / len(tunes)),
    }
    if name not in figures:
        raise ResultError(f"no figure 'models {rung} {name}'; there are: {', '.join(figures)}")
    records, of = figures[name]
    return of(records) if records else "(not recorded yet)"


CHARTS = {"models_map": swept, "models_ratios": swept, "models_regret": tuned}


def charts(results: Results) -> dict:
    """The name of each chart (charts/models.py) that has records → the program that it is of."""
    results = of_one_device(results)
    rungs = sorted({record["rung"] for record in (*results.swept, *results.tunes)}, reverse=True)  # the newest first
    found = {}
    for name, records in CHARTS.items():
        rung = next((rung for rung in rungs if records(results, rung)), None)
        if rung and (name != "models_map" or roofs(results, rung)):
            found[name] = rung
    return found
