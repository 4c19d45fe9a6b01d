"""Figures in prose: `<!--= us("02_smem_tiling", "gemm", "4096x4096x4096") -->text<!--/-->`. What may be called is each FORM
below.

A kernel is "RUNG:VARIANT", or "RUNG" where it is the rung itself; "RUNG@TYPE" is what was run with --type TYPE: its types were
run one after the other, a rung itself beside its variants. A kernel, a problem and a shape name a run; a run that was made in
another way has that, too: launches="stream" or launches="graph", one of many launches in a row; outlier=N, a variant's gemm
whose A and B end with N; l2_set_aside=MIB, a variant that ran with so much of L2 set aside. These are `how` below.

Every call takes device="H100", too: that device's record. The unit is not part of a figure, but for `percent`.
"""

from __future__ import annotations

import math

from common.plots import figures
from common.plots.pages.calls import value_of
from common.plots.records import models as of_models
from common.plots.records import power as of_power
from common.plots.records import scores
from common.plots.records.counters import flat_counters
from common.plots.records.error import NotRecorded, ResultError
from common.plots.records.problems import UNIT, pretty, problem_named, shape_of
from common.plots.records.results import Results

HOW = ("launches", "outlier", "l2_set_aside")
FORMS = {}


def form(function):
    FORMS[function.__name__] = function
    return function


@form
def tflops(results: Results, kernel: str, problem: str, shape: str, **how) -> float:
    """Of a problem whose score is in TFLOPS."""
    return score_in("TFLOPS", results, kernel, problem, shape, how)


@form
def gbps(results: Results, kernel: str, problem: str, shape: str, **how) -> float:
    """Of a problem whose score is in GB/s."""
    return score_in("GB/s", results, kernel, problem, shape, how)


@form
def us(results: Results, kernel: str, problem: str, shape: str, **how) -> float:
    """The median time, in µs."""
    return run_of(results, kernel, problem, shape, **how)["median_us"]


@form
def ratio(results: Results, kernel: str, problem: str, shape: str, baseline: str = "best", **how) -> float:
    """The baseline's time / ours: of the fastest one where none is named."""
    run = run_of(results, kernel, problem, shape, **how)
    return scores.ratio(run, baseline_of(run, baseline))


@form
def baseline(results: Results, kernel: str, problem: str, shape: str, baseline: str = "best", **how) -> float:
    """TFLOPS or GB/s of the baseline timed in that run."""
    run = run_of(results, kernel, problem, shape, **how)
    return scores.baseline_score(run, baseline_of(run, baseline))


@form
def speedup(results: Results, kernel: str, other: str, problem: str, shape: str, **how) -> float:
    """How many times faster the kernel is than the other one; in turns, where one is the other's rung."""
    first, second = (run_of(results, name, problem, shape, **how) for name in (kernel, other))
    if "rung_us" in second and first.get("is_rung") and first["rung"] == second["rung"]:
        return scores.slowdown(second, first)
    if "rung_us" in first and second.get("is_rung") and first["rung"] == second["rung"]:
        return 1 / scores.slowdown(first, second)
    return second["median_us"] / first["median_us"]


@form
def noise(results: Results, rung: str, problem: str, shape: str) -> float:
    """How far the rung was from itself, as a share."""
    return field(results, rung, problem, shape, "noise")


@form
def per_clock(results: Results, kernel: str, problem: str, shape: str, **how) -> float:
    """Its score at an SM clock of 1 GHz."""
    run = run_of(results, kernel, problem, shape, **how)
    if not scores.per_clock(run):
        raise ResultError(f"no SM clock is recorded of {kernel} {problem} {shape}")
    return scores.per_clock(run)


@form
def roof(results: Results, name: str) -> float:
    """A measured roof, in its unit."""
    return roof_named(results, name)["value"]


@form
def of_roof(results: Results, kernel: str, problem: str, shape: str, name: str, **how) -> float:
    """The share of that roof reached."""
    run, limit = run_of(results, kernel, problem, shape, **how), roof_named(results, name)
    if limit["unit"] != UNIT[problem]:
        raise ResultError(f"the roof '{name}' is in {limit['unit']}, the score of {problem} is not")
    return scores.score(run) / limit["value"]


@form
def ridge(results: Results, arithmetic: str, bandwidth: str) -> float:
    """Flops per byte at which arithmetic and memory, two roofs, take equally long."""
    flops, moved = roof_named(results, arithmetic), roof_named(results, bandwidth)
    if (flops["unit"], moved["unit"]) != ("TFLOPS", "GB/s"):
        raise ResultError(f"a ridge is between TFLOPS and GB/s, not between '{arithmetic}' and '{bandwidth}'")
    return flops["value"] * 1e12 / (moved["value"] * 1e9)


@form
def memory(results: Results, way: str, name: str) -> float:
    """Of a way to bring data in: gbps, ms, or a field of its record."""
    if way not in results.ways:
        raise NotRecorded(f"no memory record of '{way}'")
    record = results.ways[way]
    if name == "ms":
        return record["median_us"] / 1e3
    if record.get(name) is None:
        raise ResultError(f"no field '{name}' in the memory record of '{way}'")
    return record[name]


@form
def field(results: Results, kernel: str, problem: str, shape: str, name: str, **how):
    """Any field of the record, such as sm_clock_mhz."""
    run = run_of(results, kernel, problem, shape, **how)
    if run.get(name) is None:
        raise ResultError(f"no field '{name}' in the record of {kernel} {problem} {shape}")
    return run[name]


@form
def counter(results: Results, kernel: str, problem: str, shape: str, name: str) -> float:
    """A counter of the simulator."""
    known = flat_counters(simulated_run_of(results, kernel, problem, shape))
    if name not in known:
        raise ResultError(f"no counter '{name}'; there are: {', '.join(known)}")
    return known[name]


@form
def ncu(results: Results, kernel: str, problem: str, name: str) -> float:
    """A counter of the hardware, read by Nsight Compute."""
    rung, _, variant = kernel.partition(":")
    for profile in results.profiles:
        chosen = profile["variant"] == variant if variant else profile.get("is_rung")
        if (profile["rung"], profile["problem"]) == (rung, problem_named(problem)) and chosen:
            if name not in profile["counters"]:
                raise ResultError(f"no counter '{name}'; there are: {', '.join(profile['counters'])}")
            return profile["counters"][name]
    raise ResultError(f"no profile of {kernel} {problem}")


@form
def geomean(results: Results, rung: str, problem: str, shape: str, *shapes: str) -> float:
    """The geometric mean of the ratios at these shapes."""
    ratios = [ratio(results, rung, problem, one) for one in (shape, *shapes)]
    return math.prod(ratios) ** (1 / len(ratios))


@form
def power(results: Results, kernel: str, problem: str, shape: str, name: str) -> float:
    """A field of what ran without a pause, or mj (of a launch), pj (of a flop), pj_above_idle, watts, per_clock. The kernel
    is named as records/power.py has it."""
    return of_power.of_launch(of_power.find(results, kernel, problem_named(problem), shape), name)


@form
def alone(results: Results, kernel: str, other: str, problem: str, shape: str) -> float:
    """How many times faster the kernel is than the other one, each without a pause; named as for power."""
    first, second = (of_power.find(results, name, problem_named(problem), shape) for name in (kernel, other))
    return scores.score(first) / scores.score(second)


@form
def soak(results: Results, rung: str, problem: str, name: str):
    """A field of the rung's soak, such as launches."""
    for record in results.soaks:
        if (record["rung"], record["problem"]) == (rung, problem_named(problem)) and name in record:
            return record[name]
    raise ResultError(f"no soak of {rung} {problem} with a field '{name}'")


@form
def models(results: Results, rung: str, name: str):
    """Over the shapes of --sweep models: shapes, geomean, worst, level (the share at 1 or more), and of --tune: tuned (shapes),
    regret; corner, the m at which weights and MMAs take equally long."""
    return of_models.value(results, rung, name)


@form
def cutlass(results: Results, kind: str, problem: str, shape: str, what: str = "ratio"):
    """The ratio, as above, of the fastest of CUTLASS's configurations whose names begin with the kind, "sm80" or "sm90"; or,
    what="name", which one that is."""
    if what not in ("ratio", "name"):
        raise ResultError(f"what is 'ratio' or 'name', not '{what}'")
    runs = [run for run in results.cutlass if (run["problem"], shape_of(run)) == (problem_named(problem), shape)]
    runs = [run for run in runs if run["variant"].startswith(f"{kind}_")]
    if not runs:
        raise NotRecorded(f"no record of CUTLASS's {kind} at {problem} {shape}")
    fastest = max(runs, key=scores.ratio)  # each was timed in turns with cuBLAS
    return scores.ratio(fastest) if what == "ratio" else f"`{fastest['variant']}`"


@form
def device(results: Results) -> str:
    """What the figures were measured on."""
    if not results.device:
        raise ResultError("no record names a device")
    return results.where_measured()


@form
def quotient(results: Results, first: float, second: float) -> float:
    """Of two figures: quotient(roof("bf16_wgmma"), roof("fp32_fma"))."""
    if second == 0:
        raise ResultError("a quotient divides by 0")
    return first / second


@form
def difference(results: Results, first: float, second: float) -> float:
    """Of two figures."""
    return first - second


@form
def percent(results: Results, share) -> str:
    """0.913 → 91.3 %. What is a text stays: that something is not recorded yet."""
    return share if isinstance(share, str) else figures.percent(share)


@form
def if_recorded(results: Results, value):
    """The figure, or "not recorded yet" where the records lack the run that it names (calls.py sees to that)."""
    return value


def evaluate(results: Results, text: str) -> str:
    """The text of one call's value."""
    return figures.figure(value_of(results, text, FORMS))


def run_of(results: Results, kernel: str, problem: str, shape: str, **how) -> dict:
    if unknown := set(how) - set(HOW):
        raise ResultError(f"what does {', '.join(sorted(unknown))} mean? A run takes: {', '.join(HOW)}")
    problem_named(problem)
    name, _, of_type = kernel.partition("@")
    rung, _, variant = name.partition(":")
    if of_type:
        found = None if variant else results.of_type(rung, problem, shape, of_type)
    elif "outlier" in how:
        found = results.beside_outlier(rung, shape, variant, how["outlier"])
    elif "l2_set_aside" in how:
        found = results.beside_set_aside(rung, problem, shape, variant, how["l2_set_aside"])
    elif "launches" in how:
        found = results.chain(rung, problem, shape, variant, how["launches"])
    else:
        found = results.run(rung, problem, shape, variant or None)
    return found or missing(results, rung, f"record of {kernel} {problem} {shape}")


def simulated_run_of(results: Results, kernel: str, problem: str, shape: str) -> dict:
    rung, _, variant = kernel.partition(":")
    for run in reversed(results.simulated):
        if (run["rung"], run["problem"], shape_of(run)) == (rung, problem_named(problem), shape) and run.get("counters"):
            if run["variant"] == variant if variant else run.get("is_rung"):
                return run
    return missing(results, rung, f"simulator record of {kernel} {problem} {shape}")


def missing(results: Results, rung: str, what: str):
    """A rung that has other records may come to have this one, too."""
    known = any(run["rung"] == rung for run in results.simulated + results.runs)
    raise (NotRecorded if known else ResultError)(f"no {what}")


def score_in(unit: str, results: Results, kernel: str, problem: str, shape: str, how: dict) -> float:
    if UNIT[problem_named(problem)] != unit:
        raise ResultError(f"the figures of {problem} are in {UNIT[problem]}")
    return scores.score(run_of(results, kernel, problem, shape, **how))


def baseline_of(run: dict, name: str) -> str:
    known = run.get("baselines") or {}
    if name == "best" and known:
        return scores.best_baseline(run)
    if name not in known:
        raise ResultError(
            f"no baseline '{name}' in the record of {run['rung']} {run['problem']} "
            f"{pretty(shape_of(run))}; there are: {', '.join(known) or 'none'}"
        )
    return name


def roof_named(results: Results, name: str) -> dict:
    if name not in results.roofs:
        kind = NotRecorded if results.roofs else ResultError
        raise kind(f"no record of roof '{name}'; there are: {', '.join(results.roofs) or 'none'}")
    return results.roofs[name]
