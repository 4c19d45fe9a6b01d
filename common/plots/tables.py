"""Tables and figures of the docs, generated from the result files, so that no number there is typed by hand.

A table, rewritten between its two markers, each alone on its line:

    <!-- table: ladder gemm -->
    <!-- /table -->

    ladder PROBLEM [SHAPE]            the rungs, one line each
    ablation RUNG PROBLEM [SHAPE]     the variants of a rung
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
    simulator_speed                   the simulator's own speed, CPU threads across

A figure in prose, rewritten between its two markers (values.py has the list of expressions):

    <!--= tflops 01_coalesced gemm 4096x4096x4096 -->6.12<!--/-->

Markers inside fenced code and in `code` are left alone.
"""

from __future__ import annotations

import re
from pathlib import Path

import precisions
from results import (
    BASELINE,
    DEFAULT_SHAPE,
    DIMENSIONS,
    UNIT,
    ResultError,
    Results,
    baseline_score,
    best_baseline,
    pretty,
    ratio,
    score,
    shape_of,
    sizes,
)
from values import evaluate, figure, flat_counters, percent, problem_named, simulated_like

TABLE = re.compile(r"^[ \t]*<!-- table: (?P<what>.*?) -->[ \t]*$")
TABLE_END = re.compile(r"^[ \t]*<!-- /table -->[ \t]*$")
INLINE = re.compile(r"(?<!`)<!--= (?P<expression>(?:(?!-->).)*?) -->(?P<text>(?:(?!<!--).)*)<!--/-->", re.DOTALL)
INLINE_START = re.compile(r"(?<!`)<!--=")
FENCE = re.compile(r"^[ \t]*(```|~~~)")


def markdown(header: list, rows: list, note: str = "") -> str:
    """The first column to the left, the others, being figures, to the right."""
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join([":--"] + ["--:"] * (len(header) - 1)) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines + (["", note] if note else []))


def measured(results: Results, *parts: str) -> str:
    return "*" + "; ".join(part for part in (results.where_measured(), *parts) if part) + ".*"


def needs(rows: list, what: str) -> list:
    if not rows:
        raise ResultError(f"no record for {what}")
    return rows


def ladder(results: Results, problem: str, shape: str | None = None) -> str:
    problem = problem_named(problem)
    shape = shape or DEFAULT_SHAPE[problem]
    rows, below = [], None
    for run in needs(results.ladder(problem, shape), f"ladder {problem} {shape}"):
        base = baseline_score(run)
        rows.append(
            [
                f"`{run['rung']}`",
                run.get("title", ""),
                figure(score(run)),
                f"×{figure(score(run) / score(below))}" if below else "",
                figure(base) if base else "",
                percent(ratio(run)) if base else "",
            ]
        )
        below = run
    measured_rungs = {run["rung"] for run in results.runs}
    for run in results.simulated:  # a rung that only the simulator has run
        if run["problem"] == problem and run["rung"] not in measured_rungs:
            measured_rungs.add(run["rung"])
            rows.append([f"`{run['rung']}`", run.get("title", ""), "simulated, not yet measured", "", "", ""])
    name = BASELINE[problem]
    header = ["rung", "what is new", UNIT[problem], "against the rung below", f"{name} in the same run", f"of {name}"]
    return markdown(header, rows, measured(results, f"{problem} {pretty(shape)}", "bf16", "medians")).replace(
        "|:--|--:|", "|:--|:--|", 1
    )


def ablation(results: Results, rung: str, problem: str, shape: str | None = None) -> str:
    problem = problem_named(problem)
    if shape is None:
        shape = results.ablations().get((rung, problem), [DEFAULT_SHAPE[problem]])[0]
    runs = needs(results.tricks(rung, problem, shape), f"ablation {rung} {problem} {shape}")
    last = score(runs[-1])
    rows = [
        [
            f"`{run['variant']}`" + (" (the rung)" if run.get("is_rung") else ""),
            figure(score(run)),
            percent(ratio(run)) if best_baseline(run) else "",
            f"×{figure(last / score(run))}" if run is not runs[-1] else "",
        ]
        for run in runs
    ]
    header = ["variant", UNIT[problem], f"of {BASELINE[problem]}", "the rung against it"]
    return markdown(header, rows, measured(results, f"{rung} {problem} {pretty(shape)}"))


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
        rows.append([f"`{variant}`" + (" (the rung)" if is_rung else ""), *cells])
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


def chart(results: Results, name: str, *words: str) -> str:
    """The image of a chart of the precisions, where there are records for it."""
    if name not in precisions.CHARTS:
        raise ResultError(f"unknown chart '{name}'; there are: {', '.join(precisions.CHARTS)}")
    if not precisions.CHARTS[name](results):
        return f"*Not measured yet: {' '.join(words)}.*"
    return f"![{' '.join(words)}](plots/{name}.svg)"


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


def counted_runs(results: Results, problem: str, shape: str | None, rung: str | None = None) -> list:
    """Simulated runs of one shape (of the last record's where none is given), as the ladder and its variants go."""
    runs = [
        run
        for run in results.simulated
        if run["problem"] == problem and rung in (None, run["rung"]) and shape in (None, shape_of(run))
        if run.get("counters")
    ]
    runs = needs(runs, " ".join(word for word in ("counters", rung, problem, shape) if word))
    shape = shape or shape_of(runs[-1])
    return sorted(
        (run for run in runs if shape_of(run) == shape),
        key=lambda run: (run["rung"], bool(run.get("is_rung")), run.get("variant_index", 0)),
    )


def by_simulator(runs: list, what: str) -> str:
    return f"*Counted by the simulator; {what} {pretty(shape_of(runs[0]))}.*"


def counters(results: Results, name: str, problem: str, shape: str | None = None) -> str:
    runs = counted_runs(results, problem_named(problem), shape, name)
    return counter_table(runs, by_simulator(runs, f"{name} {problem}"))


def accesses(results: Results, name: str, problem: str, shape: str | None = None) -> str:
    runs = counted_runs(results, problem_named(problem), shape, name)
    rows = []
    for run in runs:
        known, variant = flat_counters(run), f"`{run['variant']}`"
        for kind in (
            *("global_load", "global_store", "async_copy", "bulk_copy"),
            *("shared_load", "shared_store", "wgmma", "tcgen05", "local", "atomic"),
        ):
            requests, sectors = known.get(f"{kind}_requests", 0), known.get(f"{kind}_sectors")
            if kind == "global_load":  # of which the copies have a row of their own
                requests -= known.get("async_copy_requests", 0)
                sectors -= known.get("async_copy_sectors", 0)
            if not requests:
                continue
            wavefronts, ideal = known.get(f"{kind}_wavefronts"), known.get(f"{kind}_wavefronts_ideal")
            cells = [requests, sectors, None if sectors is None else float(sectors / requests), wavefronts, ideal]
            cells += [None if wavefronts is None else wavefronts - ideal]
            rows.append([variant, kind.replace("_", " ")] + ["" if cell is None else figure(cell) for cell in cells])
            variant = ""
    header = ["variant", "access", "requests", "sectors", "sectors per request", "wavefronts", "ideal", "excess"]
    table = markdown(header, needs(rows, f"accesses {name} {problem}"), by_simulator(runs, f"{name} {problem}"))
    return table.replace("|:--|--:|", "|:--|:--|", 1)


def counted(results: Results, problem: str, shape: str | None = None) -> str:
    runs = [run for run in counted_runs(results, problem_named(problem), shape) if run.get("is_rung")]
    rows = []
    for run in needs(runs, f"counted {problem} {shape or ''}".strip()):
        known = flat_counters(run)
        ideal = known["shared_wavefronts_ideal"]
        rows.append(
            [f"`{run['rung']}`"]
            + [figure(known[name]) for name in ("ptx_instructions", "global_load_requests")]
            + [figure(float(known[f"global_{kind}_sectors_per_request"])) for kind in ("load", "store")]
            + ([figure(ideal), figure(known["shared_wavefronts"] - ideal)] if known["shared_wavefronts"] else ["", ""])
        )
    header = ["rung", "instructions", "load requests", "sectors per load", "sectors per store"]
    return markdown(header + ["shared wavefronts, ideal", "excess"], rows, by_simulator(runs, problem))


def profile(results: Results, name: str, problem: str, *variants: str) -> str:
    """Of all variants, or of those that are named."""
    problem = problem_named(problem)
    runs = [run for run in results.profiles if (run["rung"], run["problem"]) == (name, problem)]
    for variant in variants:
        needs([run for run in runs if run["variant"] == variant], f"profile {name}:{variant} {problem}")
    runs = [run for run in runs if not variants or run["variant"] in variants]
    runs = needs(runs, f"profile {name} {problem}")
    where = f"{name} {problem} {pretty(shape_of(runs[0]))}"
    return counter_table(runs, f"*Counted by Nsight Compute on {results.device}; {where}.*")


COMPARED = {
    "global_load_requests": "load requests",
    "global_load_sectors": "load sectors",
    "global_store_requests": "store requests",
    "global_store_sectors": "store sectors",
    "shared_wavefronts": "shared wavefronts",
    "shared_wavefronts_ideal": "ideal",
}


def agreement(results: Results, problem: str) -> str:
    problem = problem_named(problem)
    profiles = [profile for profile in results.profiles if profile["problem"] == problem]
    rows, same = [], 0
    for profile in needs(profiles, f"agreement {problem}"):
        ours = simulated_like(results, profile)
        row = [f"`{profile['rung']}` {profile['variant']}"]
        for name in COMPARED:
            ncu, own = int(profile["counters"][name]), ours[name]
            same += ncu == own
            row.append(figure(own) if ncu == own else f"**{figure(own)}** ({figure(ncu)})")
        rows.append(row)
    of = len(rows) * len(COMPARED)
    note = f"{problem} {pretty(shape_of(profiles[0]))}, the simulator against Nsight Compute on {results.device}: "
    if same == of:
        note += f"all {of} counts are equal"
    else:
        note += f"{same} of {of} counts are equal; where two differ, the simulator's is bold, the other in brackets"
    return markdown(["variant", *COMPARED.values()], rows, f"*{note}.*")


def counter_table(runs: list, note: str) -> str:
    names = list(dict.fromkeys(key for run in runs for key in flat_counters(run)))
    rows = [
        [key] + [figure(flat_counters(run)[key]) if key in flat_counters(run) else "" for run in runs] for key in names
    ]
    return markdown(["counter"] + [f"`{run['variant']}`" for run in runs], rows, note)


def roofs(results: Results) -> str:
    rows = [[f"`{name}`", f"{figure(roof['value'])} {roof['unit']}"] for name, roof in results.roofs.items()]
    return markdown(["roof", "measured"], needs(rows, "roofs"), measured(results))


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
        *(ladder, ablation, ablations, precision, chart, launches, sweep, rung, roofs),
        *(counters, accesses, counted, profile, agreement, simulator_speed),
    )
}


def table(results: Results, what: str) -> str:
    name, *arguments = what.split() or [""]
    if name not in TABLES:
        raise ResultError(f"unknown table '{what}'; there are: {', '.join(TABLES)}")
    try:
        return TABLES[name](results, *arguments)
    except TypeError:
        raise ResultError(f"table '{what}' has too few or too many words") from None


def rewrite(text: str, results: Results, name: str) -> str:
    """The text with every table and figure brought up to date."""

    def fail(line, message):
        raise ResultError(f"{name}:{line}: {message}")

    def inline(passage: str, first_line: int) -> str:
        def value(match):
            line = first_line + passage.count("\n", 0, match.start())
            try:
                return f"<!--= {match['expression']} -->{evaluate(results, match['expression'])}<!--/-->"
            except ResultError as error:
                fail(line, error)

        for start in INLINE_START.finditer(passage):
            if not INLINE.match(passage, start.start()):
                fail(first_line + passage.count("\n", 0, start.start()), "'<!--=' without its ' -->…<!--/-->'")
        return INLINE.sub(value, passage)

    lines, out, prose, prose_line = text.split("\n"), [], [], 1

    def flush(next_line: int):
        nonlocal prose, prose_line
        if prose:
            out.extend(inline("\n".join(prose), prose_line).split("\n"))
        prose, prose_line = [], next_line

    i, fence = 0, None
    while i < len(lines):
        line = lines[i]
        mark = FENCE.match(line)
        if mark or fence:
            flush(i + 2)
            out.append(line)
            if mark and fence in (None, mark[1]):
                fence = None if fence else mark[1]
        elif TABLE.match(line):
            flush(i + 1)
            end = next((j for j in range(i + 1, len(lines)) if TABLE_END.match(lines[j])), None)
            if end is None or any(TABLE.match(inner) for inner in lines[i + 1 : end]):
                fail(i + 1, "'<!-- table: -->' without its '<!-- /table -->'")
            try:
                out += [line, "", table(results, TABLE.match(line)["what"]), "", lines[end]]
            except ResultError as error:
                fail(i + 1, error)
            i, prose_line = end, end + 2
        else:
            prose.append(line)
        i += 1
    flush(len(lines))
    return "\n".join(out)


def documents(root: Path) -> list:
    """README.md at the top, in each folder and in each of common/, and everything in docs/."""
    found = [
        *root.glob("README.md"),
        *root.glob("*/README.md"),
        *root.glob("common/*/README.md"),
        *root.glob("docs/**/*.md"),
    ]
    return sorted({path for path in found if not path.relative_to(root).parts[0].startswith(("build", "."))})


def refresh(root: Path, results: Results, write: bool) -> list:
    """Names of the docs that were out of date. With `write` they are brought up to date, all or none of them."""
    stale = []
    for path in documents(root):
        before = path.read_text(encoding="utf-8")
        after = rewrite(before, results, str(path.relative_to(root)))
        if after != before:
            stale.append((path, after))
    for path, after in stale if write else []:
        path.write_text(after, encoding="utf-8")
    return [str(path.relative_to(root)) for path, _ in stale]
