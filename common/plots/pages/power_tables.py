"""The table of what ran without a pause: clock, power and energy."""

from __future__ import annotations

from common.plots.figures import figure
from common.plots.pages.markdown import markdown, measured, needs
from common.plots.records.power import find, of_launch
from common.plots.records.problems import UNIT, pretty, short
from common.plots.records.results import Results
from common.plots.records.scores import per_clock, score


def name_of(record: dict) -> str:
    if record["contender"] != record["variant"]:
        return record["contender"]
    return short(record["rung"]) + " " + record["variant"]


def table(results: Results, problem: str, shape: str, *kernels: str) -> str:
    rows = []
    for record in needs([find(results, kernel, problem, shape) for kernel in kernels], f"power {problem} {shape}"):
        rows.append(
            [
                f"`{name_of(record)}`",
                record["input"],
                figure(score(record)),
                f"{record['sm_clock_mhz']:.0f}",
                figure(per_clock(record)),
                f"{record['power_w']:.0f}",
                figure(of_launch(record, "mj")),
                figure(of_launch(record, "pj")),
            ]
        )
    unit = UNIT[problem]
    each = "pJ per flop" if unit == "TFLOPS" else "pJ per byte"
    header = ["kernel", "elements of A and B", unit, "SM clock, MHz", f"{unit} per GHz", "W", "mJ per launch", each]
    note = measured(results, f"{problem} {pretty(shape)}", "each alone, without a pause; rates, clock and power are means over the second half of the run")
    return markdown(header, rows, note).replace("|:--|--:|", "|:--|:--|", 1)
