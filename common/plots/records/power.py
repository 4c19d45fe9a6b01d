"""What ran without a pause (--power): clock, power and energy.

A kernel is named RUNG[:VARIANT][/BASELINE][@INPUT]: 08_warp_specialized, 08_warp_specialized:fp8@zeros,
08_warp_specialized/cublasGemmEx. Without an input its elements are normal.
"""

from __future__ import annotations

import re

from common.plots.records.error import ResultError
from common.plots.records.problems import UNIT, compulsory_bytes, flops, shape_of
from common.plots.records.results import Results
from common.plots.records.scores import per_clock

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
