"""The records of the precision ladder: runs with --type."""

from __future__ import annotations

from common.plots.records.problems import on_ladder, shape_of, sizes
from common.plots.records.results import Results

FP8 = ("fp8", "fp8_e5m2", "fp8_e4m3_e5m2", "fp8_e5m2_e5m2", "fp8_tensor", "fp8_block", "mxfp8")
MIXED = ("bf16_s8", "bf16_e4m3")
ORDER = ("fp64", "fp32", "tf32", "bf16", "f16", "f16_f16", "s8", *FP8, "nvfp4_blocks", "nvfp4", *MIXED, "bf16_sparse")
ROWS, COLUMNS = 1024, 1024  # of C, where k grows


def of_shape(results: Results, shape: str) -> list:
    """Runs of rungs, from many bits to few; of one type, from the lowest rung up. Of a rung's variants in a type the last
    one, which --type takes; --ablate takes them all."""
    taken = {}
    for run in results.typed:
        if run["problem"] == "gemm" and shape_of(run) == shape and on_ladder(run["rung"]):
            key = (ORDER.index(run["type"]), run["rung"])
            if key not in taken or run["variant_index"] >= taken[key]["variant_index"]:
                taken[key] = run
    return [taken[key] for key in sorted(taken)]


def growing(results: Results) -> dict:
    """type → its runs in the order of k, where two or more are there: of its lowest rung."""
    found = {}
    for run in results.typed:
        m, n, _ = sizes(shape_of(run)) if run["problem"] == "gemm" else (0, 0, 0)
        if (m, n) == (ROWS, COLUMNS):
            found.setdefault((run["type"], run["rung"]), []).append(run)
    lines = {}
    for (kind, _), runs in sorted(found.items(), key=lambda item: item[0][1]):
        if len(runs) > 1 and kind not in lines:
            lines[kind] = sorted(runs, key=lambda run: run["k"])
    return {kind: lines[kind] for kind in ORDER if kind in lines}
