"""What ran without a pause (--power): clock, power and energy, as figures, a table and two charts.

A kernel is named RUNG[:VARIANT][/BASELINE][@INPUT]: 08_warp_specialized, 08_warp_specialized:fp8@zeros,
08_warp_specialized/cublasGemmEx. Without an input its elements are normal.
"""

from __future__ import annotations

import re

from results import UNIT, ResultError, Results, compulsory_bytes, flops, per_clock, pretty, score, shape_of
from table_text import figure, markdown, measured, needs

KERNEL = re.compile(r"(?P<rung>\w+)(:(?P<variant>\w+))?(/(?P<baseline>\w+))?(@(?P<input>\w+))?")


def find(results: Results, kernel: str, problem: str, shape: str) -> dict:
    match = KERNEL.fullmatch(kernel)
    if not match:
        raise ResultError(f"'{kernel}' names no kernel: RUNG[:VARIANT][/BASELINE][@INPUT]")
    variant = match["variant"] or results.own_variant(match["rung"], problem)
    wanted = (match["rung"], problem, shape, variant, match["baseline"] or variant)
    for record in results.powers:
        found = (record["rung"], record["problem"], shape_of(record), record["variant"], record["contender"])
        if found == wanted and record["input"].startswith(match["input"] or "normal"):
            return record
    raise ResultError(f"no power record of {kernel} {problem} {shape}")


def of_launch(record: dict, name: str) -> float:
    """A field, or what follows from it: mj, a launch's energy in mJ; pj, that of a flop, or byte; pj_above_idle, without what
    the idle card would have drawn; watts, the mean of the whole run; per_clock, the score at 1 GHz."""
    if name == "per_clock":
        return per_clock(record)
    if name in ("mj", "pj", "pj_above_idle", "watts"):
        if "joules" not in record:
            raise ResultError(f"the driver that {record['contender']} was recorded with has no meter of energy")
        watts = record["joules"] / record["seconds"]
        work = flops(record) if UNIT[record["problem"]] == "TFLOPS" else compulsory_bytes(record)
        pj = record["joules_per_launch"] / work * 1e12
        above_idle = pj * (1 - record["idle_w"] / watts)
        return {"mj": record["joules_per_launch"] * 1e3, "pj": pj, "pj_above_idle": above_idle, "watts": watts}[name]
    if not isinstance(record.get(name), (int, float)):
        raise ResultError(f"a power record has no figure '{name}'")
    return record[name]


def name_of(record: dict) -> str:
    if record["contender"] != record["variant"]:
        return record["contender"]
    return record["rung"][:2] + " " + record["variant"]


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
