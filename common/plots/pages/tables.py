"""The docs' tables: `<!-- table: ladder gemm -->` … `<!-- /table -->`. What stands in the marker is one of:

    ladder PROBLEM [SHAPE]            the rungs, one line each
    ablation RUNG PROBLEM [SHAPE] [VARIANT …]     the variants of a rung, or these and the rung
    ablations RUNG PROBLEM SHAPE …    the variants of a rung beside the baseline, shapes across
    launches RUNG PROBLEM             many launches in a row, one by one and as a graph: shapes and variants down
    sweep PROBLEM                     shapes down, rungs across
    rung RUNG PROBLEM                 everything recorded of one rung, a line per shape
    counters RUNG PROBLEM [SHAPE]     the simulator's counters, variants across
    accesses RUNG PROBLEM [SHAPE]     the simulator's counters, a line for each kind of memory access of each variant
    counted PROBLEM [SHAPE]           the simulator's counters of the rungs, one line each
    profile RUNG PROBLEM [VARIANT …]  the hardware's counters by Nsight Compute, variants across
    agreement PROBLEM                 the simulator's counters against the hardware's, a line for each variant
    roofs                             the measured limits of the device
    in_flight                         a copy with few and many bytes in flight
    memory steps|whole                what it costs to bring data in (memory_tables.py)
    models summary|regions|regrets PROGRAM     a rung, or every_shape, over the shapes of --sweep models: beside cuBLAS, beside the roofs, and
                                      its choice beside the fastest of its variants (models_tables.py)
    models furthest PROGRAM [COUNT]   those shapes at which it is furthest behind
    models designs PROGRAM [COUNT]    those at which no kernel of it reaches the baseline, with the fastest of each design
    models bounds PROGRAM SHAPE …     the roofs over these shapes
    over_k RUNG MxN VARIANT …         a gemm over k, predicted, and where it is recorded the first variant beside the others
                                      (over_k.py)
    waves SHAPE SMS TILE …            tiles over SMs, worked out (waves.py)
    rows SHAPE                        the operators of rows on all rungs that have them (operator_tables.py)
    fusing SHAPE                      the fused norm beside its variants that are not fused, on the same rungs
    linear SHAPE                      products with an epilogue on all rungs that have them
    grouped RUNG                      products in groups: each tile, the choice, and the libraries
    widths RUNG VARIANT OTHER         the norm by its columns: a variant of a rung, and another rung, beside a copy
    versions RUNG PROBLEM VARIANT SHAPE …   a variant beside the baseline, as it was recorded at earlier git revisions and now
    ends RUNG VARIANT COLUMNS …       the norm's time over its rows: what a row takes, and what the ends of a launch do
    power PROBLEM SHAPE KERNEL …      what ran without a pause: clock, power and energy (records/power.py has how a kernel is named)
    simulator_speed                   the simulator's own speed, CPU threads across

With `device=H100` a table is of that device's records, not of the device that most were made on.
"""

from __future__ import annotations

import re

from common.plots.figures import figure, percent
from common.plots.pages import memory_tables, models_tables, operator_tables, over_k, power_tables, waves
from common.plots.pages.count_tables import accesses, agreement, counted, counters, profile
from common.plots.pages.markdown import markdown, measured, needs, own_mark
from common.plots.records import precisions
from common.plots.records.error import ResultError
from common.plots.records.problems import (
    BASELINE,
    DEFAULT_SHAPE,
    DIMENSIONS,
    UNIT,
    on_ladder,
    pretty,
    problem_named,
    shape_of,
    sizes,
)
from common.plots.records.results import Results
from common.plots.records.scores import baseline_score, best_baseline, noise_text, per_clock, ratio, score, slowdown


def ladder(results: Results, problem: str, shape: str | None = None) -> str:
    problem = problem_named(problem)
    shape = shape or DEFAULT_SHAPE[problem]
    rows, below, early_start = [], None, False
    for run in needs(results.ladder(problem, shape), f"ladder {problem} {shape}"):
        base = baseline_score(run)
        rows.append(
            [
                f"`{run['rung']}`",
                results.title(run),
                figure(score(run)),
                f"×{figure(score(run) / score(below))}" if below else "",
                figure(base) if base else "",
                percent(ratio(run)) if base else "",
            ]
        )
        if early := results.early(run["rung"], problem, shape):
            rows[-1].append(f"{figure(score(early))}, {percent(ratio(early))}")
            early_start = True
        below = run
    measured_rungs = {run["rung"] for run in results.runs}
    for run in results.simulated:  # a rung that only the simulator has run
        if run["problem"] == problem and run["rung"] not in measured_rungs and on_ladder(run["rung"]):
            measured_rungs.add(run["rung"])
            rows.append([f"`{run['rung']}`", results.title(run), "simulated, not yet measured", "", "", ""])
    name = BASELINE[problem]
    header = ["rung", "what is new", UNIT[problem], "against the rung below", f"{name} in the same run", f"of {name}"]
    if early_start:
        header.append("in a chain, with early launch")
        rows = [row + [""] * (len(header) - len(row)) for row in rows]
    return markdown(header, rows, measured(results, f"{problem} {pretty(shape)}", "bf16", "medians")).replace(
        "|:--|--:|", "|:--|:--|", 1
    )


def ablation(results: Results, rung: str, problem: str, *words: str) -> str:
    problem = problem_named(problem)
    sized = words and re.fullmatch(r"\d+" + r"x\d+" * (len(DIMENSIONS[problem]) - 1), words[0])
    shape, *names = words if sized else (None, *words)
    shape = shape or results.ablations().get((rung, problem), [DEFAULT_SHAPE[problem]])[0]
    runs = needs(results.tricks(rung, problem, shape), f"ablation {rung} {problem} {shape}")
    for name in set(names) - {run["variant"] for run in runs}:
        raise ResultError(f"no record of {rung} {problem} {shape} {name}")
    runs = [run for run in runs if not names or run["variant"] in names or run is runs[-1]]
    rows = [
        [
            f"`{run['variant']}`" + (own_mark(rung) if run.get("is_rung") else ""),
            figure(score(run)),
            figure(per_clock(run)) if per_clock(run) else "",
            percent(ratio(run)) if best_baseline(run) else "",
            f"×{slowdown(run, runs[-1]):.3f}" if run is not runs[-1] and (problem != "row_operator" or "rung_us" in run) else "",
        ]
        for run in runs  # the rung of a row_operator computes one of its functions
    ]
    header = ["variant", UNIT[problem], f"{UNIT[problem]} per GHz", f"of {BASELINE[problem]}", "the rung against it"]
    return markdown(header, rows, measured(results, f"{rung} {problem} {pretty(shape)}", noise_text(runs[-1])))


def ablations(results: Results, rung: str, problem: str, *shapes: str) -> str:
    """One column for each shape: the variant beside the baseline of its own run."""
    problem = problem_named(problem)
    columns = []
    for shape in needs(list(shapes), f"ablations {rung} {problem}"):
        runs = needs(results.tricks(rung, problem, shape), f"ablation {rung} {problem} {shape}")
        columns.append({run["variant"]: run for run in runs})
    rows = []
    for variant in dict.fromkeys(variant for column in columns for variant in column):
        runs = [column.get(variant) for column in columns]
        is_rung = any(run and run.get("is_rung") for run in runs)
        cells = [percent(ratio(run)) if run and best_baseline(run) else "" for run in runs]
        rows.append([f"`{variant}`" + (own_mark(rung) if is_rung else ""), *cells])
    header = [f"variant, of {BASELINE[problem]}", *map(pretty, shapes)]
    return markdown(header, rows, measured(results, f"{rung} {problem}"))


def precision(results: Results, shape: str = DEFAULT_SHAPE["gemm"]) -> str:
    """A row for each type of each rung that was run with --type."""
    rows = []
    for run in precisions.of_shape(results, shape):
        base = baseline_score(run)
        rows.append(
            [
                f"`--type {run['type']}`",
                f"`{run['rung']}`",
                figure(score(run)),
                figure(base) if base else "",
                percent(ratio(run)) if base else "",
                f"{run['relative_error']:.1e}",
                f"{run['sm_clock_mhz']:.0f}" if run.get("sm_clock_mhz") else "",
            ]
        )
    if not rows:
        return f"*Not measured yet: gemm {pretty(shape)} in every type.*"
    header = ["type", "rung", "TFLOPS", "the library's best", "of it", "relative error", "SM clock, MHz"]
    table = markdown(header, rows, measured(results, f"gemm {pretty(shape)}", "the error beside fp64, of the inputs before they are rounded"))
    return table.replace("|:--|--:|", "|:--|:--|", 1)


def launches(results: Results, name: str, problem: str) -> str:
    """The baselines are those that were timed beside the variant at the end of the list."""
    chains = [chain for chain in results.chains if (chain["rung"], chain["problem"]) == (name, problem_named(problem))]
    rows = []
    for shape in sorted({shape_of(chain) for chain in chains}, key=sizes):
        here = [chain for chain in chains if shape_of(chain) == shape]
        times = {}  # name → {how: µs}
        for chain in sorted(here, key=lambda chain: chain.get("variant_index", 0)):
            times.setdefault(f"`{chain['variant']}`", {})[chain["launches"]] = chain["median_us"]
        for chain in here:
            for base, baseline in (chain.get("baselines") or {}).items():
                times.setdefault(base, {})[chain["launches"]] = baseline["median_us"]
        for index, (what, us) in enumerate(times.items()):
            cells = [figure(us[how]) if how in us else "" for how in ("stream", "graph")]
            gap = figure(us["stream"] - us["graph"]) if len(us) == 2 else ""
            rows.append([pretty(shape) if index == 0 else "", what, *cells, gap])
    header = ["×".join(DIMENSIONS[problem]), "what", "one by one, µs", "as a graph, µs", "between, µs"]
    table = markdown(header, needs(rows, f"launches {name} {problem}"), measured(results, f"{name} {problem}", "per launch"))
    return table.replace("|:--|--:|", "|:--|:--|", 1)


def sweep(results: Results, problem: str) -> str:
    problem = problem_named(problem)
    rungs = needs(results.rungs(problem), f"sweep {problem}")
    rows = []
    for shape in results.shapes(problem):
        runs = [results.run(rung, problem, shape) for rung in rungs]
        bases = [baseline_score(run) for run in runs if run and best_baseline(run)]
        if any(runs):
            rows.append(
                [pretty(shape)]
                + [figure(score(run)) if run else "" for run in runs]
                + [figure(max(bases)) if bases else ""]
            )
    header = (
        [f"{'×'.join(DIMENSIONS[problem])}, {UNIT[problem]}"] + [f"`{rung}`" for rung in rungs] + [BASELINE[problem]]
    )
    return markdown(header, rows, measured(results, f"{BASELINE[problem]}: the fastest baseline of any of these runs"))


def rung(results: Results, name: str, problem: str) -> str:
    problem = problem_named(problem)
    runs = [results.run(name, problem, shape) for shape in results.shapes(problem, name)]
    runs = needs([run for run in runs if run], f"rung {name} {problem}")
    baselines = sorted({base for run in runs for base in run.get("baselines") or {}})
    rows = []
    for run in runs:

        def recorded(field, form="{}"):
            return form.format(run[field]) if run.get(field) not in (None, "") else ""

        spread = f"{figure(run['p10_us'])}–{figure(run['p90_us'])}" if "p10_us" in run and "p90_us" in run else ""
        rows.append(
            [pretty(shape_of(run)), figure(run["median_us"]), spread, figure(score(run))]
            + [percent(ratio(run, base)) if base in (run.get("baselines") or {}) else "" for base in baselines]
            + [recorded("sm_clock_mhz", "{:.0f}"), recorded("power_w", "{:.0f}"), recorded("throttle")]
        )
    header = (
        ["×".join(DIMENSIONS[problem]), "median, µs", "p10–p90, µs", UNIT[problem]]
        + [f"of {base}" for base in baselines]
        + ["SM clock, MHz", "power, W", "throttle"]
    )
    return markdown(header, rows, measured(results, f"{name} {problem}"))


IN_FLIGHT = re.compile(r"copy_(\d+)_kib")  # a roof: a copy with so much in flight on each SM


def roofs(results: Results) -> str:
    shown = {name: roof for name, roof in results.roofs.items() if not IN_FLIGHT.fullmatch(name)}
    rows = [[f"`{name}`", f"{figure(roof['value'])} {roof['unit']}"] for name, roof in shown.items()]
    return markdown(["roof", "measured"], needs(rows, "roofs"), measured(results))


def in_flight(results: Results) -> str:
    copies = {int(name[1]): roof["value"] for key, roof in results.roofs.items() if (name := IN_FLIGHT.fullmatch(key))}
    most = max(copies.values(), default=0)
    rows = [[str(kib), figure(copies[kib]), f"{copies[kib] / most:.1%}".replace("%", " %")] for kib in sorted(copies)]
    header = ["KiB in flight on an SM", "GB/s", "of the fastest"]
    return markdown(header, needs(rows, "roofs"), measured(results))


def simulator_speed(results: Results) -> str:
    speeds = needs(results.speeds, "simulator_speed")
    threads = sorted({speed["threads"] for speed in speeds})
    rows = []
    for rung, checked in dict.fromkeys((speed["rung"], bool(speed.get("checked_and_counted"))) for speed in speeds):
        like = {
            speed["threads"]: speed["million_per_second"]
            for speed in speeds
            if (speed["rung"], bool(speed.get("checked_and_counted"))) == (rung, checked)
        }
        cells = [figure(like[count]) if count in like else "" for count in threads]
        rows.append([f"`{rung}`", "on" if checked else "off", *cells])
    header = ["rung's gemm", "checks and counters"] + [f"{count} thread{'s' * (count > 1)}" for count in threads]
    note = f"*Million warp-instructions a second; {', '.join(sorted({speed['cpu'] for speed in speeds}))}.*"
    return markdown(header, rows, note).replace("|:--|--:|", "|:--|:--|", 1)


TABLES = {
    function.__name__: function
    for function in (
        *(ladder, ablation, ablations, precision, launches, sweep, rung, roofs, in_flight),
        *(counters, accesses, counted, profile, agreement, simulator_speed),
    )
}
TABLES["power"] = power_tables.table
TABLES["memory"] = memory_tables.memory
TABLES["rows"] = operator_tables.rows
TABLES["fusing"] = operator_tables.fusing
TABLES["linear"] = operator_tables.linear
TABLES["grouped"] = operator_tables.grouped
TABLES["widths"] = operator_tables.widths
TABLES["versions"] = operator_tables.versions
TABLES["ends"] = operator_tables.ends
TABLES["models"] = models_tables.table
TABLES["waves"] = waves.waves
TABLES["over_k"] = over_k.table


def table(results: Results, what: str) -> str:
    name, *arguments = what.split() or [""]
    if name not in TABLES:
        raise ResultError(f"unknown table '{what}'; there are: {', '.join(TABLES)}")
    for word in [word for word in arguments if word.startswith("device=")]:
        results = results.on(word.removeprefix("device="))
        arguments.remove(word)
    try:
        return TABLES[name](results, *arguments)
    except TypeError:
        raise ResultError(f"table '{what}' has too few or too many words") from None
