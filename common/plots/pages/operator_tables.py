"""Tables of operators: of rows, of what fusing them buys, of epilogues, and of products in groups."""

from __future__ import annotations

from common.plots.figures import figure, percent
from common.plots.pages.markdown import markdown, measured, own_mark
from common.plots.records.problems import pretty, shape_of
from common.plots.records.results import Results
from common.plots.records.scores import best_baseline, ratio, score, slowdown

PROGRAMS = ("01_coalesced", "03_vectorized", "every_shape")
PASSES = {"unfused": 5, "recomputed": 6, "divided": 4}  # over a matrix; the rungs themselves make 4


def missing(problem: str, option: str) -> str:
    return f"*Not recorded yet: `build/bin/03_vectorized {problem} {option}`, and on 01 and every_shape.*"


def of_copy(run: dict) -> str:
    return percent(ratio(run)) if best_baseline(run) else ""


def rows(results: Results, shape: str) -> str:
    """Every variant of the three programs' row_operator."""
    lines = [
        [f"`{rung}`", f"`{run['variant']}`", figure(run["median_us"]), figure(score(run)), of_copy(run)]
        for rung in PROGRAMS
        for run in results.variants(rung, "row_operator", shape)
    ]
    if not lines:
        return missing("row_operator", "--ablate --sweep")
    header = ["rung", "variant", "µs", "GB/s", "of copy"]
    return markdown(header, lines, measured(results, f"row_operator {pretty(shape)}")).replace("|:--|--:|", "|:--|:--|", 1)


def fusing(results: Results, shape: str) -> str:
    """The fused norm of the three programs beside its variants that are not fused, and how much less time it takes."""
    lines = []
    for rung in PROGRAMS:
        runs = [run for name in PASSES if (run := results.run(rung, "fused_norm", shape, name))]
        fused = results.run(rung, "fused_norm", shape)
        for run in runs + [fused] if runs and fused else []:
            passes = str(PASSES.get(run["variant"], 4))
            against = "" if run is fused else f"×{slowdown(run, fused):.3f}"
            name = f"`{run['variant']}`" + (own_mark(rung) if run is fused else "")
            lines.append([f"`{rung}`", name, passes, figure(run["median_us"]), figure(score(run)), of_copy(run), against])
    if not lines:
        return missing("fused_norm", "--ablate")
    header = ["rung", "variant", "matrix passes", "µs", "GB/s", "of copy", "the rung against it"]
    return markdown(header, lines, measured(results, f"fused_norm {pretty(shape)}")).replace("|:--|--:|", "|:--|:--|", 1)


def linear(results: Results, shape: str) -> str:
    """Every epilogue of every program, beside the fastest other way, and the product without it."""
    lines = []
    for rung in results.programs("linear"):
        for run in results.variants(rung, "linear", shape):
            best = best_baseline(run)
            alone = percent(run["product_us"] / run["median_us"]) if run.get("product_us") else ""
            beside = [f"`{best}`", f"×{ratio(run):.3f}"] if best else ["", ""]
            lines.append([f"`{rung}`", f"`{run['variant']}`", figure(score(run)), *beside, alone])
    if not lines:
        return "*Not recorded yet: `build/bin/08_warp_specialized linear --ablate`, and on 06 and every_shape.*"
    header = ["rung", "epilogue", "TFLOPS", "fastest other way", "against it", "speed of the product alone"]
    return markdown(header, lines, measured(results, f"linear {pretty(shape)}")).replace("|:--|--:|", "|:--|:--|", 1)


def grouped(results: Results, rung: str) -> str:
    """Every recorded set of groups: each tile's time, the fastest bold; the rung's choice, and how
    many times as fast it is as each of the libraries' ways."""
    sets = {}
    for run in results.runs:
        if run["problem"] == "grouped_gemm" and run["rung"] == rung:
            sets.setdefault((run["groups"], run["m"], run["n"], run["k"]), {})[run["variant"]] = run
    lines, tiles = [], []
    for (groups, m, n, k), runs in sorted(sets.items(), key=lambda one: one[0][1] / one[0][0]):
        chosen = next((run for run in runs.values() if run["is_rung"]), None)
        if not chosen:
            continue
        tiles = tiles or [name for name in runs if not runs[name]["is_rung"]]
        times = [runs[name]["median_us"] if name in runs else None for name in tiles]
        least = min((time for time in times if time), default=None)
        cells = ["" if time is None else f"**{figure(time)}**" if time == least else figure(time) for time in times]
        cells.append(figure(chosen["median_us"]))
        beside = [f"×{base['median_us'] / chosen['median_us']:.3f}" for base in chosen["baselines"].values()]
        lines.append([f"{groups} groups, {m}×{n}×{k}", figure(m / groups), *cells, *beside])
    if not lines:
        return f"*Not recorded yet: `build/bin/{rung} grouped_gemm --ablate --sweep`.*"
    header = ["", "rows of a group", *(f"`{name}`, µs" for name in (*tiles, chosen["variant"]))]
    header += [f"against `{name}`" for name in chosen["baselines"]]
    return markdown(header, lines, measured(results, f"{rung} grouped_gemm"))


def widths(results: Results, rung: str, variant: str, other: str) -> str:
    """The norm at every recorded number of columns: a variant of a rung, and another rung, each beside a copy."""
    lines = []
    for run in sorted(results.runs, key=lambda run: (run.get("cols", 0), run.get("rows", 0))):
        if (run["rung"], run["problem"], run["variant"]) != (rung, "fused_norm", variant) or run.get("dependent_launch"):
            continue
        beside = results.run(other, "fused_norm", shape_of(run))
        lines.append([str(run["cols"]), str(run["rows"]), figure(score(run)), of_copy(run), of_copy(beside) if beside else ""])
    if not lines:
        return f"*Not recorded yet: `build/bin/{rung} fused_norm --variant {variant} --rows 8192 --cols 4096`, and other shapes.*"
    header = ["columns", "rows", "GB/s", "of copy", f"`{other}`, of copy"]
    return markdown(header, lines, measured(results, f"{rung}, `{variant}`"))


def versions(results: Results, rung: str, problem: str, variant: str, *shapes: str) -> str:
    """What a variant reached beside the baseline when it was recorded before, at these git revisions, and what it does now."""
    runs = {shape: results.versions(rung, problem, shape, variant) for shape in shapes}
    longest_first = sorted(runs.values(), key=len, reverse=True)  # which has them in order
    revisions = list(dict.fromkeys(revision for of_shape in longest_first for revision in of_shape))
    if not revisions:
        return f"*Not recorded yet: `build/bin/{rung} {problem} --variant {variant}`, at these shapes.*"
    lines = [
        [pretty(shape), *(of_copy(of_shape[revision]) if revision in of_shape else "" for revision in revisions)]
        for shape, of_shape in runs.items()
    ]
    header = ["shape", *(f"of copy at `{revision}`" for revision in revisions)]
    return markdown(header, lines, measured(results, f"{rung} {problem}, `{variant}`, by git revision"))


def ends(results: Results, rung: str, variant: str, *columns: str) -> str:
    """A norm's time at these widths as a straight line over the rows, through the fewest and the most recorded: per row, and
    what remains, the ends of a launch. The same for the copy beside it, and the norm with the copy's ends."""

    def line(points: list) -> tuple:
        (few, least), (many, most) = points
        per_row = (most - least) / (many - few)
        return per_row, least - per_row * few

    lines = []
    for cols in map(int, columns):
        runs = [run for run in results.runs if (run["rung"], run["problem"], run["variant"]) == (rung, "fused_norm", variant)]
        runs = sorted((run for run in runs if run["cols"] == cols and best_baseline(run)), key=lambda run: run["rows"])
        if not runs or runs[-1]["rows"] < 2 * runs[0]["rows"]:
            continue
        rows, points = runs[0]["rows"], (runs[0], runs[-1])
        of_row, own = line([(run["rows"], run["median_us"]) for run in points])
        of_copied, copied = line([(run["rows"], run["median_us"] * ratio(run)) for run in points])
        all_copied = of_copied * rows + copied
        lines.append(
            [str(cols), percent(of_copied / of_row), f"{own:.1f}", f"{copied:.1f}", str(rows), of_copy(runs[0])]
            + [percent(all_copied / (of_row * rows + copied))]
        )
    if not lines:
        return f"*Not recorded yet: `build/bin/{rung} fused_norm --variant {variant}`, at two numbers of rows.*"
    header = ["columns", "a row, of the copy's", "ends, µs", "the copy's", "at rows", "of copy", "with the copy's ends"]
    return markdown(header, lines, measured(results, f"{rung} fused_norm, `{variant}`"))
