"""Every chart by the name of its file."""

from __future__ import annotations

from common.plots.charts import models, power, precision, roofline
from common.plots.charts.rungs import ablation, ladder, launches, sweep
from common.plots.records.problems import pretty
from common.plots.records.results import Results


def all_charts(results: Results) -> dict:
    """File name → figure, as far as there are records for it."""
    charts = {
        "ladder_gemm": lambda: ladder(results, "gemm"),
        "ladder_norm": lambda: ladder(results, "fused_norm"),
        "sweep_gemm": lambda: sweep(results, "gemm"),
        "sweep_norm": lambda: sweep(results, "fused_norm"),
    }
    for rung, problem in sorted({(chain["rung"], chain["problem"]) for chain in results.chains}):
        charts[f"launches_{rung}_{problem}"] = lambda of=(rung, problem): launches(results, *of)
    for (rung, problem), shapes in results.ablations().items():
        name = f"ablation_{rung}_{'norm' if problem == 'fused_norm' else problem}"
        for shape in shapes[:1] if problem in ("norm_gemm", "grouped_gemm", "linear", "row_operator") else shapes:  # the first is the usual one
            size = "" if shape == shapes[0] else "_" + (shape if "³" not in pretty(shape) else shape.split("x")[0])
            charts[name + size] = lambda of=(rung, problem, shape): ablation(results, *of)
    charts["power_along"] = lambda: power.along(results)
    charts["power_roof"] = lambda: power.roof(results)
    charts["precision_ladder"] = lambda: precision.ladder(results)
    charts["precision_error"] = lambda: precision.errors(results)
    charts["roofline"] = lambda: roofline.roofline(results)
    return charts | models.all_charts(results)
