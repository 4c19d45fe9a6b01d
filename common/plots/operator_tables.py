"""Tables of operators: of rows, of what fusing them buys, and of epilogues; several rungs beside each other at one shape."""

from __future__ import annotations

from results import Results, best_baseline, pretty, ratio, score, slowdown
from table_text import figure, markdown, measured, percent

RUNGS = ("01_coalesced", "03_vectorized", "08_warp_specialized")
PASSES = {"unfused": 5, "recomputed": 6, "divided": 4}  # over a matrix; the rungs themselves make 4


def missing(problem: str, option: str) -> str:
    return f"*Not recorded yet: `build/bin/03_vectorized {problem} {option}`, and on 01 and 08.*"


def of_copy(run: dict) -> str:
    return percent(ratio(run)) if best_baseline(run) else ""


def rows(results: Results, shape: str) -> str:
    """Every variant of the three rungs' row_operator."""
    lines = [
        [f"`{rung}`", f"`{run['variant']}`", figure(run["median_us"]), figure(score(run)), of_copy(run)]
        for rung in RUNGS
        for run in results.variants(rung, "row_operator", shape)
    ]
    if not lines:
        return missing("row_operator", "--ablate --sweep")
    header = ["rung", "variant", "µs", "GB/s", "of copy"]
    return markdown(header, lines, measured(results, f"row_operator {pretty(shape)}")).replace("|:--|--:|", "|:--|:--|", 1)


def fusing(results: Results, shape: str) -> str:
    """The fused norm of the three rungs beside its variants that are not fused, and how much less time it takes."""
    lines = []
    for rung in RUNGS:
        runs = [run for name in PASSES if (run := results.run(rung, "fused_norm", shape, name))]
        fused = results.run(rung, "fused_norm", shape)
        for run in runs + [fused] if runs and fused else []:
            passes = str(PASSES.get(run["variant"], 4))
            against = "" if run is fused else f"×{slowdown(run, fused):.3f}"
            name = f"`{run['variant']}`" + (" (the rung)" if run is fused else "")
            lines.append([f"`{rung}`", name, passes, figure(run["median_us"]), figure(score(run)), of_copy(run), against])
    if not lines:
        return missing("fused_norm", "--ablate")
    header = ["rung", "variant", "matrix passes", "µs", "GB/s", "of copy", "the rung against it"]
    return markdown(header, lines, measured(results, f"fused_norm {pretty(shape)}")).replace("|:--|--:|", "|:--|:--|", 1)


def linear(results: Results, shape: str) -> str:
    """Every epilogue of every rung, beside the fastest other way, and the product without it."""
    lines = []
    for rung in results.rungs("linear"):
        for run in results.variants(rung, "linear", shape):
            best = best_baseline(run)
            alone = percent(run["product_us"] / run["median_us"]) if run.get("product_us") else ""
            beside = [f"`{best}`", f"×{ratio(run):.3f}"] if best else ["", ""]
            lines.append([f"`{rung}`", f"`{run['variant']}`", figure(score(run)), *beside, alone])
    if not lines:
        return "*Not recorded yet: `build/bin/08_warp_specialized linear --ablate`, and on 06.*"
    header = ["rung", "epilogue", "TFLOPS", "fastest other way", "against it", "speed of the product alone"]
    return markdown(header, lines, measured(results, f"linear {pretty(shape)}")).replace("|:--|--:|", "|:--|:--|", 1)
